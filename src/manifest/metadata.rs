//! The identity of a document: from `metadata`, or from the body of a verbatim one, to a key.
//!
//! A name must not be able to change the shape of a URL: what could is refused here, with its place, long
//! before any request is built.

use std::sync::Arc;

use super::problems::Problems;
use crate::core::filter::{Filter, Vars};
use crate::core::identity::Key;
use crate::core::kind::{Kind, Piece};
use crate::core::members::Members;
use crate::core::node::{Node, Pos, Want};
use crate::core::problem::Problem;
use crate::core::suggest;
use crate::core::value::{Value, plain_text};

/// What `metadata` may hold beside the parts.
const BESIDE: [&str; 2] = ["labels", "annotations"];

/// The names in `metadata` that are parts, in the order in which they are written.
pub fn part_names(metadata: &Members) -> Vec<&str> {
    let mut names: Vec<(&str, Pos)> = metadata
        .iter()
        .filter(|(name, _)| !BESIDE.contains(&&***name))
        .map(|(name, node)| (&**name, node.at))
        .collect();
    names.sort_by_key(|(_, at)| *at);
    names.into_iter().map(|(name, _)| name).collect()
}

/// The key that `metadata` states; `at` is where the document begins.
pub fn key(kind: &Kind, metadata: &Members, at: Pos, problems: &mut Problems) -> Option<Key> {
    let before = problems.list.len();
    for name in part_names(metadata).into_iter().filter(|name| kind.part(name).is_none()) {
        let problem = Problem::new(format!("`{name}` is no part of the key of a `{}`", kind.name.kind));
        problems.add_to_name(name, metadata[name].at, problem.hint(parts_hint(kind, name)));
    }
    let mut parts = Vec::new();
    for part in &kind.parts {
        let Some(node) = metadata.get(&part.name) else {
            let message = format!("`metadata` of a `{}` needs `{}`", kind.name.kind, part.name);
            problems.add(at, Problem::new(message).hint(parts_hint(kind, "")));
            continue;
        };
        let value = part_value(node, &part.name).and_then(|value| checked(kind, &part.name, value));
        parts.extend(problems.ok(node.at, value).map(|value| (part.name.clone(), value)));
    }
    (problems.list.len() == before).then(|| kind.key_of(parts))
}

fn parts_hint(kind: &Kind, wrong: &str) -> String {
    let names = kind.parts.iter().map(|part| &*part.name);
    suggest::hint(wrong, "the parts of its key are", names)
}

/// Names stand in addresses, logs and reports: a secret is no name, whether it can be read or not.
fn part_value(node: &Node, name: &str) -> Result<Value, Problem> {
    match node.to_value() {
        Ok(value) if !value.is_null() && !holds_secret(node) => Ok(value),
        Ok(value) if value.is_null() => {
            Err(Problem::new(format!("`{name}` is part of the key and has no value")))
        }
        _ => Err(Problem::new(format!("`{name}` is part of the key, and must not be a secret or a `!ref`"))
            .hint("write the value itself, or take it from `!env`")),
    }
}

fn holds_secret(node: &Node) -> bool {
    match &node.want {
        Want::Secret(_) => true,
        Want::List(items) => items.iter().any(holds_secret),
        Want::Map(map) => map.values().any(holds_secret),
        Want::Unset | Want::Json(_) | Want::Ref(_) | Want::Outside(_) => false,
    }
}

/// Checks a body against the key that `metadata` states. An object is read back under its key: one that says
/// another name there is another object, and where the body's name counts more than the path's, it is made.
pub fn agrees(kind: &Kind, key: &Key, spec: &Node, problems: &mut Problems) {
    let placed = || kind.parts.iter().filter_map(|part| Some((part, part.place()?)));
    if let (Want::List(_), Some((part, _))) = (&spec.want, placed().next()) {
        let message = format!("`spec` of a `{}` is a map: its `{}` stands in it", kind.name.kind, part.name);
        return problems.add(spec.at, Problem::new(message).hint("write `spec: {}` for an empty body"));
    }
    for (part, place) in placed() {
        let node = place.iter().try_fold(spec, |node, name| node.get(name));
        let (Some(node), Some(value)) = (node, key.get(&part.name)) else { continue };
        let Want::Json(stated) = &node.want else { continue };
        if !kind.same_part(key, &part.name, stated) {
            let place = place.join(".");
            let (here, there) = (plain_text(stated), plain_text(value));
            let message = format!("`{place}` is `{here}` here and `{there}` in `metadata`");
            problems.add(node.at, Problem::new(message).hint(format!("leave `{place}` out of `spec`")));
        }
    }
}

/// Whether a document can state this key.
///
/// # Errors
/// A part that no document may have, in words.
pub fn nameable(kind: &Kind, key: &Key) -> Result<(), Problem> {
    key.parts().iter().try_for_each(|(name, value)| checked(kind, name, value.clone()).map(drop))
}

/// The key that stands in a body.
pub fn key_in_body(kind: &Kind, body: &Node, problems: &mut Problems) -> Option<Key> {
    let mut whole = None;
    let mut parts = Vec::new();
    for part in &kind.parts {
        let found = part.on_item.as_ref().map_or(Ok(None), |filter| read_part(filter, body, &mut whole));
        let value =
            found.and_then(|value| value.ok_or_else(|| not_in_body(kind, &part.name, part.on_item.as_ref())));
        let value = value.and_then(|value| checked(kind, &part.name, value));
        parts.extend(problems.ok(body.at, value).map(|value| (part.name.clone(), value)));
    }
    (parts.len() == kind.parts.len()).then(|| kind.key_of(parts))
}

fn not_in_body(kind: &Kind, part: &str, filter: Option<&Filter>) -> Problem {
    let name = &kind.name.kind;
    match filter {
        Some(filter) => Problem::new(format!(
            "the document has no `{}`, which is the `{part}` of a `{name}`",
            filter.text()
        )),
        None => {
            Problem::new(format!("the `{part}` of a `{name}` does not stand in the document")).hint(format!(
                "write it as a document of `apiVersion: {}`, with the key in `metadata`",
                kind.name.backend
            ))
        }
    }
}

/// The value of a part in the body; the body as one value is made only for filters that are no plain path.
fn read_part(filter: &Filter, body: &Node, whole: &mut Option<Value>) -> Result<Option<Value>, Problem> {
    if let Some(path) = filter.plain() {
        let node = path.iter().try_fold(body, |node, name| node.get(name));
        let value = node.map(|node| part_value(node, path.last().map_or(".", String::as_str)));
        return value.transpose();
    }
    let whole = whole.get_or_insert_with(|| body.known());
    let value = filter.one(whole, &Vars::default()).map_err(|error| Problem::new(error.to_string()))?;
    Ok(value.filter(|value| !value.is_null()))
}

/// A part's value, unless a URL with it would lead elsewhere.
fn checked(kind: &Kind, part: &Arc<str>, value: Value) -> Result<Value, Problem> {
    let Value::String(text) = &value else { return Ok(value) };
    let what = format!("the `{part}` of a `{}`", kind.name.kind);
    if let Some(c) = text.chars().find(|c| c.is_control()) {
        let problem = Problem::new(format!("{what} holds the control character U+{:04X}", u32::from(c)));
        return Err(problem.hint("URLs drop such characters: two names would be one"));
    }
    let segments: Vec<&str> = match place_in_paths(kind, part) {
        Place::Nowhere => return Ok(value),
        Place::Segment => vec![text],
        Place::Segments => text.split('/').collect(),
    };
    for segment in segments {
        if segment.trim().is_empty() {
            let problem = Problem::new(format!("{what} is empty"));
            return Err(problem.hint("in a URL, the object's path would be the path of the whole collection"));
        }
        if matches!(segment, "." | "..") {
            let problem = Problem::new(format!("{what} is `{segment}`"));
            return Err(problem.hint("in a URL, this is a step to another path"));
        }
    }
    Ok(value)
}

/// How a part's value stands in the paths of requests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// In the body or the query at most.
    Nowhere,
    Segment,
    Segments,
}

/// A kind without operations is a generic one, whose every part is a segment.
fn place_in_paths(kind: &Kind, part: &Arc<str>) -> Place {
    let pieces = kind.ops().flat_map(|op| op.path.pieces());
    let places = pieces.filter_map(|piece| match piece {
        Piece::Part(name) if name == part => Some(Place::Segment),
        Piece::RawPart(name) if name == part => Some(Place::Segments),
        _ => None,
    });
    let nowhere = if kind.ops().next().is_some() { Place::Nowhere } else { Place::Segment };
    places.max().unwrap_or(nowhere)
}
