//! Sets: what the files of one owner claim of a server, so that what left the files can leave the server.
//!
//! A claim is declared, never deduced from the documents that are there: the last object of a kind goes as every
//! other does (kubectl #555). A ReplicaSet claims too: all objects of its names, of which it says how many there are to be.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::identity::{KindName, ObjectId};
use super::kind::Kind;
use super::mutant::planted;
use super::node::Origin;
use super::replicas::Replicas;
use super::value::Value;

/// The `apiVersion` of the tool's own kinds.
pub const OWN: &str = "trueup/v1";

/// `kind: Set`, or what a `kind: ReplicaSet` claims.
#[derive(Clone, Debug, PartialEq)]
pub struct Set {
    pub name: Arc<str>,
    /// The mark of its objects, where their kinds have a place for one.
    pub owner: Option<Arc<str>>,
    pub scope: Vec<Claim>,
    /// So many objects, at most, are deleted in one run.
    pub max_deletes: Limits,
    pub origin: Origin,
}

/// So many objects may be deleted in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Of these kinds, each counted by itself.
    pub kinds: BTreeMap<Arc<str>, usize>,
    /// Of all others together; `None` leaves it to [`limit`].
    pub default: Option<usize>,
}

/// The key of [`Limits::default`] in a document and in a flag.
pub const DEFAULT: &str = "default";

impl Limits {
    /// One number for everything, if there is one.
    pub fn of_all(default: Option<usize>) -> Limits {
        Limits { default, ..Limits::default() }
    }
}

/// One entry of a Set's `scope`: the objects of a kind, or those with these parts in their keys.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    pub kind: KindName,
    /// What parts of the key must be; those that are not named can be anything.
    pub within: Vec<(Arc<str>, Value)>,
    /// Nobody else has objects here: being here is the proof of ownership.
    pub exclusive: bool,
    /// Only objects of these names, which are all the claim's.
    pub replicas: Option<Replicas>,
    pub origin: Origin,
}

/// The Set that claims a document's object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub set: Arc<str>,
    /// The mark that the object is to bear.
    pub owner: Option<Arc<str>>,
}

impl Claim {
    /// Whether an object of `kind` is in this scope.
    pub fn covers(&self, id: &ObjectId, kind: &Kind) -> bool {
        let within = || self.within.iter().all(|(part, value)| kind.same_part(&id.key, part, value));
        let named = || self.replicas.as_ref().is_none_or(|named| named.number(&id.key, kind).is_some());
        id.kind == self.kind && (within() || planted!(NoScope)) && named()
    }

    /// Whether there can be an object in both scopes; `kind` is the one of this claim.
    pub fn meets(&self, other: &Claim, kind: &Kind) -> bool {
        let own = kind.key_of(self.within.clone());
        let same =
            |(part, value): &(Arc<str>, Value)| own.get(part).is_none() || kind.same_part(&own, part, value);
        self.kind == other.kind && other.within.iter().all(same)
    }
}

impl Set {
    /// What a ReplicaSet says; `None` for a Set.
    pub fn replicas(&self) -> Option<&Replicas> {
        self.scope.first().and_then(|claim| claim.replicas.as_ref())
    }

    /// Its kind, as a document names it.
    pub fn kind_word(&self) -> &'static str {
        if self.replicas().is_some() { "ReplicaSet" } else { "Set" }
    }

    /// As sentences name it: ``the set `dns` ``.
    pub fn words(&self) -> String {
        let word = if self.replicas().is_some() { "ReplicaSet" } else { "set" };
        format!("the {word} `{}`", self.name)
    }

    /// The claim that an object is in.
    pub fn claim_of(&self, id: &ObjectId, kind: &Kind) -> Option<&Claim> {
        self.scope.iter().find(|claim| claim.covers(id, kind))
    }
}

/// So many objects may go where nobody says how many: a fifth of what the documents name, and always five.
pub fn limit(documents: usize) -> usize {
    (documents / 5).max(5)
}
