//! The end of an object in a run, and what it sets free.

use std::sync::Arc;
use std::time::Duration;

use super::super::document::Drift;
use super::super::observed::Observed;
use super::super::report::{Action, Entry, Explanation, Outcome};
use super::super::veil::Veil;
use super::decide::Seen;
use super::object::{Object, Phase};
use super::{Engine, Mode, Stop, Timer};

impl Engine {
    /// Ends an object, and opens the gates that waited for it. Whatever ends through that waits its turn here:
    /// a chain of thousands that is skipped needs no deep stack.
    pub(super) fn settle(&mut self, at: usize, outcome: Outcome) {
        self.ending.push_back((at, outcome));
        if self.ending.len() > 1 {
            return;
        }
        while let Some((at, outcome)) = self.ending.front().cloned() {
            self.end(at, outcome);
            self.ending.pop_front();
        }
    }

    fn end(&mut self, at: usize, outcome: Outcome) {
        let object = &mut self.objects[at];
        if object.outcome().is_some() {
            return;
        }
        let wrote = object.writes() > 0;
        let outcome = match outcome {
            Outcome::InSync if wrote => Outcome::Done,
            Outcome::InSync if object.applied().is_some() => Outcome::Applied,
            outcome => outcome,
        };
        let first = matches!(object.seen, Seen::NotYet);
        object.phase = Phase::Settled(outcome);
        self.uniques.stirred = true;
        let turn = object.turn.take();
        self.unsettled -= 1;
        turn.into_iter().for_each(|queued| self.give_back(&queued));
        let looked_for = self.objects[at].looked_for.take();
        self.has_looked(looked_for);
        if first {
            self.was_seen(at);
        }
        if self.mode == Mode::Plan {
            self.objects[at].note_look();
        }
        if self.dependants[at].is_empty() && !self.waiters.contains_key(&at) {
            self.forget(at);
        }
        if std::mem::take(&mut self.objects[at].comes_again) {
            return self.after_settled(at);
        }
        let goes_first = self.objects[at].goes_first();
        for dependant in self.dependants[at].clone() {
            if wrote {
                // What was seen of it before may have changed with this: a server deletes what is below.
                self.objects[dependant].fence = self.count;
            }
            if !self.objects[dependant].goes_first() {
                self.objects[dependant].unsettled_needs -= 1;
                self.open_if_free(dependant);
            }
        }
        if goes_first {
            self.release_needs(at);
        }
        self.end_turn(at);
        self.after_settled(at);
    }

    /// The observed value is needed no longer once nobody refers to it.
    fn forget(&mut self, at: usize) {
        if self.options.keep {
            return;
        }
        self.objects[at].written = None;
        if matches!(self.objects[at].seen, Seen::Present(_)) {
            if self.shows(at) {
                self.keep_secrets(at);
            }
            self.objects[at].seen = Seen::Unknown(Explanation::default());
        }
    }

    /// An object that is to go is settled: what it needs, and is to go too, is held no longer.
    fn release_needs(&mut self, at: usize) {
        let object = &self.objects[at];
        // One that was not selected is only looked at: it stays.
        let stays = object.context && matches!(object.seen, Seen::Present(_));
        let gone = object.is_usable() && !stays;
        for need in object.links.needs() {
            if !self.holds(at, need) || self.objects[need].outcome().is_some() {
                continue;
            }
            self.objects[need].holders -= 1;
            let held = matches!(self.objects[need].phase, Phase::Held);
            // While a plan looks below it, what holds it may be settled.
            if !(held || matches!(self.objects[need].phase, Phase::LookingBelow)) {
                continue;
            }
            if !gone {
                let why = format!("`{}`, which needs it, is still there", self.objects[at].id);
                self.settle(need, Outcome::Skipped(Explanation::new(why)));
            } else if held && self.objects[need].holders == 0 {
                self.release(need);
            }
        }
    }

    /// Nothing needs the object any more: its deletion goes on, from a new look at it.
    pub(super) fn release(&mut self, at: usize) {
        if self.is_spared(at) {
            return;
        }
        if self.mode == Mode::Plan {
            return self.settle(at, Outcome::Planned);
        }
        self.objects[at].below = None;
        self.objects[at].fence = self.count;
        self.objects[at].phase = Phase::Waiting;
        self.wake_at(self.now, Timer::Object(at));
    }

    /// An object was observed for the first time: what is to go waits for no more than that.
    pub(super) fn was_seen(&mut self, at: usize) {
        for dependant in self.dependants[at].clone() {
            if self.objects[dependant].goes_first() {
                self.objects[dependant].unseen_needs -= 1;
                self.open_if_free(dependant);
            }
        }
    }

    /// Starts an object that waits for nothing any more; or skips it where something it needs is not usable.
    pub(super) fn open_if_free(&mut self, at: usize) {
        let object = &self.objects[at];
        if !matches!(object.phase, Phase::Blocked) || object.unseen_needs > 0 || object.unsettled_needs > 0 {
            return;
        }
        if !object.wanted_absent() && !object.context {
            let needs = object.links.needs();
            let missing = needs.into_iter().find(|need| !self.serves(at, *need));
            if let Some(need) = missing {
                // Of a chain that is skipped, each names its first link.
                let first = self.objects[need].in_vain.unwrap_or(need);
                self.objects[at].in_vain = Some(first);
                return self.settle(at, self.skipped_for(first));
            }
        }
        if self.stopped.is_some() {
            return self.settle(at, self.left_undone());
        }
        self.open.push_back(at);
    }

    /// Whether `need` is in a state in which `at` can go on. A parent that is not there is judged when the
    /// object begins: its children are absent.
    pub(super) fn serves(&self, at: usize, need: usize) -> bool {
        let is_parent = self.is_parent(need, at);
        let needed = &self.objects[need];
        if self.objects[at].links.former == Some(need) {
            // Whatever is seen of it is judged with the object itself.
            return true;
        }
        if needed.context {
            return is_parent || matches!(needed.seen, Seen::Present(_));
        }
        // A parent that was left as it is, and is there, is all that a child needs.
        let left = matches!(needed.outcome(), Some(Outcome::Refused(_) | Outcome::Conflict(_)));
        let stands = left && !needed.wanted_absent() && matches!(needed.seen, Seen::Present(_));
        // Some that need it may have gone on before it came again: so the others go on as well.
        let served = needed.served && matches!(needed.seen, Seen::Present(_));
        needed.is_usable() || needed.comes_again || served || (is_parent && stands)
    }

    /// Where an object stands for want of another. The reason is told by the other's own entry, if it has one.
    pub(super) fn skipped_for(&self, needed: usize) -> Outcome {
        let needed = &self.objects[needed];
        let Some(outcome) = needed.outcome() else {
            let why = format!("it needs `{}`, which is not settled", needed.id);
            return Outcome::Skipped(Explanation::new(why));
        };
        let reason = outcome.explanation().filter(|_| needed.context);
        let because = reason.map(|why| format!(": {}", why.message)).unwrap_or_default();
        let message = format!("it needs `{}`, which {}{because}", needed.id, words(outcome));
        let why = Explanation { message, hint: reason.and_then(|why| why.hint.clone()), reason: None };
        let left_out = needed.is_left_out() && matches!(outcome, Outcome::Planned);
        Outcome::Skipped(if left_out { why.hint(SELECT_IT) } else { why })
    }

    /// Where an object stands that the end of the run leaves undone.
    pub(super) fn left_undone(&self) -> Outcome {
        Outcome::Skipped(match self.stopped {
            Some(Stop::Timeout) => Explanation::new("the time for the whole run was over")
                .hint("give it longer with `--timeout`, or fewer objects with `--only`"),
            _ => Explanation::new("the run was interrupted"),
        })
    }

    /// No new write. What waits or is queued is skipped; what is under way ends.
    pub(super) fn interrupt(&mut self, why: Stop) {
        self.stopped.get_or_insert(why);
        let withdrawn: Vec<_> = self.ramps.values_mut().flat_map(|ramp| ramp.withdraw(None)).collect();
        for queued in &withdrawn {
            self.no_longer_writing(queued);
        }
        for at in 0..self.objects.len() {
            let object = &self.objects[at];
            let looked_at = matches!(object.phase, Phase::Waiting | Phase::Observing);
            let under_way = matches!(object.phase, Phase::Writing(_)) || object.outcome().is_some();
            let read_back = looked_at && object.wrote_at.is_some();
            if !(under_way || read_back) {
                self.settle(at, self.left_undone());
            } else if matches!(object.phase, Phase::Waiting) {
                self.look_again(at);
            }
        }
    }
}

/// What to do where something that is needed has a document, and was not selected.
pub(super) const SELECT_IT: &str = "select it as well: `--only`, `--exclude` or `-l` leaves it out";

fn words(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::InSync | Outcome::Planned | Outcome::Done | Outcome::Applied => "is not there",
        Outcome::Refused(_) => "was refused",
        Outcome::Conflict(_) => "is in conflict",
        Outcome::Failed(_) => "failed",
        Outcome::Unknown(_) => "is unknown",
        Outcome::NotEffective(_) => "is not as it was sent",
        Outcome::Skipped(_) => "was skipped",
        Outcome::Extra(_) => "is left alone",
    }
}

/// What is reported of an object, moved out of it.
pub(super) fn entry(object: &mut Object, now: Duration) -> Entry {
    let (writes, open) = (object.writes(), object.left_open(now).map(Arc::new));
    let wrote = writes > 0;
    let applied = object.applied();
    let result = match &object.phase {
        Phase::Settled(outcome) => outcome.clone(),
        _ => Outcome::Unknown(Explanation::new("the run ended before it was settled")),
    };
    let action = match &result {
        Outcome::InSync if !wrote => Action::None,
        Outcome::Applied => applied.unwrap_or(object.action),
        _ => object.action,
    };
    // Only what has values to show needs to know which of them are not.
    let tells = !object.changes.is_empty()
        || !object.contest.conflicts.is_empty()
        || !object.observed.frozen.is_empty();
    let changes = std::mem::take(&mut object.changes);
    Entry {
        id: object.id.clone(),
        origin: object.origin.clone(),
        changes: if action == Action::None { Vec::new() } else { changes },
        since: object.since.filter(|_| action != Action::None),
        action,
        result,
        conflicts: std::mem::take(&mut object.contest.conflicts),
        findings: std::mem::take(&mut object.findings),
        accepted: std::mem::take(&mut object.accepted),
        wrote,
        observed: Observed {
            uid: object.server_id.clone(),
            writes,
            open,
            left_alone: object.policy.paused || object.policy.drift == Drift::Report,
            names: tells.then(|| Arc::new(Veil::by_names(&object.kind.fields))),
            ..std::mem::take(&mut object.observed)
        },
    }
}
