//! Before the start: who takes part, who waits for whom, what is wanted of listings, and what was agreed to.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::super::identity::{Key, KindName, ObjectId};
use super::super::report::{Action, Entry, Outcome, Report};
use super::Engine;
use super::look::Sight;
use super::object::{Agreed, Phase};

impl Engine {
    /// Context that no selected object needs takes no part: it is settled before the start.
    pub(super) fn leave_out_the_unneeded(&mut self) {
        let mut needed: Vec<bool> = self.objects.iter().map(|object| !object.context).collect();
        for at in self.may_have_what_is_taken() {
            needed[at] = true;
        }
        let mut next: Vec<usize> = (0..needed.len()).filter(|&at| needed[at]).collect();
        while let Some(at) = next.pop() {
            let links = &self.objects[at].links;
            for need in links.needs().into_iter().chain(links.later.iter().copied()) {
                if !std::mem::replace(&mut needed[need], true) {
                    next.push(need);
                }
            }
        }
        for (object, needed) in self.objects.iter_mut().zip(needed) {
            if needed {
                self.unsettled += 1;
            } else {
                object.phase = Phase::Settled(Outcome::InSync);
            }
        }
    }

    /// Who is right below whom, whatever was selected: what is not written is protected all the same.
    pub(super) fn set_children(&mut self) {
        for at in 0..self.objects.len() {
            let parents: BTreeSet<usize> =
                self.objects[at].links.parents.iter().map(|(_, parent)| *parent).collect();
            parents.into_iter().for_each(|parent| self.children[parent].push(at));
        }
    }

    /// What is to be there waits until what it needs is settled, and so does what goes with a parent. Whatever
    /// else is to go waits only until its parents are seen, and its deletion until what needs it is gone.
    pub(super) fn set_gates(&mut self) {
        for at in 0..self.objects.len() {
            if self.objects[at].outcome().is_some() {
                continue;
            }
            self.objects[at].with_parent = self.goes_with_parent(at);
            let goes_first = self.objects[at].goes_first();
            self.gate_pruned(at);
            for need in self.objects[at].links.needs() {
                self.dependants[need].push(at);
                if goes_first {
                    self.objects[at].unseen_needs += 1;
                    if self.holds(at, need) {
                        self.objects[need].holders += 1;
                    }
                } else {
                    self.objects[at].unsettled_needs += 1;
                }
            }
        }
    }

    pub(super) fn set_wanted(&mut self) {
        let mut wanted: HashMap<KindName, HashSet<Key>> = HashMap::new();
        for (at, object) in self.objects.iter().enumerate().filter(|(_, object)| object.outcome().is_none()) {
            let keys = wanted.entry(object.id.kind.clone()).or_default();
            keys.insert(object.id.key.clone());
            keys.extend(self.key_below_former(at));
        }
        self.wanted = wanted.into_iter().map(|(kind, keys)| (kind, Arc::new(keys))).collect();
    }

    pub(super) fn agree(&mut self, report: &Report) {
        let mut agreed: HashMap<&ObjectId, &Entry> = report.objects.iter().map(|e| (&e.id, e)).collect();
        for object in &mut self.objects {
            let entry = agreed.remove(&object.id);
            object.agreed = entry.map(|entry| Agreed {
                unseen: entry.action == Action::None
                    && matches!(entry.result, Outcome::Unknown(_) | Outcome::Skipped(_)),
                sight: Sight { uid: entry.observed.uid.clone(), look: entry.observed.look },
                along: entry.observed.along.iter().cloned().collect(),
                ..Agreed::to(entry.action, &entry.changes)
            });
        }
    }
}
