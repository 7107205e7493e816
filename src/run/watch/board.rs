//! Where each feed stands: shown in the status, told in the log when it turns, and counted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::desired::group;
use super::standing::Place;
use crate::core::exchange::Failure;
use crate::core::watch::snapshot::{FeedStatus, Feeds};
use crate::render::watch::log::Event;

/// Lines that wait to be told, at most; what does not fit is in the status.
const LINES: usize = 64;
/// That a feed is open again is told once it has held for so long: one that comes and goes is one that is down.
const HELD: Duration = Duration::from_secs(10);

/// All feeds. Its copies are one.
#[derive(Clone)]
pub struct Board(Arc<Inner>);

struct Inner {
    /// Zero of the loop's time.
    began: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    feeds: BTreeMap<Place, FeedStatus>,
    /// Those of which the log was told that they are down.
    told: BTreeSet<Place>,
    /// Of all feeds that there were.
    events: u64,
    ignored: u64,
    lines: Vec<Event>,
    changed: bool,
}

impl Board {
    pub fn new(began: Instant) -> Board {
        Board(Arc::new(Inner { began, state: Mutex::default() }))
    }

    /// A feed is followed from now on; it is not open yet.
    pub fn begins(&self, place: &Place) {
        let since = self.0.began.elapsed();
        let name = group(&place.0, &place.1);
        let status = FeedStatus { name, up: false, since, message: None, next: None, ignored: 0 };
        self.change(|state| drop(state.feeds.insert(place.clone(), status)));
    }

    /// It is followed no longer.
    pub fn ends(&self, place: &Place) {
        self.change(|state| {
            state.feeds.remove(place);
            state.told.remove(place);
        });
    }

    /// It is open, and has said something.
    pub fn up(&self, place: &Place) {
        let now = self.0.began.elapsed();
        self.change(|state| {
            let Some(feed) = state.feeds.get_mut(place).filter(|feed| !feed.up) else { return };
            *feed = FeedStatus { up: true, since: now, message: None, next: None, ..feed.clone() };
        });
    }

    /// It failed, or could not be had. It is told once; the status has the last reason.
    pub fn down(&self, place: &Place, failure: &Failure) {
        let now = self.0.began.elapsed();
        self.change(|state| {
            let Some(feed) = state.feeds.get_mut(place) else { return };
            let since = if feed.up { now } else { feed.since };
            let message = Some(failure.message.clone());
            *feed = FeedStatus { up: false, since, message, ..feed.clone() };
            let feed = feed.clone();
            if state.told.insert(place.clone()) {
                let event = Event::warn("change feed is down: its objects are polled")
                    .with("group", &*feed.name)
                    .with("detail", failure.message.as_str());
                let hint = failure.hint.as_deref();
                state.say(match hint {
                    Some(hint) => event.with("hint", hint),
                    None => event,
                });
            }
        });
    }

    /// When it is tried again.
    pub fn next(&self, place: &Place, at: Instant) {
        let next = Some(at.saturating_duration_since(self.0.began));
        self.change(|state| {
            if let Some(feed) = state.feeds.get_mut(place).filter(|feed| !feed.up) {
                feed.next = next;
            }
        });
    }

    /// So many events came, and so many were passed over: malformed, of an unknown sort, or about no object of the
    /// kind. The log is told of the first one, the tenth, the hundredth.
    pub fn counted(&self, place: &Place, events: u64, ignored: u64) {
        let mut state = self.state();
        state.events += events;
        state.ignored += ignored;
        let Some(feed) = state.feeds.get_mut(place).filter(|_| ignored > 0) else { return };
        let before = feed.ignored;
        feed.ignored += ignored;
        if before == 0 || before.ilog10() < feed.ignored.ilog10() {
            let event = Event::info("change feed has events that were passed over")
                .with("group", &*feed.name)
                .with("events", feed.ignored);
            state.say(event);
        }
    }

    /// What is to be told in the log.
    pub fn lines(&self) -> Vec<Event> {
        let now = self.0.began.elapsed();
        let mut state = self.state();
        let State { feeds, told, lines, .. } = &mut *state;
        told.retain(|place| {
            let held = |feed: &&FeedStatus| feed.up && now.saturating_sub(feed.since) >= HELD;
            let Some(feed) = feeds.get(place).filter(held) else { return true };
            lines.push(Event::info("change feed is open again").with("group", &*feed.name));
            false
        });
        std::mem::take(lines)
    }

    /// Whether it is otherwise than when this was asked last.
    pub fn has_changed(&self) -> bool {
        std::mem::take(&mut self.state().changed)
    }

    pub fn shown(&self) -> Feeds {
        let state = self.state();
        Feeds { all: state.feeds.values().cloned().collect(), events: state.events, ignored: state.ignored }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state();
        change(&mut state);
        state.changed = true;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn say(&mut self, event: Event) {
        if self.lines.len() < LINES {
            self.lines.push(event);
        }
    }
}
