//! One stored object, and the members of it that belong to the server.

use std::sync::Arc;

use bytes::Bytes;

use crate::core::value::{Map, Value, equal};
use crate::server::ownership::Managers;

use super::key::Key;
use super::refusal::Refusal;
use super::write::MAX_SIZE;

/// The member that says that the object is being deleted: the revision at which that was asked for.
const DELETION: &str = "deletionRevision";
/// The members that are the server's; what a client sends for them is passed over.
const OURS: [&str; 3] = ["id", "revision", DELETION];

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
    /// The revision at which its deletion was asked for, while finalizers keep it.
    pub deleting: Option<u64>,
    /// Who holds which field; nothing before the first apply-patch.
    pub managers: Option<Arc<Managers>>,
    /// The object with the server's members, as it is sent.
    pub json: Bytes,
}

impl Item {
    /// The item with this body, into which the server's members are laid.
    pub(super) fn holding(mut self, mut body: Map<String, Value>) -> Result<Arc<Item>, Refusal> {
        self.own(&mut body);
        let json = serde_json::to_vec(&body).expect("a map of JSON values can be written");
        if json.len() > MAX_SIZE {
            return Err(Refusal::TooLarge(json.len()));
        }
        self.json = json.into();
        Ok(Arc::new(self))
    }

    /// The entity tag, without quotes.
    pub fn tag(&self) -> String {
        self.revision.to_string()
    }

    /// The object as a tree.
    pub fn value(&self) -> Map<String, Value> {
        serde_json::from_slice(&self.json).expect("the store holds what `Item::holding` wrote")
    }

    /// Whether a write of this body would change nothing of the object, whose tree is `value`.
    pub(super) fn is(&self, body: &Map<String, Value>, value: &Map<String, Value>) -> bool {
        let mut body = body.clone();
        self.own(&mut body);
        body.len() == value.len() && body.iter().zip(value).all(|((a, x), (b, y))| a == b && equal(x, y))
    }

    /// Sets the server's members, whatever the client sent for them.
    fn own(&self, body: &mut Map<String, Value>) {
        let segment = self.key.segment();
        let id = match segment.parse::<u64>() {
            Ok(id) if !self.natural => Value::Number(id.into()),
            _ => Value::String(segment),
        };
        body.insert("id".into(), id);
        body.insert("revision".into(), self.revision.into());
        match self.deleting {
            Some(revision) => drop(body.insert(DELETION.into(), revision.into())),
            None => drop(body.remove(DELETION)),
        }
    }
}

/// A body without the members that are the server's.
pub fn payload(mut body: Map<String, Value>) -> Map<String, Value> {
    OURS.iter().for_each(|name| drop(body.remove(*name)));
    body
}
