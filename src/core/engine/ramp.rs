//! Slow start of writes: of those of one kind with one action the first goes alone, each success makes room for
//! two, and a run of like writes that only fails is stopped. One bad template then costs a few failed writes,
//! not ten thousand (the slow start of Kubernetes' ReplicaSet controller). Other writes to the backend begin by
//! themselves: a create does not wait for an update that the server takes long for. Nor do its like for ever: each second
//! without an answer one more goes.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use super::breaker::Breaker;
use super::queue::{Bundle, Lane, Queue, Queued, Sort};

/// Three batches, of one, two and four: so many like failures with no success between them end a run of like writes.
const LIKE_FAILURES: u32 = 7;

/// What waits for the answers of its like waits no longer than this for the next one of them.
const SLOW: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Ramp {
    queue: Queue,
    /// Of all sorts.
    in_flight: usize,
    most: usize,
    starts: HashMap<Sort, Start>,
    streaks: HashMap<Sort, (String, u32)>,
    /// By lane: when its last write was answered, in the engine's own count; it may have been done.
    answered: HashMap<Lane, u64>,
    /// Lanes whose writes rest on one version: each makes what was read for the others old.
    shared: HashSet<Lane>,
    /// Refusals of several writes at once, with no success between them.
    refusals: HashMap<Sort, u32>,
    /// The last time of which it was told that one more may go.
    told: Option<Duration>,
    /// Holds all writes while the backend is away.
    pub breaker: Breaker,
}

/// How far the writes of one sort have come.
#[derive(Clone, Copy, Debug)]
struct Start {
    in_flight: usize,
    window: usize,
    /// When the last one went.
    went: Duration,
}

impl Default for Start {
    fn default() -> Start {
        Start { in_flight: 0, window: 1, went: Duration::ZERO }
    }
}

impl Start {
    fn has_room(&self, now: Duration) -> bool {
        self.in_flight < self.window || now >= self.went + SLOW
    }
}

impl Ramp {
    /// A ramp that never has more than `most` writes under way.
    pub fn new(most: usize) -> Ramp {
        Ramp {
            queue: Queue::default(),
            in_flight: 0,
            most: most.max(1),
            starts: HashMap::new(),
            streaks: HashMap::new(),
            answered: HashMap::new(),
            shared: HashSet::new(),
            refusals: HashMap::new(),
            told: None,
            breaker: Breaker::default(),
        }
    }

    pub fn push(&mut self, queued: Queued) {
        self.queue.push(queued);
    }

    /// What goes next as one request, if there is room.
    pub fn next(&mut self, now: Duration) -> Option<Bundle> {
        let starts = &self.starts;
        let has_room = |sort: &Sort| starts.get(sort).is_none_or(|start| start.has_room(now));
        if self.in_flight >= self.most || !self.queue.has_next(has_room) || !self.breaker.admits(now) {
            return None;
        }
        let bundle = self.queue.next(has_room)?;
        self.in_flight += 1;
        let start = self.starts.entry(bundle.first()?.sort.clone()).or_default();
        (start.in_flight, start.went) = (start.in_flight + 1, now);
        Some(bundle)
    }

    /// When the next may go though none of its like is answered by then; told once.
    pub fn opens(&mut self) -> Option<Duration> {
        if self.in_flight >= self.most {
            return None;
        }
        let opens =
            self.queue.sorts().filter_map(|sort| self.starts.get(sort)).map(|start| start.went + SLOW);
        let opens = opens.min().filter(|at| self.told.is_none_or(|told| told < *at))?;
        self.told = Some(opens);
        Some(opens)
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

    /// A write was refused at a version that one of the same lane may have moved.
    pub fn shares_version(&mut self, queued: &Queued) {
        self.shared.extend(queued.lane.clone());
    }

    /// Whether what was read at `seen_at` is old for a write that rests on a version of its lane.
    pub fn is_outdated(&self, queued: &Queued, seen_at: u64) -> bool {
        let shared = queued.lane.as_ref().is_some_and(|lane| self.shared.contains(lane));
        shared && self.has_moved(queued, seen_at)
    }

    /// A write came back well.
    pub fn succeeded(&mut self, queued: &Queued) {
        self.began(queued);
        self.over(queued);
    }

    /// A write came back well, and the server is still at it: the next of its lane waits for its end.
    pub fn began(&mut self, queued: &Queued) {
        let most = self.most;
        let start = self.is_back(queued);
        start.window = (start.window + 1).min(most);
        self.streaks.remove(&queued.sort);
        self.refusals.remove(&queued.sort);
    }

    /// The server has come to the end of a write.
    pub fn over(&mut self, queued: &Queued) {
        self.queue.free(queued.lane.as_ref());
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

    /// Several writes were refused at once, which says of none that it was the cause. Returns whether it is time
    /// to stop looking for it by halves: after a row of refusals each goes alone.
    pub fn refused_together(&mut self, queued: &Queued) -> bool {
        self.finished(queued);
        let refusals = self.refusals.entry(queued.sort.clone()).or_default();
        *refusals += 1;
        *refusals >= LIKE_FAILURES
    }

    /// Whether writes of a sort are tried no more.
    pub fn is_stopped(&self, sort: &Sort) -> bool {
        self.streaks.get(sort).is_some_and(|(_, failures)| *failures >= LIKE_FAILURES)
    }

    /// A write ended without telling anything of its like.
    pub fn finished(&mut self, queued: &Queued) {
        self.is_back(queued);
        self.queue.free(queued.lane.as_ref());
    }

    fn is_back(&mut self, queued: &Queued) -> &mut Start {
        self.in_flight -= 1;
        let start = self.starts.entry(queued.sort.clone()).or_default();
        start.in_flight -= 1;
        start
    }

    /// A write that was handed out was not sent.
    pub fn unused(&mut self, queued: &Queued) {
        self.finished(queued);
        self.breaker.unused();
    }

    /// Takes the writes of a sort, or all of them, off the queue.
    pub fn withdraw(&mut self, sort: Option<&Sort>) -> Vec<Queued> {
        self.queue.withdraw(sort)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::identity::KindName;
    use super::super::super::report::Action;
    use super::*;

    fn queued(object: usize) -> Queued {
        let kind = KindName { backend: "b".into(), kind: "K".into() };
        Queued { object, collection: 0, sort: (kind, Action::Create), lane: None, company: None }
    }

    fn take(ramp: &mut Ramp) -> Vec<usize> {
        std::iter::from_fn(|| ramp.next(Duration::ZERO)).map(|bundle| bundle[0].object).collect()
    }

    #[test]
    fn it_starts_slowly_and_doubles() {
        let mut ramp = Ramp::new(6);
        (0..20).for_each(|i| ramp.push(queued(i)));
        assert_eq!(take(&mut ramp), [0]);
        ramp.succeeded(&queued(0));
        assert_eq!(take(&mut ramp), [1, 2]);
        ramp.succeeded(&queued(1));
        ramp.succeeded(&queued(2));
        assert_eq!(take(&mut ramp), [3, 4, 5, 6]);
        (3..7).for_each(|i| ramp.succeeded(&queued(i)));
        assert_eq!(take(&mut ramp).len(), 6, "never more than the most");
    }

    #[test]
    fn each_sort_starts_by_itself_and_all_of_them_have_one_limit() {
        let update = |object| {
            let mut queued = queued(object);
            queued.sort.1 = Action::Update;
            queued
        };
        let mut ramp = Ramp::new(4);
        (0..10).for_each(|i| ramp.push(update(i)));
        (10..20).for_each(|i| ramp.push(queued(i)));
        assert_eq!(take(&mut ramp), [0, 10]);
        ramp.succeeded(&queued(10));
        assert_eq!(take(&mut ramp), [11, 12], "the update is under way");
        ramp.succeeded(&queued(11));
        assert_eq!(take(&mut ramp), [13, 14], "four at once, of all sorts");
        ramp.failed(&update(0), "422");
        assert_eq!(take(&mut ramp), [1], "a failure makes no room");
    }

    #[test]
    fn what_takes_long_lets_one_more_of_its_like_go_each_second() {
        let at = |ramp: &mut Ramp, tenths: u64| {
            let now = Duration::from_millis(100 * tenths);
            std::iter::from_fn(|| ramp.next(now)).map(|bundle| bundle[0].object).collect::<Vec<_>>()
        };
        let mut ramp = Ramp::new(3);
        (0..9).for_each(|i| ramp.push(queued(i)));
        assert_eq!(at(&mut ramp, 5), [0]);
        assert_eq!(ramp.opens(), Some(Duration::from_millis(1500)));
        assert_eq!(ramp.opens(), None, "told once");
        assert_eq!(at(&mut ramp, 14), [0; 0]);
        assert_eq!(at(&mut ramp, 15), [1]);
        assert_eq!(ramp.opens(), Some(Duration::from_millis(2500)));
        assert_eq!(at(&mut ramp, 25), [2]);
        assert_eq!((at(&mut ramp, 99), ramp.opens()), (Vec::new(), None), "never more than the most");
        ramp.succeeded(&queued(0));
        assert_eq!(at(&mut ramp, 99), [3]);
    }

    #[test]
    fn like_failures_stop_the_run_and_a_success_between_does_not() {
        let mut ramp = Ramp::new(4);
        (0..20).for_each(|i| ramp.push(queued(i)));
        let one = |ramp: &mut Ramp| ramp.next(Duration::ZERO).expect("one is free").remove(0);
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
        assert_eq!(ramp.withdraw(Some(&queued(0).sort)).len(), 20 - done);
    }
}
