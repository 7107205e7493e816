//! Patches between two values: RFC 7396 merge patch, RFC 6902 JSON Patch with `test` operations.
//!
//! What to change is decided elsewhere (the overlay); here two values become a patch, and a patch and a value
//! become another value. Both are plain JSON, and secrets may stand in them in clear.

mod apply;
mod json;
mod merge;
mod operation;

pub use apply::apply_json;
pub use json::json_patch;
pub use merge::{apply_merge, merge_patch};
pub use operation::{Operation, PatchError};

use super::path::Path;

/// A member must become JSON null, which a merge patch cannot say: there, null removes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` must become JSON null, and in a merge patch null removes")]
pub struct NullTrap(pub Path);
