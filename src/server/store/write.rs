//! What a client asks of the store, and what comes of it.

use std::sync::Arc;

use crate::core::patch::Operation;
use crate::core::value::{Map, Value};

use super::condition::Condition;
use super::item::Item;
use super::key::Key;

/// The largest item, and the largest request body, in bytes.
pub const MAX_SIZE: usize = 16 * 1024 * 1024;

/// What a client asks for.
#[derive(Clone, Debug)]
pub struct Write {
    /// The collection for [`Action::Create`], else the item.
    pub key: Key,
    pub part: Part,
    /// The field manager that writes.
    pub by: String,
    pub condition: Condition,
    pub action: Action,
}

/// Which part of an item a write is about, where its `status` is kept apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// All but the `status`; all of it in other collections.
    #[default]
    Main,
    /// The `status` alone.
    Status,
}

#[derive(Clone, Debug)]
pub enum Action {
    /// A new item under an id that the server makes. A key that was used before gives the answer that it gave.
    Create {
        body: Map<String, Value>,
        idempotency_key: Option<String>,
    },
    /// The whole item, under the name that the key carries.
    Put(Map<String, Value>),
    Patch(Patch),
    Delete,
}

/// A change to whatever the item holds when its turn comes.
#[derive(Clone, Debug)]
pub enum Patch {
    /// RFC 7396.
    Merge(Map<String, Value>),
    /// RFC 6902.
    Json(Vec<Operation>),
    /// All that the field manager wants to hold. Makes the item when it is not there.
    Apply { config: Map<String, Value>, force: bool },
}

/// What came of a write.
#[derive(Clone, Debug)]
pub enum Done {
    Created(Arc<Item>),
    Changed(Arc<Item>),
    /// The item was so already: nothing was written, the revision stays.
    Unchanged(Arc<Item>),
    /// The item as it was made by an earlier request with this key: nothing was written.
    Replayed(Arc<Item>),
    /// It goes once its finalizers are removed.
    Deleting(Arc<Item>),
    Deleted,
}

impl Write {
    /// A write without a precondition, by nobody in particular.
    pub fn new(key: Key, action: Action) -> Write {
        Write { key, part: Part::Main, by: "unknown".into(), condition: Condition::default(), action }
    }
}
