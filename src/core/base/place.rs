//! The same place in a desired tree, in an observed value and in the rules.

use super::super::diff::scope::Scope;
use super::super::fields::FieldRules;
use super::super::members::Members;
use super::super::node::{Node, Want};
use super::super::path::{Path, Step};
use super::super::value::{Value, plain_text};

/// What stands at a path of a desired tree; elements that are named by their position are those of this tree.
pub fn find<'n>(node: &'n Node, path: &[Step]) -> Option<&'n Node> {
    path.iter().try_fold(node, |node, step| match (step, &node.want) {
        (Step::Field(name), Want::Map(map)) => map.get(name),
        (Step::Index(at), Want::List(items)) => items.get(*at),
        (Step::Keyed(name, text), Want::List(items)) => element(items, name, text),
        _ => None,
    })
}

/// The element of a list whose member `name` has this text.
pub fn element<'n>(items: &'n [Node], name: &str, text: &str) -> Option<&'n Node> {
    items.iter().find(|item| match item.get(name).map(|key| &key.want) {
        Some(Want::Json(key)) => plain_text(key) == *text,
        _ => false,
    })
}

/// What stands at a path of an observed value.
pub fn observed<'v>(value: &'v Value, path: &[Step]) -> Option<&'v Value> {
    Path(path.to_vec()).get(value)
}

/// What holds at a path.
pub fn scope<'r>(rules: &'r FieldRules, path: &[Step]) -> Scope<'r> {
    path.iter().fold(Scope::root(rules), |scope, step| scope.step(step))
}

/// Whether it can be told what the tree stands for: it has no value that is yet to be looked up.
pub fn is_known(node: &Node) -> bool {
    match &node.want {
        Want::Unset | Want::Json(_) => true,
        Want::Secret(secret) => secret.value().is_some(),
        Want::Ref(_) | Want::Outside(_) => false,
        Want::List(items) => items.iter().all(is_known),
        Want::Map(map) => map.values().all(is_known),
    }
}

/// The names that either map has, each once.
pub fn names<'m>(one: &'m Members, other: &'m Members) -> impl Iterator<Item = &'m str> {
    let more = other.iter().filter(|(name, _)| !one.contains_key(name));
    one.iter().chain(more).map(|(name, _)| &**name)
}
