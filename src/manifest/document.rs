//! Documents as they stand in files to desired objects, with the kinds that the backends declare.
//!
//! One document's problems do not hide another's: everything is reported in one run.

mod pinned;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::kinds::{self, KindSource};
use super::problems::Problems;
use super::values::Outsides;
use super::{excerpt, lay, metadata, policy, references, replicas, verbatim};
use crate::core::alike;
use crate::core::base::Base;
use crate::core::diff;
use crate::core::document::{Document, Policy};
use crate::core::identity::{KindName, ObjectId};
use crate::core::members::Members;
use crate::core::node::{Node, Origin, Outside, Want};
use crate::core::problem::Problem;
use crate::core::raw::{RawDocument, Source};
use crate::core::set::Set;
use crate::core::suggest;

/// What a document of a backend's kind has at the top.
const KEYS: [&str; 4] = ["apiVersion", "kind", "metadata", "spec"];

/// What documents came to.
#[derive(Debug, Default)]
pub struct Built {
    /// The desired objects of the sound ones, in their order.
    pub documents: Vec<Document>,
    /// What ReplicaSets claim besides the documents that were made of them.
    pub replicas: Vec<Set>,
    /// Everything that is wrong with the others.
    pub problems: Vec<Problem>,
    /// How many could not be judged, by the backend that they name: it is wrong itself.
    pub unchecked: BTreeMap<Arc<str>, usize>,
}

/// The desired objects of these documents.
pub fn documents(raws: Vec<RawDocument>, source: &dyn KindSource, outsides: &mut Outsides<'_>) -> Built {
    let mut sources: Vec<Arc<Source>> = Vec::new();
    let mut unchecked = BTreeMap::new();
    // Ten thousand grow to twice their room otherwise.
    let mut documents = Vec::with_capacity(raws.len());
    let (mut counted, mut list) = (Vec::<Set>::new(), Vec::new());
    for raw in raws {
        if sources.last().is_none_or(|last| !Arc::ptr_eq(last, &raw.source)) {
            sources.push(raw.source.clone());
        }
        let mut problems = Problems::of(&raw.source);
        if replicas::is_one(&raw) {
            match replicas::read(&raw, source, outsides, &mut problems) {
                Ok(Some(read)) => match replicas::clash(&counted, &read.claims, source) {
                    Some(problem) => problems.list.push(problem),
                    None => {
                        documents.extend(read.members);
                        counted.push(read.claims);
                    }
                },
                Ok(None) => {}
                Err(replicas::Unchecked(backend)) => *unchecked.entry(backend).or_default() += 1,
            }
            list.append(&mut problems.list);
            continue;
        }
        let backend: Arc<str> = raw.text("apiVersion").unwrap_or_default().into();
        let document = build(raw, source, outsides, &mut problems);
        if document.is_none() && problems.none() {
            *unchecked.entry(backend).or_default() += 1;
        }
        documents.extend(document.filter(|_| problems.none()));
        list.append(&mut problems.list);
    }
    kinds::once(&mut list);
    list.extend(replicas::strangers(&mut documents, &counted, source));
    list.extend(references::check(&documents, source));
    list.extend(same_identity(&documents));
    list.extend(pinned::twice(&documents, source));
    excerpt::add(&mut list, &sources);
    Built { documents, replicas: counted, problems: list, unchecked }
}

pub(super) fn build(
    raw: RawDocument,
    source: &dyn KindSource,
    outsides: &mut Outsides<'_>,
    problems: &mut Problems,
) -> Option<Document> {
    let origin = raw.origin();
    let mut root = raw.root;
    let (api_version, kind) = head(&root, problems)?;
    outsides.walk(&mut root, problems);
    let annotations = policy::take(&mut root, problems);
    let (policy, laid) = policy::read(&annotations, problems);
    let taken_verbatim = source.of_document(&api_version, &kind);
    for (path, mut node) in laid {
        outsides.walk(&mut node, problems);
        let at = node.at;
        let in_spec = matches!(path.0.first(), Some(crate::core::path::Step::Field(name)) if name == "spec");
        let done = if in_spec || taken_verbatim.is_some() {
            lay::lay(&mut root, &path, node)
        } else {
            Err(Problem::new(format!("`trueup/values` names `{path}`, which is not in `spec`")))
        };
        problems.ok(at, done);
    }
    let says_drift = annotations.iter().any(|(name, _)| &**name == policy::DRIFT);
    let document = match taken_verbatim {
        Some(kind) => verbatim::document(&kind, root, origin, policy, problems),
        None => {
            let name = KindName { backend: api_version, kind };
            let policy = policy::within_spec(policy, &annotations, problems);
            plain(name, root, origin, policy, source, problems)
        }
    };
    document.map(|mut document| {
        if let Some(kind) = source.kind(&document.id.kind, &[]).filter(|_| !says_drift) {
            document.policy.drift = kind.drift;
        }
        document
    })
}

/// `apiVersion` and `kind`.
fn head(root: &Node, problems: &mut Problems) -> Option<(Arc<str>, Arc<str>)> {
    if !matches!(root.want, Want::Map(_)) {
        let problem = Problem::new("a document must be a map");
        problems.add(root.at, problem.hint("it begins with `apiVersion: BACKEND` and `kind: KIND`"));
        return None;
    }
    let mut text = |name: &str, hint: &str| match root.get(name) {
        Some(node) if node.as_str().is_some_and(|text| !text.is_empty()) => node.as_str().map(Arc::from),
        found => {
            let what = if found.is_some() { "must be a text" } else { "is missing" };
            let at = found.map_or(root.at, |node| node.at);
            problems.add(at, Problem::new(format!("`{name}` {what}")).hint(hint));
            None
        }
    };
    let api_version = text("apiVersion", "it names the backend: `apiVersion: rabbitmq`");
    let kind = text("kind", "it names one of the backend's kinds: `kind: Queue`");
    Some((api_version?, kind?))
}

/// A document with its key in `metadata` and its body in `spec`.
fn plain(
    name: KindName,
    root: Node,
    origin: Origin,
    policy: Policy,
    source: &dyn KindSource,
    problems: &mut Problems,
) -> Option<Document> {
    let Want::Map(mut top) = root.want else { return None };
    for (key, node) in top.iter().filter(|(key, _)| !KEYS.contains(&&***key)) {
        let problem = Problem::new(format!("`{key}` is not a key of a document"));
        problems.add_to_name(key, node.at, problem.hint(suggest::hint(key, "a document has", KEYS)));
    }
    let metadata = match top.remove("metadata").map(|node| (node.at, node.want)) {
        None | Some((_, Want::Outside(Outside::Nothing))) => Members::default(),
        Some((_, Want::Map(map))) => map,
        Some((at, _)) => {
            problems.add(at, Problem::new("`metadata` must be a map").hint("it holds the parts of the key"));
            return None;
        }
    };
    let Some(kind) = source.kind(&name, &metadata::part_names(&metadata)) else {
        if !source.is_doubtful(&name.backend) {
            let at = top.get("kind").map_or(origin.at, |node| node.at);
            problems.add(at, kinds::unknown(source, &name));
        }
        return None;
    };
    let key = metadata::key(&kind, &metadata, origin.at, problems);
    let labels = labels(metadata.get("labels"), Some(problems));
    let spec = top.remove("spec").unwrap_or_else(|| Node::new(origin.at, Want::Map(Members::default())));
    check_body(&spec, problems);
    for (path, at) in diff::futile(&spec, &kind.fields) {
        let message = format!("`{path}` is the server's own by the backend: it is neither compared nor sent");
        problems.add(at, Problem::new(message).hint("take it out of the file").warning());
    }
    let key = key?;
    metadata::agrees(&kind, &key, &spec, problems);
    let id = ObjectId { kind: kind.name.clone(), key };
    Some(Document { id, origin, spec: Arc::new(spec), labels, policy, base: Base::None })
}

fn check_body(spec: &Node, problems: &mut Problems) {
    if let Want::Unset | Want::Json(_) | Want::Secret(_) = spec.want {
        let problem = Problem::new("`spec` must be a map or a list");
        return problems.add(spec.at, problem.hint("write `spec: {}` for an empty body"));
    }
    refuse_empty(spec, "spec", problems);
}

/// A key with nothing behind it would erase what the server has.
fn refuse_empty(node: &Node, name: &str, problems: &mut Problems) {
    match &node.want {
        Want::Outside(Outside::Nothing) => {
            let problem = Problem::new(format!("`{name}` has nothing behind it"));
            let hint = "write the value, `null` for \"must not be set\", `!null` for JSON null, or `\"\"`, `[]` or `{}`";
            problems.add(node.at, problem.hint(hint));
        }
        Want::List(items) => items.iter().for_each(|item| refuse_empty(item, "-", problems)),
        Want::Map(map) => map.iter().for_each(|(name, node)| refuse_empty(node, name, problems)),
        Want::Unset | Want::Json(_) | Want::Secret(_) | Want::Ref(_) | Want::Outside(_) => {}
    }
}

/// `metadata.labels`, for `-l`. With `problems`, a label that is no text is one.
pub fn labels(node: Option<&Node>, problems: Option<&mut Problems>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut wrong = Vec::new();
    match node.map(|node| (node.at, &node.want)) {
        Some((_, Want::Map(map))) => {
            for (name, node) in map {
                match node.as_str() {
                    Some(text) => drop(found.insert(name.to_string(), text.to_owned())),
                    None => wrong.push((node.at, format!("the label `{name}` must be a text"))),
                }
            }
        }
        None | Some((_, Want::Outside(Outside::Nothing) | Want::Unset)) => {}
        Some((at, _)) => wrong.push((at, "`labels` must be a map".into())),
    }
    if let Some(problems) = problems {
        for (at, message) in wrong {
            problems.add(at, Problem::new(message).hint("put it in quotes"));
        }
    }
    found
}

/// Two documents for one object are an error: by the kind's comparers, where these fold names as its server does.
/// Two whose keys are only [`alike`] are a warning, as the server, or a reader, may take them for one.
fn same_identity(documents: &[Document]) -> Vec<Problem> {
    let mut exact: HashMap<&ObjectId, &Origin> = HashMap::new();
    let mut folded: HashMap<(&KindName, String), &Document> = HashMap::new();
    let mut list = Vec::new();
    for document in documents {
        let (id, origin) = (&document.id, &document.origin);
        if let Some(first) = exact.get(id) {
            let problem = Problem::new(format!("`{id}` is described twice, first in {first}"));
            list.push(problem.at(origin.clone()).hint("remove or merge one of the two documents"));
            continue;
        }
        exact.insert(id, origin);
        let name = id.key.to_string();
        let other = folded.entry((&id.kind, alike::skeleton(&name))).or_insert(document);
        if other.id != *id
            && let Some(alike) = alike::alike(&name, &other.id.key.to_string())
        {
            let problem =
                Problem::new(format!("`{id}` and `{}` ({}) {}", other.id, other.origin, alike.words()));
            list.push(problem.at(origin.clone()).hint("the server may take them for one object").warning());
        }
    }
    list
}

#[cfg(test)]
mod tests;
