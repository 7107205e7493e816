//! How fast passes of one object may follow each other: the window in which hints merge, and the floor.

use std::collections::VecDeque;
use std::time::Duration;

use super::super::mutant::planted;
use super::hint::{Class, Origin};

/// Hints within this time after the first one are one.
pub const WINDOW: Duration = Duration::from_millis(100);
/// Passes of one object start this far apart, whoever asks for them.
pub const FLOOR: Duration = Duration::from_secs(1);
/// The same for one that is looked at again and again for nothing, unless a person asks.
pub const IDLE_FLOOR: Duration = Duration::from_secs(10);

/// So many passes without a write, within this time, are called idle.
pub const IDLE_PASSES: usize = 30;
pub const IDLE_TIME: Duration = Duration::from_secs(5 * 60);

/// So many hints are remembered by where they came from.
const ORIGINS: usize = 16;

/// The recent past of one object.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    /// When the window of hints opened.
    window: Option<Duration>,
    /// Starts of passes since the last write, the latest last.
    starts: VecDeque<Duration>,
    last_start: Option<Duration>,
    origins: VecDeque<Origin>,
}

impl Pace {
    /// When a hint that comes now may lead to a pass: at once if it opens a window, else at the end of the window that
    /// is open. The window does not move.
    pub fn hinted(&mut self, now: Duration) -> Duration {
        if planted!(M9) {
            return now + WINDOW;
        }
        match self.window.map(|opened| opened + WINDOW) {
            Some(end) if now < end => end,
            _ => {
                self.window = Some(now);
                now
            }
        }
    }

    /// Remembers where a hint came from.
    pub fn told(&mut self, origin: Origin) {
        if self.origins.len() == ORIGINS {
            self.origins.pop_front();
        }
        self.origins.push_back(origin);
    }

    pub fn started(&mut self, now: Duration) {
        self.last_start = Some(now);
        while self.starts.len() >= IDLE_PASSES
            || self.starts.front().is_some_and(|start| now.saturating_sub(*start) > IDLE_TIME)
        {
            self.starts.pop_front();
        }
        self.starts.push_back(now);
    }

    pub fn wrote(&mut self) {
        self.starts = VecDeque::new();
    }

    /// Whether it is looked at again and again for nothing.
    pub fn is_idle(&self, now: Duration) -> bool {
        let first = self.starts.front().filter(|_| self.starts.len() >= IDLE_PASSES);
        first.is_some_and(|first| now.saturating_sub(*first) <= IDLE_TIME)
    }

    /// The earliest start of the next pass.
    pub fn earliest(&self, now: Duration, class: Class) -> Duration {
        let floor = if class < Class::User && self.is_idle(now) { IDLE_FLOOR } else { FLOOR };
        self.last_start.map_or(Duration::ZERO, |start| start + floor)
    }

    /// Where most of the last hints came from.
    pub fn most_frequent(&self) -> Option<Origin> {
        let count = |origin: Origin| self.origins.iter().filter(|other| **other == origin).count();
        self.origins.iter().copied().max_by_key(|origin| (count(*origin), *origin))
    }
}
