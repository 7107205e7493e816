//! Who leads: of several instances one acts, and another follows when that one has fallen silent.
//!
//! A lease is an object with the holder's name and a stamp that changes with each renewal. It is written under a
//! condition, so of two that take it at once one is refused, and counts only once it was read back. No two clocks are
//! ever compared: a lease may be taken from its holder when *this* instance has seen it unchanged for its whole
//! duration, and the holder stops acting a third before that, by its own clock, if it could not renew. Wall clocks may
//! step as they like.
//!
//! This is an optimisation. A process that is held up between its last look at the clock and a write may still write
//! while another leads, and only the preconditions of the writes themselves, which each object has, make that harmless.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::super::engine::random::Random;
use super::super::lease::Record;

/// How leases are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// A lease that was not renewed for so long may be taken.
    pub duration: Duration,
    /// A holder that could not renew for so long acts no more.
    pub renew: Duration,
    /// How often is looked and renewed, at least; up to a fifth later.
    pub retry: Duration,
}

impl Default for Times {
    /// Those of the field (client-go).
    fn default() -> Times {
        let seconds = Duration::from_secs;
        Times { duration: seconds(15), renew: seconds(10), retry: seconds(2) }
    }
}

impl Times {
    /// The same proportions for another duration.
    pub fn of(duration: Duration) -> Times {
        Times { duration, renew: duration * 2 / 3, retry: duration * 2 / 15 }
    }
}

const JITTER: f64 = 0.2;
/// Another's clock is slower than this one's by less.
const SLOW: f64 = 1.1;
/// A record that claims to be good for longer than this is not believed.
const LONGEST: Duration = Duration::from_secs(10 * 60);

/// What a look at the lease showed.
#[derive(Clone, Debug, PartialEq)]
pub enum Looked {
    /// There is no such object.
    Nothing,
    Found(Record),
    /// It could not be seen.
    Unknown,
}

/// What is to be written, under the condition that the object is as it was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    pub record: Record,
    /// The object is to be made.
    pub creates: bool,
}

/// One lease, as one instance sees it.
#[derive(Clone, Debug)]
struct Lease {
    /// What it says, and since when this instance knows it so.
    seen: Option<(Record, Duration)>,
    /// What this instance wrote last, and when it began to send it.
    sent: Option<(Record, Duration)>,
    /// Until when this instance may act by it.
    until: Option<Duration>,
    /// When the last look that showed anything began.
    looked: Option<Duration>,
}

/// The leases of a group of instances, as one of them sees them: one, or one for each shard.
///
/// An instance holds one lease at most. With one lease there is a leader and followers; with several each holder has a
/// share of the objects ([`super::shard`]).
#[derive(Clone, Debug)]
pub struct Leases {
    /// This instance, by a name that no other has or had.
    me: Arc<str>,
    times: Times,
    slots: Vec<Lease>,
    /// Of the slots the one that is claimed or held.
    mine: Option<usize>,
    /// Since when one is held without a gap.
    since: Option<Duration>,
    /// One was claimed in this round that was not held: it is to be read back at once.
    fresh: bool,
    leaving: bool,
    next: Duration,
    random: Random,
}

impl Leases {
    pub fn new(me: Arc<str>, slots: usize, times: Times, seed: u64) -> Leases {
        let slot = Lease { seen: None, sent: None, until: None, looked: None };
        let random = Random::new(seed);
        let slots = vec![slot; slots.max(1)];
        Leases {
            me,
            times,
            slots,
            mine: None,
            since: None,
            fresh: false,
            leaving: false,
            next: Duration::ZERO,
            random,
        }
    }

    /// Whether this is the name of this instance.
    pub fn is_me(&self, holder: &str) -> bool {
        *self.me == *holder
    }

    /// How many leases there are.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// When to look at all of them again.
    pub fn next(&self) -> Duration {
        self.next
    }

    /// Which lease this instance holds, by what it last made sure of; `None` where it must not act.
    pub fn holds(&self, now: Duration) -> Option<usize> {
        let until = self.mine.and_then(|slot| self.slots[slot].until);
        self.mine.filter(|_| until.is_some_and(|until| now < until))
    }

    /// The same, where objects are shared: others write what is this one's share by now until they have seen that it is
    /// there. Each of them acts only while it has looked at all leases within the time of a renewal, so after that
    /// time this one may.
    pub fn acts(&self, now: Duration) -> Option<usize> {
        let mine = self.holds(now)?;
        let fresh = |lease: &Lease| lease.looked.is_some_and(|at| now < at + self.times.renew);
        let sees_all = self.slots.len() == 1 || self.slots.iter().all(fresh);
        (sees_all && self.settles(now).is_none()).then_some(mine)
    }

    /// When the others have seen that this instance holds a lease, while that is still to come.
    pub fn settles(&self, now: Duration) -> Option<Duration> {
        self.holds(now).filter(|_| self.slots.len() > 1)?;
        let at = self.since? + self.times.renew.mul_f64(SLOW);
        Some(at).filter(|at| now < *at)
    }

    /// Until when this instance may act, if nothing more comes.
    pub fn until(&self) -> Option<Duration> {
        self.mine.and_then(|slot| self.slots[slot].until)
    }

    /// The leases that somebody holds and has renewed in time, as far as this instance has seen.
    pub fn live(&self, now: Duration) -> BTreeSet<usize> {
        let is_live = |slot: &usize| match self.mine == Some(*slot) {
            true => self.holds(now).is_some(),
            false => self.slots[*slot].seen.as_ref().is_some_and(|(record, since)| {
                !record.holder.is_empty() && now < *since + self.times.wait(record)
            }),
        };
        (0..self.slots.len()).filter(is_live).collect()
    }

    /// Who holds a lease, as it was seen last.
    pub fn holder(&self, slot: usize) -> Option<&str> {
        let (record, _) = self.slots[slot].seen.as_ref()?;
        Some(&*record.holder).filter(|holder| !holder.is_empty())
    }

    /// A lease was looked at: `asked` is when the look began, `stamp` a text that was not used before. Gives what is to
    /// be written now; [`Leases::refused`] is told if it was not taken.
    pub fn looked(
        &mut self,
        slot: usize,
        asked: Duration,
        now: Duration,
        looked: Looked,
        stamp: &str,
    ) -> Option<Claim> {
        let record = match looked {
            Looked::Unknown => return None,
            Looked::Nothing => None,
            Looked::Found(record) => Some(record),
        };
        if self.holds(now).is_none() {
            self.since = None;
        }
        self.slots[slot].looked = Some(asked);
        let is_mine = record.as_ref().is_some_and(|record| record.holder == self.me);
        let lease = &mut self.slots[slot];
        match &record {
            Some(record) if lease.seen.as_ref().is_none_or(|(seen, _)| seen != record) => {
                lease.seen = Some((record.clone(), now));
            }
            Some(_) => {}
            None => lease.seen = None,
        }
        if is_mine {
            // A stamp is one write's: other fields need not be kept by every kind.
            let same = |sent: &Record| record.as_ref().is_some_and(|record| record.renewed == sent.renewed);
            let sent = lease.sent.as_ref().filter(|(sent, _)| same(sent));
            let until = sent.map(|(_, at)| *at + self.times.renew);
            lease.until = lease.until.max(until);
            let holds = self.mine == Some(slot) && lease.until.is_some_and(|until| now < until);
            if holds {
                self.since.get_or_insert(now);
            }
            // Read back just now: it is soon enough at the next round.
            if sent.is_some_and(|(_, at)| now < *at + self.times.retry / 2) {
                return None;
            }
        } else {
            // Another's, or nobody's: whatever was made sure of before.
            (lease.until, lease.sent) = (None, None);
            if self.mine == Some(slot) {
                self.mine = None;
            }
        }
        if self.leaving || self.mine.is_some_and(|mine| mine != slot) {
            return None;
        }
        let free = match &lease.seen {
            None => true,
            Some((record, _)) if is_mine || record.holder.is_empty() => true,
            Some((record, since)) => asked >= *since + self.times.wait(record),
        };
        free.then(|| self.claim(slot, now, record, stamp))
    }

    fn claim(&mut self, slot: usize, now: Duration, before: Option<Record>, stamp: &str) -> Claim {
        let creates = before.is_none();
        let before = before.unwrap_or_default();
        let stays = before.holder == self.me;
        let record = Record {
            holder: self.me.clone(),
            renewed: stamp.into(),
            acquired: if stays { before.acquired } else { stamp.into() },
            duration: Some(self.times.duration),
            transitions: before.transitions + u64::from(!stays && !creates),
        };
        self.fresh |= self.holds(now).is_none();
        self.mine = Some(slot);
        self.slots[slot].sent = Some((record.clone(), now));
        Claim { record, creates }
    }

    /// What was to be written was not taken: somebody else was faster.
    pub fn refused(&mut self, slot: usize, now: Duration) {
        self.slots[slot].sent = None;
        if self.mine == Some(slot) && self.holds(now).is_none() {
            self.mine = None;
        }
    }

    /// All leases were looked at, and what was to be written was sent.
    pub fn looked_at_all(&mut self, now: Duration) {
        if std::mem::take(&mut self.fresh) && self.mine.is_some() {
            self.next = now;
            return;
        }
        let retry = self.times.retry.mul_f64(1.0 + JITTER * self.random.unit());
        let ends =
            |lease: &Lease| lease.seen.as_ref().map(|(record, since)| *since + self.times.wait(record));
        let free = self.slots.iter().filter_map(ends).filter(|at| self.mine.is_none() && *at > now).min();
        self.next = free.map_or(now + retry, |free| free.min(now + retry));
    }

    /// This instance ends: from now on it acts no more. What is to be written so that another need not wait, if it
    /// holds one.
    pub fn leave(&mut self, now: Duration, stamp: &str) -> Option<(usize, Claim)> {
        self.leaving = true;
        let slot = self.holds(now);
        let mine = self.mine.take();
        if let Some(mine) = mine {
            (self.slots[mine].until, self.slots[mine].sent) = (None, None);
        }
        let (record, _) = self.slots[slot?].seen.as_ref()?;
        let record = Record { holder: Arc::default(), renewed: stamp.into(), ..record.clone() };
        Some((slot?, Claim { record, creates: false }))
    }
}

impl Times {
    /// For how long a record is to be seen unchanged before another may take it.
    fn wait(&self, record: &Record) -> Duration {
        record.duration.unwrap_or_default().min(LONGEST).max(self.duration)
    }
}

#[cfg(test)]
#[path = "lease_tests.rs"]
mod tests;
