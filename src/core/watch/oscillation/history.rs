//! The last writes of one object, and what of them came back.

use std::collections::VecDeque;
use std::time::Duration;

use super::super::super::digest::Digest;
use super::super::super::path::Path;
use super::WINDOW;

/// So many writes are kept of an object, and so many paths of each.
const WRITES: usize = 32;
const PATHS: usize = 64;

/// The last writes of one object.
#[derive(Clone, Debug, Default)]
pub struct History(VecDeque<Written>);

/// What one pass wrote.
#[derive(Clone, Debug)]
pub struct Written {
    pub at: Duration,
    pub writes: u32,
    /// What was replaced.
    pub paths: Vec<(Path, Option<Digest>)>,
    /// A read since has shown what was written.
    pub confirmed: bool,
}

impl History {
    pub fn push(&mut self, mut written: Written) {
        written.paths.truncate(PATHS);
        self.0.push_back(written);
        if self.0.len() > WRITES {
            self.0.pop_front();
        }
    }

    /// Whether a path is back at a value that was replaced before, and was seen to be replaced.
    pub fn is_back(&self, path: &Path, value: &Option<Digest>) -> bool {
        let confirmed = self.0.iter().filter(|written| written.confirmed);
        confirmed.flat_map(|written| &written.paths).any(|(known, before)| known == path && before == value)
    }

    /// A read shows that all is as it was written.
    pub fn confirm(&mut self) {
        self.0.iter_mut().for_each(|written| written.confirmed = true);
    }

    /// Those of the window, which are all that is kept.
    pub fn recent(&mut self, now: Duration) -> impl Iterator<Item = &Written> {
        while self.0.front().is_some_and(|written| written.at + WINDOW <= now) {
            self.0.pop_front();
        }
        self.0.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Times of something that is too much once it happened three times in the window.
#[derive(Clone, Debug, Default)]
pub struct Times(VecDeque<Duration>);

impl Times {
    /// So often is too much.
    pub const MOST: usize = 3;

    /// It happened again; whether that is too much.
    pub fn add(&mut self, now: Duration) -> bool {
        self.0.push_back(now);
        if self.0.len() > Times::MOST {
            self.0.pop_front();
        }
        self.recent(now) >= Times::MOST
    }

    pub fn recent(&mut self, now: Duration) -> usize {
        self.0.retain(|at| *at + WINDOW > now);
        self.0.len()
    }
}
