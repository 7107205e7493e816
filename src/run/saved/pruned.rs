//! Deletions of what no document names, as a saved plan holds them: which object it was, why it may go, and a hash of
//! what it was like. Where the plan is applied, the scope is looked through again, and of what is found there only
//! that is deleted which the plan deletes and which is as it was.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::object::Place;
use super::{SavedObject, seal};
use crate::core::exchange::Item;
use crate::core::fields::FieldRule;
use crate::core::identity::ObjectId;
use crate::core::kind::Kind;
use crate::core::path::{Path, Step};
use crate::core::prune::{Proof, Pruned, Rank};
use crate::core::report::Explanation;
use crate::core::value::{Value, plain_text};
use crate::core::veil::Veil;

/// Why an object is deleted that no document names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedPruned {
    pub set: String,
    pub owner: Option<String>,
    pub proof: SavedProof,
    /// The hash of what a listing showed of it, without its secrets and without what the server changes by itself.
    pub seen: String,
}

/// What proves that an object is ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum SavedProof {
    Mark,
    Exclusive,
    /// A ReplicaSet counts it, and wants so many.
    Replica {
        wanted: usize,
    },
    /// The ref that says that its document was applied, and where that stood.
    Recorded {
        by: String,
        place: Place,
    },
}

impl SavedProof {
    fn of(proof: &Proof) -> SavedProof {
        match proof {
            Proof::Mark => SavedProof::Mark,
            Proof::Exclusive => SavedProof::Exclusive,
            Proof::Replica(wanted) => SavedProof::Replica { wanted: *wanted },
            Proof::Recorded(by, origin) => {
                SavedProof::Recorded { by: by.to_string(), place: Place::of(origin) }
            }
        }
    }

    fn proof(&self) -> Proof {
        match self {
            SavedProof::Mark => Proof::Mark,
            SavedProof::Exclusive => Proof::Exclusive,
            SavedProof::Replica { wanted } => Proof::Replica(*wanted),
            SavedProof::Recorded { by, place } => Proof::Recorded(by.as_str().into(), place.origin()),
        }
    }
}

impl SavedPruned {
    pub fn of(pruned: &Pruned, seen: &str) -> SavedPruned {
        SavedPruned {
            set: pruned.set.to_string(),
            owner: pruned.owner.as_deref().map(str::to_owned),
            proof: SavedProof::of(&pruned.proof),
            seen: seen.to_owned(),
        }
    }

    /// What is wanted of the object: that it be gone, for this reason.
    pub fn desired(&self, id: &ObjectId) -> String {
        seal::hash(&json!([*id.kind.backend, id.slashed(), self.set, self.owner, self.proof]))
    }

    /// As the engine takes it; `server_id` is the one of the object that was seen.
    pub fn pruned(&self, server_id: Option<&str>) -> Pruned {
        Pruned {
            set: self.set.as_str().into(),
            owner: self.owner.as_deref().map(Arc::from),
            proof: self.proof.proof(),
            server_id: server_id.map(Arc::from),
            rank: Rank::default(),
            unique: Vec::new(),
        }
    }
}

/// Takes down what the objects look like that are to go.
#[derive(Debug, Default)]
pub struct Looks(RefCell<HashMap<ObjectId, String>>);

impl Looks {
    /// Takes one down; it may go.
    ///
    /// # Errors
    /// None.
    pub fn note(&self, kind: &Kind, item: &Item) -> Result<(), Explanation> {
        let id = ObjectId { kind: kind.name.clone(), key: item.key.clone() };
        self.0.borrow_mut().insert(id, look(kind, item));
        Ok(())
    }

    /// What was taken down.
    pub fn of(&self, id: &ObjectId) -> String {
        self.0.borrow().get(id).cloned().unwrap_or_default()
    }
}

/// What a plan deletes without a document.
#[derive(Debug)]
pub struct Deletions<'p>(HashMap<ObjectId, &'p SavedObject>);

impl<'p> Deletions<'p> {
    pub fn of(objects: &'p [SavedObject]) -> Deletions<'p> {
        let pruned = objects.iter().filter(|object| object.pruned.is_some());
        Deletions(pruned.map(|object| (object.object_id(), object)).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an object that could go now is one that the plan deletes, and as it was.
    ///
    /// # Errors
    /// Why it stays.
    pub fn holds(&self, kind: &Kind, item: &Item) -> Result<(), Explanation> {
        let id = ObjectId { kind: kind.name.clone(), key: item.key.clone() };
        let stale = |why: &str| Err(Explanation::new(why).hint("make a new plan"));
        let Some(object) = self.0.get(&id) else {
            return stale("the plan does not delete it: it is too much only since it was made");
        };
        let ids = object.id.as_deref().zip(item.server_id.as_deref());
        if ids.is_some_and(|(then, now)| then != now) {
            return stale("another object has its name since the plan was made");
        }
        match &object.pruned {
            Some(pruned) if pruned.seen == look(kind, item) => Ok(()),
            _ => Err(Explanation::new("it has changed since the plan was made").hint(
                "make a new plan; what the server changes by itself is `server-owned` in the backend's `fields`",
            )),
        }
    }
}

/// The hash of what an object looks like.
fn look(kind: &Kind, item: &Item) -> String {
    let mut value = Veil::of_rules(&kind.fields).cover(&item.value);
    kind.fields.each_rule(&mut |path: &Path, rule: &FieldRule| {
        if rule.not_compared() {
            remove(&mut value, &path.0);
        }
    });
    seal::hash(&json!([item.server_id.as_deref(), value]))
}

fn remove(value: &mut Value, steps: &[Step]) {
    let Some((step, below)) = steps.split_first() else { return };
    match (step, value) {
        (Step::Field(name), Value::Object(map)) if below.is_empty() => drop(map.remove(name)),
        (Step::Field(name), Value::Object(map)) => {
            map.get_mut(name).into_iter().for_each(|value| remove(value, below));
        }
        (Step::Each, Value::Object(map)) if below.is_empty() => map.clear(),
        (Step::Each, Value::Object(map)) => map.values_mut().for_each(|value| remove(value, below)),
        (Step::Each, Value::Array(items)) if below.is_empty() => items.clear(),
        (Step::Each, Value::Array(items)) => items.iter_mut().for_each(|value| remove(value, below)),
        (Step::Index(at), Value::Array(items)) => {
            items.get_mut(*at).into_iter().for_each(|value| remove(value, below));
        }
        (Step::Keyed(name, want), Value::Array(items)) => {
            let named = |item: &&mut Value| item.get(name).is_some_and(|value| plain_text(value) == *want);
            items.iter_mut().filter(named).for_each(|value| remove(value, below));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::fields::FieldRules;

    #[test]
    fn what_the_server_changes_by_itself_is_no_part_of_the_look() {
        let mut rules = FieldRules::default();
        let path = |text: &str| Path::parse(text).expect(text);
        for owned in ["at", "m.n", "l[*].s", "all[*]"] {
            rules.at_mut(&path(owned)).server_owned = true;
        }
        rules.at_mut(&path("pass")).secret = true;
        let kind = Kind { fields: rules, ..crate::core::engine::tests::make::kind("K", false, None) };
        let of = |value: Value| {
            let item = Item {
                key: crate::core::engine::tests::make::key_of(&[("name", "a")]),
                server_id: None,
                version: None,
                value: Arc::new(value),
                deleting: false,
                ready: None,
                ambiguous: Vec::new(),
            };
            look(&kind, &item)
        };
        let one = of(
            json!({"at": 1, "m": {"n": 1, "o": 1}, "l": [{"s": 1, "t": 1}], "all": {"x": 1}, "pass": "a"}),
        );
        let same =
            of(json!({"at": 2, "m": {"n": 2, "o": 1.0}, "l": [{"s": 2, "t": 1}], "all": {}, "pass": "b"}));
        assert_eq!(one, same);
        for other in [
            json!({"at": 1, "m": {"n": 1, "o": 2}, "l": [{"s": 1, "t": 1}], "all": {"x": 1}, "pass": "a"}),
            json!({"at": 1, "m": {"n": 1, "o": 1}, "l": [{"s": 1, "t": 2}], "all": {"x": 1}, "pass": "a"}),
            json!({"at": 1, "m": {"n": 1, "o": 1}, "l": [], "all": {"x": 1}, "pass": "a"}),
        ] {
            assert_ne!(one, of(other.clone()), "{other}");
        }
    }
}
