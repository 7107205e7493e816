//! Values that only one object of a kind may have: what frees one goes before what takes it.
//!
//! An object that is to take such a value waits for the one that has it, where that one is to go or to give it up; and
//! says what is in its way where that one keeps it, rather than run into the server's refusal. Only what a run looks at
//! is known: an object in no document and no Set is the server's to tell of.

use std::collections::{HashMap, HashSet};

use super::super::identity::{KindName, ObjectId};
use super::super::report::{Action, Explanation, Finding, Outcome};
use super::super::unique::Held;
use super::decide::{Decision, Seen};
use super::object::Phase;
use super::{Engine, Mode};

/// The code of the finding that another object goes, or changes, before this one.
const FREED_FIRST: &str = "FreedFirst";

/// Who has which value, and who waits for whom.
#[derive(Debug, Default)]
pub struct Uniques {
    holders: HashMap<Held, Vec<usize>>,
    held: HashMap<usize, Vec<Held>>,
    /// What objects in no document have, which stay.
    taken: HashMap<Held, ObjectId>,
    /// By object: the one that has what it is to take, and what that is.
    waits: HashMap<usize, (usize, Held)>,
    /// Objects that were put off once, until the others of their kind are seen.
    put_off: HashSet<usize>,
    /// Those of them whose turn is to come, in order.
    due: Vec<usize>,
}

/// What becomes of the object that has a value.
enum Holder {
    /// It has let it go, or a plan says that it will.
    Frees,
    /// It will, if it comes to that.
    MayFree,
    Keeps,
}

impl Engine {
    /// Knows what a sweep has seen: of objects that are to go last, and of those that are left alone.
    pub(super) fn know_swept(&mut self) {
        self.uniques.taken = std::mem::take(&mut self.options.taken).into_iter().collect();
        for at in 0..self.objects.len() {
            let Some(pruned) = &self.objects[at].policy.pruned else { continue };
            if !pruned.unique.is_empty() {
                self.hold(at, pruned.unique.clone());
            }
        }
    }

    /// Takes note of the values that an object was just seen with.
    pub(super) fn note_unique(&mut self, at: usize) {
        let object = &self.objects[at];
        if object.kind.unique.is_empty() {
            return;
        }
        let held = match &object.seen {
            Seen::Present(item) => Held::by(&object.id, &object.kind, &item.value),
            Seen::Absent => Vec::new(),
            // It may have what it had.
            _ => return,
        };
        self.hold(at, held);
    }

    fn hold(&mut self, at: usize, held: Vec<Held>) {
        for before in self.uniques.held.insert(at, held.clone()).unwrap_or_default() {
            if let Some(holders) = self.uniques.holders.get_mut(&before) {
                holders.retain(|holder| *holder != at);
            }
        }
        for one in held {
            self.uniques.holders.entry(one).or_default().push(at);
        }
    }

    /// Whether the write that is due waits for another object, or is not made for its sake.
    pub(super) fn waits_for_a_value(&mut self, at: usize, decision: &Decision) -> bool {
        let object = &self.objects[at];
        let takes = matches!(decision.action, Action::Create | Action::Update | Action::Replace);
        if object.kind.unique.is_empty() || !takes || object.sets > 0 {
            return false;
        }
        let wanted = Held::wanted(&object.id, &object.kind, &self.spec(at));
        if let Some((holder, held)) = self.uniques.waits.remove(&at)
            && matches!(self.holder(holder, &held), Holder::Frees)
        {
            self.note_freed(at, holder, &held);
        }
        if wanted.is_empty() {
            return false;
        }
        if self.uniques.put_off.insert(at) {
            // What is asked about the others may not be told to them yet.
            self.uniques.due.push(at);
            return true;
        }
        for held in wanted {
            if let Some(id) = self.uniques.taken.get(&held) {
                let path = &self.objects[at].kind.unique[held.field];
                let why = format!("`{id}`, which no document names, has the same `{path}`, and stays");
                self.settle(at, Outcome::Skipped(Explanation::new(why)));
                return true;
            }
            let mut others = self.uniques.holders.get(&held).into_iter().flatten();
            let Some(&holder) = others.find(|holder| **holder != at) else { continue };
            match self.holder(holder, &held) {
                Holder::Frees => self.note_freed(at, holder, &held),
                Holder::MayFree if self.awaits(holder, at) => {
                    let why = self.in_the_way(at, holder, &held, "waits for this one in turn");
                    let hint =
                        "no order of writes gives both what they want: give one of them another value first";
                    self.settle(at, Outcome::Refused(why.hint(hint)));
                    return true;
                }
                Holder::MayFree => {
                    self.uniques.waits.insert(at, (holder, held));
                    self.dependants[holder].push(at);
                    let object = &mut self.objects[at];
                    object.unsettled_needs += 1;
                    object.phase = Phase::Blocked;
                    return true;
                }
                Holder::Keeps => {
                    let why = self.in_the_way(at, holder, &held, self.what_became_of(holder));
                    self.settle(at, Outcome::Skipped(why));
                    return true;
                }
            }
        }
        false
    }

    /// The objects that were put off, as far as all others of their kinds that are being looked at were seen by now. One
    /// that is not looked at yet may wait for these in turn, and is not waited for.
    pub(super) fn ready_put_off(&mut self) -> Vec<usize> {
        if self.uniques.due.is_empty() {
            return Vec::new();
        }
        let unseen = self.objects.iter().filter(|object| {
            let looked_at = matches!(object.phase, Phase::Observing | Phase::Waiting);
            looked_at && matches!(object.seen, Seen::NotYet) && !object.kind.unique.is_empty()
        });
        let unseen: HashSet<&KindName> = unseen.map(|object| &object.id.kind).collect();
        let is_ready = |at: &usize| !unseen.contains(&self.objects[*at].id.kind);
        let due: Vec<usize> = std::mem::take(&mut self.uniques.due);
        let (ready, later): (Vec<usize>, Vec<usize>) = due.into_iter().partition(is_ready);
        self.uniques.due = later;
        ready.into_iter().filter(|at| self.objects[*at].outcome().is_none()).collect()
    }

    /// Whether an object has waited in a plan, where nothing has changed since it was seen.
    pub(super) fn goes_on_as_seen(&self, at: usize) -> bool {
        let waited = self.uniques.waits.contains_key(&at) || !self.objects[at].needed_below.is_empty();
        self.mode == Mode::Plan && waited
    }

    /// What becomes of the value of another object.
    fn holder(&self, holder: usize, held: &Held) -> Holder {
        let object = &self.objects[holder];
        if self.swept_by(holder).is_some() {
            return Holder::Frees;
        }
        let gives_up = || {
            let wanted = Held::wanted(&object.id, &object.kind, &self.spec(holder));
            wanted.iter().any(|wanted| wanted.field == held.field && wanted != held)
        };
        if object.context || !(object.wanted_absent() || gives_up()) {
            return Holder::Keeps;
        }
        match object.outcome() {
            None => Holder::MayFree,
            Some(Outcome::InSync | Outcome::Planned | Outcome::Done | Outcome::Applied) => Holder::Frees,
            Some(_) => Holder::Keeps,
        }
    }

    fn what_became_of(&self, holder: usize) -> &'static str {
        let object = &self.objects[holder];
        match object.outcome() {
            Some(Outcome::Refused(_)) => "was refused",
            Some(Outcome::Conflict(_)) => "is in conflict",
            Some(Outcome::Failed(_)) => "failed",
            Some(Outcome::Unknown(_)) => "is unknown",
            Some(Outcome::NotEffective(_)) => "is not as it was sent",
            Some(Outcome::Skipped(_)) => "was skipped",
            _ if object.is_left_out() => "is not selected",
            _ => "keeps it",
        }
    }

    fn in_the_way(&self, at: usize, holder: usize, held: &Held, what: &str) -> Explanation {
        let path = &self.objects[at].kind.unique[held.field];
        Explanation::new(format!("`{}` has the same `{path}`, and {what}", self.objects[holder].id))
    }

    fn note_freed(&mut self, at: usize, holder: usize, held: &Held) {
        if self.swept_by(holder).is_some() {
            return;
        }
        let goes = if self.objects[holder].wanted_absent() { "is deleted" } else { "gives it up" };
        let path = &self.objects[at].kind.unique[held.field];
        let message = format!("`{}`, which has the same `{path}`, {goes} first", self.objects[holder].id);
        let finding = Finding::new(FREED_FIRST, message);
        if !self.objects[at].findings.contains(&finding) {
            self.objects[at].findings.push(finding);
        }
    }

    /// Whether an object waits for another, itself or through others: for its value, or as it needs it.
    pub(super) fn awaits(&self, at: usize, other: usize) -> bool {
        let (mut next, mut seen) = (vec![at], HashSet::new());
        while let Some(one) = next.pop() {
            if one == other {
                return true;
            }
            if self.objects[one].outcome().is_some() || !seen.insert(one) {
                continue;
            }
            next.extend(self.uniques.waits.get(&one).map(|(holder, _)| *holder));
            next.extend(&self.objects[one].needed_below);
            // What is to go waits for what needs it, and for nothing that it needs.
            if !self.objects[one].wanted_absent() {
                next.extend(self.objects[one].links.needs());
            }
        }
        false
    }

    /// Objects that wait for a value of something that is to go last, and what waits for these.
    pub(super) fn behind_pruned(&self) -> usize {
        if self.uniques.waits.is_empty() {
            return 0;
        }
        let is_open = |at: usize| self.objects[at].outcome().is_none();
        let waits = |(at, (holder, _)): (&usize, &(usize, Held))| {
            (self.objects[*holder].policy.pruned.is_some() && is_open(*holder)).then_some(*at)
        };
        let mut next: Vec<usize> = self.uniques.waits.iter().filter_map(waits).collect();
        let mut seen = HashSet::new();
        while let Some(at) = next.pop() {
            let stands =
                matches!(self.objects[at].phase, Phase::Blocked) && self.objects[at].policy.pruned.is_none();
            if is_open(at) && stands && seen.insert(at) {
                next.extend(&self.dependants[at]);
            }
        }
        seen.len()
    }
}
