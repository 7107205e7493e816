//! Operations of a JSON Patch as JSON, and what can go wrong with them.

use crate::core::value::{Map, Value};

/// One operation of a JSON Patch. Pointers are RFC 6901.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    Test { pointer: String, value: Value },
    Add { pointer: String, value: Value },
    Replace { pointer: String, value: Value },
    Remove { pointer: String },
}

/// Why a JSON Patch is none, or does not apply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    #[error("a patch operation is a map with `op` and `path`")]
    Shape,
    #[error("the patch operation `{0}` is not supported")]
    Unsupported(String),
    #[error("the patch operation `{0}` has no value")]
    NoValue(String),
    #[error("`{0}` is not a JSON pointer")]
    Pointer(String),
    #[error("there is nothing at `{0}`")]
    Missing(String),
    #[error("the value at `{0}` is not the expected one")]
    TestFailed(String),
}

impl Operation {
    /// As it stands in a request's body.
    pub fn to_json(&self) -> Value {
        let (op, pointer, value) = match self {
            Operation::Test { pointer, value } => ("test", pointer, Some(value)),
            Operation::Add { pointer, value } => ("add", pointer, Some(value)),
            Operation::Replace { pointer, value } => ("replace", pointer, Some(value)),
            Operation::Remove { pointer } => ("remove", pointer, None),
        };
        let mut map = Map::new();
        map.insert("op".into(), op.into());
        map.insert("path".into(), pointer.as_str().into());
        if let Some(value) = value {
            map.insert("value".into(), value.clone());
        }
        Value::Object(map)
    }

    /// Reads one operation. Members that it does not know are ignored (RFC 6902, section 4).
    ///
    /// # Errors
    /// Another shape, and `move` and `copy`, which this tool never writes.
    pub fn from_json(value: &Value) -> Result<Operation, PatchError> {
        let text = |name: &str| value.get(name).and_then(Value::as_str).ok_or(PatchError::Shape);
        let (op, pointer) = (text("op")?, text("path")?.to_owned());
        let value = || value.get("value").cloned().ok_or_else(|| PatchError::NoValue(op.into()));
        Ok(match op {
            "test" => Operation::Test { pointer, value: value()? },
            "add" => Operation::Add { pointer, value: value()? },
            "replace" => Operation::Replace { pointer, value: value()? },
            "remove" => Operation::Remove { pointer },
            other => return Err(PatchError::Unsupported(other.into())),
        })
    }
}

/// A member's name or an index as a step of a pointer.
pub(super) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_round_trip_through_json() {
        for text in [
            r#"{"op":"test","path":"/a","value":null}"#,
            r#"{"op":"add","path":"/a/-","value":[1]}"#,
            r#"{"op":"replace","path":"","value":{}}"#,
            r#"{"op":"remove","path":"/a~1b"}"#,
        ] {
            let value: Value = serde_json::from_str(text).expect(text);
            let operation = Operation::from_json(&value).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(operation.to_json(), value);
        }
    }

    #[test]
    fn other_shapes_are_named() {
        for (text, error) in [
            ("[]", "a patch operation is a map with `op` and `path`"),
            (r#"{"op":"add","value":1}"#, "a patch operation is a map with `op` and `path`"),
            (r#"{"op":"move","path":"/a","from":"/b"}"#, "the patch operation `move` is not supported"),
            (r#"{"op":"add","path":"/a"}"#, "the patch operation `add` has no value"),
        ] {
            let value: Value = serde_json::from_str(text).expect(text);
            assert_eq!(Operation::from_json(&value).expect_err(text).to_string(), error);
        }
    }
}
