//! Acting: from a due action to one request with the strongest precondition, and from its answer to the next
//! look. A write counts only once it was read back.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::super::exchange::{Answer, Failure, FailureClass, Write};
use super::super::kind::{Kind, Serial};
use super::super::node::Node;
use super::super::report::{Action, Explanation, Outcome};
use super::super::value::canonical;
use super::backoff::{self, ATTEMPTS, ATTEMPTS_NOT_SENT, CONFLICT_ROUNDS};
use super::body::{Unsendable, body};
use super::decide::{Decision, Facts, Seen, decide};
use super::failure::{AfterWrite, after_write};
use super::object::{Object, Phase};
use super::observe::{explain, version_needs_read};
use super::ramp::{Lane, Queued, Ramp};
use super::{Effect, Engine, Mode, Pending};

/// How long a deletion may take to show, where the kind says nothing longer.
const GONE_WITHIN: Duration = Duration::from_secs(30);

impl Engine {
    /// Compares what is wanted with what was just seen, and does the next thing.
    pub(super) fn decide(&mut self, at: usize) {
        self.recognise_own_create(at);
        if self.is_awaited(at) {
            return;
        }
        let object = &self.objects[at];
        let spec = self.spec(at);
        let named = |names: &BTreeSet<String>| !names.is_empty() && names.contains(&object.id.slashed());
        let decision = decide(&Facts {
            id: &object.id,
            kind: &object.kind,
            policy: &object.policy,
            spec: &spec,
            seen: &object.seen,
            may_replace: object.policy.replace || named(&self.options.replace),
            rotate: named(&self.options.rotate) && object.sets == 0,
        });
        if self.waits_for_the_server(at, decision.action) {
            return;
        }
        self.take_note(at, &decision);
        if let Some(outcome) = decision.settled {
            return self.settle(at, outcome);
        }
        if self.mode == Mode::Plan || self.objects[at].context {
            return self.settle(at, Outcome::Planned);
        }
        self.act_on(at, decision);
    }

    /// What is wanted of an object, with what its references name; copied only where there are any.
    fn spec(&self, at: usize) -> Cow<'_, Node> {
        let object = &self.objects[at];
        if object.links.references.is_empty() {
            return Cow::Borrowed(&object.spec);
        }
        Cow::Owned(object.spec.resolve(&|reference| self.look(at, reference)))
    }

    /// A create whose answer was lost, and whose object is there: it was ours.
    fn recognise_own_create(&mut self, at: usize) {
        let object = &mut self.objects[at];
        if object.uncertain && matches!(object.seen, Seen::Present(_)) {
            object.uncertain = false;
            object.sets += 1;
            object.agreed = None;
        }
    }

    /// Keeps what is due for the report: the first action, and what is left to change.
    fn take_note(&mut self, at: usize, decision: &Decision) {
        let object = &mut self.objects[at];
        if object.action == Action::None {
            object.action = decision.action;
            object.changes = decision.changes.clone();
        } else if !decision.changes.is_empty() && object.sets > 0 {
            object.changes = decision.changes.clone();
        }
    }

    /// After our own write, what is not visible yet, or not gone yet, is looked at again for a while.
    fn waits_for_the_server(&mut self, at: usize, due: Action) -> bool {
        let object = &self.objects[at];
        let Some(wrote_at) = object.wrote_at else { return false };
        let (patience, waiting) = match (&object.seen, due) {
            (Seen::Absent, Action::Create) if object.sets > 0 => (object.kind.visible, true),
            (Seen::Absent, Action::Create) => (object.kind.visible, object.uncertain),
            (Seen::Present(item), Action::Delete | Action::Replace) if object.sets == 0 => {
                (GONE_WITHIN.max(object.kind.visible), object.deletes > 0 || item.deleting)
            }
            (Seen::Present(item), _) if item.deleting => (GONE_WITHIN, object.deletes > 0),
            _ => return false,
        };
        let over = self.now >= wrote_at + patience || self.stopped.is_some();
        // An uncertain create gets two looks even where nothing is said of visibility.
        if !waiting || (over && !(object.uncertain && object.looks < 2)) {
            return false;
        }
        self.objects[at].looks += 1;
        self.wait(at, backoff::visibility_delay(self.objects[at].looks));
        true
    }

    /// The guards between a due action and its write.
    fn act_on(&mut self, at: usize, decision: Decision) {
        let object = &self.objects[at];
        if let Some(outcome) = spent(object, &decision) {
            return self.settle(at, outcome);
        }
        if let Some(outcome) = object.moved(decision.action, &decision.changes) {
            self.objects[at].changes = decision.changes;
            return self.settle(at, outcome);
        }
        if self.stopped.is_some() {
            return self.settle(at, self.left_undone());
        }
        match decision.action {
            Action::Delete | Action::Replace => self.destroy(at),
            Action::Update
                if version_needs_read(&object.kind) && object.version().is_none() && object.races == 0 =>
            {
                // The precondition is in the answer to the object's own read.
                self.objects[at].own_read = true;
                self.objects[at].races = 1;
                self.observe(at);
            }
            _ => self.enqueue(at, decision.action),
        }
    }

    /// Deleting: after all that needs the object is gone, and after a live read made since the decision.
    fn destroy(&mut self, at: usize) {
        let object = &mut self.objects[at];
        if object.wanted_absent() && object.holders > 0 {
            object.phase = Phase::Held;
            return;
        }
        match &object.doomed {
            Some((id, since)) if object.seen_at > *since => {
                if *id != object.server_id {
                    let why = "another object has taken its name since the decision to delete it";
                    return self.settle(at, Outcome::Conflict(Explanation::new(why)));
                }
                let action = if object.wanted_absent() { Action::Delete } else { Action::Replace };
                self.enqueue(at, action);
            }
            _ => {
                object.doomed = Some((object.server_id.clone(), self.count));
                object.fence = self.count;
                object.own_read = true;
                self.observe(at);
            }
        }
    }

    fn enqueue(&mut self, at: usize, action: Action) {
        let object = &self.objects[at];
        let queued = Queued { object: at, sort: (object.id.kind.clone(), action), lane: lane(object) };
        let most = self.options.writes;
        let ramp = self.ramps.entry(object.id.kind.backend.clone()).or_insert_with(|| Ramp::new(most));
        ramp.push(queued);
        self.objects[at].phase = Phase::Queued;
        let collection = self.collection_of(at);
        self.collections.all[collection].begin_write();
    }

    /// Sends the writes whose turn it is.
    pub(super) fn start_writes(&mut self) {
        let backends: Vec<Arc<str>> = self.ramps.keys().cloned().collect();
        for backend in backends {
            while let Some(queued) = self.ramps.get_mut(&backend).and_then(Ramp::next) {
                self.start_write(queued);
            }
        }
    }

    fn start_write(&mut self, queued: Queued) {
        let (at, action) = (queued.object, queued.sort.1);
        match self.request(at, action) {
            Ok(write) => {
                self.budget.first_attempt();
                let id = self.new_request(Pending::Write { object: at });
                self.objects[at].phase = Phase::Writing(queued);
                self.effects.push(Effect::Write(id, write));
            }
            Err(unsendable) => {
                self.ramp_of(at).finished(&queued);
                self.no_longer_writing(at);
                self.settle(at, unsendable.outcome());
            }
        }
    }

    fn request(&self, at: usize, action: Action) -> Result<Write, Unsendable> {
        let object = &self.objects[at];
        let target = self.target(at);
        let spec = self.spec(at);
        let by_update = object.kind.create.is_none();
        Ok(match action {
            Action::Delete | Action::Replace => Write::Delete(target),
            Action::Create if !by_update => Write::Create(target, body(object, &spec, action)?),
            _ => Write::Update(target, body(object, &spec, action)?),
        })
    }

    fn ramp_of(&mut self, at: usize) -> &mut Ramp {
        let backend = &self.objects[at].id.kind.backend;
        self.ramps.get_mut(backend).expect("a write was queued on it")
    }

    fn no_longer_writing(&mut self, at: usize) {
        let collection = self.collection_of(at);
        self.collections.all[collection].end_write();
        self.dirty.insert(collection);
    }

    /// The answer to a write. Whatever it is, the object is looked at before anything else is done with it.
    pub(super) fn written(&mut self, at: usize, answer: Answer) {
        let Phase::Writing(queued) = std::mem::replace(&mut self.objects[at].phase, Phase::Observing) else {
            return;
        };
        let action = queued.sort.1;
        self.no_longer_writing(at);
        self.objects[at].fence = self.count;
        match answer {
            Answer::Accepted { server_id, .. } => {
                self.ramp_of(at).succeeded(&queued);
                self.accepted(at, action, server_id);
            }
            Answer::Absent => {
                self.ramp_of(at).finished(&queued);
                self.objects[at].server_id = self.objects[at].policy.pinned_id.clone();
                self.observe(at);
            }
            Answer::Failed(failure) => self.write_failed(at, queued, failure),
            Answer::Listed(_) | Answer::Found(_) => {
                self.ramp_of(at).finished(&queued);
                self.observe(at);
            }
        }
    }

    fn accepted(&mut self, at: usize, action: Action, server_id: Option<Arc<str>>) {
        let now = self.now;
        let object = &mut self.objects[at];
        object.wrote_at = Some(now);
        object.looks = 0;
        object.uncertain = false;
        object.agreed = None;
        self.await_write(at, action);
        let object = &mut self.objects[at];
        match action {
            Action::Delete | Action::Replace => {
                object.deletes += 1;
                object.doomed = None;
            }
            _ => {
                object.sets += 1;
                object.server_id = server_id.or(object.server_id.take());
            }
        }
        self.observe(at);
    }

    fn write_failed(&mut self, at: usize, queued: Queued, failure: Failure) {
        let next = after_write(&failure);
        if next != AfterWrite::Stop {
            self.ramp_of(at).finished(&queued);
        }
        match next {
            AfterWrite::Stop => self.stop(at, &queued, &failure),
            AfterWrite::Race => self.race(at, &failure),
            AfterWrite::Exists => self.exists_already(at, &failure),
            AfterWrite::NotDone | AfterWrite::Uncertain => {
                let most = if failure.class == FailureClass::NotSent { ATTEMPTS_NOT_SENT } else { ATTEMPTS };
                let now = self.now;
                let object = &mut self.objects[at];
                object.failures += 1;
                if next == AfterWrite::Uncertain {
                    object.uncertain = queued.sort.1 == Action::Create;
                    object.wrote_at = Some(now);
                    object.looks = 0;
                }
                if object.failures >= most || !self.budget.retry() {
                    return self.settle(at, Outcome::Failed(explain(&failure)));
                }
                let wait = backoff::delay(self.objects[at].failures, failure.retry_after, &mut self.random);
                self.wait(at, wait);
            }
        }
    }

    /// A refusal that repeating would not mend; after a run of like ones, their like is not tried.
    fn stop(&mut self, at: usize, queued: &Queued, failure: &Failure) {
        let stop_the_like = self.ramp_of(at).failed(queued, &cause(failure));
        self.settle(at, Outcome::Failed(explain(failure)));
        if !stop_the_like {
            return;
        }
        let why = "not attempted: others of its like failed in the same way, one after the other";
        for withdrawn in self.ramp_of(at).withdraw(Some(&queued.sort)) {
            self.no_longer_writing(withdrawn.object);
            self.settle(withdrawn.object, Outcome::Skipped(Explanation::new(why)));
        }
    }

    /// A race on the version: looked at again at once, a few times.
    fn race(&mut self, at: usize, failure: &Failure) {
        let object = &mut self.objects[at];
        object.races += 1;
        object.own_read = version_needs_read(&object.kind);
        object.doomed = None;
        if object.races > CONFLICT_ROUNDS {
            let explanation = Explanation { message: failure.message.clone(), hint: failure.hint.clone() };
            return self.settle(at, Outcome::Conflict(explanation));
        }
        let wait = backoff::conflict_delay(self.objects[at].races, &mut self.random);
        self.wait(at, wait);
    }

    /// "It exists": it is looked at and taken over; if it cannot be seen, nobody knows what is there.
    fn exists_already(&mut self, at: usize, failure: &Failure) {
        self.objects[at].races += 1;
        if self.objects[at].races > 2 {
            let why = format!("the server says that it exists, and does not show it: {}", failure.message);
            let hint = "it may be hidden from these credentials, or its name still taken by a deleted object";
            return self.settle(at, Outcome::Unknown(Explanation::new(why).hint(hint)));
        }
        self.observe(at);
    }
}

/// What two refusals have in common: the class, and the message without what names the object.
fn cause(failure: &Failure) -> String {
    format!("{:?}", failure.class)
}

/// The lane of an object's writes.
fn lane(object: &Object) -> Option<Lane> {
    match &object.kind.serial {
        Serial::No => None,
        Serial::Backend => Some(None),
        Serial::Part(part) => {
            let value = object.id.key.get(part).map(canonical).unwrap_or_default();
            Some(Some((part.clone(), value)))
        }
    }
}

/// Two writes at most set values in a run, and one deletion is made: what does not hold after that does not hold.
fn spent(object: &Object, decision: &Decision) -> Option<Outcome> {
    let kind: &Kind = &object.kind;
    match decision.action {
        Action::Create if object.sets > 0 => Some(Outcome::Unknown(
            Explanation::new("the server accepted its creation and does not show it")
                .hint("if the API takes longer, say so in the backend: `visible: DURATION`"),
        )),
        Action::Create if object.uncertain && object.looks < 2 => {
            Some(Outcome::Unknown(Explanation::new("whether it was created is not known")))
        }
        Action::Update | Action::Replace
            if object.sets >= 2
                || (object.sets == 1 && (kind.update.is_none() || decision.action == Action::Replace)) =>
        {
            Some(super::settle::not_effective(&decision.changes))
        }
        Action::Delete | Action::Replace if object.deletes > 0 => {
            Some(Outcome::Failed(Explanation::new("the server accepted its deletion and still shows it")))
        }
        _ => None,
    }
}
