//! From the answer to a write to the next look. Whatever it is, a write counts only once it was read back.

use std::sync::Arc;

use super::super::exchange::{Answer, Failure, FailureClass};
use super::super::mutant::planted;
use super::super::observed::{Heard, Trouble};
use super::super::report::{Action, CONTENDED, Explanation, Finding, Outcome};
use super::backoff::{self, CONFLICT_ROUNDS};
use super::breaker::{PROBES, Verdict};
use super::create::attempts;
use super::failure::{AfterWrite, after_write};
use super::object::Phase;
use super::observe::{explain, version_needs_read};
use super::queue::{Bundle, Queued};
use super::{Engine, Timer};

impl Engine {
    /// The answer to a write of one object or several. Whatever it is, each is looked at before anything else is
    /// done with it.
    pub(super) fn written(&mut self, objects: Vec<usize>, answer: Answer) {
        let bundle: Bundle = objects.into_iter().filter_map(|at| self.came_back(at)).collect();
        let Some(first) = bundle.first() else { return };
        self.heed_the_backend(first.object, &answer);
        match answer {
            Answer::Accepted { server_id, pending, inside } => {
                self.ramp_of(first.object).succeeded(first);
                let objects = bundle.iter().map(|queued| queued.object);
                let heard = inside.as_ref().map(Heard::of);
                let inside = inside.map(|failure| explain(&self.without_secrets(objects, failure)));
                for queued in &bundle {
                    self.objects[queued.object].pending = pending;
                    self.accepted(queued.object, queued.sort.1, server_id.clone());
                    self.objects[queued.object].observed.heard = heard;
                    // It counts for those that the next look does not find as they were sent.
                    self.objects[queued.object].last_failure = inside.clone();
                    if planted!(M5) {
                        self.settle(queued.object, Outcome::Done);
                    } else if planted!(M6) && self.objects[queued.object].sets == 1 {
                        self.enqueue(queued.object, Action::Update);
                    } else {
                        self.observe(queued.object);
                    }
                }
            }
            Answer::Begun { operation, server_id } => {
                self.ramp_of(first.object).began(first);
                for (nth, queued) in bundle.iter().enumerate() {
                    self.objects[queued.object].pending = true;
                    self.accepted(queued.object, queued.sort.1, server_id.clone());
                    // Of several that were written together, one holds the lane.
                    let lane = queued.lane.clone().filter(|_| nth == 0);
                    self.follow(queued.object, Queued { lane, ..queued.clone() }, operation.clone());
                }
            }
            Answer::Contested(_) if bundle.len() > 1 => self.split(&bundle),
            Answer::Contested(fields) => {
                self.ramp_of(first.object).finished(first);
                self.held(first.object, &fields);
            }
            Answer::Failed(failure) => {
                let heard = Heard::of(&failure);
                bundle.iter().for_each(|queued| self.objects[queued.object].observed.heard = Some(heard));
                let failure = self.without_secrets(bundle.iter().map(|queued| queued.object), failure);
                self.write_failed(&bundle, failure);
            }
            Answer::Absent | Answer::Listed(_) | Answer::Found(_) | Answer::Progress(_)
                if bundle.len() > 1 =>
            {
                self.split(&bundle)
            }
            Answer::Absent | Answer::Listed(_) | Answer::Found(_) | Answer::Progress(_) => {
                self.ramp_of(first.object).finished(first);
                self.gone_already(first.object);
            }
        }
        let count = self.count;
        self.ramp_of(first.object).answered(first, count);
    }

    /// An object's write is no longer under way.
    fn came_back(&mut self, at: usize) -> Option<Queued> {
        let phase = std::mem::replace(&mut self.objects[at].phase, Phase::Observing);
        let Phase::Writing(queued) = phase else { return None };
        self.no_longer_writing(&queued);
        let object = &mut self.objects[at];
        object.fence = self.count;
        object.below = None;
        // What goes under its old name is looked for there until it is gone.
        if !object.wanted_absent() && object.stands_as.take().is_some() {
            // It may have its new name by now, which a read by id would take for another object.
            object.server_id = None;
        }
        Some(queued)
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
        let probes = self.options.attempts.map_or(PROBES, |most| PROBES.min(most.saturating_sub(1)));
        match breaker.failed(self.now, probes, &mut self.random) {
            Verdict::GoOn => {}
            Verdict::PauseUntil(time) => self.wake_at(time, Timer::Writes),
            Verdict::GiveUp => {
                let why = format!("not attempted: the backend `{backend}` is away");
                for withdrawn in self.ramp_of(at).withdraw(None) {
                    self.no_longer_writing(&withdrawn);
                    let heard = Heard { trouble: Trouble::Fault, retry_after: None };
                    self.objects[withdrawn.object].observed.heard = Some(heard);
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
        object.was_set = !matches!(action, Action::Delete | Action::Replace);
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
                object.asked_itself &= action != Action::Create;
                object.server_id = server_id.or(object.server_id.take());
            }
        }
    }

    fn write_failed(&mut self, bundle: &[Queued], failure: Failure) {
        let next = after_write(&failure);
        match (next, bundle) {
            (_, []) => {}
            (AfterWrite::NotDone | AfterWrite::Uncertain, [first, ..]) => {
                self.ramp_of(first.object).finished(first);
                self.perhaps_again(bundle, next, failure);
            }
            (_, [one]) => self.refused(one, next, failure),
            (_, several) => self.split(several),
        }
    }

    /// The server was asked for one object, and said no.
    fn refused(&mut self, queued: &Queued, next: AfterWrite, failure: Failure) {
        let (at, action) = (queued.object, queued.sort.1);
        // Changing what is not there (any more): looked at again, as after a deletion by somebody else.
        let gone = action == Action::Update && matches!(failure.class, FailureClass::Status(404 | 410));
        if next == AfterWrite::Stop && !gone {
            return self.stop(at, queued, &failure);
        }
        if next == AfterWrite::Unguarded {
            return self.unguarded(at, queued, &failure);
        }
        self.ramp_of(at).finished(queued);
        match next {
            AfterWrite::Race if self.is_no_race(at, action, failure.class) => self.still_needed(at, &failure),
            AfterWrite::Race => self.race(at, queued, &failure),
            AfterWrite::Exists => self.exists_already(at, &failure),
            AfterWrite::KeyUsed => self.key_is_used(at, &failure),
            AfterWrite::Stop | AfterWrite::NotDone | AfterWrite::Uncertain | AfterWrite::Unguarded => {
                self.gone_already(at)
            }
        }
    }

    /// A write that was not done, or perhaps was: looked at after a while, and then decided anew. Whatever was
    /// perhaps done is looked at even when no attempt is left. What went together waits together, and its
    /// repetition is one.
    fn perhaps_again(&mut self, bundle: &[Queued], next: AfterWrite, failure: Failure) {
        let not_sent = failure.class == FailureClass::NotSent;
        let most = self.options.attempts;
        let mut tries = 0;
        let mut left = false;
        for queued in bundle {
            let failures = self.failed_perhaps(queued, next, &failure);
            tries = tries.max(failures);
            left |= failures < attempts(&self.objects[queued.object], queued.sort.1, next, not_sent, most);
        }
        let again = left && !failure.asks_too_much() && self.budget.retry();
        let wait = backoff::delay(tries, failure.retry_after, &mut self.random);
        for queued in bundle {
            let at = queued.object;
            if planted!(M3) && queued.sort.1 == Action::Create {
                self.enqueue(at, Action::Create);
                continue;
            }
            let object = &self.objects[at];
            let spent = !again || object.failures >= attempts(object, queued.sort.1, next, not_sent, most);
            match next {
                AfterWrite::Uncertain if spent => self.objects[at].last_failure = Some(explain(&failure)),
                _ if spent => {
                    self.settle(at, Outcome::Failed(explain(&failure)));
                    continue;
                }
                _ => {}
            }
            if self.stopped.is_some() || (spent && most.is_some()) {
                // Nothing is tried again: what is left is to see what became of it.
                self.observe(at);
            } else {
                self.wait(at, wait);
            }
        }
    }

    /// Notes a failure that says little; gives the failures so far.
    fn failed_perhaps(&mut self, queued: &Queued, next: AfterWrite, failure: &Failure) -> u32 {
        let object = &mut self.objects[queued.object];
        object.failures += 1;
        if next == AfterWrite::Uncertain {
            if queued.sort.1 == Action::Create {
                object.doubt_create(failure);
            }
            object.doubt = Some((queued.sort.1, explain(failure)));
            object.wrote_at = Some(self.now);
            object.looks = 0;
        }
        object.failures
    }

    /// A refusal that repeating would not mend; after a run of like ones, their like is not tried.
    pub(super) fn stop(&mut self, at: usize, queued: &Queued, failure: &Failure) {
        let stop_the_like = self.ramp_of(at).failed(queued, &cause(failure));
        self.settle(at, Outcome::Failed(explain(failure)));
        if !stop_the_like {
            return;
        }
        for withdrawn in self.ramp_of(at).withdraw(Some(&queued.sort)) {
            self.no_longer_writing(&withdrawn);
            self.objects[withdrawn.object].observed.heard = Some(Heard::of(failure));
            self.settle(withdrawn.object, not_attempted());
        }
    }

    /// A race on the version: looked at again at once, a few times. Where the objects of a lane share a version,
    /// or the place that it speaks of, each write of ours makes the others' old: that is no race with anybody, and
    /// from then on each is looked at in its turn.
    fn race(&mut self, at: usize, queued: &Queued, failure: &Failure) {
        let seen_at = self.objects[at].seen_at;
        let ramp = self.ramp_of(at);
        let ours = ramp.has_moved(queued, seen_at);
        if ours {
            ramp.shares_version(queued);
        }
        self.note_refusal(at);
        let object = &mut self.objects[at];
        object.agree_to_last_look(queued.sort.1);
        object.races += u32::from(!ours);
        object.own_read = version_needs_read(&object.kind);
        object.doomed = None;
        if object.races > CONFLICT_ROUNDS {
            object.findings.push(contended());
            return self.settle(at, Outcome::Conflict(explain(failure)));
        }
        if planted!(M26) {
            return self.enqueue(at, queued.sort.1);
        }
        let wait = backoff::conflict_delay(self.objects[at].races, &mut self.random);
        self.wait(at, wait);
    }

    /// Whether a deletion was refused before at the very version that it was refused at now: then nobody is
    /// faster than we are, and the server means something else. Not where it says that the version is what it refuses.
    fn is_no_race(&mut self, at: usize, action: Action, class: FailureClass) -> bool {
        let tries_weak = self.tries_weak(at);
        let object = &mut self.objects[at];
        let version = object.version();
        let was_sent = version.as_ref().is_some_and(|version| !version.weak || tries_weak);
        if class == FailureClass::Mismatch && was_sent {
            return false;
        }
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
}

/// What is found of an object that others keep changing.
fn contended() -> Finding {
    let why =
        format!("its write was refused as a conflict {} times, each from a new look", CONFLICT_ROUNDS + 1);
    Finding::new(CONTENDED, why)
        .hint("others change it all the time, or `version` in the backend is not what the server compares")
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
