//! What a run began and did not see the end of: for whoever makes the next run in the same process.
//!
//! It is a hint that forbids, and never says what is so: while it holds, what it is about is not begun again. Whether
//! an object is there is still told by looks alone. Losing it costs what a restart costs.

use std::sync::Arc;
use std::time::Duration;

use super::exchange::Operation;
use super::report::Action;

/// A write whose end a run did not see.
#[derive(Clone, Debug)]
pub struct Unfinished {
    pub action: Action,
    /// The server has accepted it; else nobody knows whether it was done.
    pub accepted: bool,
    /// The server's id of a new object, as the answer told it.
    pub server_id: Option<Arc<str>>,
    /// Where the server tells how far it is.
    pub operation: Option<Operation>,
    /// A new object was shown by its own read, and by no listing since.
    pub shown: bool,
    /// So long ago it was sent, or its operation ended, at the end of the run.
    pub age: Duration,
    /// So long after the run it is worth another look; `None`: when whatever else there is says so.
    pub next: Option<Duration>,
}

impl PartialEq for Unfinished {
    fn eq(&self, other: &Unfinished) -> bool {
        let url = |one: &Unfinished| one.operation.as_ref().map(|operation| operation.url.clone());
        let rest = |one: &Unfinished| (one.action, one.accepted, one.shown, one.age, one.next);
        rest(self) == rest(other) && self.server_id == other.server_id && url(self) == url(other)
    }
}
