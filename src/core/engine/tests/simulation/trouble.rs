//! How a run is disturbed.

use super::actors::Actor;
use crate::core::report::Report;

/// How a run is disturbed, and what was confirmed for it.
#[derive(Clone, Default)]
pub struct Trouble<'r> {
    /// The share of requests that fail.
    pub faults: f64,
    /// Faults by the number of the request, in the order of sending, and the row.
    pub at: Vec<(u32, usize)>,
    pub actors: Vec<Actor>,
    /// The step at which the run is asked to end.
    pub stop_at: Option<u32>,
    /// The request about which the process dies, and when.
    pub kill: Option<(u32, Moment)>,
    pub agreed: Option<&'r Report>,
    /// Whether things happen in the order in which they began, and how many stale looks and lost messages chance
    /// may bring; else all is a matter of chance.
    pub scope: Option<Scope>,
}

/// The few faults of a small scope: of each sort so many, and so many in all.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub struct Scope {
    pub stale: u32,
    pub lost: u32,
    pub acts: u32,
    pub kills: u32,
    pub all: u32,
}

impl Scope {
    /// Whether a fault of a sort is left, of which there are `of`.
    pub fn has(&self, of: u32) -> bool {
        of > 0 && self.all > 0
    }
}

/// When a process dies, as seen from one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Moment {
    /// It was sent, and does not arrive.
    Sent,
    /// It was done, and its answer does not come.
    Committed,
    /// Its answer came, and nothing was done about it.
    Answered,
    /// What follows from its answer was sent.
    Acted,
    /// All was done, and nothing was said.
    Output,
}
