//! Writes that are made beside the loop's own passes, by pruning: they count for the hour as well.

use std::time::Duration;

use super::control::Loop;
use super::hour::Lately;

impl Loop {
    /// How many writes the hour may still take; `None` without a limit.
    pub fn writes_left(&mut self, now: Duration) -> Option<usize> {
        self.hour.left(now)
    }

    /// The writes of the last hour: when they leave it, and how many. None without a limit.
    pub fn changes(&self) -> Vec<Lately> {
        self.hour.writes().collect()
    }

    /// So many writes were accepted that belong to no pass of the loop.
    pub fn wrote_beside(&mut self, now: Duration, writes: usize) {
        self.counters.writes += writes as u64;
        self.hour.settle(now, 0, writes);
    }
}
