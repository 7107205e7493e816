//! What the server does with our writes, and what must hold of each at that moment.

use std::collections::BTreeSet;
use std::time::Duration;

use super::super::model::failed;
use super::dice::Dice;
use super::makes::{Manner, Profile, Versions};
use super::scene::{GONE, SLOWEST, declared, stays_for_others};
use super::world::{Going, Stored, World, members, needs_id};
use crate::core::exchange::{Answer, Body, FailureClass, Target, Write};
use crate::core::identity::ObjectId;
use crate::core::managers::Contested;
use crate::core::patch::{apply_json, apply_merge};
use crate::core::value::Value;

/// Who we are to the server.
pub const US: &str = "me";
/// How long another's finalizer keeps an object: longer than a run waits for a deletion.
const GUARDED: Duration = Duration::from_secs(40);

fn accepted() -> Answer {
    Answer::Accepted { server_id: None, pending: false, inside: None }
}

impl World {
    pub fn write(&mut self, write: &Write, dice: &mut Dice) -> Answer {
        let operates = match write {
            Write::Create(target, _) | Write::Update(target, _) | Write::Delete(target) => {
                dice.chance(self.manner(&target.id).operates)
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

    /// Lets writes arrive that are late.
    pub fn deliver(&mut self, dice: &mut Dice) {
        while let Some(at) = self.late.iter().position(|(at, _)| *at <= self.now) {
            let (_, write) = self.late.remove(at);
            self.again(&write, dice);
        }
    }

    /// A write that nobody meant to be done now.
    pub fn again(&mut self, write: &Write, dice: &mut Dice) {
        let were_right = self.was_right.clone();
        for one in write.members() {
            let at = self.at[&one.target().id];
            self.displaced[at] = true;
            self.deeds[at].others += 1;
        }
        self.write(write, dice);
        // What the run was right to say before, it could not know to be undone.
        for (right, was) in self.was_right.iter_mut().zip(were_right) {
            *right |= was;
        }
    }

    /// In order up to the first that is refused: one server takes back what it did, another does not.
    fn batch(&mut self, writes: &[Write], dice: &mut Dice) -> Answer {
        let undoes = dice.chance(0.5);
        let before = (self.objects.clone(), self.deeds.clone());
        for write in writes {
            let answer = self.write(write, dice);
            if matches!(answer, Answer::Accepted { .. }) {
                continue;
            }
            if undoes {
                (self.objects, self.deeds) = before;
                writes.iter().for_each(|write| self.changed(&write.target().id, true));
            }
            return answer;
        }
        accepted()
    }

    pub fn store(&mut self, id: &ObjectId, stored: Stored) -> u64 {
        self.remember(id);
        self.next_id += 1;
        let pinned = self.at.get(id).and_then(|at| self.scene.documents[*at].policy.pinned_id.as_deref());
        let pinned = pinned.and_then(|id| id.parse().ok());
        // The first object of a name is the one that a document can mean.
        let new = pinned.filter(|_| !self.ids.contains_key(id)).unwrap_or(self.next_id);
        let ours = !stored.foreign;
        // As with ETags, no version of an object is one of an earlier object of its name.
        let stored = Stored { id: new, version: self.next_id << 20, ..stored };
        self.objects.entry(id.clone()).or_default().push(stored);
        self.ids.entry(id.clone()).or_default().insert(new);
        self.changed(id, ours);
        new
    }

    fn create(&mut self, target: &Target, body: &Body, dice: &mut Dice) -> Answer {
        let id = &target.id;
        let manner = self.manner(id);
        let at = self.at[id];
        if !self.parents_stand(at) {
            return failed(FailureClass::Status(404));
        }
        if manner.unique && self.stands(at) {
            return failed(FailureClass::Exists);
        }
        let Body::Object(value) = body else { panic!("a create sends an object") };
        let mut value = value.clone();
        members(&mut value).remove("id");
        if !self.takes(&mut value) {
            return failed(FailureClass::Status(422));
        }
        let is_second = self.slot(at).is_some_and(|slot| slot.iter().any(|stored| !stored.foreign));
        if is_second && !self.displaced[at] {
            self.broken.push(format!("I6: a second object of the name {id} was created by us"));
        }
        let hidden =
            if manner.hides && dice.chance(0.3) { SLOWEST.mul_f64(dice.fraction()) } else { Duration::ZERO };
        let held = members(&mut value).keys().map(|field| (field.clone(), BTreeSet::from([US]))).collect();
        members(&mut value).entry("filled").or_insert_with(|| "by the server".into());
        let stored = Stored { managers: held, visible_at: self.now + hidden, ..made(value, false) };
        let new = self.store(id, stored);
        self.deeds[at].creates += 1;
        let told = needs_id(id).then(|| new.to_string().into());
        Answer::Accepted { server_id: told, pending: false, inside: None }
    }

    /// What the server makes of a value; false if it refuses it.
    fn takes(&self, value: &mut Value) -> bool {
        if value.get("grade").is_some_and(|grade| grade == "bad") {
            return false;
        }
        in_its_own_way(value);
        true
    }

    fn position(&self, target: &Target) -> Option<usize> {
        let by_id = target.server_id.as_deref().filter(|_| needs_id(&target.id));
        let slot = self.objects.get(&target.id)?;
        slot.iter().position(|stored| !stored.buried && by_id.is_none_or(|id| id == stored.id.to_string()))
    }

    fn update(&mut self, target: &Target, body: &Body) -> Answer {
        let manner = self.manner(&target.id);
        let Some(at) = self.position(target) else { return failed(FailureClass::Status(404)) };
        if self.is_stale(target, at, manner) {
            return failed(FailureClass::Conflict);
        }
        let mut stored = self.objects[&target.id][at].clone();
        if stored.gone_at.is_some() {
            return failed(FailureClass::Conflict);
        }
        let fixed = stored.value.get("fixed").cloned();
        stored.value = match body {
            Body::Object(value) if manner.profile == Profile::P1 => {
                match apply(&mut stored, value, target.forced) {
                    Ok(new) => new,
                    Err(held) => return Answer::Contested(held),
                }
            }
            Body::Object(value) => value.clone(),
            Body::Merge(patch) => apply_merge(&stored.value, patch),
            Body::JsonPatch(operations) => match apply_json(&stored.value, operations) {
                Ok(value) => value,
                Err(_) => return failed(FailureClass::Conflict),
            },
            Body::None => stored.value.clone(),
        };
        members(&mut stored.value).retain(|name, _| name != "id" && name != "managers");
        if !self.takes(&mut stored.value) || stored.value.get("fixed") != fixed.as_ref() {
            return failed(FailureClass::Status(422));
        }
        self.judge_update(target, at, &stored.value);
        stored.version += 1;
        self.remember(&target.id);
        self.objects.get_mut(&target.id).expect("it is there")[at] = stored;
        let document = self.at[&target.id];
        self.deeds[document].updates += 1;
        self.changed(&target.id, true);
        accepted()
    }

    /// What an update may not do to what others wrote. A server that guards nothing lets us write over what came
    /// after the look; what was there when we looked is kept there too.
    fn judge_update(&mut self, target: &Target, at: usize, new: &Value) {
        let manner = self.manner(&target.id);
        let Stored { id, value: before, managers, .. } = &self.objects[&target.id][at];
        let observed = |name: &str| target.observed.as_ref().and_then(|observed| observed.get(name));
        // Where the server tells who set a field, what we alone hold was changed by a late message of our own.
        let is_ours = |names: &BTreeSet<&str>| names.iter().all(|one| *one == US);
        let held_by_us =
            |name: &str| manner.profile == Profile::P1 && managers.get(name).is_some_and(is_ours);
        // Nor is anything overwritten in another object of that name where nobody has set the field: what an API with
        // managers guards are fields, not objects.
        let is_another = observed("id") != Some(&Value::from(*id));
        let is_new = |name: &str| {
            let nobodys = before.get(name).is_none() && !managers.contains_key(name);
            manner.profile == Profile::P1 && is_another && nobodys
        };
        let mut broken = Vec::new();
        for name in ["note", "finalizers"] {
            let known = !manner.guards() && new.get(name) == observed(name);
            if new.get(name) != before.get(name) && !known {
                broken.push(format!("I4: the undeclared `{name}` was changed: {before} → {new}"));
            }
        }
        let others = before.get(GONE.0).is_some_and(|value| value != GONE.1);
        let known = !manner.guards() && observed(GONE.0) != before.get(GONE.0);
        if others && new.get(GONE.0) != before.get(GONE.0) && !known && !target.forced {
            broken.push(format!("I7: `{}` is another's since the base, and was taken away", GONE.0));
        }
        let ours = declared(&self.scene.documents[self.at[&target.id]]);
        for (name, _) in ours.filter(|_| manner.guards() && !target.forced) {
            let (was, is) = (before.get(name), new.get(name));
            if was != observed(name) && is != was && !held_by_us(name) && !is_new(name) {
                broken.push(format!("I7: `{name}` was changed after the look, and is overwritten"));
            }
        }
        self.broken.extend(broken.into_iter().map(|what| format!("update {}: {what}", target.id)));
    }

    /// What others changed since the base does not go unasked: it may be that somebody needs it by now. Where the
    /// API has no precondition, what counts is what was there at the look.
    fn judge_deletion(&mut self, target: &Target, at: usize) {
        let document = &self.scene.documents[self.at[&target.id]];
        let guards = matches!(self.manner(&target.id).versions, Versions::Strong | Versions::Shared);
        let before = &self.objects[&target.id][at].value;
        let known =
            !guards && target.observed.as_ref().is_some_and(|observed| !stays_for_others(document, observed));
        if stays_for_others(document, before) && !known {
            self.broken
                .push(format!("I7: {} was changed since the base, and is deleted: {before}", target.id));
        }
    }

    /// Whether the write is for another version than that of now.
    fn is_stale(&self, target: &Target, at: usize, manner: Manner) -> bool {
        let now = self.version(&target.id, &self.objects[&target.id][at]).to_string();
        let strong = matches!(manner.versions, Versions::Strong | Versions::Shared);
        strong && target.version.as_ref().is_some_and(|version| *version.text != *now)
    }

    fn delete(&mut self, target: &Target, dice: &mut Dice) -> Answer {
        let id = &target.id;
        let manner = self.manner(id);
        let Some(at) = self.position(target) else { return Answer::Absent };
        let is_meant = target.server_id.as_deref() == Some(&*self.objects[id][at].id.to_string());
        let other = manner.profile == Profile::P1 && target.server_id.is_some() && !is_meant;
        if other || self.is_stale(target, at, manner) {
            return failed(FailureClass::Conflict);
        }
        if self.has_children(id) {
            return failed(FailureClass::Status(422));
        }
        self.judge_deletion(target, at);
        self.remember(id);
        let now = self.now;
        let document = self.at[id];
        let slot = self.objects.get_mut(id).expect("it is there");
        // Once more, as the last look was of a time before, and none has told that it goes: nobody can know better.
        let unknowing = slot[at].gone_at.is_some() && self.going[document] == Going::Denied;
        let guarded = slot[at].value.get("finalizers").is_some();
        let soft = manner.profile == Profile::P9;
        if guarded || soft || (manner.slow && dice.chance(0.5)) {
            let time = if guarded { GUARDED } else { SLOWEST.mul_f64(dice.fraction()) };
            slot[at].gone_at.get_or_insert(now + time);
            slot[at].buried = soft && !guarded && dice.chance(0.5);
        } else {
            slot.remove(at);
        }
        self.deeds[document].deletes += u32::from(!unknowing);
        self.changed(id, true);
        accepted()
    }
}

/// What the server keeps of a value, whoever sends it.
pub fn in_its_own_way(value: &mut Value) {
    let map = members(value);
    map.remove("ghost");
    if let Some(Value::String(label)) = map.get_mut("label") {
        *label = label.to_lowercase();
    }
}

/// An object that is there at once, by us or by another.
pub fn made(value: Value, foreign: bool) -> Stored {
    Stored {
        id: 0,
        value,
        version: 0,
        foreign,
        managers: Default::default(),
        visible_at: Duration::ZERO,
        gone_at: None,
        buried: false,
    }
}

/// An apply: what we send is laid over, what we alone held and send no longer goes; fields that others hold at
/// another value keep it from being done.
fn apply(stored: &mut Stored, sent: &Value, forced: bool) -> Result<Value, Vec<Contested>> {
    let sent = sent.as_object().expect("an object");
    let held = |field: &String, value: &Value| {
        let names = stored.managers.get(field)?;
        let other = names.iter().find(|name| **name != US)?;
        let differs = stored.value.get(field) != Some(value);
        differs.then(|| Contested { path: format!(".{field}"), by: (*other).to_owned() })
    };
    let contested: Vec<Contested> = sent.iter().filter_map(|(field, value)| held(field, value)).collect();
    if !contested.is_empty() && !forced {
        return Err(contested);
    }
    let mut new = stored.value.clone();
    let alone = |names: &BTreeSet<&str>| names.len() == 1 && names.contains(US);
    let gone: Vec<String> = stored
        .managers
        .iter()
        .filter(|(field, names)| !sent.contains_key(*field) && names.contains(US))
        .map(|(field, _)| field.clone())
        .collect();
    for field in gone {
        let names = stored.managers.get_mut(&field).expect("it is held");
        if alone(names) {
            members(&mut new).remove(&field);
            stored.managers.remove(&field);
        } else {
            names.remove(US);
        }
    }
    for (field, value) in sent {
        if new.get(field) != Some(value) {
            stored.managers.remove(field);
        }
        if value.is_null() {
            members(&mut new).remove(field);
            continue;
        }
        stored.managers.entry(field.clone()).or_default().insert(US);
        members(&mut new).insert(field.clone(), value.clone());
    }
    Ok(new)
}
