//! Class F: writes in all, beside what was changed in the files.

use std::collections::VecDeque;
use std::time::Duration;

use super::WINDOW;

/// So many writes in the window are nothing to warn of.
const FEW: usize = 60;
/// So many writes for each object that is wanted otherwise are nothing to warn of: a creation, and what follows.
const EACH: usize = 3;
/// How long one count is.
const SLOT: Duration = Duration::from_secs(10);

/// What was written and what was changed, by slots of the window.
#[derive(Debug, Default)]
pub struct Flood {
    slots: VecDeque<Slot>,
    /// What is told, for as long as it goes on.
    told: Option<String>,
}

#[derive(Debug)]
struct Slot {
    since: Duration,
    writes: usize,
    changed: usize,
}

impl Flood {
    pub fn wrote(&mut self, now: Duration, writes: usize) {
        if writes > 0 {
            self.slot(now).writes += writes;
        }
    }

    /// An object is wanted that was not, or otherwise than it was.
    pub fn changed(&mut self, now: Duration) {
        self.slot(now).changed += 1;
    }

    fn slot(&mut self, now: Duration) -> &mut Slot {
        if self.slots.back().is_none_or(|slot| slot.since + SLOT <= now) {
            self.trim(now);
            self.slots.push_back(Slot { since: now, writes: 0, changed: 0 });
        }
        self.slots.back_mut().expect("one was made")
    }

    fn trim(&mut self, now: Duration) {
        while self.slots.front().is_some_and(|slot| slot.since + WINDOW <= now) {
            self.slots.pop_front();
        }
    }

    pub fn told(&mut self, now: Duration) -> Option<String> {
        self.trim(now);
        let writes: usize = self.slots.iter().map(|slot| slot.writes).sum();
        let changed: usize = self.slots.iter().map(|slot| slot.changed).sum();
        if writes <= FEW.max(EACH * changed) {
            self.told = None;
            return None;
        }
        let told = || {
            format!(
                "more writes than the files account for: {writes} in 10 minutes, and {changed} objects wanted \
                 otherwise; somebody else changes them too"
            )
        };
        Some(self.told.get_or_insert_with(told).clone())
    }
}
