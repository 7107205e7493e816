//! The annotations `trueup/…` of a document: policy for the object, and values for its body.
//!
//! Knows one document's annotations. Whether what they name exists is checked elsewhere.

use std::sync::Arc;

use super::problems::Problems;
use super::tag;
use crate::core::document::{Drift, Ensure, OnConflict, Policy, Was};
use crate::core::members::Members;
use crate::core::node::{Node, Outside, Pos, Reference, Want};
use crate::core::path::{Path, Step};
use crate::core::problem::Problem;
use crate::core::suggest;
use crate::core::value::{Value, plain_text};

/// What the names of our annotations begin with.
const PREFIX: &str = "trueup/";

/// Whether drift is healed.
pub const DRIFT: &str = "trueup/drift";
/// Where it is not.
const REPORT: &str = "trueup/report";

/// Those that can be used: what is not supported yet is in no hint.
const NAMES: [&str; 12] = [
    "trueup/ensure",
    "trueup/id",
    "trueup/prune",
    "trueup/on-conflict",
    "trueup/replace",
    "trueup/drift",
    "trueup/report",
    "trueup/depends-on",
    "trueup/paused",
    "trueup/was",
    "trueup/secret-version",
    "trueup/values",
];

/// Takes our annotations out of a document, and the map they stood in when nothing else is in it.
pub fn take(root: &mut Node, problems: &mut Problems) -> Members {
    let Want::Map(top) = &mut root.want else { return Members::default() };
    let Some(Node { want: Want::Map(metadata), .. }) = top.get_mut("metadata") else {
        return Members::default();
    };
    let Some(annotations) = metadata.get_mut("annotations") else { return Members::default() };
    let map = match &mut annotations.want {
        Want::Map(map) => map,
        Want::Outside(Outside::Nothing) | Want::Unset => return Members::default(),
        _ => {
            problems.add(annotations.at, Problem::new("`annotations` must be a map"));
            return Members::default();
        }
    };
    let (ours, others): (Members, Members) =
        std::mem::take(map).into_iter().partition(|(name, _)| name.starts_with(PREFIX));
    *map = others;
    if map.is_empty() && !ours.is_empty() {
        metadata.remove("annotations");
    }
    ours
}

/// A value that `trueup/values` lays at a path of the document.
pub type Laid = (Path, Node);

/// Reads our annotations. Each wrong one is a problem; the others count.
pub fn read(annotations: &Members, problems: &mut Problems) -> (Policy, Vec<Laid>) {
    let (mut policy, mut laid) = (Policy::default(), Vec::new());
    for (name, node) in annotations {
        let done = one(name, node, &mut policy, &mut laid, problems);
        problems.ok(node.at, done);
    }
    (policy, laid)
}

fn one(
    name: &str,
    node: &Node,
    policy: &mut Policy,
    laid: &mut Vec<Laid>,
    problems: &mut Problems,
) -> Result<(), Problem> {
    match &name[PREFIX.len()..] {
        "ensure" => {
            let choices =
                [("present", Ensure::Present), ("absent", Ensure::Absent), ("exists", Ensure::Exists)];
            policy.ensure = word(name, node, &choices)?;
        }
        "on-conflict" => {
            let choices = [
                ("report", OnConflict::Report),
                ("force", OnConflict::Force),
                ("ignore", OnConflict::Ignore),
            ];
            policy.on_conflict = word(name, node, &choices)?;
        }
        "drift" => policy.drift = word(name, node, &[("heal", Drift::Heal), ("report", Drift::Report)])?,
        "report" => policy.report = paths(name, node)?,
        "prune" => policy.protected = !word(name, node, &BOOLEAN)?,
        "replace" => policy.replace = word(name, node, &BOOLEAN)?,
        "paused" => policy.paused = word(name, node, &BOOLEAN)?,
        "id" => policy.pinned_id = Some(scalar(name, node)?),
        "depends-on" => policy.depends_on = depends_on(name, node)?,
        "values" => laid.extend(values(name, node, problems)?),
        "was" => policy.was = Some(was(name, node)?),
        "secret-version" => policy.secret_version = Some(scalar(name, node)?),
        _ => {
            return Err(Problem::new(format!("the annotation `{name}` is not known")).hint(suggest::hint(
                name,
                "the annotations are",
                NAMES,
            )));
        }
    }
    Ok(())
}

const BOOLEAN: [(&str, bool); 2] = [("true", true), ("false", false)];

/// One of a few words; `true` and `false` may stand without quotes.
fn word<T: Copy>(name: &str, node: &Node, choices: &[(&str, T)]) -> Result<T, Problem> {
    let text = match &node.want {
        Want::Json(value @ (Value::String(_) | Value::Bool(_))) => plain_text(value),
        _ => String::new(),
    };
    let found = choices.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let words: Vec<String> = choices.iter().map(|(word, _)| format!("`{word}`")).collect();
        let said = if text.is_empty() { String::new() } else { format!(", not `{text}`") };
        Problem::new(format!("`{name}` is {}{said}", words.join(" or ")))
    })
}

/// A text or number that is not empty.
fn scalar(name: &str, node: &Node) -> Result<Arc<str>, Problem> {
    match &node.want {
        Want::Json(value @ (Value::String(_) | Value::Number(_))) if *value != "" => {
            Ok(plain_text(value).into())
        }
        _ => Err(Problem::new(format!("`{name}` must be a text"))),
    }
}

/// A list of paths, or texts with commas between, those within brackets or quotes aside.
fn paths(name: &str, node: &Node) -> Result<Vec<Path>, Problem> {
    let wrong = || {
        let problem = Problem::new(format!("`{name}` names fields"));
        problem.hint("write `spec.replicas, spec.containers[name=web].image`")
    };
    let mut texts = Vec::new();
    match &node.want {
        Want::Json(Value::String(text)) => texts.extend(apart(text)),
        Want::List(items) => {
            for item in items {
                texts.extend(apart(item.as_str().ok_or_else(wrong)?));
            }
        }
        _ => return Err(wrong()),
    }
    let one = |text: &&str| {
        let path = Path::parse(text).map_err(|error| Problem::new(error.to_string()))?;
        let named = path.0.iter().all(|step| matches!(step, Step::Field(_) | Step::Keyed(..)));
        if named && !path.is_root() {
            return Ok(path);
        }
        let problem = Problem::new(format!("`{name}` names `{text}`, which is no field"));
        Err(problem.hint("name elements by their keys, as in `spec.containers[name=web]`, or the whole list"))
    };
    let paths = texts.iter().map(one).collect::<Result<Vec<_>, Problem>>()?;
    if paths.is_empty() { Err(wrong()) } else { Ok(paths) }
}

/// A text at its commas.
fn apart(text: &str) -> Vec<&str> {
    let (mut depth, mut quoted) = (0_usize, None);
    let parts = text.split(|c: char| {
        match (quoted, c) {
            (Some(mark), _) if c == mark => quoted = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quoted = Some(c),
            (None, '[') => depth += 1,
            (None, ']') => depth = depth.saturating_sub(1),
            (None, ',') => return depth == 0,
            _ => {}
        }
        false
    });
    parts.map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// The same policy with paths below `spec`, which is the body.
pub fn within_spec(mut policy: Policy, annotations: &Members, problems: &mut Problems) -> Policy {
    let at = annotations.iter().find(|(name, _)| &***name == REPORT).map(|(_, node)| node.at);
    policy.report = std::mem::take(&mut policy.report)
        .into_iter()
        .filter_map(|path| {
            let below = match path.0.split_first() {
                Some((Step::Field(first), rest)) if **first == *"spec" && !rest.is_empty() => {
                    Ok(Path(rest.to_vec()))
                }
                _ => {
                    let problem =
                        Problem::new(format!("`{REPORT}` names `{path}`, which is no field of `spec`"));
                    Err(problem.hint("for all of the object say `trueup/drift: report`"))
                }
            };
            problems.ok(at.unwrap_or_default(), below)
        })
        .collect();
    policy
}

/// The old name, or a map from the parts that changed to what they were; also as the text of one.
fn was(name: &str, node: &Node) -> Result<Was, Problem> {
    let wrong = || {
        Problem::new(format!("`{name}` is the name before a rename"))
            .hint("write `OLD`, or `{PART: OLD}` where the key has several parts")
    };
    let value = |node: &Node| match &node.want {
        Want::Json(value @ (Value::String(_) | Value::Number(_))) if *value != "" => Ok(value.clone()),
        _ => Err(wrong()),
    };
    let text = node.as_str().filter(|text| text.starts_with('{'));
    let parsed =
        text.and_then(|text| serde_json::from_str(text).ok()).map(|map| Node::from_value(node.at, map));
    let parts = match &parsed.as_ref().unwrap_or(node).want {
        Want::Map(map) if !map.is_empty() => map
            .iter()
            .map(|(part, old)| Ok((Some(part.clone()), value(old)?)))
            .collect::<Result<_, Problem>>()?,
        _ => vec![(None, value(node)?)],
    };
    Ok(Was { parts, at: node.at })
}

/// A list of references, or texts with commas between: names are percent-encoded, so no comma is part of one.
fn depends_on(name: &str, node: &Node) -> Result<Vec<(Reference, Pos)>, Problem> {
    let wrong = || {
        Problem::new(format!("`{name}` names objects"))
            .hint("write `Team/platform, Queue/%2F/orders`: names are percent-encoded")
    };
    let of_text = |text: &str, at: Pos| {
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        names
            .map(|name| tag::object_reference(name).map(|reference| (reference, at)))
            .collect::<Result<Vec<_>, _>>()
    };
    match &node.want {
        Want::Json(Value::String(text)) => of_text(text, node.at),
        Want::List(items) => {
            let mut all = Vec::new();
            for item in items {
                all.extend(of_text(item.as_str().ok_or_else(wrong)?, item.at)?);
            }
            Ok(all)
        }
        _ => Err(wrong()),
    }
}

/// `{"spec.teamId": "ref Team/platform .id"}`, as a map or as the text of one.
fn values(name: &str, node: &Node, problems: &mut Problems) -> Result<Vec<Laid>, Problem> {
    let wrong = || {
        Problem::new(format!("`{name}` is a map from paths to values"))
            .hint(r#"write `{"spec.teamId": "ref Team/platform .id"}`"#)
    };
    let parsed;
    let map = match &node.want {
        Want::Map(map) => map,
        Want::Json(Value::String(text)) => {
            let value: Value = serde_json::from_str(text).map_err(|_| wrong())?;
            parsed = Node::from_value(node.at, value);
            match &parsed.want {
                Want::Map(map) => map,
                _ => return Err(wrong()),
            }
        }
        _ => return Err(wrong()),
    };
    let mut laid = Vec::new();
    for (path, value) in map {
        let one = Path::parse(path).map_err(|error| Problem::new(error.to_string())).and_then(|path| {
            let want = tag::of_words(value.as_str().ok_or_else(wrong)?)?;
            Ok((path, Node::new(value.at, want)))
        });
        laid.extend(problems.ok(value.at, one));
    }
    Ok(laid)
}
