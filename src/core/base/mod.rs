//! The third side of a comparison: what the files said at an earlier revision, the base.
//!
//! It tells what somebody changed on the server from what changed in the files, and lets a field that left the
//! files leave the server. `left` lays what left over what is wanted, so that the difference, the bodies and the
//! reading back need to know nothing of a base; `since` says of each difference who made it. Pure: where a base
//! comes from is not known here, and nothing of it is ever stored.

mod doubt;
mod gone;
mod left;
mod place;
mod since;

pub use doubt::doubt;
pub use gone::changed;
pub use left::{Left, left};
pub use place::find;
pub use since::{Sides, tell};

use std::sync::Arc;

use super::change::Shown;
use super::document::Document;
use super::node::{Node, Origin};
use super::path::{Path, Step};

/// What the base says of a document.
#[derive(Clone, Debug, Default)]
pub enum Base {
    /// There is no base.
    #[default]
    None,
    /// The base does not have the document, or does not manage its object.
    New,
    /// What the base has; references as they are written.
    Present(Arc<Past>),
    /// The base wants the object gone.
    Absent,
}

/// A document as it was at the base.
#[derive(Clone, Debug, PartialEq)]
pub struct Past {
    pub spec: Node,
    /// Where it stood, as in `HEAD:manifests/a.yaml`.
    pub file: Arc<str>,
}

impl Past {
    /// What a document of the base says.
    pub fn of(document: &Document) -> Past {
        Past { spec: Node::clone(&document.spec), file: document.origin.file.clone() }
    }

    /// Where the base has this, if it does.
    pub fn place(&self, path: &Path) -> Option<Origin> {
        // Where elements have no key, the list is all that has a place.
        let named = path.0.iter().take_while(|step| !matches!(step, Step::Index(_))).count();
        let node = place::find(&self.spec, &path.0[..named])?;
        Some(Origin { file: self.file.clone(), at: node.at })
    }
}

impl Base {
    /// What the base has of the document.
    pub fn past(&self) -> Option<&Past> {
        match self {
            Base::Present(past) => Some(past),
            Base::None | Base::New | Base::Absent => None,
        }
    }

    /// The body at the base.
    pub fn spec(&self) -> Option<&Node> {
        match self {
            Base::Present(past) => Some(&past.spec),
            Base::None | Base::New | Base::Absent => None,
        }
    }

    /// Who made the difference, where an object is not there and should be.
    pub fn of_missing(&self) -> Option<Side> {
        match self {
            Base::None => None,
            Base::New | Base::Absent => Some(Side::Pending),
            Base::Present(_) => Some(Side::Drift),
        }
    }

    /// Who made the difference, where an object is there and should not be.
    pub fn of_unwanted(&self) -> Option<Side> {
        match self {
            Base::None => None,
            Base::New | Base::Present(_) => Some(Side::Pending),
            Base::Absent => Some(Side::Drift),
        }
    }
}

/// Who made a difference since the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The files changed.
    Pending,
    /// The server changed.
    Drift,
    /// Both changed, in different parts: nothing is in the way of either.
    Both,
    /// Both changed, to different ends.
    Conflict,
}

impl Side {
    /// The fixed word, as JSON and flags say it.
    pub fn word(self) -> &'static str {
        match self {
            Side::Pending => "pending",
            Side::Drift => "drift",
            Side::Both => "both",
            Side::Conflict => "conflict",
        }
    }

    /// What two differences are together.
    pub fn with(self, other: Side) -> Side {
        match (self, other) {
            (one, two) if one == two => one,
            (Side::Conflict, _) | (_, Side::Conflict) => Side::Conflict,
            _ => Side::Both,
        }
    }

    /// Whether the server changed.
    pub fn is_drift(self) -> bool {
        self != Side::Pending
    }

    /// Whether the files changed.
    pub fn is_pending(self) -> bool {
        self != Side::Drift
    }
}

/// What became of a place since the base.
#[derive(Clone, Debug, PartialEq)]
pub struct Since {
    pub side: Side,
    /// What the base has there; `None` where it has nothing, or a list that is compared as a whole.
    pub base: Option<Shown>,
}

#[cfg(test)]
mod tests;
