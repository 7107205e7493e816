//! What others changed of an object that is to go: what the base declares, and the server does not have any more.

use super::super::change::Change;
use super::super::diff::compare_since;
use super::super::fields::FieldRules;
use super::super::node::{Node, Want};
use super::super::path::{Path, Step};
use super::super::value::Value;
use super::place::{find, is_known};
use super::{Side, Since};

/// What is not as the base declares it, each change from what the server has to nothing. `own` is the body of today:
/// its secrets are kept out as well. What cannot be told of the base, a secret that is not there or a reference, is
/// held against nobody, and neither is what is not compared.
pub fn changed(base: &Node, own: &Node, theirs: &Value, rules: &FieldRules) -> Vec<Change> {
    let changes = compare_since(base, Some(own), theirs, rules).changes;
    let telling = changes.into_iter().filter(|change| tells(base, &change.path));
    let since = |change: Change| {
        let then = change.after.clone();
        Change { after: None, at: None, since: Some(Since { side: Side::Conflict, base: then }), ..change }
    };
    telling.map(since).collect()
}

/// Whether what the base has at a path is known. Elements without a key are paired by what they are, so one that is
/// not known leaves the whole of their list untold.
fn tells(base: &Node, path: &Path) -> bool {
    let list = path.0.iter().position(|step| matches!(step, Step::Index(_)));
    match list {
        Some(at) => find(base, &path.0[..at]).is_none_or(is_known),
        None => find(base, &path.0).is_none_or(says_something),
    }
}

/// Whether any part of what was declared is known: the rest of a map says enough.
fn says_something(node: &Node) -> bool {
    match &node.want {
        Want::Map(map) => map.is_empty() || map.values().any(says_something),
        _ => is_known(node),
    }
}
