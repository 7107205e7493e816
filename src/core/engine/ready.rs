//! Waiting for what the server finishes later: a write's `wait`, and the `ready` of what others need.

use std::time::Duration;

use super::super::exchange::Item;
use super::super::filter::{FilterError, Vars};
use super::super::kind::Wait;
use super::super::report::{Action, Explanation, Outcome};
use super::backoff::visibility_delay;
use super::decide::Seen;
use super::object::Object;
use super::{Engine, Mode};

/// How long an object that others need may take to be ready.
const READY_WITHIN: Duration = Duration::from_secs(60);

/// What a waiting object is told by its item.
enum Progress {
    Done,
    NotYet { every: Duration, limit: Duration, what: &'static str },
    Failed(String),
}

impl Engine {
    /// Notes what an accepted write has to be waited for on the object itself.
    pub(super) fn await_write(&mut self, at: usize, action: Action) {
        let kind = &self.objects[at].kind;
        let op = match action {
            Action::Delete | Action::Replace => None,
            Action::Create => kind.create.as_ref().or(kind.update.as_ref()),
            _ => kind.update.as_ref(),
        };
        self.objects[at].awaits = op.and_then(|op| op.wait.clone()).filter(|wait| wait.url.is_none());
        self.objects[at].awaits_since = None;
    }

    /// Whether the object, as just seen, has to be waited for. Then a look at it is scheduled, or it is
    /// settled.
    pub(super) fn is_awaited(&mut self, at: usize) -> bool {
        let object = &self.objects[at];
        let Seen::Present(item) = &object.seen else { return false };
        let needed = self.mode == Mode::Apply && self.is_needed(at);
        // What else is in a run that is one of many waits for its end, and the next one looks again.
        let within = self.options.waits.map_or(READY_WITHIN, |most| most.min(READY_WITHIN));
        let outcome = match progress(object, item, needed.then_some(within)) {
            Ok(Progress::Done) => {
                self.objects[at].awaits = None;
                return false;
            }
            Ok(Progress::NotYet { every, limit, what }) => {
                let since = *self.objects[at].awaits_since.get_or_insert(self.now);
                let left = (since + limit).saturating_sub(self.now);
                if !left.is_zero() && self.stopped.is_none() {
                    self.wait(at, every.min(left));
                    return true;
                }
                let limit = humantime::format_duration(limit);
                Outcome::Unknown(Explanation::new(format!("it was not {what} within {limit}")))
            }
            Ok(Progress::Failed(why)) => Outcome::Failed(Explanation::new(why)),
            Err(error) => Outcome::Failed(Explanation::new(error.to_string())),
        };
        self.settle(at, outcome);
        true
    }

    /// Whether an object that is to be there waits for this one.
    fn is_needed(&self, at: usize) -> bool {
        self.dependants[at].iter().any(|&dependant| {
            let dependant = &self.objects[dependant];
            dependant.outcome().is_none() && !dependant.wanted_absent()
        })
    }
}

/// `needed`: others need it, and it has so long to be ready.
fn progress(object: &Object, item: &Item, needed: Option<Duration>) -> Result<Progress, FilterError> {
    let vars = Vars::default();
    if let Some(Wait { done, failed, every, limit, .. }) = &object.awaits {
        if failed.as_ref().map_or(Ok(false), |failed| failed.holds(&item.value, &vars))? {
            return Ok(Progress::Failed("the server began the change and then failed".into()));
        }
        if !done.holds(&item.value, &vars)? {
            return Ok(Progress::NotYet { every: *every, limit: *limit, what: "done" });
        }
    }
    if let Some(limit) = needed.filter(|_| item.ready == Some(false)) {
        let every = visibility_delay(object.looks);
        return Ok(Progress::NotYet { every, limit, what: "ready" });
    }
    Ok(Progress::Done)
}
