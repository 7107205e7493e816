//! References to secrets: what is copied from a secret field is a secret where it is copied to.
//!
//! A field is secret by the words of its kind or by its document, which may itself have it by reference.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::document::Document;
use super::graph::Graph;
use super::graph::references::References;
use super::kind::Kinds;
use super::veil::Veil;

/// Tells every reference which parts of its value are secrets, through chains of references too.
pub fn taint(documents: &mut [Document], graph: &Graph, kinds: &Kinds) {
    let mut referring = vec![Vec::new(); graph.nodes.len()];
    let mut due = VecDeque::new();
    for (at, links) in graph.nodes.iter().enumerate().filter(|(_, links)| !links.references.is_empty()) {
        links.references.values().for_each(|needed| referring[*needed].push(at));
        due.push_back(at);
    }
    // Secrets are only ever added, so this ends.
    while let Some(at) = due.pop_front() {
        if taint_one(documents, at, &graph.nodes[at].references, kinds) {
            due.extend(&referring[at]);
        }
    }
}

/// Whether a reference of the document has secrets that it was not known to have.
fn taint_one(documents: &mut [Document], at: usize, named: &References, kinds: &Kinds) -> bool {
    let mut found: BTreeMap<Arc<str>, Veil> = BTreeMap::new();
    documents[at].spec.each_ref(&mut |reference, _| {
        let Some(needed) = named.get(&reference.text).and_then(|needed| documents.get(*needed)) else {
            return;
        };
        let mut veil = Veil::of(&needed.spec).at(&reference.field).clone();
        if let Some(kind) = kinds.get(&needed.id.kind) {
            veil.join(Veil::of_rules(&kind.fields).at(&reference.field));
        }
        if veil != reference.secrets {
            found.insert(reference.text.clone(), veil);
        }
    });
    documents[at].spec_mut().each_ref_mut(&mut |reference| {
        if let Some(veil) = found.get(&reference.text) {
            reference.secrets = veil.clone();
        }
    });
    !found.is_empty()
}
