//! Observation: by a listing where many objects of a collection are wanted, by a read where few are.

use std::time::Duration;

use super::super::exchange::{
    Answer, Ask, Collection, Failure, FailureClass, Item, Listing, ParentIds, Target, Wanted,
};
use super::super::identity::ObjectId;
use super::super::kind::{Kind, Read, Version};
use super::super::mutant::planted;
use super::super::observed::Heard;
use super::super::report::{Explanation, Outcome};
use super::backoff;
use super::collections::{FEW, Told};
use super::decide::Seen;
use super::failure::{AfterAsk, after_ask};
use super::object::Phase;
use super::settle::SELECT_IT;
use super::{Effect, Engine, Pending, Timer};

/// A run that would go round for ever ends. Above what half an hour of waiting takes, second by second.
const MOST_PASSES: u32 = 2_500;

impl Engine {
    /// An object whose gates are open: its parents tell whether there is anything to ask.
    pub(super) fn begin(&mut self, object: usize) {
        if self.goes_on_as_seen(object) {
            return self.decide(object);
        }
        for (_, parent) in self.objects[object].links.parents.clone() {
            match &self.objects[parent].seen {
                Seen::Present(_) => {}
                Seen::Absent if self.objects[parent].written.is_some() => {}
                Seen::Absent => return self.begin_without_parent(object, parent),
                Seen::Unknown(_) | Seen::Several(_) | Seen::NotYet => {
                    let (why, at) = (self.parent_in_doubt(parent), self.count);
                    self.objects[object].observed.heard = self.objects[parent].observed.heard;
                    return self.observed(object, at, Seen::Unknown(why));
                }
            }
        }
        if !self.follows_parent(object) {
            self.look_again(object);
        }
    }

    /// What a parent that cannot be told leaves of its child. The reason is told by the parent's own entry, if it
    /// has one.
    fn parent_in_doubt(&self, parent: usize) -> Explanation {
        let parent = &self.objects[parent];
        let why = format!("its parent `{}` is not known to be there", parent.id);
        match &parent.seen {
            Seen::Unknown(reason) if parent.context => {
                Explanation { message: format!("{why}: {}", reason.message), ..reason.clone() }
            }
            _ => Explanation::new(why),
        }
    }

    /// A child whose parent is absent is absent, with no request.
    fn begin_without_parent(&mut self, object: usize, parent_at: usize) {
        let parent = &self.objects[parent_at];
        let nobody_makes_it = parent.context || parent.wanted_absent();
        if nobody_makes_it && !self.objects[object].wanted_absent() {
            let why = format!("its parent `{}` does not exist", parent.id);
            let hint = match parent.is_left_out() {
                true => SELECT_IT,
                false => "add the parent's document, or create it by hand",
            };
            let explanation = Explanation::new(why).hint(hint);
            self.objects[object].observed.waits = self.objects[parent_at].is_left_out();
            return self.settle(object, super::Outcome::Failed(explanation));
        }
        let at = self.count;
        self.observed(object, at, Seen::Absent);
    }

    /// Wants an observation that is asked from now on.
    pub(super) fn observe(&mut self, object: usize) {
        self.objects[object].passes += 1;
        if self.objects[object].passes > MOST_PASSES {
            let why = format!("it was looked at {MOST_PASSES} times and did not settle");
            return self.settle(object, Outcome::Unknown(Explanation::new(why)));
        }
        let collection = self.collection_of(object);
        self.objects[object].phase = Phase::Observing;
        self.collections.all[collection].waiting.push(object);
        self.dirty.insert(collection);
    }

    /// The collection that an object is listed in.
    pub(super) fn collection_of(&mut self, object: usize) -> usize {
        let object = &self.objects[object];
        let kind = object.kind.clone();
        let by_id = |part: &str| kind.list.as_ref().is_some_and(|list| list.op.says_id_of(part));
        let name = Collection {
            kind: kind.name.clone(),
            scope: kind.listing_scope(object.key_now()),
            parent_ids: self.parent_ids(object.links.parents.iter().filter(|(part, _)| by_id(part))),
        };
        self.collections.find(name, &kind)
    }

    pub(super) fn parent_ids<'p>(
        &self,
        parents: impl Iterator<Item = &'p (std::sync::Arc<str>, usize)>,
    ) -> ParentIds {
        let id = |at: usize| self.objects[at].server_id.clone();
        ParentIds(parents.filter_map(|(part, at)| id(*at).map(|id| (part.clone(), id))).collect())
    }

    /// Serves those who wait for a collection: from the last listing if it is new enough for them, else by
    /// asking.
    pub(super) fn serve(&mut self, collection: usize) {
        let shared = &mut self.collections.all[collection];
        if shared.asking || shared.waiting.is_empty() {
            return;
        }
        if shared.not_before.is_some_and(|time| time > self.now) {
            return;
        }
        let waiting = std::mem::take(&mut shared.waiting);
        let listed_at = shared.listed_at();
        let (told, ask): (Vec<usize>, Vec<usize>) = waiting.into_iter().partition(|&at| {
            let object = &self.objects[at];
            let by_listing = !object.own_read || !self.is_readable(at);
            by_listing && listed_at.is_some_and(|asked| asked > object.fence)
        });
        for object in told {
            self.objects[object].seen_by_read = false;
            self.observed_in_listing(collection, object, listed_at.expect("there is a listing"));
        }
        self.ask(collection, ask);
    }

    fn ask(&mut self, collection: usize, objects: Vec<usize>) {
        let mut objects = if self.stopped.is_some() { self.only_written(objects) } else { objects };
        let kind = self.collections.all[collection].kind.clone();
        let Some(list) = &kind.list else {
            return objects.into_iter().for_each(|object| self.ask_read(object));
        };
        let confirming = |at: &usize| self.objects[*at].wrote_at.is_some() && !self.objects[*at].own_read;
        if self.collections.all[collection].waits_for_the_last() {
            // One listing confirms them all once the last write is done.
            let (hold, rest): (Vec<usize>, Vec<usize>) = objects.into_iter().partition(confirming);
            objects = rest;
            let look = self.collections.all[collection].hold(hold, self.now);
            look.into_iter().for_each(|at| self.wake_at(at, Timer::Still(collection)));
        }
        let many = objects.iter().filter(|at| !self.objects[**at].own_read).count() > FEW;
        let by_read = |at: &usize| {
            let alone = self.objects[*at].own_read || !many || list.partial;
            self.is_readable(*at) && alone && !self.may_be_double(*at)
        };
        let (reads, listed): (Vec<usize>, Vec<usize>) = objects.into_iter().partition(by_read);
        reads.into_iter().for_each(|object| self.ask_read(object));
        if !listed.is_empty() {
            self.ask_list(collection, listed);
        }
    }

    /// It is time to see whether the writes of a collection stand still.
    pub(super) fn look_whether_still(&mut self, collection: usize) {
        match self.collections.all[collection].look_whether_still(self.now) {
            Some(again) => self.wake_at(again, Timer::Still(collection)),
            None => drop(self.dirty.insert(collection)),
        }
    }

    /// Whether the object can be asked for by itself, with what is known of it.
    pub(super) fn is_readable(&self, object: usize) -> bool {
        let object = &self.objects[object];
        match &object.kind.read {
            Read::FromList => false,
            Read::Op(op) => !op.needs_id() || object.server_id.is_some(),
        }
    }

    /// Whether the object was created just now under an id of the server's: only a listing shows whether
    /// somebody else created another of its name at the same time.
    fn may_be_double(&self, object: usize) -> bool {
        let object = &self.objects[object];
        let shown = object.kind.readable_by_key() || object.asked_itself;
        object.sets > 0 && !object.own_read && object.created && !shown
    }

    /// After an interrupt only what was written is looked at again.
    fn only_written(&mut self, objects: Vec<usize>) -> Vec<usize> {
        let (written, rest): (Vec<usize>, Vec<usize>) =
            objects.into_iter().partition(|at| self.objects[*at].wrote_at.is_some());
        rest.into_iter().for_each(|at| self.settle(at, self.left_undone()));
        written
    }

    fn ask_list(&mut self, collection: usize, objects: Vec<usize>) {
        self.budget.first_attempt();
        let id = self.new_request(Pending::List { collection, asked: 0 });
        self.pending.insert(id, Pending::List { collection, asked: id });
        let shared = &mut self.collections.all[collection];
        shared.asking = true;
        shared.waiting.extend(objects);
        let wanted = self.wanted.get(&shared.kind.name).cloned().unwrap_or_default();
        self.effects.push(Effect::Ask(id, Ask::List(shared.name.clone(), Wanted::Keys(wanted))));
    }

    fn ask_read(&mut self, object: usize) {
        let Read::Op(op) = &self.objects[object].kind.read else {
            return self.cannot_be_found(object);
        };
        if op.needs_id() && self.objects[object].server_id.is_none() {
            return self.cannot_be_found(object);
        }
        self.budget.first_attempt();
        let id = self.new_request(Pending::Read { object, asked: 0 });
        self.pending.insert(id, Pending::Read { object, asked: id });
        self.effects.push(Effect::Ask(id, Ask::Read(self.target(object))));
    }

    fn cannot_be_found(&mut self, object: usize) {
        let why =
            "it cannot be found: the API has no listing, and the server's id of the object is not known";
        let explanation = Explanation::new(why).hint("state the id with the annotation `trueup/id`");
        let at = self.count;
        self.observed(object, at, Seen::Unknown(explanation));
    }

    /// The target of a request about an object, as last seen.
    pub(super) fn target(&self, object: usize) -> Target {
        let tries_weak = self.tries_weak(object);
        let object = &self.objects[object];
        Target {
            id: ObjectId { kind: object.id.kind.clone(), key: object.key_now().clone() },
            server_id: object.server_id.clone(),
            parent_ids: self.parent_ids(object.links.parents.iter()),
            version: object.version(),
            observed: match &object.seen {
                Seen::Present(item) => Some(item.value.clone()),
                _ => None,
            },
            changed: Vec::new(),
            forced: object.takes_over(),
            tries_weak,
            attempt: None,
            remade: None,
        }
    }

    /// The answer to a listing.
    pub(super) fn listed(&mut self, collection: usize, asked: u64, answer: Answer) {
        let shared = &mut self.collections.all[collection];
        shared.asking = false;
        self.dirty.insert(collection);
        let failure = match answer {
            Answer::Listed(listing) => {
                self.seen.listed(&shared.name.kind, &shared.name.scope, &listing);
                shared.failures = 0;
                shared.not_before = None;
                return shared.take(asked, listing);
            }
            Answer::Failed(_) if planted!(M1) => return shared.take(asked, Listing::default()),
            Answer::Failed(failure) => failure,
            _ => unusable(),
        };
        shared.failures += 1;
        if let Some(wait) = self.retry_after(&failure, self.collections.all[collection].failures) {
            self.collections.all[collection].not_before = Some(self.now + wait);
            return self.wake_at(self.now + wait, Timer::Collection(collection));
        }
        let shared = &mut self.collections.all[collection];
        shared.failures = 0;
        // Some APIs have no list of nothing (Vault, Consul): then each object's own read is the proof.
        let no_list = failure.class == FailureClass::Status(404) && self.stopped.is_none();
        for object in std::mem::take(&mut shared.waiting) {
            self.objects[object].observed.heard = Some(Heard::of(&failure));
            if no_list && self.is_gone_with_all(object) {
                self.observed(object, asked, Seen::Absent);
            } else if no_list && self.objects[object].kind.readable_by_key() {
                self.objects[object].fence = asked;
                self.ask_read(object);
            } else {
                self.observed(object, asked, Seen::Unknown(explain(&failure)));
            }
        }
    }

    /// The wait before the next try of a request that may be tried again.
    pub(super) fn retry_after(&mut self, failure: &Failure, failures: u32) -> Option<Duration> {
        self.retry_within(self.options.attempts, failure, failures)
    }

    /// [`Engine::retry_after`], with a word of its own on how often it may be tried.
    pub(super) fn retry_within(
        &mut self,
        most: Option<u32>,
        failure: &Failure,
        failures: u32,
    ) -> Option<Duration> {
        let most = backoff::attempts(most, failure.class == FailureClass::NotSent);
        let may = after_ask(failure) == AfterAsk::Retry
            && failures < most
            && !failure.asks_too_much()
            && self.stopped.is_none();
        (may && self.budget.retry()).then(|| backoff::delay(failures, failure.retry_after, &mut self.random))
    }

    fn observed_in_listing(&mut self, collection: usize, object: usize, asked: u64) {
        if self.objects[object].outcome().is_some() {
            return;
        }
        let shared = &mut self.collections.all[collection];
        let partial = shared.kind.list.as_ref().is_some_and(|list| list.partial);
        let pinned = self.objects[object].policy.pinned_id.clone();
        let key = self.objects[object].key_now().clone();
        let gone = self.objects[object].gone.clone();
        let told = shared.tell(&key, pinned.as_deref(), gone.as_deref()).expect("there is a listing");
        self.objects[object].created &= matches!(told, Told::Absent | Told::Behind(_) | Told::Missing(_));
        if let Told::Behind(item) = &told
            && self.is_disputed(object, asked, item)
        {
            return;
        }
        let readable = self.objects[object].kind.readable_by_key();
        match told.seen() {
            Ok(Seen::Present(item)) if partial && matches!(self.objects[object].kind.read, Read::Op(_)) => {
                self.objects[object].server_id = item.server_id.clone();
                self.objects[object].fence = asked;
                self.ask_read(object);
            }
            Ok(seen) => self.observed(object, asked, seen),
            Err(_) if readable => {
                self.objects[object].fence = asked;
                self.ask_read(object);
            }
            Err(why) => {
                let message = format!("whether it exists cannot be told: {}", why.message);
                self.observed(object, asked, Seen::Unknown(Explanation { message, ..why }));
            }
        }
    }

    /// The answer to a read. What was settled meanwhile, as by the end of the run, stays so.
    pub(super) fn read(&mut self, object: usize, asked: u64, answer: Answer) {
        if self.objects[object].outcome().is_some() {
            return;
        }
        let failure = match answer {
            Answer::Found(item) => {
                let this = &mut self.objects[object];
                if let Some(why) = this.is_of_another(&item.value) {
                    return self.observed(object, asked, Seen::Unknown(why));
                }
                this.seen_by_read = true;
                this.is_found_again();
                self.seen.saw(&self.objects[object].id.kind, self.objects[object].key_now());
                return self.observed(object, asked, Seen::Present(item));
            }
            Answer::Absent if self.seeks_by_name(object, asked) => return,
            Answer::Absent => {
                self.objects[object].seen_by_read = true;
                return self.observed(object, asked, Seen::Absent);
            }
            Answer::Failed(failure) => failure,
            _ => unusable(),
        };
        self.objects[object].failures += 1;
        match self.retry_after(&failure, self.objects[object].failures) {
            Some(wait) => self.wait(object, wait),
            None => {
                self.objects[object].observed.heard = Some(Heard::of(&failure));
                self.observed(object, asked, Seen::Unknown(explain(&failure)));
            }
        }
    }

    /// Does nothing with an object for a while, then looks again.
    pub(super) fn wait(&mut self, object: usize, wait: Duration) {
        self.objects[object].phase = Phase::Waiting;
        self.wake_at(self.now + wait, Timer::Object(object));
    }

    /// An object has been observed.
    pub(super) fn observed(&mut self, object: usize, asked: u64, seen: Seen) {
        if self.objects[object].outcome().is_some() {
            return;
        }
        let first = matches!(self.objects[object].seen, Seen::NotYet);
        self.keep_secrets(object);
        let this = &mut self.objects[object];
        let seen = this.beside_a_double(seen);
        if matches!(seen, Seen::Present(_) | Seen::Several(_)) {
            this.is_seen_at_last();
        }
        match &seen {
            Seen::Present(Item { server_id: Some(id), .. }) => this.server_id = Some(id.clone()),
            // The id of an object that is gone names nothing; the next one of this name has its own. Until a
            // new object is visible, though, its id is all that is known of it.
            Seen::Absent if this.sets == 0 => this.server_id = this.policy.pinned_id.clone(),
            _ => {}
        }
        this.see(seen);
        this.seen_at = asked;
        this.fence = this.fence.max(asked);
        this.own_read = false;
        self.note_observed(object);
        self.note_unique(object);
        if first {
            self.was_seen(object);
        }
        let looked_for = self.objects[object].looked_for.take();
        if !self.looks_back(object) {
            if self.objects[object].stands_as.is_some() {
                self.note_unique(object);
            }
            self.decide(object);
        }
        self.has_looked(looked_for);
    }
}

/// Whether the version that a precondition needs comes only with the object's own read.
pub(super) fn version_needs_read(kind: &Kind) -> bool {
    let per_object = match &kind.version {
        Version::ETag => true,
        // A listing cannot ask for what one object has.
        Version::Request(op, _) => op.needs_id() || kind.own_parts().any(|part| op.says_part(&part.name)),
        Version::None | Version::OnItem(_) => false,
    };
    per_object && matches!(kind.read, Read::Op(_))
}

pub(super) fn explain(failure: &Failure) -> Explanation {
    let reason = failure.class.reason();
    Explanation { message: failure.message.clone(), hint: failure.hint.clone(), reason }
}

/// An answer of the wrong sort is a fault of the edge, said as an answer that cannot be used.
pub(super) fn unusable() -> Failure {
    Failure {
        class: FailureClass::Backend,
        message: "the answer does not belong to the request".into(),
        hint: None,
        retry_after: None,
    }
}
