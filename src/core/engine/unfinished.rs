//! What a run leaves open, and what the run before it left: creates that no look shows yet, and operations.
//!
//! A run that is one of many does not wait for these to the end, as what else is due waits for the run. It leaves
//! them to the next one, which goes on where this one stopped: it asks for the operation, or looks for the object, and
//! begins nothing anew before the operation has ended or the object could be seen.

use std::time::Duration;

use super::super::fields::VISIBLE;
use super::super::report::{Action, Explanation, NOT_VISIBLE, Outcome, UNDER_WAY};
use super::super::unfinished::Unfinished;
use super::Engine;
use super::object::{Object, Phase};
use super::operation::Underway;

/// For so long an accepted create is not sent again where its kind does not say how long it may be hidden. The default
/// of `visible` is for runs that end; a loop has the time to be sure.
pub const UNDECLARED: Duration = Duration::from_secs(10 * 60);
/// Looks for what is hidden come after half of the time that it was, within these bounds.
const SOONEST: Duration = Duration::from_secs(1);
const LATEST: Duration = Duration::from_secs(60);

/// What an object has from the run before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inherited {
    /// Its accepted create, which counts as one of this run until the object is seen.
    pub create: bool,
    /// It was shown by its own read, and by no listing.
    pub shown: bool,
    /// How long before this run it was sent, or its operation ended.
    pub age: Duration,
    /// It has anything of the run before.
    pub any: bool,
}

impl Object {
    /// Goes on from what the run before has left.
    fn inherit(&mut self, open: &Unfinished) {
        let is_pinned = self.policy.pinned_id.is_some();
        if self.context || self.wanted_absent() != (open.action == Action::Delete) || is_pinned {
            return;
        }
        self.inherited = Inherited { create: false, shown: open.shown, age: open.age, any: true };
        if let Some(operation) = &open.operation {
            self.pending = true;
            self.operation = Some(Underway::inherited(open.action, operation.clone(), open.age));
        }
        if open.action != Action::Create {
            return;
        }
        self.wrote_at = Some(Duration::ZERO);
        if open.accepted {
            self.inherited.create = true;
            self.sets = 1;
            self.created = true;
            self.server_id.clone_from(&open.server_id);
        } else {
            let heard = "an earlier pass did not hear how its creation ended";
            self.doubt = Some((Action::Create, Explanation::new(heard)));
            self.keys.doubted();
        }
    }

    /// The object is seen: what is left to do with it is this run's own.
    pub(super) fn is_seen_at_last(&mut self) {
        if std::mem::take(&mut self.inherited.create) {
            self.sets -= 1;
            self.wrote_at = None;
            self.inherited.age = Duration::ZERO;
        }
    }

    /// The object that the run before has made is gone, or never came: it is made anew.
    pub(super) fn is_given_up(&mut self) {
        self.is_seen_at_last();
        self.created = false;
        self.server_id = self.policy.pinned_id.clone();
        self.inherited = Inherited::default();
    }

    /// Writes of this run that were accepted.
    pub(super) fn writes(&self) -> usize {
        (self.sets + self.deletes) as usize - usize::from(self.inherited.create)
    }

    /// How long it is since its last write, or since the end of that one's operation.
    pub(super) fn since_write(&self, now: Duration) -> Option<Duration> {
        self.wrote_at.map(|wrote| now.saturating_sub(wrote) + self.inherited.age)
    }

    /// For how long an accepted create is not sent again by the runs of one process.
    pub(super) fn hidden_for(&self) -> Duration {
        let patience = self.patience();
        if self.kind.says_visible() || !self.kind.creates_can_double() {
            patience
        } else {
            patience.max(UNDECLARED)
        }
    }

    /// Whether what the run before has made is not there after all: once it was shown, its own read is enough; else
    /// it is so when all time is over, if the kind says how long that is or the own read says so too.
    pub(super) fn is_gone_for_good(&self, now: Duration) -> bool {
        let over = self.since_write(now).is_some_and(|since| since >= self.hidden_for());
        let told = self.asked_itself;
        self.inherited.create
            && ((told && self.inherited.shown) || (over && (told || self.kind.says_visible())))
    }

    /// What this run leaves to the next one.
    pub(super) fn left_open(&self, now: Duration) -> Option<Unfinished> {
        if self.context {
            return None;
        }
        let open = |action, accepted, age| Unfinished {
            action,
            accepted,
            server_id: self.server_id.clone(),
            operation: None,
            shown: false,
            age,
            next: self.next_look,
        };
        if let Some(underway) = &self.operation {
            let operation = Some(underway.operation().clone());
            return Some(Unfinished { operation, ..open(underway.action(), true, underway.age(now)) });
        }
        if !self.kind.creates_can_double() || self.wanted_absent() {
            return None;
        }
        let age = self.since_write(now).unwrap_or(self.inherited.age);
        match &self.phase {
            Phase::Writing(queued) if queued.sort.1 == Action::Create => {
                Some(open(Action::Create, false, Duration::ZERO))
            }
            _ if self.created => {
                let shown = self.inherited.shown || self.seen_by_read;
                Some(Unfinished { shown, ..open(Action::Create, true, age) })
            }
            _ if self.uncertain() => Some(open(Action::Create, false, age)),
            _ => None,
        }
    }
}

impl Engine {
    /// Before the start: what the run before has left.
    pub(super) fn inherit(&mut self) {
        for object in &mut self.objects {
            if let Some(open) = self.options.open.get(&object.id) {
                object.inherit(open);
            }
        }
    }

    /// Whether an object that no listing shows is asked for by the id that its create told: once, before it is given
    /// up.
    pub(super) fn asks_for_itself(&mut self, at: usize) -> bool {
        let may = self.is_readable(at) && self.stopped.is_none();
        let object = &mut self.objects[at];
        if !may || object.sets == 0 || object.asked_itself {
            return false;
        }
        object.asked_itself = true;
        object.own_read = true;
        self.observe(at);
        true
    }

    /// Whether a new object that is not to be seen is left to the next run; then it is settled, or looked for by
    /// its id.
    pub(super) fn leaves_hidden(&mut self, at: usize) -> bool {
        let object = &self.objects[at];
        let (Some(most), Some(wrote)) = (self.options.waits, object.wrote_at) else { return false };
        // Two looks tell more of a create in doubt than the time does.
        let most = if object.uncertain() { most.max(VISIBLE) } else { most };
        if !object.inherited.any && self.now < wrote + most {
            return false;
        }
        if self.asks_for_itself(at) {
            return true;
        }
        let object = &mut self.objects[at];
        let since = object.since_write(self.now).unwrap_or_default();
        object.next_look = Some((since / 2).clamp(SOONEST, LATEST));
        let why = match object.uncertain() {
            true => {
                "whether it was created is not known: it is looked for, and not created again before it could be seen"
            }
            false => "the server accepted its creation and does not show it yet: it is not created again",
        };
        let hint = "if the API takes longer, say so in the backend: `visible: DURATION`";
        self.settle(at, Outcome::Unknown(Explanation::new(why).hint(hint).because(NOT_VISIBLE)));
        true
    }

    /// Whether an operation is left to the next run.
    pub(super) fn leaves_operation(&self, underway: &Underway) -> bool {
        self.options.waits.is_some_and(|most| underway.may_be_left(self.now, most))
    }

    /// Leaves an operation to the next run.
    pub(super) fn leave_operation(&mut self, at: usize, underway: Underway, next: Duration) {
        let url = underway.operation().url.clone();
        self.over(at, &underway);
        let object = &mut self.objects[at];
        object.next_look = Some(next.max(SOONEST));
        object.operation = Some(underway);
        let why = Explanation::new(format!("the server is still at it: its operation is at `{url}`"));
        self.settle(at, Outcome::Unknown(why.because(UNDER_WAY)));
    }
}
