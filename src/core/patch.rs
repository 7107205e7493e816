//! Patches between two values: RFC 7396 merge patch, RFC 6902 JSON Patch with `test` operations.

use super::path::Path;
use super::value::Value;

/// One operation of a JSON Patch. Pointers are RFC 6901.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    Test { pointer: String, value: Value },
    Add { pointer: String, value: Value },
    Replace { pointer: String, value: Value },
    Remove { pointer: String },
}

/// A member must become JSON null, which a merge patch cannot say: there, null removes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` must become JSON null, and in a merge patch null removes")]
pub struct NullTrap(pub Path);

/// The smallest merge patch that leads from one value to the other.
pub fn merge_patch(from: &Value, to: &Value) -> Result<Value, NullTrap> {
    let _ = (from, to);
    todo!()
}

/// A JSON Patch that leads from one value to the other and fails where `from` is not what is there.
pub fn json_patch(from: &Value, to: &Value) -> Vec<Operation> {
    let _ = (from, to);
    todo!()
}
