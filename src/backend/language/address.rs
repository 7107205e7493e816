//! Whether a request for one object says which one. A forgotten `/{id}` is a request to the whole collection,
//! which some servers delete or replace. All of it is known offline.

use super::reader::Reader;
use crate::core::filter::Filter;
use crate::core::kind::{Kind, Method, Op, Parent, Piece, Send};
use crate::core::node::Node;

/// Checks the operations of a kind that name one object among others. A singleton has nothing to tell apart.
pub fn check(reader: &mut Reader, kind: &Kind, node: &Node) {
    if kind.own_parts().next().is_none() {
        return;
    }
    let read = kind.read.op();
    // An object that a POST creates has its address from the server.
    let create = kind.create.as_ref().filter(|op| op.method != Method::Post);
    let says_update = node.get("update").is_some_and(|node| node.as_str() != Some("create"));
    let update = kind.update.as_ref().filter(|_| says_update || create.is_none());
    for (name, op) in
        [("read", read), ("create", create), ("update", update), ("delete", kind.delete.as_ref())]
    {
        if op.is_some_and(|op| !in_address(kind, op) && !in_content(op, name)) {
            let at = node.get(name).map_or(node.at, |node| node.at);
            let own = kind.own_parts().map(|part| format!("`{{{}}}`", part.name));
            let missing = own.collect::<Vec<_>>().join(" or ");
            let or_id = if name == "create" { "" } else { " or `{id}`" };
            let message = format!(
                "`{name}` would go to the same address for every {}: {missing} of its key{or_id} is missing",
                kind.name.kind
            );
            reader.wrong(at, message).hint =
                Some("name it in the path or the query, or in a `body` filter".into());
        }
    }
}

/// Whether the path or the query holds something of the object's own.
fn in_address(kind: &Kind, op: &Op) -> bool {
    let query = op.query.iter().flat_map(|(_, template)| template.pieces());
    op.path.pieces().chain(query).any(|piece| match piece {
        Piece::Id => true,
        Piece::Part(name) | Piece::RawPart(name) => {
            // A part that does not exist was meant to be one of those that do, which is said elsewhere.
            kind.part(name).is_none_or(|part| part.parent == Parent::Own)
        }
        _ => false,
    })
}

/// Whether the body can name the object, or the item is taken out of an answer about many.
fn in_content(op: &Op, name: &str) -> bool {
    let names = |filter: &Filter| ["key", "id", "observed"].into_iter().any(|variable| filter.uses(variable));
    match (name, &op.body) {
        ("read", body) => [body, &op.item].into_iter().flatten().any(names),
        // The key is laid into what such a filter is given; a patch holds only what changes.
        (_, Some(body)) => names(body) || !matches!(op.send, Send::Merge | Send::JsonPatch),
        // An upsert, told apart by the key in what is sent. By another method than POST it stands below a parent:
        // a PUT to a bare collection replaces that.
        (_, None) => {
            let below = op.path.pieces().any(|piece| matches!(piece, Piece::Part(_) | Piece::PartId(_)));
            matches!(op.send, Send::Ours | Send::Full) && (op.method == Method::Post || below)
        }
    }
}
