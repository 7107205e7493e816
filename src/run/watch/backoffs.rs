//! The waits of all groups: one value for each, which its feed and its polls share, and one clock for all.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::core::engine::random::Random;
use crate::core::mutant::planted;
use crate::core::watch::backoff::{Asker, Backoff, Waits};

/// All waits. Its copies are one.
#[derive(Clone)]
pub struct Backoffs(Arc<Inner>);

struct Inner {
    began: Instant,
    groups: Mutex<HashMap<(Arc<str>, Asker), Backoff>>,
}

/// The waits of the groups that a feed serves.
pub struct Several<'a> {
    held: MutexGuard<'a, HashMap<(Arc<str>, Asker), Backoff>>,
    groups: BTreeSet<Arc<str>>,
}

impl Default for Backoffs {
    fn default() -> Backoffs {
        Backoffs(Arc::new(Inner { began: Instant::now(), groups: Mutex::default() }))
    }
}

impl Backoffs {
    /// The time by which all waits are told.
    pub fn now(&self) -> Duration {
        self.0.began.elapsed()
    }

    /// That time as one to sleep until.
    pub fn at(&self, time: Duration) -> Instant {
        self.0.began + time
    }

    /// Does something with the waits of one group, for its polls.
    pub fn of<T>(&self, group: &Arc<str>, act: impl FnOnce(&mut Backoff) -> T) -> T {
        act(self.held().entry(place(group, Asker::Polls)).or_default())
    }

    /// The waits of these groups, for their feed.
    pub fn several(&self, groups: BTreeSet<Arc<str>>) -> Several<'_> {
        Several { held: self.held(), groups }
    }

    fn held(&self) -> MutexGuard<'_, HashMap<(Arc<str>, Asker), Backoff>> {
        self.0.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One place for both who ask.
fn place(group: &Arc<str>, asker: Asker) -> (Arc<str>, Asker) {
    (group.clone(), if planted!(M23) { asker } else { Asker::Polls })
}

impl Several<'_> {
    /// What comes of each, the longest or latest of all.
    fn each<T: Ord>(&mut self, mut act: impl FnMut(&mut Backoff) -> T) -> Option<T> {
        let held = &mut self.held;
        self.groups.iter().map(|group| act(held.entry(place(group, Asker::Feed)).or_default())).max()
    }
}

impl Waits for Several<'_> {
    fn fail(&mut self, now: Duration, random: &mut Random) -> Duration {
        self.each(|backoff| backoff.fail(now, random)).unwrap_or_default()
    }

    fn failed(&mut self, now: Duration, random: &mut Random) -> Duration {
        self.each(|backoff| backoff.failed(now, random)).unwrap_or_default()
    }

    fn worked(&mut self) {
        self.each(Backoff::worked);
    }

    fn ask(&mut self, now: Duration) -> Result<(), Duration> {
        match self.each(|backoff| backoff.ask(now).err()) {
            Some(Some(until)) => Err(until),
            _ => Ok(()),
        }
    }
}
