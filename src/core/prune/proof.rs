//! The proof that an object is ours: what allows a deletion that no document asks for. It is looked for in what a
//! listing showed, and again in the live read before the deletion.

use std::sync::Arc;

use super::super::base::Base;
use super::super::document::{Document, Ensure, Policy};
use super::super::exchange::Item;
use super::super::filter::Vars;
use super::super::identity::ObjectId;
use super::super::kind::Kind;
use super::super::mark::{self, Borne};
use super::super::mutant::planted;
use super::super::node::{Node, Origin, Pos, Want};
use super::super::report::{Explanation, Finding, Outcome};
use super::super::set::{Claim, Set};
use super::super::unique::Held;
use super::super::value::Value;
use super::{Index, Rank, Standing};

/// Why an object that no document names may be deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// It bears the mark of the Set's owner.
    Mark,
    /// It is in a scope in which nobody else has objects.
    Exclusive,
    /// It has a name that a ReplicaSet counts, which wants so many of them.
    Replica(usize),
    /// A document of the base is about it, and all of the base was applied: the ref that says so, and where.
    Recorded(Arc<str>, Origin),
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
    /// What it has of values that only one object may have.
    pub unique: Vec<Held>,
}

/// Whether an object may be deleted.
///
/// # Errors
/// Why it is left alone.
pub fn judge(
    former: &Index,
    set: &Set,
    claim: &Claim,
    kind: &Kind,
    id: &ObjectId,
    item: &Item,
) -> Result<Proof, Explanation> {
    if item.deleting {
        return Err(kind.being_deleted(&item.value));
    }
    if is_protected(kind, item) {
        return Err(Explanation::new(PROTECTED));
    }
    if kind.delete.is_none() {
        return Err(Explanation::new(format!("the API has no way to delete a {}", kind.name.kind)));
    }
    if let Some(why) = former.keeps(id) {
        return Err(why);
    }
    if let Some(replicas) = &claim.replicas {
        return match replicas.kept {
            Some(why) => Err(Explanation::new(format!("it is one too many, and stays: {why}"))),
            None => Ok(Proof::Replica(replicas.wanted)),
        };
    }
    if claim.exclusive || planted!(NoProof) {
        return Ok(Proof::Exclusive);
    }
    let lacking = match marked(set, kind, &item.value) {
        Marked::Ours => return Ok(Proof::Mark),
        // Where a mark can be, its absence says something: somebody has taken it away, or it was never ours.
        Marked::No(why) => return Err(unproved(&why)),
        Marked::Impossible(why) => why,
    };
    match (former.standing, former.document(id)) {
        (Standing::Recorded(name), Some(document)) => {
            match other_id(document.policy.pinned_id.as_deref(), item) {
                false => Ok(Proof::Recorded(name.clone(), document.origin.clone())),
                true => Err(unproved("the document at the base is about an object with another id")),
            }
        }
        (Standing::Recorded(name), None) => {
            Err(unproved(&format!("{lacking}, and `{name}` has no document of it")))
        }
        (Standing::Unproved(why), Some(_)) => Err(Explanation {
            message: format!("nothing proves that it is ours: {lacking}, and {}", why.message),
            hint: why.hint.clone(),
            reason: None,
        }),
        _ => Err(unproved(&lacking)),
    }
}

fn unproved(lacking: &str) -> Explanation {
    let why = Explanation::new(format!("nothing proves that it is ours: {lacking}"));
    why.hint("add a document for it, or say `exclusive: true` in the set where nobody else has objects")
}

/// What the place of the owner mark says of an object.
enum Marked {
    Ours,
    No(String),
    /// There is no such place, or nothing could have written a mark there.
    Impossible(String),
}

fn marked(set: &Set, kind: &Kind, value: &Value) -> Marked {
    let Some(owner) = set.owner.as_deref() else {
        return Marked::Impossible(format!("the set `{}` names no `owner`", set.name));
    };
    let Some(path) = &kind.owner else {
        return Marked::Impossible(format!("a {} has no place for an owner mark", kind.name.kind));
    };
    match mark::borne(path, owner, value) {
        Borne::Ours => Marked::Ours,
        Borne::Theirs(other) => Marked::No(format!("`{path}` says that it is `{other}`'s")),
        Borne::None => {
            let why = format!("`{}` does not hold the owner `{owner}`", mark::field(path));
            if mark::can_be_added(kind, path) { Marked::No(why) } else { Marked::Impossible(why) }
        }
    }
}

fn other_id(pinned: Option<&str>, item: &Item) -> bool {
    pinned.is_some_and(|pinned| item.server_id.as_deref().is_some_and(|id| id != pinned))
}

/// Whether the server made an object for itself.
///
/// # Errors
/// Why that cannot be told.
pub fn is_builtin(kind: &Kind, item: &Item) -> Result<bool, Explanation> {
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
pub fn is_protected(kind: &Kind, item: &Item) -> bool {
    let annotation = || item.value.get("metadata")?.get("annotations")?.get("trueup/prune");
    kind.document.is_some() && annotation().is_some_and(|said| said.as_str() == Some("false"))
}

impl Pruned {
    /// The document that wishes the object gone; `origin` is the claim that it is in, `base` what it was when the
    /// files had it.
    pub fn wish(self, id: ObjectId, origin: Origin, base: Base) -> Document {
        let policy = Policy { ensure: Ensure::Absent, pruned: Some(Arc::new(self)), ..Policy::default() };
        let spec = Arc::new(Node::new(Pos::default(), Want::Map(Default::default())));
        Document { id, origin, spec, labels: Default::default(), policy, base }
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
        let borne = match (&kind.owner, &self.owner) {
            (Some(path), Some(owner)) => mark::borne(path, owner, &item.value),
            _ => Borne::None,
        };
        let why = match (&self.proof, borne) {
            (Proof::Mark, Borne::Theirs(_) | Borne::None) => {
                "it does not bear the owner's mark any more".into()
            }
            (Proof::Recorded(..), Borne::Theirs(other)) => format!("it bears the mark of `{other}` by now"),
            _ => return None,
        };
        Some(Outcome::Refused(Explanation::new(why)))
    }

    /// What a plan says of the deletion.
    pub fn told(&self, code: &'static str) -> Finding {
        let set = &self.set;
        if let Proof::Replica(wanted) = &self.proof {
            let why = format!("one too many: the ReplicaSet `{set}` wants {wanted}");
            return Finding::new(code, why);
        }
        let proof = match (&self.proof, &self.owner) {
            (Proof::Mark, Some(owner)) => format!("and bears the mark `{owner}`"),
            (Proof::Recorded(name, origin), _) => {
                format!("and stood in `{name}`, which was applied ({origin})")
            }
            _ => "whose scope here is exclusive".into(),
        };
        Finding::new(code, format!("no document names it; it is in the set `{set}`, {proof}"))
    }
}
