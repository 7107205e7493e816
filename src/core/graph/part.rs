//! A part of a graph: some documents, and what they need. A run over it decides what a run over all would, and costs
//! as much as the part.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::super::document::{Document, Ensure};
use super::super::identity::ObjectId;
use super::{Graph, GraphNode};

/// Makes parts of one set of documents: made once for all of them.
#[derive(Debug, Default)]
pub struct Parts {
    /// By document that a run may destroy, or that goes with one: those that need it.
    above: HashMap<usize, Vec<usize>>,
}

/// A part of the documents, and the graph over it.
#[derive(Clone, Debug)]
pub struct Part {
    /// Those that are due in their order, then those that they need, in theirs.
    pub documents: Vec<Document>,
    pub graph: Graph,
    /// Those that are due: the others are only looked at. A run is told so by what it selects,
    /// `&|document| due.contains(&document.id)`.
    pub due: HashSet<ObjectId>,
}

impl Parts {
    pub fn new(documents: &[Document], graph: &Graph) -> Parts {
        let mut next: Vec<usize> =
            (0..documents.len()).filter(|at| may_be_destroyed(&documents[*at])).collect();
        if next.is_empty() {
            return Parts::default();
        }
        let mut all: HashMap<usize, Vec<usize>> = HashMap::new();
        for (at, node) in graph.nodes.iter().enumerate().take(documents.len()) {
            node.needs().into_iter().for_each(|need| all.entry(need).or_default().push(at));
        }
        let mut above = HashMap::new();
        while let Some(at) = next.pop() {
            if let Some(needing) = all.remove(&at) {
                next.extend(&needing);
                above.insert(at, needing);
            }
        }
        Parts { above }
    }

    /// The part that the documents of `due` make, by their places in `documents`; those that are not there are
    /// ignored.
    ///
    /// What a run may destroy is due together with all that needs it: what is to go goes first, what stays may
    /// forbid it, and what goes with it is made again.
    pub fn part(&self, documents: &[Document], graph: &Graph, due: impl IntoIterator<Item = usize>) -> Part {
        let due = self.with_those_above(due.into_iter().filter(|at| *at < documents.len()));
        let needed = needed(graph, &due);
        let (context, parents): (Vec<usize>, Vec<usize>) =
            needed.into_iter().filter(|at| !due.contains(at)).partition(|at| *at < documents.len());
        let order: Vec<usize> = due.iter().copied().chain(context).chain(parents).collect();
        let places: HashMap<usize, usize> = order.iter().enumerate().map(|(new, old)| (*old, new)).collect();
        Part {
            documents: order.iter().filter_map(|at| documents.get(*at)).cloned().collect(),
            graph: Graph { nodes: order.iter().map(|at| renumbered(&graph.nodes[*at], &places)).collect() },
            due: due.iter().map(|at| documents[*at].id.clone()).collect(),
        }
    }

    fn with_those_above(&self, due: impl Iterator<Item = usize>) -> BTreeSet<usize> {
        let mut next: Vec<usize> = due.collect();
        let mut all = BTreeSet::new();
        while let Some(at) = next.pop() {
            if all.insert(at) {
                next.extend(self.above.get(&at).into_iter().flatten());
            }
        }
        all
    }
}

/// Whether a run may delete the object, for good or to create it again.
fn may_be_destroyed(document: &Document) -> bool {
    document.policy.ensure == Ensure::Absent || document.policy.replace
}

/// These nodes and all that they need, references that are set later among it.
fn needed(graph: &Graph, due: &BTreeSet<usize>) -> BTreeSet<usize> {
    let mut next: Vec<usize> = due.iter().copied().collect();
    let mut all = BTreeSet::new();
    while let Some(at) = next.pop() {
        if all.insert(at) {
            let node = &graph.nodes[at];
            next.extend(node.needs().into_iter().chain(node.references.values().copied()));
        }
    }
    all
}

fn renumbered(node: &GraphNode, places: &HashMap<usize, usize>) -> GraphNode {
    let place = |at: &usize| places[at];
    GraphNode {
        id: node.id.clone(),
        parents: node.parents.iter().map(|(part, at)| (part.clone(), place(at))).collect(),
        references: node.references.renumbered(place),
        after: node.after.iter().map(place).collect(),
        former: node.former.as_ref().map(place),
        later: node.later.iter().map(place).collect(),
        documented: node.documented,
    }
}
