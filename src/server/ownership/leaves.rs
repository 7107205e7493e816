//! An item as its leaves: what they are, whether two are alike, and how one is laid in or taken out.

use std::collections::BTreeMap;

use crate::core::value::{Map, Value, equal};

use super::Field;

/// The leaves of an item. A map with members is none; its members are walked.
pub fn leaves(item: &Map<String, Value>) -> BTreeMap<Field, &Value> {
    let mut found = BTreeMap::new();
    walk(item, &mut Vec::new(), &mut found);
    found
}

fn walk<'v>(map: &'v Map<String, Value>, above: &mut Field, found: &mut BTreeMap<Field, &'v Value>) {
    for (name, value) in map {
        above.push(name.clone());
        match value {
            Value::Object(members) if !members.is_empty() => walk(members, above, found),
            leaf => drop(found.insert(above.clone(), leaf)),
        }
        above.pop();
    }
}

/// The value of a field, where all above it are maps.
pub fn at<'v>(item: &'v Map<String, Value>, field: &[String]) -> Option<&'v Value> {
    let (last, above) = field.split_last()?;
    above.iter().try_fold(item, |map, name| map.get(name)?.as_object())?.get(last)
}

/// Whether a field has not changed. Two maps are alike: what stands in them are fields of their own.
pub fn alike(before: Option<&Value>, after: Option<&Value>) -> bool {
    match (before, after) {
        (Some(Value::Object(_)), Some(Value::Object(_))) | (None, None) => true,
        (Some(before), Some(after)) => equal(before, after),
        _ => false,
    }
}

/// Lays a leaf into an item, over whatever is in the way. What is alike stays as it is spelled.
pub fn lay(item: &mut Map<String, Value>, field: &[String], leaf: &Value) {
    let Some((last, above)) = field.split_last() else { return };
    let mut map = item;
    for name in above {
        let value = map.entry(name.clone()).or_insert(Value::Null);
        if !value.is_object() {
            *value = Value::Object(Map::new());
        }
        let Value::Object(members) = value else { unreachable!("it has just been made a map") };
        map = members;
    }
    if !alike(map.get(last), Some(leaf)) {
        map.insert(last.clone(), leaf.clone());
    }
}

/// Takes a field out, and each map above it that is empty then and is `free` to go.
pub fn remove(item: &mut Map<String, Value>, field: &[String], free: &impl Fn(&[String]) -> bool) {
    remove_below(item, field, 1, free);
}

fn remove_below(
    map: &mut Map<String, Value>,
    field: &[String],
    depth: usize,
    free: &impl Fn(&[String]) -> bool,
) {
    let name = &field[depth - 1];
    if depth == field.len() {
        map.remove(name);
        return;
    }
    let Some(Value::Object(members)) = map.get_mut(name) else { return };
    remove_below(members, field, depth + 1, free);
    if members.is_empty() && free(&field[..depth]) {
        map.remove(name);
    }
}
