//! The rules of a write, pure: an index and what is asked for become the next state, or a refusal.
//!
//! As RFC 9110 section 13.2.1 demands, a precondition is looked at last: it can refuse only what would succeed.

use std::sync::Arc;

use crate::core::patch::{Operation, PatchError, apply_json, apply_merge};
use crate::core::value::{self, Map, Value};

use super::condition::Condition;
use super::index::{Change, Index};
use super::item::Item;
use super::key::Key;

/// The largest item, and the largest request body, in bytes.
pub const MAX_SIZE: usize = 16 * 1024 * 1024;

/// What a client asks for.
#[derive(Clone, Debug)]
pub struct Write {
    /// The collection for [`Action::Create`], else the item.
    pub key: Key,
    pub condition: Condition,
    pub action: Action,
}

#[derive(Clone, Debug)]
pub enum Action {
    /// A new item under an id that the server makes.
    Create(Map<String, Value>),
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
}

/// What came of a write.
#[derive(Clone, Debug)]
pub enum Done {
    Created(Arc<Item>),
    Changed(Arc<Item>),
    /// The item was so already: nothing was written, the revision stays.
    Unchanged(Arc<Item>),
    Deleted,
}

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

impl Index {
    /// Does the write to this index, and adds to `changes` what it took.
    pub fn perform(&mut self, write: Write, changes: &mut Vec<Change>) -> Result<Done, Refusal> {
        let Write { key, condition, action } = write;
        match action {
            Action::Create(body) => self.create(&key, &condition, body, changes),
            Action::Put(body) => {
                let parent = key.parent().parent();
                self.expect_parent(&parent)?;
                self.put(&key, &condition, body, changes)
            }
            Action::Patch(patch) => {
                let current = self.item(&key).ok_or_else(|| Refusal::NotFound(key.clone()))?;
                let body = patched(current.value(), patch)?;
                self.put(&key, &condition, body, changes)
            }
            Action::Delete => self.delete(&key, &condition, changes),
        }
    }

    /// A collection exists when its parent does; the root always does.
    pub fn expect_parent(&self, parent: &Key) -> Result<(), Refusal> {
        match parent.depth() == 0 || self.item(parent).is_some() {
            true => Ok(()),
            false => Err(Refusal::NoParent(parent.clone())),
        }
    }

    fn create(
        &mut self,
        key: &Key,
        condition: &Condition,
        body: Map<String, Value>,
        changes: &mut Vec<Change>,
    ) -> Result<Done, Refusal> {
        self.expect_parent(&key.parent())?;
        if body.contains_key("id") {
            return Err(Refusal::IdOnCreate(key.clone()));
        }
        let collection = self.collection(key);
        // `If-Match` speaks of the listing that the client has seen, `If-None-Match: *` of the item to be made.
        if !condition.match_holds(Some(&collection.map_or("c0".into(), |c| c.tag()))) {
            return Err(Refusal::Precondition(format!("the listing of `{key}` has changed")));
        }
        let mut id = collection.map_or(0, |c| c.last_id()) + 1;
        while self.item(&key.child(&id.to_string())).is_some() {
            id += 1; // a client has put an item under this very name
        }
        let item = Item::new(key.child(&id.to_string()), self.clock() + 1, 1, false, body)?;
        self.step(Change::Counted(key.clone(), id), changes);
        self.step(Change::Stored(item.clone()), changes);
        Ok(Done::Created(item))
    }

    fn put(
        &mut self,
        key: &Key,
        condition: &Condition,
        body: Map<String, Value>,
        changes: &mut Vec<Change>,
    ) -> Result<Done, Refusal> {
        let current = self.item(key).cloned();
        let natural = current.as_ref().is_none_or(|item| item.natural);
        expect_name("id", &body, key)?;
        if natural {
            expect_name("name", &body, key)?;
        }
        if !condition.holds(current.as_ref().map(|item| item.tag()).as_deref()) {
            return Err(Refusal::Precondition(state(key, current.as_deref())));
        }
        let Some(current) = current else {
            let item = Item::new(key.clone(), self.clock() + 1, self.last_revision(key) + 1, true, body)?;
            self.step(Change::Stored(item.clone()), changes);
            return Ok(Done::Created(item));
        };
        if current.is(&body) {
            return Ok(Done::Unchanged(current));
        }
        let item = Item::new(key.clone(), current.seq, current.revision + 1, natural, body)?;
        self.step(Change::Stored(item.clone()), changes);
        Ok(Done::Changed(item))
    }

    fn delete(
        &mut self,
        key: &Key,
        condition: &Condition,
        changes: &mut Vec<Change>,
    ) -> Result<Done, Refusal> {
        let item = self.item(key).cloned().ok_or_else(|| Refusal::NotFound(key.clone()))?;
        match self.children(key) {
            0 => {}
            count => return Err(Refusal::Children { key: key.clone(), count }),
        }
        if !condition.holds(Some(&item.tag())) {
            return Err(Refusal::Precondition(state(key, Some(&item))));
        }
        self.step(Change::Removed(item), changes);
        Ok(Done::Deleted)
    }

    fn step(&mut self, change: Change, changes: &mut Vec<Change>) {
        self.apply(&change);
        changes.push(change);
    }
}

/// A name in the body must be the one in the path: a slip here would write one object over another.
fn expect_name(field: &'static str, body: &Map<String, Value>, key: &Key) -> Result<(), Refusal> {
    let path = key.segment();
    match body.get(field).map(value::plain_text) {
        Some(sent) if sent != path => Err(Refusal::OtherName { field, sent, path }),
        _ => Ok(()),
    }
}

fn patched(current: Map<String, Value>, patch: Patch) -> Result<Map<String, Value>, Refusal> {
    let current = Value::Object(current);
    let patched = match patch {
        Patch::Merge(patch) => apply_merge(&current, &Value::Object(patch)),
        Patch::Json(operations) => apply_json(&current, &operations).map_err(Refusal::Patch)?,
    };
    match patched {
        Value::Object(body) => Ok(body),
        other => Err(Refusal::NotAnObject(value::type_name(&other))),
    }
}

fn state(key: &Key, item: Option<&Item>) -> String {
    match item {
        Some(item) => format!("`{key}` is at revision {}", item.revision),
        None => format!("`{key}` does not exist"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().expect("a map").clone()
    }

    fn write(index: &mut Index, key: &Key, action: Action) -> Result<Done, Refusal> {
        index.perform(Write { key: key.clone(), condition: Condition::default(), action }, &mut Vec::new())
    }

    #[test]
    fn ids_are_never_reused_and_step_over_names() {
        let mut index = Index::default();
        let teams = Key::root().child("teams");
        let create = |index: &mut Index| match write(index, &teams, Action::Create(Map::new())) {
            Ok(Done::Created(item)) => item.key.segment(),
            other => panic!("{other:?}"),
        };
        assert_eq!(create(&mut index), "1");
        write(&mut index, &teams.child("1"), Action::Delete).expect("deleted");
        write(&mut index, &teams.child("2"), Action::Put(Map::new())).expect("put under a number");
        assert_eq!(create(&mut index), "3");
        assert_eq!(create(&mut index), "4");
    }

    #[test]
    fn a_name_that_comes_back_goes_on_with_its_revisions() {
        let mut index = Index::default();
        let key = Key::root().child("zones").child("a");
        for want in [1, 3] {
            let Ok(Done::Created(item)) = write(&mut index, &key, Action::Put(Map::new())) else { panic!() };
            assert_eq!(item.revision, want);
            let Ok(Done::Changed(item)) = write(&mut index, &key, Action::Put(map(json!({"x": want}))))
            else {
                panic!()
            };
            assert_eq!(item.revision, want + 1);
            write(&mut index, &key, Action::Delete).expect("deleted");
        }
    }

    #[test]
    fn an_equal_write_changes_nothing() {
        let mut index = Index::default();
        let key = Key::root().child("zones").child("a");
        write(&mut index, &key, Action::Put(map(json!({"ttl": 60, "x": {"y": 1}})))).expect("created");
        for action in [
            Action::Put(serde_json::from_str(r#"{"x": {"y": 1.0}, "ttl": 6e1, "revision": 99}"#).unwrap()),
            Action::Patch(Patch::Merge(map(json!({"x": {"y": 1, "z": null}})))),
            Action::Patch(Patch::Merge(Map::new())),
            Action::Patch(Patch::Json(Vec::new())),
        ] {
            let mut changes = Vec::new();
            let write = Write { key: key.clone(), condition: Condition::default(), action };
            let Ok(Done::Unchanged(item)) = index.perform(write, &mut changes) else { panic!() };
            assert_eq!((item.revision, changes.len()), (1, 0));
        }
    }

    #[test]
    fn a_parent_must_exist_and_cannot_leave_its_children() {
        let mut index = Index::default();
        let team = Key::root().child("teams").child("a");
        let member = team.child("members").child("ann");
        assert_eq!(
            write(&mut index, &member, Action::Put(Map::new())).unwrap_err(),
            Refusal::NoParent(team.clone())
        );
        write(&mut index, &team, Action::Put(Map::new())).expect("the team");
        write(&mut index, &member, Action::Put(Map::new())).expect("the member");
        let refusal = write(&mut index, &team, Action::Delete).unwrap_err();
        assert_eq!(refusal.to_string(), "`/teams/a` still has 1 item below it");
        write(&mut index, &member, Action::Delete).expect("the member goes");
        write(&mut index, &team, Action::Delete).expect("the team goes");
    }
}
