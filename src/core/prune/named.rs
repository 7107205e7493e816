//! What documents name: no object of these is ever too much.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::super::alike;
use super::super::identity::{KindName, ObjectId};
use super::super::kind::{Kind, Kinds};
use super::super::report::Explanation;
use super::Known;

/// The documents, the parents that they stand below, and the names that they had before a rename.
pub struct Named<'k> {
    exact: HashSet<&'k ObjectId>,
    /// Without letter case, composed, and with numbers as the texts that they read as: a server may take two such
    /// names for one.
    alike: HashMap<(&'k KindName, String), &'k ObjectId>,
    pinned: HashSet<(&'k KindName, Arc<str>)>,
    /// By name, whatever the kind: one object may be listed as two kinds.
    names: HashMap<String, Vec<&'k ObjectId>>,
    kinds: &'k Kinds,
}

impl<'k> Named<'k> {
    pub fn of(known: &Known<'k>) -> Named<'k> {
        let ids = || known.graph.nodes.iter().map(|node| &node.id);
        let pinned = known
            .documents
            .iter()
            .filter_map(|document| document.policy.pinned_id.clone().map(|id| (&document.id.kind, id)));
        let mut names: HashMap<String, Vec<&ObjectId>> = HashMap::new();
        ids().for_each(|id| names.entry(folded(id)).or_default().push(id));
        Named {
            names,
            kinds: known.kinds,
            exact: ids().collect(),
            alike: ids().map(|id| ((&id.kind, folded(id)), id)).collect(),
            pinned: pinned.collect(),
        }
    }

    /// Whether a document is about this object.
    pub fn has(&self, id: &'k ObjectId, server_id: Option<&str>) -> bool {
        let pinned = server_id.is_some_and(|server_id| self.pinned.contains(&(&id.kind, server_id.into())));
        pinned || self.exact.contains(id)
    }

    /// Why a document may be about this object although it spells its name otherwise.
    pub fn doubt(&self, id: &ObjectId) -> Option<Explanation> {
        let name = folded(id);
        let Some(other) = self.alike.get(&(&id.kind, name.clone())) else {
            return self.as_another_kind(id, &name);
        };
        let why = format!(
            "the name of `{other}`, which has a document, differs in letter case, composition or type alone"
        );
        Some(Explanation::new(why).hint("spell the name in the document as the server does"))
    }

    /// Why a document of another kind may be about this object: both are listed by one request.
    fn as_another_kind(&self, id: &ObjectId, name: &str) -> Option<Explanation> {
        let kind = self.kinds.get(&id.kind)?;
        let is_it = |other: &&&ObjectId| {
            self.one_place(&other.kind, &id.kind)
                && self.kinds.get(&other.kind).is_some_and(|other| one_listing(kind, other))
        };
        let other = self.names.get(name)?.iter().find(is_it)?;
        let of = match other.kind.backend == id.kind.backend {
            true => format!("`{other}`"),
            false => format!("`{other}` of the backend `{}`", other.kind.backend),
        };
        let why =
            format!("{of}, which has a document, is listed by the same request, and may be this object");
        Some(
            Explanation::new(why)
                .hint("let one kind list what the other does not, or name the object by one of the two"),
        )
    }

    /// Whether requests of two kinds go to one place: the backends are one, or have one URL.
    fn one_place(&self, one: &KindName, other: &KindName) -> bool {
        let site = |name: &KindName| self.kinds.sites.get(&name.backend);
        one.backend == other.backend || site(one).is_some_and(|here| site(other) == Some(here))
    }
}

fn one_listing(kind: &Kind, other: &Kind) -> bool {
    let (Some(list), Some(others)) = (&kind.list, &other.list) else { return false };
    kind.name != other.name && list.op.path == others.op.path && list.op.query == others.op.query
}

fn folded(id: &ObjectId) -> String {
    alike::folded(&id.key.to_string())
}
