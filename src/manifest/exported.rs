//! A live object as the document that declares it as it stands.
//!
//! The core says what has to be declared; here it gets the shape of a document: the key in `metadata`, or the
//! whole as it is where the kind takes verbatim documents. What no document can say is refused, with why.

use serde_json::json;

use super::problems::Problems;
use super::{emit, metadata};
use crate::core::diff::agrees;
use crate::core::exchange::Item;
use crate::core::filter::Filter;
use crate::core::identity::{Key, ObjectId};
use crate::core::kind::{DocumentType, Kind, Version};
use crate::core::mark;
use crate::core::minimal::{Known, LeftOut, Minimal, minimal};
use crate::core::node::{Node, Pos, Want};
use crate::core::path::{Path, Step};
use crate::core::value::{Map, Value, type_name};
use crate::core::veil::Veil;

/// The deepest body: the loader takes [`super::tree::MAX_DEPTH`] levels, and a document has two above it.
const DEEPEST: usize = super::tree::MAX_DEPTH - 2;
/// What the names of our own annotations begin with.
const OURS: &str = "trueup/";

/// A document.
#[derive(Clone, Debug)]
pub struct Exported {
    pub id: ObjectId,
    /// Of a verbatim document its own, else the backend's name.
    api_version: String,
    kind: String,
    /// The parts of the key; `None` in a verbatim document, whose body has them.
    metadata: Option<Key>,
    spec: Node,
    pub left_out: Vec<LeftOut>,
}

/// Why an object cannot be a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    #[error("the server is deleting it")]
    Deleting,
    #[error("no document can name it: {0}")]
    Name(String),
    #[error("its name holds a secret")]
    SecretName,
    #[error("it is {0}, and its document's body must be a map")]
    Body(&'static str),
    #[error("a secret in it can neither be left out nor replaced")]
    Secret,
    #[error("it nests more than {DEEPEST} levels deep")]
    Deep,
    #[error("a document of it would not say its name")]
    Nameless,
    #[error("a document of it would differ from it")]
    Differs,
}

impl Unfit {
    /// Whether the object should have been exported: what goes away, or has no name that a document may have,
    /// cannot be managed in any way.
    pub fn is_failure(&self) -> bool {
        !matches!(self, Unfit::Deleting | Unfit::Name(_))
    }
}

/// The document of an object. `veils` are the secrets that documents of it have; `tells` knows the text of any
/// secret.
///
/// # Errors
/// Why there can be none.
pub fn of(
    kind: &Kind,
    item: &Item,
    veils: &[&Veil],
    tells: &dyn Fn(&Value) -> bool,
) -> Result<Exported, Unfit> {
    if item.deleting {
        return Err(Unfit::Deleting);
    }
    if item.key.parts().iter().any(|(_, value)| tells_any(value, tells)) {
        return Err(Unfit::SecretName);
    }
    metadata::nameable(kind, &item.key).map_err(|problem| Unfit::Name(problem.message))?;
    // A list has no place for a part of the key.
    let listed = item.value.is_array() && kind.parts.iter().all(|part| part.place().is_none());
    if !item.value.is_object() && !listed {
        return Err(Unfit::Body(type_name(&item.value)));
    }
    if depth(&item.value) > DEEPEST {
        return Err(Unfit::Deep);
    }
    let variable = |path: &Path| variable(kind, &item.key, path);
    let known = Known { elsewhere: &elsewhere(kind, item), veils, tells, variable: &variable };
    let Minimal { mut spec, left_out } = minimal(&item.value, &kind.fields, &known).ok_or(Unfit::Secret)?;
    if let Some(document) = &kind.document {
        verbatim(&mut spec, document);
        let mut problems = Problems::new("".into());
        if metadata::key_in_body(kind, &spec, &mut problems).as_ref() != Some(&item.key) {
            return Err(Unfit::Nameless);
        }
    }
    if !agrees(&spec, &item.value, &kind.fields) {
        return Err(Unfit::Differs);
    }
    let (api_version, name) = match &kind.document {
        Some(document) => (document.api_version.clone(), document.kind.clone()),
        None => (kind.name.backend.to_string(), kind.name.kind.to_string()),
    };
    let id = ObjectId { kind: kind.name.clone(), key: item.key.clone() };
    let metadata = kind.document.is_none().then(|| item.key.clone());
    Ok(Exported { id, api_version, kind: name, metadata, spec, left_out })
}

/// The paths that a document need not have in its body: the id and the version that the server gives, the parts of
/// the key that `metadata` has, and the owner mark, which is added to what is managed.
fn elsewhere(kind: &Kind, item: &Item) -> Vec<Path> {
    let plain = |filter: &Filter| {
        let names = filter.plain().filter(|names| !names.is_empty());
        names.map(|names| Path(names.iter().cloned().map(Step::Field).collect()))
    };
    let version = match &kind.version {
        Version::OnItem(filter) => plain(filter),
        Version::None | Version::ETag | Version::Request(..) => None,
    };
    let id = item.server_id.as_ref().and_then(|_| plain(&kind.id));
    let parts = kind.parts.iter().filter(|_| kind.document.is_none()).filter_map(|part| {
        let path = plain(part.on_item.as_ref()?)?;
        let same = path.get(&item.value).is_some_and(|value| kind.same_part(&item.key, &part.name, value));
        same.then_some(path)
    });
    // In a list, the mark is one element among others.
    let mark = kind.owner.clone().filter(|path| mark::field(path) == *path);
    id.into_iter().chain(version).chain(parts).chain(mark).collect()
}

/// Makes a body a document that is taken verbatim: its type stands in it, and no annotation of ours, which
/// would be read as policy.
fn verbatim(body: &mut Node, document: &DocumentType) {
    let Want::Map(top) = &mut body.want else { return };
    for (name, text) in [("apiVersion", &document.api_version), ("kind", &document.kind)] {
        top.get_or_insert_with(name, || Node::new(Pos::default(), Want::Json(text.as_str().into())));
    }
    let annotations = top.get_mut("metadata").and_then(|metadata| match &mut metadata.want {
        Want::Map(metadata) => metadata.get_mut("annotations"),
        _ => None,
    });
    if let Some(Node { want: Want::Map(annotations), .. }) = annotations {
        annotations.retain(|name, _| !name.starts_with(OURS));
    }
}

/// The variable that stands in for a secret: `USER_BOB_PASSWORD`.
fn variable(kind: &Kind, key: &Key, path: &Path) -> String {
    let text = format!("{}_{key}_{path}", kind.name.kind);
    let mut name = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            name.push(c.to_ascii_uppercase());
        } else if !name.ends_with('_') {
            name.push('_');
        }
    }
    name.trim_matches('_').to_owned()
}

fn tells_any(value: &Value, tells: &dyn Fn(&Value) -> bool) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| tells_any(item, tells)),
        Value::Object(map) => {
            map.iter().any(|(name, item)| tells(&name.as_str().into()) || tells_any(item, tells))
        }
        scalar => tells(scalar),
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

impl Exported {
    /// The labels by which the document is selected, as the loader reads them.
    pub fn labels(&self) -> std::collections::BTreeMap<String, String> {
        match self.metadata {
            Some(_) => Default::default(),
            None => super::document::labels(
                self.spec.get("metadata").and_then(|metadata| metadata.get("labels")),
                None,
            ),
        }
    }

    /// The document as YAML, without a line `---`.
    pub fn yaml(&self) -> String {
        let mut out = String::new();
        let text = |text: &str| Node::new(Pos::default(), Want::Json(text.into()));
        emit::member(&mut out, "apiVersion", &text(&self.api_version), 0);
        emit::member(&mut out, "kind", &text(&self.kind), 0);
        if let Some(key) = &self.metadata {
            // In the order of the kind, as a person names them.
            if !key.parts().is_empty() {
                out.push_str("metadata:\n");
            }
            for (name, value) in key.parts() {
                emit::member(&mut out, name, &Node::from_value(Pos::default(), value.clone()), emit::STEP);
            }
        }
        for LeftOut { path, why } in &self.left_out {
            emit::comment(&mut out, &format!("left out: {path} ({})", why.word()));
        }
        match (&self.metadata, &self.spec.want) {
            (None, Want::Map(top)) => {
                let first = top.iter().filter(|(name, _)| &***name == "metadata");
                let rest =
                    top.iter().filter(|(name, _)| !matches!(&***name, "apiVersion" | "kind" | "metadata"));
                first.chain(rest).for_each(|(name, node)| emit::member(&mut out, name, node, 0));
            }
            _ => emit::member(&mut out, "spec", &self.spec, 0),
        }
        out
    }

    /// The document as JSON, which has no tags: the annotation `trueup/values` says what stands in for secrets.
    pub fn json(&self) -> Value {
        let mut stand_ins = Map::new();
        let root = if self.metadata.is_some() { Path::root().field("spec") } else { Path::root() };
        let body = untagged(&self.spec, &root, &mut stand_ins);
        let mut document = match &self.metadata {
            Some(key) => {
                let parts = key.parts().iter().map(|(name, value)| (name.to_string(), value.clone()));
                let metadata: Map<String, Value> = parts.collect();
                json!({"apiVersion": self.api_version, "kind": self.kind, "metadata": metadata, "spec": body})
            }
            None => body,
        };
        if !stand_ins.is_empty() {
            let place = ["metadata", "annotations", "trueup/values"].map(|name| Step::Field(name.into()));
            Path(place.into()).lay(&mut document, Value::Object(stand_ins).to_string().into());
        }
        document
    }
}

/// A body without its secrets, which are collected with the place they belong to.
fn untagged(node: &Node, path: &Path, stand_ins: &mut Map<String, Value>) -> Value {
    match &node.want {
        Want::Map(map) => {
            let mut members = Map::new();
            for (name, item) in map {
                let path = path.field(name);
                if let Want::Secret(secret) = &item.want {
                    stand_ins.insert(path.to_string(), format!("secret {}", secret.source).into());
                } else {
                    members.insert(name.to_string(), untagged(item, &path, stand_ins));
                }
            }
            Value::Object(members)
        }
        Want::List(items) => {
            let each = items.iter().enumerate();
            each.map(|(at, item)| untagged(item, &path.with(Step::Index(at)), stand_ins)).collect()
        }
        Want::Json(value) => value.clone(),
        Want::Unset | Want::Secret(_) | Want::Ref(_) | Want::Outside(_) => Value::Null,
    }
}
