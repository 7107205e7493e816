//! Wishes of a person (SIGHUP) that everything be read and looked at: the first of many is fulfilled at once, and what
//! comes soon after it is one more.
//!
//! No object is looked at more often than once a second, whoever asks. So wishes that come faster would read the files
//! again and again for nothing, and fill the log.

use std::time::Duration;

use tokio::time::Instant;

/// From one that is fulfilled to the next.
const REST: Duration = Duration::from_secs(1);

/// What a person wants.
#[derive(Debug, Default)]
pub struct Wishes {
    /// When the last one was taken.
    taken: Option<Instant>,
    /// One came too soon after that.
    waits: bool,
}

impl Wishes {
    /// A wish has come: whether it is to be fulfilled now. Else it waits, together with all others that do.
    pub fn came(&mut self, now: Instant) -> bool {
        let soon = self.taken.is_some_and(|taken| now < taken + REST);
        match soon {
            true => self.waits = true,
            false => self.take(now),
        }
        !soon
    }

    /// When the one that waits is to be fulfilled.
    pub fn due(&self) -> Option<Instant> {
        self.taken.filter(|_| self.waits).map(|taken| taken + REST)
    }

    /// One is fulfilled now, and with it all that wait.
    pub fn take(&mut self, now: Instant) {
        (self.taken, self.waits) = (Some(now), false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_storm_the_first_is_taken_at_once_and_all_others_are_one_a_second() {
        let (mut wishes, began) = (Wishes::default(), Instant::now());
        let taken = (0..3000).filter(|n| wishes.came(began + Duration::from_millis(*n)));
        assert_eq!(taken.collect::<Vec<_>>(), [0, 1000, 2000]);
        let due = wishes.due().expect("the last of them is not lost");
        assert_eq!(due, began + REST * 3);
        wishes.take(due);
        assert_eq!(wishes.due(), None);
        assert!(!wishes.came(due + REST / 2), "it counts as one");
        assert!(wishes.came(due + REST * 9), "one alone waits for nothing");
    }
}
