//! When a collection, or an object, is polled: a state machine that is told the time and what came of each poll.
//!
//! It looks more often where something happens and less where nothing does, leaves a server alone that asks for it or
//! fails, and rests while a feed tells what happens.

use std::time::Duration;

use super::super::engine::random::Random;

/// How often at first.
pub const INTERVAL: Duration = Duration::from_secs(30);
/// How often at most, and at least.
pub const SHORTEST: Duration = Duration::from_secs(10);
pub const LONGEST: Duration = Duration::from_secs(5 * 60);

/// After so many polls in a row that found nothing, the interval grows by half.
const EQUAL: u32 = 3;
const GROWTH: f64 = 1.5;
/// Intervals differ by so much to either side, so that what began together does not stay together.
const JITTER: f64 = 0.1;

/// What came of a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// Nothing is another way.
    Equal,
    Changed,
    Failed,
}

/// Whether a feed tells what happens to the same objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Feed {
    /// There is none, or it is down.
    #[default]
    None,
    /// It is alive, and what happened while it was down it does not tell.
    Lossy,
    /// It is alive, and tells later what it did not tell in time.
    Replays,
}

/// The polling of one collection or one object.
#[derive(Clone, Debug)]
pub struct Observer {
    /// `--interval`: it is kept whatever happens.
    fixed: Option<Duration>,
    interval: Duration,
    /// Polls in a row that found nothing, since the interval was changed.
    equal: u32,
    next: Duration,
    feed: Feed,
    random: Random,
}

impl Observer {
    /// The first poll falls anywhere in the first interval: thousands that begin together are spread.
    pub fn new(now: Duration, fixed: Option<Duration>, seed: u64) -> Observer {
        let mut random = Random::new(seed);
        let interval = fixed.unwrap_or(INTERVAL);
        let next = now + interval.mul_f64(random.unit());
        Observer { fixed, interval, equal: 0, next, feed: Feed::None, random }
    }

    /// When the next poll is due; `None` while a feed makes it needless.
    pub fn next(&self) -> Option<Duration> {
        (self.feed != Feed::Replays).then_some(self.next)
    }

    /// The interval as it is now, without its jitter.
    pub fn interval(&self) -> Duration {
        match (self.feed, self.fixed) {
            (Feed::Lossy, _) => LONGEST,
            (_, Some(fixed)) => fixed,
            (_, None) => self.interval,
        }
    }

    /// A poll has ended. `wait`: for so long the server wants to be left alone, or a failure lets it be.
    pub fn polled(&mut self, now: Duration, came: Came, wait: Option<Duration>) {
        match came {
            Came::Equal => {
                self.equal += 1;
                if self.equal == EQUAL {
                    self.equal = 0;
                    self.interval = self.interval.mul_f64(GROWTH).min(LONGEST);
                }
            }
            Came::Changed => {
                self.equal = 0;
                self.interval = (self.interval / 2).max(SHORTEST);
            }
            // Its wait is the backoff's.
            Came::Failed => return self.next = now + wait.unwrap_or_else(|| self.jittered()),
        }
        self.next = now + self.jittered().max(wait.unwrap_or_default());
    }

    /// It was due and was not done: nothing is sent to a server that is taken for down, until then, where that is
    /// known.
    pub fn held(&mut self, now: Duration, until: Option<Duration>) {
        self.next = until.unwrap_or_else(|| now + self.jittered());
    }

    /// A feed came up or went down.
    pub fn feeds(&mut self, now: Duration, feed: Feed) {
        if self.feed != feed {
            self.feed = feed;
            self.next = now + self.jittered();
        }
    }

    fn jittered(&mut self) -> Duration {
        let spread = 1.0 + JITTER * (2.0 * self.random.unit() - 1.0);
        self.interval().mul_f64(spread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    /// Polls whenever it is due, for a time; how many polls there were.
    fn polls(observer: &mut Observer, from: Duration, to: Duration, came: Came) -> usize {
        let mut count = 0;
        while let Some(at) = observer.next().filter(|at| *at < to) {
            assert!(at >= from);
            observer.polled(at, came, None);
            count += 1;
        }
        count
    }

    #[test]
    fn the_interval_grows_in_quiet_and_shrinks_with_changes() {
        let mut observer = Observer::new(Duration::ZERO, None, 1);
        assert!(observer.next().expect("due") <= INTERVAL);
        let mut now = seconds(30);
        for (polls, want) in [(2, 30.0), (1, 45.0), (3, 67.5), (30, 300.0)] {
            for _ in 0..polls {
                observer.polled(now, Came::Equal, None);
                let wait = observer.next().expect("due") - now;
                let bounds = observer.interval().mul_f64(0.9)..=observer.interval().mul_f64(1.1);
                assert!(bounds.contains(&wait), "{wait:?} of {bounds:?}");
                now += wait;
            }
            assert_eq!(observer.interval(), Duration::from_secs_f64(want));
        }
        for want in [150, 75, 37, 18, 10, 10] {
            observer.polled(now, Came::Changed, None);
            assert_eq!(observer.interval().as_secs(), want);
        }
        observer.polled(now, Came::Equal, None);
        observer.polled(now, Came::Equal, None);
        observer.polled(now, Came::Changed, None);
        observer.polled(now, Came::Equal, None);
        assert_eq!(observer.interval(), SHORTEST, "three in a row, not three in all");
    }

    #[test]
    fn a_fixed_interval_stays() {
        let mut observer = Observer::new(Duration::ZERO, Some(seconds(2)), 2);
        let count = polls(&mut observer, Duration::ZERO, seconds(200), Came::Equal);
        assert!((90..=112).contains(&count), "{count}");
        let count = polls(&mut observer, seconds(200), seconds(400), Came::Changed);
        assert!((90..=112).contains(&count), "{count}");
    }

    #[test]
    fn what_the_server_asks_for_is_obeyed() {
        let mut observer = Observer::new(Duration::ZERO, Some(seconds(1)), 3);
        observer.polled(seconds(1), Came::Changed, Some(seconds(60)));
        assert_eq!(observer.next(), Some(seconds(61)));
        observer.polled(seconds(61), Came::Failed, Some(seconds(600)));
        assert_eq!(observer.next(), Some(seconds(661)));
        observer.polled(seconds(661), Came::Failed, Some(Duration::from_millis(800)));
        assert_eq!(
            observer.next(),
            Some(seconds(661) + Duration::from_millis(800)),
            "sooner than the interval"
        );
    }

    #[test]
    fn a_feed_makes_polling_rest_or_rare() {
        let mut observer = Observer::new(Duration::ZERO, Some(seconds(10)), 4);
        observer.feeds(seconds(5), Feed::Replays);
        assert_eq!(observer.next(), None);
        observer.feeds(seconds(1000), Feed::None);
        assert!(observer.next().expect("due") <= seconds(1011));
        observer.feeds(seconds(1000), Feed::Lossy);
        let count = polls(&mut observer, seconds(1000), seconds(4000), Came::Equal);
        assert!((9..=11).contains(&count), "{count}");
    }

    #[test]
    fn thousands_that_begin_together_are_spread() {
        let mut by_second = [0; 30];
        for seed in 0..3000 {
            let next = Observer::new(Duration::ZERO, None, seed).next().expect("due");
            by_second[next.as_secs() as usize] += 1;
        }
        assert!(by_second.iter().all(|count| (60..150).contains(count)), "{by_second:?}");
    }
}
