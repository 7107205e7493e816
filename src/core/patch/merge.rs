//! RFC 7396: a patch that looks like the object. Null removes, lists are replaced whole.

use super::NullTrap;
use crate::core::path::Path;
use crate::core::value::{Map, Value, equal};

/// The smallest merge patch that leads from one value to the other; `{}` when they are equal maps.
///
/// # Errors
/// The first member that would have to become JSON null. Inside lists null is a value like any other.
pub fn merge_patch(from: &Value, to: &Value) -> Result<Value, NullTrap> {
    between(from, to, &Path::root())
}

fn between(from: &Value, to: &Value, path: &Path) -> Result<Value, NullTrap> {
    let Value::Object(to) = to else { return Ok(to.clone()) };
    let nothing = Map::new();
    // A map takes the place of anything else, and then all of its members are new.
    let from = from.as_object().unwrap_or(&nothing);
    let mut patch = Map::new();
    for name in from.keys().filter(|name| !to.contains_key(*name)) {
        patch.insert(name.clone(), Value::Null);
    }
    for (name, new) in to {
        let old = from.get(name);
        if old.is_some_and(|old| equal(old, new)) {
            continue;
        }
        let path = path.field(name);
        if new.is_null() {
            return Err(NullTrap(path));
        }
        patch.insert(name.clone(), between(old.unwrap_or(&Value::Null), new, &path)?);
    }
    Ok(Value::Object(patch))
}

/// The value that a merge patch makes of `target` (RFC 7396, section 2).
pub fn apply_merge(target: &Value, patch: &Value) -> Value {
    let Value::Object(patch) = patch else { return patch.clone() };
    let mut merged = target.as_object().cloned().unwrap_or_default();
    for (name, change) in patch {
        if change.is_null() {
            merged.remove(name);
        } else {
            let old = merged.get(name).unwrap_or(&Value::Null);
            let new = apply_merge(old, change);
            merged.insert(name.clone(), new);
        }
    }
    Value::Object(merged)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Value {
        serde_json::from_str(text).expect(text)
    }

    /// The table of RFC 7396, appendix A.
    #[test]
    fn patches_apply_as_the_rfc_says() {
        for (target, patch, result) in [
            (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"a":null}"#, r#"{}"#),
            (r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#),
            (r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"c"}"#, r#"{"a":["b"]}"#, r#"{"a":["b"]}"#),
            (r#"{"a":{"b":"c"}}"#, r#"{"a":{"b":"d","c":null}}"#, r#"{"a":{"b":"d"}}"#),
            (r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
            (r#"["a","b"]"#, r#"["c","d"]"#, r#"["c","d"]"#),
            (r#"{"a":"b"}"#, r#"["c"]"#, r#"["c"]"#),
            (r#"{"a":"foo"}"#, "null", "null"),
            (r#"{"a":"foo"}"#, r#""bar""#, r#""bar""#),
            (r#"{"e":null}"#, r#"{"a":1}"#, r#"{"e":null,"a":1}"#),
            (r#"[1,2]"#, r#"{"a":"b","c":null}"#, r#"{"a":"b"}"#),
            (r#"{}"#, r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
        ] {
            assert_eq!(apply_merge(&json(target), &json(patch)), json(result), "{target} + {patch}");
        }
    }

    #[test]
    fn patches_are_small() {
        for (from, to, patch) in [
            (r#"{"a":1,"b":{"c":2,"d":3}}"#, r#"{"a":1.0,"b":{"c":4,"d":3}}"#, r#"{"b":{"c":4}}"#),
            (r#"{"a":1,"b":2}"#, r#"{"b":2}"#, r#"{"a":null}"#),
            (r#"{"a":null,"b":1}"#, r#"{"a":null,"b":2}"#, r#"{"b":2}"#),
            (r#"{"a":{"b":1}}"#, r#"{"a":{}}"#, r#"{"a":{"b":null}}"#),
            (r#"{"a":1}"#, r#"{"a":{}}"#, r#"{"a":{}}"#),
            (r#"{"a":[1]}"#, r#"{"a":[null]}"#, r#"{"a":[null]}"#),
            (r#"{"a":1}"#, r#"{"a":1}"#, r#"{}"#),
        ] {
            let made = merge_patch(&json(from), &json(to)).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(made, json(patch), "{from} to {to}");
            assert!(equal(&apply_merge(&json(from), &made), &json(to)), "{from} to {to}");
        }
    }

    #[test]
    fn null_as_a_value_is_a_trap() {
        for (from, to, path) in [
            (r#"{"a":1}"#, r#"{"a":null}"#, "a"),
            (r#"{}"#, r#"{"a":{"b":null}}"#, "a.b"),
            (r#"{"a":1}"#, r#"{"a":{"b":{"c d":null}}}"#, r#"a.b["c d"]"#),
        ] {
            let NullTrap(at) = merge_patch(&json(from), &json(to)).expect_err(to);
            assert_eq!(at.to_string(), path);
        }
    }
}
