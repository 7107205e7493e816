//! What came of a pass, and what follows from it for each object.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use super::super::identity::ObjectId;
use super::super::mutant::planted;
use super::super::report::CHANGE_LIMIT;
use super::begin::{Member, Under};
use super::conditions::{Reading, reason};
use super::control::{Effect, Loop};
use super::hint::{Class, Origin};
use super::object::Standing;
use super::oscillation::Found;
use super::pass::{PassId, Retry, Seen, Verdict};
use super::queue::Entry;
use super::retry::{Delays, LATE, LONGEST};
use super::status::ConditionKind;
use super::told;

/// What the objects of a pass have in common.
#[derive(Default)]
struct Batch {
    delays: Delays,
    /// It wrote as much as it might.
    is_spent: bool,
    is_probe: bool,
    /// Groups of which every object failed by a fault, and whether they may be tried again: what is asked about
    /// together is one attempt.
    shared: BTreeMap<Arc<str>, bool>,
    /// Those that need what changed in it: what they differ by may follow from that.
    needing: BTreeSet<usize>,
}

impl Loop {
    pub(super) fn end(&mut self, pass: PassId, seen: &[Seen]) {
        let Some(mut under) = self.passes.remove(&pass) else { return };
        if let Some(target) = under.target {
            self.targets[target].passes -= 1;
            self.targets[target].ended(self.now, pass, &mut self.random);
        }
        let written = seen.iter().map(|seen| seen.writes).sum();
        under.written += written;
        self.take_in(&under, seen, written);
    }

    /// What a pass, or a part of one, came to, which wrote so much; the members of `under` are those of the part.
    pub(super) fn take_in(&mut self, under: &Under, seen: &[Seen], written: usize) {
        self.hour.settle(self.now, under.reserved, written);
        self.counters.writes += written as u64;
        self.judge_backends(seen);
        self.note_open(seen);
        self.warn_of_impatience(seen);
        let mut batch = Batch {
            is_spent: under.most.is_some_and(|most| under.written >= most),
            is_probe: under.is_probe,
            ..Batch::default()
        };
        let seen: HashMap<&ObjectId, &Seen> = seen.iter().map(|seen| (&seen.id, seen)).collect();
        self.share_retries(under, &seen, &mut batch);
        let changed = self.take_down(under, &seen);
        batch.needing = self.all_needing(&changed);
        let mut frees = false;
        for member in &under.members {
            self.counters.worked.add(self.now.saturating_sub(under.started));
            let Some(&at) = self.at.get(&member.id) else { continue };
            // The loop was told to end, and so was the pass: that says nothing of the object.
            if self.drains && !seen.contains_key(&member.id) {
                continue;
            }
            frees |= self.settle(at, member, seen.get(&member.id).copied(), &mut batch);
        }
        if frees {
            self.wake_the_blocked();
        }
        // Those that were in the pass were judged after what they need.
        let is_judged = |id: &ObjectId| seen.contains_key(id);
        let needing = std::mem::take(&mut batch.needing);
        let needing = needing.into_iter().filter(|at| !is_judged(&self.objects[*at].subject.id)).collect();
        self.count_need(&needing);
        self.stir(&needing, Origin::Need);
        self.warn_of_a_flood();
    }

    /// Takes down what the pass found of each object; those of which it is another thing than before, for others.
    fn take_down(&mut self, under: &Under, seen: &HashMap<&ObjectId, &Seen>) -> Vec<usize> {
        let mut changed = Vec::new();
        for member in &under.members {
            let Some(&at) = self.at.get(&member.id) else { continue };
            self.objects[at].running = None;
            if seen.get(&member.id).is_some_and(|seen| self.objects[at].found(seen)) {
                changed.push(at);
            }
        }
        changed
    }

    /// Takes over what came of one object; true if it is in sync now and was not before.
    fn settle(&mut self, at: usize, member: &Member, seen: Option<&Seen>, batch: &mut Batch) -> bool {
        let now = self.now;
        let object = &mut self.objects[at];
        object.ended = Some(now);
        if let Some(writes) = seen.map(|seen| seen.writes).filter(|writes| *writes > 0) {
            object.writes += writes as u64;
            object.pace.wrote();
        } else if matches!(seen.map(|seen| &seen.verdict), Some(Verdict::Progressing(..))) {
            // It is looked at for what was written before.
            object.pace.wrote();
        }
        if object.subject.desired != member.desired {
            // It is about another wish, and the pass for this one is due already.
            self.go_again(at);
            return false;
        }
        let verdict = seen.map(|seen| &seen.verdict);
        let reason = verdict.and_then(Verdict::explanation).and_then(|why| why.reason);
        let is_limited = matches!(verdict, Some(Verdict::Differs(_)))
            && (reason == Some(CHANGE_LIMIT)
                || (batch.is_spent && reason.is_none() && !member.is_held && !self.differs_anyway(at)));
        self.count(at, member, seen, batch.needing.contains(&at));
        let was = self.objects[at].standing;
        let retry = self.judge(at, verdict, is_limited, batch);
        let found = match seen {
            Some(seen) => self.detector.ended(now, &self.objects[at].subject, seen),
            // What is held stays so.
            None => self.detector.found(now, &member.id),
        };
        self.tell(at, seen, &found, is_limited);
        let thaws = found.iter().filter_map(until).chain(member.thaws).filter(|until| *until > now).min();
        let thaws = thaws.filter(|_| !planted!(M12));
        for ready in retry.into_iter().chain(thaws) {
            self.enqueue(at, Entry::new(ready, Origin::Retry));
        }
        self.go_again(at);
        let is = self.objects[at].standing;
        is == Standing::InSync && was != Standing::InSync
    }

    /// Takes one token for each group that failed as one.
    fn share_retries(&mut self, under: &Under, seen: &HashMap<&ObjectId, &Seen>, batch: &mut Batch) {
        let mut faults: BTreeMap<&Arc<str>, Option<usize>> = BTreeMap::new();
        for member in &under.members {
            let Some(at) = self.at.get(&member.id) else { continue };
            let object = &self.objects[*at];
            let fault = seen.get(&member.id).is_some_and(|seen| seen.verdict.is_fault());
            let is_held = self.targets[object.target].open.is_some();
            let count = faults.entry(&object.subject.group).or_insert(Some(0));
            *count = count.filter(|_| fault && !is_held).map(|count| count + 1);
        }
        let shared = faults.into_iter().filter(|(_, count)| count.is_some_and(|count| count > 1));
        for (group, _) in shared {
            batch.shared.insert(Arc::clone(group), self.budget.retry());
        }
    }

    /// Whether it was seen to differ when it might have been written: its policy forbids it, say.
    fn differs_anyway(&self, at: usize) -> bool {
        let object = &self.objects[at];
        let synced = object.conditions.get(ConditionKind::Synced);
        object.standing == Standing::Stuck && synced.is_some_and(|synced| synced.reason == reason::DIFFERS)
    }

    /// Keeps count of how the object fares; when it is to be tried again for that.
    fn judge(
        &mut self,
        at: usize,
        verdict: Option<&Verdict>,
        is_limited: bool,
        batch: &mut Batch,
    ) -> Option<Duration> {
        let now = self.now;
        let object = &mut self.objects[at];
        let failures = &mut object.failures;
        let is_away = self.targets[object.target].open.is_some();
        let (standing, retry) = match verdict {
            Some(Verdict::InSync) => {
                failures.in_sync(now);
                object.synced = Some(now);
                (Standing::InSync, None)
            }
            Some(Verdict::Differs(_)) if is_limited => {
                failures.answered(now);
                (Standing::Limited, Some(self.hour.frees(now)))
            }
            Some(
                Verdict::Differs(_) | Verdict::Conflict(_) | Verdict::Refused(_) | Verdict::NotEffective(_),
            ) => {
                failures.answered(now);
                (Standing::Stuck, None)
            }
            Some(Verdict::Blocked(_)) => {
                failures.blocked(now);
                (Standing::Blocked, Some(now + batch.delays.after(failures.count, &mut self.random)))
            }
            Some(Verdict::Progressing(_, next)) => {
                failures.answered(now);
                (Standing::Open, Some(now + *next))
            }
            Some(Verdict::Failed(_, Retry::Late) | Verdict::Unknown(_, Retry::Late)) => {
                failures.failed(now);
                (Standing::Open, Some(now + LATE))
            }
            Some(Verdict::Failed(_, Retry::Barred) | Verdict::Unknown(_, Retry::Barred)) => {
                failures.barred(now);
                (Standing::Open, None)
            }
            Some(verdict) if verdict.is_fault() && batch.is_probe && is_away => {
                failures.probed();
                (Standing::Open, Some(now))
            }
            _ => {
                failures.failed(now);
                let delay = batch.delays.after(failures.count, &mut self.random);
                // While its backend is away, the breaker is what holds it.
                let is_held = is_away && verdict.is_some_and(Verdict::is_fault);
                let shared = batch.shared.get(&object.subject.group).copied();
                let may = is_held || shared.unwrap_or_else(|| self.budget.retry());
                (Standing::Open, may.then_some(now + delay))
            }
        };
        failures.patience(now, verdict.and_then(Verdict::retry_after));
        object.standing = standing;
        match standing {
            Standing::Blocked => self.blocked.insert(at),
            _ => self.blocked.remove(&at),
        };
        let is_barred = failures.is_barred;
        if verdict.is_some() && !std::mem::replace(&mut object.is_seen, true) {
            self.unseen = self.unseen.map(|unseen| unseen - 1);
        }
        if is_barred { Some(self.after_a_bar(at, &mut batch.delays)) } else { retry }
    }

    /// `follows`: what it needs was changed by the same pass.
    fn count(&mut self, at: usize, member: &Member, seen: Option<&Seen>, follows: bool) {
        let verdict = seen.map(|seen| &seen.verdict);
        let result = match verdict {
            Some(Verdict::InSync) => "success",
            Some(Verdict::Differs(_) | Verdict::Blocked(_) | Verdict::Progressing(..)) => "requeue",
            Some(Verdict::Conflict(_) | Verdict::Refused(_) | Verdict::NotEffective(_)) => "terminal",
            Some(verdict) if verdict.is_final() => "terminal",
            Some(Verdict::Failed(..) | Verdict::Unknown(..)) | None => "error",
        };
        *self.counters.passes.entry(result).or_default() += 1;
        let differs = |verdict: &Verdict| {
            matches!(verdict, Verdict::Differs(_) | Verdict::Refused(_) | Verdict::Conflict(_))
        };
        let drifted = seen.is_some_and(|seen| seen.writes > 0 || differs(&seen.verdict));
        let is_announced = self.objects[at].again.is_some_and(|again| again.class >= Class::Event);
        let is_missed = drifted && member.origin == Origin::Resync && member.was_in_sync && !is_announced;
        if is_missed && !follows && !self.is_need_in_a_pass(at) {
            self.counters.missed_events += 1;
        }
    }

    fn tell(&mut self, at: usize, seen: Option<&Seen>, found: &[Found], is_limited: bool) {
        self.warn_of_churn(at, found);
        let object = &mut self.objects[at];
        let reading = Reading {
            desired: object.subject.desired,
            verdict: seen.map(|seen| &seen.verdict),
            ready: seen.and_then(|seen| seen.ready),
            found,
            row: object.failures.row,
            is_limited,
            is_dry: self.settings.dry_run,
            is_away: self.targets[object.target].open.is_some(),
            is_stale: object.is_stale,
        };
        let turned = object.conditions.update(self.now, &reading);
        let id = &object.subject.id;
        self.effects.extend(turned.into_iter().map(|condition| Effect::Turned(id.clone(), condition)));
    }

    /// Brings what was asked of an object while it was in its pass.
    fn go_again(&mut self, at: usize) {
        let Some(mut entry) = self.objects[at].again.take() else { return };
        if entry.class == Class::Event {
            entry.ready = self.not_past_the_backoff(at, entry);
        }
        let object = &self.objects[at];
        entry.ready = entry.ready.max(object.earliest(self.now, entry.class));
        self.queue.put(at, object.target, entry);
    }

    /// Something came level: what waits for another object may wait for that one.
    fn wake_the_blocked(&mut self) {
        for at in self.blocked.clone() {
            if self.objects[at].running.is_none() {
                self.enqueue(at, Entry::new(self.now, Origin::Retry));
            }
        }
    }

    /// One line for all that is to wait longer than anything does.
    fn warn_of_impatience(&mut self, seen: &[Seen]) {
        let asked = seen.iter().filter_map(|seen| Some((seen.verdict.retry_after()?, &seen.id)));
        let Some((after, id)) = asked.max_by_key(|(after, _)| *after).filter(|(after, _)| *after > LONGEST)
        else {
            return;
        };
        self.effects.push(Effect::Warned(format!(
            "`{id}`: the server asks to wait for {} s; it is asked again after {} s",
            after.as_secs(),
            LONGEST.as_secs()
        )));
    }

    /// Writes that come to nothing are told of before their object is held for it.
    fn warn_of_churn(&mut self, at: usize, found: &[Found]) {
        let churn = found.iter().find_map(|found| match found {
            Found::Churn { writes, open: None } => Some(*writes),
            _ => None,
        });
        let object = &mut self.objects[at];
        if let (None, Some(writes)) = (std::mem::replace(&mut object.churn, churn), churn) {
            self.effects.push(Effect::Warned(told::churns(&object.subject.id, writes)));
        }
    }

    fn warn_of_a_flood(&mut self) {
        let flood = self.detector.flood(self.now);
        if let Some(flood) = flood.as_ref().filter(|_| flood != self.flood) {
            self.effects.push(Effect::Warned(flood.clone()));
        }
        self.flood = flood;
    }
}

/// When what was found ends, or is probed.
fn until(found: &Found) -> Option<Duration> {
    match found {
        Found::NotEffective { .. } => None,
        Found::Fighting { until, .. } => Some(*until),
        Found::Churn { open, .. } => *open,
    }
}
