//! From the answer to a write to the next look. Whatever it is, a write counts only once it was read back.

use std::sync::Arc;

use super::super::document::OnConflict;
use super::super::exchange::{Answer, Failure, FailureClass};
use super::super::managers::Contested;
use super::super::report::{Action, Explanation, Outcome};
use super::backoff::{self, ATTEMPTS, ATTEMPTS_NOT_SENT, CONFLICT_ROUNDS, UNCERTAIN_CREATES};
use super::breaker::Verdict;
use super::failure::{AfterWrite, after_write};
use super::object::{Object, Phase};
use super::observe::{explain, version_needs_read};
use super::ramp::Queued;
use super::{Engine, Timer};

impl Engine {
    /// The answer to a write. Whatever it is, the object is looked at before anything else is done with it.
    pub(super) fn written(&mut self, at: usize, answer: Answer) {
        let Phase::Writing(queued) = std::mem::replace(&mut self.objects[at].phase, Phase::Observing) else {
            return;
        };
        let action = queued.sort.1;
        self.no_longer_writing(&queued);
        self.objects[at].fence = self.count;
        self.heed_the_backend(at, &answer);
        match answer {
            Answer::Accepted { server_id, pending } => {
                self.objects[at].pending = pending;
                self.ramp_of(at).succeeded(&queued);
                self.accepted(at, action, server_id);
            }
            // Changing what is not there (any more): looked at again, as after a deletion by somebody else.
            Answer::Failed(Failure { class: FailureClass::Status(404 | 410), .. })
                if action == Action::Update =>
            {
                self.ramp_of(at).finished(&queued);
                self.gone_already(at);
            }
            Answer::Contested(fields) => {
                self.ramp_of(at).finished(&queued);
                let outcome = contested(&self.objects[at], &fields);
                self.settle(at, outcome);
            }
            Answer::Failed(failure) => {
                let failure = self.without_secrets(at, failure);
                self.write_failed(at, queued, failure);
            }
            Answer::Absent | Answer::Listed(_) | Answer::Found(_) => {
                self.ramp_of(at).finished(&queued);
                self.gone_already(at);
            }
        }
    }

    /// Whether the backend is there at all: after a row of failures its writes pause, and in the end are left.
    fn heed_the_backend(&mut self, at: usize, answer: &Answer) {
        let away = matches!(answer, Answer::Failed(failure) if matches!(
            failure.class,
            FailureClass::NotSent | FailureClass::Lost | FailureClass::Status(500..)
        ));
        let backend = self.objects[at].id.kind.backend.clone();
        let breaker = &mut self.ramps.get_mut(&backend).expect("a write was queued on it").breaker;
        if !away {
            return breaker.answered();
        }
        match breaker.failed(self.now, &mut self.random) {
            Verdict::GoOn => {}
            Verdict::PauseUntil(time) => self.wake_at(time, Timer::Writes),
            Verdict::GiveUp => {
                let why = format!("not attempted: the backend `{backend}` is away");
                for withdrawn in self.ramp_of(at).withdraw(None) {
                    self.no_longer_writing(&withdrawn);
                    self.settle(withdrawn.object, Outcome::Skipped(Explanation::new(why.clone())));
                }
            }
        }
    }

    fn accepted(&mut self, at: usize, action: Action, server_id: Option<Arc<str>>) {
        let now = self.now;
        let object = &mut self.objects[at];
        object.wrote_at = Some(now);
        object.looks = 0;
        object.doubt = None;
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
                object.created |= action == Action::Create;
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
            AfterWrite::Race if self.is_no_race(at, queued.sort.1) => self.still_needed(at, &failure),
            AfterWrite::Race => self.race(at, &failure),
            AfterWrite::Exists => self.exists_already(at, &failure),
            AfterWrite::NotDone | AfterWrite::Uncertain => {
                self.perhaps_again(at, queued.sort.1, next, failure);
            }
        }
    }

    /// A write that was not done, or perhaps was: looked at after a while, and then decided anew. Whatever was
    /// perhaps done is looked at even when no attempt is left.
    fn perhaps_again(&mut self, at: usize, action: Action, next: AfterWrite, failure: Failure) {
        let now = self.now;
        let object = &mut self.objects[at];
        object.failures += 1;
        let mut most = if failure.class == FailureClass::NotSent { ATTEMPTS_NOT_SENT } else { ATTEMPTS };
        if next == AfterWrite::Uncertain {
            object.doubt = Some((action, explain(&failure)));
            object.wrote_at = Some(now);
            object.looks = 0;
            if action == Action::Create {
                most = UNCERTAIN_CREATES;
            }
        }
        let spent = object.failures >= most || failure.asks_too_much() || !self.budget.retry();
        match next {
            AfterWrite::Uncertain if spent => self.objects[at].last_failure = Some(explain(&failure)),
            _ if spent => return self.settle(at, Outcome::Failed(explain(&failure))),
            _ => {}
        }
        if self.stopped.is_some() {
            // Nothing is tried again: what is left is to see what became of it.
            return self.observe(at);
        }
        let wait = backoff::delay(self.objects[at].failures, failure.retry_after, &mut self.random);
        self.wait(at, wait);
    }

    /// A refusal that repeating would not mend; after a run of like ones, their like is not tried.
    fn stop(&mut self, at: usize, queued: &Queued, failure: &Failure) {
        let stop_the_like = self.ramp_of(at).failed(queued, &cause(failure));
        self.settle(at, Outcome::Failed(explain(failure)));
        if !stop_the_like {
            return;
        }
        for withdrawn in self.ramp_of(at).withdraw(Some(&queued.sort)) {
            self.no_longer_writing(&withdrawn);
            self.settle(withdrawn.object, not_attempted());
        }
    }

    /// A race on the version: looked at again at once, a few times.
    fn race(&mut self, at: usize, failure: &Failure) {
        let object = &mut self.objects[at];
        object.races += 1;
        object.own_read = version_needs_read(&object.kind);
        object.doomed = None;
        if object.races > CONFLICT_ROUNDS {
            let mut explanation = explain(failure);
            explanation.hint.get_or_insert_with(|| {
                "others change it all the time, or `version` in the backend is not what the server compares".into()
            });
            return self.settle(at, Outcome::Conflict(explanation));
        }
        let wait = backoff::conflict_delay(self.objects[at].races, &mut self.random);
        self.wait(at, wait);
    }

    /// Whether a deletion was refused before at the very version that it was refused at now: then nobody is
    /// faster than we are, and the server means something else.
    fn is_no_race(&mut self, at: usize, action: Action) -> bool {
        let object = &mut self.objects[at];
        let version = object.version();
        matches!(action, Action::Delete | Action::Replace)
            && object.refused_at.replace(version.clone()).is_some_and(|before| before == version)
    }

    fn still_needed(&mut self, at: usize, failure: &Failure) {
        let mut explanation = explain(failure);
        explanation.hint.get_or_insert_with(|| {
            "something may still be in it, or need it, that stands in no document".into()
        });
        self.settle(at, Outcome::Failed(explanation));
    }

    /// "It is not there": it is looked at; a server that goes on to show it contradicts itself.
    fn gone_already(&mut self, at: usize) {
        let object = &mut self.objects[at];
        object.races += 1;
        object.doomed = None;
        object.server_id = object.policy.pinned_id.clone();
        if object.races > CONFLICT_ROUNDS {
            let why = "the server shows it, and says that it is not there when it is to be changed";
            return self.settle(at, Outcome::Unknown(Explanation::new(why)));
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

/// Where an object stands some of whose fields another manager holds.
pub(super) fn contested(object: &Object, fields: &[Contested]) -> Outcome {
    const MOST: usize = 3;
    let told = fields.iter().take(MOST).map(|field| field.describe(&object.changes));
    let mut told: Vec<String> = told.collect();
    if fields.len() > MOST {
        told.push(format!("and {} more like it", fields.len() - MOST));
    }
    let hint = match object.policy.on_conflict {
        OnConflict::Report => {
            "take their value into the file, leave the field out, or take it over with `trueup/on-conflict: force`"
        }
        OnConflict::Force => {
            "to take a field over, the operation in the backend needs `forced`: what says so to the server"
        }
    };
    Outcome::Conflict(Explanation::new(told.join("; ")).hint(hint))
}

/// Where a write stands whose like has only failed.
pub(super) fn not_attempted() -> Outcome {
    let why = "not attempted: others of its like failed in the same way, one after the other";
    Outcome::Skipped(Explanation::new(why))
}

/// What two refusals have in common: their class, as messages name the object.
fn cause(failure: &Failure) -> String {
    format!("{:?}", failure.class)
}
