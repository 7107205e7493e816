//! What a run that goes on is done with: a watch has other use for it than to wait for the rest.

use std::collections::HashSet;

use super::super::identity::ObjectId;
use super::super::report::{Action, Entry};
use super::object::{Object, Phase};
use super::send::lane;
use super::{Engine, hidden, settle};

impl Engine {
    /// The entries of the objects that are settled for good and free of those that are not, in the order of the
    /// documents. Each is given once: the report leaves it out.
    ///
    /// Free is what nothing unsettled needs and what needs nothing unsettled, at first hand or at second, and whose
    /// writes need not wait for one that may be under way. The run looks at such an object no more, so another may.
    pub fn take_done(&mut self) -> Vec<Entry> {
        let bound = self.bound();
        let lanes: HashSet<_> = (self.objects.iter().filter(|object| is_open(object)))
            .filter_map(|object| Some((object.id.kind.backend.clone(), lane(object)?)))
            .collect();
        let is_in_turn = |object: &Object| {
            !lanes.is_empty()
                && lane(object).is_some_and(|lane| lanes.contains(&(object.id.kind.backend.clone(), lane)))
        };
        let is_done = |at: &usize| {
            let object = &self.objects[*at];
            !(bound[*at] || object.is_given || object.context || is_in_turn(object))
        };
        let done: Vec<usize> = (0..self.objects.len()).filter(is_done).collect();
        done.into_iter().map(|at| self.give(at)).collect()
    }

    /// The objects that were found otherwise than they are to be, and that the run is still at work on.
    pub fn at_work(&self) -> Vec<ObjectId> {
        let is_at_work =
            |object: &&Object| is_open(object) && !object.context && !matches!(object.action, Action::None);
        self.objects.iter().filter(is_at_work).map(|object| object.id.clone()).collect()
    }

    fn give(&mut self, at: usize) -> Entry {
        let own = if self.shows(at) { self.own_secrets(at) } else { Vec::new() };
        let object = &mut self.objects[at];
        object.is_given = true;
        hidden::without(settle::entry(object, self.now), own)
    }

    /// By the number of an object: whether it is unsettled, or hangs together with one that is.
    fn bound(&self) -> Vec<bool> {
        let open: Vec<usize> = (0..self.objects.len()).filter(|at| is_open(&self.objects[*at])).collect();
        let mut bound = self.reached(&open, |at, next| next.extend(self.objects[at].links.needs_at_last()));
        let below = self.reached(&open, |at, next| {
            let below = self.dependants[at].iter().chain(&self.children[at]);
            next.extend(below.chain(self.waiters.get(&at).into_iter().flatten()));
        });
        bound.iter_mut().zip(below).for_each(|(bound, below)| *bound |= below);
        bound
    }

    /// Those that are reached from these, themselves among them, by steps of one kind.
    fn reached(&self, from: &[usize], step: impl Fn(usize, &mut Vec<usize>)) -> Vec<bool> {
        let mut reached = vec![false; self.objects.len()];
        let mut next = from.to_vec();
        while let Some(at) = next.pop() {
            if !std::mem::replace(&mut reached[at], true) {
                step(at, &mut next);
            }
        }
        reached
    }
}

/// Whether the run is still at it, or comes again to it.
fn is_open(object: &Object) -> bool {
    !matches!(object.phase, Phase::Settled(_)) || (object.is_usable() && !object.later.is_empty())
}
