//! `kind: Set`: what the documents of one owner claim of a server.
//!
//! Read after the documents, as a backend of the built-in server knows only the kinds that were named. Two claims of
//! one scope are an error: what one of them names would be too much for the other.

use std::sync::Arc;

use super::KindSource;
use super::problems::Problems;
use super::values::Outsides;
use super::{excerpt, kinds, limits};
use crate::core::document::Document;
use crate::core::identity::KindName;
use crate::core::kind::{Kind, Parent};
use crate::core::mark;
use crate::core::members::Members;
use crate::core::node::{Node, Want};
use crate::core::problem::Problem;
use crate::core::raw::RawDocument;
use crate::core::set::{Claim, Member, Set};
use crate::core::suggest;
use crate::core::value::{Value, plain_text};

const KEYS: [&str; 4] = ["apiVersion", "kind", "metadata", "spec"];
const SPEC: [&str; 3] = ["owner", "scope", "max-deletes"];
/// What an entry of `scope` may hold besides parts of the key.
const CLAIM: [&str; 3] = ["kind", "backend", "exclusive"];

/// The Sets of these documents, and what is wrong with them.
pub fn sets(
    raws: Vec<RawDocument>,
    source: &dyn KindSource,
    outsides: &mut Outsides<'_>,
) -> (Vec<Set>, Vec<Problem>) {
    let (mut sets, mut list): (Vec<Set>, Vec<Problem>) = (Vec::new(), Vec::new());
    for mut raw in raws {
        let mut problems = Problems::of(&raw.source);
        outsides.walk(&mut raw.root, &mut problems);
        let set = read(&raw, source, &mut problems);
        if let Some(set) = set.filter(|_| problems.none()) {
            match sets.iter().find_map(|other| clash(other, &set, source)) {
                Some(problem) => problems.list.push(problem),
                None => sets.push(set),
            }
        }
        excerpt::add(&mut problems.list, std::slice::from_ref(&raw.source));
        list.append(&mut problems.list);
    }
    (sets, list)
}

/// Tells documents of the Set that claims their objects.
pub fn join(documents: &mut [Document], sets: &[Set], source: &dyn KindSource) -> Vec<Problem> {
    let members: Vec<Arc<Member>> =
        sets.iter().map(|set| Arc::new(Member { set: set.name.clone(), owner: set.owner.clone() })).collect();
    let mut list = Vec::new();
    for document in documents.iter_mut().filter(|_| !sets.is_empty()) {
        let Some(kind) = source.kind(&document.id.kind, &[]) else { continue };
        let at = sets.iter().position(|set| set.claim_of(&document.id, &kind).is_some());
        document.policy.member = at.map(|at| members[at].clone());
        list.extend(at.and_then(|at| other_owner(document, &sets[at], &kind)));
    }
    list
}

/// A document that names another owner than its Set.
fn other_owner(document: &Document, set: &Set, kind: &Kind) -> Option<Problem> {
    let (path, owner) = (kind.owner.as_ref()?, set.owner.as_ref()?);
    let (names, in_list) = mark::place(path)?;
    let node = names.into_iter().try_fold(&*document.spec, |node, name| node.get(name))?;
    if in_list || node.as_str() == Some(owner) {
        return None;
    }
    let mut origin = document.origin.clone();
    origin.at = node.at;
    let message = format!(
        "`{path}` is the place of the owner mark, and the set `{}` names the owner `{owner}`",
        set.name
    );
    Some(Problem::new(message).at(origin).hint("leave it out of the document: it is written with the object"))
}

fn read(raw: &RawDocument, source: &dyn KindSource, problems: &mut Problems) -> Option<Set> {
    let top = map(&raw.root, "a set", problems)?;
    known(top, &KEYS, "a set has", problems);
    let at = raw.root.at;
    let name = raw.root.get("metadata").and_then(|metadata| metadata.get("name"));
    let name = name.and_then(Node::as_str).filter(|name| !name.is_empty());
    if name.is_none() {
        problems.add(at, Problem::new("a set needs `metadata.name`").hint("reports call it by this name"));
    }
    let Some(spec) = top.get("spec") else {
        problems.add(at, Problem::new("a set needs `spec`").hint(EXAMPLE));
        return None;
    };
    let spec_map = map(spec, "a set's `spec`", problems)?;
    known(spec_map, &SPEC, "a set's `spec` has", problems);
    let owner = spec_map.get("owner").and_then(|node| owner(node, problems));
    let scope = match spec_map.get("scope").map(|node| (node.at, &node.want)) {
        Some((_, Want::List(items))) if !items.is_empty() => {
            items.iter().filter_map(|item| claim(item, raw, source, problems)).collect()
        }
        found => {
            let at = found.map_or(spec.at, |(at, _)| at);
            problems.add(at, Problem::new("`scope` is a list of what the set claims").hint(EXAMPLE));
            Vec::new()
        }
    };
    let max_deletes = spec_map.get("max-deletes").map(|node| limits::read(node, &scope, problems));
    let max_deletes = max_deletes.unwrap_or_default();
    let set = Set { name: name?.into(), owner, scope, max_deletes, origin: raw.origin() };
    within_itself(&set, source, problems);
    Some(set)
}

const EXAMPLE: &str = "write `spec: {owner: payments, scope: [{kind: Queue, vhost: /}]}`";

fn map<'n>(node: &'n Node, what: &str, problems: &mut Problems) -> Option<&'n Members> {
    match &node.want {
        Want::Map(map) => Some(map),
        _ => {
            problems.add(node.at, Problem::new(format!("{what} must be a map")).hint(EXAMPLE));
            None
        }
    }
}

fn known(map: &Members, keys: &[&str], has: &str, problems: &mut Problems) {
    for (name, node) in map.iter().filter(|(name, _)| !keys.contains(&&***name)) {
        let problem = Problem::new(format!("`{name}` is not known here"));
        problems.add(node.at, problem.hint(suggest::hint(name, has, keys.iter().copied())));
    }
}

fn owner(node: &Node, problems: &mut Problems) -> Option<Arc<str>> {
    let text = node.as_str().filter(|text| !text.trim().is_empty() && !text.chars().any(char::is_control));
    if text.is_none() {
        let problem = Problem::new("`owner` is a name, without control characters");
        problems.add(node.at, problem.hint("it is the mark of the set's objects: `owner: payments`"));
    }
    text.map(Arc::from)
}

fn claim(node: &Node, raw: &RawDocument, source: &dyn KindSource, problems: &mut Problems) -> Option<Claim> {
    let record = map(node, "an entry of `scope`", problems)?;
    let text = |name: &str| record.get(name).and_then(Node::as_str);
    let Some(named) = text("kind") else {
        problems.add(node.at, Problem::new("an entry of `scope` needs `kind`").hint(EXAMPLE));
        return None;
    };
    let exclusive = match record.get("exclusive").map(|node| (node.at, &node.want)) {
        None => false,
        Some((_, Want::Json(Value::Bool(exclusive)))) => *exclusive,
        Some((at, _)) => {
            problems.add(at, Problem::new("`exclusive` is `true` or `false`"));
            return None;
        }
    };
    let at = record.get("kind").map_or(node.at, |node| node.at);
    let kind = problems.ok(at, find(named, text("backend"), source))??;
    let before = problems.list.len();
    let parts = record.iter().filter(|(name, _)| !CLAIM.contains(&&***name));
    let within: Vec<_> = parts.filter_map(|(name, node)| part(&kind, name, node, problems)).collect();
    for part in kind.parts.iter().filter(|part| must_be_said(&kind, &part.name)) {
        if !within.iter().any(|(name, _)| *name == part.name) {
            let message = format!("the scope of a `{named}` must say its `{}`", part.name);
            let why =
                "its listing asks for one value, and there is no kind whose objects tell which there are";
            problems.add(node.at, Problem::new(message).hint(why));
        }
    }
    let origin = raw.place(node.at);
    (problems.list.len() == before).then(|| Claim {
        kind: kind.name.clone(),
        within,
        exclusive,
        replicas: None,
        origin,
    })
}

/// Whether a listing needs a value of a part that no object of another kind tells.
fn must_be_said(kind: &Kind, name: &str) -> bool {
    let part = kind.part(name);
    let carried = kind.list.as_ref().is_some_and(|list| list.op.says_part(name));
    carried && part.is_some_and(|part| !matches!(part.parent, Parent::Of(_)))
}

fn part(kind: &Kind, name: &Arc<str>, node: &Node, problems: &mut Problems) -> Option<(Arc<str>, Value)> {
    if kind.part(name).is_none() {
        let problem = Problem::new(format!("`{name}` is no part of the key of a `{}`", kind.name.kind));
        let names = kind.parts.iter().map(|part| &*part.name).chain(CLAIM);
        problems.add(node.at, problem.hint(suggest::hint(name, "an entry has", names)));
        return None;
    }
    match &node.want {
        Want::Json(value @ (Value::String(_) | Value::Number(_))) if *value != "" => {
            Some((name.clone(), value.clone()))
        }
        _ => {
            problems.add(node.at, Problem::new(format!("`{name}` of a scope is a text or a number")));
            None
        }
    }
}

/// The kind of a claim; `None` where its backend is wrong itself, which has been said.
fn find(named: &str, backend: Option<&str>, source: &dyn KindSource) -> Result<Option<Arc<Kind>>, Problem> {
    let of =
        |backend: &Arc<str>| source.kind(&KindName { backend: backend.clone(), kind: named.into() }, &[]);
    if let Some(backend) = backend {
        let name = KindName { backend: backend.into(), kind: named.into() };
        return match source.kind(&name, &[]) {
            Some(kind) => Ok(Some(kind)),
            None if source.is_doubtful(backend) => Ok(None),
            None => Err(kinds::unknown(source, &name)),
        };
    }
    let backends = source.backends();
    let stated = |backend: &&Arc<str>| source.kinds_of(backend).iter().any(|kind| **kind == *named);
    let mut having: Vec<&Arc<str>> = backends.iter().filter(stated).collect();
    if having.is_empty() {
        // The built-in server has any kind.
        having = backends.iter().filter(|backend| of(backend).is_some()).collect();
    }
    match having[..] {
        [backend] => Ok(of(backend)),
        [] if backends.iter().any(|backend| source.is_doubtful(backend)) => Ok(None),
        [] => {
            let all: Vec<Arc<str>> = backends.iter().flat_map(|backend| source.kinds_of(backend)).collect();
            let hint = suggest::hint(named, "the kinds are", all.iter().map(|kind| &**kind));
            Err(Problem::new(format!("no backend has a kind `{named}`")).hint(hint))
        }
        _ => {
            let names: Vec<String> = having.iter().map(|name| format!("`{name}`")).collect();
            let message = format!("several backends have a kind `{named}`: {}", names.join(", "));
            Err(Problem::new(message).hint(format!("say which: `backend: {}`", having[0])))
        }
    }
}

/// Two entries of one Set for the same objects.
fn within_itself(set: &Set, source: &dyn KindSource, problems: &mut Problems) {
    for (at, claim) in set.scope.iter().enumerate() {
        let Some(kind) = source.kind(&claim.kind, &[]) else { continue };
        if let Some(first) = set.scope[..at].iter().find(|first| first.meets(claim, &kind)) {
            let message = format!("the scope is claimed twice, first in {}", first.origin);
            problems.add(claim.origin.at, Problem::new(message).hint("keep one of the two entries"));
        }
    }
}

/// What two Sets cannot both say.
fn clash(first: &Set, second: &Set, source: &dyn KindSource) -> Option<Problem> {
    if first.name == second.name {
        let message =
            format!("two sets are named `{}`: the other one stands at {}", first.name, first.origin);
        return Some(Problem::new(message).at(second.origin.clone()));
    }
    second.scope.iter().find_map(|claim| {
        let kind = source.kind(&claim.kind, &[])?;
        let other = first.scope.iter().find(|other| other.meets(claim, &kind))?;
        let what: Vec<String> =
            claim.within.iter().map(|(name, value)| format!(" of `{name}` {}", plain_text(value))).collect();
        let message = format!(
            "the set `{}` claims a `{}`{} too ({})",
            first.name,
            claim.kind.kind,
            what.concat(),
            other.origin
        );
        let hint = "what one set names would be too much for the other: let one scope be in one set";
        Some(Problem::new(message).at(claim.origin.clone()).hint(hint))
    })
}
