//! What the base has of objects that no document names any more, as a saved plan holds it: where the plan is applied,
//! each deletion is judged by it once more, and there is no repository.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::object::SavedLeft;
use crate::core::document::{Document, Policy};
use crate::core::identity::ObjectId;
use crate::core::node::{Node, Origin, Pos, Want};
use crate::core::prune::{Former, Standing};
use crate::core::redact::Redactor;
use crate::core::report::{Explanation, LeftFiles};

/// What left the files, and whether that is a proof.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedFormer {
    standing: SavedStanding,
    left: Vec<SavedPast>,
    /// What stands elsewhere in the repository.
    moved: Vec<SavedLeft>,
}

/// Whether the base is a proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum SavedStanding {
    None,
    /// By this ref.
    Recorded(String),
    Unproved {
        message: String,
        hint: Option<String>,
    },
}

/// A document of the base, as far as its object's deletion rests on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedPast {
    object: SavedLeft,
    pinned: Option<String>,
    protected: bool,
}

impl SavedFormer {
    pub fn of(former: &Former, redactor: &Redactor) -> SavedFormer {
        let standing = match &former.standing {
            Standing::None => SavedStanding::None,
            Standing::Recorded(by) => SavedStanding::Recorded(by.to_string()),
            Standing::Unproved(why) => {
                SavedStanding::Unproved { message: why.message.clone(), hint: why.hint.clone() }
            }
        };
        let past = |document: &Document| SavedPast {
            object: left(&document.id, &document.origin, redactor),
            pinned: document.policy.pinned_id.as_deref().map(str::to_owned),
            protected: document.policy.protected,
        };
        SavedFormer {
            standing,
            left: former.left.iter().map(past).collect(),
            moved: former.moved.iter().map(|(id, origin)| left(id, origin, redactor)).collect(),
        }
    }

    /// As pruning takes it. What the documents said is not in it: each deletion has its own base.
    pub fn former(&self) -> Former {
        let standing = match &self.standing {
            SavedStanding::None => Standing::None,
            SavedStanding::Recorded(by) => Standing::Recorded(by.as_str().into()),
            SavedStanding::Unproved { message, hint } => {
                Standing::Unproved(Explanation { hint: hint.clone(), ..Explanation::new(message.clone()) })
            }
        };
        let document = |past: &SavedPast| {
            let LeftFiles { id, origin } = past.object.left();
            let policy = Policy {
                pinned_id: past.pinned.as_deref().map(Arc::from),
                protected: past.protected,
                ..Policy::default()
            };
            let spec = Arc::new(Node::new(Pos::default(), Want::Map(Default::default())));
            Document { id, origin, spec, labels: Default::default(), policy, base: Default::default() }
        };
        let moved = self.moved.iter().map(|one| {
            let LeftFiles { id, origin } = one.left();
            (id, origin)
        });
        Former { standing, left: self.left.iter().map(document).collect(), moved: moved.collect() }
    }
}

fn left(id: &ObjectId, origin: &Origin, redactor: &Redactor) -> SavedLeft {
    SavedLeft::of(&LeftFiles { id: id.clone(), origin: origin.clone() }, redactor)
}
