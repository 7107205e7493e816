//! Live objects, for `get`: the collections of the wanted kinds, below every parent that is there.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::clients::Clients;
use super::drive::Look;
use super::runner::Runner;
use crate::core::document::Document;
use crate::core::exchange::{Answer, Ask, Collection, Failure, Item, ParentIds, Target, Wanted};
use crate::core::identity::{Key, KindName, ObjectId};
use crate::core::kind::{Kind, Kinds, Parent, Piece};
use crate::core::problem::Problem;
use crate::core::report::Requests;
use crate::core::scrub;
use crate::core::value::Value;
use crate::core::veil::Veil;

/// What was found, and what could not be listed.
#[derive(Debug, Default)]
pub struct Found {
    pub items: Vec<(ObjectId, Item)>,
    pub failures: Vec<(String, Failure)>,
    pub requests: Requests,
}

impl Runner {
    /// The live objects of the kinds that `wants` takes, with their secrets masked: those that the kind names,
    /// and those that a document of the object has in their place.
    ///
    /// # Errors
    /// A client that cannot be made.
    pub async fn live(&self, wants: &(dyn Fn(&KindName) -> bool + Sync)) -> Result<Found, Problem> {
        let (transports, kinds, options, documents) = self.parts();
        let clients = Clients::read_only(transports, kinds, options)?;
        let mut walk =
            Walk { clients: &clients, kinds, documents, listed: HashMap::new(), found: Found::default() };
        for kind in kinds.iter().filter(|kind| wants(&kind.name)) {
            let items = walk.list(kind).await;
            let veils = Veils::of(documents, kind);
            let masked = items.iter().map(|item| (id_of(kind, item), veils.mask(item, kind)));
            walk.found.items.extend(masked);
        }
        walk.found.requests = clients.requests();
        Ok(walk.found)
    }
}

fn id_of(kind: &Kind, item: &Item) -> ObjectId {
    ObjectId { kind: kind.name.clone(), key: item.key.clone() }
}

/// Where the documents of a kind have secrets: by the name of the object, and by the id that it is pinned to.
#[derive(Default)]
struct Veils<'d> {
    by_key: HashMap<&'d Key, Veil>,
    by_id: HashMap<&'d str, Veil>,
}

impl<'d> Veils<'d> {
    fn of(documents: &'d [Document], kind: &Kind) -> Veils<'d> {
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

    /// A live object without the secrets that its kind or a document of it names.
    fn mask(&self, item: &Item, kind: &Kind) -> Item {
        let by_id = item.server_id.as_deref().and_then(|id| self.by_id.get(id));
        let mut value = scrub::mask(&item.value, &kind.fields);
        for veil in self.by_key.get(&item.key).into_iter().chain(by_id) {
            value = veil.cover(&value);
        }
        Item { value: Arc::new(value), ..item.clone() }
    }
}

struct Walk<'w, L> {
    clients: &'w L,
    kinds: &'w Kinds,
    documents: &'w [Document],
    /// What was listed already: parents serve more than one kind.
    listed: HashMap<KindName, Arc<Vec<Item>>>,
    found: Found,
}

impl<L: Look> Walk<'_, L> {
    /// All objects of a kind.
    async fn list(&mut self, kind: &Arc<Kind>) -> Arc<Vec<Item>> {
        if let Some(items) = self.listed.get(&kind.name) {
            return items.clone();
        }
        let mut items = Vec::new();
        for (scope, ids) in Box::pin(self.scopes(kind)).await {
            let answer = match &kind.list {
                Some(_) => {
                    let collection =
                        Collection { kind: kind.name.clone(), scope: Key::new(scope), parent_ids: ids };
                    self.clients.ask(&Ask::List(collection, Wanted::All)).await
                }
                None if kind.is_singleton() => {
                    self.clients.ask(&Ask::Read(singleton(kind, scope, ids))).await
                }
                None => continue,
            };
            match answer {
                Answer::Listed(listing) => items.extend(listing.items),
                Answer::Found(item) => items.push(item),
                Answer::Failed(failure) => self.found.failures.push((kind.name.kind.to_string(), failure)),
                Answer::Absent
                | Answer::Accepted { .. }
                | Answer::Contested(_)
                | Answer::Begun { .. }
                | Answer::Progress(_) => {}
            }
        }
        items.sort_by_cached_key(|item| item.key.to_string());
        let items = Arc::new(items);
        self.listed.insert(kind.name.clone(), items.clone());
        items
    }

    /// The scopes in which a kind is listed: one for each parent that is there, and for each value that a
    /// document gives to a scope without a kind, or to what a search looks for.
    async fn scopes(&mut self, kind: &Arc<Kind>) -> Vec<(Vec<(Arc<str>, Value)>, ParentIds)> {
        let named = |part: &str| {
            let pieces = kind.list.iter().flat_map(|list| list.op.placeholders());
            pieces.into_iter().any(|piece| {
                matches!(piece, Piece::Part(n) | Piece::RawPart(n) | Piece::PartId(n) if **n == *part)
            })
        };
        let mut scopes = vec![(Vec::new(), ParentIds::default())];
        for part in &kind.parts {
            let by_parent = part.parent != Parent::Own && part.on_item.is_none();
            if !by_parent && !named(&part.name) {
                continue;
            }
            let values = match &part.parent {
                Parent::Of(parent) => self.parents(kind, &part.name, parent).await,
                _ => self.stated(kind, &part.name),
            };
            let mut next = Vec::new();
            for (scope, ids) in &scopes {
                for (value, id) in &values {
                    let mut scope: Vec<(Arc<str>, Value)> = scope.clone();
                    let mut ids: ParentIds = ids.clone();
                    scope.push((part.name.clone(), value.clone()));
                    ids.0.extend(id.clone().map(|id| (part.name.clone(), id)));
                    next.push((scope, ids));
                }
            }
            scopes = next;
        }
        scopes
    }

    /// The parents that are there: the last part of their key, and their server ids.
    async fn parents(
        &mut self,
        kind: &Kind,
        part: &str,
        parent: &KindName,
    ) -> Vec<(Value, Option<Arc<str>>)> {
        let Some(parent) = self.kinds.get(parent).cloned() else { return Vec::new() };
        if parent.name == kind.name {
            return self.stated(kind, part);
        }
        let items = Box::pin(self.list(&parent)).await;
        let own = parent.own_parts().last().map(|own| own.name.clone());
        let value = |item: &Item| own.as_ref().and_then(|own| item.key.get(own)).cloned();
        items.iter().filter_map(|item| value(item).map(|value| (value, item.server_id.clone()))).collect()
    }

    /// The values that documents of the kind give to a part.
    fn stated(&self, kind: &Kind, part: &str) -> Vec<(Value, Option<Arc<str>>)> {
        let of_kind = self.documents.iter().filter(|document| document.id.kind == kind.name);
        let values: BTreeMap<String, Value> = of_kind
            .filter_map(|document| document.id.key.get(part))
            .map(|value| (value.to_string(), value.clone()))
            .collect();
        values.into_values().map(|value| (value, None)).collect()
    }
}

/// The one object of a kind in its scope.
fn singleton(kind: &Kind, scope: Vec<(Arc<str>, Value)>, parent_ids: ParentIds) -> Target {
    Target {
        id: ObjectId { kind: kind.name.clone(), key: kind.key_of(scope) },
        server_id: None,
        parent_ids,
        version: None,
        observed: None,
        forced: false,
    }
}
