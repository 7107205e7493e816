//! Pairs by a member that names the elements.

use std::collections::{HashMap, HashSet};

use crate::core::compare;
use crate::core::node::{Node, Want};
use crate::core::value::{Value, canonical_text};

use super::super::scope::Scope;
use super::Partners;
use super::lists::Lists;

/// Whether every element on both sides has this member, a scalar, and none twice on a side. A secret is no
/// key, for paths would tell it, and neither is a member that is not compared.
pub(super) fn fits(lists: &Lists, name: &str) -> bool {
    let member = lists.scope.each().field(name);
    let is_secret = |item: &Node| matches!(item.get(name).map(|key| &key.want), Some(Want::Secret(_)));
    let unfit =
        member.secret || member.here().not_compared() || lists.items.iter().any(|item| is_secret(item));
    !unfit
        && all_unlike(lists.items.iter().map(|item| desired(item, member, name)))
        && all_unlike(lists.observed.iter().map(|item| observed(item, member, name)))
}

fn all_unlike(mut keys: impl Iterator<Item = Option<String>>) -> bool {
    let mut seen = HashSet::new();
    keys.all(|key| key.is_some_and(|key| seen.insert(key)))
}

/// The n-th desired element of a key with the n-th observed one; elements without the key likewise.
pub(super) fn partners(lists: &Lists, name: &str) -> Partners {
    let member = lists.scope.each().field(name);
    // Last to first, so that the first is on top.
    let mut places: HashMap<Option<String>, Vec<usize>> = HashMap::with_capacity(lists.observed.len());
    for (j, item) in lists.observed.iter().enumerate().rev() {
        places.entry(observed(item, member, name)).or_default().push(j);
    }
    lists.items.iter().map(|item| places.get_mut(&desired(item, member, name))?.pop()).collect()
}

/// The text of an element's key on the desired side: folded, so that equal keys have equal texts.
fn desired(item: &Node, member: Scope, name: &str) -> Option<String> {
    match &item.get(name)?.want {
        Want::Json(value) => text(value, member),
        Want::Secret(secret) => text(secret.value()?, member),
        _ => None,
    }
}

fn observed(item: &Value, member: Scope, name: &str) -> Option<String> {
    text(item.get(name)?, member)
}

fn text(key: &Value, member: Scope) -> Option<String> {
    if matches!(key, Value::Null | Value::Array(_) | Value::Object(_)) {
        return None;
    }
    match &member.here().compare {
        Some(comparer) => Some(canonical_text(&compare::fold(comparer, key))),
        None => Some(canonical_text(key)),
    }
}
