//! Whether feeds tell what happens to each group of objects: a group is told of when all feeds that it is in are open.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use crate::core::identity::{Key, KindName};

/// What a feed is about: a kind, and what its request names of the key.
pub type Place = (KindName, Key);

/// Whether a feed tells what happens to the objects of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Alive {
    /// There is none, or it is down.
    No,
    /// It is open, and will not tell what happens while it is down.
    Lossy,
    /// It is open, and tells later what it did not tell in time.
    Replays,
}

/// Is told when the feeds of a group came up or went down.
pub type Announce = Arc<dyn Fn(&Arc<str>, Alive) + Send + Sync>;

/// All feeds that there could be, and how each stands.
pub struct Standing {
    announce: Announce,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    groups: BTreeMap<Arc<str>, BTreeSet<Place>>,
    open: BTreeMap<Place, Alive>,
    /// What was announced of each group.
    told: BTreeMap<Arc<str>, Alive>,
}

impl Standing {
    pub fn new(announce: Announce) -> Standing {
        Standing { announce, state: Mutex::default() }
    }

    /// The groups are these from now on, with the places of their objects, followed or not.
    pub fn wanted(&self, groups: BTreeMap<Arc<str>, BTreeSet<Place>>) {
        self.change(|state| {
            let before = std::mem::replace(&mut state.groups, groups);
            before.into_keys().chain(state.groups.keys().cloned()).collect()
        });
    }

    /// A feed came up or went down.
    pub fn set(&self, place: &Place, alive: Alive) {
        self.change(|state| {
            match alive {
                Alive::No => drop(state.open.remove(place)),
                alive => drop(state.open.insert(place.clone(), alive)),
            }
            let of = state.groups.iter().filter(|(_, places)| places.contains(place));
            of.map(|(group, _)| group.clone()).collect()
        });
    }

    /// Announces the groups that `change` touches and that stand otherwise after it.
    fn change(&self, change: impl FnOnce(&mut State) -> BTreeSet<Arc<str>>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        for group in change(&mut state) {
            let now = state.of(&group);
            let before = match now {
                Alive::No => state.told.remove(&group),
                now => state.told.insert(group.clone(), now),
            };
            if before.unwrap_or(Alive::No) != now {
                (self.announce)(&group, now);
            }
        }
    }
}

impl State {
    fn of(&self, group: &str) -> Alive {
        let places = self.groups.get(group).into_iter().flatten();
        let alive = places.map(|place| self.open.get(place).copied().unwrap_or(Alive::No));
        alive.min().unwrap_or(Alive::No)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(zone: &str) -> Place {
        let kind = KindName { backend: "dns".into(), kind: "RRset".into() };
        (kind, Key::new(vec![("zone".into(), zone.into())]))
    }

    #[test]
    fn a_group_is_told_of_when_all_its_feeds_are_open() {
        let said: Arc<Mutex<Vec<(String, Alive)>>> = Arc::default();
        let kept = said.clone();
        let standing = Standing::new(Arc::new(move |group: &Arc<str>, alive| {
            kept.lock().expect("no panic").push((group.to_string(), alive));
        }));
        let said = || std::mem::take(&mut *said.lock().expect("no panic"));
        let groups = || [("all".into(), [place("a"), place("b")].into())].into();
        standing.wanted(groups());
        standing.set(&place("a"), Alive::Replays);
        assert_eq!(said(), [], "the other one may miss something");
        standing.set(&place("b"), Alive::Lossy);
        assert_eq!(said(), [("all".into(), Alive::Lossy)]);
        standing.set(&place("b"), Alive::Replays);
        standing.set(&place("b"), Alive::Replays);
        assert_eq!(said(), [("all".into(), Alive::Replays)], "once");
        standing.wanted(groups());
        assert_eq!(said(), []);
        standing.set(&place("a"), Alive::No);
        assert_eq!(said(), [("all".into(), Alive::No)]);
        standing.set(&place("a"), Alive::Lossy);
        standing.wanted(BTreeMap::new());
        assert_eq!(said(), [("all".into(), Alive::Lossy), ("all".into(), Alive::No)]);
    }
}
