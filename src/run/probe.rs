//! Asks what `probe` judges: the first pages of each kind's collections below its first parents, and a few
//! objects by themselves, twice. By a client that cannot write.

use std::collections::HashMap;
use std::sync::Arc;

use super::clients::Clients;
use super::runner::Runner;
use crate::api::client::ReadOnly;
use crate::backend::path::check_segment;
use crate::backend::probe::{Evidence, SeenObject, judge};
use crate::core::document::Document;
use crate::core::exchange::{Collection, Item, ParentIds, Target};
use crate::core::identity::{Key, KindName, ObjectId};
use crate::core::kind::{Kind, Kinds, Parent, Part, Read};
use crate::core::probe::{Probe, Probed};
use crate::core::problem::Problem;
use crate::core::value::Value;

/// So many pages of a collection: the second shows whether the first one's way on was understood.
const PAGES: usize = 2;
/// Below so many parents a kind is looked at.
const PARENTS: usize = 3;

impl Runner {
    /// Holds the kinds that `wants` takes against live answers, at most `limit` objects of each.
    ///
    /// # Errors
    /// A client that cannot be made.
    pub async fn probe(
        &self,
        wants: &(dyn Fn(&KindName) -> bool + Sync),
        limit: usize,
    ) -> Result<Probe, Problem> {
        let (transports, kinds, options, documents) = self.parts();
        let clients = Clients::read_only(transports, kinds, options)?;
        let mut asker = Asker { clients: &clients, kinds, documents, limit, seen: HashMap::new() };
        let mut probe = Probe::default();
        for kind in kinds.iter().filter(|kind| wants(&kind.name)) {
            probe.kinds.push(asker.probe(kind).await);
        }
        probe.requests = clients.requests();
        Ok(probe)
    }
}

/// What was seen of a kind, for its children: they are listed below its first items.
type Seen = Arc<Result<Found, String>>;

struct Found {
    evidence: Evidence,
    /// The items with the ids of their parents.
    items: Vec<(Item, ParentIds)>,
}

struct Asker<'a> {
    clients: &'a Clients<ReadOnly>,
    kinds: &'a Kinds,
    documents: &'a [Document],
    limit: usize,
    /// What was listed already: parents serve more than one kind.
    seen: HashMap<KindName, Seen>,
}

/// Values for the parts that a listing names, and the server ids of the parents that stand for them.
type Scope = (Vec<(Arc<str>, Value)>, ParentIds);

impl Asker<'_> {
    async fn probe(&mut self, kind: &Arc<Kind>) -> Probed {
        match &*self.list(kind).await {
            Ok(Found { evidence, .. }) => judge(kind, evidence),
            Err(why) => Probed { skipped: Some(why.clone()), ..Probed::new(kind.name.clone()) },
        }
    }

    /// Lists the kind below its first parents, and reads a few objects.
    async fn list(&mut self, kind: &Arc<Kind>) -> Seen {
        if let Some(seen) = self.seen.get(&kind.name) {
            return seen.clone();
        }
        // A kind that is its own parent is listed where documents say.
        self.seen.insert(kind.name.clone(), Arc::new(Err("it is its own parent".into())));
        let seen = Arc::new(Box::pin(self.look(kind)).await);
        self.seen.insert(kind.name.clone(), seen.clone());
        seen
    }

    async fn look(&mut self, kind: &Arc<Kind>) -> Result<Found, String> {
        let mut found = Found { evidence: Evidence::default(), items: Vec::new() };
        let targets = match &kind.list {
            Some(_) => self.collections(kind, &mut found).await?,
            None if kind.parts.is_empty() => vec![(target(kind, Key::new(Vec::new())), None)],
            None => self.stated_objects(kind)?,
        };
        if matches!(kind.read, Read::Op(_)) {
            found.evidence.objects = self.objects(kind, targets).await;
        }
        Ok(found)
    }

    /// Lists the collections; gives the objects that are to be read by themselves.
    async fn collections(
        &mut self,
        kind: &Arc<Kind>,
        found: &mut Found,
    ) -> Result<Vec<(Target, Option<Item>)>, String> {
        let mut targets = Vec::new();
        for (scope, ids) in self.scopes(kind).await? {
            let collection =
                Collection { kind: kind.name.clone(), scope: Key::new(scope), parent_ids: ids.clone() };
            let client = self.client(kind)?;
            let mut listing = client.sample(kind, &collection, PAGES).await;
            if matches!(kind.read, Read::FromList) && listing.failure.is_none() {
                listing.again = client.sample(kind, &collection, 1).await.pages.pop();
            }
            for item in listing.pages.iter().flat_map(|page| &page.items) {
                let about = Target {
                    server_id: item.server_id.clone(),
                    parent_ids: ids.clone(),
                    version: item.version.clone(),
                    observed: Some(item.value.clone()),
                    ..target(kind, item.key.clone())
                };
                targets.push((about, Some(item.clone())));
                found.items.push((item.clone(), ids.clone()));
            }
            found.evidence.listings.push(listing);
        }
        Ok(targets)
    }

    /// Objects of a kind without a listing: those that documents name.
    fn stated_objects(&self, kind: &Kind) -> Result<Vec<(Target, Option<Item>)>, String> {
        let of_kind = self.documents.iter().filter(|document| document.id.kind == kind.name);
        let targets: Vec<_> = of_kind.map(|document| (target(kind, document.id.key.clone()), None)).collect();
        match targets.is_empty() {
            true => Err("it has no `list`, and no document names an object of it".into()),
            false => Ok(targets),
        }
    }

    /// Reads the first objects, each twice: all of them, and then all of them again.
    async fn objects(&self, kind: &Arc<Kind>, targets: Vec<(Target, Option<Item>)>) -> Vec<SeenObject> {
        let Ok(client) = self.client(kind) else { return Vec::new() };
        let mut objects = Vec::new();
        // One without a name, as some servers have, cannot stand in a request.
        let nameable = |target: &Target| {
            let parts = target.id.key.parts().iter().filter_map(|(_, value)| value.as_str());
            parts.into_iter().all(|text| check_segment(text).is_ok())
        };
        let targets: Vec<_> =
            targets.into_iter().filter(|(target, _)| nameable(target)).take(self.limit).collect();
        for (target, listed) in &targets {
            let first = client.look(kind, target).await;
            objects.push(SeenObject { id: target.id.clone(), listed: listed.clone(), reads: vec![first] });
        }
        for (object, (target, _)) in objects.iter_mut().zip(&targets) {
            object.reads.push(client.look(kind, target).await);
        }
        objects
    }

    fn client(&self, kind: &Kind) -> Result<&crate::api::client::Client<ReadOnly>, String> {
        let client = self.clients.client(&kind.name.backend);
        client.ok_or_else(|| format!("there is no connection to the backend `{}`", kind.name.backend))
    }

    /// The first scopes in which the kind is listed. A part that a parent's own key has is taken from there, so
    /// that parts fit each other.
    async fn scopes(&mut self, kind: &Arc<Kind>) -> Result<Vec<Scope>, String> {
        let mut scopes: Vec<Scope> = vec![Default::default()];
        let named: Vec<&Part> = kind.parts.iter().filter(|part| is_named(kind, part)).collect();
        // The parents that have the most parents of their own come last.
        for part in named.into_iter().rev() {
            let mut next = Vec::new();
            for scope in scopes {
                if scope.0.iter().any(|(name, _)| *name == part.name) {
                    next.push(scope);
                    continue;
                }
                next.extend(self.values(kind, part).await?.into_iter().map(|more| joined(&scope, more)));
            }
            scopes = next;
            scopes.truncate(PARENTS);
        }
        Ok(scopes)
    }

    /// The values that a part can have, with what comes with each.
    async fn values(&mut self, kind: &Arc<Kind>, part: &Part) -> Result<Vec<Scope>, String> {
        let parent = match &part.parent {
            Parent::Of(parent) => self.kinds.get(parent).cloned(),
            Parent::Scope | Parent::Own => None,
        };
        let Some(parent) = parent.filter(|parent| parent.name != kind.name) else {
            return self.stated(kind, part);
        };
        let seen = Box::pin(self.list(&parent)).await;
        let items = seen.as_ref().as_ref().map_or(&[][..], |found| &found.items);
        let below = |(item, ids): &(Item, ParentIds)| below(kind, part, &parent, item, ids);
        let values: Vec<Scope> = items.iter().take(PARENTS).filter_map(below).collect();
        match values.is_empty() {
            true => Err(format!("no {} was found, below which it is listed", parent.name.kind)),
            false => Ok(values),
        }
    }

    /// The values that documents of the kind give to a part.
    fn stated(&self, kind: &Kind, part: &Part) -> Result<Vec<Scope>, String> {
        let of_kind = self.documents.iter().filter(|document| document.id.kind == kind.name);
        let mut values: Vec<&Value> = Vec::new();
        for value in of_kind.filter_map(|document| document.id.key.get(&part.name)) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        let scope = |value: &Value| (vec![(part.name.clone(), value.clone())], ParentIds::default());
        match values.is_empty() {
            true => Err(format!("no document of it says its `{}`, below which it is listed", part.name)),
            false => Ok(values.into_iter().take(PARENTS).map(scope).collect()),
        }
    }
}

/// Whether the listing's request needs the part.
fn is_named(kind: &Kind, part: &Part) -> bool {
    let in_request = kind.list.as_ref().is_some_and(|list| list.op.says_part(&part.name));
    in_request || (part.parent != Parent::Own && part.on_item.is_none())
}

/// The scope below one parent: its name in the place of the part, and those parts of its own key that the kind
/// has as well.
fn below(kind: &Kind, part: &Part, parent: &Kind, item: &Item, ids: &ParentIds) -> Option<Scope> {
    let own = parent.own_parts().last()?;
    let mut scope = vec![(part.name.clone(), item.key.get(&own.name)?.clone())];
    let mut ids = ids.clone();
    ids.0.extend(item.server_id.clone().map(|id| (part.name.clone(), id)));
    for (name, value) in item.key.parts() {
        if *name != own.name && *name != part.name && kind.part(name).is_some() {
            scope.push((name.clone(), value.clone()));
        }
    }
    Some((scope, ids))
}

/// Both scopes in one; what the first one says stays.
fn joined(first: &Scope, more: Scope) -> Scope {
    let (mut scope, mut ids) = first.clone();
    for (name, value) in more.0 {
        if !scope.iter().any(|(have, _)| *have == name) {
            scope.push((name, value));
        }
    }
    for (name, id) in more.1.0 {
        if ids.get(&name).is_none() {
            ids.0.push((name, id));
        }
    }
    (scope, ids)
}

fn target(kind: &Kind, key: Key) -> Target {
    Target::new(ObjectId { kind: kind.name.clone(), key })
}
