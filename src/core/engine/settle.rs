//! The end of an object in a run, and what it sets free.

use super::super::change::{Change, Shown};
use super::super::report::{Action, Entry, Explanation, Outcome};
use super::super::value::canonical_text;
use super::decide::Seen;
use super::object::{Object, Phase};
use super::{Engine, Stop, Timer};

impl Engine {
    /// Ends an object, and opens the gates that waited for it.
    pub(super) fn settle(&mut self, at: usize, outcome: Outcome) {
        let object = &mut self.objects[at];
        if object.outcome().is_some() {
            return;
        }
        let wrote = object.sets > 0 || object.deletes > 0;
        let outcome = if wrote && outcome == Outcome::InSync { Outcome::Done } else { outcome };
        let first = matches!(object.seen, Seen::NotYet);
        object.phase = Phase::Settled(outcome);
        self.unsettled -= 1;
        if first {
            self.was_seen(at);
        }
        if self.dependants[at].is_empty() {
            self.forget(at);
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
    }

    /// The observed value is needed no longer once nobody refers to it.
    fn forget(&mut self, at: usize) {
        if matches!(self.objects[at].seen, Seen::Present(_)) {
            self.objects[at].seen = Seen::Unknown(Explanation::default());
        }
    }

    /// An object that is to go is settled: what it needs, and is to go too, is held no longer.
    fn release_needs(&mut self, at: usize) {
        let gone = self.objects[at].is_usable();
        for need in self.objects[at].links.needs() {
            if !self.objects[need].wanted_absent() {
                continue;
            }
            self.objects[need].holders -= 1;
            let held = matches!(self.objects[need].phase, Phase::Held);
            if held && !gone {
                let why = format!("`{}`, which needs it, is still there", self.objects[at].id);
                self.settle(need, Outcome::Skipped(Explanation::new(why)));
            } else if held && self.objects[need].holders == 0 {
                self.objects[need].fence = self.count;
                self.wake_at(self.now, Timer::Object(need));
                self.objects[need].phase = Phase::Waiting;
            }
        }
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
                return self.settle(at, self.skipped_for(need));
            }
        }
        if self.stopped.is_some() {
            return self.settle(at, self.left_undone());
        }
        self.open.push_back(at);
    }

    /// Whether `need` is in a state in which `at` can go on. A parent that is not there is judged when the
    /// object begins: its children are absent.
    fn serves(&self, at: usize, need: usize) -> bool {
        let is_parent = self.is_parent(need, at);
        let needed = &self.objects[need];
        if needed.context {
            return is_parent || matches!(needed.seen, Seen::Present(_));
        }
        // A parent that was left as it is, and is there, is all that a child needs.
        let left = matches!(needed.outcome(), Some(Outcome::Refused(_) | Outcome::Conflict(_)));
        let stands = left && !needed.wanted_absent() && matches!(needed.seen, Seen::Present(_));
        needed.is_usable() || (is_parent && stands)
    }

    /// Where an object stands for want of another: the first cause is named, not those between. Its reason is
    /// told by its own entry, if it has one.
    fn skipped_for(&self, needed: usize) -> Outcome {
        let needs = self.objects[needed].links.needs();
        let deeper = needs.into_iter().find(|need| !self.serves(needed, *need));
        let needed = &self.objects[needed];
        let Some(outcome) = needed.outcome() else {
            let why = format!("it needs `{}`, which is not settled", needed.id);
            return Outcome::Skipped(Explanation::new(why));
        };
        match (outcome, deeper) {
            (Outcome::Skipped(_), Some(deeper)) => self.skipped_for(deeper),
            _ => {
                let reason = outcome.explanation().filter(|_| needed.context);
                let reason = reason.map(|why| format!(": {}", why.message)).unwrap_or_default();
                let why = format!("it needs `{}`, which {}{reason}", needed.id, words(outcome));
                let why = Explanation::new(why);
                let left_out = needed.is_left_out() && matches!(outcome, Outcome::Planned);
                Outcome::Skipped(if left_out { why.hint(SELECT_IT) } else { why })
            }
        }
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
        self.stopped = Some(why);
        for ramp in self.ramps.values_mut().map(|ramp| ramp.withdraw(None)).collect::<Vec<_>>() {
            for queued in ramp {
                let collection = self.collection_of(queued.object);
                self.collections.all[collection].end_write();
                self.dirty.insert(collection);
            }
        }
        for at in 0..self.objects.len() {
            let object = &self.objects[at];
            let looked_at = matches!(object.phase, Phase::Waiting | Phase::Observing);
            let under_way = matches!(object.phase, Phase::Writing(_)) || object.outcome().is_some();
            let read_back = looked_at && object.wrote_at.is_some();
            if !(under_way || read_back) {
                self.settle(at, self.left_undone());
            }
        }
    }
}

/// What to do where something that is needed has a document, and was not selected.
pub(super) const SELECT_IT: &str = "select it as well, with another `--only`";

fn words(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::InSync | Outcome::Planned | Outcome::Done => "is not there",
        Outcome::Refused(_) => "was refused",
        Outcome::Conflict(_) => "is in conflict",
        Outcome::Failed(_) => "failed",
        Outcome::Unknown(_) => "is unknown",
        Outcome::NotEffective(_) => "is not as it was sent",
        Outcome::Skipped(_) => "was skipped",
    }
}

/// The result of writes that did not stick: what was sent, and what the server made of it.
pub(super) fn not_effective(changes: &[Change]) -> Outcome {
    let Some(change) = changes.first() else {
        return Outcome::NotEffective(Explanation::new("the server keeps another value"));
    };
    let text = |side: &Option<Shown>| match side {
        Some(Shown::Value(value)) => canonical_text(value),
        Some(Shown::Secret) => "a secret".into(),
        Some(Shown::Later(text)) => text.to_string(),
        None => "nothing".into(),
    };
    let (sent, stored) = (text(&change.after), text(&change.before));
    let more = match changes.len() {
        1 => String::new(),
        n => format!(", and {} more like it", n - 1),
    };
    let why = format!("`{}`: sent {sent}, the server stores {stored}{more}", change.path);
    let hint = format!(
        "if the server's form is as good, say so in the backend: `fields: {{{}: COMPARER}}`, or `ignore`",
        change.path
    );
    Outcome::NotEffective(Explanation::new(why).hint(hint))
}

/// What is reported of an object.
pub(super) fn entry(object: Object) -> Entry {
    let wrote = object.sets > 0 || object.deletes > 0;
    let result = match object.phase {
        Phase::Settled(outcome) => outcome,
        _ => Outcome::Unknown(Explanation::new("the run ended before it was settled")),
    };
    let action = match &result {
        Outcome::InSync if !wrote => Action::None,
        _ => object.action,
    };
    Entry {
        id: object.id,
        origin: object.origin,
        changes: if action == Action::None { Vec::new() } else { object.changes },
        action,
        result,
        findings: object.findings,
        wrote,
    }
}
