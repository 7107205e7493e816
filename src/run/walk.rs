//! Goes through the live objects of kinds: their collections, below every parent that is there.
//!
//! Each collection is handed on as soon as it was listed. Of an object that is a parent only its key and its
//! id are kept, so that what is held at once is one collection and not all of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream;

use super::drive::Look;
use super::live::{Veils, Wants, id_of};
use crate::core::document::Document;
use crate::core::exchange::{
    Answer, Ask, Collection, Failure, FailureClass, Item, ParentIds, Target, Wanted,
};
use crate::core::identity::{Key, KindName, ObjectId};
use crate::core::kind::{Kind, Kinds, Parent, Part, Read};
use crate::core::report::Requests;
use crate::core::value::{Value, equal};

/// Reads of single objects under way at once; the client's own limits stay below it.
const READS: usize = 32;

/// The objects of one collection, in the order of their names.
pub struct Batch<'b> {
    pub kind: &'b Arc<Kind>,
    pub veils: &'b Veils<'b>,
    pub items: Vec<Item>,
}

/// What could not be seen.
#[derive(Debug, Default)]
pub struct Missed {
    /// Requests that failed, listings that are not whole, items that cannot be understood.
    pub failures: Vec<Failure>,
    pub unlisted: Vec<Unlisted>,
    pub requests: Requests,
}

/// A kind whose objects cannot be found at all.
#[derive(Debug)]
pub struct Unlisted {
    pub kind: KindName,
    pub why: String,
    pub hint: Option<String>,
}

/// What is kept of a parent.
struct Found {
    key: Key,
    server_id: Option<Arc<str>>,
}

/// The keys of what was listed, by kind.
#[derive(Default)]
pub struct Listed(HashMap<KindName, Arc<Vec<Found>>>);

/// What a collection lies below: the parts of its children's keys that are known, and the parents' ids.
#[derive(Clone, Default)]
struct Scope {
    parts: Vec<(Arc<str>, Value)>,
    ids: ParentIds,
    /// The parts that the parents' own keys say, those of grandparents among them.
    implied: BTreeMap<Arc<str>, Value>,
    /// The parents that can be asked for by themselves.
    above: Vec<Target>,
}

/// A kind, and what some parts of its keys must be.
type Within<'w> = (&'w KindName, &'w [(Arc<str>, Value)]);

/// A walk under way.
pub struct Walk<'w, L> {
    clients: &'w L,
    kinds: &'w Kinds,
    documents: &'w [Document],
    /// Whether what a partial listing shows is read one by one.
    whole: bool,
    take: &'w mut dyn FnMut(Batch),
    /// What parts of the keys of one kind must be: only collections that can hold such objects are listed.
    within: Option<Within<'w>>,
    /// What was listed already: parents serve more than one kind.
    listed: Listed,
    pub missed: Missed,
}

impl<'w, L: Look> Walk<'w, L> {
    pub fn new(
        clients: &'w L,
        kinds: &'w Kinds,
        documents: &'w [Document],
        whole: bool,
        take: &'w mut dyn FnMut(Batch),
    ) -> Self {
        let (within, listed, missed) = (None, Listed::default(), Missed::default());
        Walk { clients, kinds, documents, whole, take, within, listed, missed }
    }

    /// The walk, for objects of a kind with these parts in their keys alone.
    pub fn within(self, kind: &'w KindName, parts: &'w [(Arc<str>, Value)]) -> Self {
        Walk { within: Some((kind, parts)), ..self }
    }

    /// The walk, by what another one has listed; the kind itself is listed anew.
    pub fn knowing(self, kind: &KindName, mut listed: Listed) -> Self {
        listed.0.remove(kind);
        Walk { listed, ..self }
    }

    /// What this walk has listed whole, for the next one, and what it has missed.
    pub fn into_listed(mut self) -> (Listed, Missed) {
        if let Some((kind, _)) = self.within.filter(|(_, parts)| !parts.is_empty()) {
            self.listed.0.remove(kind);
        }
        (self.listed, self.missed)
    }

    /// Goes through all wanted kinds; a kind comes after those of its parents.
    pub async fn all(&mut self, wants: Wants<'_>) {
        for kind in in_order(self.kinds).into_iter().filter(|kind| wants(&kind.name)) {
            self.list(&kind, wants).await;
        }
    }

    /// All objects of a kind; wanted ones are handed on.
    async fn list(&mut self, kind: &Arc<Kind>, wants: Wants<'_>) -> Arc<Vec<Found>> {
        if let Some(found) = self.listed.0.get(&kind.name) {
            return found.clone();
        }
        let is_parent = |part: &Part| part.parent == Parent::Of(kind.name.clone());
        let kept = self.kinds.iter().any(|other| other.parts.iter().any(is_parent));
        let veils = Veils::of(self.documents, kind);
        let mut found = Vec::new();
        for scope in Box::pin(self.scopes(kind, wants)).await {
            let mut items = self.collection(kind, scope, wants).await;
            items.sort_by_cached_key(|item| (item.key.to_string(), item.key.clone(), item.server_id.clone()));
            if kept {
                let keys = items.iter();
                found.extend(
                    keys.map(|item| Found { key: item.key.clone(), server_id: item.server_id.clone() }),
                );
            }
            if wants(&kind.name) {
                (self.take)(Batch { kind, veils: &veils, items });
            }
        }
        let found = Arc::new(found);
        self.listed.0.insert(kind.name.clone(), found.clone());
        found
    }

    /// The objects of a kind in one scope.
    async fn collection(&mut self, kind: &Arc<Kind>, scope: Scope, wants: Wants<'_>) -> Vec<Item> {
        let Scope { parts, ids, above, .. } = scope;
        let sought = sought(kind, &parts);
        let ask = match &kind.list {
            Some(_) => {
                let scope = Key::new(parts);
                Ask::List(Collection { kind: kind.name.clone(), scope, parent_ids: ids.clone() }, Wanted::All)
            }
            None => {
                Ask::Read(target(ObjectId { kind: kind.name.clone(), key: kind.key_of(parts) }, ids.clone()))
            }
        };
        match self.clients.ask(&ask).await {
            Answer::Listed(mut listing) => {
                listing.items.retain(|item| is_sought(kind, item, &sought));
                let incomplete = listing.incomplete.map(|why| why.message);
                let doubts = incomplete.into_iter().chain(listing.problems);
                self.missed.failures.extend(doubts.map(Failure::doubt));
                match &kind.list {
                    Some(list) if list.partial && self.whole => {
                        self.read(kind, listing.items, &ids, wants).await
                    }
                    _ => listing.items,
                }
            }
            Answer::Found(item) => vec![item],
            // Some APIs have no list of nothing (Vault, Consul).
            Answer::Failed(failure) if is_missing(&failure) && kind.readable_by_key() => Vec::new(),
            Answer::Failed(failure) if is_missing(&failure) && self.is_gone(above).await => Vec::new(),
            Answer::Failed(failure) => {
                self.missed.failures.push(failure);
                Vec::new()
            }
            Answer::Absent
            | Answer::Accepted { .. }
            | Answer::Contested(_)
            | Answer::Begun { .. }
            | Answer::Progress(_) => Vec::new(),
        }
    }

    /// Whether one of the parents is there no longer; then there is nothing below it, and nothing was missed.
    async fn is_gone(&self, parents: Vec<Target>) -> bool {
        for parent in parents {
            if matches!(self.clients.ask(&Ask::Read(parent)).await, Answer::Absent) {
                return true;
            }
        }
        false
    }

    /// What a partial listing showed, each object read whole. One that is gone by now is left out.
    async fn read(
        &mut self,
        kind: &Arc<Kind>,
        items: Vec<Item>,
        ids: &ParentIds,
        wants: Wants<'_>,
    ) -> Vec<Item> {
        let parents = self.parents_on_items(kind, wants).await;
        let clients = self.clients;
        let asks = items.into_iter().map(|item| {
            let mut ids = ids.clone();
            for (part, found) in &parents {
                let parent = found.iter().find(|found| is_named(found, part, &item.key));
                ids.0.extend(parent.and_then(|parent| Some((part.clone(), parent.server_id.clone()?))));
            }
            let target = target(id_of(kind, &item), ids);
            Ask::Read(Target {
                server_id: item.server_id,
                version: item.version,
                observed: Some(item.value),
                ..target
            })
        });
        let asked = asks.map(|ask| async move { clients.ask(&ask).await });
        let answers: Vec<Answer> = stream::iter(asked).buffered(READS).collect().await;
        let mut whole = Vec::with_capacity(answers.len());
        for answer in answers {
            match answer {
                Answer::Found(item) => whole.push(item),
                Answer::Failed(failure) => self.missed.failures.push(failure),
                // Gone by now; the others answer no read.
                Answer::Absent | Answer::Listed(_) | Answer::Accepted { .. } => {}
                Answer::Contested(_) | Answer::Begun { .. } | Answer::Progress(_) => {}
            }
        }
        whole
    }

    /// The parents that a read names by their id, and that only the items tell.
    async fn parents_on_items(
        &mut self,
        kind: &Arc<Kind>,
        wants: Wants<'_>,
    ) -> Vec<(Arc<str>, Arc<Vec<Found>>)> {
        let mut all = Vec::new();
        let Read::Op(op) = &kind.read else { return all };
        for part in kind.parts.iter().filter(|part| part.on_item.is_some()) {
            let by_id = op.says_id_of(&part.name);
            if let Parent::Of(parent) = &part.parent
                && let Some(parent) = self.kinds.get(parent).filter(|_| by_id).cloned()
            {
                all.push((part.name.clone(), Box::pin(self.list(&parent, wants)).await));
            }
        }
        all
    }

    /// The scopes in which a kind is listed: one for each parent that is there, and for each value that a
    /// document gives to a scope without a kind, or to what a search looks for.
    async fn scopes(&mut self, kind: &Arc<Kind>, wants: Wants<'_>) -> Vec<Scope> {
        if kind.list.is_none() && kind.own_parts().next().is_some() {
            let why = "its backend declares no `list`".into();
            self.missed.unlisted.push(Unlisted { kind: kind.name.clone(), why, hint: None });
            return Vec::new();
        }
        let within = self.within.filter(|(name, _)| **name == kind.name).map_or(&[][..], |(_, parts)| parts);
        let mut scopes = vec![Scope { implied: within.iter().cloned().collect(), ..Scope::default() }];
        for part in &kind.parts {
            let by_parent = part.parent != Parent::Own && (kind.list.is_none() || part.on_item.is_none());
            if !by_parent && !kind.list.iter().any(|list| list.op.says_part(&part.name)) {
                continue;
            }
            let wanted = within.iter().find(|(name, _)| *name == part.name).map(|(_, value)| value);
            let parent = match &part.parent {
                Parent::Of(parent) if *parent != kind.name => self.kinds.get(parent).cloned(),
                _ => None,
            };
            // A parent that is named, and cannot be listed, is taken for there.
            let parent = parent.filter(|parent| wanted.is_none() || parent.list.is_some());
            scopes = match parent {
                Some(parent) => {
                    let found = Box::pin(self.list(&parent, wants)).await;
                    let below = |scope: &Scope| {
                        found.iter().filter_map(|one| scope.below(kind, part, &parent, one)).collect()
                    };
                    scopes.iter().flat_map(|scope| -> Vec<Scope> { below(scope) }).collect()
                }
                None => {
                    let values =
                        wanted.map_or_else(|| self.stated(kind, &part.name), |value| vec![value.clone()]);
                    if values.is_empty() {
                        let why = format!("no document says which `{}` is meant", part.name);
                        let hint = Some(format!("give a document of a {} with `-f`", kind.name.kind));
                        self.missed.unlisted.push(Unlisted { kind: kind.name.clone(), why, hint });
                    }
                    let with = |scope: &Scope| values.iter().map(|value| scope.with(part, value)).collect();
                    scopes.iter().flat_map(|scope| -> Vec<Scope> { with(scope) }).collect()
                }
            };
        }
        scopes
    }

    /// The values that documents of the kind give to a part.
    fn stated(&self, kind: &Kind, part: &str) -> Vec<Value> {
        let of_kind = self.documents.iter().filter(|document| document.id.kind == kind.name);
        let values: BTreeMap<String, Value> = of_kind
            .filter_map(|document| document.id.key.get(part))
            .map(|value| (value.to_string(), value.clone()))
            .collect();
        values.into_values().collect()
    }
}

impl Scope {
    /// The scope with a value for a part.
    fn with(&self, part: &Part, value: &Value) -> Scope {
        let mut scope = self.clone();
        scope.parts.push((part.name.clone(), value.clone()));
        scope.implied.insert(part.name.clone(), value.clone());
        scope
    }

    /// The scope below a parent; `None` for one that lies below other grandparents than the scope.
    fn below(&self, kind: &Kind, part: &Part, above_kind: &Kind, parent: &Found) -> Option<Scope> {
        let ((_, own), above) = parent.key.parts().split_last()?;
        let strange = |name: &Arc<str>, value: &Value| {
            let key = |value: &Value| kind.key_of(vec![(name.clone(), value.clone())]);
            self.implied.get(name).is_some_and(|said| !equal(said, value) && key(said) != key(value))
        };
        if above.iter().any(|(name, value)| strange(name, value)) || strange(&part.name, own) {
            return None;
        }
        let mut scope = self.with(part, own);
        if matches!(&above_kind.read, Read::Op(op) if !op.needs_id() || parent.server_id.is_some()) {
            let id = ObjectId { kind: above_kind.name.clone(), key: parent.key.clone() };
            scope.above.push(Target { server_id: parent.server_id.clone(), ..target(id, self.ids.clone()) });
        }
        scope.implied.extend(above.iter().cloned());
        scope.ids.0.extend(parent.server_id.clone().map(|id| (part.name.clone(), id)));
        Some(scope)
    }
}

/// What a search looks for: the parts of the object's own key that its request carries.
fn sought(kind: &Kind, parts: &[(Arc<str>, Value)]) -> Vec<(Arc<str>, Value)> {
    let is_own = |name: &str| kind.part(name).is_some_and(|part| part.parent == Parent::Own);
    let carried = |name: &str| kind.list.iter().any(|list| list.op.says_part(name));
    parts.iter().filter(|(name, _)| is_own(name) && carried(name)).cloned().collect()
}

/// Whether a search looked for the item. What it found besides is another search's to tell, or nobody's: `foo-bar`
/// is not `foo`.
fn is_sought(kind: &Kind, item: &Item, sought: &[(Arc<str>, Value)]) -> bool {
    sought.iter().all(|(name, value)| kind.same_part(&item.key, name, value))
}

/// Whether the server says that there is no such collection.
fn is_missing(failure: &Failure) -> bool {
    matches!(failure.class, FailureClass::Status(404 | 410))
}

/// Whether a key names this object in one of its parts.
fn is_named(found: &Found, part: &str, key: &Key) -> bool {
    let Some(((_, own), above)) = found.key.parts().split_last() else { return false };
    let same = |name: &str, value: &Value| key.get(name).is_none_or(|named| equal(named, value));
    same(part, own) && above.iter().all(|(name, value)| same(name, value))
}

fn target(id: ObjectId, parent_ids: ParentIds) -> Target {
    Target { parent_ids, ..Target::new(id) }
}

/// The kinds by name, each after the kinds of its parents.
fn in_order(kinds: &Kinds) -> Vec<Arc<Kind>> {
    let mut ordered = Vec::new();
    let mut begun = BTreeSet::new();
    for kind in kinds.iter() {
        place(kind, kinds, &mut begun, &mut ordered);
    }
    ordered
}

fn place(kind: &Arc<Kind>, kinds: &Kinds, begun: &mut BTreeSet<KindName>, ordered: &mut Vec<Arc<Kind>>) {
    if !begun.insert(kind.name.clone()) {
        return;
    }
    for part in &kind.parts {
        if let Parent::Of(parent) = &part.parent
            && let Some(parent) = kinds.get(parent)
        {
            place(parent, kinds, begun, ordered);
        }
    }
    ordered.push(kind.clone());
}
