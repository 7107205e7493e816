//! Writes that wait for their turn, in the order in which they came: of a lane one at a time, and those that may
//! go in one request as one.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use super::super::identity::KindName;
use super::super::report::Action;
use super::super::value::Value;

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
    /// `None`: it goes alone.
    pub company: Option<Company>,
}

/// Which writes of one sort and lane may go in one request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Company {
    /// The values of the key's parts that are not the objects' own.
    pub parents: Vec<Value>,
    /// So many at most.
    pub most: usize,
}

/// Writes that go as one request; never empty, and all of one sort and lane.
pub type Bundle = Vec<Queued>;

#[derive(Debug, Default)]
pub struct Queue {
    /// Those that go as soon as there is room, by their sort and their arrival: of a lane one at most. No sort is empty.
    ready: BTreeMap<Sort, BTreeMap<u64, Bundle>>,
    /// By lane that has one ready or under way: those behind it.
    behind: HashMap<Lane, VecDeque<(u64, Bundle)>>,
    /// The arrival of the last bundle of a company, which may have room for another.
    open: HashMap<(Sort, Option<Lane>, Company), u64>,
    arrivals: u64,
}

impl Queue {
    pub fn push(&mut self, queued: Queued) {
        let company = queued.company.clone();
        let company = company.map(|company| (queued.sort.clone(), queued.lane.clone(), company));
        let open = company.as_ref().and_then(|company| self.open.get(company)).copied();
        if let Some(bundle) = open.and_then(|arrival| self.with_room(arrival, &queued)) {
            return bundle.push(queued);
        }
        self.arrivals += 1;
        if let Some(company) = company {
            self.open.insert(company, self.arrivals);
        }
        if let Some(lane) = &queued.lane {
            if let Some(behind) = self.behind.get_mut(lane) {
                return behind.push_back((self.arrivals, vec![queued]));
            }
            self.behind.insert(lane.clone(), VecDeque::new());
        }
        self.make_ready(self.arrivals, vec![queued]);
    }

    fn make_ready(&mut self, arrival: u64, bundle: Bundle) {
        let Some(first) = bundle.first() else { return };
        self.ready.entry(first.sort.clone()).or_default().insert(arrival, bundle);
    }

    /// The bundle of this arrival, if it still waits and has room for `queued`.
    fn with_room(&mut self, arrival: u64, queued: &Queued) -> Option<&mut Bundle> {
        let most = queued.company.as_ref()?.most;
        let ready = self.ready.get_mut(&queued.sort).and_then(|ready| ready.get_mut(&arrival));
        let bundle = match ready {
            Some(bundle) => bundle,
            None => {
                let behind = self.behind.get_mut(queued.lane.as_ref()?)?;
                &mut behind.iter_mut().rev().find(|(at, _)| *at == arrival)?.1
            }
        };
        (bundle.len() < most).then_some(bundle)
    }

    #[cfg(test)]
    fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    /// Whether there is a [`Queue::next`].
    pub fn has_next(&self, has_room: impl Fn(&Sort) -> bool) -> bool {
        self.ready.keys().any(has_room)
    }

    /// The sorts of which something may go.
    pub fn sorts(&self) -> impl Iterator<Item = &Sort> {
        self.ready.keys()
    }

    /// The next that may go of the sorts that have room, in order; those whose lane is busy are passed over.
    pub fn next(&mut self, has_room: impl Fn(&Sort) -> bool) -> Option<Bundle> {
        let free = self.ready.iter().filter(|(sort, _)| has_room(sort));
        let first = free.filter_map(|(sort, ready)| Some((ready.keys().next()?, sort)));
        let sort = first.min()?.1.clone();
        let ready = self.ready.get_mut(&sort)?;
        let (_, bundle) = ready.pop_first()?;
        if ready.is_empty() {
            self.ready.remove(&sort);
        }
        Some(bundle)
    }

    /// Lets the next of a lane go.
    pub fn free(&mut self, lane: Option<&Lane>) {
        let Some(lane) = lane else { return };
        match self.behind.get_mut(lane).and_then(VecDeque::pop_front) {
            Some((arrival, bundle)) => self.make_ready(arrival, bundle),
            None => {
                self.behind.remove(lane);
            }
        }
    }

    /// Takes the writes of a sort, or all of them, off the queue.
    pub fn withdraw(&mut self, sort: Option<&Sort>) -> Vec<Queued> {
        let goes = |bundle: &Bundle| sort.is_none_or(|sort| bundle.iter().any(|one| one.sort == *sort));
        let mut out = BTreeMap::new();
        for behind in self.behind.values_mut() {
            let (go, stay): (VecDeque<_>, _) =
                std::mem::take(behind).into_iter().partition(|(_, bundle)| goes(bundle));
            *behind = stay;
            out.extend(go);
        }
        let all = std::mem::take(&mut self.ready);
        let (go, stay): (BTreeMap<_, _>, _) =
            all.into_iter().partition(|(of, _)| sort.is_none_or(|sort| of == sort));
        self.ready = stay;
        let go: BTreeMap<u64, Bundle> = go.into_values().flatten().collect();
        for bundle in go.values() {
            self.free(bundle.first().and_then(|first| first.lane.as_ref()));
        }
        out.extend(go);
        out.into_values().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queued(object: usize, lane: Option<Lane>, company: Option<(&str, usize)>) -> Queued {
        let kind = KindName { backend: "b".into(), kind: "K".into() };
        let company = company.map(|(parent, most)| Company { parents: vec![parent.into()], most });
        Queued { object, collection: 0, sort: (kind, Action::Create), lane, company }
    }

    fn lane(zone: &str) -> Option<Lane> {
        Some(Some(("zone".into(), Value::from(zone))))
    }

    fn objects(bundle: &[Queued]) -> Vec<usize> {
        bundle.iter().map(|queued| queued.object).collect()
    }

    fn drain(queue: &mut Queue) -> Vec<Vec<usize>> {
        std::iter::from_fn(|| queue.next(|_| true)).map(|bundle| objects(&bundle)).collect()
    }

    #[test]
    fn a_lane_takes_one_at_a_time() {
        let mut queue = Queue::default();
        for (i, zone) in ["a", "a", "b", "a"].into_iter().enumerate() {
            queue.push(queued(i, lane(zone), None));
        }
        assert_eq!(drain(&mut queue), [[0], [2]]);
        queue.free(lane("a").as_ref());
        assert_eq!(drain(&mut queue), [[1]]);
    }

    #[test]
    fn a_sort_without_room_is_passed_over() {
        let mut queue = Queue::default();
        let delete = |object| {
            let mut queued = queued(object, None, None);
            queued.sort.1 = Action::Delete;
            queued
        };
        let all = [queued(0, None, None), delete(1), queued(2, None, None), delete(3)];
        all.into_iter().for_each(|one| queue.push(one));
        let next = |queue: &mut Queue, action| {
            let has_room = |sort: &Sort| action == Action::None || sort.1 == action;
            queue.next(has_room).map(|bundle| objects(&bundle))
        };
        assert_eq!(next(&mut queue, Action::Delete), Some(vec![1]));
        assert_eq!(next(&mut queue, Action::None), Some(vec![0]));
        assert_eq!(next(&mut queue, Action::Create), Some(vec![2]));
        assert_eq!(next(&mut queue, Action::Create), None);
        assert!(!queue.is_empty());
        assert_eq!(next(&mut queue, Action::None), Some(vec![3]));
        assert!(queue.is_empty());
    }

    #[test]
    fn what_is_withdrawn_frees_its_lane() {
        let all = || Some(None);
        let mut queue = Queue::default();
        let mut other = queued(1, all(), None);
        other.sort.1 = Action::Delete;
        queue.push(queued(0, all(), None));
        queue.push(other);
        queue.push(queued(2, all(), None));
        let sort = queued(0, None, None).sort;
        assert_eq!(objects(&queue.withdraw(Some(&sort))), [0, 2]);
        assert_eq!(drain(&mut queue), [[1]]);
    }

    #[test]
    fn company_goes_together_up_to_its_number() {
        let mut queue = Queue::default();
        for i in 0..7 {
            queue.push(queued(i, None, Some((["a", "b"][i % 2], 3))));
        }
        queue.push(queued(7, None, None));
        assert_eq!(drain(&mut queue), [vec![0, 2, 4], vec![1, 3, 5], vec![6], vec![7]]);
        queue.push(queued(8, None, Some(("a", 3))));
        queue.push(queued(9, None, Some(("a", 2))));
        assert_eq!(
            drain(&mut queue),
            [[8], [9]],
            "what has gone takes no more, and a smaller company is another"
        );
    }

    #[test]
    fn company_gathers_behind_its_lane_too() {
        let mut queue = Queue::default();
        queue.push(queued(0, lane("a"), None));
        (1..6).for_each(|i| queue.push(queued(i, lane("a"), Some(("a", 3)))));
        assert_eq!(drain(&mut queue), [[0]]);
        queue.free(lane("a").as_ref());
        assert_eq!(drain(&mut queue), [[1, 2, 3]]);
        queue.push(queued(6, lane("a"), Some(("a", 3))));
        assert_eq!(objects(&queue.withdraw(None)), [4, 5, 6]);
    }
}
