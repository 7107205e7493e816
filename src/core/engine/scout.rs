//! Looks before their turn, at objects that need one that is to take what they may have.
//!
//! Such an object is looked at only once the other is there, and the other cannot be made while this one has the value.
//! So a second one of its name, that needs nothing and is never written, is looked at first.

use std::collections::{HashMap, HashSet};

use super::super::document::Ensure;
use super::super::graph::GraphNode;
use super::super::identity::KindName;
use super::super::unique::{Held, scope};
use super::object::Object;

/// Adds the looks to the objects of a run; by their places, the objects that they are.
pub fn scouts(objects: &mut Vec<Object>) -> HashMap<usize, usize> {
    let takers = takers(objects);
    if takers.is_empty() {
        return HashMap::new();
    }
    let seen_late = |at: &usize| needs_a_taker(objects, *at, &takers);
    let late: Vec<usize> = (0..objects.len()).filter(seen_late).collect();
    let mut scouts = HashMap::new();
    for at in late {
        let object = &objects[at];
        let links = GraphNode {
            references: Default::default(),
            after: Vec::new(),
            former: None,
            later: Vec::new(),
            documented: false,
            ..object.links.clone()
        };
        scouts.insert(objects.len(), at);
        objects.push(Object::context(object.kind.clone(), links));
    }
    scouts
}

/// What each object is to take, and among which others of its kind.
type Takers = HashMap<usize, (KindName, String, Vec<Held>)>;

fn takers(objects: &[Object]) -> Takers {
    let takes = objects.iter().enumerate().filter(|(_, object)| {
        !object.kind.unique.is_empty() && !object.context && object.policy.ensure == Ensure::Present
    });
    let wanted = takes.map(|(at, object)| {
        let wanted = Held::wanted(&object.id, &object.kind, &object.spec);
        (at, (object.id.kind.clone(), scope(&object.id, &object.kind), wanted))
    });
    wanted.collect()
}

/// Whether an object needs, itself or through others, one that is to take what its own document does not want.
fn needs_a_taker(objects: &[Object], at: usize, takers: &Takers) -> bool {
    let Some((kind, place, own)) = takers.get(&at) else { return false };
    let (mut next, mut seen) = (objects[at].links.needs(), HashSet::new());
    while let Some(one) = next.pop() {
        if !seen.insert(one) || objects[one].wanted_absent() {
            continue;
        }
        let takes = |(of, among, wanted): &(KindName, String, Vec<Held>)| {
            of == kind && among == place && wanted.iter().any(|held| !own.contains(held))
        };
        if takers.get(&one).is_some_and(takes) {
            return true;
        }
        next.extend(objects[one].links.needs());
    }
    false
}
