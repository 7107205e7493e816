//! What only shows when a kind is there as a whole, or all kinds are: placeholders without a source, parents
//! that are no kinds, objects that could not be found again. All of it is known offline.

use super::reader::Reader;
use super::{address, batch, shapes, useless, watch};
use crate::core::filter::Filter;
use crate::core::identity::KindName;
use crate::core::kind::{Forced, Kind, Method, Op, Parent, Part, Piece, Read, Version};
use crate::core::node::{Node, Pos, Want};
use crate::core::suggest;

/// A kind that could be read, with where it stands.
pub struct Found<'n> {
    pub kind: Kind,
    pub node: &'n Node,
    /// Whether nothing was wrong with it.
    pub sound: bool,
}

/// Checks kinds, those that have problems already among them, and takes out all that have one. `known` are the
/// names of all kinds of the backend, also of those that could not be read.
pub fn kinds(reader: &mut Reader, kinds: &mut Vec<Found>, known: &[&str]) {
    let mut sound = Vec::new();
    for Found { kind, node, sound: was } in kinds.iter() {
        let before = reader.problems.len();
        let all: Vec<&Kind> = kinds.iter().map(|found| &found.kind).collect();
        // Without a part of the key every use of it would be wrong once more.
        if has_all_parts(kind, node) {
            Checker { reader, kind, node, all: &all, known }.check();
        }
        sound.push(*was && reader.is_sound_since(before));
    }
    let mut sound = sound.into_iter();
    kinds.retain(|_| sound.next().unwrap_or(false));
}

/// Whether every part that the record names could be read.
fn has_all_parts(kind: &Kind, node: &Node) -> bool {
    let named = ["key", "parent"].into_iter().filter_map(|name| node.get(name));
    let mut names = named.flat_map(|node| match &node.want {
        Want::Map(parts) => parts.keys().map(|name| &**name).collect(),
        _ => Vec::new(),
    });
    names.all(|name| kind.part(name).is_some())
}

struct Checker<'c, 'd> {
    reader: &'c mut Reader<'d>,
    kind: &'c Kind,
    node: &'c Node,
    all: &'c [&'c Kind],
    known: &'c [&'c str],
}

impl Checker<'_, '_> {
    fn check(&mut self) {
        self.placeholders();
        address::check(self.reader, self.kind, self.node);
        useless::check(self.reader, self.kind, self.node);
        shapes::check(self.reader, self.kind, self.node);
        batch::check(self.reader, self.kind, self.node);
        watch::check(self.reader, self.kind, self.node);
        self.parents();
        self.listing();
        self.identity();
        self.documents();
        self.dry_run();
        self.order();
    }

    /// Where the member `name` of the kind stands, or the kind.
    fn at(&self, name: &str) -> Pos {
        self.node.get(name).map_or(self.node.at, |node| node.at)
    }

    /// Whether the record has this member, read or not.
    fn says(&self, name: &str) -> bool {
        self.node.get(name).is_some_and(|node| node.want != Want::Unset)
    }

    fn placeholders(&mut self) {
        let kind = self.kind;
        let writes = [
            ("create", &kind.create),
            ("update", &kind.update),
            ("delete", &kind.delete),
            ("check", &kind.check),
        ];
        let writes = writes.into_iter().filter_map(|(name, op)| Some((name, op.as_ref()?)));
        for (name, op) in kind.asks().chain(writes) {
            // The server's id is known only where an object was observed.
            self.sources(name, op, !matches!(name, "list" | "create"));
        }
    }

    fn sources(&mut self, name: &str, op: &Op, has_id: bool) {
        for piece in op.placeholders().chain(op.forced.iter().flat_map(Forced::placeholders)) {
            match piece {
                Piece::Part(part) | Piece::RawPart(part) => {
                    if self.kind.part(part).is_none() {
                        self.unknown_part(name, part);
                    }
                }
                Piece::PartId(part) => match self.kind.part(part).map(|part| &part.parent) {
                    Some(Parent::Of(_)) => {}
                    Some(_) => {
                        let message =
                            format!("`{{{part}.id}}` in `{name}`: `{part}` is not a parent with a kind");
                        self.reader.wrong(self.at(name), message).hint =
                            Some("only an object has a server id; name its kind in `parent`".into());
                    }
                    None => self.unknown_part(name, part),
                },
                Piece::Id if !has_id => {
                    let message = format!("`{{id}}` in `{name}` has no source: no object is observed there");
                    self.reader.wrong(self.at(name), message);
                }
                Piece::Version if matches!(self.kind.version, Version::None) => {
                    let message = format!("`{{version}}` in `{name}` has no source");
                    self.reader.wrong(self.at(name), message).hint =
                        Some("say with `version` where an object's version stands".into());
                }
                Piece::Version if !has_id && !matches!(self.kind.version, Version::Request(..)) => {
                    let message =
                        format!("`{{version}}` in `{name}` has no source: no object is observed there");
                    self.reader.wrong(self.at(name), message).hint =
                        Some("a version that has a request of its own is known there".into());
                }
                Piece::Position => {
                    let message = format!("`{{position}}` in `{name}` has no source");
                    self.reader.wrong(self.at(name), message).hint =
                        Some("only the feed that `watch` declares goes on from a position".into());
                }
                Piece::Literal(_) | Piece::Id | Piece::Version | Piece::Changed | Piece::Owner => {}
            }
        }
        self.changed(name, op);
    }

    /// `{changed}` is a list for a query or a header, where something is set.
    fn changed(&mut self, name: &str, op: &Op) {
        if op.says_changed() && !matches!(name, "create" | "update" | "check") {
            let message = format!("`changed` in `{name}` has no source: nothing is set there");
            self.reader.wrong(self.at(name), message).hint =
                Some("it names the paths that a create or an update sets".into());
        } else if op.path.pieces().any(|piece| *piece == Piece::Changed) {
            let message =
                format!("`{{changed}}` in the path of `{name}` would give each change its own address");
            self.reader.wrong(self.at(name), message).hint =
                Some("it stands in the query or a header, or as `$changed` in a `body` filter".into());
        }
    }

    fn unknown_part(&mut self, operation: &str, part: &str) {
        let known = self.kind.parts.iter().map(|part| &*part.name);
        let hint = suggest::hint(part, "the parts of the key are", known);
        let message = format!("`{{{part}}}` in `{operation}` has no source: it is no part of the key");
        self.reader.wrong(self.at(operation), message).hint = Some(hint);
    }

    fn parents(&mut self) {
        let node = self.node.get("parent");
        for part in &self.kind.parts {
            let Parent::Of(name) = &part.parent else { continue };
            let at = node.and_then(|node| node.get(&part.name)).map_or(self.node.at, |node| node.at);
            if !self.known.contains(&&*name.kind) {
                let hint = suggest::hint(&name.kind, "the kinds are", self.known.iter().copied());
                let message = format!(
                    "the parent `{}` is of the kind `{}`, which the backend does not have",
                    part.name, name.kind
                );
                self.reader.wrong(at, message).hint = Some(hint);
            } else if let Some(parent) = self.all.iter().find(|kind| kind.name == *name) {
                self.parent(part, parent, at);
            }
        }
    }

    /// The parent's key is found among the parts here: its last own part is `part`, the others have its names.
    fn parent(&mut self, part: &Part, parent: &Kind, at: Pos) {
        let name = &parent.name.kind;
        let Some(last) = parent.own_parts().last() else {
            self.reader.wrong(
                at,
                format!("the parent `{}` is of the kind `{name}`, which has no name of its own", part.name),
            );
            return;
        };
        let others = parent.parts.iter().filter(|other| other.name != last.name);
        for other in others.filter(|other| self.kind.part(&other.name).is_none()) {
            let message = format!(
                "the parent `{}` is of the kind `{name}`, whose key has `{}` too",
                part.name, other.name
            );
            self.reader.wrong(at, message).hint =
                Some(format!("give `{}` as a parent here as well", other.name));
        }
        if self.leads_back(&parent.name, self.all.len()) {
            self.reader.wrong(at, format!("the kind `{}` is its own ancestor", self.kind.name.kind));
        }
    }

    /// Whether the kind checked is reached from `from` by parents, within so many steps.
    fn leads_back(&self, from: &KindName, steps: usize) -> bool {
        let Some(steps) = steps.checked_sub(1) else { return false };
        if *from == self.kind.name {
            return true;
        }
        let kind = self.all.iter().find(|kind| kind.name == *from);
        kind.is_some_and(|kind| {
            kind.parts.iter().any(|part| matches!(&part.parent, Parent::Of(of) if self.leads_back(of, steps)))
        })
    }

    fn listing(&mut self) {
        let kind = self.kind;
        let from_list = matches!(kind.read, Read::FromList);
        let Some(list) = &kind.list else {
            if from_list && !self.says("list") {
                self.reader.wrong(self.at("read"), "`read: list` without a `list`");
            }
            return;
        };
        if kind.parts.is_empty() {
            let message = format!(
                "an object of the kind `{}` could not be found again: it has a `list` and no `key` to tell its items apart",
                kind.name.kind
            );
            self.reader.wrong(self.at("list"), message).hint = Some(
                "say in `key` where an item has its name; a kind of one object has `read` and no `list`"
                    .into(),
            );
        }
        if list.partial && from_list {
            let message = "the items of a partial listing need a `read` of their own";
            self.reader.wrong(self.at("list"), message);
        }
        for part in kind.parts.iter().filter(|part| part.parent != Parent::Own && part.on_item.is_none()) {
            let by_child =
                |other: &Part| list.op.says_id_of(&other.name) && self.implies(&other.name, &part.name);
            if !list.op.says_part(&part.name) && !kind.parts.iter().any(by_child) {
                let message = format!("the items of `list` do not say their `{}`", part.name);
                self.reader.wrong(self.at("list"), message).hint = Some(format!(
                    "name {{{0}}} in its request, or say in `key` where an item has its `{0}`",
                    part.name
                ));
            }
        }
    }

    /// Whether the server's id of a parent says which one is meant of another part: that parent's own parents
    /// have the same names here.
    fn implies(&self, parent: &str, part: &str) -> bool {
        let Some(Parent::Of(of)) = self.kind.part(parent).map(|part| &part.parent) else { return false };
        self.all.iter().any(|kind| kind.name == *of && kind.part(part).is_some())
    }

    fn identity(&mut self) {
        let kind = self.kind;
        // A read by the key finds the id on the item.
        let by_id = matches!(&kind.read, Read::Op(read) if read.needs_id());
        if !self.says("list") && by_id {
            let message = format!(
                "an object of the kind `{}` could not be found again: its id is the server's, and there is no `list` to find it in",
                kind.name.kind
            );
            self.reader.wrong(self.node.at, message).hint = Some(
                "declare a `list`; or a `create` and a `read` by a name of yours, as `PUT /things/{name}`. Without \
                 either every run would create it once more"
                    .into(),
            );
        }
        for (name, _) in kind.matching.iter().filter(|(name, _)| kind.part(name).is_none()) {
            let message = format!("`match` names `{name}`, which is no part of the key");
            self.reader.wrong(self.at("match"), message);
        }
        let Some(create) = kind.create.as_ref().filter(|create| create.body.is_none()) else { return };
        for part in kind.own_parts() {
            let named = create
                .placeholders()
                .any(|piece| matches!(piece, Piece::Part(name) | Piece::RawPart(name) if *name == part.name));
            let laid =
                part.on_item.as_ref().is_some_and(|filter| filter.plain().is_some_and(|p| !p.is_empty()));
            if !named && !laid {
                let message = format!("`create` does not say the `{}` of the new object", part.name);
                self.reader.wrong(self.at("create"), message).hint = Some(
                    "name it in the request, give a `body` filter, or make its place in `key` a plain path"
                        .into(),
                );
            }
        }
    }

    /// What comes before all objects of the kind is of a kind that there is, and that has as many parts.
    fn order(&mut self) {
        let Some((name, parts)) = &self.kind.depends_on else { return };
        let at = self.at("depends-on");
        if !self.known.contains(&&*name.kind) {
            let hint = suggest::hint(&name.kind, "the kinds are", self.known.iter().copied());
            let message =
                format!("`depends-on` names the kind `{}`, which the backend does not have", name.kind);
            self.reader.wrong(at, message).hint = Some(hint);
        } else if let Some(kind) = self.all.iter().find(|kind| kind.name == *name)
            && kind.parts.len() != parts.len()
        {
            let names: Vec<String> = kind.parts.iter().map(|part| format!("/{}", part.name)).collect();
            let message = format!("`depends-on` names a `{}` by {} parts", name.kind, parts.len());
            self.reader.wrong(at, message).hint = Some(format!("write `{}{}`", name.kind, names.concat()));
        }
    }

    /// A `check` is sent by commands that never write.
    fn dry_run(&mut self) {
        let Some(check) = &self.kind.check else { return };
        let writes = [("create", &self.kind.create), ("update", &self.kind.update)];
        let same = |(name, op): (&'static str, &Option<Op>)| {
            op.as_ref().is_some_and(|op| same_request(check, op)).then_some(name)
        };
        let message = match writes.into_iter().find_map(same) {
            _ if check.method == Method::Delete => {
                "`check` is a DELETE: no dry run of a create or an update".to_owned()
            }
            Some(name) => format!("`check` is the request of `{name}`: it would write"),
            None => return,
        };
        self.reader.wrong(self.at("check"), message).hint =
            Some("add what makes it a dry run, as in `PUT /things/{name}?dryRun=true`".into());
    }

    fn documents(&mut self) {
        let Some(document) = &self.kind.document else { return };
        let other = self
            .all
            .iter()
            .find(|kind| kind.name.kind < self.kind.name.kind && kind.document.as_ref() == Some(document));
        if let Some(other) = other {
            let message = format!(
                "documents of `{}` `{}` are taken by the kind `{}` already",
                document.api_version, document.kind, other.name.kind
            );
            self.reader.wrong(self.at("document"), message);
        }
    }
}

/// Whether a server could not tell two operations apart.
fn same_request(one: &Op, other: &Op) -> bool {
    let body = |op: &Op| op.body.as_ref().map(Filter::text).map(str::to_owned);
    one.method == other.method
        && one.path == other.path
        && one.query == other.query
        && one.headers == other.headers
        && body(one) == body(other)
}
