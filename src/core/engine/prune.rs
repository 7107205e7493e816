//! Deletions of what no document names. They come last: once everything else is settled, and not beside an object of
//! their Set of which nothing is known. Then kind by kind, children before their parents.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::super::identity::ObjectId;
use super::super::prune::{Proof, Rank};
use super::super::report::{Action, Explanation, Outcome};
use super::Engine;
use super::object::Phase;

/// Who waits for everything else, and in which order they go.
#[derive(Debug, Default)]
pub struct Pruning {
    /// Until they begin.
    waiting: Vec<usize>,
    /// How many of a rank are not settled.
    ranks: BTreeMap<Rank, usize>,
}

impl Engine {
    fn rank(&self, at: usize) -> Option<Rank> {
        self.objects[at].policy.pruned.as_ref().map(|pruned| pruned.rank)
    }

    /// Lets an object that no document names wait for all others.
    pub(super) fn gate_pruned(&mut self, at: usize) {
        if let Some(rank) = self.rank(at) {
            self.objects[at].unsettled_needs += 1;
            self.pruning.waiting.push(at);
            *self.pruning.ranks.entry(rank).or_default() += 1;
        }
    }

    /// Whether the deletion of `need` waits for the one of `at`. What a document wishes gone waits for no pruning,
    /// which comes after it.
    pub(super) fn holds(&self, at: usize, need: usize) -> bool {
        let comes_later = self.rank(at).is_some() && self.rank(need).is_none();
        self.objects[need].wanted_absent() && !comes_later
    }

    /// Begins, once nothing else is left to do. Whether it has begun just now.
    pub(super) fn begin_pruning(&mut self) -> bool {
        let blocked = |at: &&usize| self.objects[**at].outcome().is_none();
        let waiting = self.pruning.waiting.iter().filter(blocked).count();
        if waiting == 0 || self.unsettled > waiting + self.behind_pruned() {
            return false;
        }
        let (unknown, missing) = (self.unknown_by_set(), self.missing_by_replicas());
        for at in std::mem::take(&mut self.pruning.waiting) {
            let why = self.objects[at].policy.pruned.as_ref().and_then(|pruned| match pruned.proof {
                Proof::Replica(_) => missing.get(&pruned.set).map(|(id, why)| (id, *why)),
                _ => unknown.get(&pruned.set).map(|id| (id, "is unknown")),
            });
            match why {
                Some((id, why)) => {
                    let why = format!("nothing is deleted beside `{id}`, which {why}");
                    self.settle(at, Outcome::Skipped(Explanation::new(why)));
                }
                None => {
                    self.objects[at].unsettled_needs -= 1;
                    self.open_if_free(at);
                }
            }
        }
        true
    }

    /// By Set: an object of it of which neither presence nor absence could be proved.
    fn unknown_by_set(&self) -> HashMap<Arc<str>, ObjectId> {
        let unknown =
            self.objects.iter().filter(|object| matches!(object.outcome(), Some(Outcome::Unknown(_))));
        let of_set = |object: &super::object::Object| {
            object.policy.member.as_ref().map(|member| (member.set.clone(), object.id.clone()))
        };
        unknown.filter_map(of_set).collect()
    }

    /// By ReplicaSet: an object of it that is not known to be there although it is wanted. What is too much stays until
    /// all that is too little is there.
    fn missing_by_replicas(&self) -> HashMap<Arc<str>, (ObjectId, &'static str)> {
        let missing = self.objects.iter().filter_map(|object| {
            let replica = object.policy.replica.as_ref().filter(|_| !object.context)?;
            let lacks = !object.wanted_absent() && matches!(object.action, Action::Create | Action::Replace);
            let why = match object.outcome()? {
                Outcome::Unknown(_) => "is unknown",
                Outcome::InSync | Outcome::Planned | Outcome::Done | Outcome::Applied => return None,
                _ if lacks => "is missing",
                _ => return None,
            };
            Some((replica.of.clone(), (object.id.clone(), why)))
        });
        missing.collect()
    }

    /// Whether others of the pruning go before this object.
    pub(super) fn waits_its_turn(&self, at: usize) -> bool {
        let first = self.pruning.ranks.last_key_value().map(|(rank, _)| *rank);
        self.rank(at).is_some_and(|rank| first.is_some_and(|first| rank < first))
    }

    /// An object is settled: those of the next rank go, where it was the last of its own.
    pub(super) fn end_turn(&mut self, at: usize) {
        let Some(rank) = self.rank(at) else { return };
        let Some(left) = self.pruning.ranks.get_mut(&rank) else { return };
        *left -= 1;
        if *left > 0 {
            return;
        }
        self.pruning.ranks.remove(&rank);
        let held = |at: &usize| {
            let object = &self.objects[*at];
            matches!(object.phase, Phase::Held) && object.policy.pruned.is_some() && object.holders == 0
        };
        let held: Vec<usize> = (0..self.objects.len()).filter(held).collect();
        for at in held {
            if !self.waits_its_turn(at) {
                self.release(at);
            }
        }
    }
}
