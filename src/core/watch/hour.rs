//! How many writes an hour may still take, in a window that slides.

use std::collections::VecDeque;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(60 * 60);

/// The writes of the last hour. What is under way counts as if it wrote all that it may.
#[derive(Clone, Debug, Default)]
pub struct Hour {
    most: Option<usize>,
    /// When, and how many; as many entries as there may be writes.
    writes: VecDeque<(Duration, usize)>,
    written: usize,
    reserved: usize,
}

impl Hour {
    pub fn new(most: Option<usize>) -> Hour {
        Hour { most, ..Hour::default() }
    }

    /// How many may be written now; `None` without a limit.
    pub fn left(&mut self, now: Duration) -> Option<usize> {
        let most = self.most?;
        while let Some((_, count)) = self.writes.front().filter(|(at, _)| *at + HOUR <= now) {
            self.written -= count;
            self.writes.pop_front();
        }
        Some(most.saturating_sub(self.written + self.reserved))
    }

    pub fn reserve(&mut self, writes: usize) {
        self.reserved += writes;
    }

    /// A pass that had reserved so many has ended, and wrote so many.
    pub fn settle(&mut self, now: Duration, reserved: usize, written: usize) {
        self.reserved -= reserved;
        if self.most.is_some() && written > 0 {
            self.written += written;
            self.writes.push_back((now, written));
        }
    }

    /// When there is something left: at once, when the oldest write leaves the hour, or, where all that is left is
    /// reserved, soon.
    pub fn frees(&mut self, now: Duration) -> Duration {
        match (self.left(now), self.writes.front()) {
            // There never is.
            _ if self.most == Some(0) => now + HOUR,
            (Some(0), Some((at, _))) => *at + HOUR,
            _ => now,
        }
    }
}
