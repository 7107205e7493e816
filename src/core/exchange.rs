//! What the engine asks of the outside, and what it is answered: operations on objects, as values.
//!
//! The engine performs nothing. It hands out an [`Ask`] or a [`Write`], and is given the [`Answer`].

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::filter::Filter;
use super::idempotency::Attempt;
use super::identity::{Key, KindName, ObjectId};
use super::kind::Wait;
use super::managers::Contested;
use super::patch::Operation as PatchOperation;
use super::path::Path;
use super::report::{Explanation, NOT_THE_API, WRONG_OBJECT};
use super::value::Value;

/// A request that cannot change the server. Commands that never write hold a client that takes only these.
#[derive(Clone, Debug)]
pub enum Ask {
    List(Collection, Wanted),
    Read(Target),
    /// The dry run of a create or an update: the server says what it would make of it, and stores nothing.
    Check(Write),
    /// How far the server is with a write of this object.
    Operation(Target, Operation),
}

/// A request that can change the server.
#[derive(Clone, Debug)]
pub enum Write {
    Create(Target, Body),
    Update(Target, Body),
    Delete(Target),
    /// Several writes of one sort and one kind, below the same parents, in one request: never empty, and no
    /// batch is in another.
    Batch(Vec<Write>),
}

impl Write {
    /// Writes of one sort as one request; `writes` is not empty.
    pub fn together(mut writes: Vec<Write>) -> Write {
        if writes.len() == 1 { writes.remove(0) } else { Write::Batch(writes) }
    }

    /// The writes in it, one for each object.
    pub fn members(&self) -> &[Write] {
        match self {
            Write::Batch(writes) => writes,
            one => std::slice::from_ref(one),
        }
    }

    /// What it is about; of several objects the first.
    pub fn target(&self) -> &Target {
        match self {
            Write::Create(target, _) | Write::Update(target, _) | Write::Delete(target) => target,
            Write::Batch(writes) => writes.first().expect("a batch is not empty").target(),
        }
    }
}

/// The objects of a kind below the same parents: what one listing tells.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Collection {
    pub kind: KindName,
    /// The identity's parts that the listing's request names, with their values; a kind with no parents, or
    /// whose listing serves all parents at once, has none.
    pub scope: Key,
    pub parent_ids: ParentIds,
}

/// The server ids of the parents, by part, as far as requests name them (`{team.id}`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ParentIds(pub Vec<(Arc<str>, Arc<str>)>);

impl Ask {
    /// The kind that is asked about.
    pub fn kind(&self) -> &KindName {
        match self {
            Ask::List(collection, _) => &collection.kind,
            Ask::Read(target) | Ask::Operation(target, _) => &target.id.kind,
            Ask::Check(write) => &write.target().id.kind,
        }
    }
}

impl ParentIds {
    pub fn get(&self, part: &str) -> Option<&Arc<str>> {
        self.0.iter().find(|(name, _)| **name == *part).map(|(_, id)| id)
    }
}

/// Which items of a listing are wanted whole; of the others only the keys are read.
#[derive(Clone, Debug)]
pub enum Wanted {
    All,
    Keys(Arc<HashSet<Key>>),
}

/// The object that a request is about, with what was observed of it.
#[derive(Clone, Debug)]
pub struct Target {
    pub id: ObjectId,
    pub server_id: Option<Arc<str>>,
    pub parent_ids: ParentIds,
    /// The version that was observed, for the strongest precondition that the API offers.
    pub version: Option<VersionToken>,
    /// The item as observed, for filters that name `$observed`.
    pub observed: Option<Arc<Value>>,
    /// The paths that a create or an update changes, for requests that name `{changed}` or `$changed`.
    pub changed: Vec<String>,
    /// Whether fields that another manager holds are to be taken over.
    pub forced: bool,
    /// Whether a weak version is to be tried as a precondition.
    pub tries_weak: bool,
    /// The body of what is to be created in its place: a deletion is sent only where the request of that can be made.
    pub remade: Option<Arc<Body>>,
    /// What the idempotency key of a create is made of, where its operation carries one.
    pub attempt: Option<Attempt>,
}

impl Target {
    /// An object of which nothing is known but its identity.
    pub fn new(id: ObjectId) -> Target {
        Target {
            id,
            server_id: None,
            parent_ids: ParentIds::default(),
            version: None,
            observed: None,
            changed: Vec::new(),
            forced: false,
            tries_weak: false,
            remade: None,
            attempt: None,
        }
    }
}

/// A token for optimistic concurrency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionToken {
    pub text: Arc<str>,
    /// A weak ETag, or one that a proxy has touched: by the rule of no use in `If-Match` (RFC 9110, 8.8.1 and
    /// 13.1.1), though some servers compare it byte for byte.
    pub weak: bool,
}

/// What a write carries. Secrets stand in it in clear: its `Debug` shows nothing.
#[derive(Clone)]
pub enum Body {
    /// The whole object, or ours alone.
    Object(Value),
    /// An RFC 7396 merge patch.
    Merge(Value),
    /// An RFC 6902 JSON Patch.
    JsonPatch(Vec<PatchOperation>),
    /// Presence only.
    None,
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Body::Object(_) => "Object(..)",
            Body::Merge(_) => "Merge(..)",
            Body::JsonPatch(_) => "JsonPatch(..)",
            Body::None => "None",
        })
    }
}

/// A write that the server finishes later, and where it tells how far it is.
#[derive(Clone, Debug)]
pub struct Operation {
    /// A URL of the backend's origin.
    pub url: Arc<str>,
    /// When it is done; `None`: the API declares nothing, and what its answer shows is all there is.
    pub wait: Option<Wait>,
    /// From the operation's last answer `{status, headers, body}` to the id of the new object.
    pub id: Option<Filter>,
    /// When the server wants to be asked first.
    pub retry_after: Option<Duration>,
}

/// How far an operation is.
#[derive(Clone, Debug)]
pub enum Progress {
    Running {
        /// When the server wants to be asked again.
        retry_after: Option<Duration>,
    },
    /// It came to a good end. A hint, not an observation.
    Done { server_id: Option<Arc<str>> },
    /// It came to a bad end.
    Failed(Failure),
}

/// An observed object.
#[derive(Clone, Debug)]
pub struct Item {
    pub key: Key,
    pub server_id: Option<Arc<str>>,
    pub version: Option<VersionToken>,
    pub value: Arc<Value>,
    /// Neither present nor absent: its name is still taken, and it takes no write.
    pub deleting: bool,
    /// What the kind's `ready` filter says; `None` where there is none.
    pub ready: Option<bool>,
    /// Where the server's JSON has two values, since a member stands twice in it: the last one is in `value`. The first
    /// few places.
    pub ambiguous: Vec<Path>,
}

/// What came back.
#[derive(Clone, Debug)]
pub enum Answer {
    Listed(Listing),
    Found(Item),
    /// Proved by a direct 404 or 410, or by what the kind declares.
    Absent,
    /// The server accepted the write. A hint, not an observation.
    Accepted {
        /// The new object's id, where the answer tells it.
        server_id: Option<Arc<str>>,
        /// 202: the server finishes it later.
        pending: bool,
        /// An error that the answer tells of inside: of this object, or of another of those that went together.
        inside: Option<Failure>,
    },
    /// Fields that another manager holds keep the write from being done.
    Contested(Vec<Contested>),
    /// The server accepted the write, and tells where it can be seen how far it is.
    Begun {
        operation: Operation,
        /// The new object's id, where the answer tells it already.
        server_id: Option<Arc<str>>,
    },
    Progress(Progress),
    Failed(Failure),
}

/// What a listing told.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The wanted items, whole.
    pub items: Vec<Item>,
    /// The keys of the other items, as far as they have one.
    pub others: Vec<Key>,
    /// How many items the pages held in all.
    pub seen: usize,
    /// Why the listing is not known to be whole; then a missing key proves nothing.
    pub incomplete: Option<Box<Explanation>>,
    /// Items that could not be understood: no key, say. Each is a sentence.
    pub problems: Vec<String>,
}

/// A request that did not lead to an answer that can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    pub class: FailureClass,
    /// Lower case, what was being done and what came of it; redacted and escaped already.
    pub message: String,
    /// The next step, where there is one.
    pub hint: Option<String>,
    /// What the server asked for in `Retry-After`.
    pub retry_after: Option<Duration>,
}

impl FailureClass {
    /// The name of the class for machines, where the answer was not to be believed.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            FailureClass::NotTheApi => Some(NOT_THE_API),
            FailureClass::WrongObject => Some(WRONG_OBJECT),
            _ => None,
        }
    }
}

/// The longest wait that a run which is to end sleeps through when a server asks for it.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// A run without an end obeys a server for no longer than this.
pub const LONGEST_PATIENCE: Duration = Duration::from_secs(15 * 60);

impl Failure {
    /// A listing that told something, and not all.
    pub fn doubt(message: String) -> Failure {
        Failure { class: FailureClass::NotTheApi, message, hint: None, retry_after: None }
    }

    /// Whether the server asks for a longer wait than a run has patience for: it is not asked again.
    pub fn asks_too_much(&self) -> bool {
        self.retry_after.is_some_and(|wait| wait > PATIENCE)
    }
}

/// The classes of `engine.md` section 5.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureClass {
    /// Nothing was sent, or it was refused before it was processed.
    NotSent,
    /// Sent, and the outcome is unknown: timeout, reset, truncated or unreadable answer.
    Lost,
    /// An answer with this status, which is an error.
    Status(u16),
    /// "It exists already": 409, or what the kind declares.
    Exists,
    /// The idempotency key of a create was used for another payload.
    KeyUsed,
    /// A conflict with how the object stands: 409.
    Conflict,
    /// A precondition does not hold: 412.
    Mismatch,
    /// The answer cannot be taken for the API's: HTML, another shape, an item without its key, a body over the limit.
    NotTheApi,
    /// The answer is about another object than the one that was asked for, or about none.
    WrongObject,
    /// A redirect that is not followed, a pager that repeats, a write that by the kind's
    /// own word has failed for good.
    Refused,
    /// The backend's own fault: a filter that fails, a placeholder without a value.
    Backend,
    /// What a request needs of this place is not there: a credential that is not set. Nothing was sent.
    Setup,
}
