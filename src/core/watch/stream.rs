//! The connection to a change feed, as a state machine: when to connect, from where, when to give up on a silent
//! one, and when everything has to be looked at again.
//!
//! ```text
//!            ┌───────────── wait: one backoff for feed and listing ──────────────┐
//!            ▼                                                                   │
//! Waiting ─► Connecting ─► Listing (what was missed) ─► Open ─► the end, silence ┘
//! ```
//!
//! A feed only says that something may have changed. What happened while nobody was connected is not in it, unless
//! the server promises to tell it again and took the position that it was given; so else every connection begins
//! with a look at everything. It is asked for when the feed is open, so that nothing falls between the two.

use std::sync::Arc;
use std::time::Duration;

use super::super::engine::random::Random;
use super::super::identity::Key;
use super::super::mutant::planted;
use super::backoff::{Backoff, FIRST, Waits};
use super::observer;

/// A stream that ends before this has not worked.
const SHORTEST: Duration = Duration::from_secs(1);
/// The same of one that began with a look at everything: ended sooner than the next poll would come, it costs more than
/// polling.
const HELD: Duration = observer::SHORTEST;
/// The server's `retry:` is heeded between these.
const LEAST_RETRY: Duration = Duration::from_millis(500);
const MOST_RETRY: Duration = Duration::from_secs(5 * 60);
/// What the server asked for in `Retry-After` is heeded up to this.
const MOST_AFTER: Duration = Duration::from_secs(15 * 60);
/// How long to leave a server alone that says that it has no such feed, or not for us.
const UNFIT: Duration = Duration::from_secs(5 * 60);

/// How a feed is to be treated.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Without a byte for so long, the connection counts as dead.
    pub silence: Duration,
    /// Whether the server tells again what happened behind a position that it takes.
    pub replay: bool,
    /// After so many failures in a row everything is looked at again, whatever the server promises. 0: never for
    /// that.
    pub trusted: u32,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy { silence: Duration::from_secs(60), replay: false, trusted: 0 }
    }
}

/// What happened to the connection.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The server has accepted, from the position that it was asked for.
    Opened,
    /// Something came that is no event: a heartbeat, a part of one.
    Bytes,
    Told(Told),
    /// Everything was looked at, or could not be.
    Listed(bool),
    Ended(End),
    /// The time that [`Stream::wake`] named has come.
    Woke,
}

/// What a piece of the feed says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// What may have changed.
    pub changed: Vec<Changed>,
    /// Where the feed stands behind it.
    pub position: Option<Arc<str>>,
    /// The server has forgotten what happened before.
    pub gone: bool,
    /// How long the server wants to be left alone before the next connection.
    pub retry: Option<Duration>,
}

/// What an event is about.
#[derive(Clone, Debug, PartialEq)]
pub enum Changed {
    Key(Key),
    /// Anything that the feed is about.
    Something,
}

/// How a connection came to its end, or why there was none.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// The server ended it.
    Closed,
    /// It could not be had, or broke, or was no feed; the server may have said how long to wait.
    Failed { after: Option<Duration> },
    /// The server does not know the position, or what came after it.
    Gone,
    /// There is no such feed, or not for us: nothing that time mends.
    Unfit,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Connect, where it is known from this position.
    Connect {
        position: Option<Arc<str>>,
    },
    /// Give up the connection that there is.
    Close,
    /// Look at everything that the feed is about.
    Relist,
    Hint(Changed),
}

/// Where the connection stands.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// Nothing is sent before this.
    Waiting {
        until: Duration,
    },
    Connecting {
        from: Option<Arc<str>>,
    },
    /// Connected, while what was missed is looked at.
    Listing,
    /// Connected, and nothing was missed.
    Open,
}

/// One feed.
#[derive(Debug)]
pub struct Stream {
    policy: Policy,
    state: State,
    position: Option<Arc<str>>,
    /// Of the listings alone, which is wrong.
    separate: Backoff,
    random: Random,
    /// When the connection was asked for, and when a byte came last.
    since: Duration,
    heard: Duration,
    /// Whether this connection brought an event, and whether it went on where the last one ended.
    brought: bool,
    resumed: bool,
    /// Whether there was a connection before.
    known: bool,
    /// Failures since something worked.
    failures: u32,
    retry: Option<Duration>,
}

impl Stream {
    pub fn new(policy: Policy, seed: u64) -> Stream {
        Stream {
            policy,
            state: State::Waiting { until: Duration::ZERO },
            position: None,
            separate: Backoff::default(),
            random: Random::new(seed),
            since: Duration::ZERO,
            heard: Duration::ZERO,
            brought: false,
            resumed: false,
            known: false,
            failures: 0,
            retry: None,
        }
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    /// Whether what is there now is told without delay.
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Listing | State::Open)
    }

    /// When to send [`Event::Woke`], if nothing else comes before.
    pub fn wake(&self) -> Duration {
        match self.state {
            State::Waiting { until } => until,
            _ => self.heard + self.policy.silence,
        }
    }

    /// Takes an event at the time `now`, by a clock that only goes forward. `waits` are those of the same objects,
    /// which others share.
    pub fn step(&mut self, now: Duration, event: Event, waits: &mut dyn Waits) -> Vec<Effect> {
        match (event, &self.state) {
            (Event::Woke, State::Waiting { until }) if now >= *until => match waits.ask(now) {
                Ok(()) => self.connect(now),
                Err(until) => {
                    self.state = State::Waiting { until };
                    Vec::new()
                }
            },
            (Event::Woke, State::Connecting { .. }) if now >= self.wake() => {
                let mut effects = vec![Effect::Close];
                effects.extend(self.ended(now, End::Failed { after: None }, waits));
                effects
            }
            // So long a wait is behind us that the next connection needs none.
            (Event::Woke, State::Listing | State::Open) if now >= self.wake() => {
                let mut effects = vec![Effect::Close];
                effects.extend(self.connect(now));
                effects
            }
            (Event::Opened, State::Connecting { from }) => {
                let from = from.clone();
                waits.worked();
                self.opened(now, from.is_some())
            }
            (Event::Bytes, State::Listing | State::Open) => {
                self.heard = now;
                Vec::new()
            }
            (Event::Told(told), State::Listing | State::Open) => self.told(now, told, waits),
            (Event::Listed(true), State::Listing) => {
                self.state = State::Open;
                Vec::new()
            }
            (Event::Listed(false), State::Listing) => {
                let wait = if planted!(M23) {
                    self.separate.fail(now, &mut self.random)
                } else {
                    waits.failed(now, &mut self.random)
                };
                self.failures += 1;
                self.state = State::Waiting { until: now + wait };
                vec![Effect::Close]
            }
            (Event::Ended(end), State::Connecting { .. } | State::Listing | State::Open) => {
                self.ended(now, end, waits)
            }
            _ => Vec::new(),
        }
    }

    fn connect(&mut self, now: Duration) -> Vec<Effect> {
        (self.since, self.heard) = (now, now);
        self.state = State::Connecting { from: self.position.clone() };
        vec![Effect::Connect { position: self.position.clone() }]
    }

    fn opened(&mut self, now: Duration, from_position: bool) -> Vec<Effect> {
        let trusted = self.policy.trusted == 0 || self.failures < self.policy.trusted;
        self.resumed = from_position && self.policy.replay && trusted;
        (self.since, self.heard, self.brought) = (now, now, false);
        let misses_nothing = self.resumed || planted!(M22) && self.known;
        self.known = true;
        self.state = if misses_nothing { State::Open } else { State::Listing };
        if misses_nothing { Vec::new() } else { vec![Effect::Relist] }
    }

    fn told(&mut self, now: Duration, told: Told, waits: &mut dyn Waits) -> Vec<Effect> {
        self.heard = now;
        if !told.changed.is_empty() {
            self.brought = true;
            self.failures = 0;
        }
        if told.position.is_some() {
            self.position = told.position;
        }
        if told.retry.is_some() {
            self.retry = told.retry.map(|retry| retry.clamp(LEAST_RETRY, MOST_RETRY));
        }
        let mut effects: Vec<Effect> = told.changed.into_iter().map(Effect::Hint).collect();
        if told.gone {
            effects.push(Effect::Close);
            effects.extend(self.ended(now, End::Gone, waits));
        }
        effects
    }

    fn ended(&mut self, now: Duration, end: End, waits: &mut dyn Waits) -> Vec<Effect> {
        // A stream that is cut off soon and has to be made good by a listing each time costs as much as one that
        // never came, whatever it brought; and one whose history is gone will be.
        let lasted = now.saturating_sub(self.since);
        let held = if self.resumed { self.brought || lasted >= SHORTEST } else { lasted >= HELD };
        let worked = self.is_open() && held && end != End::Gone;
        let asked = match end {
            End::Failed { after } => after.unwrap_or_default().min(MOST_AFTER),
            End::Unfit => UNFIT,
            End::Closed | End::Gone => Duration::ZERO,
        };
        if matches!(end, End::Gone | End::Unfit) {
            self.position = None;
        }
        let wait = if worked {
            self.failures = 0;
            FIRST + FIRST.mul_f64(self.random.unit())
        } else {
            self.failures += 1;
            match end {
                End::Failed { .. } => waits.failed(now, &mut self.random),
                End::Closed | End::Gone | End::Unfit => waits.fail(now, &mut self.random),
            }
        };
        // What the server wants takes the place of the wait after a good end; it never shortens one after a failure.
        let wait = match self.retry {
            Some(retry) if worked => retry,
            Some(retry) => wait.max(retry),
            None => wait,
        };
        self.state = State::Waiting { until: now + wait.max(asked) };
        Vec::new()
    }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
