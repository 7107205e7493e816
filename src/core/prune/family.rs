//! Parents and children of what is too much: nothing goes that has below it what stays. Here this is told of what the
//! sweep has listed; the engine looks below each object that is left to go, by the rule of [`super::super::family`].

use std::collections::{HashMap, HashSet};

use super::super::document::Ensure;
use super::super::family::stays_for;
use super::super::graph::parent_id;
use super::super::identity::{KindName, ObjectId};
use super::super::kind::{Kind, Kinds, Parent};
use super::super::report::Explanation;
use super::{Candidate, Known};

/// What holds a candidate: objects below it, or above it.
pub struct Family {
    /// By an object: one below it that stays.
    below: HashMap<ObjectId, ObjectId>,
    /// By a candidate: an object above it that a document wishes gone.
    above: HashMap<ObjectId, ObjectId>,
}

impl Family {
    pub fn of(candidates: &[Candidate], known: &Known) -> Family {
        let absent = known.documents.iter().filter(|document| document.policy.ensure == Ensure::Absent);
        let absent: HashSet<&ObjectId> = absent.map(|document| &document.id).collect();
        let (mut below, mut above) = (HashMap::new(), HashMap::new());
        for candidate in candidates {
            let ancestors = ancestors(&candidate.id, known.kinds);
            if let Some(parent) = ancestors.iter().find(|id| absent.contains(id)) {
                above.insert(candidate.id.clone(), parent.clone());
            }
            if candidate.verdict.is_err() && candidate.holds {
                below.extend(ancestors.into_iter().map(|ancestor| (ancestor, candidate.id.clone())));
            }
        }
        Family { below, above }
    }

    /// Keeps what cannot go.
    pub fn hold(&self, candidates: &mut [Candidate]) {
        for candidate in candidates.iter_mut().filter(|candidate| candidate.verdict.is_ok()) {
            let why = match (self.above.get(&candidate.id), self.below.get(&candidate.id)) {
                (Some(parent), _) => format!("it goes with `{parent}`, which is to be absent"),
                (_, Some(child)) => {
                    candidate.verdict = Err(stays_for(child));
                    continue;
                }
                _ => continue,
            };
            candidate.verdict = Err(Explanation::new(why));
        }
    }
}

/// All objects above one, as far as its key names them.
fn ancestors(id: &ObjectId, kinds: &Kinds) -> Vec<ObjectId> {
    let mut found: Vec<ObjectId> = Vec::new();
    let mut next = vec![id.clone()];
    while let Some(child) = next.pop() {
        let Some(kind) = kinds.get(&child.kind) else { continue };
        for part in &kind.parts {
            let Parent::Of(parent) = &part.parent else { continue };
            let Some(parent) = kinds.get(parent) else { continue };
            let above = parent_id(&child, &part.name, parent);
            if above != *id && !found.contains(&above) {
                found.push(above.clone());
                next.push(above);
            }
        }
    }
    found
}

/// How many kinds are above a kind: its parents, and what all of its objects come after.
pub fn depth(kind: &Kind, kinds: &Kinds) -> usize {
    let mut seen: HashSet<KindName> = HashSet::new();
    climb(kind, kinds, &mut seen)
}

fn climb(kind: &Kind, kinds: &Kinds, seen: &mut HashSet<KindName>) -> usize {
    if !seen.insert(kind.name.clone()) {
        return 0;
    }
    let parents = kind.parts.iter().filter_map(|part| match &part.parent {
        Parent::Of(parent) => Some(parent),
        _ => None,
    });
    let above = parents.chain(kind.depends_on.iter().map(|(name, _)| name));
    let above: Vec<&KindName> = above.filter(|name| **name != kind.name).collect();
    let heights =
        above.into_iter().filter_map(|name| kinds.get(name)).map(|kind| 1 + climb(kind, kinds, seen));
    let height = heights.max().unwrap_or(0);
    seen.remove(&kind.name);
    height
}
