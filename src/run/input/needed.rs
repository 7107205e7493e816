//! Adds to a choice of documents what the chosen ones need.

use std::collections::HashMap;

use crate::core::document::Document;
use crate::core::graph::Graph;
use crate::core::identity::ObjectId;
use crate::core::needed::{self, Added};
use crate::manifest::Selection;

/// Adds it, and tells each document that it is added for another.
pub fn add(selection: &mut Selection, documents: &mut [Document], graph: &Graph) -> Vec<Added> {
    // A graph that cannot be built has no nodes: what is wrong with it is said elsewhere.
    if selection.is_everything() || graph.nodes.len() < documents.len() {
        return Vec::new();
    }
    let added =
        needed::needed(documents, graph, &|one| selection.chooses(one), &|one| selection.excludes(one));
    selection.add(added.iter().map(|added| added.id.clone()));
    let mut needing: HashMap<&ObjectId, &ObjectId> =
        added.iter().map(|added| (&added.id, &added.needed_by)).collect();
    for document in documents {
        document.policy.added_for = needing.remove(&document.id).cloned();
    }
    added
}
