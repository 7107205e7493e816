//! Operations: writes that the server accepts and finishes later, at an address of their own.
//!
//! While one is under way the object is not looked at: the operation is, as often as its server likes. Its end is
//! a hint as any answer to a write; what the object came to is read then. The address is told wherever waiting
//! ends early: a new run looks at the object and decides anew.

use std::time::Duration;

use super::super::exchange::{Answer, Ask, Failure, Operation, Progress};
use super::super::observed::Heard;
use super::super::report::{Action, Explanation, Outcome};
use super::backoff::visibility_delay;
use super::failure::{AfterAsk, after_ask};
use super::object::{FINISHED_WITHIN, Phase};
use super::observe::{explain, unusable};
use super::queue::Queued;
use super::{Effect, Engine, Pending};

/// An operation that is left from run to run is asked for at least so often.
const SLOWEST: Duration = Duration::from_secs(30);

/// What the server is at.
#[derive(Debug)]
pub struct Underway {
    operation: Operation,
    since: Duration,
    /// How long before this run it was begun.
    age: Duration,
    action: Action,
    /// The write that began it, whose lane it holds; `None`: it was another run's.
    queued: Option<Queued>,
}

impl Underway {
    /// One that the run before has begun.
    pub fn inherited(action: Action, operation: Operation, age: Duration) -> Underway {
        Underway { operation, since: Duration::ZERO, age, action, queued: None }
    }

    pub fn operation(&self) -> &Operation {
        &self.operation
    }

    pub fn action(&self) -> Action {
        self.action
    }

    /// How long ago it was begun.
    pub fn age(&self, now: Duration) -> Duration {
        now.saturating_sub(self.since) + self.age
    }

    /// Whether a run that waits for `most` may leave it: one that keeps others of its lane from being written is waited
    /// for, as they go one at a time in one run only.
    pub fn may_be_left(&self, now: Duration, most: Duration) -> bool {
        match &self.queued {
            Some(queued) => queued.lane.is_none() && now >= self.since + most,
            None => true,
        }
    }

    /// How much of its time is left.
    fn left(&self, now: Duration) -> Duration {
        self.limit().saturating_sub(self.age(now))
    }

    /// How long it may take. An operation that nothing is declared of is only a hint.
    fn limit(&self) -> Duration {
        self.operation.wait.as_ref().map_or(FINISHED_WITHIN, |wait| wait.limit)
    }

    /// The end of waiting for it, which nobody knows more of.
    fn unknown(&self, why: String) -> Outcome {
        let why = Explanation::new(format!("{why}: its operation is at `{}`", self.operation.url));
        Outcome::Unknown(why.hint("look at it there; a new run looks at the object, and decides anew"))
    }
}

impl Engine {
    /// Looks at an object once more: at what the server is doing with it, if it is at it.
    pub(super) fn look_again(&mut self, at: usize) {
        let Some(underway) = &self.objects[at].operation else { return self.observe(at) };
        let operation = underway.operation.clone();
        self.objects[at].phase = Phase::Observing;
        self.budget.first_attempt();
        let id = self.new_request(Pending::Operation { object: at });
        self.effects.push(Effect::Ask(id, Ask::Operation(self.target(at), operation)));
    }

    /// Waits for an operation that a write has begun.
    pub(super) fn follow(&mut self, at: usize, queued: Queued, operation: Operation) {
        let retry_after = operation.retry_after;
        let (age, action) = (Duration::ZERO, queued.sort.1);
        let underway = Underway { operation, since: self.now, age, action, queued: Some(queued) };
        self.wait_for(at, underway, retry_after);
    }

    /// Asks again when the server likes, and not after the limit.
    fn wait_for(&mut self, at: usize, underway: Underway, retry_after: Option<Duration>) {
        let every = match &underway.operation.wait {
            Some(wait) => wait.every,
            None => visibility_delay(self.objects[at].looks),
        };
        let asked = retry_after.filter(|wait| !wait.is_zero());
        let left = underway.left(self.now);
        if self.leaves_operation(&underway) {
            // A pass is more than a request: what takes long is asked for the less often.
            let slowly = (underway.age(self.now) / 4).min(SLOWEST);
            return self.leave_operation(at, underway, asked.unwrap_or(every.max(slowly)).min(left));
        }
        let wait = asked.unwrap_or(every).min(left);
        self.objects[at].looks += 1;
        self.objects[at].operation = Some(underway);
        self.wait(at, wait);
    }

    /// What was heard of an operation.
    pub(super) fn followed(&mut self, at: usize, answer: Answer) {
        let Some(underway) = self.objects[at].operation.take() else { return };
        match answer {
            Answer::Progress(Progress::Running { retry_after }) => {
                self.objects[at].failures = 0;
                self.running(at, underway, retry_after);
            }
            Answer::Progress(Progress::Done { server_id }) => {
                self.over(at, &underway);
                let object = &mut self.objects[at];
                object.failures = 0;
                object.pending = false;
                object.server_id = server_id.or(object.server_id.take());
                self.observe(at);
            }
            Answer::Progress(Progress::Failed(failure)) => {
                self.over(at, &underway);
                self.objects[at].created = false;
                self.objects[at].observed.heard = Some(Heard::of(&failure));
                let failure = self.without_secrets(std::iter::once(at), failure);
                self.settle(at, Outcome::Failed(explain(&failure)));
            }
            // Some servers forget an operation once it is over.
            Answer::Absent => {
                self.over(at, &underway);
                self.objects[at].pending = false;
                let why = format!("its operation at `{}` is not there any more", underway.operation.url);
                self.look_at_the_object(at, &underway, Explanation::new(why));
            }
            Answer::Failed(failure) => self.not_heard(at, underway, failure),
            _ => self.not_heard(at, underway, unusable()),
        }
    }

    fn running(&mut self, at: usize, underway: Underway, retry_after: Option<Duration>) {
        if self.stopped.is_some() {
            self.over(at, &underway);
            let outcome = underway.unknown("the run ended before the server was done".into());
            self.objects[at].operation = Some(underway);
            return self.settle(at, outcome);
        }
        if !underway.left(self.now).is_zero() {
            return self.wait_for(at, underway, retry_after);
        }
        let limit = underway.limit();
        self.over(at, &underway);
        let outcome =
            underway.unknown(format!("the server was not done within {}", humantime::format_duration(limit)));
        if underway.operation.wait.is_some() {
            // Nobody waits for it longer than its kind says: the next run looks, and decides anew.
            self.objects[at].created = false;
            return self.settle(at, outcome);
        }
        self.objects[at].last_failure = outcome.explanation().cloned();
        self.observe(at);
    }

    /// No word of the operation: asked again for a while. In the end the object itself has to tell.
    fn not_heard(&mut self, at: usize, underway: Underway, failure: Failure) {
        self.objects[at].failures += 1;
        // What the server is at is not left alone for one answer that was lost.
        if let Some(wait) = self.retry_within(None, &failure, self.objects[at].failures) {
            self.objects[at].operation = Some(underway);
            return self.wait(at, wait);
        }
        self.over(at, &underway);
        self.objects[at].observed.heard = Some(Heard::of(&failure));
        let left = after_ask(&failure) == AfterAsk::Retry && !underway.left(self.now).is_zero();
        let failure = self.without_secrets(std::iter::once(at), failure);
        if self.stopped.is_some() || (left && self.options.waits.is_some()) {
            // The next run asks again.
            let outcome = underway.unknown(failure.message);
            self.objects[at].operation = Some(underway);
            return self.settle(at, outcome);
        }
        self.look_at_the_object(at, &underway, explain(&failure));
    }

    /// Reads the object. If it is not as it should be, what was heard of its declared operation is the reason, and
    /// nothing is sent again: the server may still be at it.
    fn look_at_the_object(&mut self, at: usize, underway: &Underway, why: Explanation) {
        if underway.operation.wait.is_some() {
            self.objects[at].last_failure = Some(why);
        }
        self.observe(at);
    }

    /// An operation is followed no longer: what waited behind its write may go, and what is seen from now on is
    /// of after it. Its effect may take as long to show as that of any write.
    pub(super) fn over(&mut self, at: usize, underway: &Underway) {
        let count = self.count;
        if let Some(queued) = &underway.queued {
            let ramp = self.ramp_of(at);
            ramp.answered(queued, count);
            ramp.over(queued);
        }
        let object = &mut self.objects[at];
        object.fence = self.count;
        object.wrote_at = Some(self.now);
        object.looks = 0;
        object.inherited.age = Duration::ZERO;
    }
}
