//! Another object under the name of one that is gone: made by somebody else between a deletion and the creation that
//! was to follow it.
//!
//! Where names are ours, the server refuses a second one. Where ids are the server's, it makes two of them; so the
//! absence of an id proves nothing of the name, and the name is looked for before anything is created. A listing that
//! still shows that very id contradicts the read, or is older than it: it proves no absence.

use std::sync::Arc;

use super::super::exchange::Item;
use super::super::report::{Action, Explanation, Outcome};
use super::decide::{Decision, Seen};
use super::object::Object;
use super::{Engine, backoff};

impl Object {
    /// Forgets the server's id, which names nothing any more, so that the next look is by name. `false` where the
    /// absence of the id is all that is asked, or all that can be: of what we have deleted and goes, of what is pinned,
    /// of what was set, and where no listing has names.
    fn loses_id(&mut self) -> bool {
        let looks_by_name = self.kind.list.is_some() && !self.kind.readable_by_key();
        let by_us = self.with_parent || self.deletes > 0 || self.doubt.is_some();
        let is_told = self.context || self.policy.pinned_id.is_some() || (self.wanted_absent() && by_us);
        if !looks_by_name || is_told || self.sets > 0 {
            return false;
        }
        let Some(id) = self.server_id.take() else { return false };
        self.gone = Some(id);
        self.own_read = false;
        true
    }

    /// A read has found what was looked for. What a read before had said to be gone is there, unless we have deleted it.
    pub(super) fn is_found_again(&mut self) {
        if self.disputed.is_some() && self.deletes == 0 {
            self.gone = None;
        }
    }

    /// The id of the object that stood under this name before: it is gone, or its deletion was accepted.
    fn former_id(&self) -> Option<&Arc<str>> {
        let deleted = || self.doomed.as_ref().filter(|_| self.deletes > 0 || self.doubt.is_some());
        self.gone.as_ref().or_else(|| deleted()?.0.as_ref())
    }

    /// Whether what is seen is another object than the one that stood there before, and none that we made.
    pub(super) fn has_successor(&self) -> bool {
        let Seen::Present(item) = &self.seen else { return false };
        let differs = |former: &Arc<str>| item.server_id.as_ref().is_some_and(|id| id != former);
        self.sets == 0 && !self.wanted_absent() && self.former_id().is_some_and(differs)
    }
}

impl Engine {
    /// Nothing is replaced whose absence could not be proved after its deletion: its id would name nothing, only the
    /// listing has names, and the listing is not whole. It would end deleted. And nothing is deleted or changed there
    /// for its name alone: another may have the same, and which of the two is meant nobody has said. What is pinned is
    /// meant by its id, what is pruned was found by what it is, and what this run has set it knows.
    pub(super) fn while_it_can_be_missed(&mut self, at: usize, decision: Decision) -> Decision {
        let object = &self.objects[at];
        let by_name = object.policy.pinned_id.is_none() && object.policy.pruned.is_none();
        let replaces = decision.action == Action::Replace;
        let by_chance = match decision.action {
            Action::Delete => by_name,
            Action::Update => by_name && object.sets == 0,
            _ => false,
        };
        let due = (replaces || by_chance) && decision.settled.is_none();
        let looks_by_name = object.kind.list.is_some() && !object.kind.readable_by_key();
        if !due || !looks_by_name || object.deletes > 0 || object.doubt.is_some() || object.gone.is_some() {
            return decision;
        }
        let key = object.key_now().clone();
        let collection = self.collection_of(at);
        let Some(why) = self.collections.all[collection].doubt(&key) else { return decision };
        let told = |what: &str, hint| Explanation {
            message: format!("{what}: {}", why.message),
            hint,
            reason: None,
        };
        if replaces {
            let why = told("once deleted, nothing could tell that its name is free", why.hint.clone());
            return decision.refused(why);
        }
        let id = "say which one is meant with the annotation `trueup/id`";
        let hint = why.hint.as_ref().map_or(id.into(), |check| format!("{check}; or {id}"));
        let why = told("whether it alone has its name cannot be told", Some(hint));
        Decision { settled: Some(Outcome::Unknown(why)), ..decision }
    }

    /// A read has shown that a server's id names nothing. Whether it is looked for by its name.
    pub(super) fn seeks_by_name(&mut self, at: usize, asked: u64) -> bool {
        let seeks = self.objects[at].loses_id();
        if seeks {
            self.objects[at].fence = asked;
            self.observe(at);
        }
        seeks
    }

    /// A listing shows the very object whose id a read has said to name nothing. One of the two is behind, and nobody can
    /// tell which: it is read again for as long as either may be. False where that time is over and the absence of the
    /// id decides: of what we have deleted, and of what is to go.
    pub(super) fn is_disputed(&mut self, at: usize, asked: u64, item: &Item) -> bool {
        let ends = self.stopped.is_some() || self.options.attempts.is_some();
        let now = self.now;
        let object = &mut self.objects[at];
        let (since, shown) = object.disputed.get_or_insert((now, 0));
        *shown += 1;
        let (since, shown) = (*since, *shown);
        let over = ends || now >= since + object.kind.visible;
        if over && (object.deletes > 0 || object.wanted_absent()) {
            return false;
        }
        if over {
            let why = "whether it exists cannot be told: a listing shows it, and a read of it says that it is not there";
            self.observed(at, asked, Seen::Unknown(Explanation::new(why)));
            return true;
        }
        object.server_id.clone_from(&item.server_id);
        object.own_read = true;
        object.fence = asked;
        self.wait(at, backoff::visibility_delay(shown));
        true
    }

    /// Whether the collection of what is to go is not there either, where its id names nothing.
    pub(super) fn is_gone_with_all(&self, at: usize) -> bool {
        let object = &self.objects[at];
        object.wanted_absent() && object.gone.is_some()
    }

    /// Where an object stands whose name another has, in a run that knew the former one only.
    pub(super) fn is_succeeded(&self, at: usize) -> Option<Outcome> {
        let why = "another object has taken its name since the one that it had is gone";
        let why = Explanation::new(why).hint("look at a new plan and confirm it");
        self.objects[at].has_successor().then_some(Outcome::Conflict(why))
    }
}
