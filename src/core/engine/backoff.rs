//! How long to wait before the next attempt, and whether there may be one.

use std::time::Duration;

use super::random::Random;

/// The first delay. About one remote round trip plus the server's thinking.
pub const BASE: Duration = Duration::from_millis(500);
/// The longest delay: recovery after an outage takes no longer than this.
const CAP: Duration = Duration::from_secs(120);
/// Attempts of one object, or one listing, in a run that ends.
pub const ATTEMPTS: u32 = 5;
/// Attempts while nothing can be sent at all: a wrong address should be said soon.
const ATTEMPTS_NOT_SENT: u32 = 3;
/// Rounds of a race on a version before it counts as a failure.
pub const CONFLICT_ROUNDS: u32 = 5;

/// How often something is tried, of which a run may have said how often at `most`.
pub fn attempts(most: Option<u32>, not_sent: bool) -> u32 {
    let usual = if not_sent { ATTEMPTS_NOT_SENT } else { ATTEMPTS };
    most.map_or(usual, |most| usual.min(most))
}

/// The wait before attempt `failures + 1`: doubled each time, with equal jitter (between half and all of it),
/// and never shorter than what the server asked for.
pub fn delay(failures: u32, retry_after: Option<Duration>, random: &mut Random) -> Duration {
    let whole = BASE.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(CAP);
    let jittered = whole.div_f64(2.0) + whole.div_f64(2.0).mul_f64(random.unit());
    jittered.max(retry_after.unwrap_or_default())
}

/// The wait before round `round` (from 1) of a race on a version: 10, 20, 40, 80, 160 ms with full jitter.
pub fn conflict_delay(round: u32, random: &mut Random) -> Duration {
    Duration::from_millis(10u64 << (round.saturating_sub(1)).min(4)).mul_f64(random.unit())
}

/// The waits between reads of something that is not visible yet: 100 ms, then half as long again, up to 5 s.
pub fn visibility_delay(looks: u32) -> Duration {
    Duration::from_millis(100).mul_f64(1.5f64.powi(looks.min(10) as i32)).min(Duration::from_secs(5))
}

/// A budget for retries, so that an outage does not multiply the load: each first attempt earns a tenth of a
/// token, each retry costs one.
#[derive(Clone, Debug)]
pub struct Budget {
    tokens: f64,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { tokens: 10.0 }
    }
}

impl Budget {
    const MOST: f64 = 100.0;

    pub fn first_attempt(&mut self) {
        self.tokens = (self.tokens + 0.1).min(Budget::MOST);
    }

    /// Takes a token for a retry; false when there is none.
    pub fn retry(&mut self) -> bool {
        let enough = self.tokens >= 1.0;
        if enough {
            self.tokens -= 1.0;
        }
        enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_stay_in_their_bounds_and_obey_the_server() {
        let mut random = Random::new(7);
        for failures in 1..40 {
            let whole = Duration::from_millis(500 << (failures - 1).min(8)).min(CAP);
            for _ in 0..100 {
                let wait = delay(failures, None, &mut random);
                assert!(wait >= whole / 2 && wait <= whole, "{failures}: {wait:?} of {whole:?}");
            }
        }
        assert_eq!(delay(1, Some(Duration::from_secs(60)), &mut random), Duration::from_secs(60));
        assert!(conflict_delay(9, &mut random) <= Duration::from_millis(160));
        assert!(visibility_delay(50) <= Duration::from_secs(5));
    }

    #[test]
    fn the_budget_runs_out_and_is_earned_again() {
        let mut budget = Budget::default();
        assert_eq!((0..20).filter(|_| budget.retry()).count(), 10);
        (0..11).for_each(|_| budget.first_attempt());
        assert!(budget.retry());
        assert!(!budget.retry());
    }
}
