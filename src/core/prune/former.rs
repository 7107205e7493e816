//! What a base says of objects that no document names. That they stood in it is a proof that they are ours only
//! where the base is one that `apply --record` has moved: of any other revision nobody knows that it was applied.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::base::{Base, Past};
use super::super::document::Document;
use super::super::identity::ObjectId;
use super::super::node::Origin;
use super::super::report::Explanation;

/// The documents of a base that the files have no longer.
#[derive(Clone, Debug, Default)]
pub struct Former {
    pub standing: Standing,
    /// Those that have left, in the order of the base.
    pub left: Vec<Document>,
    /// Those that have left `-f`, and stand elsewhere in the repository, or in its last commit still.
    pub moved: Vec<(ObjectId, Origin)>,
}

/// Whether a base is a proof.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// There is no base.
    #[default]
    None,
    /// The ref by which it is named is one that `apply --record` moves, and its commit comes before the last one.
    Recorded(Arc<str>),
    /// It proves nothing, and why.
    Unproved(Explanation),
}

/// A [`Former`] by identities.
pub struct Index<'f> {
    pub standing: &'f Standing,
    left: HashMap<&'f ObjectId, &'f Document>,
    moved: HashMap<&'f ObjectId, &'f Origin>,
}

impl<'f> Index<'f> {
    pub fn of(former: &'f Former) -> Index<'f> {
        Index {
            standing: &former.standing,
            left: former.left.iter().map(|document| (&document.id, document)).collect(),
            moved: former.moved.iter().map(|(id, origin)| (id, origin)).collect(),
        }
    }

    /// The document that an object had at the base.
    pub fn document(&self, id: &ObjectId) -> Option<&'f Document> {
        self.left.get(id).copied()
    }

    /// The base of an object that is to go: what it was when the files had it.
    pub fn base_of(&self, id: &ObjectId) -> Base {
        self.document(id).map_or(Base::None, |document| Base::Present(Arc::new(Past::of(document))))
    }

    /// Why an object stays, whatever else would prove that it is ours.
    pub fn keeps(&self, id: &ObjectId) -> Option<Explanation> {
        if let Some(origin) = self.moved.get(id) {
            let why = format!("its document left `-f` and stands in {origin}");
            return Some(
                Explanation::new(why)
                    .hint("take it out there as well, by a commit, or name that file with `-f`"),
            );
        }
        self.document(id).filter(|document| document.policy.protected).map(|document| {
            let why = format!("its document at the base, {}, has `trueup/prune: \"false\"`", document.origin);
            Explanation::new(why).hint("delete it by hand, or by a document with `trueup/ensure: absent`")
        })
    }
}
