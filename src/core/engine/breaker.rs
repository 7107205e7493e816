//! The breaker of a backend: after a row of failures that are the server's or the network's, across all
//! objects, writes pause, and one probe at a time asks whether the server is back.

use std::time::Duration;

use super::random::Random;

/// So many failures in a row open it.
const IN_A_ROW: u32 = 5;
/// The longest wait before the first probe, and before any.
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(30);

/// Closed while all is well.
#[derive(Clone, Debug, Default)]
pub struct Breaker {
    failures: u32,
    probes: u32,
    /// No write before this time; `None` while it is closed.
    open_until: Option<Duration>,
    probing: bool,
}

impl Breaker {
    /// A request was answered, whatever the answer said of the object.
    pub fn answered(&mut self) {
        *self = Breaker::default();
    }

    /// A request failed by the server's fault, or the network's. Returns when to try again, where that is new.
    pub fn failed(&mut self, now: Duration, random: &mut Random) -> Option<Duration> {
        self.failures += 1;
        self.probing = false;
        if self.failures < IN_A_ROW {
            return None;
        }
        // Full jitter: many clients may share the fate of one server.
        let longest = FIRST.saturating_mul(1 << self.probes.min(5)).min(LONGEST);
        let until = now + longest.mul_f64(random.unit());
        self.probes += 1;
        self.open_until = Some(until);
        Some(until)
    }

    /// Whether a write may start now. While it is open, the first one after its time is the probe.
    pub fn admits(&mut self, now: Duration) -> bool {
        match self.open_until {
            None => true,
            Some(until) if now >= until && !self.probing => {
                self.probing = true;
                true
            }
            Some(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn it_opens_after_a_row_and_lets_one_probe_through() {
        let (mut breaker, mut random) = (Breaker::default(), Random::new(1));
        for _ in 1..IN_A_ROW {
            assert_eq!(breaker.failed(SECOND, &mut random), None);
            assert!(breaker.admits(SECOND));
        }
        let until = breaker.failed(SECOND, &mut random).expect("it is open");
        assert!(until <= SECOND + FIRST);
        assert!(!breaker.admits(until - Duration::from_nanos(1)));
        assert!(breaker.admits(until), "the probe");
        assert!(!breaker.admits(until), "and no other");
        let later = breaker.failed(until, &mut random).expect("still open");
        assert!(later <= until + 2 * FIRST);
        assert!(breaker.admits(later));
        breaker.answered();
        assert!(breaker.admits(later) && breaker.admits(later), "closed");
    }

    #[test]
    fn waits_are_bounded_and_a_success_between_keeps_it_closed() {
        let (mut breaker, mut random) = (Breaker::default(), Random::new(2));
        for now in 0..200 {
            let now = SECOND * now;
            let until = breaker.failed(now, &mut random);
            assert!(until.is_none_or(|until| until <= now + LONGEST));
        }
        breaker.answered();
        for _ in 0..20 {
            (1..IN_A_ROW).for_each(|_| assert_eq!(breaker.failed(SECOND, &mut random), None));
            breaker.answered();
        }
    }
}
