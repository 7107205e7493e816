//! Sending: from a decided action to its place in the queue, and from there to a request. Writes that may go
//! together are one request, and one write for every limit.

use std::sync::Arc;

use super::super::exchange::Write;
use super::super::kind::{Parent, Serial, Version};
use super::super::mutant::planted;
use super::super::observed::{Heard, Trouble};
use super::super::report::{Action, Outcome};
use super::body::{Unsendable, body, new_body};
use super::decide::Seen;
use super::object::{Object, Phase};
use super::queue::{Bundle, Company, Lane, Queued};
use super::ramp::Ramp;
use super::written::not_attempted;
use super::{Effect, Engine, Pending, Timer};

impl Engine {
    pub(super) fn enqueue(&mut self, at: usize, action: Action) {
        if let Some(queued) = self.objects[at].turn.take() {
            if queued.sort.1 == action {
                return self.send(vec![queued]);
            }
            self.give_back(&queued);
        }
        let collection = self.collection_of(at);
        let company = company(&self.objects[at], action);
        if self.gathers(at, collection, action, company.is_some()) {
            self.objects[at].phase = Phase::Queued;
            return;
        }
        let object = &self.objects[at];
        let (sort, lane) = ((object.id.kind.clone(), action), lane(object));
        let queued = Queued { object: at, collection, sort, lane, company };
        let most = self.options.writes;
        let ramp = self.ramps.entry(object.id.kind.backend.clone()).or_insert_with(|| Ramp::new(most));
        if ramp.is_stopped(&queued.sort) {
            self.objects[at].observed.heard = Some(Heard { trouble: Trouble::Terminal, retry_after: None });
            return self.settle(at, not_attempted());
        }
        ramp.push(queued);
        self.objects[at].phase = Phase::Queued;
        self.collections.all[collection].begin_write();
    }

    /// Sends the writes whose turn it is.
    pub(super) fn start_writes(&mut self) {
        let backends: Vec<Arc<str>> = self.ramps.keys().cloned().collect();
        for backend in backends {
            while let Some(bundle) = self.ramps.get_mut(&backend).and_then(|ramp| ramp.next(self.now)) {
                self.start_write(bundle);
            }
            if let Some(at) = self.ramps.get_mut(&backend).and_then(Ramp::opens) {
                self.wake_at(at, Timer::Writes);
            }
        }
    }

    /// Starts a write whose turn has come; first it is looked at again, in its turn, if what was seen is old.
    fn start_write(&mut self, mut bundle: Bundle) {
        if !(bundle.len() == 1 && self.rests_on_old(&bundle[0])) {
            return self.send(bundle);
        }
        let Some(queued) = bundle.pop() else { return };
        let at = queued.object;
        let object = &mut self.objects[at];
        object.turn = Some(queued);
        object.fence = self.count;
        object.own_read = true;
        self.observe(at);
    }

    /// Whether a write has to see the object in its turn: to destroy it, since a write before it has moved the
    /// version that it rests on, or since the backend is known by now to take none without a version. A bundle is refused and split instead, and in the end each goes alone.
    fn rests_on_old(&mut self, queued: &Queued) -> bool {
        let object = &self.objects[queued.object];
        let is_there = matches!(object.seen, Seen::Present(_));
        let of_a_set = matches!(object.kind.version, Version::Request(..));
        let (unseen, seen_at) = (object.is_unseen_since_doomed(), object.seen_at);
        let unread = is_there && !object.seen_by_read && self.seeks_version(queued.object);
        let ramp = self.ramp_of(queued.object);
        unseen
            || unread
            || (is_there
                && (ramp.is_outdated(queued, seen_at) || (of_a_set && ramp.has_moved(queued, seen_at))))
    }

    /// Whether a deletion can wait with its live read for its turn: then the writes of its lane that come before
    /// it make nothing old.
    pub(super) fn is_read_in_turn(&self, at: usize, action: Action) -> bool {
        let object = &self.objects[at];
        lane(object).is_some() && company(object, action).is_none() && self.is_readable(at)
    }

    /// How many objects go by a deletion besides its own, as far as that was seen: they count as it does.
    fn goes_by(&self, at: usize, action: Action) -> usize {
        let destroys = matches!(action, Action::Delete | Action::Replace);
        self.objects[at].below.as_ref().filter(|_| destroys).map_or(0, |below| below.along())
    }

    /// A turn that is not used.
    pub(super) fn give_back(&mut self, queued: &Queued) {
        self.ramp_of(queued.object).unused(queued);
        self.no_longer_writing(queued);
    }

    /// Sends a bundle as one request, without those of it that cannot be sent.
    fn send(&mut self, bundle: Bundle) {
        let first = bundle.first().expect("a bundle is not empty").clone();
        let (mut writes, mut objects) = (Vec::new(), Vec::new());
        let mut unsendable: Vec<(Queued, Outcome)> = Vec::new();
        for queued in bundle {
            let at = queued.object;
            if let Some(outcome) = self.over_limit(at) {
                unsendable.push((queued, outcome));
                continue;
            }
            self.objects[at].keys.advance();
            match self.request(at, queued.sort.1) {
                Ok(write) => {
                    self.note_sent(at, &write);
                    writes.push(write);
                    objects.push(at);
                    let along = self.goes_by(at, queued.sort.1);
                    self.objects[at].went_along += along;
                    self.sent += 1 + along;
                    self.objects[at].phase = Phase::Writing(queued);
                }
                Err(why) => unsendable.push((queued, why.outcome())),
            }
        }
        if writes.is_empty() {
            self.ramp_of(first.object).unused(&first);
        } else {
            self.budget.first_attempt();
            let id = self.new_request(Pending::Write { objects });
            self.effects.push(Effect::Write(id, Write::together(writes)));
        }
        for (queued, outcome) in unsendable {
            self.no_longer_writing(&queued);
            self.settle(queued.object, outcome);
        }
    }

    fn request(&self, at: usize, action: Action) -> Result<Write, Unsendable> {
        let object = &self.objects[at];
        let mut target = self.target(at);
        if action == Action::Replace {
            // Nothing is deleted that could not be made again.
            target.remade = Some(Arc::new(new_body(object, &self.spec(at))?));
        }
        if matches!(action, Action::Delete | Action::Replace) {
            return Ok(Write::Delete(target));
        }
        let (body, changed) = body(object, &self.spec(at), action, self.rotates(at))?;
        target.changed = changed;
        target.version = target.version.filter(|_| !planted!(M17));
        let by_update = object.kind.create.is_none();
        Ok(match action {
            Action::Create if !by_update => {
                target.attempt = object.attempt(&body);
                Write::Create(target, body)
            }
            _ => Write::Update(target, body),
        })
    }

    pub(super) fn ramp_of(&mut self, at: usize) -> &mut Ramp {
        let backend = &self.objects[at].id.kind.backend;
        self.ramps.get_mut(backend).expect("a write was queued on it")
    }

    pub(super) fn no_longer_writing(&mut self, queued: &Queued) {
        self.collections.all[queued.collection].end_write(self.now);
        self.dirty.insert(queued.collection);
    }

    /// Several objects were refused at once, which says of none that it was the cause. They are looked at again,
    /// and go by halves, so that the cause is found in a few rounds; or each alone, where all seem to be one.
    pub(super) fn split(&mut self, bundle: &[Queued]) {
        let Some(first) = bundle.first() else { return };
        let alone = self.ramp_of(first.object).refused_together(first);
        let most = if alone { 1 } else { bundle.len().div_ceil(2) };
        for queued in bundle {
            self.objects[queued.object].most_together = most;
            self.observe(queued.object);
        }
    }
}

/// The lane of an object's writes.
pub(super) fn lane(object: &Object) -> Option<Lane> {
    match &object.kind.serial {
        Serial::No => None,
        Serial::Backend => Some(None),
        Serial::Part(part) => {
            let value = object.kind.folded_part(&object.id.key, part).unwrap_or_default();
            Some(Some((part.clone(), value)))
        }
    }
}

/// Which others an object's write may go with.
fn company(object: &Object, action: Action) -> Option<Company> {
    let most = object.kind.op_for(action)?.batch?.min(object.most_together);
    let parents = object.kind.parts.iter().filter(|part| part.parent != Parent::Own);
    let value = |name: &str| object.kind.folded_part(&object.id.key, name).unwrap_or_default();
    (most > 1).then(|| Company { parents: parents.map(|part| value(&part.name)).collect(), most })
}
