//! What the loop keeps of one object: when it was looked at, how that went, and what holds of it.

use std::sync::Arc;
use std::time::Duration;

use super::super::digest::Digest;
use super::conditions::Conditions;
use super::hint::Class;
use super::pace::Pace;
use super::pass::PassId;
use super::queue::Entry;
use super::retry::Failures;
use super::subject::Subject;

/// Where an object stands between passes that write nothing down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// Not known: never seen, or failing.
    #[default]
    Open,
    InSync,
    /// Waits for another object.
    Blocked,
    /// Waits for the hour to free a write.
    Limited,
    /// Not in sync, and no repetition will change that.
    Stuck,
}

/// One object.
#[derive(Clone, Debug)]
pub struct Object {
    pub subject: Subject,
    /// The number of its backend.
    pub target: usize,
    pub running: Option<PassId>,
    /// What was asked of it while it was in a pass.
    pub again: Option<Entry>,
    pub pace: Pace,
    pub failures: Failures,
    /// When its last pass ended.
    pub ended: Option<Duration>,
    /// The digest of the last hint that had one.
    pub observed: Option<Digest>,
    pub standing: Standing,
    pub conditions: Conditions,
    /// When it was last seen in sync.
    pub synced: Option<Duration>,
    pub writes: u64,
    /// So many writes for one wish lately, where that is worth a warning.
    pub churn: Option<u32>,
    /// Whether a pass has ended since it is wanted as it is.
    pub is_seen: bool,
    /// What it needs has changed since its last pass began.
    pub is_stale: bool,
    /// Whether it was there when it was looked at last; `None` before that is known.
    pub is_there: Option<bool>,
    /// The server's own id of it then.
    pub uid: Option<Arc<str>>,
}

impl Object {
    pub fn new(now: Duration, subject: Subject, target: usize) -> Object {
        Object {
            subject,
            target,
            running: None,
            again: None,
            pace: Pace::default(),
            failures: Failures::default(),
            ended: None,
            observed: None,
            standing: Standing::Open,
            conditions: Conditions::new(now),
            synced: None,
            writes: 0,
            churn: None,
            is_seen: false,
            is_stale: false,
            is_there: None,
            uid: None,
        }
    }

    /// The object is wanted otherwise: what failed may work now.
    pub fn want(&mut self, subject: Subject) {
        self.subject = subject;
        self.failures = Failures::default();
        self.churn = None;
        (self.standing, self.is_seen) = (Standing::Open, false);
    }

    /// The earliest start of a pass of this class.
    pub fn earliest(&self, now: Duration, class: Class) -> Duration {
        // A person may ask sooner than the server likes.
        let patience = if class == Class::User { Duration::ZERO } else { self.failures.not_before };
        self.pace.earliest(now, class).max(patience)
    }
}
