//! A kind to hold requests and answers against: queues below a virtual host. Only for tests.

use std::time::Duration;

use crate::core::fields::FieldRules;
use crate::core::filter::Filter;
use crate::core::identity::KindName;
use crate::core::kind::*;

/// Queues with a natural key, read and written under it.
pub fn kind() -> Kind {
    let name = |kind: &str| KindName { backend: "mq".into(), kind: kind.into() };
    let part = |name: &str, parent, on_item: Option<&str>| Part {
        name: name.into(),
        on_item: on_item.map(filter),
        parent,
        fold: None,
    };
    Kind {
        us: "me".into(),
        name: name("Queue"),
        parts: vec![part("vhost", Parent::Of(name("VHost")), None), part("name", Parent::Own, Some(".name"))],
        id: filter(".id"),
        matching: Vec::new(),
        document: None,
        list: Some(ListOp { op: op("GET /queues/{vhost}"), items: None, partial: false, page: None }),
        read: Read::Op(op("GET /queues/{vhost}/{name}")),
        create: Some(op("PUT /queues/{vhost}/{name}")),
        update: Some(op("PUT /queues/{vhost}/{name}")),
        delete: Some(op("DELETE /queues/{vhost}/{name}")),
        check: None,
        fields: FieldRules::default(),
        owner: None,
        builtin: None,
        unique: Vec::new(),
        blockers: None,
        version: Version::None,
        serial: Serial::No,
        visible: Duration::ZERO,
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

pub fn filter(text: &str) -> Filter {
    Filter::parse(text).expect(text)
}

/// `METHOD /path/{part}?name=value`.
pub fn op(request: &str) -> Op {
    let (method, url) = request.split_once(' ').expect("a method");
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let methods = [Method::Get, Method::Head, Method::Post, Method::Put, Method::Patch, Method::Delete];
    Op {
        method: methods.into_iter().find(|m| m.as_str() == method).expect("a known method"),
        path: template(path),
        query: pairs.map(|(name, value)| (name.into(), template(value))).collect(),
        headers: Vec::new(),
        media: None,
        body: None,
        item: None,
        id: None,
        send: Send::Ours,
        batch: None,
        wait: None,
        forced: None,
        idempotency: None,
    }
}

pub fn template(text: &str) -> Template {
    let pieces = text.split_inclusive('}').flat_map(|piece| {
        let (literal, name) = piece.split_once('{').unwrap_or((piece, ""));
        let placeholder = name.strip_suffix('}').map(|name| match name {
            "id" => Piece::Id,
            "version" => Piece::Version,
            "changed" => Piece::Changed,
            "owner" => Piece::Owner,
            name => name.strip_suffix(".id").map_or(Piece::Part(name.into()), |p| Piece::PartId(p.into())),
        });
        let literal = (!literal.is_empty()).then(|| Piece::Literal(literal.into()));
        literal.into_iter().chain(placeholder)
    });
    Template(pieces.collect())
}
