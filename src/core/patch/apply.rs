//! RFC 6902: operations on a value, all of them or none.

use super::{Operation, PatchError};
use crate::core::value::{Value, equal};

/// The value that the operations make of `document`.
///
/// # Errors
/// The first operation that does not apply; `document` itself is never touched.
pub fn apply_json(document: &Value, operations: &[Operation]) -> Result<Value, PatchError> {
    let mut value = document.clone();
    for operation in operations {
        match operation {
            Operation::Test { pointer, value: expected } => {
                let steps = steps(pointer)?;
                let found = steps.iter().try_fold(&value, |value, step| child(value, step));
                if !equal(found.ok_or_else(|| PatchError::Missing(pointer.clone()))?, expected) {
                    return Err(PatchError::TestFailed(pointer.clone()));
                }
            }
            Operation::Add { pointer, value: new } => add(&mut value, pointer, new.clone())?,
            Operation::Replace { pointer, value: new } => *find(&mut value, pointer)? = new.clone(),
            Operation::Remove { pointer } => remove(&mut value, pointer)?,
        }
    }
    Ok(value)
}

/// The steps of a pointer, unescaped (RFC 6901, section 4).
fn steps(pointer: &str) -> Result<Vec<String>, PatchError> {
    let wrong = || PatchError::Pointer(pointer.into());
    let mut steps = pointer.split('/');
    if steps.next() != Some("") {
        return Err(wrong());
    }
    steps
        .map(|step| {
            let mut parts = step.split('~');
            let mut text = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                text.push(match part.chars().next() {
                    Some('0') => '~',
                    Some('1') => '/',
                    _ => return Err(wrong()),
                });
                text.push_str(&part[1..]);
            }
            Ok(text)
        })
        .collect()
}

/// An index without leading zeros.
fn index(step: &str) -> Option<usize> {
    let plain = step.bytes().all(|b| b.is_ascii_digit()) && (step == "0" || !step.starts_with('0'));
    if plain { step.parse().ok() } else { None }
}

fn child<'v>(value: &'v Value, step: &str) -> Option<&'v Value> {
    match value {
        Value::Object(map) => map.get(step),
        Value::Array(items) => items.get(index(step)?),
        _ => None,
    }
}

fn find<'v>(value: &'v mut Value, pointer: &str) -> Result<&'v mut Value, PatchError> {
    let steps = steps(pointer)?;
    descend(value, &steps).ok_or_else(|| PatchError::Missing(pointer.into()))
}

fn descend<'v>(value: &'v mut Value, steps: &[String]) -> Option<&'v mut Value> {
    steps.iter().try_fold(value, |value, step| match value {
        Value::Object(map) => map.get_mut(step),
        Value::Array(items) => items.get_mut(index(step)?),
        _ => None,
    })
}

fn add(root: &mut Value, pointer: &str, new: Value) -> Result<(), PatchError> {
    let missing = || PatchError::Missing(pointer.into());
    let steps = steps(pointer)?;
    let Some((last, above)) = steps.split_last() else {
        *root = new;
        return Ok(());
    };
    match descend(root, above).ok_or_else(missing)? {
        Value::Object(map) => {
            map.insert(last.clone(), new);
        }
        Value::Array(items) if last == "-" => items.push(new),
        Value::Array(items) => {
            let at = index(last).filter(|at| *at <= items.len()).ok_or_else(missing)?;
            items.insert(at, new);
        }
        _ => return Err(missing()),
    }
    Ok(())
}

fn remove(root: &mut Value, pointer: &str) -> Result<(), PatchError> {
    let missing = || PatchError::Missing(pointer.into());
    let steps = steps(pointer)?;
    let Some((last, above)) = steps.split_last() else {
        *root = Value::Null;
        return Ok(());
    };
    match descend(root, above).ok_or_else(missing)? {
        Value::Object(map) => map.remove(last).map(drop).ok_or_else(missing),
        Value::Array(items) => {
            let at = index(last).filter(|at| *at < items.len()).ok_or_else(missing)?;
            items.remove(at);
            Ok(())
        }
        _ => Err(missing()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(document: &str, patch: &str) -> Result<Value, PatchError> {
        let json = |text: &str| serde_json::from_str::<Value>(text).expect(text);
        let operations: Result<Vec<_>, _> =
            json(patch).as_array().expect("a list").iter().map(Operation::from_json).collect();
        apply_json(&json(document), &operations?)
    }

    /// From RFC 6902, appendix A, and its edges.
    #[test]
    fn operations_apply() {
        for (document, patch, result) in [
            (
                r#"{"foo":"bar"}"#,
                r#"[{"op":"add","path":"/baz","value":"qux"}]"#,
                r#"{"baz":"qux","foo":"bar"}"#,
            ),
            (r#"{"foo":[1,2]}"#, r#"[{"op":"add","path":"/foo/1","value":3}]"#, r#"{"foo":[1,3,2]}"#),
            (r#"{"foo":[1]}"#, r#"[{"op":"add","path":"/foo/-","value":[2]}]"#, r#"{"foo":[1,[2]]}"#),
            (r#"{"a":1,"b":2}"#, r#"[{"op":"remove","path":"/a"}]"#, r#"{"b":2}"#),
            (r#"[1,2,3]"#, r#"[{"op":"remove","path":"/1"}]"#, r#"[1,3]"#),
            (r#"{"a":1}"#, r#"[{"op":"replace","path":"/a","value":2}]"#, r#"{"a":2}"#),
            (r#"{"/":9,"~1":10}"#, r#"[{"op":"test","path":"/~01","value":10.0}]"#, r#"{"/":9,"~1":10}"#),
            (r#"{"a":1}"#, r#"[{"op":"add","path":"","value":[]}]"#, "[]"),
            (r#"{"":1}"#, r#"[{"op":"remove","path":"/"}]"#, "{}"),
        ] {
            let want: Value = serde_json::from_str(result).expect(result);
            assert_eq!(run(document, patch).as_ref(), Ok(&want), "{patch}");
        }
    }

    #[test]
    fn operations_that_do_not_apply_say_where() {
        for (document, patch, error) in [
            (
                r#"{"a":"b"}"#,
                r#"[{"op":"test","path":"/a","value":"c"}]"#,
                "the value at `/a` is not the expected one",
            ),
            (r#"{"a":1}"#, r#"[{"op":"replace","path":"/b","value":1}]"#, "there is nothing at `/b`"),
            (r#"{"a":1}"#, r#"[{"op":"add","path":"/b/c","value":1}]"#, "there is nothing at `/b/c`"),
            ("[1]", r#"[{"op":"add","path":"/2","value":1}]"#, "there is nothing at `/2`"),
            ("[1,2]", r#"[{"op":"remove","path":"/01"}]"#, "there is nothing at `/01`"),
            ("[1]", r#"[{"op":"remove","path":"/-"}]"#, "there is nothing at `/-`"),
            ("{}", r#"[{"op":"add","path":"a","value":1}]"#, "`a` is not a JSON pointer"),
            ("{}", r#"[{"op":"add","path":"/a~2","value":1}]"#, "`/a~2` is not a JSON pointer"),
        ] {
            assert_eq!(run(document, patch).expect_err(patch).to_string(), error);
        }
    }
}
