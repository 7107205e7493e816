//! All items in memory, in order of creation within each collection.
//!
//! An item is kept as its JSON text, ready to be sent; a listing splices such texts. The index changes only by
//! [`Index::apply`], with the same changes that went to disk.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use super::answers::{Answered, Answers};
use super::item::Item;
use super::key::Key;

/// A step from one state of the index to the next.
#[derive(Clone, Debug)]
pub enum Change {
    Stored(Arc<Item>),
    Removed(Arc<Item>),
    /// The last id that the server gave out in a collection.
    Counted(Key, u64),
    /// The last revision of an item that was removed earlier.
    Buried(Key, u64),
    /// A create with an idempotency key; the item itself is a step of its own.
    Answered(Answered),
    /// Collections of this name keep the status of their items apart.
    Apart(String),
}

/// Everything that is stored.
#[derive(Clone, Debug, Default)]
pub struct Index {
    collections: BTreeMap<Key, Collection>,
    /// How many items stand directly below an item.
    children: HashMap<Key, u64>,
    /// The last revision of removed items whose name may come back.
    gone: HashMap<Key, u64>,
    answers: Answers,
    /// The names of collections whose items keep their status apart.
    apart: BTreeSet<String>,
    /// Grows with each item stored or removed.
    clock: u64,
}

/// The items under one path.
#[derive(Clone, Debug, Default)]
pub struct Collection {
    items: BTreeMap<u64, Arc<Item>>,
    seqs: HashMap<Key, u64>,
    last_id: u64,
    version: u64,
}

impl Index {
    /// Goes on from a stored clock. No listing may get a tag again that it had for another content, so all
    /// have the latest one.
    pub(super) fn resume(&mut self, clock: u64) {
        self.clock = clock;
        self.collections.values_mut().for_each(|collection| collection.version = clock);
    }

    /// The changes that lead from nothing to this state.
    pub(super) fn snapshot(&self) -> Vec<Change> {
        let mut changes: Vec<_> = self.apart.iter().cloned().map(Change::Apart).collect();
        let mut gone: Vec<_> = self.gone.iter().collect();
        gone.sort_unstable();
        changes.extend(gone.into_iter().map(|(key, revision)| Change::Buried(key.clone(), *revision)));
        for (key, collection) in &self.collections {
            changes.push(Change::Counted(key.clone(), collection.last_id));
            changes.extend(collection.items().cloned().map(Change::Stored));
        }
        changes.extend(self.answers.all().map(Change::Answered));
        changes
    }

    pub(super) fn answers(&self) -> &Answers {
        &self.answers
    }

    pub(super) fn apart(&self) -> &BTreeSet<String> {
        &self.apart
    }

    /// Whether there are such collections at all.
    pub(super) fn has_apart(&self) -> bool {
        !self.apart.is_empty()
    }

    pub fn clock(&self) -> u64 {
        self.clock
    }

    /// The collections that hold or held something, in the order of their paths.
    pub fn collections(&self) -> impl Iterator<Item = (&Key, &Collection)> {
        self.collections.iter()
    }

    pub fn collection(&self, key: &Key) -> Option<&Collection> {
        self.collections.get(key)
    }

    pub fn item(&self, key: &Key) -> Option<&Arc<Item>> {
        let collection = self.collections.get(&key.parent())?;
        collection.items.get(collection.seqs.get(key)?)
    }

    /// How many items stand directly below this one, over all its collections.
    pub fn children(&self, key: &Key) -> u64 {
        self.children.get(key).copied().unwrap_or(0)
    }

    /// The last revision that an item of this name had before it was removed; 0 if it never was.
    pub fn last_revision(&self, key: &Key) -> u64 {
        self.gone.get(key).copied().unwrap_or(0)
    }

    /// Takes one step.
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Stored(item) => {
                self.clock += 1;
                self.insert(item.clone());
            }
            Change::Removed(item) => {
                self.clock += 1;
                self.remove(item);
            }
            Change::Counted(key, id) => self.collections.entry(key.clone()).or_default().last_id = *id,
            Change::Buried(key, revision) => drop(self.gone.insert(key.clone(), *revision)),
            Change::Answered(answered) => self.answers.remember(answered),
            Change::Apart(name) => drop(self.apart.insert(name.clone())),
        }
    }

    fn insert(&mut self, item: Arc<Item>) {
        let key = item.key.parent();
        self.gone.remove(&item.key);
        let collection = self.collections.entry(key.clone()).or_default();
        collection.version = self.clock;
        collection.seqs.insert(item.key.clone(), item.seq);
        if collection.items.insert(item.seq, item).is_none() {
            *self.children.entry(key.parent()).or_default() += 1;
        }
    }

    fn remove(&mut self, item: &Item) {
        let key = item.key.parent();
        let collection = self.collections.entry(key.clone()).or_default();
        collection.version = self.clock;
        collection.seqs.remove(&item.key);
        if collection.items.remove(&item.seq).is_some()
            && let Some(count) = self.children.get_mut(&key.parent())
        {
            *count -= 1;
        }
        if item.natural {
            self.gone.insert(item.key.clone(), item.revision);
        }
    }
}

impl Collection {
    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The last id given out by the server.
    pub fn last_id(&self) -> u64 {
        self.last_id
    }

    /// The entity tag of the whole listing, without quotes.
    pub fn tag(&self) -> String {
        format!("c{}", self.version)
    }

    /// All items in order of creation.
    pub fn items(&self) -> impl Iterator<Item = &Arc<Item>> {
        self.items.values()
    }

    /// The items that were created after the one with this number.
    pub fn after(&self, seq: u64) -> impl Iterator<Item = &Arc<Item>> {
        self.items.range((Bound::Excluded(seq), Bound::Unbounded)).map(|(_, item)| item)
    }
}
