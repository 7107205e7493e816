//! The change feed: which items changed, in the order in which they did, for all who follow.
//!
//! One ring of the latest events is kept in memory, and a follower is no more than a place in it: whoever is slow
//! costs nothing, and is told so once the ring has moved past. What changed is published when it is durable, under
//! the same lock as the index, so that a listing and the feed fit together without a gap.
//!
//! History does not outlive the process. Each opening of a store has an epoch of its own, which is part of every
//! position: one of before, or of another store, is never taken for one of now.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::watch;

use super::index::{Change, Index};
use super::key::Key;

/// The events that are kept, at most, and the bytes of their paths.
const MOST_EVENTS: usize = 8192;
const MOST_BYTES: usize = 4 * 1024 * 1024;
/// Those who follow at once, at most.
const MOST_FOLLOWERS: usize = 256;

/// One change of one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The clock of the store after it; one more than that of the event before.
    pub number: u64,
    pub what: What,
    pub key: Key,
    /// Whether the client chose the name.
    pub natural: bool,
    /// The item's revision; of a deletion the last one that it had.
    pub revision: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Created,
    Updated,
    Deleted,
}

impl What {
    pub fn word(self) -> &'static str {
        match self {
            What::Created => "created",
            What::Updated => "updated",
            What::Deleted => "deleted",
        }
    }
}

impl Event {
    /// What a step does to an item, seen before it is taken.
    pub(super) fn of(change: &Change, before: &Index) -> Option<Event> {
        let (item, what) = match change {
            Change::Stored(item) if before.item(&item.key).is_some() => (item, What::Updated),
            Change::Stored(item) => (item, What::Created),
            Change::Removed(item) => (item, What::Deleted),
            _ => return None,
        };
        let (key, natural, revision) = (item.key.clone(), item.natural, item.revision);
        Some(Event { number: before.clock() + 1, what, key, natural, revision })
    }
}

/// A place in the feed of one opening of a store: behind the event of this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    epoch: u32,
    pub number: u64,
}

impl Position {
    /// Reads what [`Position`] prints.
    pub fn parse(text: &str) -> Option<Position> {
        let (epoch, number) = text.split_once('-')?;
        let plain = |text: &str| !text.starts_with('+');
        Some(Position {
            epoch: u32::from_str_radix(epoch, 16).ok().filter(|_| plain(epoch))?,
            number: number.parse().ok().filter(|_| plain(number))?,
        })
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}-{}", self.epoch, self.number)
    }
}

/// Why nobody can follow from a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoFeed {
    /// What happened after it is no longer known here.
    Gone,
    /// As many follow as can.
    Full,
}

/// The feed of one open store.
pub struct Feed {
    epoch: u32,
    ring: Mutex<Ring>,
    /// Told that something is new, or that the store closes.
    news: watch::Sender<bool>,
    followers: Arc<AtomicUsize>,
}

struct Ring {
    /// The clock before the first event that is kept.
    floor: u64,
    events: VecDeque<Arc<Event>>,
    bytes: usize,
}

impl Feed {
    /// The feed of a store whose clock is there, before anything happens.
    pub(super) fn new(clock: u64) -> Arc<Feed> {
        let ring = Ring { floor: clock, events: VecDeque::new(), bytes: 0 };
        Arc::new(Feed {
            epoch: fastrand::u32(..),
            ring: Mutex::new(ring),
            news: watch::Sender::new(false),
            followers: Arc::default(),
        })
    }

    /// Adds events, whose numbers go on from the last one.
    pub(super) fn publish(&self, events: impl IntoIterator<Item = Event>) {
        let mut ring = self.ring();
        events.into_iter().for_each(|event| ring.push(event));
        drop(ring);
        self.news.send_modify(|_| {});
    }

    /// Ends all feeds. What is published later reaches nobody.
    pub fn close(&self) {
        self.news.send_replace(true);
    }

    /// The place of a listing that was made at this clock.
    pub fn position(&self, clock: u64) -> Position {
        Position { epoch: self.epoch, number: clock }
    }

    /// Follows what happens behind a place, or from now on; in one collection, or everywhere.
    ///
    /// # Errors
    /// A place whose future is not known here; too many followers.
    pub fn follow(
        self: &Arc<Feed>,
        since: Option<Position>,
        within: Option<Key>,
    ) -> Result<Follower, NoFeed> {
        let at = {
            let ring = self.ring();
            match since {
                None => ring.clock(),
                Some(since) if since.epoch == self.epoch && ring.knows(since.number) => since.number,
                Some(_) => return Err(NoFeed::Gone),
            }
        };
        let place = Place::take(&self.followers).ok_or(NoFeed::Full)?;
        let news = self.news.subscribe();
        Ok(Follower { feed: self.clone(), at, within, news, _place: place })
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().expect("nothing panics while it holds the ring")
    }
}

impl Ring {
    fn clock(&self) -> u64 {
        self.floor + self.events.len() as u64
    }

    fn knows(&self, number: u64) -> bool {
        (self.floor..=self.clock()).contains(&number)
    }

    fn push(&mut self, event: Event) {
        debug_assert_eq!(event.number, self.clock() + 1, "events are published without a gap");
        self.bytes += event.key.as_str().len();
        self.events.push_back(Arc::new(event));
        while self.events.len() > MOST_EVENTS || self.bytes > MOST_BYTES {
            let Some(oldest) = self.events.pop_front() else { break };
            self.bytes -= oldest.key.as_str().len();
            self.floor += 1;
        }
    }
}

/// One who follows. Costs a place in the ring, whatever happens and however slowly it is asked.
pub struct Follower {
    feed: Arc<Feed>,
    at: u64,
    within: Option<Key>,
    news: watch::Receiver<bool>,
    _place: Place,
}

/// What comes next to a follower.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    Events(Vec<Arc<Event>>),
    /// It was asked too late: events that it has not seen are gone.
    Behind,
    /// The store closes.
    Closed,
}

impl Follower {
    /// Where it stands: behind everything that it was told, or that did not concern it.
    pub fn position(&self) -> Position {
        self.feed.position(self.at)
    }

    /// The place behind an event of this feed.
    pub fn feed_position(&self, event: &Event) -> Position {
        self.feed.position(event.number)
    }

    /// Waits for events, at most so many. Nothing is lost when the wait is given up.
    pub async fn next(&mut self, most: usize) -> Next {
        loop {
            if *self.news.borrow_and_update() {
                return Next::Closed;
            }
            match self.look(most) {
                None => return Next::Behind,
                Some(events) if !events.is_empty() => return Next::Events(events),
                Some(_) => {}
            }
            if self.news.changed().await.is_err() {
                return Next::Closed;
            }
        }
    }

    /// What there is already; `None` where some of it is gone.
    pub fn look(&mut self, most: usize) -> Option<Vec<Arc<Event>>> {
        let ring = self.feed.ring();
        let skip = usize::try_from(self.at.checked_sub(ring.floor)?).ok()?;
        let mut events = Vec::new();
        for event in ring.events.range(skip.min(ring.events.len())..) {
            if events.len() == most {
                break;
            }
            self.at = event.number;
            if self.within.as_ref().is_none_or(|within| event.key.parent() == *within) {
                events.push(event.clone());
            }
        }
        Some(events)
    }
}

/// One of the places of followers; given back when dropped.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(taken: &Arc<AtomicUsize>) -> Option<Place> {
        let more = |now| (now < MOST_FOLLOWERS).then_some(now + 1);
        taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(Place(taken.clone()))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(number: u64, collection: &str) -> Event {
        let key = Key::root().child(collection).child(&number.to_string());
        Event { number, what: What::Created, key, natural: true, revision: 1 }
    }

    fn numbers(next: Next) -> Vec<u64> {
        match next {
            Next::Events(events) => events.iter().map(|event| event.number).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn what_happened_after_a_place_is_told_again_and_then_what_happens() {
        let feed = Feed::new(10);
        feed.publish([event(11, "a"), event(12, "b"), event(13, "a")]);
        let mut all = feed.follow(Some(feed.position(11)), None).expect("it is known");
        assert_eq!(numbers(all.next(100).await), [12, 13]);
        let mut some = feed.follow(Some(feed.position(10)), Some(Key::root().child("a"))).expect("known");
        assert_eq!(numbers(some.next(1).await), [11]);
        assert_eq!(numbers(some.next(1).await), [13]);
        assert_eq!(all.look(100), Some(vec![]));
        feed.publish([event(14, "b")]);
        assert_eq!(numbers(all.next(100).await), [14]);
        assert_eq!(some.look(9), Some(vec![]), "of another collection");
        assert_eq!(some.position(), feed.position(14), "and passed over for good");
        feed.close();
        assert_eq!(all.next(1).await, Next::Closed);
    }

    #[tokio::test]
    async fn nothing_is_left_out_in_silence() {
        let feed = Feed::new(0);
        let mut slow = feed.follow(None, None).expect("a place");
        feed.publish((1..=MOST_EVENTS as u64 + 1).map(|number| event(number, "a")));
        assert_eq!(slow.next(1).await, Next::Behind);
        for since in [Position { epoch: feed.epoch ^ 1, number: 5 }, feed.position(0), feed.position(99_999)]
        {
            assert_eq!(feed.follow(Some(since), None).err(), Some(NoFeed::Gone), "{since}");
        }
        assert!(feed.follow(Some(feed.position(1)), None).is_ok(), "the oldest that is kept is the next");
    }

    #[test]
    fn the_ring_is_bounded_in_bytes_and_the_followers_in_number() {
        let feed = Feed::new(0);
        let long = "x".repeat(1024 * 1024);
        for number in 1..=20 {
            let key = Key::root().child("a").child(&long);
            feed.publish([Event { number, what: What::Updated, key, natural: true, revision: number }]);
        }
        assert_eq!(feed.ring().events.len(), 3, "of a mebibyte each");
        let followers: Vec<_> = (0..MOST_FOLLOWERS).map(|_| feed.follow(None, None).ok()).collect();
        assert!(followers.iter().all(Option::is_some));
        assert_eq!(feed.follow(None, None).err(), Some(NoFeed::Full));
        drop(followers);
        assert!(feed.follow(None, None).is_ok());
    }

    #[test]
    fn positions_are_read_as_they_are_written() {
        let position = Position { epoch: 0xab, number: 17 };
        assert_eq!(position.to_string(), "000000ab-17");
        assert_eq!(Position::parse("000000ab-17"), Some(position));
        for text in ["", "17", "-17", "zz-1", "ab-", "ab-x", "ab-+1", "+ab-1", "123456789-1"] {
            assert_eq!(Position::parse(text), None, "{text}");
        }
    }
}
