//! A kind as data: how an API lists, reads, creates, updates and deletes objects of one sort.
//!
//! This is the compiled form of the backend language. Nothing in the code knows any particular API.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::document::Drift;
use super::feed::Watch;
use super::fields::{Comparer, FieldRules, VISIBLE};
use super::filter::{Filter, Vars};
use super::idempotency::Idempotency;
use super::identity::KindName;
use super::lease::LeaseFields;
use super::path::Path;
use super::report::{Action, Explanation};
pub use super::template::{Piece, Template};
use super::value::{Value, plain_text};

/// A kind of one backend.
#[derive(Clone, Debug)]
pub struct Kind {
    pub name: KindName,
    /// Who we are to the backend: the name of our field manager, where it tracks such.
    pub us: Arc<str>,
    /// The identity's parts in order: the parents' first, then the object's own. Empty for a singleton.
    pub parts: Vec<Part>,
    /// The server's own id, on the item. Default `.id`.
    pub id: Filter,
    /// How an object with a server id is found in a listing; empty means by its key.
    pub matching: Vec<(Arc<str>, Filter)>,
    /// Documents of this type are taken verbatim.
    pub document: Option<DocumentType>,
    pub list: Option<ListOp>,
    pub read: Read,
    pub create: Option<Op>,
    pub update: Option<Op>,
    pub delete: Option<Op>,
    /// A server-side dry run.
    pub check: Option<Op>,
    pub fields: FieldRules,
    /// Fields of which no two objects below the same parents have the same value.
    pub unique: Vec<Path>,
    /// Where an owner mark can stand.
    pub owner: Option<Path>,
    /// On the item: whether the server made the object for itself, so that nobody has it too much.
    pub builtin: Option<Filter>,
    pub version: Version,
    /// One write at a time within this scope.
    pub serial: Serial,
    /// For so long after a create, a 404 is not absence.
    pub visible: Duration,
    /// What an answer looks like in these states here; on `{status, headers, body}`.
    pub absent: Option<Filter>,
    pub deleting: Option<Filter>,
    /// On the item: the names of what keeps a deletion from being finished.
    pub blockers: Option<Filter>,
    pub failed: Option<Filter>,
    pub ready: Option<Filter>,
    pub exists: Option<Filter>,
    /// An object that comes before all of the kind, where it stands in a document: its kind, and the parts of its
    /// key as texts.
    pub depends_on: Option<(KindName, Vec<String>)>,
    /// From the item to `[{name, paths}]`, where the server tracks who set which field.
    pub managers: Option<Filter>,
    /// From a refusal to `{path, by}` for each field that another manager holds.
    pub conflict: Option<Filter>,
    /// Where the API says what has changed.
    pub watch: Option<Watch>,
    /// From the body of a webhook to the key of the object that it is about, or to a list of these: `watch` by
    /// webhook. It is not followed; whoever may send it sends it.
    pub hook: Option<Filter>,
    /// What is done about drift where a document does not say.
    pub drift: Drift,
    /// Where its objects say who holds them, if they can be leases.
    pub lease: Option<LeaseFields>,
}

/// One part of a kind's identity.
#[derive(Clone, Debug)]
pub struct Part {
    pub name: Arc<str>,
    /// Where the part stands on an item. `None` for a parent's part that the item does not carry.
    pub on_item: Option<Filter>,
    pub parent: Parent,
    /// How the parent that the part stands for compares its name, where no field of the kind's own says.
    pub fold: Option<Comparer>,
}

/// What a part says of parents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parent {
    /// The part is the object's own.
    Own,
    /// The part joins the identity, and stands for no object: `parent: {org: none}`.
    Scope,
    /// The part is the key of an object of this kind (its last part; the others have the same names here).
    Of(KindName),
}

/// A document type that is taken verbatim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentType {
    pub api_version: String,
    pub kind: String,
}

/// How one object is read.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a kind has one, and kinds are few")]
pub enum Read {
    Op(Op),
    /// Taken from the listing; there is no request of its own.
    FromList,
}

impl Read {
    /// The request of its own.
    pub fn op(&self) -> Option<&Op> {
        match self {
            Read::Op(op) => Some(op),
            Read::FromList => None,
        }
    }
}

/// An operation: a request as a template, and filters between the API's shapes and ours.
#[derive(Clone, Debug)]
pub struct Op {
    pub method: Method,
    /// Below the backend's URL; starts with `/`.
    pub path: Template,
    pub query: Vec<(String, Template)>,
    pub headers: Vec<(String, Template)>,
    /// The media type of the request's body. `None`: by `send` and method.
    pub media: Option<String>,
    /// From what is sent to the request's body.
    pub body: Option<Filter>,
    /// From the answer's body to the item.
    pub item: Option<Filter>,
    /// From the answer `{status, headers, body}` to the new id.
    pub id: Option<Filter>,
    pub send: Send,
    /// So many objects of the same parents, at most, go in one request; what is sent is the list of them, even
    /// of one. `None`: each has a request of its own.
    pub batch: Option<usize>,
    pub wait: Option<Wait>,
    /// Used when every conflicting path is one that may be forced.
    pub forced: Option<Forced>,
    /// Where a create carries the key by which the server knows one that it has seen.
    pub idempotency: Option<Idempotency>,
}

/// What differs when conflicts are forced.
#[derive(Clone, Debug)]
pub struct Forced {
    pub query: Vec<(String, Template)>,
    pub headers: Vec<(String, Template)>,
}

/// An HTTP method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        }
    }
}

/// What an operation sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Send {
    /// The desired document alone.
    Ours,
    /// A merge patch (RFC 7396) of the differing paths.
    Merge,
    /// A JSON Patch (RFC 6902) of the differing paths, with `test` operations.
    JsonPatch,
    /// The observed object overlaid with ours, server-owned fields stripped.
    Full,
    None,
}

impl Forced {
    /// The placeholders of the query and the headers.
    pub fn placeholders(&self) -> impl Iterator<Item = &Piece> {
        self.query.iter().chain(&self.headers).flat_map(|(_, template)| template.pieces())
    }
}

impl Op {
    /// The placeholders of the path, the query and the headers.
    pub fn placeholders(&self) -> impl Iterator<Item = &Piece> {
        let rest = self.query.iter().chain(&self.headers).flat_map(|(_, template)| template.pieces());
        self.path.pieces().chain(rest)
    }

    /// Whether the request names this part of the key outside of its body.
    pub fn carries(&self, part: &str) -> bool {
        self.placeholders().any(|piece| match piece {
            Piece::Part(name) | Piece::RawPart(name) | Piece::PartId(name) => **name == *part,
            _ => false,
        })
    }

    /// Whether the request says this part of the key, outside of its body or in it: by `$key` or `$parent`.
    pub fn says_part(&self, part: &str) -> bool {
        let in_body = |body: &Filter| body.names("key", part) || body.names("parent", part);
        self.carries(part) || self.body.as_ref().is_some_and(in_body)
    }

    /// Whether the request says the server's id of the parent that a part names.
    pub fn says_id_of(&self, part: &str) -> bool {
        self.placeholders().any(|piece| matches!(piece, Piece::PartId(name) if **name == *part))
            || self.body.as_ref().is_some_and(|body| body.names("parent", part))
    }

    /// Whether the request says which paths it changes.
    pub fn says_changed(&self) -> bool {
        let forced = self.forced.iter().flat_map(Forced::placeholders);
        self.placeholders().chain(forced).any(|piece| *piece == Piece::Changed)
            || self.body.as_ref().is_some_and(|body| body.uses("changed"))
    }

    /// Whether the request says the version that it rests on.
    pub fn says_version(&self) -> bool {
        self.placeholders().any(|piece| *piece == Piece::Version)
            || self.body.as_ref().is_some_and(|body| body.uses("version"))
    }

    /// Whether the request needs the server's id of the object.
    pub fn needs_id(&self) -> bool {
        self.placeholders().any(|piece| *piece == Piece::Id)
    }
}

/// Waiting after a write that the server finishes later: the item, or the operation that is at it, is read until
/// a filter on it holds.
#[derive(Clone, Debug)]
pub struct Wait {
    /// From the write's answer `{status, headers, body}` to the URL of the operation; `None`: the item is read.
    pub url: Option<Filter>,
    pub done: Filter,
    pub failed: Option<Filter>,
    pub every: Duration,
    pub limit: Duration,
}

/// A listing.
#[derive(Clone, Debug)]
pub struct ListOp {
    pub op: Op,
    /// From the answer's body to the list of items; `None`: the body is the list.
    pub items: Option<Filter>,
    /// Items lack fields: each that is wanted has a read of its own.
    pub partial: bool,
    pub page: Option<Page>,
}

/// How a listing goes on.
#[derive(Clone, Debug)]
pub struct Page {
    pub by: PageBy,
    pub size: Option<u64>,
    /// The query parameter that moves on: `page`, `offset`, `cursor`.
    pub param: String,
    pub size_param: String,
    /// The first page's number, or the first offset.
    pub first: u64,
    /// From the answer's body to the next cursor or URL.
    pub next: Option<Filter>,
    /// From the answer's body to the number of items in all.
    pub total: Option<Filter>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageBy {
    Page,
    Offset,
    Cursor,
    Url,
    Link,
}

/// Where an object's version is, for optimistic concurrency.
#[derive(Clone, Debug, Default)]
pub enum Version {
    #[default]
    None,
    /// The ETag of the object's own read; sent as `If-Match`.
    ETag,
    /// On the item. Sent as `{version}` where a request names it, else as `If-Match`.
    OnItem(Filter),
    /// From a request of its own.
    Request(Box<Op>, Filter),
}

/// The scope in which writes go one at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Serial {
    #[default]
    No,
    /// Within one value of this part.
    Part(Arc<str>),
    Backend,
}

impl Kind {
    pub fn part(&self, name: &str) -> Option<&Part> {
        self.parts.iter().find(|part| *part.name == *name)
    }

    /// The parts that are the object's own.
    pub fn own_parts(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| part.parent == Parent::Own)
    }

    /// Whether there is just one of it: in the whole backend, or in each parent.
    pub fn is_singleton(&self) -> bool {
        self.own_parts().next().is_none() && self.list.is_none()
    }

    /// The operations that the kind declares, the listing among them.
    pub fn ops(&self) -> impl Iterator<Item = &Op> {
        let list = self.list.as_ref().map(|list| &list.op);
        [
            list,
            self.read.op(),
            self.create.as_ref(),
            self.update.as_ref(),
            self.delete.as_ref(),
            self.check.as_ref(),
        ]
        .into_iter()
        .flatten()
    }

    /// The operations that only look, by the names of the members that say them.
    pub fn asks(&self) -> impl Iterator<Item = (&'static str, &Op)> {
        let version = match &self.version {
            Version::Request(op, _) => Some(&**op),
            _ => None,
        };
        let list = self.list.as_ref().map(|list| &list.op);
        let asks = [("list", list), ("read", self.read.op()), ("version", version)];
        asks.into_iter().filter_map(|(name, op)| Some((name, op?)))
    }

    /// What is said of an object that the server is deleting, and of what holds it, where the server names that: it
    /// is another's to take away, and nothing here ever does.
    pub fn being_deleted(&self, item: &Value) -> Explanation {
        let why = Explanation::new(match self.held_by(item) {
            Some(holders) => format!("the server is deleting it, and has not finished: {holders}"),
            None => "the server is deleting it, and has not finished".into(),
        });
        match self.blockers {
            Some(_) => {
                why.hint("whoever has put it there takes it away once it is done; then run the command again")
            }
            None => why,
        }
    }

    /// What holds an object that the server is deleting, as a sentence.
    pub fn held_by(&self, item: &Value) -> Option<String> {
        let names = match self.blockers.as_ref()?.one(item, &Vars::default()) {
            Ok(Some(Value::Array(names))) => names,
            Ok(name) => name.into_iter().collect(),
            Err(error) => return Some(format!("what holds it cannot be told: {error}")),
        };
        let names = names.iter().filter(|name| !name.is_null());
        let names: Vec<String> = names.map(|name| format!("`{}`", plain_text(name))).collect();
        match &names[..] {
            [] => None,
            [one] => Some(format!("{one} holds it")),
            [first, rest @ ..] => Some(format!("{first} and {} hold it", rest.join(" and "))),
        }
    }

    /// The operation that does `action`; a kind without a `create` creates by its update.
    pub fn op_for(&self, action: Action) -> Option<&Op> {
        match action {
            Action::Delete | Action::Replace => self.delete.as_ref(),
            Action::Create => self.create.as_ref().or(self.update.as_ref()),
            Action::Update | Action::None => self.update.as_ref(),
        }
    }

    /// Whether an update sends back the whole object as it was read. One that says which paths it changes leaves the
    /// others alone.
    pub fn updates_whole(&self) -> bool {
        self.update.as_ref().is_some_and(|update| update.send == Send::Full && !update.says_changed())
    }

    /// Whether an update may undo what others have changed since the object was read, as no version guards it.
    pub fn may_lose_updates(&self) -> bool {
        matches!(self.version, Version::None) && self.updates_whole()
    }

    /// Whether a create may replace what nobody has looked at: a PUT to a name, which says nothing of what may be there.
    /// Where the kind has versions, it says that nothing may be. What cannot be updated (`update: none`) is not changed by
    /// a PUT either, and a server that says that an object `exists` has refused to replace it.
    pub fn may_overwrite(&self) -> bool {
        let says = |op: &Op| op.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("if-none-match"));
        let unguarded = |op: &Op| op.method == Method::Put && op.send != Send::None && !says(op);
        let refuses =
            self.update.is_none() || self.exists.is_some() || !matches!(self.version, Version::None);
        !refuses && self.create.as_ref().is_some_and(unguarded)
    }

    /// Whether updates are applied: the server keeps account of who set what, and ours alone is sent.
    pub fn is_applied(&self) -> bool {
        self.managers.is_some() && self.update.as_ref().is_some_and(|update| update.send == Send::Ours)
    }

    /// Whether the server knows a create that it has seen.
    pub fn knows_creates(&self) -> bool {
        self.create.as_ref().is_some_and(|create| create.idempotency.is_some())
    }

    /// Whether a create that is sent again may make a second object: not where the request, or the object's own read,
    /// names it as we do.
    pub fn creates_can_double(&self) -> bool {
        let by_name = |create: &Op| {
            create.method == Method::Put && self.own_parts().any(|part| create.carries(&part.name))
        };
        self.create.as_ref().is_some_and(|create| !by_name(create)) && !self.readable_by_key()
    }

    /// Whether it is said for how long a new object may be hidden, and that is not what is taken for granted.
    pub fn says_visible(&self) -> bool {
        self.visible != VISIBLE && !self.visible.is_zero()
    }

    /// Whether an object can be read with nothing but its key.
    pub fn readable_by_key(&self) -> bool {
        matches!(&self.read, Read::Op(op) if !op.needs_id())
    }
}

/// All kinds of all backends that the documents use.
#[derive(Clone, Debug, Default)]
pub struct Kinds {
    kinds: BTreeMap<KindName, Arc<Kind>>,
    /// Where each backend is, as far as it is known: two of one place may show the same objects.
    pub sites: BTreeMap<Arc<str>, String>,
}

impl Part {
    /// Where the part stands on an item, if that is a place that can be written to.
    pub fn place(&self) -> Option<&[String]> {
        self.on_item.as_ref().and_then(Filter::plain).filter(|path| !path.is_empty())
    }
}

impl Kinds {
    pub fn insert(&mut self, kind: Kind) {
        self.kinds.insert(kind.name.clone(), Arc::new(kind));
    }

    pub fn get(&self, name: &KindName) -> Option<&Arc<Kind>> {
        self.kinds.get(name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<Kind>> {
        self.kinds.values()
    }

    /// The kind that takes documents of this type verbatim.
    pub fn of_document(&self, api_version: &str, kind: &str) -> Option<&Arc<Kind>> {
        self.kinds
            .values()
            .find(|k| k.document.as_ref().is_some_and(|d| d.api_version == api_version && d.kind == kind))
    }
}
