//! Documents as JSON, and back: what is not JSON stays symbolic, so that no value from outside is in it.
//!
//! ```text
//! null → null   !null → {"!null": true}   nothing → {"!nothing": true}
//! !env A → {"!env": "A"}   !file, !secret alike   !ref → {"!ref": {…}}
//! a map whose one name begins with `!` → {"!map": {…}}
//! ```
//!
//! Places are not kept: a document that is read back stands where it began. One document has one form, wherever
//! it stood, so two of them are the same where their forms are.

use std::sync::Arc;

use serde_json::json;

use crate::core::members::Members;
use crate::core::node::{Node, Origin, Outside, Pos, Reference, Secret, Want};
use crate::core::path::Path;
use crate::core::raw::{RawDocument, Source};
use crate::core::value::{Map, Value};

/// A document, and where it stood.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub document: Value,
}

/// A form that is none of a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not known in a document")]
pub struct NotADocument(String);

impl Kept {
    pub fn of(raw: &RawDocument) -> Kept {
        let Origin { file, at } = raw.origin();
        Kept { file: file.to_string(), line: at.line, column: at.column, document: form(&raw.root) }
    }

    /// The document, as if it had just been read.
    ///
    /// # Errors
    /// A form that [`form`] does not make.
    pub fn raw(&self) -> Result<RawDocument, NotADocument> {
        let at = Pos { line: self.line, column: self.column };
        let source = Source { file: self.file.as_str().into(), text: String::new() };
        Ok(RawDocument { source: Arc::new(source), root: node(&self.document, at)? })
    }
}

/// A value of a document as JSON.
pub fn form(node: &Node) -> Value {
    match &node.want {
        Want::Unset => Value::Null,
        Want::Json(Value::Null) => json!({"!null": true}),
        Want::Json(value) => value.clone(),
        Want::Secret(secret) => json!({"!secret": *secret.source}),
        Want::Ref(reference) => json!({"!ref": named(reference)}),
        Want::Outside(Outside::Nothing) => json!({"!nothing": true}),
        Want::Outside(Outside::Env(name)) => json!({"!env": **name}),
        Want::Outside(Outside::File(path)) => json!({"!file": **path}),
        // What is gone is in no document.
        Want::Outside(Outside::Gone(node)) => form(node),
        Want::List(items) => items.iter().map(form).collect(),
        Want::Map(map) => {
            let members: Map<_, _> = map.iter().map(|(name, item)| (name.to_string(), form(item))).collect();
            let taken = members.len() == 1 && members.keys().all(|name| name.starts_with('!'));
            if taken { json!({"!map": members}) } else { Value::Object(members) }
        }
    }
}

fn named(reference: &Reference) -> Value {
    let parts: Vec<Value> = reference.parts.iter().map(|(name, value)| json!([**name, value])).collect();
    json!({
        "backend": reference.backend.as_deref(), "kind": *reference.kind, "parts": parts,
        "field": reference.field.to_string(), "text": *reference.text,
    })
}

fn node(value: &Value, at: Pos) -> Result<Node, NotADocument> {
    let want = match value {
        Value::Null => Want::Unset,
        Value::Array(items) => Want::List(items.iter().map(|item| node(item, at)).collect::<Result<_, _>>()?),
        Value::Object(map) => match map.iter().next() {
            Some((tag, value)) if map.len() == 1 && tag.starts_with('!') => {
                tagged(tag, value, at).ok_or_else(|| NotADocument(tag.clone()))?
            }
            _ => Want::Map(members(map, at)?),
        },
        scalar => Want::Json(scalar.clone()),
    };
    Ok(Node::new(at, want))
}

fn members(map: &Map<String, Value>, at: Pos) -> Result<Members, NotADocument> {
    map.iter().map(|(name, item)| Ok((name.clone(), node(item, at)?))).collect()
}

fn tagged(tag: &str, value: &Value, at: Pos) -> Option<Want> {
    Some(match (tag, value) {
        ("!null", Value::Bool(true)) => Want::Json(Value::Null),
        ("!nothing", Value::Bool(true)) => Want::Outside(Outside::Nothing),
        ("!env", Value::String(name)) => Want::Outside(Outside::Env(name.as_str().into())),
        ("!file", Value::String(path)) => Want::Outside(Outside::File(path.as_str().into())),
        ("!secret", Value::String(source)) => Want::Secret(Secret::new(source, None)),
        ("!ref", Value::Object(map)) => Want::Ref(Box::new(reference(map)?)),
        ("!map", Value::Object(map)) => Want::Map(members(map, at).ok()?),
        _ => return None,
    })
}

fn reference(map: &Map<String, Value>) -> Option<Reference> {
    let text = |name: &str| map.get(name)?.as_str();
    let part = |part: &Value| Some((Arc::from(part.get(0)?.as_str()?), part.get(1)?.clone()));
    Some(Reference {
        backend: text("backend").map(Arc::from),
        kind: text("kind")?.into(),
        parts: map.get("parts")?.as_array()?.iter().map(part).collect::<Option<_>>()?,
        field: Path::parse(text("field")?).ok()?,
        text: text("text")?.into(),
        secrets: Default::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::yaml;

    fn read(text: &str) -> RawDocument {
        let source = Arc::new(Source { file: "a.yaml".into(), text: text.into() });
        let (mut documents, problems) = yaml::read(&source);
        assert_eq!(problems, []);
        documents.remove(0)
    }

    #[test]
    fn whatever_stands_in_a_document_comes_back() {
        let raw = read(
            "\n# a comment\na: 1.50\nb: [null, !null , !env A, !file b/c, !secret env:S, !secret file:p]\n\
             c: !ref Team/a%2Fb .id\nd: !ref {backend: x, kind: K, vhost: /, n: 5, field: 'a[b=c].d'}\n\
             e:\nf: {'!env': A}\ng: {'!a': 1, b: {}}\nh: 123456789012345678901234567890\ni: {'!map': {'!x': 1}}\n\
             j: !ref Team/a .\n",
        );
        let kept = Kept::of(&raw);
        assert_eq!((kept.file.as_str(), kept.line, kept.column), ("a.yaml", 3, 1));
        let text = serde_json::to_string(&kept).expect("JSON");
        let back: Kept = serde_json::from_str(&text).expect("it was just written");
        assert_eq!(back, kept);
        let again = back.raw().expect("a document");
        assert_eq!(Kept::of(&again), kept);
        assert_eq!(again.origin(), raw.origin());
        for name in ["c", "d", "j"] {
            let (Some(a), Some(b)) = (raw.root.get(name), again.root.get(name)) else { panic!("{name}") };
            assert_eq!(a.want, b.want, "{name}");
        }
        assert_eq!(again.root.get("f").and_then(|node| node.get("!env")).and_then(Node::as_str), Some("A"));
        assert!(!text.contains("comment"));
    }

    #[test]
    fn other_forms_are_refused() {
        for (value, tag) in [
            (json!({"a": {"!exec": "sh"}}), "!exec"),
            (json!({"!env": 5}), "!env"),
            (json!([{"!ref": {"kind": "K"}}]), "!ref"),
            (json!({"!null": false}), "!null"),
        ] {
            let kept = Kept { file: "f".into(), line: 1, column: 1, document: value };
            assert_eq!(kept.raw().expect_err(tag), NotADocument(tag.into()));
        }
    }
}
