//! What holds a path, or an object, and lets one write through now and then.

use std::time::Duration;

use super::super::super::mutant::planted;

/// How long it is open at first, and at most; each time that it opens again it is twice as long.
const FIRST: Duration = Duration::from_secs(5 * 60);
const LONGEST: Duration = Duration::from_secs(60 * 60);
/// For how long the probe has to hold.
const TRIAL: Duration = Duration::from_secs(5 * 60);
/// When to look again, where the look that was to end a trial came to nothing.
const AGAIN: Duration = Duration::from_secs(60);

/// One that has opened. There is none where nothing is the matter.
#[derive(Clone, Debug, PartialEq)]
pub struct Breaker {
    state: State,
    span: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Nothing is written.
    Open { until: Duration },
    /// The next write is the probe.
    Probing,
    /// The probe was written, and is looked at: nothing more is written meanwhile.
    Trial { until: Duration },
}

/// What a pass showed of what is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// It was written, and held for now.
    Wrote,
    Differs,
    Level,
    /// It could not be looked at, or the write came to nothing.
    Nothing,
}

/// What a pass has made of a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    Stays,
    /// The probe was set back.
    Reopened,
    /// The probe has held: there is nothing to be held any more.
    Closed,
}

impl Breaker {
    pub fn open(now: Duration) -> Breaker {
        Breaker { state: State::Open { until: now + FIRST }, span: FIRST }
    }

    /// Whether a pass that begins now writes nothing of it. By the clock alone, the next one is the probe.
    pub fn holds(&mut self, now: Duration) -> bool {
        if !planted!(M14) {
            self.thaw(now);
        }
        self.is_holding()
    }

    fn thaw(&mut self, now: Duration) {
        if matches!(self.state, State::Open { until } if now >= until) {
            self.state = State::Probing;
        }
    }

    /// Whether the pass that has just ended wrote nothing of it.
    pub fn is_holding(&self) -> bool {
        self.state != State::Probing
    }

    /// When the next pass is due; `None`: as soon as any.
    pub fn until(&self) -> Option<Duration> {
        match self.state {
            State::Open { until } | State::Trial { until } => Some(until),
            State::Probing => None,
        }
    }

    /// Takes over what a pass showed.
    pub fn shown(&mut self, now: Duration, shown: Shown) -> Turn {
        match (self.state, shown) {
            (State::Probing, Shown::Wrote | Shown::Level) => self.state = State::Trial { until: now + TRIAL },
            (State::Trial { .. }, Shown::Wrote | Shown::Differs) => {
                self.span = self.span.saturating_mul(2).min(LONGEST);
                self.state = State::Open { until: now + self.span };
                return Turn::Reopened;
            }
            (State::Trial { until }, Shown::Level) if now >= until => return Turn::Closed,
            (State::Trial { until }, Shown::Nothing) if now >= until => {
                self.state = State::Trial { until: now + AGAIN };
            }
            // What began before its time was still held: the next one is the probe.
            (State::Open { until }, _) if now >= until => self.thaw(now),
            (State::Open { .. } | State::Probing | State::Trial { .. }, _) => {}
        }
        Turn::Stays
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_for_longer_each_time_and_lets_one_write_through() {
        let mut now = Duration::ZERO;
        let mut breaker = Breaker::open(now);
        for minutes in [5, 10, 20, 40, 60, 60] {
            let until = breaker.until().expect("it is open");
            assert_eq!(until - now, Duration::from_secs(minutes * 60));
            assert!(breaker.holds(until - Duration::from_nanos(1)));
            assert!(!breaker.holds(until), "by the clock");
            assert_eq!(breaker.until(), None);
            assert_eq!(breaker.shown(until, Shown::Nothing), Turn::Stays);
            assert!(!breaker.is_holding(), "that was no probe");
            assert_eq!(breaker.shown(until, Shown::Wrote), Turn::Stays);
            assert!(breaker.holds(until + FIRST), "one write, and no other until it has held");
            now = until + Duration::from_secs(7);
            assert_eq!(breaker.shown(now, Shown::Differs), Turn::Reopened);
        }
    }

    #[test]
    fn it_closes_by_a_look_when_the_probe_has_held() {
        let mut breaker = Breaker::open(Duration::ZERO);
        assert!(!breaker.holds(FIRST));
        assert_eq!(breaker.shown(FIRST, Shown::Wrote), Turn::Stays);
        let until = breaker.until().expect("a look is due");
        assert_eq!(breaker.shown(until - Duration::from_secs(1), Shown::Level), Turn::Stays, "not yet");
        assert_eq!(breaker.shown(until, Shown::Nothing), Turn::Stays, "nobody has seen it");
        let later = breaker.until().expect("a look is due");
        assert!(later > until);
        assert_eq!(breaker.shown(later, Shown::Level), Turn::Closed);
    }

    #[test]
    fn a_pass_that_outlasts_the_freeze_is_no_probe() {
        let mut breaker = Breaker::open(Duration::ZERO);
        assert!(breaker.holds(FIRST - Duration::from_secs(1)));
        breaker.shown(FIRST + Duration::from_secs(1), Shown::Differs);
        assert!(!breaker.is_holding(), "the next one is");
    }
}
