//! How many writes an hour may still take, in a window that slides.

use std::collections::VecDeque;
use std::time::Duration;

/// What is counted is of so long.
pub const HOUR: Duration = Duration::from_secs(60 * 60);
/// Writes that follow each other so closely are kept as one entry.
const CLOSE: Duration = Duration::from_secs(1);

/// Writes that count for the hour for so long: of an earlier process, say.
pub type Lately = (Duration, usize);

/// The writes of the last hour. What is under way counts as if it wrote all that it may.
#[derive(Clone, Debug, Default)]
pub struct Hour {
    most: Option<usize>,
    /// When they leave the hour, and how many; an entry a second at most.
    writes: VecDeque<Lately>,
    written: usize,
    reserved: usize,
}

impl Hour {
    /// `earlier` counts as well.
    pub fn new(most: Option<usize>, earlier: &[Lately]) -> Hour {
        let mut hour = Hour { most, ..Hour::default() };
        if most.is_some() {
            let mut earlier: Vec<Lately> =
                earlier.iter().map(|(left, count)| (*left.min(&HOUR), *count)).collect();
            earlier.sort_unstable();
            hour.written =
                earlier.iter().map(|(_, count)| count).fold(0, |sum, count| sum.saturating_add(*count));
            hour.writes = earlier.into();
        }
        hour
    }

    /// How many may be written now; `None` without a limit.
    pub fn left(&mut self, now: Duration) -> Option<usize> {
        let most = self.most?;
        while let Some((_, count)) = self.writes.front().filter(|(leaves, _)| *leaves <= now) {
            self.written = self.written.saturating_sub(*count);
            self.writes.pop_front();
        }
        Some(most.saturating_sub(self.written.saturating_add(self.reserved)))
    }

    pub fn reserve(&mut self, writes: usize) {
        self.reserved += writes;
    }

    /// A pass that had reserved so many has ended, and wrote so many.
    pub fn settle(&mut self, now: Duration, reserved: usize, written: usize) {
        self.reserved -= reserved;
        if self.most.is_none() || written == 0 {
            return;
        }
        self.written = self.written.saturating_add(written);
        let leaves = now + HOUR;
        match self.writes.back_mut().filter(|(last, _)| *last + CLOSE > leaves) {
            Some((last, count)) => (*last, *count) = (leaves, count.saturating_add(written)),
            None => self.writes.push_back((leaves, written)),
        }
    }

    /// When there is something left: at once, when the oldest write leaves the hour, or, where all that is left is
    /// reserved, soon.
    pub fn frees(&mut self, now: Duration) -> Duration {
        match (self.left(now), self.writes.front()) {
            // There never is.
            _ if self.most == Some(0) => now + HOUR,
            (Some(0), Some((leaves, _))) => *leaves,
            _ => now,
        }
    }

    /// The writes of the last hour: when they leave it, and how many. None without a limit.
    pub fn writes(&self) -> impl Iterator<Item = Lately> {
        self.writes.iter().copied()
    }
}
