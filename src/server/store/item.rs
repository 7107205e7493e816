//! One stored object, and the two members of it that belong to the server.

use std::sync::Arc;

use bytes::Bytes;

use crate::core::value::{self, Map, Value};

use super::key::Key;
use super::write::{MAX_SIZE, Refusal};

/// One stored object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub key: Key,
    /// Its place in the order of creation, over all collections; never reused.
    pub seq: u64,
    /// Grows by one with each change, and goes on where it was when an item is made again under its old name,
    /// so that a tag never names two states.
    pub revision: u64,
    /// Whether the client chose the name (PUT), in place of the server (POST).
    pub natural: bool,
    /// The object with `id` and `revision`, as it is sent.
    pub json: Bytes,
}

impl Item {
    /// Lays `id` and `revision` into the body, and writes it out.
    pub(super) fn new(
        key: Key,
        seq: u64,
        revision: u64,
        natural: bool,
        mut body: Map<String, Value>,
    ) -> Result<Arc<Item>, Refusal> {
        own(&mut body, &key, revision, natural);
        let json = serde_json::to_vec(&body).expect("a map of JSON values can be written");
        match json.len() {
            size if size > MAX_SIZE => Err(Refusal::TooLarge(size)),
            _ => Ok(Arc::new(Item { key, seq, revision, natural, json: json.into() })),
        }
    }

    /// The entity tag, without quotes.
    pub fn tag(&self) -> String {
        self.revision.to_string()
    }

    /// The object as a tree.
    pub fn value(&self) -> Map<String, Value> {
        serde_json::from_slice(&self.json).expect("the store holds what `Item::new` wrote")
    }

    /// Whether a write of this body would change nothing.
    pub(super) fn is(&self, body: &Map<String, Value>) -> bool {
        let mut body = body.clone();
        own(&mut body, &self.key, self.revision, self.natural);
        value::equal(&Value::Object(body), &Value::Object(self.value()))
    }
}

/// Sets the two members that belong to the server, whatever the client sent for them.
fn own(body: &mut Map<String, Value>, key: &Key, revision: u64, natural: bool) {
    let segment = key.segment();
    let id = match segment.parse::<u64>() {
        Ok(id) if !natural => Value::Number(id.into()),
        _ => Value::String(segment),
    };
    body.insert("id".into(), id);
    body.insert("revision".into(), Value::Number(revision.into()));
}
