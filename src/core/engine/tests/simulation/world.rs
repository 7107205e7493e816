//! The server of a schedule: what it stores, and what it shows.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::makes::{KINDS, Manner, Profile, Versions};
use super::operations::Operations;
use super::scene::{Declared, GONE, Scene, declared};
use super::writes::US;
use crate::core::document::Ensure;
use crate::core::exchange::{
    Answer, Ask, Collection, FailureClass, Item, Listing, VersionToken, Wanted, Write,
};
use crate::core::identity::ObjectId;
use crate::core::value::{Map, Value};

use super::super::model::failed;

#[derive(Clone, Debug, Hash)]
pub struct Stored {
    pub id: u64,
    pub value: Value,
    pub version: u64,
    /// Somebody else made it.
    pub foreign: bool,
    /// Who holds which field, where the server tracks that.
    pub managers: BTreeMap<String, BTreeSet<&'static str>>,
    pub visible_at: Duration,
    pub gone_at: Option<Duration>,
    /// It is not shown while it is being deleted; its name is still taken.
    pub buried: bool,
}

/// What we, and others, did to an object in all runs.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub struct Deeds {
    pub creates: u32,
    pub updates: u32,
    pub deletes: u32,
    /// What others did beyond changing what we do not own.
    pub others: u32,
}

impl Deeds {
    pub fn writes(&self) -> u32 {
        self.creates + self.updates + self.deletes
    }
}

/// What looks have told of an object that is being deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Going {
    #[default]
    Untold,
    /// The last look was of a time before: it shows an object that stays.
    Denied,
    /// A look has shown that it goes. No later one takes that back.
    Told,
}

/// How the server answers a look that is not as it should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sight {
    Clear,
    /// As it was a while ago.
    Stale(Duration),
    /// As if the object were not there.
    Blind,
}

#[derive(Clone)]
pub struct World {
    pub scene: Rc<Scene>,
    pub now: Duration,
    pub objects: BTreeMap<ObjectId, Vec<Stored>>,
    /// What was there before, and until when.
    history: HashMap<ObjectId, Vec<(Duration, Vec<Stored>)>>,
    pub next_id: u64,
    /// The version of all lines together.
    pub lines: u64,
    /// All ids that an object of this name ever had.
    pub ids: HashMap<ObjectId, BTreeSet<u64>>,
    /// Whether the server was as a document wants it, or said so, at any moment since our last write to it.
    pub was_right: Vec<bool>,
    pub at: HashMap<ObjectId, usize>,
    pub operations: Operations,
    /// Operations fail, are forgotten, or never end.
    pub troubled: bool,
    pub deeds: Vec<Deeds>,
    /// By document: a message was delivered twice, or after others: what comes of it is no deed of ours.
    pub displaced: Vec<bool>,
    /// By document: a look has not shown it, though it was there.
    pub unseen: Vec<bool>,
    /// By document: what looks have told of its end since the run began.
    pub going: Vec<Going>,
    /// Writes that arrive when nobody expects them any more.
    pub late: Vec<(Duration, Write)>,
    /// Broken invariants, in order.
    pub broken: Vec<String>,
}

/// As much as is ever looked back.
const REMEMBERED: usize = 8;

impl World {
    pub fn empty(scene: Rc<Scene>) -> World {
        let count = scene.documents.len();
        World {
            at: scene.documents.iter().enumerate().map(|(at, d)| (d.id.clone(), at)).collect(),
            scene,
            now: Duration::ZERO,
            objects: BTreeMap::new(),
            history: HashMap::new(),
            next_id: 0,
            lines: 0,
            ids: HashMap::new(),
            was_right: vec![false; count],
            operations: Operations::default(),
            troubled: false,
            deeds: vec![Deeds::default(); count],
            displaced: vec![false; count],
            unseen: vec![false; count],
            going: vec![Going::Untold; count],
            late: Vec::new(),
            broken: Vec::new(),
        }
    }

    /// All on which it depends what it answers from now on, and what of that is right. What was there before counts as
    /// long as somebody `looks_back`.
    pub fn fingerprint(&self, looks_back: bool) -> u64 {
        assert!(self.late.is_empty(), "nothing is late where states are told apart");
        let lags = self.scene.manners.iter().any(|manner| manner.profile == Profile::P10);
        let history = (looks_back || lags).then(|| self.history.iter().collect::<BTreeMap<_, _>>());
        // Of which names there was ever anything is what a listing goes by.
        let names: BTreeSet<_> = self.history.keys().collect();
        let ids: BTreeMap<_, _> = self.ids.iter().collect();
        let mut hasher = DefaultHasher::new();
        (self.now, &self.objects, history, names, ids, self.next_id, self.lines).hash(&mut hasher);
        (&self.was_right, &self.deeds, &self.displaced, &self.unseen, &self.operations).hash(&mut hasher);
        self.going.hash(&mut hasher);
        hasher.finish()
    }

    pub fn manner(&self, id: &ObjectId) -> Manner {
        self.at.get(id).map_or_else(|| Manner::of(&id.kind.kind), |at| self.scene.manners[*at])
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
        self.going.fill(Going::Untold);
    }

    /// Whether the server is as the document wants it.
    pub fn is_right(&self, at: usize) -> bool {
        self.shows_right(at, self.slot(at).map_or(&[][..], |slot| slot))
    }

    fn shows_right(&self, at: usize, slot: &[Stored]) -> bool {
        let document = &self.scene.documents[at];
        let stays = |one: &&Stored| one.gone_at.is_none();
        let pinned =
            |one: &&Stored| document.policy.pinned_id.as_ref().is_none_or(|id| **id == one.id.to_string());
        match document.policy.ensure {
            Ensure::Absent => !slot.iter().any(|one| !one.buried && pinned(&one)),
            Ensure::Exists => slot.iter().any(|one| pinned(&one)),
            Ensure::Present => slot
                .iter()
                .filter(stays)
                .filter(pinned)
                .any(|one| self.has_declared(at, &one.value) && self.has_left(at, one)),
        }
    }

    fn has_declared(&self, at: usize, value: &Value) -> bool {
        declared(&self.scene.documents[at]).all(|(name, want)| match want {
            Declared::Value(wanted) => value.get(name) == Some(wanted),
            Declared::IdOf(reference) => value.get(name).and_then(Value::as_u64).is_some_and(|id| {
                self.ids.iter().any(|(of, ids)| {
                    of.kind.kind == reference.kind && of.key.parts() == reference.parts && ids.contains(&id)
                })
            }),
        })
    }

    /// Whether what left the files has left the object.
    fn has_left(&self, at: usize, stored: &Stored) -> bool {
        let (name, was) = GONE;
        if self.scene.manners[at].profile == Profile::P1 {
            // The server's own account of who set what is all that counts.
            return stored.managers.get(name).is_none_or(|holders| holders.iter().any(|one| *one != US));
        }
        self.scene.documents[at].base.spec().is_none() || stored.value.get(name).is_none_or(|now| now != was)
    }

    /// Notes that an object is about to change.
    pub fn remember(&mut self, id: &ObjectId) {
        let slot = self.objects.get(id).cloned().unwrap_or_default();
        let history = self.history.entry(id.clone()).or_default();
        if history.len() == REMEMBERED {
            history.remove(0);
        }
        history.push((self.now, slot));
    }

    pub fn changed(&mut self, id: &ObjectId, ours: bool) {
        self.lines += u64::from(self.manner(id).versions == Versions::Shared);
        let Some(&at) = self.at.get(id) else { return };
        let right = self.is_right(at);
        self.was_right[at] = right || (self.was_right[at] && !ours);
    }

    /// Lets time pass: what is being deleted goes.
    pub fn pass(&mut self, time: Duration) {
        self.now += time;
        let now = self.now;
        let goes = |stored: &Stored| stored.gone_at.is_some_and(|at| at <= now);
        let going = self.objects.iter().filter(|(_, slot)| slot.iter().any(goes));
        let going: Vec<ObjectId> = going.map(|(id, _)| id.clone()).collect();
        for id in going {
            self.remember(&id);
            self.objects.get_mut(&id).expect("it is there").retain(|stored| !goes(stored));
            self.changed(&id, false);
        }
    }

    pub fn parents_stand(&self, at: usize) -> bool {
        let stays = |slot: &Vec<Stored>| slot.iter().any(|stored| stored.gone_at.is_none());
        self.scene.graph.nodes[at].parents.iter().all(|(_, parent)| self.slot(*parent).is_some_and(stays))
    }

    pub fn has_children(&self, id: &ObjectId) -> bool {
        let Some(at) = self.at.get(id) else { return false };
        (0..self.scene.documents.len()).any(|child| {
            self.scene.graph.nodes[child].parents.iter().any(|(_, p)| p == at) && self.stands(child)
        })
    }

    fn item(&self, id: &ObjectId, stored: &Stored) -> Item {
        let mut value = stored.value.clone();
        value["id"] = stored.id.into();
        let manner = self.manner(id);
        if manner.profile == Profile::P1 {
            value["managers"] = managers(stored);
        }
        let text = self.version(id, stored).to_string().into();
        let version = VersionToken { text, weak: manner.versions == Versions::Weak };
        Item {
            key: id.key.clone(),
            server_id: Some(stored.id.to_string().into()),
            version: (manner.versions != Versions::None).then_some(version),
            value: Arc::new(value),
            deleting: stored.gone_at.is_some(),
            ready: None,
            ambiguous: Vec::new(),
        }
    }

    pub fn version(&self, id: &ObjectId, stored: &Stored) -> u64 {
        if self.manner(id).versions == Versions::Shared { self.lines } else { stored.version }
    }

    /// What is told of an object to one that looks so.
    fn shown(&mut self, id: &ObjectId, sight: Sight) -> Vec<Stored> {
        let manner = self.manner(id);
        let now = self.objects.get(id).map_or(&[][..], |slot| slot);
        let before = |ago: Duration| {
            let then = self.now.checked_sub(ago)?;
            let slot = &self.history.get(id)?.iter().find(|(until, _)| *until > then)?.1;
            // A second object of a name cannot be kept from coming where absence is told of what is there.
            let tells = manner.versions != Versions::Shared && (manner.unique || slot.len() >= now.len());
            tells.then_some(&slot[..])
        };
        let told = match sight {
            Sight::Clear => now,
            Sight::Stale(ago) => before(ago).unwrap_or(now),
            Sight::Blind if manner.unique && manner.versions != Versions::Shared => &[],
            Sight::Blind => now,
        };
        let seen = |stored: &&Stored| stored.visible_at <= self.now && !stored.buried;
        let told: Vec<Stored> = told.iter().filter(seen).cloned().collect();
        self.tells_of_its_end(id, &told);
        if sight != Sight::Clear
            && let Some(&at) = self.at.get(id)
        {
            // What the server said is what can be known of it.
            self.was_right[at] |= self.shows_right(at, &told);
            if told.is_empty() {
                self.unseen[at] |= self.stands(at);
                self.seems_empty(at);
            }
        }
        told
    }

    /// Notes what is told of an object that is being deleted.
    fn tells_of_its_end(&mut self, id: &ObjectId, told: &[Stored]) {
        let (Some(&at), Some(slot)) = (self.at.get(id), self.objects.get(id)) else { return };
        let goes = |one: &&Stored| slot.iter().any(|now| now.id == one.id && now.gone_at.is_some());
        for one in told.iter().filter(goes) {
            self.going[at] = match self.going[at] {
                Going::Told => Going::Told,
                _ if one.gone_at.is_some() => Going::Told,
                _ => Going::Denied,
            };
        }
    }

    /// An old state has said that an object is not there, to a read by its id, and it is: what can be known is what there
    /// would be without it.
    fn denies(&mut self, id: &ObjectId, denied: &str) {
        let (Some(&at), Some(slot)) = (self.at.get(id), self.objects.get(id)) else { return };
        let (denied, rest): (Vec<Stored>, Vec<Stored>) =
            slot.iter().cloned().partition(|one| one.id.to_string() == denied);
        if denied.is_empty() {
            return;
        }
        self.was_right[at] |= self.shows_right(at, &rest);
        if rest.is_empty() {
            self.unseen[at] = true;
            self.seems_empty(at);
        }
    }

    /// Where a parent is said not to be there, nothing can be in it.
    fn seems_empty(&mut self, parent: usize) {
        for child in 0..self.scene.documents.len() {
            if self.scene.graph.nodes[child].parents.iter().any(|(_, at)| *at == parent) {
                self.was_right[child] |= self.shows_right(child, &[]);
            }
        }
    }

    pub fn ask(&mut self, ask: &Ask, sight: Sight) -> Answer {
        match ask {
            Ask::List(collection, wanted) => self.list(collection, wanted, sight),
            Ask::Check(_) => Answer::Accepted { server_id: None, pending: false, inside: None },
            Ask::Read(target) => {
                let by_id = target.server_id.as_deref();
                let named = by_id.filter(|_| needs_id(&target.id));
                let shown = self.shown(&target.id, sight);
                let found = shown.iter().find(|s| named.is_none_or(|id| id == s.id.to_string()));
                if let (None, Some(denied), Sight::Stale(_)) = (found, named, sight) {
                    self.denies(&target.id, denied);
                }
                found.map_or(Answer::Absent, |stored| Answer::Found(self.item(&target.id, stored)))
            }
            Ask::Operation(_, operation) => self.operations.tell(&operation.url, self.now),
        }
    }

    fn list(&mut self, collection: &Collection, wanted: &Wanted, sight: Sight) -> Answer {
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
        let ids: BTreeSet<ObjectId> =
            self.objects.keys().chain(self.history.keys()).filter(belongs).cloned().collect();
        for id in ids {
            for stored in self.shown(&id, sight) {
                listing.seen += 1;
                match wanted {
                    Wanted::Keys(keys) if !keys.contains(&id.key) => listing.others.push(id.key.clone()),
                    _ => listing.items.push(self.item(&id, &stored)),
                }
            }
        }
        Answer::Listed(listing)
    }
}

pub fn needs_id(id: &ObjectId) -> bool {
    !KINDS.get(&id.kind).expect("a kind").readable_by_key()
}

/// `[{name, paths}]`, as the server tells who holds what.
fn managers(stored: &Stored) -> Value {
    let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (field, names) in &stored.managers {
        names.iter().for_each(|name| by_name.entry(name).or_default().push(field));
    }
    by_name.into_iter().map(|(name, paths)| json!({"name": name, "paths": paths})).collect()
}

/// The members of a stored value.
pub fn members(value: &mut Value) -> &mut Map<String, Value> {
    value.as_object_mut().expect("an object")
}
