//! `kind: ReplicaSet`: N objects alike. Its template, a whole document without the name, becomes `base-0` to
//! `base-(N-1)` before anything else is known of the documents, so that every command takes them as such.
//!
//! What is wrong in a template is said once: the first of its documents is made as a sample.

use std::sync::Arc;

use super::document::build;
use super::kinds::{self, KindSource};
use super::problems::Problems;
use super::values::Outsides;
use crate::core::document::{Document, Ensure};
use crate::core::identity::{Key, KindName, ObjectId};
use crate::core::kind::Kind;
use crate::core::members::Members;
use crate::core::node::{Node, Want};
use crate::core::problem::Problem;
use crate::core::raw::RawDocument;
use crate::core::replicas::{MOST, Replica, Replicas};
use crate::core::set::{Claim, Limits, OWN, Set};
use crate::core::suggest;
use crate::core::value::{Value, canonical_text};

pub const KIND: &str = "ReplicaSet";

const KEYS: [&str; 4] = ["apiVersion", "kind", "metadata", "spec"];
const SPEC: [&str; 3] = ["replicas", "template", "max-deletes"];
const EXAMPLE: &str = "write `spec: {replicas: 3, template: {apiVersion: rabbitmq, kind: Queue, metadata: {vhost: /}, spec: {durable: true}}}`";

/// What a ReplicaSet comes to.
pub struct Read {
    pub members: Vec<Document>,
    /// All names of its members, and of those that are too many.
    pub claims: Set,
}

/// A template whose backend is wrong itself, which has been said: its name.
pub struct Unchecked(pub Arc<str>);

/// Whether a document is one.
pub fn is_one(raw: &RawDocument) -> bool {
    raw.text("apiVersion") == Some(OWN) && raw.text("kind") == Some(KIND)
}

/// The template of a ReplicaSet as a document of its own, where it is as far as that in order.
pub fn template(raw: &RawDocument) -> Option<RawDocument> {
    let root = raw.root.get("spec").and_then(|spec| spec.get("template"))?;
    Some(RawDocument { source: raw.source.clone(), root: Node { at: raw.root.at, ..root.clone() } })
}

/// Reads one. `None` where it is wrong.
///
/// # Errors
/// A template that cannot be judged.
pub fn read(
    raw: &RawDocument,
    source: &dyn KindSource,
    outsides: &mut Outsides<'_>,
    problems: &mut Problems,
) -> Result<Option<Read>, Unchecked> {
    let Some(written) = written(raw, problems) else { return Ok(None) };
    let head = |name: &str| written.template.text(name).map(Arc::<str>::from);
    let (Some(backend), Some(word)) = (head("apiVersion"), head("kind")) else {
        let at = written.at;
        problems.add(at, Problem::new("a template needs `apiVersion` and `kind`").hint(EXAMPLE));
        return Ok(None);
    };
    if *backend == *OWN {
        let problem = Problem::new(format!("a template makes objects of a backend, and no `{word}`"));
        problems.add(written.at, problem.hint(EXAMPLE));
        return Ok(None);
    }
    let verbatim = source.of_document(&backend, &word);
    let name = KindName { backend: backend.clone(), kind: word };
    let Some(kind) = verbatim.clone().or_else(|| plain_kind(&name, &written, source)) else {
        if source.is_doubtful(&backend) {
            return Err(Unchecked(backend));
        }
        problems.add(written.at, kinds::unknown(source, &name));
        return Ok(None);
    };
    let Some(place) = place(&kind, verbatim.is_some(), &written, problems) else { return Ok(None) };
    let maker = Maker { written: &written, place };
    let Some(sample) = maker.made(0, source, outsides, problems).filter(|_| problems.none()) else {
        return if problems.none() { Err(Unchecked(backend)) } else { Ok(None) };
    };
    judge(&sample, &kind, &written, problems);
    if !problems.none() {
        return Ok(None);
    }
    let claims = claims(&sample, &kind, &maker, raw);
    let mut members = Vec::with_capacity(written.replicas);
    for number in 0..written.replicas {
        // Warnings of the template were said with the sample.
        let mut others = Problems::of(&raw.source);
        members.extend(maker.made(number, source, outsides, &mut others));
        problems.list.extend(others.list.into_iter().filter(|problem| !problem.warning));
    }
    for (number, member) in members.iter_mut().enumerate() {
        member.policy.replica = Some(Replica { of: claims.name.clone(), number });
    }
    Ok(problems.none().then_some(Read { members, claims }))
}

/// A ReplicaSet as it is written.
struct Written {
    base: Arc<str>,
    /// Where the base stands.
    base_at: crate::core::node::Pos,
    replicas: usize,
    max_deletes: Option<usize>,
    template: RawDocument,
    /// Where the template stands.
    at: crate::core::node::Pos,
}

fn written(raw: &RawDocument, problems: &mut Problems) -> Option<Written> {
    let before = problems.list.len();
    let Want::Map(top) = &raw.root.want else { return None };
    known(top, &KEYS, "a ReplicaSet has", problems);
    let metadata = top.get("metadata").and_then(|node| match &node.want {
        Want::Map(map) => Some(map),
        _ => None,
    });
    if let Some(metadata) = metadata {
        for (name, node) in metadata.iter().filter(|(name, _)| ***name != *"name") {
            let problem = Problem::new(format!("`{name}` is not known here"));
            let hint = "`metadata` of a ReplicaSet has the `name` alone: the rest stands in the template's";
            problems.add_to_name(name, node.at, problem.hint(hint));
        }
    }
    let base = metadata.and_then(|metadata| metadata.get("name"));
    let base = base.and_then(|node| Some((node.at, node.as_str().filter(|base| !base.is_empty())?)));
    if base.is_none() {
        let problem = Problem::new("a ReplicaSet needs `metadata.name`, a text");
        problems.add(raw.root.at, problem.hint("its objects have it as their base: `web-0`, `web-1`, …"));
    }
    let Some((Want::Map(spec), at)) = top.get("spec").map(|spec| (&spec.want, spec.at)) else {
        problems.add(raw.root.at, Problem::new("a ReplicaSet needs `spec`").hint(EXAMPLE));
        return None;
    };
    known(spec, &SPEC, "its `spec` has", problems);
    let replicas = match spec.get("replicas") {
        Some(node) => count(node, problems),
        None => {
            problems
                .add(at, Problem::new("a ReplicaSet needs `replicas`, the number of objects").hint(EXAMPLE));
            None
        }
    };
    let max_deletes = spec.get("max-deletes").and_then(|node| {
        let found = whole(node);
        if found.is_none() {
            let problem = Problem::new("`max-deletes` is a whole number of objects");
            problems.add(node.at, problem.hint("so many may be deleted in one run: `max-deletes: 20`"));
        }
        found
    });
    let template_at = match spec.get("template").map(|node| (node.at, &node.want)) {
        Some((at, Want::Map(_))) => Some(at),
        found => {
            let at = found.map_or(at, |(at, _)| at);
            let problem = Problem::new("`template` is a document without its name");
            problems.add(at, problem.hint(EXAMPLE));
            None
        }
    };
    let (base_at, base) = base?;
    let template = template(raw).filter(|_| problems.list.len() == before)?;
    let replicas = replicas?;
    Some(Written { base: base.into(), base_at, replicas, max_deletes, template, at: template_at? })
}

fn known(map: &Members, keys: &[&str], has: &str, problems: &mut Problems) {
    for (name, node) in map.iter().filter(|(name, _)| !keys.contains(&&***name)) {
        let problem = Problem::new(format!("`{name}` is not known here"));
        problems.add_to_name(name, node.at, problem.hint(suggest::hint(name, has, keys.iter().copied())));
    }
}

fn whole(node: &Node) -> Option<usize> {
    match &node.want {
        Want::Json(value @ Value::Number(_)) => canonical_text(value).parse().ok(),
        _ => None,
    }
}

fn count(node: &Node, problems: &mut Problems) -> Option<usize> {
    let found = whole(node).filter(|count| *count <= MOST);
    if found.is_none() {
        let problem = Problem::new("`replicas` is a whole number from 0 to 10,000");
        let hint = "it is written out: `replicas: 3`; more objects alike are several ReplicaSets";
        problems.add(node.at, problem.hint(hint));
    }
    found
}

/// The kind of a template with its key in `metadata`; a kind of the built-in server is made with the parts that are
/// there, and the name behind them.
fn plain_kind(name: &KindName, written: &Written, source: &dyn KindSource) -> Option<Arc<Kind>> {
    let metadata = written.template.root.get("metadata").map(|node| &node.want);
    let mut parts = match metadata {
        Some(Want::Map(map)) => super::metadata::part_names(map),
        _ => Vec::new(),
    };
    parts.push("name");
    source.kind(name, &parts)
}

/// Where the name goes: the part, and its path in the document.
struct Place {
    part: Arc<str>,
    path: Vec<String>,
}

/// The one part of the object's own that the template leaves out.
fn place(kind: &Kind, verbatim: bool, written: &Written, problems: &mut Problems) -> Option<Place> {
    let path = |part: &crate::core::kind::Part| match verbatim {
        true => part.place().map(<[String]>::to_vec),
        false => Some(vec!["metadata".to_owned(), part.name.to_string()]),
    };
    let own: Vec<(Arc<str>, Option<Vec<String>>)> =
        kind.own_parts().map(|part| (part.name.clone(), path(part))).collect();
    let stated = |path: &[String]| {
        path.iter()
            .try_fold(&written.template.root, |node, name| node.get(name))
            .filter(|node| !node.is_blank())
    };
    let open = own.iter().filter(|(_, path)| path.as_deref().is_none_or(|path| stated(path).is_none()));
    let word = &kind.name.kind;
    match open.collect::<Vec<_>>()[..] {
        [(part, Some(path))] => Some(Place { part: part.clone(), path: path.clone() }),
        [(part, None)] => {
            let why = format!("the `{part}` of a `{word}` is no plain field: no name can be laid there");
            problems.add(written.at, Problem::new(why));
            None
        }
        [] => {
            let stated = own.iter().find_map(|(part, path)| Some((part, stated(path.as_deref()?)?)));
            let (at, why) = match stated {
                Some((part, node)) => {
                    (node.at, format!("the template must leave `{part}` out: it is another in each object"))
                }
                None => (written.at, format!("a `{word}` has no name of its own: it is one of its kind")),
            };
            problems.add(
                at,
                Problem::new(why).hint("the base of the names is `metadata.name` of the ReplicaSet"),
            );
            None
        }
        ref several => {
            let names: Vec<String> = several.iter().map(|(part, _)| format!("`{part}`")).collect();
            let why = format!("several parts of the key of a `{word}` are left out: {}", names.join(", "));
            problems.add(written.at, Problem::new(why).hint("leave out only the one that has the number"));
            None
        }
    }
}

struct Maker<'w> {
    written: &'w Written,
    place: Place,
}

impl Maker<'_> {
    fn made(
        &self,
        number: usize,
        source: &dyn KindSource,
        outsides: &mut Outsides<'_>,
        problems: &mut Problems,
    ) -> Option<Document> {
        let mut raw = self.written.template.clone();
        let name = format!("{}-{number}", self.written.base);
        lay(&mut raw.root, &self.place.path, Node::new(self.written.base_at, Want::Json(name.into())));
        build(raw, source, outsides, problems)
    }
}

/// Lays a name at its path; what is no map on the way is said when the document is built.
fn lay(root: &mut Node, path: &[String], name: Node) {
    let Some((last, way)) = path.split_last() else { return };
    let mut node = root;
    for step in way {
        if node.is_blank() {
            node.want = Want::Map(Members::default());
        }
        let Want::Map(map) = &mut node.want else { return };
        node = map.get_or_insert_with(step, || Node::new(name.at, Want::Map(Members::default())));
    }
    if node.is_blank() {
        node.want = Want::Map(Members::default());
    }
    if let Want::Map(map) = &mut node.want {
        map.insert(last.as_str(), name);
    }
}

/// What no objects that are counted can have.
fn judge(sample: &Document, kind: &Kind, written: &Written, problems: &mut Problems) {
    let mut wrong = |why: String, hint: &str| problems.add(written.at, Problem::new(why).hint(hint));
    let policy = &sample.policy;
    if policy.ensure == Ensure::Exists {
        wrong(
            "a template cannot have `trueup/ensure: exists`".into(),
            "a ReplicaSet makes and deletes its objects",
        );
    }
    if policy.pinned_id.is_some() {
        wrong("a template cannot have `trueup/id`".into(), "one id is of one object");
    }
    if policy.was.is_some() {
        wrong("a template cannot have `trueup/was`".into(), "a document of its own can rename one object");
    }
    if kind.list.is_none() {
        wrong(
            format!("a `{}` cannot be counted: the backend has no listing of them", kind.name.kind),
            "only a listing tells of what is too much: declare `list`",
        );
    }
}

fn claims(sample: &Document, kind: &Kind, maker: &Maker, raw: &RawDocument) -> Set {
    let (written, part) = (maker.written, &maker.place.part);
    let named = |name: &Arc<str>, value: &Value| match name == part {
        true => Value::from(&*written.base),
        false => value.clone(),
    };
    let parts = sample.id.key.parts().iter();
    let base: Key = kind.key_of(parts.map(|(name, value)| (name.clone(), named(name, value))).collect());
    let within = base.parts().iter().filter(|(name, _)| name != part).cloned().collect();
    let kept = match &sample.policy {
        policy if policy.protected => Some("the template has `trueup/prune: \"false\"`"),
        policy if policy.paused => Some("the template has `trueup/paused`"),
        _ => None,
    };
    let replicas = Replicas {
        part: part.clone(),
        base: written.base.clone(),
        wanted: written.replicas,
        kept,
        labels: sample.labels.clone(),
    };
    let kind = kind.name.clone();
    let name = ObjectId { kind: kind.clone(), key: base }.slashed().into();
    let claim = Claim { kind, within, exclusive: false, replicas: Some(replicas), origin: raw.origin() };
    Set {
        name,
        owner: None,
        scope: vec![claim],
        max_deletes: Limits::of_all(written.max_deletes),
        origin: raw.origin(),
    }
}

/// Two ReplicaSets of one name for one kind and scope.
pub fn clash(others: &[Set], set: &Set, source: &dyn KindSource) -> Option<Problem> {
    let claim = set.scope.first()?;
    let kind = source.kind(&claim.kind, &[])?;
    let named = claim.replicas.as_ref()?;
    let first = claim.within.iter().cloned().chain([(named.part.clone(), Value::from(named.name(0)))]);
    let in_order = kind.parts.iter().filter_map(|part| first.clone().find(|(name, _)| *name == part.name));
    let id = ObjectId { kind: kind.name.clone(), key: kind.key_of(in_order.collect()) };
    let other = others.iter().find(|other| other.claim_of(&id, &kind).is_some())?;
    let why = format!("the ReplicaSet `{}` is described twice, first in {}", set.name, other.origin);
    Some(Problem::new(why).at(set.origin.clone()).hint("remove one of the two, or give it another name"))
}

/// Takes out the documents with a name that a ReplicaSet counts, and says so: it would make or delete their objects.
pub fn strangers(documents: &mut Vec<Document>, sets: &[Set], source: &dyn KindSource) -> Vec<Problem> {
    let mut list = Vec::new();
    if sets.is_empty() {
        return list;
    }
    documents.retain(|document| {
        let of_kind = |set: &&Set| set.scope.iter().any(|claim| claim.kind == document.id.kind);
        let mut sets = sets.iter().filter(|_| document.policy.replica.is_none()).filter(of_kind).peekable();
        if sets.peek().is_none() {
            return true;
        }
        let Some(kind) = source.kind(&document.id.kind, &[]) else { return true };
        let Some(set) = sets.find(|set| set.claim_of(&document.id, &kind).is_some()) else { return true };
        let why = format!(
            "`{}` has a name that the ReplicaSet `{}` counts ({}): it is one of its objects, or one too many",
            document.id, set.name, set.origin
        );
        let problem = Problem::new(why).at(document.origin.clone());
        list.push(problem.hint("give it a name that does not end in a number, or take it out"));
        false
    });
    list
}
