//! The structural difference: desired × observed × rules → changes.
//!
//! Only what is declared is compared, at every depth. `walk` goes down both sides at once, `pair` says
//! which elements of two lists belong together (the overlay asks it too), `show` makes what is printed, and
//! `explain` says why.
//! Nothing here knows of requests, or of how a difference is mended.

pub mod explain;
mod futile;
pub(super) mod list;
pub(super) mod pair;
pub(super) mod scope;
pub(super) mod show;
mod undeclared;
pub(super) mod walk;

pub use futile::futile;
pub use undeclared::undeclared;

use std::sync::Arc;

use super::change::Change;
use super::fields::FieldRules;
use super::node::Node;
use super::path::Path;
use super::value::Value;
use scope::Scope;

/// What would have to change on the server, in stable order. Empty means in sync.
///
/// Elements of lists are named by their key where they are paired by one, else by their position: in the file
/// for what the file has, on the server for what only the server has. No secret is in the result, whole maps
/// and lists included.
pub fn diff(desired: &Node, observed: &Value, rules: &FieldRules) -> Vec<Change> {
    compare(desired, observed, rules).changes
}

/// [`diff`], with what it says nothing of for want of a secret.
pub fn compare(desired: &Node, observed: &Value, rules: &FieldRules) -> Comparison {
    compare_since(desired, None, observed, rules)
}

/// [`compare`], where the secrets of an earlier revision of the document are to be kept out as well.
pub fn compare_since(
    desired: &Node,
    base: Option<&Node>,
    observed: &Value,
    rules: &FieldRules,
) -> Comparison {
    walk::comparison(desired, base, observed, Scope::root(rules))
}

/// What a comparison came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    pub changes: Vec<Change>,
    /// Values that the server shows, and whose secret is not there: where they stand, and where it comes from.
    pub not_compared: Vec<(Path, Arc<str>)>,
}

/// Whether the observed value has everything that is desired: an empty difference, found without making one.
pub fn agrees(desired: &Node, observed: &Value, rules: &FieldRules) -> bool {
    walk::agrees(desired, observed, Scope::root(rules))
}

#[cfg(test)]
#[path = "large_tests.rs"]
mod large;
