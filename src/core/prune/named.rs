//! What documents name: no object of these is ever too much.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::super::alike;
use super::super::identity::{KindName, ObjectId};
use super::super::report::Explanation;
use super::Known;

/// The documents, the parents that they stand below, and the names that they had before a rename.
pub struct Named<'k> {
    exact: HashSet<&'k ObjectId>,
    /// Without letter case, composed, and with numbers as the texts that they read as: a server may take two such
    /// names for one.
    alike: HashMap<(&'k KindName, String), &'k ObjectId>,
    pinned: HashSet<(&'k KindName, Arc<str>)>,
}

impl<'k> Named<'k> {
    pub fn of(known: &Known<'k>) -> Named<'k> {
        let ids = || known.graph.nodes.iter().map(|node| &node.id);
        let pinned = known
            .documents
            .iter()
            .filter_map(|document| document.policy.pinned_id.clone().map(|id| (&document.id.kind, id)));
        Named {
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
        let other = self.alike.get(&(&id.kind, folded(id)))?;
        let why = format!(
            "the name of `{other}`, which has a document, differs in letter case, composition or type alone"
        );
        Some(Explanation::new(why).hint("spell the name in the document as the server does"))
    }
}

fn folded(id: &ObjectId) -> String {
    alike::folded(&id.key.to_string())
}
