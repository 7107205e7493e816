//! Hints: that something may have changed. A hint carries no truth; the pass that follows looks for itself.

use std::sync::Arc;

use super::super::digest::Digest;
use super::super::identity::ObjectId;

/// How urgent a pass is. The higher one wins where two meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    Resync,
    Retry,
    Event,
    /// A person waits: a start, a change of the files, a request to look.
    User,
}

/// Where a hint comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    /// The files changed.
    Files,
    /// A person: SIGHUP, `POST /resync`.
    Person,
    /// A listing or a read that was polled differs from the one before.
    Poll,
    /// A change feed of the server.
    Feed,
    /// The receiver of webhooks.
    Webhook,
    /// What the object refers to, or lies below, has changed.
    Need,
    Retry,
    Resync,
}

impl Origin {
    /// Where hints come from, in their order. A retry and a resync come by the clock: nobody hints at them.
    pub const HINTS: [Origin; 6] =
        [Origin::Files, Origin::Person, Origin::Poll, Origin::Feed, Origin::Webhook, Origin::Need];

    pub fn word(self) -> &'static str {
        match self {
            Origin::Files => "files",
            Origin::Person => "person",
            Origin::Poll => "poll",
            Origin::Feed => "feed",
            Origin::Webhook => "webhook",
            Origin::Need => "need",
            Origin::Retry => "retry",
            Origin::Resync => "resync",
        }
    }

    pub fn class(self) -> Class {
        match self {
            Origin::Files | Origin::Person => Class::User,
            Origin::Poll | Origin::Feed | Origin::Webhook | Origin::Need => Class::Event,
            Origin::Retry => Class::Retry,
            Origin::Resync => Class::Resync,
        }
    }
}

/// What a hint is about. What is in no document is ignored, and counted.
#[derive(Clone, Debug, PartialEq)]
pub enum About {
    Object(ObjectId),
    /// All objects of a group, as [`Subject::group`](super::Subject::group) names it.
    Group(Arc<str>),
    /// Those of a group that fail: the group could not be looked at, and now it can.
    Failing(Arc<str>),
    /// All objects of a backend.
    Target(Arc<str>),
    All,
}

/// Something may have changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Hint {
    pub about: About,
    pub origin: Origin,
    /// Of the object's owned paths as the source of the hint saw them, where it did: while an object fails, a hint
    /// shortens the wait only where this is another one than before.
    pub observed: Option<Digest>,
}
