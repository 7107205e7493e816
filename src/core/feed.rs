//! Change feeds as a kind declares them: a stream, or a poll, that says what may have changed.

use std::time::Duration;

use super::filter::Filter;
use super::identity::Key;
use super::kind::{Op, Piece};

/// A change feed of an API. What it says is a hint: that something may have changed, at most which object, and
/// where the feed stands.
#[derive(Clone, Debug)]
pub struct Watch {
    pub op: Op,
    pub by: WatchBy,
    /// From the answer to a poll to the list of events; `None`: the answer is the list, or is one event.
    pub items: Option<Filter>,
    /// From an event to the key of the object: a map of its parts, or the one part of its own. Null is no object of
    /// the kind. `None`: an event does not say.
    pub key: Option<Filter>,
    /// From an event, of a poll from the answer, to the position behind it.
    pub position: Option<Filter>,
    /// Whether an event says that the server has forgotten what happened before.
    pub gone: Option<Filter>,
    /// Whether the server tells again what happened behind a position.
    pub replay: bool,
    /// The server says something at least so often.
    pub heartbeat: Duration,
    /// How long the server holds a poll back.
    pub hold: Duration,
}

/// The form of a change feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchBy {
    /// Server-sent events (WHATWG HTML, 9.2).
    Sse,
    /// A value of JSON in each line.
    Lines,
    /// A request that the server answers when something has happened.
    Poll,
    /// `watch=true` of Kubernetes.
    Kubernetes,
}

/// Without a byte for so many of its heartbeats, a feed counts as dead.
const HEARTBEATS: u32 = 3;

impl Watch {
    /// How long the feed may be silent.
    pub fn silence(&self) -> Duration {
        match self.by {
            WatchBy::Poll => self.hold + Duration::from_secs(10),
            _ => self.heartbeat * HEARTBEATS,
        }
    }

    /// The parts of a key that say which feed an object is in.
    pub fn scope(&self, key: &Key) -> Key {
        let named = key.parts().iter().filter(|(name, _)| self.op.says_part(name));
        Key::new(named.cloned().collect())
    }

    /// Whether the request says where the feed is to go on.
    pub fn says_position(&self) -> bool {
        self.op.placeholders().any(|piece| *piece == Piece::Position)
            || self.op.body.as_ref().is_some_and(|body| body.uses("page"))
    }
}
