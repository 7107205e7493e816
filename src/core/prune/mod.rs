//! Pruning: what stands in the scope of a Set and in no document, and which of it may be deleted.
//!
//! Pure: what listings told goes in, documents that wish an object gone come out, for the engine to do as any other
//! deletion. Nothing is deleted without a proof that it is ours, and nothing at all where a gate is closed: a listing
//! that is not whole, an empty desired set, more deletions than the limit. A ReplicaSet says how many objects of its names
//! there are to be: what it has too much needs no `--prune` and no other proof, and passes the same gates.

mod family;
mod former;
mod gates;
mod limits;
mod named;
mod proof;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::HashMap;

use super::document::Document;
use super::exchange::Item;
use super::family::can_keep;
use super::graph::Graph;
use super::identity::ObjectId;
use super::kind::{Kind, Kinds};
use super::mutant::planted;
use super::node::Origin;
use super::report::{Action, Entry, Explanation, Outcome};
use super::set::{Claim, Limits, Set};
use super::unique::Held;
use family::Family;
use former::Index;
pub use former::{Former, Standing};
use named::Named;
use proof::judge;
pub use proof::{Proof, Pruned, is_builtin, is_protected};

/// The place of a deletion among the others: higher ones are done first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    /// How many kinds are above its own.
    depth: usize,
    /// The place of its claim among all: later ones may need earlier ones.
    claim: usize,
    /// The batch of the surplus of a ReplicaSet.
    batch: Reverse<usize>,
}

/// What the flags open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gates {
    /// Whether anything is to be deleted; else it is only told of.
    pub deletes: bool,
    /// The limit of each Set, in place of all of its own.
    pub max_deletes: Option<usize>,
    /// Limits of some kinds of each Set, in place of its own for these.
    pub max_deletes_of: Limits,
    /// Whether all objects of a Set may go.
    pub allow_empty: bool,
    /// Whether these are what a saved plan was made with: other flags need another plan.
    pub saved: bool,
}

/// What was found in the scope of one claim.
#[derive(Clone, Debug, Default)]
pub struct Swept {
    pub items: Vec<Item>,
    /// Why that is not known to be all. Then nothing is deleted.
    pub doubts: Vec<String>,
}

/// What a run knows.
pub struct Known<'k> {
    pub sets: &'k [Set],
    pub documents: &'k [Document],
    /// Of the documents.
    pub graph: &'k Graph,
    pub kinds: &'k Kinds,
    pub former: &'k Former,
    /// What else must hold of an object that may go.
    pub holds: Holds<'k>,
}

/// Judges an object of which everything else allows that it goes; an error says why it stays.
pub type Holds<'k> = &'k dyn Fn(&Kind, &Item) -> Result<(), Explanation>;

/// What pruning comes to.
#[derive(Debug, Default)]
pub struct Plan {
    /// Objects that are to be deleted, each as a document that wishes it gone.
    pub doomed: Vec<Document>,
    /// Objects that are left alone, and Sets of which nothing is deleted.
    pub told: Vec<Entry>,
    /// What those of them have that are left alone, of values that only one object may have.
    pub taken: Vec<(Held, ObjectId)>,
}

/// An object that no document names.
struct Candidate<'k> {
    set: usize,
    claim: &'k Claim,
    id: ObjectId,
    item: Item,
    rank: Rank,
    verdict: Result<Proof, Explanation>,
    /// Whether it can hold its parents: not when it is on its way out, or goes with a parent or not at all.
    holds: bool,
}

/// Plans. `swept` has an entry for each claim of each Set, in their order.
pub fn plan(known: &Known, swept: Vec<Swept>, gates: &Gates) -> Plan {
    let (named, former) = (Named::of(known), Index::of(known.former));
    let mut doubts: Vec<Option<String>> = vec![None; known.sets.len()];
    let mut candidates = Vec::new();
    let claims = known.sets.iter().enumerate();
    let claims = claims.flat_map(|(at, set)| set.scope.iter().map(move |claim| (at, claim)));
    for (place, ((set, claim), found)) in claims.zip(swept).enumerate() {
        let Some(kind) = known.kinds.get(&claim.kind) else { continue };
        if doubts[set].is_none() && !planted!(M1) {
            doubts[set] = found.doubts.first().cloned();
        }
        let rank = Rank { depth: family::depth(kind, known.kinds), claim: place, batch: Reverse(0) };
        for (id, item, several) in alone(claim, kind, found.items) {
            let builtin = is_builtin(kind, &item);
            if named.has(&id, item.server_id.as_deref()) || builtin == Ok(true) {
                continue;
            }
            // What has the name of a replica is that document's to delete, in whatever Set's scope it is.
            if claim.replicas.is_none() && counted(known, &id, kind) {
                continue;
            }
            let verdict = if let Err(why) = builtin {
                Err(why)
            } else if let Some(place) = item.ambiguous.first() {
                // Whose it is may be what stands twice.
                let why =
                    format!("the server's JSON of it has two values of `{place}`, and so it is left alone");
                Err(Explanation::new(why))
            } else if several > 1 {
                Err(Explanation::new(format!("{several} objects answer to its name")))
            } else {
                let verdict = named
                    .doubt(&id, item.server_id.as_deref())
                    .map_or_else(|| judge(&former, &known.sets[set], claim, kind, &id, &item), Err);
                verdict.and_then(|proof| (known.holds)(kind, &item).map(|()| proof))
            };
            let holds = can_keep(kind, &item);
            candidates.push(Candidate { set, claim, id, item, rank, verdict, holds });
        }
    }
    Family::of(&candidates, known).hold(&mut candidates);
    gates::pass(known, gates, &former, &doubts, candidates)
}

/// Whether a ReplicaSet counts this object.
fn counted(known: &Known, id: &ObjectId, kind: &Kind) -> bool {
    let claims = known.sets.iter().flat_map(|set| &set.scope);
    claims.filter(|claim| claim.replicas.is_some()).any(|claim| claim.covers(id, kind))
}

/// The items of a claim, each with how many there are of its name; one that was listed twice is one.
fn alone(claim: &Claim, kind: &Kind, items: Vec<Item>) -> Vec<(ObjectId, Item, usize)> {
    let mut found: Vec<(ObjectId, Item, usize)> = Vec::with_capacity(items.len());
    let mut at: HashMap<ObjectId, usize> = HashMap::new();
    for item in items {
        let id = ObjectId { kind: kind.name.clone(), key: item.key.clone() };
        if !claim.covers(&id, kind) {
            continue;
        }
        match at.get(&id) {
            Some(&first) if found[first].1.server_id != item.server_id => found[first].2 += 1,
            Some(_) => {}
            None => {
                at.insert(id.clone(), found.len());
                found.push((id, item, 1));
            }
        }
    }
    found
}

impl Candidate<'_> {
    /// The document that wishes it gone.
    fn doomed(self, set: &Set, kind: &Kind, proof: Proof, former: &Index) -> Document {
        let base = former.base_of(&self.id);
        let then = former.document(&self.id).map(|document| document.policy.clone()).unwrap_or_default();
        let pruned = Pruned {
            set: set.name.clone(),
            owner: set.owner.clone(),
            proof,
            server_id: self.item.server_id,
            rank: self.rank,
            unique: Held::by(&self.id, kind, &self.item.value),
        };
        let mut wish = pruned.wish(self.id, self.claim.origin.clone(), base);
        wish.labels = self.claim.replicas.as_ref().map(|named| named.labels.clone()).unwrap_or_default();
        wish.policy.on_conflict = then.on_conflict;
        wish.policy.forced_paths = then.forced_paths;
        wish
    }

    fn entry(self, action: Action, result: Outcome) -> Entry {
        entry(self.id, self.claim.origin.clone(), action, result)
    }
}

fn entry(id: ObjectId, origin: Origin, action: Action, result: Outcome) -> Entry {
    Entry {
        id,
        origin: Some(origin),
        action,
        result,
        changes: Vec::new(),
        conflicts: Vec::new(),
        findings: Vec::new(),
        accepted: Vec::new(),
        wrote: false,
        observed: Default::default(),
        since: None,
    }
}
