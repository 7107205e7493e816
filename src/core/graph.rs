//! What needs what: parents, references and `trueup/depends-on` between documents, with no cycle among them.
//!
//! Edges come from indexed names, so the work is linear in the number of references. Parents that stand in no
//! document become *context*: they are observed, and never written.

pub mod part;
pub mod references;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::cycle;
use super::document::{Document, Ensure, Was};
use super::identity::{Key, KindName, ObjectId};
use super::kind::{Kind, Kinds, Parent};
use super::node::{Origin, Pos, Reference};
use super::problem::Problem;
use super::rename;
use super::replicas::AT_ONCE;
use super::value::{Value, plain_text};
use references::References;

/// The documents of a run, the parents that they need beside them, and the edges between them.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The documents first, in their order; then the context parents.
    pub nodes: Vec<GraphNode>,
}

/// One object of the graph.
#[derive(Clone, Debug)]
pub struct GraphNode {
    pub id: ObjectId,
    /// By part: the object that the part stands for.
    pub parents: Vec<(Arc<str>, usize)>,
    /// By the reference as written: the object it names.
    pub references: References,
    /// What `depends-on` names.
    pub after: Vec<usize>,
    /// The object under the name that it had before a rename; it stands in no document.
    pub former: Option<usize>,
    /// Of the references those that are put off, to break a cycle: they are set once the object and what they name
    /// are there.
    pub later: Vec<usize>,
    /// Whether the object stands in a document.
    pub documented: bool,
}

impl GraphNode {
    /// Everything that this object needs before it is there, each once.
    pub fn needs(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.parents.iter().map(|(_, at)| *at).collect();
        let references = self.references.values().filter(|at| !self.later.contains(at));
        all.extend(references.chain(&self.after).chain(&self.former));
        all.sort_unstable();
        all.dedup();
        all
    }
}

impl GraphNode {
    /// [`GraphNode::needs`], and what is put off. Some may be there twice.
    pub fn needs_at_last(&self) -> impl Iterator<Item = usize> {
        let needs = self.parents.iter().map(|(_, at)| at).chain(self.references.values());
        needs.chain(&self.after).chain(&self.former).copied()
    }

    /// What this object follows when it changes: the values that it refers to, and what it lies below. Each once.
    pub fn follows(&self) -> Vec<usize> {
        let parents = self.parents.iter().map(|(_, at)| at);
        let mut all: Vec<usize> = parents.chain(self.references.values()).copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// The names by which references find documents: kind, and each part as a text, compared as the kind does.
type Names = HashMap<ObjectId, usize>;

impl Graph {
    /// Links the documents.
    ///
    /// # Errors
    /// References that name no document, objects that need one that is to be absent, and cycles, each with
    /// its place.
    pub fn build(documents: &[Document], kinds: &Kinds) -> Result<Graph, Vec<Problem>> {
        let mut builder = Builder::new(documents, kinds);
        for at in 0..documents.len() {
            builder.link(at);
        }
        let mut at = documents.len();
        while at < builder.graph.nodes.len() {
            builder.link_parents(at);
            at += 1;
        }
        if builder.problems.is_empty() {
            builder.problems.extend(cycle::break_all(&mut builder.graph, documents, kinds).err());
        }
        if builder.problems.is_empty() { Ok(builder.graph) } else { Err(builder.problems) }
    }
}

struct Builder<'d> {
    documents: &'d [Document],
    kinds: &'d Kinds,
    names: Names,
    graph: Graph,
    /// By the node of an old name: the document that has it.
    formers: BTreeMap<usize, usize>,
    problems: Vec<Problem>,
}

impl<'d> Builder<'d> {
    fn new(documents: &'d [Document], kinds: &'d Kinds) -> Builder<'d> {
        let mut names = Names::with_capacity(documents.len());
        let mut graph = Graph { nodes: Vec::with_capacity(documents.len()) };
        for (at, document) in documents.iter().enumerate() {
            names.insert(name_of(kinds, &document.id), at);
            graph.nodes.push(GraphNode::new(document.id.clone(), true));
        }
        Builder { documents, kinds, names, graph, formers: BTreeMap::new(), problems: Vec::new() }
    }

    fn link(&mut self, at: usize) {
        self.link_parents(at);
        let document = &self.documents[at];
        let mut references: Vec<(&Reference, Pos)> = Vec::new();
        document.spec.each_ref(&mut |reference, place| references.push((reference, place)));
        for (reference, place) in references {
            if let Some(needed) = self.find(document, reference, place) {
                self.graph.nodes[at].references.insert(reference.text.clone(), needed);
            }
        }
        for (reference, place) in &document.policy.depends_on {
            if let Some(needed) = self.find(document, reference, *place) {
                self.graph.nodes[at].after.push(needed);
            }
        }
        self.link_kind(at);
        self.link_replica(at);
        if let Some(was) = &document.policy.was {
            let former = self.link_former(at, was);
            let problem =
                former.err().map(|problem| problem.at(Origin { at: was.at, ..document.origin.clone() }));
            self.problems.extend(problem);
        }
        self.check_presence(at);
    }

    /// What all objects of the kind come after; nothing where it stands in no document.
    fn link_kind(&mut self, at: usize) {
        let Some(kind) = self.kinds.get(&self.documents[at].id.kind) else { return };
        let Some((name, texts)) = &kind.depends_on else { return };
        let of = self.kinds.get(name).map(|kind| &**kind);
        let unnamed: Vec<(Arc<str>, Value)> =
            texts.iter().map(|text| ("".into(), Value::String(text.clone()))).collect();
        let parts = of.map_or(Vec::new(), |kind| in_kind_order(kind, &unnamed));
        let needed = self.names.get(&ObjectId { kind: name.clone(), key: key_of_texts(of, parts) }).copied();
        let documented = needed.filter(|needed| *needed < self.documents.len() && *needed != at);
        self.graph.nodes[at].after.extend(documented);
    }

    /// Of a ReplicaSet so many at once: a member comes after the one that is as many before it.
    fn link_replica(&mut self, at: usize) {
        let Some(earlier) = at.checked_sub(AT_ONCE) else { return };
        let of = |at: usize| self.documents[at].policy.replica.as_ref().map(|replica| &replica.of);
        if of(at).is_some_and(|name| of(earlier) == Some(name)) {
            self.graph.nodes[at].after.push(earlier);
        }
    }

    /// The object under its old name is looked at beside the one under the new.
    fn link_former(&mut self, at: usize, was: &Was) -> Result<(), Problem> {
        let document = &self.documents[at];
        let Some(kind) = self.kinds.get(&document.id.kind) else { return Ok(()) };
        let id = rename::former(document, was, kind)?;
        let name = name_of(self.kinds, &id);
        let known = self.names.get(&name).copied();
        if let Some(other) = known.and_then(|known| self.documents.get(known)) {
            let message = format!("`{id}`, which it was, has a document of its own ({})", other.origin);
            return Err(Problem::new(message).hint("remove that document, or `trueup/was` here"));
        }
        let former = known.unwrap_or_else(|| {
            self.graph.nodes.push(GraphNode::new(id.clone(), false));
            self.names.insert(name, self.graph.nodes.len() - 1);
            self.graph.nodes.len() - 1
        });
        if let Some(other) = self.formers.insert(former, at) {
            let other = &self.documents[other];
            let message = format!("`{id}` is renamed twice: the other document is {}", other.origin);
            return Err(Problem::new(message));
        }
        self.graph.nodes[at].former = Some(former);
        Ok(())
    }

    /// The document that a reference names.
    fn find(&mut self, document: &Document, reference: &Reference, place: Pos) -> Option<usize> {
        let backend = reference.backend.clone().unwrap_or_else(|| document.id.kind.backend.clone());
        let name = KindName { backend, kind: reference.kind.clone() };
        // A kind that is not known was said when the document was read.
        let kind = self.kinds.get(&name)?;
        let parts = in_kind_order(kind, &reference.parts);
        let id = ObjectId { kind: name, key: key_of_texts(Some(kind), parts) };
        let found = self.names.get(&id).copied().filter(|found| !self.formers.contains_key(found));
        if found.is_none() {
            let mut origin = document.origin.clone();
            origin.at = place;
            self.problems.push(
                Problem::new(format!("no document is named `{}`", reference_name(reference)))
                    .at(origin)
                    .hint("add its document; if it is not to be managed, with `trueup/ensure: exists`"),
            );
        }
        found
    }

    fn link_parents(&mut self, at: usize) {
        let id = self.graph.nodes[at].id.clone();
        let Some(kind) = self.kinds.get(&id.kind) else { return };
        for part in &kind.parts {
            let Parent::Of(parent) = &part.parent else { continue };
            let Some(parent) = self.kinds.get(parent).cloned() else { continue };
            let parent_id = parent_id(&id, &part.name, &parent);
            let name = name_of(self.kinds, &parent_id);
            let known = self.names.get(&name).copied();
            let parent_at = known.unwrap_or_else(|| {
                self.graph.nodes.push(GraphNode::new(parent_id, false));
                self.names.insert(name, self.graph.nodes.len() - 1);
                self.graph.nodes.len() - 1
            });
            if parent_at != at {
                self.graph.nodes[at].parents.push((part.name.clone(), parent_at));
            }
        }
    }

    /// An object that is wanted cannot need one that is to be absent.
    fn check_presence(&mut self, at: usize) {
        let document = &self.documents[at];
        if document.policy.ensure == Ensure::Absent {
            return;
        }
        for need in self.graph.nodes[at].needs() {
            let Some(needed) = self.documents.get(need) else { continue };
            if needed.policy.ensure == Ensure::Absent {
                self.problems.push(
                    Problem::new(format!(
                        "`{}` needs `{}`, which is to be absent ({})",
                        document.id, needed.id, needed.origin
                    ))
                    .at(document.origin.clone())
                    .hint("mark this document with `trueup/ensure: absent` too, or keep the other"),
                );
            }
        }
    }
}

impl GraphNode {
    fn new(id: ObjectId, documented: bool) -> GraphNode {
        GraphNode {
            id,
            parents: Vec::new(),
            references: References::default(),
            after: Vec::new(),
            former: None,
            later: Vec::new(),
            documented,
        }
    }
}

/// The identity with its parts as texts, which is how references spell them.
fn name_of(kinds: &Kinds, id: &ObjectId) -> ObjectId {
    let kind = kinds.get(&id.kind).map(|kind| &**kind);
    ObjectId { kind: id.kind.clone(), key: key_of_texts(kind, id.key.parts().to_vec()) }
}

fn key_of_texts(kind: Option<&Kind>, parts: Vec<(Arc<str>, Value)>) -> Key {
    let texts = parts.into_iter().map(|(name, value)| (name, Value::String(plain_text(&value)))).collect();
    match kind {
        Some(kind) => kind.key_of(texts),
        None => Key::new(texts),
    }
}

/// The parts of a reference in the kind's order; those of the short form have no names and are in order.
fn in_kind_order(kind: &Kind, parts: &[(Arc<str>, Value)]) -> Vec<(Arc<str>, Value)> {
    if parts.iter().all(|(name, _)| name.is_empty()) {
        // One part too many is no part of the kind, and finds nothing.
        let names = kind.parts.iter().map(|part| part.name.clone()).chain(std::iter::repeat("".into()));
        return names.zip(parts).map(|(name, (_, value))| (name, value.clone())).collect();
    }
    let value = |name: &str| parts.iter().find(|(have, _)| **have == *name).map(|(_, value)| value.clone());
    kind.parts.iter().filter_map(|part| Some((part.name.clone(), value(&part.name)?))).collect()
}

/// `Kind/part/part`, as a reference spells it.
fn reference_name(reference: &Reference) -> String {
    let parts: Vec<String> = reference.parts.iter().map(|(_, value)| plain_text(value)).collect();
    format!("{}/{}", reference.kind, parts.join("/"))
}

/// The identity of the parent that `part` of a child stands for: the part is the parent's last own part, and
/// the parent's other parts are the child's of the same names.
pub fn parent_id(child: &ObjectId, part: &str, parent: &Kind) -> ObjectId {
    let own = parent.own_parts().last().map(|own| own.name.clone());
    let parts = parent.parts.iter().filter_map(|wanted| {
        let from = if Some(&wanted.name) == own.as_ref() { part } else { &*wanted.name };
        child.key.get(from).map(|value| (wanted.name.clone(), value.clone()))
    });
    ObjectId { kind: parent.name.clone(), key: parent.key_of(parts.collect()) }
}
