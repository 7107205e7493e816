//! The server of a schedule: what it stores, what it answers, and what other actors do to it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::dice::Dice;
use super::operations::Operations;
use super::scene::{Declared, Manner, SLOWEST, Scene, declared};
use crate::core::document::Ensure;
use crate::core::exchange::{Answer, Ask, Body, Collection, FailureClass, Item, Listing, Target};
use crate::core::exchange::{VersionToken, Wanted, Write};
use crate::core::identity::ObjectId;
use crate::core::patch::{apply_json, apply_merge};
use crate::core::value::Value;

use super::super::model::failed;

#[derive(Clone, Debug)]
pub struct Stored {
    pub id: u64,
    pub value: Value,
    pub version: u64,
    /// Somebody else made it.
    pub foreign: bool,
    visible_at: Duration,
    gone_at: Option<Duration>,
}

pub struct World {
    pub scene: Rc<Scene>,
    pub now: Duration,
    pub objects: BTreeMap<ObjectId, Vec<Stored>>,
    next_id: u64,
    /// The version of all lines together.
    lines: u64,
    /// All ids that an object of this name ever had.
    ids: HashMap<ObjectId, BTreeSet<u64>>,
    /// Whether the server was as a document wants it, at any moment since our last write to the object.
    pub was_right: Vec<bool>,
    at: HashMap<ObjectId, usize>,
    pub operations: Operations,
    /// Operations fail, are forgotten, or never end.
    pub troubled: bool,
    /// Broken invariants, in order.
    pub broken: Vec<String>,
}

/// Whether its version is that of all such objects together.
fn is_of_a_set(id: &ObjectId) -> bool {
    matches!(&*id.kind.kind, "Line" | "Route")
}

impl World {
    /// A server on which some of the objects stand, as wanted or otherwise.
    pub fn draw(scene: Rc<Scene>, dice: &mut Dice) -> World {
        let at = scene.documents.iter().enumerate().map(|(at, d)| (d.id.clone(), at)).collect();
        let was_right = vec![false; scene.documents.len()];
        let mut world = World {
            scene,
            now: Duration::ZERO,
            objects: BTreeMap::new(),
            next_id: 0,
            lines: 0,
            ids: HashMap::new(),
            was_right,
            at,
            operations: Operations::default(),
            troubled: false,
            broken: Vec::new(),
        };
        let share = dice.one(&[0.0, 0.5, 0.9, 1.0]);
        let twins = if dice.chance(0.1) { 0.2 } else { 0.0 };
        for _ in 0..2 {
            for at in 0..world.scene.documents.len() {
                if dice.chance(share) && !world.stands(at) {
                    world.foreign_create(at, dice);
                    if !Manner::of(world.kind(at)).unique && dice.chance(twins) {
                        world.foreign_create(at, dice);
                    }
                }
            }
        }
        world
    }

    fn kind(&self, at: usize) -> &str {
        &self.scene.documents[at].id.kind.kind
    }

    pub fn stands(&self, at: usize) -> bool {
        self.slot(at).is_some_and(|slot| !slot.is_empty())
    }

    pub fn slot(&self, at: usize) -> Option<&Vec<Stored>> {
        self.objects.get(&self.scene.documents[at].id)
    }

    /// A new run begins: what it may call right is what is right from now on.
    pub fn begin_run(&mut self) {
        for at in 0..self.was_right.len() {
            self.was_right[at] = self.is_right(at);
        }
    }

    /// Whether the server is as the document wants it.
    pub fn is_right(&self, at: usize) -> bool {
        let document = &self.scene.documents[at];
        let slot = self.slot(at).map_or(&[][..], |slot| slot);
        match (document.policy.ensure, slot) {
            (Ensure::Absent, slot) => slot.is_empty(),
            (Ensure::Exists, slot) => !slot.is_empty(),
            (Ensure::Present, slot) => slot.iter().any(|one| {
                one.gone_at.is_none()
                    && declared(document).all(|(name, want)| match want {
                        Declared::Value(value) => one.value.get(name) == Some(value),
                        Declared::IdOf(reference) => {
                            let id = one.value.get(name).and_then(Value::as_u64);
                            id.is_some_and(|id| {
                                self.ids.iter().any(|(of, ids)| {
                                    of.kind.kind == reference.kind
                                        && of.key.parts() == reference.parts
                                        && ids.contains(&id)
                                })
                            })
                        }
                    })
            }),
        }
    }

    fn changed(&mut self, id: &ObjectId, ours: bool) {
        self.lines += u64::from(is_of_a_set(id));
        let Some(&at) = self.at.get(id) else { return };
        let right = self.is_right(at);
        self.was_right[at] = right || (self.was_right[at] && !ours);
    }

    /// Lets time pass: what is being deleted goes.
    pub fn pass(&mut self, time: Duration) {
        self.now += time;
        let now = self.now;
        let mut gone = Vec::new();
        for (id, slot) in &mut self.objects {
            let before = slot.len();
            slot.retain(|stored| stored.gone_at.is_none_or(|at| at > now));
            if slot.len() < before {
                gone.push(id.clone());
            }
        }
        gone.iter().for_each(|id| self.changed(id, false));
    }

    fn parents_stand(&self, at: usize) -> bool {
        let stays = |slot: &Vec<Stored>| slot.iter().any(|stored| stored.gone_at.is_none());
        self.scene.graph.nodes[at].parents.iter().all(|(_, parent)| self.slot(*parent).is_some_and(stays))
    }

    fn has_children(&self, id: &ObjectId) -> bool {
        let Some(at) = self.at.get(id) else { return false };
        (0..self.scene.documents.len()).any(|child| {
            self.scene.graph.nodes[child].parents.iter().any(|(_, p)| p == at) && self.stands(child)
        })
    }

    fn store(&mut self, id: &ObjectId, mut value: Value, foreign: bool, visible_at: Duration) -> u64 {
        self.next_id += 1;
        if let Some(map) = value.as_object_mut() {
            map.remove("id");
        }
        // As with ETags, no version of an object is one of an earlier object of its name.
        let version = self.next_id << 20;
        let stored = Stored { id: self.next_id, value, version, foreign, visible_at, gone_at: None };
        self.objects.entry(id.clone()).or_default().push(stored);
        self.ids.entry(id.clone()).or_default().insert(self.next_id);
        self.changed(id, !foreign);
        self.next_id
    }

    fn foreign_create(&mut self, at: usize, dice: &mut Dice) {
        if !self.parents_stand(at) {
            return;
        }
        let mut value = json!({"size": dice.below(3), "note": dice.below(100)});
        if dice.chance(0.6) {
            for (name, want) in declared(&self.scene.documents[at]) {
                if let Declared::Value(wanted) = want {
                    value[name] = wanted.clone();
                }
            }
        }
        let id = self.scene.documents[at].id.clone();
        self.store(&id, value, true, Duration::ZERO);
    }

    /// Something that another actor does.
    pub fn meddle(&mut self, dice: &mut Dice) -> String {
        let at = dice.below(self.scene.documents.len());
        let id = self.scene.documents[at].id.clone();
        let children = self.has_children(&id);
        let Some(stored) = self.objects.get_mut(&id).and_then(|slot| slot.first_mut()) else {
            if dice.chance(0.3) {
                self.foreign_create(at, dice);
                return format!("another creates {id}");
            }
            return String::new();
        };
        match dice.below(10) {
            0 if !children => {
                self.objects.remove(&id);
                self.changed(&id, false);
                format!("another deletes {id}")
            }
            1 => {
                stored.value["size"] = dice.below(3).into();
                stored.version += 1;
                self.changed(&id, false);
                format!("another changes the size of {id}")
            }
            _ => {
                stored.value["note"] = dice.below(100).into();
                stored.version += 1;
                self.changed(&id, false);
                format!("another changes the note of {id}")
            }
        }
    }

    fn item(&self, id: &ObjectId, stored: &Stored) -> Item {
        let mut value = stored.value.clone();
        value["id"] = stored.id.into();
        let versioned = matches!(&*id.kind.kind, "Page" | "Lone" | "Line" | "Route");
        let version = VersionToken { text: self.version(id, stored).to_string().into(), weak: false };
        Item {
            key: id.key.clone(),
            server_id: Some(stored.id.to_string().into()),
            version: versioned.then_some(version),
            value: Arc::new(value),
            deleting: stored.gone_at.is_some(),
            ready: None,
        }
    }

    fn version(&self, id: &ObjectId, stored: &Stored) -> u64 {
        if is_of_a_set(id) { self.lines } else { stored.version }
    }

    fn shown<'s>(&'s self, id: &ObjectId) -> impl Iterator<Item = &'s Stored> {
        self.objects.get(id).into_iter().flatten().filter(|stored| stored.visible_at <= self.now)
    }

    pub fn ask(&self, ask: &Ask) -> Answer {
        match ask {
            Ask::List(collection, wanted) => self.list(collection, wanted),
            Ask::Check(_) => Answer::Accepted { server_id: None, pending: false, inside: None },
            Ask::Read(target) => {
                let by_id = target.server_id.as_deref();
                let named = by_id.filter(|_| self.needs_id(&target.id));
                let found = self.shown(&target.id).find(|s| named.is_none_or(|id| id == s.id.to_string()));
                found.map_or(Answer::Absent, |stored| Answer::Found(self.item(&target.id, stored)))
            }
            Ask::Operation(_, operation) => self.operations.tell(&operation.url, self.now),
        }
    }

    fn needs_id(&self, id: &ObjectId) -> bool {
        !Scene::kinds().get(&id.kind).expect("a kind").readable_by_key()
    }

    fn list(&self, collection: &Collection, wanted: &Wanted) -> Answer {
        let belongs = |id: &&ObjectId| {
            let scope = collection.scope.parts();
            id.kind == collection.kind && scope.iter().all(|(part, value)| id.key.get(part) == Some(value))
        };
        let parent = if matches!(&*collection.kind.kind, "Record" | "Entry") { "Zone" } else { "Repo" };
        for (_, name) in collection.scope.parts() {
            let stands = |id: &ObjectId| &*id.kind.kind == parent && id.key.get("name") == Some(name);
            if !self.objects.iter().any(|(id, slot)| stands(id) && !slot.is_empty()) {
                return failed(FailureClass::Status(404));
            }
        }
        let mut listing = Listing {
            items: Vec::new(),
            others: Vec::new(),
            seen: 0,
            incomplete: None,
            problems: Vec::new(),
        };
        for id in self.objects.keys().filter(belongs) {
            for stored in self.shown(id) {
                listing.seen += 1;
                match wanted {
                    Wanted::Keys(keys) if !keys.contains(&id.key) => listing.others.push(id.key.clone()),
                    _ => listing.items.push(self.item(id, stored)),
                }
            }
        }
        Answer::Listed(listing)
    }

    pub fn write(&mut self, write: &Write, dice: &mut Dice) -> Answer {
        let operates = match write {
            Write::Create(target, _) | Write::Update(target, _) | Write::Delete(target) => {
                Manner::of(&target.id.kind.kind).operates && dice.chance(0.4)
            }
            Write::Batch(_) => false,
        };
        if operates && self.troubled && dice.chance(0.2) {
            return self.operations.begin_in_vain(self.now);
        }
        let answer = match write {
            Write::Create(target, body) => self.create(target, body, dice),
            Write::Update(target, body) => self.update(target, body),
            Write::Delete(target) => self.delete(target, dice),
            Write::Batch(writes) => self.batch(writes, dice),
        };
        match answer {
            Answer::Accepted { server_id, .. } if operates => {
                self.operations.begin(self.now, server_id, self.troubled, dice)
            }
            answer => answer,
        }
    }

    /// In order up to the first that is refused: one server takes back what it did, another does not.
    fn batch(&mut self, writes: &[Write], dice: &mut Dice) -> Answer {
        let undoes = dice.chance(0.5);
        let before = self.objects.clone();
        for write in writes {
            let answer = self.write(write, dice);
            if matches!(answer, Answer::Accepted { .. }) {
                continue;
            }
            if undoes {
                self.objects = before;
                writes.iter().for_each(|write| self.changed(&write.target().id, true));
            }
            return answer;
        }
        Answer::Accepted { server_id: None, pending: false, inside: None }
    }

    fn create(&mut self, target: &Target, body: &Body, dice: &mut Dice) -> Answer {
        let id = &target.id;
        let manner = Manner::of(&id.kind.kind);
        let at = self.at[id];
        if !self.parents_stand(at) {
            return failed(FailureClass::Status(404));
        }
        if manner.unique && self.stands(at) {
            return failed(FailureClass::Exists);
        }
        if self.slot(at).is_some_and(|slot| slot.iter().any(|stored| !stored.foreign)) {
            self.broken.push(format!("a second object of the name {id} was created by us"));
        }
        let Body::Object(value) = body else { panic!("a create sends an object") };
        let hidden =
            if manner.hides && dice.chance(0.3) { SLOWEST.mul_f64(dice.fraction()) } else { Duration::ZERO };
        let new = self.store(id, value.clone(), false, self.now + hidden);
        let told = self.needs_id(id).then(|| new.to_string().into());
        Answer::Accepted { server_id: told, pending: false, inside: None }
    }

    fn position(&self, target: &Target) -> Option<usize> {
        let by_id = target.server_id.as_deref().filter(|_| self.needs_id(&target.id));
        let slot = self.objects.get(&target.id)?;
        slot.iter().position(|stored| by_id.is_none_or(|id| id == stored.id.to_string()))
    }

    fn update(&mut self, target: &Target, body: &Body) -> Answer {
        let Some(at) = self.position(target) else { return failed(FailureClass::Status(404)) };
        if self.is_stale(target, at) {
            return failed(FailureClass::Conflict);
        }
        let stored = &mut self.objects.get_mut(&target.id).expect("it is there")[at];
        if stored.gone_at.is_some() {
            return failed(FailureClass::Conflict);
        }
        let mut new = match body {
            Body::Object(value) => value.clone(),
            Body::Merge(patch) => apply_merge(&stored.value, patch),
            Body::JsonPatch(operations) => match apply_json(&stored.value, operations) {
                Ok(value) => value,
                Err(_) => return failed(FailureClass::Conflict),
            },
            Body::None => stored.value.clone(),
        };
        new.as_object_mut().expect("an object").remove("id");
        let known = target.observed.as_ref().map(|observed| observed["note"].clone());
        let allowed = if target.version.is_some() { None } else { known };
        if new["note"] != stored.value["note"] && Some(&new["note"]) != allowed.as_ref() {
            let what = format!("an undeclared field of {} was changed: {} → {new}", target.id, stored.value);
            self.broken.push(what);
        }
        stored.value = new;
        stored.version += 1;
        self.changed(&target.id, true);
        Answer::Accepted { server_id: None, pending: false, inside: None }
    }

    /// Whether the write is for another version than that of now.
    fn is_stale(&self, target: &Target, at: usize) -> bool {
        let now = self.version(&target.id, &self.objects[&target.id][at]).to_string();
        target.version.as_ref().is_some_and(|version| *version.text != *now)
    }

    fn delete(&mut self, target: &Target, dice: &mut Dice) -> Answer {
        let Some(at) = self.position(target) else { return Answer::Absent };
        if is_of_a_set(&target.id) && self.is_stale(target, at) {
            return failed(FailureClass::Conflict);
        }
        if self.has_children(&target.id) {
            return failed(FailureClass::Status(422));
        }
        let now = self.now;
        let slot = self.objects.get_mut(&target.id).expect("it is there");
        if Manner::of(&target.id.kind.kind).slow && dice.chance(0.5) {
            slot[at].gone_at.get_or_insert(now + SLOWEST.mul_f64(dice.fraction()));
        } else {
            slot.remove(at);
        }
        self.changed(&target.id, true);
        Answer::Accepted { server_id: None, pending: false, inside: None }
    }
}
