//! What was answered to creates with an idempotency key, for as many of them as are remembered.
//!
//! Only accepted creates are: one that was refused made nothing, and a repetition of it is decided anew.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::index::Index;
use super::item::Item;
use super::key::Key;

/// How many keys a store remembers, over all collections. The oldest one goes first.
pub const REMEMBERED: usize = 10_000;

/// An accepted create, with the key that it was sent with.
#[derive(Clone, Debug)]
pub struct Answered {
    pub collection: Key,
    pub sent: String,
    /// The item as it was made.
    pub item: Arc<Item>,
}

/// The latest answers.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    items: HashMap<(Key, String), Arc<Item>>,
    /// Oldest first.
    order: VecDeque<(Key, String)>,
}

impl Answers {
    pub(super) fn remember(&mut self, answered: &Answered) {
        let key = (answered.collection.clone(), answered.sent.clone());
        if self.items.insert(key.clone(), answered.item.clone()).is_none() {
            self.order.push_back(key);
        }
        while self.order.len() > REMEMBERED {
            let oldest = self.order.pop_front();
            oldest.and_then(|oldest| self.items.remove(&oldest));
        }
    }

    /// All that is remembered, oldest first.
    pub(super) fn all(&self) -> impl Iterator<Item = Answered> {
        self.order.iter().map(|key| Answered {
            collection: key.0.clone(),
            sent: key.1.clone(),
            item: self.items[key].clone(),
        })
    }
}

impl Index {
    /// The item that a create of this collection with this key made.
    pub(super) fn answer(&self, collection: &Key, sent: &str) -> Option<&Arc<Item>> {
        self.answers().items.get(&(collection.clone(), sent.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::value::Map;
    use crate::server::store::write::{Action, Done, Write};

    #[test]
    fn the_oldest_key_is_forgotten_first() {
        let (mut index, mut changes) = (Index::default(), Vec::new());
        let teams = Key::root().child("teams");
        let mut create = |n: usize| {
            let action = Action::Create { body: Map::new(), idempotency_key: Some(n.to_string()) };
            index.perform(Write::new(teams.clone(), action), &mut changes).expect("accepted")
        };
        (0..=REMEMBERED).for_each(|n| drop(create(n)));
        assert!(matches!(create(1), Done::Replayed(item) if item.key.segment() == "2"));
        assert!(matches!(create(0), Done::Created(_)), "it was forgotten");
        assert!(matches!(create(1), Done::Created(_)), "it went when that one came back");
        assert_eq!(index.answers().all().count(), REMEMBERED);
    }
}
