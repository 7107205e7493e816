//! Short cuts for long lists: elements that are the same have the same text, so they can be looked up.
//!
//! A desired element's text is that of its folded values. An observed element is first cut down to what the
//! desired one declares, once for each *shape* (set of declared members) that occurs in the list. The texts
//! are only a guess: whoever uses them asks for the difference before believing them.

use std::collections::HashMap;

use crate::core::compare;
use crate::core::fields::FieldRules;
use crate::core::node::{Node, Want};
use crate::core::path::Step;
use crate::core::value::{Map, Value, canonical_text};

use super::super::scope::{plain, value_comparer};
use super::lists::Lists;

/// More shapes than this are not looked up.
const SHAPES: usize = 32;

/// Positions by text: of the desired elements, and of the observed ones cut down to the same shape.
type Places = HashMap<String, (Vec<usize>, Vec<usize>)>;

/// Likely pairs, each element at most once, in the order of the file. Shapes that declare more go first: they
/// have less to choose from.
pub(super) fn likely(lists: &Lists) -> Vec<(usize, usize)> {
    let mut taken = vec![false; lists.observed.len()];
    let mut pairs = Vec::new();
    for places in by_shape(lists) {
        for (left, right) in places.into_values() {
            let mut free = right.into_iter().filter(|j| !taken[*j]).collect::<Vec<_>>().into_iter();
            for i in left {
                let Some(j) = free.next() else { break };
                taken[j] = true;
                pairs.push((i, j));
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

/// Likely pairs that have no rival on either side, ascending in the first position.
pub(super) fn unrivalled(lists: &Lists) -> Vec<(usize, usize)> {
    let places = by_shape(lists).into_iter().flat_map(Places::into_values);
    let single = |(left, right): (Vec<usize>, Vec<usize>)| match (left.as_slice(), right.as_slice()) {
        ([i], [j]) => Some((*i, *j)),
        _ => None,
    };
    let mut pairs: Vec<_> = places.filter_map(single).collect();
    pairs.sort_unstable();
    pairs
}

fn by_shape(lists: &Lists) -> Vec<Places> {
    if lists.items.is_empty() || lists.observed.is_empty() {
        return Vec::new();
    }
    let rules = lists.scope.each().rules;
    let mut shapes: HashMap<String, Vec<usize>> = HashMap::new();
    for (i, item) in lists.items.iter().enumerate() {
        shapes.entry(shape(item, rules)).or_default().push(i);
    }
    if shapes.len() > SHAPES {
        return Vec::new();
    }
    let mut shapes: Vec<_> = shapes.into_iter().collect();
    shapes.sort_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    let look_up = |members: Vec<usize>| {
        let model = lists.items[members[0]];
        let mut places = Places::new();
        for i in members {
            if let Some(folded) = fold_desired(lists.items[i], rules) {
                places.entry(canonical_text(&folded)).or_default().0.push(i);
            }
        }
        for (j, item) in lists.observed.iter().enumerate() {
            let folded = fold_observed(model, item, rules);
            if let Some(place) = folded.and_then(|folded| places.get_mut(&canonical_text(&folded))) {
                place.1.push(j);
            }
        }
        places
    };
    shapes.into_iter().map(|(_, members)| look_up(members)).collect()
}

/// What is declared, as text: `{a:_,b:{c:_}}`.
fn shape(node: &Node, rules: &FieldRules) -> String {
    match &node.want {
        Want::Map(map) if value_comparer(&rules.here).is_none() => {
            let members =
                map.iter().map(|(name, item)| format!("{name:?}:{},", shape(item, rules.field(name))));
            format!("{{{}}}", members.collect::<String>())
        }
        _ => "_".into(),
    }
}

/// A desired value with every leaf in its normal form; `None` when it has parts that no text can stand for.
fn fold_desired(node: &Node, rules: &FieldRules) -> Option<Value> {
    if let Some(comparer) = value_comparer(&rules.here) {
        return Some(compare::fold(comparer, &plain(node)?));
    }
    Some(match &node.want {
        Want::Json(value) => value.clone(),
        Want::Secret(secret) => secret.value()?.clone(),
        Want::List(items) => {
            let each = rules.element(&Step::Each);
            Value::Array(items.iter().map(|item| fold_desired(item, each)).collect::<Option<_>>()?)
        }
        Want::Map(map) => {
            let mut folded = Map::new();
            for (name, item) in map {
                let rules = rules.field(name);
                if !rules.here.not_compared() {
                    folded.insert(name.to_string(), fold_desired(item, rules)?);
                }
            }
            Value::Object(folded)
        }
        Want::Unset | Want::Ref(_) | Want::Outside(_) => return None,
    })
}

/// An observed value in its normal form, with those members only that `model` declares.
fn fold_observed(model: &Node, value: &Value, rules: &FieldRules) -> Option<Value> {
    match (value_comparer(&rules.here), &model.want, value) {
        (None, Want::Map(declared), Value::Object(map)) => {
            let mut folded = Map::new();
            for (name, model) in declared {
                let rules = rules.field(name);
                if !rules.here.not_compared() {
                    let value = map.get(&**name).or(rules.here.default.as_ref())?;
                    folded.insert(name.to_string(), fold_observed(model, value, rules)?);
                }
            }
            Some(Value::Object(folded))
        }
        _ => Some(fold_whole(value, rules)),
    }
}

fn fold_whole(value: &Value, rules: &FieldRules) -> Value {
    if let Some(comparer) = value_comparer(&rules.here) {
        return compare::fold(comparer, value);
    }
    match value {
        Value::Array(items) => {
            let each = rules.element(&Step::Each);
            items.iter().map(|item| fold_whole(item, each)).collect()
        }
        Value::Object(map) => {
            let fold =
                |(name, value): (&String, &Value)| (name.clone(), fold_whole(value, rules.field(name)));
            Value::Object(map.iter().map(fold).collect())
        }
        scalar => scalar.clone(),
    }
}
