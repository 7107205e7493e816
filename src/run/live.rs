//! Live objects, for `get` and `export`, with where their secrets are.

use std::collections::HashMap;
use std::sync::Arc;

use super::clients::Clients;
use super::runner::Runner;
use super::walk::{Batch, Missed, Walk};
use crate::core::document::Document;
use crate::core::exchange::Item;
use crate::core::identity::{Key, KindName, ObjectId};
use crate::core::kind::Kind;
use crate::core::problem::Problem;
use crate::core::scrub;
use crate::core::veil::Veil;

/// What was found, and what could not be listed.
#[derive(Debug, Default)]
pub struct Found {
    pub items: Vec<(ObjectId, Item)>,
    pub missed: Missed,
}

/// Which kinds are wanted.
pub type Wants<'w> = &'w dyn Fn(&KindName) -> bool;

impl Runner {
    /// The live objects of the kinds that `wants` takes, with their secrets masked: those that the kind names,
    /// and those that a document of the object has in their place.
    ///
    /// # Errors
    /// A client that cannot be made.
    pub async fn live(&self, wants: Wants<'_>) -> Result<Found, Problem> {
        let mut items = Vec::new();
        let mut take = |batch: Batch| {
            let Batch { kind, veils, items: seen } = batch;
            items.extend(seen.into_iter().map(|item| (id_of(kind, &item), veils.mask(item, kind))));
        };
        let missed = self.visit(wants, false, &mut take).await?;
        items.sort_by(|(one, _), (other, _)| one.kind.cmp(&other.kind));
        Ok(Found { items, missed })
    }

    /// Hands out the live objects of the wanted kinds, a collection at a time: parents before their children,
    /// and nothing kept of them. `whole`: what a partial listing shows is read one by one.
    ///
    /// # Errors
    /// A client that cannot be made.
    pub async fn visit(
        &self,
        wants: Wants<'_>,
        whole: bool,
        take: &mut dyn FnMut(Batch),
    ) -> Result<Missed, Problem> {
        let (transports, kinds, options, documents) = self.parts();
        let clients = Clients::read_only(transports, kinds, options)?;
        let mut walk = Walk::new(&clients, kinds, documents, whole, take);
        walk.all(wants).await;
        let mut missed = walk.missed;
        missed.requests = clients.requests();
        Ok(missed)
    }
}

/// The name of an observed object.
pub fn id_of(kind: &Kind, item: &Item) -> ObjectId {
    ObjectId { kind: kind.name.clone(), key: item.key.clone() }
}

/// Where the documents of a kind have secrets: by the name of the object, and by the id that it is pinned to.
#[derive(Debug, Default)]
pub struct Veils<'d> {
    by_key: HashMap<&'d Key, Veil>,
    by_id: HashMap<&'d str, Veil>,
}

impl<'d> Veils<'d> {
    pub fn of(documents: &'d [Document], kind: &Kind) -> Veils<'d> {
        let mut veils = Veils::default();
        for document in documents.iter().filter(|document| document.id.kind == kind.name) {
            let veil = Veil::of(&document.spec);
            if !veil.is_empty() {
                if let Some(id) = &document.policy.pinned_id {
                    veils.by_id.entry(id).or_default().join(&veil);
                }
                veils.by_key.entry(&document.id.key).or_default().join(&veil);
            }
        }
        veils
    }

    /// The secrets that documents have in an object.
    pub fn over(&self, item: &Item) -> Vec<&Veil> {
        let by_id = item.server_id.as_deref().and_then(|id| self.by_id.get(id));
        self.by_key.get(&item.key).into_iter().chain(by_id).collect()
    }

    /// A live object without the secrets that its kind or a document of it names.
    fn mask(&self, item: Item, kind: &Kind) -> Item {
        let rules = Veil::by_names(&kind.fields);
        let mut veils = self.over(&item);
        veils.push(&rules);
        let value = scrub::mask(&Veil::cover_all(&veils, &item.value), &kind.fields);
        Item { value: Arc::new(value), ..item }
    }
}
