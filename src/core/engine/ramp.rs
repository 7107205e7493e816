//! Slow start of writes, one ramp for each backend: the first write goes alone, each success makes room for
//! two, and a run of like writes that only fails is stopped. One bad template then costs a few failed writes,
//! not ten thousand (the slow start of Kubernetes' ReplicaSet controller).

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::super::identity::KindName;
use super::super::report::Action;
use super::super::value::Value;
use super::breaker::Breaker;

/// Three batches, of one, two and four: so many like failures with no success between them end a run of like writes.
const LIKE_FAILURES: u32 = 7;

/// Writes of one kind with one action.
pub type Sort = (KindName, Action);

/// The scope in which writes go one at a time: the kind's part and its value, or the whole backend.
pub type Lane = Option<(Arc<str>, Value)>;

/// A write that waits for its turn.
#[derive(Clone, Debug)]
pub struct Queued {
    pub object: usize,
    /// The collection that counts it among its writers.
    pub collection: usize,
    pub sort: Sort,
    /// `None`: it may go beside any other.
    pub lane: Option<Lane>,
}

#[derive(Debug)]
pub struct Ramp {
    /// Those that go as soon as there is room, by their arrival: of a lane one at most.
    ready: BTreeMap<u64, Queued>,
    /// By lane that has one ready or under way: those behind it.
    behind: HashMap<Lane, VecDeque<(u64, Queued)>>,
    arrivals: u64,
    in_flight: usize,
    window: usize,
    most: usize,
    streaks: HashMap<Sort, (String, u32)>,
    /// By lane: when its last write was answered, in the engine's own count.
    answered: HashMap<Lane, u64>,
    /// Holds all writes while the backend is away.
    pub breaker: Breaker,
}

impl Ramp {
    /// A ramp that never has more than `most` writes under way.
    pub fn new(most: usize) -> Ramp {
        Ramp {
            ready: BTreeMap::new(),
            behind: HashMap::new(),
            arrivals: 0,
            in_flight: 0,
            window: 1,
            most: most.max(1),
            streaks: HashMap::new(),
            answered: HashMap::new(),
            breaker: Breaker::default(),
        }
    }

    pub fn push(&mut self, queued: Queued) {
        self.arrivals += 1;
        if let Some(lane) = &queued.lane {
            if let Some(behind) = self.behind.get_mut(lane) {
                return behind.push_back((self.arrivals, queued));
            }
            self.behind.insert(lane.clone(), VecDeque::new());
        }
        self.ready.insert(self.arrivals, queued);
    }

    /// The next write that may go, in order; those whose lane is busy are passed over.
    pub fn next(&mut self, now: Duration) -> Option<Queued> {
        if self.in_flight >= self.window {
            return None;
        }
        if self.ready.is_empty() || !self.breaker.admits(now) {
            return None;
        }
        let (_, queued) = self.ready.pop_first()?;
        self.in_flight += 1;
        Some(queued)
    }

    /// Lets the next of a lane go.
    fn free(&mut self, lane: Option<&Lane>) {
        let Some(lane) = lane else { return };
        match self.behind.get_mut(lane).and_then(VecDeque::pop_front) {
            Some((arrival, queued)) => {
                self.ready.insert(arrival, queued);
            }
            None => {
                self.behind.remove(lane);
            }
        }
    }

    /// A write was answered at `count`; it may have been done.
    pub fn answered(&mut self, queued: &Queued, count: u64) {
        if let Some(lane) = &queued.lane {
            self.answered.insert(lane.clone(), count);
        }
    }

    /// Whether a write of the same lane was answered after `seen_at`.
    pub fn has_moved(&self, queued: &Queued, seen_at: u64) -> bool {
        let answered = queued.lane.as_ref().and_then(|lane| self.answered.get(lane));
        answered.is_some_and(|count| *count > seen_at)
    }

    /// A write came back well.
    pub fn succeeded(&mut self, queued: &Queued) {
        self.finished(queued);
        self.window = (self.window + 1).min(self.most);
        self.streaks.remove(&queued.sort);
    }

    /// A write failed in a way that repeating it would not mend. Returns whether its like should be stopped.
    pub fn failed(&mut self, queued: &Queued, message: &str) -> bool {
        self.finished(queued);
        let streak = self.streaks.entry(queued.sort.clone()).or_insert_with(|| (message.to_owned(), 0));
        if streak.0 == message {
            streak.1 += 1;
        } else {
            *streak = (message.to_owned(), 1);
        }
        streak.1 >= LIKE_FAILURES
    }

    /// Whether writes of a sort are tried no more.
    pub fn is_stopped(&self, sort: &Sort) -> bool {
        self.streaks.get(sort).is_some_and(|(_, failures)| *failures >= LIKE_FAILURES)
    }

    /// A write ended without telling anything of its like.
    pub fn finished(&mut self, queued: &Queued) {
        self.in_flight -= 1;
        self.free(queued.lane.as_ref());
    }

    /// A write that was handed out was not sent.
    pub fn unused(&mut self, queued: &Queued) {
        self.finished(queued);
        self.breaker.unused();
    }

    /// Takes the writes of a sort, or all of them, off the queue.
    pub fn withdraw(&mut self, sort: Option<&Sort>) -> Vec<Queued> {
        let goes = |queued: &Queued| sort.is_none_or(|sort| queued.sort == *sort);
        let mut out = BTreeMap::new();
        for behind in self.behind.values_mut() {
            let (go, stay): (VecDeque<_>, _) =
                std::mem::take(behind).into_iter().partition(|(_, queued)| goes(queued));
            *behind = stay;
            out.extend(go);
        }
        let (go, stay): (BTreeMap<_, _>, _) =
            std::mem::take(&mut self.ready).into_iter().partition(|(_, queued)| goes(queued));
        self.ready = stay;
        for queued in go.values() {
            self.free(queued.lane.as_ref());
        }
        out.extend(go);
        out.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queued(object: usize, lane: Option<Lane>) -> Queued {
        let kind = KindName { backend: "b".into(), kind: "K".into() };
        Queued { object, collection: 0, sort: (kind, Action::Create), lane }
    }

    fn take(ramp: &mut Ramp) -> Vec<usize> {
        std::iter::from_fn(|| ramp.next(Duration::ZERO)).map(|q| q.object).collect()
    }

    #[test]
    fn it_starts_slowly_and_doubles() {
        let mut ramp = Ramp::new(6);
        (0..20).for_each(|i| ramp.push(queued(i, None)));
        assert_eq!(take(&mut ramp), [0]);
        ramp.succeeded(&queued(0, None));
        assert_eq!(take(&mut ramp), [1, 2]);
        ramp.succeeded(&queued(1, None));
        ramp.succeeded(&queued(2, None));
        assert_eq!(take(&mut ramp), [3, 4, 5, 6]);
        (3..7).for_each(|i| ramp.succeeded(&queued(i, None)));
        assert_eq!(take(&mut ramp).len(), 6, "never more than the most");
    }

    #[test]
    fn like_failures_stop_the_run_and_a_success_between_does_not() {
        let mut ramp = Ramp::new(4);
        (0..20).for_each(|i| ramp.push(queued(i, None)));
        let one = |ramp: &mut Ramp| ramp.next(Duration::ZERO).expect("one is free");
        for _ in 1..LIKE_FAILURES {
            let q = one(&mut ramp);
            assert!(!ramp.failed(&q, "422"));
        }
        let q = one(&mut ramp);
        ramp.succeeded(&q);
        for n in 1..=LIKE_FAILURES {
            let q = one(&mut ramp);
            assert_eq!(ramp.failed(&q, "422"), n == LIKE_FAILURES);
        }
        let done = 2 * LIKE_FAILURES as usize;
        assert_eq!(ramp.withdraw(Some(&queued(0, None).sort)).len(), 20 - done);
    }

    #[test]
    fn a_lane_takes_one_at_a_time() {
        let lane = |zone: &str| Some(Some(("zone".into(), Value::from(zone))));
        let mut ramp = Ramp::new(8);
        ramp.window = 8;
        for (i, zone) in ["a", "a", "b", "a"].into_iter().enumerate() {
            ramp.push(queued(i, lane(zone)));
        }
        assert_eq!(take(&mut ramp), [0, 2]);
        ramp.succeeded(&queued(0, lane("a")));
        assert_eq!(take(&mut ramp), [1]);
    }

    #[test]
    fn what_is_withdrawn_frees_its_lane() {
        let lane = || Some(None);
        let mut ramp = Ramp::new(8);
        ramp.window = 8;
        let mut other = queued(1, lane());
        other.sort.1 = Action::Delete;
        ramp.push(queued(0, lane()));
        ramp.push(other);
        ramp.push(queued(2, lane()));
        let sort = queued(0, None).sort;
        let withdrawn: Vec<usize> = ramp.withdraw(Some(&sort)).iter().map(|q| q.object).collect();
        assert_eq!(withdrawn, [0, 2]);
        assert_eq!(take(&mut ramp), [1]);
    }
}
