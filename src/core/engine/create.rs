//! Creates whose end nobody knows: looked for, waited for, and only then sent once more.
//!
//! Without a key that the server knows creates by, an uncertain one is followed by looks until its visibility is
//! over, and by one more at most. With such a key the same request may be sent again at once. Where a server goes
//! on to answer from its memory, with a failure that it has stored or with an object that is long gone, the next
//! generation of the key is taken: a new request, which is as careful as any.

use std::time::Duration;

use super::super::exchange::{Failure, FailureClass};
use super::super::fields::VISIBLE;
use super::super::idempotency::Attempt;
use super::super::report::{Action, CREATE_UNCERTAIN, Explanation, Outcome};
use super::super::value::Value;
use super::super::veil::Veil;
use super::backoff::{self, ATTEMPTS};
use super::decide::Seen;
use super::failure::AfterWrite;
use super::object::Object;
use super::observe::explain;
use super::unfinished::Inherited;
use super::{Body, Engine};

/// The generations of a key that a run goes through: so often at most was the object deleted, and created anew,
/// since the server began to remember.
const GENERATIONS: u32 = 10;
/// Uncertain creates of one object: after waiting and looking, one more, and no third.
const UNCERTAIN: u32 = 2;
/// The same where the server knows creates: each of two keys may be sent twice.
const UNCERTAIN_KNOWN: u32 = 4;
/// Answers "it exists" that are looked behind.
const CLAIMS: u32 = 2;

/// Where an object is with the keys of its creates.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keys {
    /// Of the key that is sent.
    generation: u32,
    /// How often that key was sent with an uncertain end.
    doubts: u32,
    /// The next create takes the next generation.
    renew: bool,
}

impl Keys {
    /// Has the next create take a key that was not sent before; false where there were too many.
    fn renew(&mut self) -> bool {
        self.renew = self.generation + 1 < GENERATIONS;
        self.renew
    }

    /// A create with an uncertain end was sent before this run.
    pub fn doubted(&mut self) {
        self.doubts += 1;
    }

    /// A create is about to be sent.
    pub fn advance(&mut self) {
        if std::mem::take(&mut self.renew) {
            *self = Keys { generation: self.generation + 1, ..Keys::default() };
        }
    }
}

impl Object {
    /// What the key of its create is made of, where the create carries one.
    pub fn attempt(&self, body: &Body) -> Option<Attempt> {
        if !self.kind.knows_creates() {
            return None;
        }
        let mut veil = Veil::of(&self.spec);
        veil.join(&Veil::of_rules(&self.kind.fields));
        let covered = match body {
            Body::Object(value) | Body::Merge(value) => veil.cover(value),
            Body::JsonPatch(_) | Body::None => Value::Null,
        };
        Some(Attempt::new(&covered, self.keys.generation))
    }

    /// Whether an uncertain create may be sent again as it was.
    fn may_repeat(&self) -> bool {
        self.kind.knows_creates() && !self.keys.renew
    }

    /// How often a create may be tried whose end is uncertain.
    pub fn uncertain_creates(&self) -> u32 {
        if self.kind.knows_creates() { UNCERTAIN_KNOWN } else { UNCERTAIN }
    }

    /// After a create, for how long a server may go on to show nothing, and whether that is waited for. `lasting`:
    /// what this run does not wait for, the next one does.
    pub fn patience_for_new(&self, lasting: bool) -> (Duration, bool) {
        let patience = if lasting { self.hidden_for() } else { self.patience() };
        match () {
            // An answer may be one that the server remembers, and the object gone for long: with the declared time
            // over, and as long again, it is.
            () if self.sets > 0 && self.kind.knows_creates() => (patience * 2, true),
            () if self.sets > 0 => (patience, true),
            () if self.last_failure.is_some() => (self.kind.visible, true),
            () if self.uncertain() && self.may_repeat() => (Duration::ZERO, false),
            () => (self.kind.visible, self.uncertain()),
        }
    }

    /// An accepted create that nothing came of: whether it is to be sent once more, with another key.
    pub fn was_remembered(&mut self) -> bool {
        let again = self.kind.knows_creates() && self.sets > 0 && self.action != Action::Update;
        if !again || !self.keys.renew() {
            return false;
        }
        self.sets -= 1;
        self.inherited = Inherited::default();
        self.asked_itself = false;
        self.created = false;
        (self.written, self.was_set) = (None, false);
        self.wrote_at = None;
        self.server_id = self.policy.pinned_id.clone();
        true
    }

    /// Notes that nobody knows whether a create was done. The second such answer to one key is the server's memory
    /// of the first.
    pub fn doubt_create(&mut self, failure: &Failure) {
        self.keys.doubts += 1;
        if self.kind.knows_creates()
            && self.keys.doubts >= 2
            && matches!(failure.class, FailureClass::Status(_))
        {
            self.keys.renew();
        }
    }

    /// What is seen of an object that was created once more after an uncertain create: with another id than the one
    /// that the server told last, it is the first, and there are two.
    pub fn beside_a_double(&self, seen: Seen) -> Seen {
        match (&seen, &self.server_id) {
            (Seen::Present(item), Some(told)) if self.sets > 0 && self.keys.doubts > 0 => match &item
                .server_id
            {
                Some(id) if id != told => Seen::Several(vec![Some(id.to_string()), Some(told.to_string())]),
                _ => seen,
            },
            _ => seen,
        }
    }

    /// Where an object stands whose creates had no certain end, after the last look at it. What a look does not find
    /// after all patience is not there, as far as its kind says; without a look nothing is known.
    pub fn perhaps_created(&self, why: Explanation) -> Outcome {
        let Some((Action::Create, heard)) = &self.doubt else { return Outcome::Unknown(why) };
        if matches!(self.seen, Seen::Absent) {
            return Outcome::Failed(why.because(CREATE_UNCERTAIN));
        }
        let message = format!("whether it was created is not known: {}; {}", heard.message, why.message);
        let hint = why.hint.unwrap_or_else(|| "run the command again: it looks before it creates".into());
        Outcome::Unknown(Explanation::new(message).hint(hint).because(CREATE_UNCERTAIN))
    }
}

impl Engine {
    /// "It exists", or "one like it is under way": looked at until it should be visible, and taken over. If it
    /// cannot be seen, the create is sent once more, and then nobody knows what is there.
    pub(super) fn exists_already(&mut self, at: usize, failure: &Failure) {
        let object = &mut self.objects[at];
        object.races += 1;
        let most = if object.kind.knows_creates() { ATTEMPTS } else { CLAIMS };
        if object.races > most {
            let why = format!("the server says that it exists, and does not show it: {}", failure.message);
            let hint = "it may be hidden from these credentials, or its name still taken by a deleted object";
            return self.settle(at, Outcome::Unknown(Explanation::new(why).hint(hint)));
        }
        if object.races == 1 || object.kind.knows_creates() {
            object.claimed_at = Some(self.now);
            object.looks = 0;
        }
        if object.kind.knows_creates() {
            let wait = backoff::delay(object.races, failure.retry_after, &mut self.random);
            return self.wait(at, wait);
        }
        self.observe(at);
    }

    /// The key of a create was used for another payload: for an earlier state of the file, perhaps by a run that was
    /// killed. What that one made is looked for, then the next key is taken.
    pub(super) fn key_is_used(&mut self, at: usize, failure: &Failure) {
        let now = self.now;
        let object = &mut self.objects[at];
        object.races += 1;
        if object.races > CLAIMS || !object.keys.renew() {
            return self.settle(at, Outcome::Failed(explain(failure)));
        }
        object.doubt = Some((Action::Create, explain(failure)));
        object.wrote_at = Some(now);
        object.looks = 0;
        self.observe(at);
    }

    /// Whether a create is still to be waited for by somebody's word that it exists: for as long as what is new may
    /// be hidden.
    pub(super) fn is_claimed(&mut self, at: usize) -> bool {
        let object = &mut self.objects[at];
        let visible =
            if object.kind.knows_creates() { object.kind.visible.max(VISIBLE) } else { object.kind.visible };
        let Some(until) = object.claimed_at.map(|claimed| claimed + visible) else { return false };
        if self.now >= until || self.stopped.is_some() {
            object.claimed_at = None;
            return false;
        }
        object.looks += 1;
        let wait = backoff::visibility_delay(object.looks);
        self.wait(at, wait);
        true
    }
}

/// How often a write may be tried whose failure says little; `most` is what the run allows.
pub(super) fn attempts(
    object: &Object,
    action: Action,
    next: AfterWrite,
    not_sent: bool,
    most: Option<u32>,
) -> u32 {
    match next {
        AfterWrite::Uncertain if action == Action::Create => {
            let usual = object.uncertain_creates();
            most.map_or(usual, |most| usual.min(most))
        }
        _ => backoff::attempts(most, not_sent),
    }
}
