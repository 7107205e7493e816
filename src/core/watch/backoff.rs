//! The waits of a group of objects: its feed and its polls share them, so that a server in trouble sees one rhythm,
//! and not two in turn (kubernetes 118129).
//!
//! A failure lengthens the wait of whoever fails next, whoever that is. After a few failures in a row, with nothing
//! between them that worked, the server is taken for down: then one alone asks at the end of each wait, feed and polls
//! by turns where both want to.

use std::time::Duration;

use super::super::engine::random::Random;

/// The first wait after a failure (client-go), doubled for each further one.
pub const FIRST: Duration = Duration::from_millis(800);
/// The longest, before jitter of as much again.
pub const CAP: Duration = Duration::from_secs(30);
/// After so long without a failure the next one is a first one.
const QUIET: Duration = Duration::from_secs(2 * 60);
/// So many failures in a row, with none that worked between them, are the server's, and no single object's.
const DOWN: u32 = 3;
/// What one may ask is its alone for so long, where it tells of no end.
const TURN: Duration = CAP;

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Asker {
    Feed,
    Polls,
}

/// The waits of one group.
#[derive(Clone, Debug, Default)]
pub struct Backoff {
    failures: u32,
    /// When the last wait is over.
    last: Option<Duration>,
    /// Failures of the server since something worked.
    in_a_row: u32,
    /// While the server is down: nobody asks before this.
    until: Duration,
    /// Whose turn was the last, while the server is down.
    turned: Option<Asker>,
    /// The other one was turned away since: the next turn is its.
    other_waits: bool,
}

/// What knows when the objects of a feed may be asked for: the waits of one group, or those of several.
pub trait Waits {
    /// Something that says nothing of the server has failed: how long to leave it alone.
    fn fail(&mut self, now: Duration, random: &mut Random) -> Duration;

    /// The server has failed: how long to leave it alone.
    fn failed(&mut self, now: Duration, random: &mut Random) -> Duration;

    /// The server has answered as it should.
    fn worked(&mut self);

    /// The feed wants to ask.
    ///
    /// # Errors
    /// It is to wait until this.
    fn ask(&mut self, now: Duration) -> Result<(), Duration>;
}

impl Waits for Backoff {
    /// Between [`FIRST`] and twice [`CAP`].
    fn fail(&mut self, now: Duration, random: &mut Random) -> Duration {
        if self.last.is_some_and(|last| now.saturating_sub(last) > QUIET) {
            self.failures = 0;
        }
        let whole = FIRST.saturating_mul(1 << self.failures.min(16)).min(CAP);
        let wait = whole + whole.mul_f64(random.unit());
        self.failures = self.failures.saturating_add(1);
        // The wait itself is no time without failure.
        self.last = self.last.max(Some(now + wait));
        wait
    }

    fn failed(&mut self, now: Duration, random: &mut Random) -> Duration {
        let wait = self.fail(now, random);
        self.in_a_row = self.in_a_row.saturating_add(1);
        self.until = now + wait;
        wait
    }

    fn worked(&mut self) {
        self.in_a_row = 0;
    }

    fn ask(&mut self, now: Duration) -> Result<(), Duration> {
        self.turn(now, Asker::Feed)
    }
}

impl Backoff {
    /// The server is taken for down.
    pub fn is_down(&self) -> bool {
        self.in_a_row >= DOWN
    }

    /// Whether this one may ask now. Who may is alone in it until what came of it is known, or half a minute is over.
    ///
    /// # Errors
    /// It is to wait until this.
    pub fn turn(&mut self, now: Duration, asker: Asker) -> Result<(), Duration> {
        if !self.is_down() {
            return Ok(());
        }
        let again = self.turned == Some(asker);
        if now < self.until {
            self.other_waits |= !again;
            return Err(self.until);
        }
        // Their waits are over at the same time. One that always came first would keep the other from ever asking.
        if again && std::mem::take(&mut self.other_waits) {
            return Err(now + FIRST);
        }
        self.other_waits = false;
        self.turned = Some(asker);
        self.until = now + TURN;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn down(now: Duration, random: &mut Random) -> Backoff {
        let mut backoff = Backoff::default();
        for _ in 0..DOWN {
            assert!(backoff.turn(now, Asker::Polls).is_ok(), "few failures may be an object's");
            backoff.failed(now, random);
        }
        backoff
    }

    #[test]
    fn while_the_server_is_down_one_asks_at_a_time() {
        let (now, mut random) = (Duration::from_secs(10), Random::new(1));
        let mut backoff = down(now, &mut random);
        let until = backoff.turn(now, Asker::Feed).expect_err("it is down");
        assert!(until > now + FIRST * 4 && until <= now + FIRST * 8, "{until:?}");
        assert_eq!(backoff.turn(until, Asker::Feed), Ok(()));
        let late = backoff.turn(until, Asker::Polls).expect_err("the feed asks");
        assert_eq!(late, until + TURN, "and may never tell what came of it");
        backoff.worked();
        assert_eq!(backoff.turn(until, Asker::Polls), Ok(()));
    }

    #[test]
    fn feed_and_polls_take_turns() {
        let (mut now, mut random) = (Duration::ZERO, Random::new(2));
        let mut backoff = down(now, &mut random);
        let mut asked = Vec::new();
        for both in [[Asker::Polls, Asker::Feed], [Asker::Feed, Asker::Polls]].into_iter().cycle().take(8) {
            now = both.map(|asker| backoff.turn(now, asker).expect_err("wait"))[0];
            let first = both.into_iter().find(|asker| backoff.turn(now, *asker).is_ok());
            asked.push(first.expect("one of them may"));
            backoff.failed(now, &mut random);
        }
        assert!(asked.windows(2).skip(1).all(|pair| pair[0] != pair[1]), "{asked:?}");
        for _ in 0..3 {
            now = backoff.turn(now, Asker::Feed).expect_err("wait");
            while let Err(until) = backoff.turn(now, Asker::Feed) {
                assert_eq!(until, now + FIRST, "it gives way to nobody for long");
                now = until;
            }
            backoff.failed(now, &mut random);
        }
    }
}
