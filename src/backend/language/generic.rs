//! The kind of any name on the built-in server, whose API is the same for all: what a backend of
//! `url: embedded:PATH` needs no `kinds` for.

use std::sync::Arc;

use serde_json::json;

use super::kind;
use super::reader::Reader;
use crate::core::kind::Kind;
use crate::core::node::{Node, Pos};
use crate::core::problem::Problem;
use crate::core::raw::Source;

/// The identity of objects whose kind is stated nowhere.
const PART: &str = "name";

/// The kind of this name, whose objects are known by their `name` alone. `parts` are the names that a
/// document's `metadata` gives to its identity.
///
/// # Errors
/// Other parts than `name`: where parents stand in the path is known from `kinds` only.
pub fn generic_kind(backend: &str, kind: &str, parts: &[&str]) -> Result<Kind, Problem> {
    if parts != [PART] {
        let message = format!(
            "the identity of the kind `{kind}` is `name` alone, as the backend `{backend}` states no `kinds`"
        );
        return Err(Problem::new(message)
            .hint(format!("describe `{kind}` under `kinds` of the backend, with its `key` and `parent`")));
    }
    if kind.is_empty()
        || !kind.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c))
        || kind.starts_with('.')
    {
        let message =
            format!("`{}` cannot be the name of a kind of the built-in server", kind.escape_debug());
        return Err(Problem::new(message).hint("letters, digits, `-`, `_` and `.` can stand in it"));
    }
    let collection: String = url::form_urlencoded::byte_serialize(kind.as_bytes()).collect();
    let item = format!("/{collection}/{{{PART}}}");
    let record = json!({
        "key": {PART: ".id"},
        "list": {
            "request": format!("GET /{collection}"),
            "items": ".items",
            "page": {"by": "cursor", "next": ".next", "size": 500},
        },
        "read": format!("GET {item}"),
        "create": format!("PUT {item}"),
        "update": {"request": format!("PATCH {item}"), "send": "merge"},
        "delete": format!("DELETE {item}"),
        "watch": {
            "request": format!("GET /{collection}?watch=sse"),
            "by": "sse",
            "key": "{name: .id | tostring}",
            "replay": true,
            "heartbeat": "15s",
        },
        "version": ".revision",
        "deleting": ".body.deletionRevision",
        "blockers": ".finalizers",
        "lease": {
            "holder": "holder",
            "renewed": "renewed",
            "acquired": "acquired",
            "duration": "duration",
            "transitions": "transitions",
        },
        "fields": {
            "id": "server-owned",
            "revision": "server-owned",
            "deletionRevision": "server-owned",
            "finalizers": "set",
        },
    });
    let source = Source { file: "built-in".into(), text: String::new() };
    let mut reader = Reader::new(&source);
    let node = Node::from_value(Pos::default(), record);
    let read = kind::read(&mut reader, &Arc::from(backend), kind, &node);
    Ok(read.filter(|_| reader.problems.is_empty()).expect("the record above is in the language"))
}
