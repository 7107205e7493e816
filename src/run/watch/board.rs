//! Where each feed stands, and of which backends nothing is heard: shown in the status, told in the log when it turns,
//! and counted.

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
    /// By backend.
    polls: BTreeMap<Arc<str>, Polled>,
    /// Of all feeds that there were.
    events: u64,
    ignored: u64,
    lines: Vec<Event>,
    changed: bool,
}

/// What polls have heard of a backend.
struct Polled {
    /// When one has found something out last.
    heard: Duration,
    /// The interval of the first poll that has found out nothing since, or not yet.
    waits: Option<Duration>,
    /// The log was told that nothing is heard.
    told: bool,
}

/// A backend of which nothing is heard for so many intervals is told of.
const INTERVALS: u32 = 3;

impl Polled {
    fn is_silent(&self, now: Duration) -> bool {
        self.waits.is_some_and(|interval| now.saturating_sub(self.heard) >= interval * INTERVALS)
    }
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

    /// A poll of a backend begins; the next one would begin after `interval`.
    pub fn polls(&self, backend: &Arc<str>, interval: Duration) {
        let now = self.0.began.elapsed();
        let mut state = self.state();
        let polled = || Polled { heard: now, waits: None, told: false };
        state.polls.entry(backend.clone()).or_insert_with(polled).waits.get_or_insert(interval);
    }

    /// A poll of a backend has found something out.
    pub fn heard(&self, backend: &Arc<str>) {
        let now = self.0.began.elapsed();
        if let Some(polled) = self.state().polls.get_mut(backend) {
            (polled.heard, polled.waits) = (now, None);
        }
    }

    /// The backends of which nothing was heard for several intervals, and since when.
    pub fn silent(&self) -> Vec<(Arc<str>, Duration)> {
        let now = self.0.began.elapsed();
        let state = self.state();
        let silent = state.polls.iter().filter(|(_, polled)| polled.is_silent(now));
        silent.map(|(backend, polled)| (backend.clone(), polled.heard)).collect()
    }

    /// What is to be told in the log.
    pub fn lines(&self) -> Vec<Event> {
        let now = self.0.began.elapsed();
        let mut state = self.state();
        let State { feeds, told, lines, polls, changed, .. } = &mut *state;
        for (backend, polled) in polls {
            let is_silent = polled.is_silent(now);
            if std::mem::replace(&mut polled.told, is_silent) == is_silent {
                continue;
            }
            *changed = true;
            lines.push(match is_silent {
                true => Event::warn("nothing is heard of a backend")
                    .with("backend", &**backend)
                    .with("seconds", now.saturating_sub(polled.heard).as_secs()),
                false => Event::info("backend is heard of again").with("backend", &**backend),
            });
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_backend_is_silent_when_polls_find_out_nothing_for_three_intervals() {
        let (board, backend) = (Board::new(Instant::now()), Arc::<str>::from("demo"));
        let seconds = Duration::from_secs;
        let told = || board.lines().iter().map(|line| line.message).collect::<Vec<_>>();
        board.polls(&backend, seconds(10));
        tokio::time::advance(seconds(1)).await;
        board.heard(&backend);
        tokio::time::advance(seconds(100)).await;
        assert_eq!((board.silent(), told()), (vec![], vec![]), "nothing was asked");
        board.polls(&backend, seconds(10));
        board.heard(&backend);
        tokio::time::advance(seconds(10)).await;
        board.polls(&backend, seconds(10));
        tokio::time::advance(seconds(15)).await;
        board.polls(&backend, seconds(10));
        assert_eq!((board.silent(), told()), (vec![], vec![]));
        board.has_changed();
        tokio::time::advance(seconds(5)).await;
        assert_eq!(board.silent(), [(backend.clone(), seconds(101))]);
        assert_eq!(told(), ["nothing is heard of a backend"]);
        assert!(board.has_changed());
        assert_eq!(told(), [""; 0], "once");
        board.heard(&backend);
        assert_eq!((board.silent(), told()), (vec![], vec!["backend is heard of again"]));
    }
}
