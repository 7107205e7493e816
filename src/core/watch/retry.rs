//! Failures of one object, and how long each puts off the next attempt.
//!
//! The count is apart from when the object is due: hints, resyncs and a person bring it forward, and none of them
//! makes it forget that it failed.

use std::time::Duration;

use super::super::engine::backoff;
use super::super::engine::random::Random;
use super::super::exchange::LONGEST_PATIENCE;
use super::super::mutant::planted;

/// What fails for good is looked at again this late: five times the longest delay.
pub const LATE: Duration = Duration::from_secs(600);
/// A server is not obeyed for longer than this.
pub const LONGEST: Duration = LONGEST_PATIENCE;
/// So long an object is seen in sync before its failures are forgotten.
pub const STEADY: Duration = Duration::from_secs(5 * 60);
/// So many failures in a row are called a stall.
pub const STALLED: u32 = 5;

/// How an object fares.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failures {
    /// Since it was steadily in sync; what the delay grows with.
    pub count: u32,
    /// In a row.
    pub row: u32,
    /// In sync at every look since.
    steady_since: Option<Duration>,
    /// Its last pass failed, in a way that passes or that somebody else has to mend.
    pub is_failing: bool,
    /// It failed last as the credential was refused.
    pub is_barred: bool,
    /// The server asked for patience until then.
    pub not_before: Duration,
}

impl Failures {
    /// It was seen, and nothing stands against it.
    pub fn in_sync(&mut self, now: Duration) {
        let since = *self.steady_since.get_or_insert(now);
        if planted!(M11) || now.saturating_sub(since) >= STEADY {
            self.count = 0;
        }
        self.works();
    }

    /// It was seen, and is not in sync for a reason that no repetition changes.
    pub fn answered(&mut self, now: Duration) {
        self.forget_if_steady(now);
        self.works();
    }

    fn works(&mut self) {
        (self.row, self.is_failing, self.is_barred, self.not_before) = (0, false, false, Duration::ZERO);
    }

    /// It failed, or waits for what failed.
    pub fn failed(&mut self, now: Duration) {
        self.forget_if_steady(now);
        self.count += 1;
        self.row += 1;
        (self.is_failing, self.is_barred) = (true, false);
    }

    /// It failed, as the credential was refused.
    pub fn barred(&mut self, now: Duration) {
        self.failed(now);
        self.is_barred = true;
    }

    /// It waits for another one, which is where the fault is: hints are not held back.
    pub fn blocked(&mut self, now: Duration) {
        self.failed(now);
        self.is_failing = false;
    }

    /// A probe of its backend found the backend away, which says nothing of the object.
    pub fn probed(&mut self) {
        self.row += 1;
        self.is_failing = true;
    }

    /// The server asks for patience; as far as it is heeded.
    pub fn patience(&mut self, now: Duration, after: Option<Duration>) {
        self.not_before = now + after.unwrap_or_default().min(LONGEST);
    }

    /// Ends a time in sync.
    fn forget_if_steady(&mut self, now: Duration) {
        if self.steady_since.take().is_some_and(|since| now.saturating_sub(since) >= STEADY) {
            self.count = 0;
        }
    }
}

/// The delays of one moment: objects that failed together and equally often are tried again together, as one
/// listing serves them all.
#[derive(Default)]
pub struct Delays {
    drawn: [Option<Duration>; LAST + 1],
}

/// From here on all delays are as long as they get.
const LAST: usize = 10;

impl Delays {
    /// How long to wait after so many failures.
    pub fn after(&mut self, failures: u32, random: &mut Random) -> Duration {
        let drawn = &mut self.drawn[(failures as usize).min(LAST)];
        *drawn.get_or_insert_with(|| backoff::delay(failures, None, random))
    }
}
