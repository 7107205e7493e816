//! Whether an operation for many objects can be one: its request names none of them, and its body says what each
//! would have said for itself. All of it is known offline.

use super::reader::Reader;
use crate::core::kind::{Kind, Method, Op, Parent, Piece, Send, Version};
use crate::core::node::{Node, Pos};

/// The variables that are about one object.
const OF_ONE: [&str; 4] = ["key", "id", "observed", "version"];

/// Checks the operations of a kind that have a `batch`.
pub fn check(reader: &mut Reader, kind: &Kind, node: &Node) {
    let at = |name: &str| node.get(name).map_or(node.at, |node| node.at);
    if kind.check.as_ref().is_some_and(|op| op.batch.is_some()) {
        reader.wrong(at("check"), "`check` asks about one object at a time: it has no `batch`");
    }
    // An update that is the create over again was judged with it.
    let says_update = node.get("update").is_some_and(|node| node.as_str() != Some("create"));
    let update = kind.update.as_ref().filter(|_| says_update);
    for (name, op) in [("create", kind.create.as_ref()), ("update", update), ("delete", kind.delete.as_ref())]
    {
        if let Some(op) = op.filter(|op| op.batch.is_some()) {
            request(reader, kind, op, name, at(name));
            mask(reader, op, name, at(name));
            content(reader, op, name, at(name));
            if op.idempotency.is_some() {
                reader.wrong(
                    at(name),
                    format!("`idempotency` of `{name}` names one create, and a `batch` is of many"),
                );
            }
        }
    }
    precondition(reader, kind, &at);
}

/// The request is one for all: nothing in it can differ from one object to the next.
fn request(reader: &mut Reader, kind: &Kind, op: &Op, name: &str, at: Pos) {
    let of_one = op.placeholders().find_map(|piece| match piece {
        Piece::Id => Some("id"),
        Piece::Version => Some("version"),
        Piece::Part(part) | Piece::RawPart(part) => {
            kind.part(part).filter(|part| part.parent == Parent::Own).map(|part| &*part.name)
        }
        _ => None,
    });
    if let Some(of_one) = of_one {
        let message = format!("`{{{of_one}}}` in `{name}` names one object, and a `batch` is of many");
        reader.wrong(at, message).hint = Some("say which objects are meant in the `body`".into());
    }
}

/// A mask is of one object: each changes other paths.
fn mask(reader: &mut Reader, op: &Op, name: &str, at: Pos) {
    if op.says_changed() && name != "delete" {
        let message = format!("`changed` in `{name}` is what one object changes, and a `batch` is of many");
        reader.wrong(at, message).hint =
            Some("leave `batch` out: each object then says its own paths".into());
    }
}

fn content(reader: &mut Reader, op: &Op, name: &str, at: Pos) {
    let body = op.body.as_ref();
    if let Some(variable) = OF_ONE.into_iter().find(|one| body.is_some_and(|body| body.uses(one))) {
        let message = format!("`${variable}` in the `body` of `{name}` is about one object");
        reader.wrong(at, message).hint = Some(
            "the input of a batch's filter is the list of what each object sends, its key with it".into(),
        );
    }
    for (word, filter) in [("id", &op.id), ("item", &op.item)] {
        if filter.is_some() {
            let message =
                format!("`{word}` of `{name}` reads one object, and the answer to a `batch` is of many");
            reader.wrong(at, message).hint = Some("leave it out: the objects are read back".into());
        }
    }
    if op.send == Send::JsonPatch {
        let message =
            format!("`send: json-patch` in `{name}` does not say which object of a `batch` it changes");
        reader.wrong(at, message).hint = Some("say `send: merge` or `send: full`".into());
    }
    if name == "delete" && body.is_none() {
        reader.wrong(at, "a `batch` of deletions needs a `body`").hint =
            Some("its input is the list of the objects: `body: 'map(.name)'`".into());
    }
}

/// `If-Match` holds one version, and each object has its own.
fn precondition(reader: &mut Reader, kind: &Kind, at: &dyn Fn(&str) -> Pos) {
    if matches!(kind.version, Version::None) {
        return;
    }
    let create = kind.create.as_ref().filter(|op| op.method == Method::Put);
    let all = [create, kind.update.as_ref(), kind.delete.as_ref()];
    if all.into_iter().flatten().any(|op| op.batch.is_some()) {
        let message = "`version` guards one object at a time, and a `batch` is of many";
        reader.wrong(at("version"), message).hint = Some(
            "leave `batch` out; or leave `version` out, and let each object carry its own: `fields: {PATH: copy}`"
                .into(),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{kind, problems};

    fn with(members: &str) -> String {
        format!("{{key: {{name: .name}}, list: GET /t, {members}}}")
    }

    #[test]
    fn a_batch_names_no_single_object() {
        let sound = "create: {request: \"PATCH /t\", send: full, batch: 500, body: '{all: .}'}, update: create, \
                     delete: {request: DELETE /t, batch: 500, body: 'map(.name)'}";
        let kind = kind(&with(sound));
        assert_eq!(kind.update.as_ref().and_then(|op| op.batch), Some(500), "the update is the create");
        for (members, message) in [
            ("create: {request: POST /t, batch: 1}", "`batch` is a whole number from 2 up, not 1"),
            ("create: {request: POST /t, batch: many}", "`batch` is a whole number from 2 up, not a string"),
            ("create: {request: POST /t, batch: 10001}", "`batch` is 10000 at most, not 10001"),
            (
                "read: {request: \"GET /t/{name}\", batch: 2}",
                "`batch` is a word of `create`, `update` and `delete`",
            ),
            (
                "create: {request: \"PUT /t/{name}\", batch: 2}",
                "`{name}` in `create` names one object, and a `batch` is of many",
            ),
            (
                "delete: {request: \"DELETE /t?id={id}\", batch: 2, body: .}",
                "`{id}` in `delete` names one object, and a `batch` is of many",
            ),
            (
                "create: {request: POST /t, batch: 2, body: '{n: $key.name}'}",
                "`$key` in the `body` of `create` is about one object",
            ),
            (
                "create: {request: POST /t, batch: 2, id: .body.id}",
                "`id` of `create` reads one object, and the answer to a `batch` is of many",
            ),
            (
                "update: {request: POST /t, batch: 2, send: json-patch, body: .}",
                "`send: json-patch` in `update` does not say which object of a `batch` it changes",
            ),
            (
                "update: {request: POST /t, batch: 2, query: {mask: '{changed}'}}",
                "`changed` in `update` is what one object changes, and a `batch` is of many",
            ),
            (
                "create: {request: POST /t, batch: 2, body: '{all: ., mask: $changed}'}",
                "`changed` in `create` is what one object changes, and a `batch` is of many",
            ),
            ("delete: {request: POST /t/gone, batch: 2}", "a `batch` of deletions needs a `body`"),
            (
                "version: .v, delete: {request: POST /t/gone, batch: 2, body: .}",
                "`version` guards one object at a time, and a `batch` is of many",
            ),
            (
                "check: {request: POST /t/dry, batch: 2}",
                "`check` asks about one object at a time: it has no `batch`",
            ),
        ] {
            let found = problems(&format!("{{Thing: {}}}", with(members)));
            assert!(found.iter().any(|problem| problem.message == message), "{members}: {found:?}");
        }
    }
}
