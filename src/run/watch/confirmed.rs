//! How passes saw what they wrote, when they read it back: what the next poll sees is held against that. Somebody may
//! have made the object anew by then, or changed a field of which nobody but the pass knew what it should be.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::interests::Index;
use crate::core::exchange::{Answer, Ask, Write};
use crate::core::identity::{Key, KindName, ObjectId};
use crate::core::watch::owned::Sight;

/// An object that a pass has written, with how it was seen after that; `None` where it was not.
pub type Written = (ObjectId, Option<Sight>);

/// Reads of what passes under way have written.
#[derive(Default)]
pub struct Confirmed(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    index: Option<Arc<Index>>,
    /// Written by a pass that is under way.
    sights: HashMap<ObjectId, Option<Sight>>,
}

impl Confirmed {
    /// What is wanted from now on: what was seen was seen with other wishes.
    pub fn want(&self, index: Arc<Index>) {
        self.with(|inner| {
            inner.index = Some(index);
            inner.sights.values_mut().for_each(|sight| *sight = None);
        });
    }

    /// A write was accepted: only what is asked from now on tells what became of it.
    pub fn writes(&self, write: &Write) {
        let ids = write.members().iter().map(|one| (one.target().id.clone(), None));
        self.with(|inner| inner.sights.extend(ids));
    }

    /// A pass has seen something.
    pub fn answered(&self, ask: &Ask, answer: &Answer) {
        self.with(|inner| {
            if inner.sights.is_empty() {
                return;
            }
            match (ask, answer) {
                (Ask::Read(target), Answer::Found(item)) => {
                    inner.saw(&target.id, |index| {
                        let kind = index.kind(&target.id.kind)?;
                        Some(index.object(&target.id)?.sight(&kind.fields, item))
                    });
                }
                (Ask::Read(target), Answer::Absent) => {
                    inner.saw(&target.id, |index| Some(index.object(&target.id)?.nothing()));
                }
                (Ask::List(collection, _), Answer::Listed(listing)) => {
                    for item in &listing.items {
                        let id = object(&collection.kind, &item.key);
                        inner.saw(&id, |index| {
                            Some(index.object(&id)?.sight(&index.kind(&id.kind)?.fields, item))
                        });
                    }
                }
                _ => {}
            }
        });
    }

    /// A pass has ended that wrote these.
    pub fn take(&self, ids: &[ObjectId]) -> Vec<Written> {
        self.with(|inner| ids.iter().map(|id| (id.clone(), inner.sights.remove(id).flatten())).collect())
    }

    fn with<T>(&self, work: impl FnOnce(&mut Inner) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Inner {
    fn saw(&mut self, id: &ObjectId, sight: impl FnOnce(&Index) -> Option<Sight>) {
        if let Some((seen, index)) = self.sights.get_mut(id).zip(self.index.as_deref()) {
            *seen = sight(index);
        }
    }
}

fn object(kind: &KindName, key: &Key) -> ObjectId {
    ObjectId { kind: kind.clone(), key: key.clone() }
}
