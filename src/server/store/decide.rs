//! The rules of a write, pure: an index and what is asked for become the steps to the next state, or a refusal.
//!
//! As RFC 9110 section 13.2.1 demands, a precondition is looked at last: it can refuse only what would succeed.

use std::sync::Arc;

use crate::core::patch::{apply_json, apply_merge};
use crate::core::value::{self, Map, Value};
use crate::server::ownership::{BEFORE, Field, Managers, Mode, Patch as ApplyPatch};

use super::answers::Answered;
use super::condition::Condition;
use super::deletion;
use super::index::{Change, Index};
use super::item::{Item, payload};
use super::key::Key;
use super::refusal::Refusal;
use super::status::{self, STATUS};
use super::write::{Action, Done, Part, Patch, Write};

/// What came of a write, and the steps that it takes.
type Decision = Result<(Done, Vec<Change>), Refusal>;

/// What a write is about, and what is there.
struct At<'w> {
    key: &'w Key,
    part: Part,
    by: &'w str,
    condition: &'w Condition,
    current: Option<&'w Arc<Item>>,
    /// The body that is there; empty where there is none.
    before: Map<String, Value>,
    /// Whether the items of the collection keep their status apart.
    apart: bool,
}

impl Index {
    /// Does the write to this index, and adds to `changes` what it took.
    pub fn perform(&mut self, write: Write, changes: &mut Vec<Change>) -> Result<Done, Refusal> {
        let (done, steps) = self.decide(write)?;
        steps.iter().for_each(|step| self.apply(step));
        changes.extend(steps);
        Ok(done)
    }

    /// What a write would do. Nothing is done.
    pub fn decide(&self, write: Write) -> Decision {
        let Write { key, part, by, condition, action } = write;
        let (key, condition) = (&key, &condition);
        let at = || At::new(self, key, part, &by, condition);
        match action {
            Action::Create { body, idempotency_key } => self.create(key, condition, body, idempotency_key),
            Action::Delete => self.delete(key, condition),
            Action::Put(body) => {
                self.expect_parent(&key.parent().parent())?;
                self.put(at().makeable()?, body)
            }
            Action::Patch(Patch::Apply { config, force }) => {
                self.expect_parent(&key.parent().parent())?;
                self.apply_patch(at().makeable()?, config, force)
            }
            Action::Patch(Patch::Merge(patch)) => {
                let at = at().existing()?;
                let body = apply_merge(&Value::Object(at.before.clone()), &Value::Object(patch));
                self.put(at, object(body)?)
            }
            Action::Patch(Patch::Json(operations)) => {
                let at = at().existing()?;
                let body = apply_json(&Value::Object(at.before.clone()), &operations);
                self.put(at, object(body.map_err(Refusal::Patch)?)?)
            }
        }
    }

    /// A collection exists when its parent does; the root always does.
    pub fn expect_parent(&self, parent: &Key) -> Result<(), Refusal> {
        match parent.depth() == 0 || self.item(parent).is_some() {
            true => Ok(()),
            false => Err(Refusal::NoParent(parent.clone())),
        }
    }

    /// Something can be made below this item.
    fn expect_lasting(&self, parent: &Key) -> Result<(), Refusal> {
        match self.item(parent) {
            Some(item) if item.deleting.is_some() => Err(Refusal::ParentDeleting(parent.clone())),
            _ => Ok(()),
        }
    }

    fn create(
        &self,
        key: &Key,
        condition: &Condition,
        mut body: Map<String, Value>,
        idempotency_key: Option<String>,
    ) -> Decision {
        if body.contains_key("id") {
            return Err(Refusal::IdOnCreate(key.clone()));
        }
        if self.is_apart(key) {
            body.remove(STATUS);
        }
        if let Some(item) = idempotency_key.as_ref().and_then(|sent| self.answer(key, sent)) {
            let same = item.is(&body, &item.value());
            return same
                .then(|| (Done::Replayed(item.clone()), Vec::new()))
                .ok_or(Refusal::OtherPayload(key.clone()));
        }
        self.expect_parent(&key.parent())?;
        self.expect_lasting(&key.parent())?;
        deletion::check(key, false, &Map::new(), &body)?;
        let collection = self.collection(key);
        // `If-Match` speaks of the listing that the client has seen, `If-None-Match: *` of the item to be made.
        if !condition.match_holds(Some(&collection.map_or("c0".into(), |c| c.tag()))) {
            return Err(Refusal::Precondition(format!("the listing of `{key}` has changed")));
        }
        let mut id = collection.map_or(0, |c| c.last_id()) + 1;
        while self.item(&key.child(&id.to_string())).is_some() {
            id += 1; // a client has put an item under this very name
        }
        let item = self.made(&key.child(&id.to_string()), false, None).holding(body)?;
        let mut steps = vec![Change::Counted(key.clone(), id), Change::Stored(item.clone())];
        let remembered =
            idempotency_key.map(|sent| Answered { collection: key.clone(), sent, item: item.clone() });
        steps.extend(remembered.map(Change::Answered));
        Ok((Done::Created(item), steps))
    }

    /// A whole item in the place of what is there.
    fn put(&self, at: At, body: Map<String, Value>) -> Decision {
        at.expect_names(&body)?;
        let body = if at.apart { status::arranged(at.part, &at.before, body) } else { body };
        let held = at.current.and_then(|item| item.managers.as_ref());
        let managers =
            held.map(|managers| managers.updated(&payload(at.before.clone()), &payload(body.clone()), at.by));
        self.store(at, body, managers)
    }

    /// What a field manager wants to hold, laid into what is there.
    fn apply_patch(&self, at: At, config: Map<String, Value>, force: bool) -> Decision {
        at.expect_names(&config)?;
        let mut config = payload(config);
        if at.apart {
            config = status::arranged(at.part, &Map::new(), config);
        }
        let all: fn(&Field) -> bool = |_| true;
        let about = if at.apart { status::about(at.part) } else { all };
        let before = payload(at.before.clone());
        let held = at.current.and_then(|item| item.managers.as_deref().cloned());
        let managers = held.unwrap_or_else(|| Managers::of(BEFORE, Mode::Update, &before));
        let patch = ApplyPatch { by: at.by, config: &config, force, about };
        let (body, managers) = managers.apply(&before, patch).map_err(Refusal::Held)?;
        self.store(at, body, Some(managers))
    }

    /// The body in the place of what is there, or nothing where that is so already.
    fn store(&self, at: At, body: Map<String, Value>, managers: Option<Managers>) -> Decision {
        let At { key, part, current, condition, before, .. } = at;
        let item = current.map(Arc::as_ref);
        let going = item.is_some_and(|item| item.deleting.is_some());
        deletion::check(key, going && part == Part::Main, &before, &body)?;
        if item.is_none() {
            self.expect_lasting(&key.parent().parent())?;
        }
        if !condition.holds(item.map(Item::tag).as_deref()) {
            return Err(Refusal::Precondition(state(key, item)));
        }
        let managers = managers.map(Arc::new);
        let Some(current) = current else {
            let item = self.made(key, true, managers).holding(body)?;
            return Ok((Done::Created(item.clone()), vec![Change::Stored(item)]));
        };
        if going && deletion::finalizers(&body).is_empty() {
            return Ok((Done::Deleted, vec![Change::Removed(current.clone())]));
        }
        if current.managers == managers && current.is(&body, &before) {
            return Ok((Done::Unchanged(current.clone()), Vec::new()));
        }
        let item = Item { revision: current.revision + 1, managers, ..Item::clone(current) }.holding(body)?;
        Ok((Done::Changed(item.clone()), vec![Change::Stored(item)]))
    }

    fn delete(&self, key: &Key, condition: &Condition) -> Decision {
        let item = self.item(key).ok_or_else(|| Refusal::NotFound(key.clone()))?;
        match self.children(key) {
            0 => {}
            count => return Err(Refusal::Children { key: key.clone(), count }),
        }
        if !condition.holds(Some(&item.tag())) {
            return Err(Refusal::Precondition(state(key, Some(item))));
        }
        let body = item.value();
        if deletion::finalizers(&body).is_empty() {
            return Ok((Done::Deleted, vec![Change::Removed(item.clone())]));
        }
        if item.deleting.is_some() {
            return Ok((Done::Deleting(item.clone()), Vec::new()));
        }
        let revision = item.revision + 1;
        let item = Item { revision, deleting: Some(revision), ..Item::clone(item) }.holding(body)?;
        Ok((Done::Deleting(item.clone()), vec![Change::Stored(item)]))
    }

    /// An item that is about to be made.
    fn made(&self, key: &Key, natural: bool, managers: Option<Arc<Managers>>) -> Item {
        Item {
            key: key.clone(),
            seq: self.clock() + 1,
            revision: if natural { self.last_revision(key) + 1 } else { 1 },
            natural,
            deleting: None,
            managers,
            json: Default::default(),
        }
    }
}

impl<'w> At<'w> {
    fn new(index: &'w Index, key: &'w Key, part: Part, by: &'w str, condition: &'w Condition) -> At<'w> {
        let current = index.item(key);
        let before = current.map(|item| item.value()).unwrap_or_default();
        At { key, part, by, condition, current, before, apart: index.is_apart(&key.parent()) }
    }

    /// A status is of an item that is there; an item can be made.
    fn makeable(self) -> Result<At<'w>, Refusal> {
        if self.part == Part::Status { self.existing() } else { Ok(self) }
    }

    /// Only what is there can be patched.
    fn existing(self) -> Result<At<'w>, Refusal> {
        if self.current.is_some() { Ok(self) } else { Err(Refusal::NotFound(self.key.clone())) }
    }

    /// A name in the body must be the one in the path: a slip here would write one object over another.
    fn expect_names(&self, body: &Map<String, Value>) -> Result<(), Refusal> {
        let path = self.key.segment();
        let natural = self.current.is_none_or(|item| item.natural);
        let names = ["id", "name"].into_iter().take(if natural { 2 } else { 1 });
        for field in names {
            match body.get(field).map(value::plain_text) {
                Some(sent) if sent != path => return Err(Refusal::OtherName { field, sent, path }),
                _ => {}
            }
        }
        Ok(())
    }
}

fn object(value: Value) -> Result<Map<String, Value>, Refusal> {
    match value {
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
        index.perform(Write::new(key.clone(), action), &mut Vec::new())
    }

    #[test]
    fn ids_are_never_reused_and_step_over_names() {
        let mut index = Index::default();
        let teams = Key::root().child("teams");
        let create = |index: &mut Index| match write(
            index,
            &teams,
            Action::Create { body: Map::new(), idempotency_key: None },
        ) {
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
            let write = Write::new(key.clone(), action);
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
