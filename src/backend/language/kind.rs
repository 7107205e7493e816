//! One kind: its identity, its operations, its fields, and how its answers are to be understood.

use std::sync::Arc;
use std::time::Duration;

use super::operation::{self, Role, default_send};
use super::reader::{Reader, Record};
use super::watch::Declared;
use super::{listing, watch, words};
use crate::backend::path::unescape;
use crate::core::document::Drift;
use crate::core::fields::{FieldRules, VISIBLE};
use crate::core::filter::Filter;
use crate::core::identity::KindName;
use crate::core::kind::{DocumentType, Kind, ListOp, Method, Op, Parent, Part, Read, Serial, Version};
use crate::core::lease::LeaseFields;
use crate::core::mark;
use crate::core::node::{Node, Want};
use crate::core::path::{Path, Step};

/// What a document's `metadata` has besides the identity.
const BESIDE: [&str; 2] = ["labels", "annotations"];

/// The members of a kind's record.
pub const MEMBERS: [&str; 32] = [
    "key",
    "parent",
    "id",
    "match",
    "document",
    "list",
    "read",
    "create",
    "update",
    "delete",
    "check",
    "fields",
    "unique",
    "owner",
    "builtin",
    "managers",
    "version",
    "serial",
    "depends-on",
    "visible",
    "absent",
    "deleting",
    "blockers",
    "failed",
    "ready",
    "exists",
    "conflict",
    "watch",
    "drift",
    "lease",
    "like",
    "at",
];

/// Reads a kind; `None` when it cannot be made sense of. Its problems are noted either way.
pub fn read(reader: &mut Reader, backend: &Arc<str>, name: &str, node: &Node) -> Option<Kind> {
    if name.is_empty() || name.contains(|c: char| c == '/' || c.is_whitespace() || c.is_control()) {
        reader.wrong(node.at, format!("`{}` cannot be the name of a kind", name.escape_debug())).hint = Some(
            "objects are named `KIND/NAME`: no `/` and no space stands in it, and something does".into(),
        );
    }
    let record = reader.map(node, &format!("the kind `{name}`"), &MEMBERS)?;
    let kind = KindName { backend: backend.clone(), kind: name.into() };
    let parts = parts(reader, record, &kind);
    let operations = operations(reader, record, &parts)?;
    let version = record.get("version").map_or(Some(Version::None), |node| version(reader, node, &parts))?;
    let visible = visible(reader, record, &operations)?;
    let filter = |reader: &mut Reader, name: &str| {
        record.get(name).and_then(|node| reader.filter(node, &format!("`{name}`")))
    };
    let (feed, hook) =
        match record.get("watch").and_then(|node| watch::read(reader, node, &part_names(&parts))) {
            Some(Declared::Feed(feed)) => (Some(*feed), None),
            Some(Declared::Hook(filter)) => (None, Some(filter)),
            None => (None, None),
        };
    Some(Kind {
        us: Arc::default(),
        id: match record.get("id") {
            Some(node) => reader.filter(node, "`id`")?,
            None => Filter::parse(".id").expect("a plain path is a filter"),
        },
        matching: record.get("match").map_or_else(Vec::new, |node| filters(reader, node, "`match`")),
        document: record.get("document").and_then(|node| document(reader, node)),
        list: operations.list,
        read: operations.read,
        create: operations.create,
        update: operations.update,
        delete: operations.delete,
        check: operations.check,
        fields: record.get("fields").map_or_else(FieldRules::default, |node| words::read(reader, node)),
        unique: record.get("unique").map_or_else(Vec::new, |node| unique(reader, node)),
        owner: record.get("owner").and_then(|node| owner(reader, node)),
        serial: match record.get("serial") {
            Some(node) => serial(reader, node, &parts)?,
            None => serial_of(&version, &parts),
        },
        version,
        visible,
        absent: filter(reader, "absent"),
        deleting: filter(reader, "deleting"),
        blockers: filter(reader, "blockers"),
        failed: filter(reader, "failed"),
        ready: filter(reader, "ready"),
        exists: filter(reader, "exists"),
        depends_on: record.get("depends-on").and_then(|node| depends_on(reader, node, &kind.backend)),
        builtin: filter(reader, "builtin"),
        managers: filter(reader, "managers"),
        conflict: filter(reader, "conflict"),
        lease: record.get("lease").and_then(|node| lease(reader, node)),
        drift: record.get("drift").and_then(|node| drift(reader, node)).unwrap_or_default(),
        watch: feed,
        hook,
        name: kind,
        parts,
    })
}

/// `drift: report`: objects of the kind are only looked at, unless their documents say otherwise.
fn drift(reader: &mut Reader, node: &Node) -> Option<Drift> {
    match node.as_str() {
        Some("heal") => Some(Drift::Heal),
        Some("report") => Some(Drift::Report),
        _ => {
            reader.wrong(node.at, "`drift` is `heal` or `report`".to_owned());
            None
        }
    }
}

/// The parts of the identity: the parents' in the order of `parent`, then the object's own in the order of
/// `key`. A part that stands in both is a parent's, and is read from the item.
fn parts(reader: &mut Reader, record: Record, kind: &KindName) -> Vec<Part> {
    let own = record.get("key").map_or_else(Vec::new, |node| filters(reader, node, "`key`"));
    let mut parts = Vec::new();
    if let Some(node) = record.get("parent") {
        for (name, node) in reader.members(node, "`parent`") {
            let Some(of) = reader.text(node, &format!("the kind of the parent `{name}`")) else { continue };
            let parent = match of {
                "none" => Parent::Scope,
                of => Parent::Of(KindName { backend: kind.backend.clone(), kind: of.into() }),
            };
            let on_item = own.iter().find(|(own, _)| **own == *name).map(|(_, filter)| filter.clone());
            parts.push(Part { name: name.into(), on_item, parent, fold: None });
        }
    }
    for (name, filter) in own {
        if !parts.iter().any(|part| part.name == name) {
            parts.push(Part { name, on_item: Some(filter), parent: Parent::Own, fold: None });
        }
    }
    names(reader, record, &parts);
    parts
}

/// What stands beside the identity in a document's `metadata` cannot be a part of it.
fn names(reader: &mut Reader, record: Record, parts: &[Part]) {
    for member in ["parent", "key"] {
        let Some(node) = record.get(member) else { continue };
        let taken = |part: &&Part| BESIDE.contains(&&*part.name) || part.name.is_empty();
        for part in parts.iter().filter(taken) {
            let Some(node) = node.get(&part.name) else { continue };
            let message = format!("`{}` cannot be a part of the identity", part.name);
            reader.wrong(node.at, message).hint = Some(
                "`labels` and `annotations` have a meaning of their own in `metadata`; call it otherwise"
                    .into(),
            );
        }
    }
}

fn filters(reader: &mut Reader, node: &Node, what: &str) -> Vec<(Arc<str>, Filter)> {
    let members = reader.members(node, what);
    let filter = |(name, node): (&str, &Node)| {
        reader.filter(node, &format!("{what} `{name}`")).map(|filter| (name.into(), filter))
    };
    members.into_iter().filter_map(filter).collect()
}

fn part_names(parts: &[Part]) -> Vec<&str> {
    parts.iter().map(|part| &*part.name).collect()
}

/// An operation's member, unless the API has none.
fn stated<'n>(record: Record<'n>, name: &str) -> Option<&'n Node> {
    record.get(name).filter(|node| node.as_str() != Some("none"))
}

/// What a kind can do.
struct Operations {
    list: Option<ListOp>,
    read: Read,
    create: Option<Op>,
    update: Option<Op>,
    delete: Option<Op>,
    check: Option<Op>,
}

fn operations(reader: &mut Reader, record: Record, parts: &[Part]) -> Option<Operations> {
    let parts: Vec<&str> = parts.iter().map(|part| &*part.name).collect();
    let before = reader.problems.len();
    let stated = |name: &str| stated(record, name);
    let op = |reader: &mut Reader, name: &str, role| {
        operation::read(reader, stated(name)?, &format!("`{name}`"), role, &parts)
    };
    let list = stated("list").and_then(|node| listing::read(reader, node, &parts));
    let read = match stated("read") {
        Some(node) if node.as_str() == Some("list") => Some(Read::FromList),
        Some(node) => operation::read(reader, node, "`read`", Role::Observe, &parts).map(Read::Op),
        None => stated("list").map(|_| Read::FromList),
    };
    let create = op(reader, "create", Role::Create);
    let update = match record.get("update").map(|node| node.as_str()) {
        Some(Some("create")) => create.as_ref().map(|create| as_update(record, create)),
        Some(_) => op(reader, "update", Role::Update),
        None => create.as_ref().filter(|create| create.method == Method::Put).map(|c| as_update(record, c)),
    };
    if let Some(node) = record.get("update").filter(|node| node.as_str() == Some("create"))
        && record.get("create").is_none_or(|create| create.as_str() == Some("none"))
    {
        reader.wrong(node.at, "`update: create` has no `create` to be as");
    }
    let delete = op(reader, "delete", Role::Delete);
    let check = op(reader, "check", Role::Update);
    if read.is_none() && reader.problems.len() == before {
        reader.wrong(record.at(), "a kind has neither `read` nor `list`").hint =
            Some("what cannot be observed cannot be made to match".into());
    }
    Some(Operations { list, read: read?, create, update, delete, check })
}

/// The create as an update: what it sends is decided anew, unless `send` is stated.
fn as_update(record: Record, create: &Op) -> Op {
    let stated = record.get("create").is_some_and(|node| node.get("send").is_some());
    let send = if stated { create.send } else { default_send(create.method, Role::Update) };
    Op { send, id: None, idempotency: None, ..create.clone() }
}

fn version(reader: &mut Reader, node: &Node, parts: &[Part]) -> Option<Version> {
    match &node.want {
        Want::Map(_) if node.get("request").is_some() => {
            let parts: Vec<&str> = parts.iter().map(|part| &*part.name).collect();
            let op = operation::read(reader, node, "`version`", Role::Observe, &parts)?;
            let filter =
                op.item.clone().unwrap_or_else(|| Filter::parse(".").expect("a plain path is a filter"));
            Some(Version::Request(Box::new(Op { item: None, ..op }), filter))
        }
        _ if node.as_str() == Some("etag") => Some(Version::ETag),
        _ => reader.filter(node, "`version`").map(Version::OnItem),
    }
}

/// Where ids are the server's, an object that was just created may be missing for a while.
fn visible(reader: &mut Reader, record: Record, operations: &Operations) -> Option<Duration> {
    if let Some(node) = record.get("visible") {
        return reader.duration(node, "`visible`");
    }
    let mut named =
        [operations.read.op(), operations.update.as_ref(), operations.delete.as_ref()].into_iter().flatten();
    Some(if named.any(Op::needs_id) { VISIBLE } else { Duration::ZERO })
}

fn document(reader: &mut Reader, node: &Node) -> Option<DocumentType> {
    let record = reader.map(node, "`document`", &["apiVersion", "kind"])?;
    let text = |reader: &mut Reader, name: &str| match record.get(name) {
        Some(node) => reader.text(node, &format!("`{name}`")).map(str::to_owned),
        None => {
            reader.wrong(record.at(), format!("`document` has no `{name}`"));
            None
        }
    };
    let (api_version, kind) = (text(reader, "apiVersion"), text(reader, "kind"));
    Some(DocumentType { api_version: api_version?, kind: kind? })
}

fn serial(reader: &mut Reader, node: &Node, parts: &[Part]) -> Option<Serial> {
    let name = reader.text(node, "`serial`")?;
    if let Some(part) = parts.iter().find(|part| *part.name == *name) {
        return Some(Serial::Part(part.name.clone()));
    }
    if name == "backend" {
        return Some(Serial::Backend);
    }
    reader.wrong(node.at, format!("`serial` names `{name}`, which is no part of the key")).hint =
        Some("it is a part of the key, or `backend`".into());
    None
}

/// Writes at one version of a whole set can only go one at a time: within what the version's request names.
fn serial_of(version: &Version, parts: &[Part]) -> Serial {
    let Version::Request(op, _) = version else { return Serial::No };
    let named: Vec<&Part> = parts.iter().filter(|part| op.says_part(&part.name)).collect();
    match named.last() {
        None if op.needs_id() => Serial::No,
        None => Serial::Backend,
        Some(part) if named.iter().all(|part| part.parent != Parent::Own) => Serial::Part(part.name.clone()),
        Some(_) => Serial::No,
    }
}

/// `Kind/part/part`, as the annotation `trueup/depends-on` names an object.
fn depends_on(reader: &mut Reader, node: &Node, backend: &Arc<str>) -> Option<(KindName, Vec<String>)> {
    let text = reader.text(node, "`depends-on`")?;
    let mut words = text.split('/');
    let kind = words.next().unwrap_or_default();
    let parts: Vec<String> = words.map(unescape).collect();
    if kind.is_empty() || parts.iter().any(String::is_empty) {
        reader
            .wrong(node.at, format!("`depends-on` names an object, and `{}` is none", text.escape_debug()))
            .hint = Some("write `Kind/name`, its parts percent-encoded".into());
        return None;
    }
    Some((KindName { backend: backend.clone(), kind: kind.into() }, parts))
}

/// Which fields of an object make a lease of it.
fn lease(reader: &mut Reader, node: &Node) -> Option<LeaseFields> {
    let names = ["holder", "renewed", "acquired", "duration", "transitions"];
    let record = reader.map(node, "`lease`", &names)?;
    let path = |reader: &mut Reader, name: &str| {
        let node = record.get(name)?;
        let text = reader.text(node, &format!("`{name}` of `lease`"))?;
        match Path::parse(text) {
            Ok(path) if !path.is_root() && path.0.iter().all(|step| matches!(step, Step::Field(_))) => {
                Some(path)
            }
            Ok(_) => {
                reader.wrong(
                    node.at,
                    format!("`{name}` of `lease` is the path of a field, with no list on it"),
                );
                None
            }
            Err(error) => {
                reader.wrong(node.at, error.to_string());
                None
            }
        }
    };
    for name in ["holder", "renewed"].into_iter().filter(|name| record.get(name).is_none()) {
        reader.wrong(node.at, format!("`lease` has no `{name}`")).hint =
            Some("as in `lease: {holder: spec.holder, renewed: spec.renewed}`".into());
    }
    let fields = LeaseFields {
        holder: path(reader, "holder")?,
        renewed: path(reader, "renewed")?,
        acquired: path(reader, "acquired"),
        duration: path(reader, "duration"),
        transitions: path(reader, "transitions"),
    };
    let paths: Vec<&Path> = fields.paths().collect();
    let clash = |at: usize| paths[..at].iter().any(|one| one.covers(paths[at]) || paths[at].covers(one));
    if (1..paths.len()).any(clash) {
        reader.wrong(node.at, "two fields of `lease` stand at one place");
        return None;
    }
    Some(fields)
}

/// Where an owner mark stands: at fields, or in one list.
/// The paths of the fields of which no two objects have the same value.
fn unique(reader: &mut Reader, node: &Node) -> Vec<Path> {
    let Want::List(items) = &node.want else {
        reader.wrong(node.at, "`unique` is a list of field paths").hint = Some(UNIQUE.into());
        return Vec::new();
    };
    let mut paths: Vec<Path> = Vec::new();
    for item in items {
        let Some(text) = reader.text(item, "a path of `unique`") else { continue };
        match Path::parse(text) {
            Ok(path) if path.is_root() || !path.0.iter().all(|step| matches!(step, Step::Field(_))) => {
                reader.wrong(item.at, format!("`{}` is no path of one field", text.escape_debug())).hint =
                    Some(UNIQUE.into());
            }
            Ok(path) if paths.contains(&path) => {
                reader.wrong(item.at, format!("`unique` has `{path}` twice"));
            }
            Ok(path) => paths.push(path),
            Err(error) => {
                reader.wrong(item.at, error.to_string());
            }
        }
    }
    paths
}

const UNIQUE: &str = "write `unique: [custom_id, spec.path]`: members of maps, and nothing inside lists";

fn owner(reader: &mut Reader, node: &Node) -> Option<Path> {
    let text = reader.text(node, "`owner`")?;
    // `tags[]`: the mark is one element of the list.
    let text = text.strip_suffix("[]").map_or_else(|| text.to_owned(), |list| format!("{list}[*]"));
    match Path::parse(&text) {
        Ok(path) if mark::place(&path).is_some() => Some(path),
        Ok(_) => {
            reader.wrong(node.at, "`owner` is the path of a field").hint =
                Some("write `meta.owner`, or `tags[]` for one element of a list".into());
            None
        }
        Err(e) => {
            reader.wrong(node.at, e.to_string());
            None
        }
    }
}
