//! The queue: one entry an object at most, whatever the rate of hints.
//!
//! Where two meet, the earliest time and the highest class win. What is due is taken by class, and inside a class by
//! the time at which it became due, then by the order of the documents; for every half minute of waiting it counts as
//! one class higher, so that nothing starves behind a steady stream of something more urgent.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::time::Duration;

use super::super::mutant::planted;
use super::hint::{Class, Origin};

/// An entry rises by one class for each of these that it waits.
const AGE: Duration = Duration::from_secs(30);

/// How many classes there are.
const CLASSES: usize = Class::User as usize + 1;

/// What an object waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Not before this time.
    pub ready: Duration,
    pub class: Class,
    /// What brought it its class.
    pub origin: Origin,
    /// Somebody saw that it is not as it was, or it is wanted otherwise: a failure does not hold it back for long.
    pub changed: bool,
}

impl Entry {
    pub fn new(ready: Duration, origin: Origin) -> Entry {
        Entry { ready, class: origin.class(), origin, changed: false }
    }

    /// Takes another one in: the earlier time, and the higher class with where it came from.
    pub fn merge(&mut self, other: Entry) {
        if other.class > self.class {
            (self.class, self.origin) = (other.class, other.origin);
        }
        self.ready = if planted!(M9) { other.ready } else { self.ready.min(other.ready) };
        self.changed |= other.changed;
    }
}

/// Numbers of objects, in the order of their times.
type Line = BTreeSet<(Duration, usize)>;

/// Where an object's entry stands.
#[derive(Clone, Copy, Debug)]
struct Place {
    entry: Entry,
    target: usize,
    is_due: bool,
}

/// All entries, by the number of their object.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    places: Vec<Option<Place>>,
    /// Their time has not come.
    waiting: Line,
    /// By the number of the backend, and by class.
    due: Vec<[Line; CLASSES]>,
    count: usize,
}

impl Queue {
    /// Puts an object in; true if it was not there.
    pub fn put(&mut self, at: usize, target: usize, entry: Entry) -> bool {
        let before = self.remove(at);
        let merged = before.map_or(entry, |mut before| {
            before.merge(entry);
            before
        });
        self.places.resize(self.places.len().max(at + 1), None);
        self.due.resize(self.due.len().max(target + 1), Default::default());
        self.places[at] = Some(Place { entry: merged, target, is_due: false });
        self.waiting.insert((merged.ready, at));
        self.count += 1;
        before.is_none()
    }

    pub fn get(&self, at: usize) -> Option<&Entry> {
        Some(&self.places.get(at)?.as_ref()?.entry)
    }

    pub fn remove(&mut self, at: usize) -> Option<Entry> {
        let Place { entry, target, is_due } = self.places.get_mut(at)?.take()?;
        let line = if is_due { &mut self.due[target][entry.class as usize] } else { &mut self.waiting };
        line.remove(&(entry.ready, at));
        self.count -= 1;
        Some(entry)
    }

    /// Moves those whose time has come.
    pub fn promote(&mut self, now: Duration) {
        while let Some(&(ready, at)) = self.waiting.first().filter(|(ready, _)| *ready <= now) {
            self.waiting.pop_first();
            let place = self.places[at].as_mut().expect("what waits has its place");
            place.is_due = true;
            self.due[place.target][place.entry.class as usize].insert((ready, at));
        }
    }

    /// The backend and class whose turn it is, among those that `may` have one.
    pub fn first(&self, now: Duration, may: impl Fn(usize, Class) -> bool) -> Option<(usize, Class)> {
        const ALL: [Class; CLASSES] = [Class::Resync, Class::Retry, Class::Event, Class::User];
        let all = (0..self.due.len()).flat_map(|target| ALL.map(|class| (target, class)));
        let heads = all.filter(|(target, class)| may(*target, *class)).filter_map(|(target, class)| {
            let (ready, at) = self.due[target][class as usize].first()?;
            Some((aged(class, *ready, now), Reverse((*ready, *at)), (target, class)))
        });
        heads.max_by_key(|(age, order, _)| (*age, *order)).map(|(.., choice)| choice)
    }

    /// The objects of a class that are due, in their order.
    pub fn due(&self, target: usize, class: Class) -> impl Iterator<Item = (Duration, usize)> {
        self.due.get(target).into_iter().flat_map(move |lines| lines[class as usize].iter().copied())
    }

    /// All objects of a backend that are due, by class and then in their order.
    pub fn all_due(&self, target: usize) -> impl Iterator<Item = usize> {
        let lines = self.due.get(target).into_iter().flat_map(|lines| lines.iter().rev());
        lines.flatten().map(|(_, at)| *at)
    }

    /// When the next one becomes due.
    pub fn next(&self) -> Option<Duration> {
        self.waiting.first().map(|(ready, _)| *ready)
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.count
    }

    /// How many are due.
    pub fn depth(&self) -> usize {
        self.count - self.waiting.len()
    }
}

/// The class that an entry counts as by now.
fn aged(class: Class, ready: Duration, now: Duration) -> u128 {
    let age = now.saturating_sub(ready).as_nanos() / AGE.as_nanos();
    class as u128 + if planted!(M10) { 0 } else { age }
}
