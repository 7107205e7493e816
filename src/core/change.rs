//! The one list that text, JSON and exit code are made of.

use std::sync::Arc;

use super::base::Since;
use super::fields::Immutable;
use super::node::Pos;
use super::path::Path;
use super::value::Value;

/// One difference between a desired and an observed object, in printable form: no secret is in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub path: Path,
    /// What the server has; `None` when the path is absent there.
    pub before: Option<Shown>,
    /// What the file wants; `None` when the path must go.
    pub after: Option<Shown>,
    pub reason: Reason,
    /// Where the wanted value stands; `None` for what is only on the server.
    pub at: Option<Pos>,
    /// Who set what the server has, where it tells.
    pub set_by: Vec<Arc<str>>,
    /// Who made the difference, where there is a base.
    pub since: Option<Since>,
}

impl Change {
    /// Whether any side is a secret: then none is shown.
    pub fn is_secret(&self) -> bool {
        let base = self.since.as_ref().and_then(|since| since.base.as_ref());
        let sides = [self.before.as_ref(), self.after.as_ref(), base];
        sides.into_iter().flatten().any(|side| *side == Shown::Secret)
    }
}

/// A side of a change.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    Value(Value),
    /// A secret: that it differs is all that is said.
    Secret,
    /// A field of an object that does not exist yet, as written.
    Later(Arc<str>),
}

/// Why a line stands in a plan.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The file states another value, or one that is missing on the server.
    Declared,
    /// An explicit `null`: must not be set.
    Unset,
    /// Only on the server, below a path where nothing undeclared is allowed.
    Closed,
    /// Only on the server, in a list that the file owns whole.
    ListOwned,
    /// Set by us alone, or still as the base has it, and declared no longer.
    Left,
    /// The same elements in another order.
    Reordered,
    /// Cannot be changed in place.
    Immutable(Immutable),
}
