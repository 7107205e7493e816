//! Whether a backend has become slow under the load that it is given, learned from how long its answers take.
//!
//! A server under too much load often says nothing of it: its answers come later and later. So of the last answers of one
//! sort the 95th percentile is held against the least that it was lately. What is twice that, and is long in itself, is a
//! reason to ask for less at once.

use std::collections::VecDeque;
use std::time::Duration;

/// So many answers make a window.
const WINDOW: usize = 50;
/// The place of the 95th percentile among them, once they are sorted.
const P95: usize = WINDOW * 95 / 100;
/// The least of so many windows is what a window is held against: what was longer ago was another server.
const LATELY: usize = 20;
/// What is answered within this is not slow. On a near server a window differs from the next by more than twice for no
/// reason at all.
const FLOOR: Duration = Duration::from_millis(100);

/// How long the answers of one sort take.
#[derive(Clone, Debug, Default)]
pub struct Latency {
    /// Of the window that is not full yet.
    answers: Vec<Duration>,
    /// The percentiles of the last windows.
    lately: VecDeque<Duration>,
    /// The percentile for which less was asked for, until it is known whether that was of use.
    slow: Option<Duration>,
}

impl Latency {
    /// Takes how long an answer took; true where less is to be asked for at once from now on.
    pub fn took(&mut self, time: Duration) -> bool {
        self.answers.push(time);
        if self.answers.len() < WINDOW {
            return false;
        }
        self.answers.sort_unstable();
        let p95 = self.answers[P95];
        self.answers.clear();
        // It is no faster for having less to do: then this is how long it takes, as for requests of another kind.
        if self.slow.take().is_some_and(|slow| p95 > slow / 4 * 3) {
            self.lately.clear();
        }
        let least = self.lately.iter().min().copied();
        if self.lately.len() == LATELY {
            self.lately.pop_front();
        }
        self.lately.push_back(p95);
        let is_slow = p95 > FLOOR && least.is_some_and(|least| p95 > least * 2);
        self.slow = is_slow.then_some(p95);
        is_slow
    }

    /// Less is asked for from now on: answers of before say nothing of that.
    pub fn begin_anew(&mut self) {
        self.answers.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of answers that take so long, in milliseconds, but for some that take another time.
    fn window(latency: &mut Latency, each: u64, others: usize, other: u64) -> bool {
        let times = std::iter::repeat_n(other, others).chain(std::iter::repeat_n(each, WINDOW - others));
        times.map(|time| latency.took(Duration::from_millis(time))).fold(false, |any, slow| any | slow)
    }

    #[test]
    fn what_takes_twice_as_long_as_it_did_is_slow() {
        let mut latency = Latency::default();
        assert!(!window(&mut latency, 150, 0, 0), "there is nothing to hold it against");
        assert!(!window(&mut latency, 300, 0, 0), "no more than twice");
        assert!(!window(&mut latency, 150, 2, 5000), "a few may take long");
        assert!(window(&mut latency, 150, 3, 301), "more than one in twenty");
    }

    #[test]
    fn what_is_answered_soon_is_never_slow() {
        let mut latency = Latency::default();
        for time in [1, 3, 50, 1, 99, 100] {
            assert!(!window(&mut latency, time, 0, 0), "{time} ms");
        }
        assert!(window(&mut latency, 101, 0, 0));
    }

    #[test]
    fn it_is_slow_for_as_long_as_less_is_of_use() {
        let mut latency = Latency::default();
        window(&mut latency, 100, 0, 0);
        let slow = [1000, 500, 250, 120].map(|time| window(&mut latency, time, 0, 0));
        assert_eq!(slow, [true, true, true, false]);
    }

    #[test]
    fn what_is_no_faster_with_less_is_as_it_is() {
        let mut latency = Latency::default();
        window(&mut latency, 20, 0, 0);
        let slow = [800, 800, 800, 790, 1700].map(|time| window(&mut latency, time, 0, 0));
        assert_eq!(slow, [true, false, false, false, true], "it is asked for less once");
    }

    #[test]
    fn what_was_long_ago_counts_no_more() {
        let mut latency = Latency::default();
        window(&mut latency, 90, 0, 0);
        (0..LATELY).for_each(|_| assert!(!window(&mut latency, 180, 0, 0)));
        assert!(!window(&mut latency, 350, 0, 0));
    }
}
