//! Where two states of one object differ, element by element: what changes while nobody changes it is the
//! server's.

use crate::core::path::{Path, Step};
use crate::core::value::{Value, equal};

/// The paths at which the values differ, elements of lists as `[*]`. A list that has another length differs as a
/// whole, and so does a value that is there once only.
pub fn between(before: &Value, after: &Value) -> Vec<Path> {
    let mut found = Vec::new();
    walk(&Path::root(), before, after, &mut found);
    found
}

fn walk(path: &Path, before: &Value, after: &Value, found: &mut Vec<Path>) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            for (name, value) in before {
                walk(&path.field(name), value, after.get(name).unwrap_or(&Value::Null), found);
            }
            for (name, value) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
                walk(&path.field(name), &Value::Null, value, found);
            }
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            let below = path.with(Step::Each);
            before.iter().zip(after).for_each(|(before, after)| walk(&below, before, after, found));
        }
        _ if equal(before, after) || found.contains(path) => {}
        _ => found.push(path.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_differs() {
        for (before, after, want) in [
            (json!({"a": 1}), json!({"a": 1.0}), vec![]),
            (json!({"a": 1, "b": {"c": 1}}), json!({"a": 2, "b": {"c": 2}}), vec!["a", "b.c"]),
            (json!({"a": 1}), json!({"b": 1}), vec!["a", "b"]),
            (json!({"l": [{"t": 1}, {"t": 2}]}), json!({"l": [{"t": 3}, {"t": 4}]}), vec!["l[*].t"]),
            (json!({"l": [1]}), json!({"l": [1, 2]}), vec!["l"]),
            (json!({"a": null}), json!({}), vec![]),
        ] {
            let found: Vec<String> = between(&before, &after).iter().map(Path::to_string).collect();
            assert_eq!(found, want, "{before} {after}");
        }
    }
}
