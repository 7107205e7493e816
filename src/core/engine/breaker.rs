//! The breaker of a backend: after a row of failures that are the server's or the network's, across all
//! objects, writes pause, and one probe at a time asks whether the server is back.

use std::time::Duration;

use super::random::Random;

/// So many failures in a row open it.
const IN_A_ROW: u32 = 5;
/// The longest wait before the first probe, and before any.
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(30);

/// So many probes in vain end the attempts of a run that ends: about half a minute after the first.
pub const PROBES: u32 = 6;

/// What a failure leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    GoOn,
    PauseUntil(Duration),
    /// The backend is away, and stays so.
    GiveUp,
}

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

    /// A request failed by the server's fault, or the network's; after `most` probes in vain it is over.
    pub fn failed(&mut self, now: Duration, most: u32, random: &mut Random) -> Verdict {
        self.failures += 1;
        self.probing = false;
        if self.failures < IN_A_ROW {
            return Verdict::GoOn;
        }
        if self.probes >= most {
            // Whatever is to be written after all is a probe.
            self.open_until.get_or_insert(now);
            return Verdict::GiveUp;
        }
        // Full jitter: many clients may share the fate of one server.
        let longest = FIRST.saturating_mul(1 << self.probes.min(5)).min(LONGEST);
        let until = now + longest.mul_f64(random.unit());
        self.probes += 1;
        self.open_until = Some(until);
        Verdict::PauseUntil(until)
    }

    /// What was admitted was not sent after all.
    pub fn unused(&mut self) {
        self.probing = false;
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

    fn pause(verdict: Verdict) -> Duration {
        let Verdict::PauseUntil(until) = verdict else { panic!("it is open: {verdict:?}") };
        until
    }

    #[test]
    fn it_opens_after_a_row_and_lets_one_probe_through() {
        let (mut breaker, mut random) = (Breaker::default(), Random::new(1));
        for _ in 1..IN_A_ROW {
            assert_eq!(breaker.failed(SECOND, PROBES, &mut random), Verdict::GoOn);
            assert!(breaker.admits(SECOND));
        }
        let until = pause(breaker.failed(SECOND, PROBES, &mut random));
        assert!(until <= SECOND + FIRST);
        assert!(!breaker.admits(until - Duration::from_nanos(1)));
        assert!(breaker.admits(until), "the probe");
        assert!(!breaker.admits(until), "and no other");
        let later = pause(breaker.failed(until, PROBES, &mut random));
        assert!(later <= until + 2 * FIRST);
        assert!(breaker.admits(later));
        breaker.unused();
        assert!(breaker.admits(later), "a probe that was not sent is no probe");
        breaker.answered();
        assert!(breaker.admits(later) && breaker.admits(later), "closed");
    }

    #[test]
    fn waits_are_bounded_and_end() {
        let (mut breaker, mut random) = (Breaker::default(), Random::new(2));
        let verdicts: Vec<Verdict> = (0..20).map(|_| breaker.failed(SECOND, PROBES, &mut random)).collect();
        for verdict in &verdicts {
            assert!(!matches!(verdict, Verdict::PauseUntil(until) if *until > SECOND + LONGEST));
        }
        assert_eq!(verdicts.iter().filter(|v| matches!(v, Verdict::PauseUntil(_))).count(), PROBES as usize);
        assert_eq!(verdicts.last(), Some(&Verdict::GiveUp));
    }

    #[test]
    fn an_answer_between_keeps_it_closed() {
        let (mut breaker, mut random) = (Breaker::default(), Random::new(3));
        for _ in 0..20 {
            (1..IN_A_ROW)
                .for_each(|_| assert_eq!(breaker.failed(SECOND, PROBES, &mut random), Verdict::GoOn));
            breaker.answered();
        }
    }

    #[test]
    fn without_probes_it_is_over_at_once_and_one_write_at_a_time_finds_out() {
        let (mut breaker, mut random) = (Breaker::default(), Random::new(4));
        (1..IN_A_ROW).for_each(|_| assert_eq!(breaker.failed(SECOND, 0, &mut random), Verdict::GoOn));
        assert_eq!(breaker.failed(SECOND, 0, &mut random), Verdict::GiveUp);
        assert!(breaker.admits(SECOND));
        assert!(!breaker.admits(SECOND), "one at a time");
        breaker.answered();
        assert!(breaker.admits(SECOND) && breaker.admits(SECOND));
    }
}
