//! Kinds and documents for the model server.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::core::document::{Document, Policy};
use crate::core::fields::FieldRules;
use crate::core::filter::Filter;
use crate::core::identity::{Key, KindName, ObjectId};
use crate::core::kind::{
    Kind, ListOp, Method, Op, Parent, Part, Piece, Read, Send, Serial, Template, Version,
};
use crate::core::node::{Node, Origin, Pos, Reference};
use crate::core::path::Path;
use crate::core::value::Value;

pub fn key_of(parts: &[(&str, &str)]) -> Key {
    Key::new(parts.iter().map(|(part, value)| ((*part).into(), Value::from(*value))).collect())
}

fn op(method: Method, path: Vec<Piece>, send: Send) -> Op {
    Op {
        method,
        path: Template(path),
        query: Vec::new(),
        headers: Vec::new(),
        media: None,
        body: None,
        item: None,
        id: None,
        send,
        batch: None,
        wait: None,
        forced: None,
        idempotency: None,
    }
}

pub fn kind_name(kind: &str) -> KindName {
    KindName { backend: "test".into(), kind: kind.into() }
}

/// A kind whose names are ours, or the server's ids; with a parent, or without.
pub fn kind(name: &str, server_ids: bool, parent: Option<&str>) -> Kind {
    let last = if server_ids { Piece::Id } else { Piece::Part("name".into()) };
    let item = vec![Piece::Literal("/".into()), last];
    let mut parts = Vec::new();
    if let Some(parent) = parent {
        let of = Parent::Of(kind_name(parent));
        parts.push(Part { name: "in".into(), on_item: None, parent: of, fold: None });
    }
    let on_item = Some(Filter::parse(".name").expect("a filter"));
    parts.push(Part { name: "name".into(), on_item, parent: Parent::Own, fold: None });
    Kind {
        us: "me".into(),
        name: kind_name(name),
        parts,
        id: Filter::parse(".id").expect("a filter"),
        matching: Vec::new(),
        document: None,
        list: Some(ListOp {
            op: op(Method::Get, Vec::new(), Send::None),
            items: None,
            partial: false,
            page: None,
        }),
        read: Read::Op(op(Method::Get, item.clone(), Send::None)),
        create: Some(op(Method::Put, item.clone(), Send::Ours)),
        update: Some(op(Method::Put, item.clone(), Send::Full)),
        delete: Some(op(Method::Delete, item, Send::None)),
        check: None,
        fields: FieldRules::default(),
        owner: None,
        builtin: None,
        unique: Vec::new(),
        blockers: None,
        version: Version::None,
        serial: Serial::No,
        visible: if server_ids { Duration::from_secs(30) } else { Duration::ZERO },
        absent: None,
        deleting: None,
        failed: None,
        ready: None,
        exists: None,
        depends_on: None,
        managers: None,
        conflict: None,
        watch: None,
        hook: None,
        drift: Default::default(),
        lease: None,
    }
}

/// A reference to the id of an object: `Kind/name`.
pub fn reference(to: &str) -> Reference {
    let (kind, name) = to.split_once('/').expect("a kind and a name");
    Reference {
        backend: None,
        kind: kind.into(),
        parts: vec![("name".into(), name.into())],
        field: Path::parse("id").expect("a path"),
        text: format!("{to} .id").into(),
        secrets: Default::default(),
    }
}

/// A document; `key` in the kind's order.
pub fn document(kind: &str, key: &[(&str, &str)], spec: Value) -> Document {
    Document {
        id: ObjectId { kind: kind_name(kind), key: key_of(key) },
        origin: Origin { file: "test.yaml".into(), at: Pos { line: 1, column: 1 } },
        spec: Node::from_value(Pos { line: 2, column: 1 }, spec).into(),
        labels: BTreeMap::new(),
        policy: Policy::default(),
        base: Default::default(),
    }
}
