//! The moments at which everything is observed anew. All objects of a group share one, as one listing serves them; the
//! groups are spread over the interval, so that the load is flat.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::super::digest::Digest;
use super::super::engine::random::Random;

/// How far a moment may be off, as a part of the interval, either way.
const JITTER: f64 = 0.1;

/// The groups, and when each is due.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    by_name: BTreeMap<Arc<str>, Group>,
    by_time: BTreeSet<(Duration, Arc<str>)>,
}

#[derive(Clone, Debug)]
struct Group {
    next: Duration,
    /// The numbers of its objects.
    members: Vec<usize>,
}

impl Groups {
    /// Takes over who is where; those that were there keep their moment.
    pub fn replace(
        &mut self,
        now: Duration,
        interval: Duration,
        members: BTreeMap<Arc<str>, Vec<usize>>,
        random: &mut Random,
    ) {
        let before = std::mem::take(self);
        for (name, members) in members {
            let kept = before.by_name.get(&name).map(|group| group.next);
            let next = kept.unwrap_or_else(|| now + first(&name, interval, random));
            self.by_time.insert((next, Arc::clone(&name)));
            self.by_name.insert(name, Group { next, members });
        }
    }

    /// The members of a group that is due by now, whose next moment is settled with that.
    pub fn take_due(&mut self, now: Duration, interval: Duration, random: &mut Random) -> Option<Vec<usize>> {
        let (_, name) = self.by_time.first().filter(|(next, _)| *next <= now).cloned()?;
        self.by_time.pop_first();
        let group = self.by_name.get_mut(&name).expect("a group that has a time");
        group.next = now + interval.mul_f64(1.0 + JITTER * (2.0 * random.unit() - 1.0));
        self.by_time.insert((group.next, name));
        Some(group.members.clone())
    }

    pub fn members(&self, name: &str) -> Option<&[usize]> {
        self.by_name.get(name).map(|group| &group.members[..])
    }

    /// When a group is observed anew.
    pub fn next_of(&self, name: &str) -> Option<Duration> {
        self.by_name.get(name).map(|group| group.next)
    }

    pub fn next(&self) -> Option<Duration> {
        self.by_time.first().map(|(next, _)| *next)
    }
}

/// From now to the first moment of a group: by its name somewhere in the interval, and at random by a tenth.
fn first(name: &str, interval: Duration, random: &mut Random) -> Duration {
    let slot = (Digest::of_bytes(name.as_bytes()).0 >> 75) as f64 / (1u64 << 53) as f64;
    interval.mul_f64((1.0 - JITTER) * slot + JITTER * random.unit())
}
