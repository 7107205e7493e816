//! What documents name: no object of these is ever too much.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::super::alike;
use super::super::identity::{KindName, ObjectId};
use super::super::kind::{Kind, Kinds, Piece, Template};
use super::super::report::Explanation;
use super::Known;

/// The documents, the parents that they stand below, and the names that they had before a rename.
pub struct Named<'k> {
    exact: HashSet<&'k ObjectId>,
    /// Without letter case, composed, and with numbers as the texts that they read as: a server may take two such
    /// names for one.
    alike: HashMap<(&'k KindName, String), &'k ObjectId>,
    pinned: HashSet<(&'k KindName, Arc<str>)>,
    /// By the id that a document pins, whatever the kind.
    ids: HashMap<Arc<str>, Vec<&'k ObjectId>>,
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
        let mut ids_of: HashMap<Arc<str>, Vec<&ObjectId>> = HashMap::new();
        for document in known.documents {
            if let Some(id) = &document.policy.pinned_id {
                ids_of.entry(id.clone()).or_default().push(&document.id);
            }
        }
        Named {
            ids: ids_of,
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
    pub fn doubt(&self, id: &ObjectId, server_id: Option<&str>) -> Option<Explanation> {
        let name = folded(id);
        let Some(other) = self.alike.get(&(&id.kind, name.clone())) else {
            return self.as_another_kind(id, &name, server_id);
        };
        let why = format!(
            "the name of `{other}`, which has a document, differs in letter case, composition or type alone"
        );
        Some(Explanation::new(why).hint("spell the name in the document as the server does"))
    }

    /// Why a document of another kind may be about this object: both are listed by one request.
    fn as_another_kind(&self, id: &ObjectId, name: &str, server_id: Option<&str>) -> Option<Explanation> {
        let kind = self.kinds.get(&id.kind)?;
        let is_it = |other: &&&ObjectId| {
            self.kinds.get(&other.kind).is_some_and(|other| self.one_listing(kind, other))
        };
        let named = self.names.get(name).into_iter().flatten();
        let pinned = server_id.and_then(|id| self.ids.get(id)).into_iter().flatten();
        let other = named.chain(pinned).find(is_it)?;
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

    /// Whether one request lists both kinds: to one backend, or to two whose addresses with what is asked below them
    /// are the same.
    fn one_listing(&self, kind: &Kind, other: &Kind) -> bool {
        let (Some(list), Some(others)) = (&kind.list, &other.list) else { return false };
        if kind.name == other.name || list.op.query != others.op.query {
            return false;
        }
        let address = |kind: &Kind, path: &Template| {
            let site = self.kinds.sites.get(&kind.name.backend)?;
            Some((site.trim_end_matches('/').to_owned(), path.0.clone()))
        };
        if kind.name.backend == other.name.backend {
            return list.op.path == others.op.path;
        }
        let (here, there) = (address(kind, &list.op.path), address(other, &others.op.path));
        here.zip(there).is_some_and(|(here, there)| whole(here) == whole(there))
    }
}

/// An address as the pieces of one path, as far as it is fixed.
fn whole((mut fixed, path): (String, Vec<Piece>)) -> (String, Vec<Piece>) {
    let mut rest = path.into_iter().peekable();
    while let Some(Piece::Literal(text)) = rest.next_if(|piece| matches!(piece, Piece::Literal(_))) {
        fixed.push_str(&text);
    }
    (fixed, rest.collect())
}

fn folded(id: &ObjectId) -> String {
    alike::folded(&id.key.to_string())
}
