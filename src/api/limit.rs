//! How many requests go to a backend at once, how fast, and when none may go: learned from its answers.
//!
//! Additive increase, multiplicative decrease, as in congestion control: it finds what the server bears
//! without being told, and gives way at once when the server says so.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::latency::Latency;
use crate::backend::connection::Limits;
use crate::backend::wire::Role;

/// Where reads and writes begin.
const FIRST_READS: usize = 16;
const FIRST_WRITES: usize = 4;
const LEAST: usize = 1;
const MOST: usize = 64;
/// So many clean answers allow one more request at once.
const CLEAN: usize = 100;

/// What an answer says of the server's load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    Clean,
    /// 429, 503 or a timeout; or answers that take much longer than they did.
    Trouble,
    /// Nothing: the request did not reach the server, say.
    Silent,
}

/// The limits of one backend.
#[derive(Debug)]
pub struct Limiter {
    reads: Arc<Gate>,
    writes: Arc<Gate>,
    /// Between two requests.
    spacing: Option<Duration>,
    /// When the next request may start.
    next: Mutex<Instant>,
}

/// Leave to send one request; gives its place back when dropped.
#[derive(Debug)]
pub struct Permit {
    gate: Arc<Gate>,
    epoch: u64,
}

#[derive(Debug)]
struct Gate {
    state: Mutex<State>,
    freed: Notify,
}

#[derive(Debug)]
struct State {
    limit: usize,
    fixed: bool,
    under_way: usize,
    clean: usize,
    /// How often the limit was halved: requests of before do not halve it again.
    epoch: u64,
    /// Of reads or creates, of updates, and of deletions: each takes its own time. Listings are as long as they are.
    latencies: [Latency; 3],
}

impl Limiter {
    /// Limits as a backend states them; what it does not state is learned.
    pub fn new(limits: &Limits) -> Limiter {
        let (reads, writes) = match limits.concurrency {
            Some(all) => {
                let gate = Gate::new(all.max(LEAST), true);
                (gate.clone(), gate)
            }
            None => (Gate::new(FIRST_READS, false), Gate::new(FIRST_WRITES, false)),
        };
        let rate = limits.rate.filter(|rate| rate.is_finite() && *rate > 0.0);
        let spacing = rate.map(|rate| Duration::from_secs_f64((1.0 / rate).min(3600.0)));
        Limiter { reads, writes, spacing, next: Mutex::new(Instant::now()) }
    }

    /// Waits until a request may be sent.
    pub async fn enter(&self, reads: bool) -> Permit {
        let gate = if reads { &self.reads } else { &self.writes };
        let permit = gate.clone().enter().await;
        self.turn().await;
        permit
    }

    /// Waits until the server may be asked at all: for what lasts, and has no place among the requests.
    pub async fn turn(&self) {
        while let Some(start) = self.start(Instant::now()) {
            sleep_until(start).await;
        }
    }

    /// Sends nothing for a while: what the server asked for in `Retry-After`.
    pub fn pause(&self, wait: Duration) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next = (*next).max(Instant::now() + wait);
    }

    /// When to look again; `None` for now, which is taken.
    fn start(&self, now: Instant) -> Option<Instant> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if *next > now {
            return Some(*next);
        }
        if let Some(spacing) = self.spacing {
            *next = now + spacing;
        }
        None
    }
}

impl Permit {
    /// Learns from the answer to a request, and from how long it took.
    pub fn learn(&self, load: Load, role: Role, took: Duration) {
        let grown = self.gate.state().heard(load, self.epoch, role, took);
        if grown {
            self.gate.freed.notify_one();
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.gate.state().under_way -= 1;
        self.gate.freed.notify_one();
    }
}

impl Gate {
    fn new(limit: usize, fixed: bool) -> Arc<Gate> {
        let state = State { limit, fixed, under_way: 0, clean: 0, epoch: 0, latencies: Default::default() };
        Arc::new(Gate { state: Mutex::new(state), freed: Notify::new() })
    }

    async fn enter(self: Arc<Gate>) -> Permit {
        loop {
            let taken = self.state().take();
            if let Some(epoch) = taken {
                return Permit { gate: self, epoch };
            }
            self.freed.notified().await;
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self) -> Option<u64> {
        let free = self.under_way < self.limit;
        self.under_way += usize::from(free);
        free.then_some(self.epoch)
    }

    /// [`State::learn`], where a clean answer may say by its lateness that there is trouble.
    fn heard(&mut self, load: Load, epoch: u64, role: Role, took: Duration) -> bool {
        let sort = match role {
            Role::Read | Role::Create => Some(0),
            Role::Update => Some(1),
            Role::Delete => Some(2),
            Role::List | Role::Check | Role::Login => None,
        };
        // What was sent before the limit was halved took as long as it did for that.
        let tells = load == Load::Clean && epoch == self.epoch && !self.fixed;
        let is_slow = sort.is_some_and(|sort| tells && self.latencies[sort].took(took));
        self.learn(if is_slow { Load::Trouble } else { load }, epoch)
    }

    /// Whether the limit has grown.
    fn learn(&mut self, load: Load, epoch: u64) -> bool {
        match load {
            _ if self.fixed => {}
            Load::Clean => {
                self.clean += 1;
                if self.clean >= CLEAN && self.limit < MOST {
                    self.clean = 0;
                    self.limit += 1;
                    return true;
                }
            }
            Load::Trouble if epoch == self.epoch => {
                self.epoch += 1;
                self.clean = 0;
                self.limit = (self.limit / 2).max(LEAST);
                self.latencies.iter_mut().for_each(Latency::begin_anew);
            }
            Load::Trouble | Load::Silent => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(limit: usize) -> State {
        State { limit, fixed: false, under_way: 0, clean: 0, epoch: 0, latencies: Default::default() }
    }

    #[test]
    fn trouble_halves_and_clean_answers_grow() {
        let mut state = state(16);
        for (at, want) in [(0, 8), (1, 4), (2, 2), (3, 1), (4, 1)] {
            state.learn(Load::Trouble, at);
            assert_eq!(state.limit, want);
        }
        let grown = (0..250).filter(|_| state.learn(Load::Clean, 0)).count();
        assert_eq!((grown, state.limit), (2, 3));
        state.limit = MOST;
        (0..1000).for_each(|_| assert!(!state.learn(Load::Clean, 0)));
    }

    #[test]
    fn one_burst_halves_once() {
        let mut state = state(16);
        (0..16).for_each(|_| {
            state.learn(Load::Trouble, 0);
        });
        assert_eq!(state.limit, 8);
    }

    #[test]
    fn lateness_halves_as_trouble_does() {
        let mut state = state(16);
        let hear = |state: &mut State, role, epoch, milliseconds| {
            let took = Duration::from_millis(milliseconds);
            for _ in 0..50 {
                state.heard(Load::Clean, epoch, role, took);
            }
            state.limit
        };
        assert_eq!(hear(&mut state, Role::Update, 0, 150), 16);
        assert_eq!(hear(&mut state, Role::Delete, 0, 900), 17, "another sort takes its own time");
        assert_eq!(hear(&mut state, Role::Update, 0, 400), 8);
        assert_eq!(hear(&mut state, Role::Update, 0, 900), 8, "these were sent before");
        assert_eq!(hear(&mut state, Role::Update, 1, 160), 9);
        assert_eq!(hear(&mut state, Role::List, 1, 9000), 9, "a listing is as long as it is");
    }

    #[test]
    fn a_stated_limit_stays() {
        let limiter = Limiter::new(&Limits { concurrency: Some(3), ..Limits::default() });
        assert!(Arc::ptr_eq(&limiter.reads, &limiter.writes), "it is for both together");
        assert!(!limiter.reads.state().learn(Load::Trouble, 0));
        assert_eq!(limiter.reads.state().limit, 3);
    }

    #[tokio::test]
    async fn no_more_than_the_limit_are_under_way() {
        let limiter = Limiter::new(&Limits { concurrency: Some(2), ..Limits::default() });
        let (first, _second) = (limiter.enter(true).await, limiter.enter(false).await);
        let mut third = Box::pin(limiter.enter(true));
        assert!(futures_util::poll!(&mut third).is_pending());
        drop(first);
        third.await;
    }

    #[test]
    fn a_rate_spaces_and_a_pause_stops() {
        let limiter = Limiter::new(&Limits { rate: Some(10.0), ..Limits::default() });
        let now = Instant::now();
        assert_eq!(limiter.start(now), None);
        assert_eq!(limiter.start(now), Some(now + Duration::from_millis(100)));
        assert_eq!(limiter.start(now + Duration::from_millis(100)), None);
        let limiter = Limiter::new(&Limits::default());
        assert_eq!((limiter.start(Instant::now()), limiter.start(Instant::now())), (None, None));
        limiter.pause(Duration::from_secs(60));
        let next = limiter.start(Instant::now()).expect("paused");
        limiter.pause(Duration::from_secs(1));
        assert_eq!(limiter.start(Instant::now()), Some(next), "a shorter pause does not end a longer one");
    }
}
