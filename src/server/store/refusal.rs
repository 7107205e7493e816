//! Why a write is refused.

use crate::core::patch::PatchError;
use crate::server::ownership::{self, Conflict};

use super::key::Key;
use super::write::MAX_SIZE;

/// Why a write was not done. Nothing changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the parent `{0}` does not exist")]
    NoParent(Key),
    #[error("`{0}` does not exist")]
    NotFound(Key),
    #[error("`{key}` still has {count} {} below it", if *count == 1 { "item" } else { "items" })]
    Children { key: Key, count: u64 },
    #[error("the {field} in the body is `{sent}`, the one in the path is `{path}`")]
    OtherName { field: &'static str, sent: String, path: String },
    #[error("an `id` is in the body, but the ids of `{0}` are made by the server; use PUT to choose a name")]
    IdOnCreate(Key),
    #[error("the `Idempotency-Key` was used in `{0}` with another payload; a new request needs a new key")]
    OtherPayload(Key),
    #[error("the parent `{0}` is being deleted, so nothing can be made below it")]
    ParentDeleting(Key),
    #[error("`{0}` is being deleted: of its fields only `finalizers` can change, and only lose entries")]
    Deleting(Key),
    #[error("`finalizers` must be a list of texts that are not empty")]
    Finalizers,
    #[error("{}", held(.0))]
    Held(Vec<Conflict>),
    #[error("the patch does not apply: {0}")]
    Patch(PatchError),
    #[error("the patch would leave {0}; an item is a JSON object")]
    NotAnObject(&'static str),
    #[error("the item would have {0} bytes, more than {MAX_SIZE}")]
    TooLarge(usize),
    #[error("a precondition does not hold: {0}")]
    Precondition(String),
    #[error("the store could not be written: {0}")]
    Disk(String),
}

/// The fields of a conflict, and who holds each.
fn held(conflicts: &[Conflict]) -> String {
    let each = conflicts.iter();
    let each = each.map(|held| format!("`{}` is held by `{}`", ownership::path(&held.field), held.manager));
    each.collect::<Vec<_>>().join(", ")
}
