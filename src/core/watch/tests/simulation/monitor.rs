//! What must hold of one loop at every step, kept count of apart from it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::super::super::super::digest::Digest;
use super::super::super::super::identity::ObjectId;
use super::super::super::conditions::reason;
use super::super::super::{
    Class, Condition, ConditionKind, Loop, Origin, Pass, PassId, Seen, Settings, Subject, Truth, Verdict,
};
use super::super::make::seconds;

/// What is known of one object.
#[derive(Clone, Debug, Default)]
struct Known {
    wish: Option<Digest>,
    uid: Option<Arc<str>>,
    running: Option<PassId>,
    /// When its pass was done with it, and went on.
    done: Option<Duration>,
    start: Option<Duration>,
    end: Option<Duration>,
    /// Since when it may miss a look: the last start, or when nothing stood in its way any more.
    unseen: Option<Duration>,
    /// The server asked for patience until then.
    patience: Duration,
    /// Starts since the last write.
    starts: Vec<Duration>,
    /// The first trigger that no pass has answered, or since when nothing stands in its way.
    owed: Option<Duration>,
    /// Triggers that came while it ran count from then on.
    owes_a_person: bool,
    is_failing: bool,
    /// Failures since it was steady.
    failures: u32,
    steady: Option<Duration>,
    digest: Option<Digest>,
    /// A reason to try early: a person, another wish, or another state.
    is_changed: bool,
    /// For each time that it was tried early for no such reason, one interval after the other: a resync does that.
    early: Duration,
    /// The last attempt says nothing of the object.
    was_probe: bool,
    in_sync: bool,
    writes: Vec<Duration>,
}

/// A pass that is under way.
struct Under {
    pass: Pass,
    wishes: Vec<Option<Digest>>,
    is_probe: bool,
}

impl Under {
    /// What is left of it without these, which are left in it.
    fn without(&mut self, seen: &[Seen]) -> Under {
        let objects = std::mem::take(&mut self.pass.objects);
        let all = objects.into_iter().zip(std::mem::take(&mut self.wishes));
        let is_seen = |id: &ObjectId| seen.iter().any(|seen| seen.id == *id);
        let (given, kept): (Vec<_>, Vec<_>) = all.partition(|((id, _), _)| is_seen(id));
        (self.pass.objects, self.wishes) = given.into_iter().unzip();
        let (objects, wishes) = kept.into_iter().unzip();
        Under { pass: Pass { objects, ..self.pass.clone() }, wishes, is_probe: self.is_probe }
    }
}

pub struct Monitor {
    settings: Settings,
    known: BTreeMap<ObjectId, Known>,
    passes: BTreeMap<PassId, Under>,
    conditions: BTreeMap<ObjectId, Vec<Condition>>,
    pub broken: Vec<String>,
    /// A pass takes this long at most.
    longest: Duration,
    pub looks: u64,
}

const SLACK: Duration = Duration::from_millis(1);

impl Monitor {
    pub fn new(settings: Settings, longest: Duration) -> Monitor {
        Monitor {
            settings,
            known: BTreeMap::new(),
            passes: BTreeMap::new(),
            conditions: BTreeMap::new(),
            broken: Vec::new(),
            longest,
            looks: 0,
        }
    }

    fn break_(&mut self, name: &str, id: &ObjectId, what: String) {
        self.broken.push(format!("{name}: {id}: {what}"));
    }

    /// Time went on with nothing happening: what was owed all the while is late now.
    pub fn before(&mut self, now: Duration, machine: &Loop) {
        let is_full = self.passes.len() >= self.settings.passes || self.shares_are_full();
        let mut late = Vec::new();
        for (id, known) in &mut self.known {
            let waits = known.is_failing && !known.is_changed && !known.owes_a_person;
            let free = known.free();
            let is_kept = known.running.is_some() && free.is_none_or(|free| now <= free);
            let is_held = is_full || waits || is_kept || machine.holds(&id.kind.backend);
            let Some(owed) = known.owed.as_mut() else { continue };
            if is_held {
                *owed = (*owed).max(now);
                continue;
            }
            if known.running.is_some() {
                *owed = (*owed).max(free.unwrap_or_default());
            }
            if !known.owes_a_person {
                *owed = (*owed).max(known.patience);
            }
            let is_idle = known.starts.len() >= 30 && !known.owes_a_person;
            let limit = seconds(if is_idle { 10.1 } else { 1.1 }) + SLACK;
            if now > *owed + limit {
                late.push((id.clone(), *owed));
                *owed = now;
            }
        }
        for (id, owed) in late {
            self.break_("I13, E5", &id, format!("hinted at {owed:?}, and no pass by {now:?}"));
        }
        self.all_are_observed(now, machine);
    }

    fn shares_are_full(&self) -> bool {
        self.settings.passes > 1 && self.passes.len() >= self.settings.passes.div_ceil(2)
    }

    /// Every object is looked at in every interval, whatever is hinted at meanwhile.
    fn all_are_observed(&mut self, now: Duration, machine: &Loop) {
        let most = self.settings.resync.mul_f64(1.1) + seconds(150.0) + self.longest * 8;
        let mut late = Vec::new();
        for (id, known) in &mut self.known {
            if known.running.is_some() || machine.holds(&id.kind.backend) {
                known.unseen = Some(now);
            } else if let Some(unseen) = known.unseen.filter(|unseen| now > *unseen + most) {
                late.push((id.clone(), unseen));
                known.unseen = Some(now);
            }
        }
        for (id, unseen) in late {
            self.break_("I13", &id, format!("not looked at from {unseen:?} to {now:?}"));
        }
    }

    /// The machine slept: nothing could be done meanwhile.
    pub fn slept(&mut self, now: Duration) {
        for known in self.known.values_mut() {
            known.unseen = Some(now);
            known.owed = known.owed.map(|_| now);
        }
    }

    /// The files say this from now on.
    pub fn wanted(&mut self, now: Duration, subjects: &[Subject]) {
        let ids: BTreeSet<&ObjectId> = subjects.iter().map(|subject| &subject.id).collect();
        self.known.retain(|id, _| ids.contains(id));
        self.conditions.retain(|id, _| ids.contains(id));
        let mut changed = BTreeSet::new();
        for (id, wish) in subjects.iter().map(|subject| (subject.id.clone(), subject.desired)) {
            let running =
                self.passes.values().find(|under| under.pass.objects.iter().any(|(it, _)| *it == id));
            let running = running.map(|under| under.pass.id);
            let known = self.known.entry(id.clone()).or_insert_with(|| Known { running, ..Known::default() });
            if known.wish.replace(wish) != Some(wish) {
                (known.failures, known.is_failing, known.steady) = (0, false, None);
                (known.is_changed, known.in_sync, known.patience) = (true, false, Duration::ZERO);
                known.owe(now, Class::User);
                changed.insert(id);
            }
        }
        // What needs these is to be another as well, and the person waits for that, too.
        loop {
            let needs = |subject: &&Subject| subject.needs.iter().any(|need| changed.contains(need));
            let next = subjects.iter().filter(|subject| !changed.contains(&subject.id)).find(needs);
            let Some(next) = next else { break };
            changed.insert(next.id.clone());
            if let Some(known) = self.known.get_mut(&next.id) {
                known.owe(now, Class::User);
            }
        }
    }

    /// A hint was given.
    pub fn hinted(&mut self, now: Duration, id: &ObjectId, origin: Origin, observed: Option<Digest>) {
        let Some(known) = self.known.get_mut(id) else { return };
        if observed.is_some_and(|digest| known.digest.replace(digest) != Some(digest)) {
            known.is_changed = true;
        }
        known.owe(now, origin.class());
    }

    /// A pass has begun.
    pub fn began(&mut self, now: Duration, pass: &Pass, machine: &Loop) {
        self.looks += pass.objects.len() as u64;
        let targets: BTreeSet<&Arc<str>> = pass.objects.iter().map(|(id, _)| &id.kind.backend).collect();
        let held = targets.iter().any(|target| machine.holds(target));
        let first = pass.objects[0].0.clone();
        let other_probes = self
            .passes
            .values()
            .filter(|under| under.is_probe && targets.contains(&under.pass.objects[0].0.kind.backend));
        if held && (pass.objects.len() > 1 || other_probes.count() > 0) {
            self.break_("I12", &first, format!("{} objects while it is away", pass.objects.len()));
        }
        let is_users = pass.objects.iter().all(|(_, origin)| origin.class() == Class::User);
        if targets.len() > 1 && !is_users {
            self.break_("pass", &first, "of several backends, and no person waits".into());
        }
        if self.passes.len() >= self.settings.passes {
            self.break_("pass", &first, "too many under way".into());
        }
        if self.settings.dry_run && pass.writes {
            self.break_("pass", &first, "a dry run writes".into());
        }
        for (id, _) in &pass.objects {
            self.joined(now, id, pass.id, held);
        }
        let wishes = pass.objects.iter().map(|(id, _)| self.known.get(id).and_then(|known| known.wish));
        let wishes = wishes.collect();
        self.passes.insert(pass.id, Under { pass: pass.clone(), wishes, is_probe: held });
    }

    fn joined(&mut self, now: Duration, id: &ObjectId, pass: PassId, is_probe: bool) {
        let resync = self.settings.resync;
        let mut broken = Vec::new();
        let Some(known) = self.known.get_mut(id) else {
            return self.break_("pass", id, "nobody wants it".into());
        };
        if let Some(other) = known.running.replace(pass) {
            broken.push(("I11", format!("in pass {other} and in pass {pass}")));
        }
        if let Some(last) = known.start.filter(|last| now < *last + seconds(1.0)) {
            broken.push(("E4", format!("looked at at {last:?} and at {now:?}")));
        }
        known.starts.retain(|start| now.saturating_sub(*start) <= seconds(300.0));
        if let Some(thirtieth) = known.starts.len().checked_sub(30).map(|at| known.starts[at]) {
            let last = *known.starts.last().expect("thirty");
            if now < last + seconds(10.0) && !known.owes_a_person {
                broken
                    .push(("E4", format!("idle since {thirtieth:?}, looked at at {last:?} and at {now:?}")));
            }
        }
        let least = seconds(0.5 * f64::from(1u32 << known.failures.saturating_sub(1).min(8)).min(240.0)) / 2;
        let is_early = known.is_failing && !known.was_probe && known.end.is_some_and(|end| now < end + least);
        if is_early && !known.is_changed && !known.owes_a_person && !is_probe {
            // What a backend that is away, or its patience, held back may come right before the next one.
            let interval = resync.mul_f64(0.88);
            if known.early > now + interval {
                let end = known.end.unwrap_or_default();
                broken
                    .push(("backoff", format!("failed {} times, last at {end:?}; {now:?}", known.failures)));
            }
            known.early = known.early.max(now) + interval;
        }
        if now < known.patience && !known.owes_a_person {
            broken.push((
                "backoff",
                format!("the server asked for patience until {:?}; {now:?}", known.patience),
            ));
        }
        known.unseen = Some(now);
        known.done = None;
        (known.start, known.owed, known.is_changed, known.owes_a_person) = (Some(now), None, false, false);
        known.starts.push(now);
        broken.into_iter().for_each(|(name, what)| self.break_(name, id, what));
    }

    /// A pass that goes on will do nothing more with an object.
    pub fn is_done_with(&mut self, now: Duration, id: &ObjectId) {
        if let Some(known) = self.known.get_mut(id) {
            known.done = Some(now);
        }
    }

    /// A pass has ended, or gave back what it is done with, and the loop was told. The objects that are others than before.
    pub fn ended(
        &mut self,
        now: Duration,
        pass: PassId,
        seen: &[Seen],
        is_whole: bool,
        machine: &Loop,
    ) -> Vec<ObjectId> {
        let mut under = self.passes.remove(&pass).expect("it has begun");
        if !is_whole {
            let rest = under.without(seen);
            self.passes.insert(pass, rest);
        }
        let mut changed = Vec::new();
        for ((id, _), wish) in under.pass.objects.iter().zip(&under.wishes) {
            let Some(known) = self.known.get_mut(id) else { continue };
            (known.running, known.end) = (None, Some(now));
            let seen = seen.iter().find(|seen| seen.id == *id);
            if seen.is_some_and(|seen| known.found(seen)) {
                changed.push(id.clone());
            }
            known.settle(now, seen, known.wish == *wish, under.is_probe && machine.holds(&id.kind.backend));
        }
        self.writes_are_few(now);
        changed
    }

    /// What these need may be another one by now, and so may what they are to be.
    pub fn may_hurry(&mut self, ids: &[ObjectId]) {
        for id in ids {
            self.known.entry(id.clone()).and_modify(|known| known.is_changed = true);
        }
    }

    /// No more writes an hour than are allowed.
    fn writes_are_few(&mut self, now: Duration) {
        let Some(most) = self.settings.changes_an_hour else { return };
        let all = self.known.values().flat_map(|known| &known.writes);
        let count = all.filter(|at| **at + seconds(3600.0) > now).count();
        if count > most {
            self.broken.push(format!("limit: {count} writes in the hour before {now:?}"));
        }
    }

    /// The conditions after a step, and which of them the loop said have turned.
    pub fn told(&mut self, now: Duration, machine: &Loop, turned: &[(ObjectId, Condition)]) {
        let status = machine.status();
        if machine.entries() > status.objects.len() {
            self.broken.push(format!(
                "I19: {} entries for {} objects",
                machine.entries(),
                status.objects.len()
            ));
        }
        for object in status.objects {
            let id = object.id.clone();
            let before = self.conditions.remove(&id).unwrap_or_default();
            let in_sync = self.known.get(&id).is_some_and(|known| known.in_sync);
            let synced = object.holds(ConditionKind::Synced);
            // What it needs has changed since, and it is looked at again.
            let doubts = |one: &Condition| {
                one.kind == ConditionKind::Synced
                    && one.truth == Truth::Unknown
                    && one.reason == reason::PENDING
            };
            let is_in_doubt = in_sync && object.conditions.iter().any(doubts);
            if synced != in_sync && !is_in_doubt {
                self.break_("I14", &id, format!("in sync: {in_sync}; told: {synced}"));
            }
            for pair in object.conditions.windows(2).filter(|pair| pair[0].kind >= pair[1].kind) {
                self.break_("order", &id, format!("{:?} before {:?}", pair[0].kind, pair[1].kind));
            }
            for is in &object.conditions {
                let was = before.iter().find(|was| was.kind == is.kind);
                let is_told = turned.iter().any(|(it, condition)| *it == id && condition == is);
                if let Some(wrong) = turned_wrongly(now, was, is, is_told) {
                    self.break_("I14", &id, wrong);
                }
            }
            self.conditions.insert(id, object.conditions);
        }
    }

    /// What it says of each object, but for times that are no news.
    pub fn conditions(&self) -> &BTreeMap<ObjectId, Vec<Condition>> {
        &self.conditions
    }

    /// Objects that are not in sync as far as it knows.
    pub fn unsynced(&self) -> Vec<ObjectId> {
        let all = self.known.iter().filter(|(_, known)| !known.in_sync);
        all.map(|(id, _)| id.clone()).collect()
    }
}

fn turned_wrongly(now: Duration, was: Option<&Condition>, is: &Condition, is_told: bool) -> Option<String> {
    if is.reason.is_empty() || is.message.len() > 1024 {
        return Some(format!("{:?} has no reason, or too long a message", is.kind));
    }
    let Some(was) = was else {
        let is_new = is.kind == ConditionKind::Synced && is.truth == Truth::Unknown;
        return (!is_told && !is_new).then(|| format!("{:?} came unsaid", is.kind));
    };
    let flips = was.truth != is.truth;
    if is.since != if flips { now } else { was.since } {
        return Some(format!("{:?} since {:?}, after {:?}", is.kind, is.since, was.since));
    }
    let turns = flips || was.reason != is.reason;
    (turns != is_told).then(|| format!("{:?} turned: {turns}, told: {is_told}", is.kind))
}

impl Known {
    /// When the pass that is done with it has given it back at the latest: it may be asked for it once a second.
    fn free(&self) -> Option<Duration> {
        let asked = self.done?.max(self.start?);
        Some(asked + seconds(1.0) + SLACK)
    }

    fn owe(&mut self, now: Duration, class: Class) {
        self.owed.get_or_insert(now);
        if class == Class::User && !std::mem::replace(&mut self.owes_a_person, true) {
            self.owed = Some(now);
        }
    }

    /// Whether a pass has written it, or found another one in its place.
    fn found(&mut self, seen: &Seen) -> bool {
        let before =
            if seen.uid.is_some() { std::mem::replace(&mut self.uid, seen.uid.clone()) } else { None };
        seen.writes > 0 || before.is_some_and(|before| Some(before) != seen.uid)
    }

    fn settle(&mut self, now: Duration, seen: Option<&Seen>, is_current: bool, was_probe: bool) {
        let writes = seen.map_or(0, |seen| seen.writes);
        self.writes.extend(std::iter::repeat_n(now, writes));
        if writes > 0 {
            self.starts.clear();
        }
        if !is_current {
            return;
        }
        self.in_sync = seen.is_some_and(|seen| seen.verdict.is_in_sync());
        self.was_probe = false;
        let patience = seen.and_then(|seen| seen.verdict.retry_after()).unwrap_or_default();
        self.patience = if patience.is_zero() { Duration::ZERO } else { now + patience };
        let is_steady = |since: &Duration| now.saturating_sub(*since) >= seconds(300.0);
        match seen.map(|seen| &seen.verdict) {
            Some(Verdict::InSync) => {
                self.is_failing = false;
                if is_steady(self.steady.get_or_insert(now)) {
                    self.failures = 0;
                }
            }
            Some(
                Verdict::Differs(_) | Verdict::Conflict(_) | Verdict::Refused(_) | Verdict::NotEffective(_),
            ) => {
                if self.steady.take().as_ref().is_some_and(is_steady) {
                    self.failures = 0;
                }
                self.is_failing = false;
            }
            Some(verdict) if was_probe && verdict.is_fault() => {
                (self.is_failing, self.was_probe) = (true, true);
            }
            verdict => {
                if self.steady.take().as_ref().is_some_and(is_steady) {
                    self.failures = 0;
                }
                self.failures += 1;
                self.is_failing = !matches!(verdict, Some(Verdict::Blocked(_)));
            }
        }
    }
}
