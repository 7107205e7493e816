//! Pruning: what stands in the scope of a Set and in no document, and which of it may be deleted.
//!
//! Pure: what listings told goes in, documents that wish an object gone come out, for the engine to do as any other
//! deletion. Nothing is deleted without a proof that it is ours, and nothing at all where a gate is closed: a listing
//! that is not whole, an empty desired set, more deletions than the limit.

mod family;
mod gates;
mod named;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use super::document::{Document, Ensure, Policy};
use super::exchange::Item;
use super::filter::Vars;
use super::graph::Graph;
use super::identity::ObjectId;
use super::kind::{Kind, Kinds};
use super::mark::{self, Borne};
use super::node::{Node, Origin, Pos, Want};
use super::report::{Action, Entry, Explanation, Finding, Outcome};
use super::set::{Claim, Set};
use super::value::Value;
use family::Family;
use named::Named;

/// Why an object that no document names may be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Proof {
    /// It bears the mark of the Set's owner.
    Mark,
    /// It is in a scope in which nobody else has objects.
    Exclusive,
}

/// The place of a deletion among the others: higher ones are done first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    /// How many kinds are above its own.
    depth: usize,
    /// The place of its claim among all: later ones may need earlier ones.
    claim: usize,
}

/// An object that is to be deleted although no document says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruned {
    pub set: Arc<str>,
    pub owner: Option<Arc<str>>,
    pub proof: Proof,
    /// The id under which it was found: what has another by now is another object.
    pub server_id: Option<Arc<str>>,
    pub rank: Rank,
}

/// What the flags open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gates {
    /// Whether anything is to be deleted; else it is only told of.
    pub deletes: bool,
    /// The limit of each Set, in place of its own.
    pub max_deletes: Option<usize>,
    /// Whether all objects of a Set may go.
    pub allow_empty: bool,
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
    let named = Named::of(known);
    let mut doubts: Vec<Option<String>> = vec![None; known.sets.len()];
    let mut candidates = Vec::new();
    let claims = known.sets.iter().enumerate();
    let claims = claims.flat_map(|(at, set)| set.scope.iter().map(move |claim| (at, claim)));
    for (place, ((set, claim), found)) in claims.zip(swept).enumerate() {
        let Some(kind) = known.kinds.get(&claim.kind) else { continue };
        if doubts[set].is_none() {
            doubts[set] = found.doubts.first().cloned();
        }
        let rank = Rank { depth: family::depth(kind, known.kinds), claim: place };
        let owner = known.sets[set].owner.as_deref();
        for (id, item, several) in alone(claim, kind, found.items) {
            let builtin = is_builtin(kind, &item);
            if named.has(&id, item.server_id.as_deref()) || builtin == Ok(true) {
                continue;
            }
            let verdict = if let Err(why) = builtin {
                Err(why)
            } else if several > 1 {
                Err(Explanation::new(format!("{several} objects answer to its name")))
            } else {
                let verdict =
                    named.doubt(&id).map_or_else(|| judge(known, set, claim, kind, owner, &item), Err);
                verdict.and_then(|proof| (known.holds)(kind, &item).map(|()| proof))
            };
            let holds = !item.deleting && kind.delete.is_some();
            candidates.push(Candidate { set, claim, id, item, rank, verdict, holds });
        }
    }
    Family::of(&candidates, known).hold(&mut candidates);
    gates::pass(known, gates, &doubts, candidates)
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

/// Whether an object may be deleted.
///
/// # Errors
/// Why it is left alone.
fn judge(
    known: &Known,
    set: usize,
    claim: &Claim,
    kind: &Kind,
    owner: Option<&str>,
    item: &Item,
) -> Result<Proof, Explanation> {
    if item.deleting {
        return Err(Explanation::new("the server is deleting it, and has not finished"));
    }
    if is_protected(kind, item) {
        return Err(Explanation::new(PROTECTED));
    }
    if kind.delete.is_none() {
        return Err(Explanation::new(format!("the API has no way to delete a {}", kind.name.kind)));
    }
    if claim.exclusive {
        return Ok(Proof::Exclusive);
    }
    let lacking = match (owner, &kind.owner) {
        (None, _) => format!("the set `{}` names no `owner`", known.sets[set].name),
        (_, None) => format!("a {} has no place for an owner mark", kind.name.kind),
        (Some(owner), Some(path)) => match mark::borne(path, owner, &item.value) {
            Borne::Ours => return Ok(Proof::Mark),
            Borne::Theirs(other) => format!("`{path}` says that it is `{other}`'s"),
            Borne::None => format!("`{}` does not hold the owner `{owner}`", mark::field(path)),
        },
    };
    let why = Explanation::new(format!("nothing proves that it is ours: {lacking}"));
    Err(why.hint("add a document for it, or say `exclusive: true` in the set where nobody else has objects"))
}

/// Whether the server made an object for itself.
///
/// # Errors
/// Why that cannot be told.
fn is_builtin(kind: &Kind, item: &Item) -> Result<bool, Explanation> {
    let Some(filter) = &kind.builtin else { return Ok(false) };
    match filter.one(&item.value, &Vars::default()) {
        Ok(value) => Ok(value == Some(Value::Bool(true))),
        Err(error) => {
            let why = format!("whether it is the server's own cannot be told: {error}");
            Err(Explanation::new(why).hint("the fault is in `builtin` of the backend's document"))
        }
    }
}

const PROTECTED: &str = "it is protected by its annotation `trueup/prune: \"false\"`";

/// Objects of documents that are taken verbatim can bear our annotations.
fn is_protected(kind: &Kind, item: &Item) -> bool {
    let annotation = || item.value.get("metadata")?.get("annotations")?.get("trueup/prune");
    kind.document.is_some() && annotation().is_some_and(|said| said.as_str() == Some("false"))
}

impl Pruned {
    /// The document that wishes the object gone; `origin` is the claim that it is in.
    pub fn wish(self, id: ObjectId, origin: Origin) -> Document {
        let policy = Policy { ensure: Ensure::Absent, pruned: Some(Arc::new(self)), ..Policy::default() };
        let spec = Node::new(Pos::default(), Want::Map(Default::default()));
        Document { id, origin, spec, labels: Default::default(), policy, base: Default::default() }
    }

    /// Why the object is to stay as it was just seen; `None` where it may go.
    pub fn stays(&self, kind: &Kind, item: &Item) -> Option<Outcome> {
        if self.server_id != item.server_id {
            let why = "another object has taken its name since it was listed";
            return Some(Outcome::Conflict(Explanation::new(why)));
        }
        if is_protected(kind, item) {
            return Some(Outcome::Refused(Explanation::new(PROTECTED)));
        }
        let bears = match (&kind.owner, &self.owner) {
            (Some(path), Some(owner)) => mark::borne(path, owner, &item.value) == Borne::Ours,
            _ => false,
        };
        let why = "it does not bear the owner's mark any more";
        (self.proof == Proof::Mark && !bears).then(|| Outcome::Refused(Explanation::new(why)))
    }

    /// What a plan says of the deletion.
    pub fn told(&self, code: &'static str) -> Finding {
        let set = &self.set;
        let message = match (self.proof, &self.owner) {
            (Proof::Mark, Some(owner)) => {
                format!("no document names it; it is in the set `{set}`, and bears the mark `{owner}`")
            }
            _ => format!("no document names it; it is in the set `{set}`, whose scope here is exclusive"),
        };
        Finding::new(code, message)
    }
}

impl Candidate<'_> {
    /// The document that wishes it gone.
    fn doomed(self, set: &Set, proof: Proof) -> Document {
        let pruned = Pruned {
            set: set.name.clone(),
            owner: set.owner.clone(),
            proof,
            server_id: self.item.server_id,
            rank: self.rank,
        };
        pruned.wish(self.id, self.claim.origin.clone())
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
        findings: Vec::new(),
        wrote: false,
        since: None,
    }
}
