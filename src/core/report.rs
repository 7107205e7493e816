//! What a run came to: the one list that text, JSON and the exit code are made of.

use std::ops::AddAssign;

use super::accept::Acceptance;
use super::base::Side;
use super::census::Census;
use super::change::Change;
use super::conflict::Conflict;
use super::identity::ObjectId;
use super::needed::Added;
use super::node::Origin;
use super::observed::Observed;
use super::server_only::ServerOnly;
use super::tolerance::Tolerances;

/// A run's outcome.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// In the order of the documents; those in sync too.
    pub objects: Vec<Entry>,
    pub requests: Requests,
    /// What listings and reads showed, wanted or not.
    pub seen: Census,
    /// The run was interrupted: what is not settled says so.
    pub interrupted: bool,
    /// What the base has and the files have no longer. Nothing is done about it.
    pub left: Vec<LeftFiles>,
    /// What nobody chose, and takes part as something chosen needs it.
    pub added: Vec<Added>,
    /// What only the server has, of the objects that have such: where somebody asks.
    pub server_only: Vec<ServerOnly>,
    /// What is accepted of what differs, where a file says so: it stands in no other list.
    pub tolerances: Option<Tolerances>,
    /// The ref that was moved to the revision that this run has applied.
    pub recorded: Option<Recorded>,
}

/// An object that the base has and the files have no longer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftFiles {
    pub id: ObjectId,
    /// Where it stands at the base.
    pub origin: Origin,
}

/// A ref, and the commit that it was moved to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    pub name: String,
    pub commit: String,
}

/// Requests sent, by role; each page is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    pub list: u64,
    pub read: u64,
    pub login: u64,
    pub create: u64,
    pub update: u64,
    pub delete: u64,
}

impl Requests {
    pub fn writes(&self) -> u64 {
        self.create + self.update + self.delete
    }

    pub fn total(&self) -> u64 {
        self.list + self.read + self.login + self.writes()
    }
}

impl AddAssign for Requests {
    fn add_assign(&mut self, more: Requests) {
        self.list += more.list;
        self.read += more.read;
        self.login += more.login;
        self.create += more.create;
        self.update += more.update;
        self.delete += more.delete;
    }
}

/// What a run came to for one object.
#[derive(Clone, Debug)]
pub struct Entry {
    pub id: ObjectId,
    /// `None` for an object that stands in no document.
    pub origin: Option<Origin>,
    pub action: Action,
    pub result: Outcome,
    pub changes: Vec<Change>,
    /// Who made the difference, where there is a base: that of all changes, or of the object as a whole.
    pub since: Option<Side>,
    /// Fields that both sides changed, and what becomes of each.
    pub conflicts: Vec<Conflict>,
    pub findings: Vec<Finding>,
    /// Lines for the kind's `fields` in the backend, with which what differs would be as good: where they were asked for.
    pub accepted: Vec<Acceptance>,
    /// Whether any write of this run was accepted for the object.
    pub wrote: bool,
    /// What else was seen of it: for the next run, and shown nowhere.
    pub observed: Observed,
}

/// What the difference asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    None,
    Create,
    Update,
    Replace,
    Delete,
}

/// Where the object stands at the end of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A read made after the last write shows no difference.
    InSync,
    /// The action is due, and this run may not write or has not been told to.
    Planned,
    /// The action was done, and a read confirms it.
    Done,
    /// The action of a saved plan was done before this run: the object is as it was to be.
    Applied,
    /// A guard forbids it: consent, a limit, a protection.
    Refused(Explanation),
    Conflict(Explanation),
    Failed(Explanation),
    /// Neither presence nor absence could be proved.
    Unknown(Explanation),
    /// The server took the value and keeps another.
    NotEffective(Explanation),
    /// Something that it needs is not settled.
    Skipped(Explanation),
    /// It is in the scope of a Set and in no document, and is left alone.
    Extra(Explanation),
}

/// A sentence, and the next step where there is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    pub message: String,
    pub hint: Option<String>,
    /// From a fixed vocabulary, for machines, where the case has a name: [`DUPLICATE_FOUND`], [`CREATE_UNCERTAIN`],
    /// [`NOT_THE_API`], [`WRONG_OBJECT`], [`HELD`], [`CHANGE_LIMIT`], [`FROZEN`], [`REPORTED`].
    pub reason: Option<&'static str>,
}

/// More than one object answers to a key.
pub const DUPLICATE_FOUND: &str = "DuplicateFound";
/// Whether an object was created is not known.
pub const CREATE_UNCERTAIN: &str = "CreateUncertain";

/// The server has begun what it was asked for, and is still at it.
pub const UNDER_WAY: &str = "UnderWay";
/// The server has accepted a creation, or may have, and does not show the object yet.
pub const NOT_VISIBLE: &str = "NotVisible";

/// A success that is not what the API sends.
pub const NOT_THE_API: &str = "NotTheApi";
/// An answer about another object than the one that was asked for.
pub const WRONG_OBJECT: &str = "WrongObject";

/// The object is only looked at in this run.
pub const HELD: &str = "Held";
/// The run has written as much as it may.
pub const CHANGE_LIMIT: &str = "ChangeLimit";
/// What differs is not to be written in this run; also the code of the finding that says so of a path.
pub const FROZEN: &str = "Frozen";
/// What differs is only told of, by `trueup/report`; also the code of the finding that says so of a path.
pub const REPORTED: &str = "Reported";

/// The code of the finding that what is in no document goes along with an object.
pub const TAKES_ALONG: &str = "TakesAlong";
/// The code of the finding that nobody can tell all that goes along with an object.
pub const NOT_TOLD: &str = "NotTold";

/// The code of the finding that others change an object faster than it can be written.
pub const CONTENDED: &str = "Contended";

/// The code of the finding that a value could not be compared: its object may differ and count as in sync.
pub const NOT_COMPARED: &str = "NotCompared";

/// The code of the finding that a member stands twice in the server's JSON of the object, with different values.
pub const DUPLICATE_MEMBER: &str = "DuplicateMember";

/// The code of the finding that nothing guards the object's update against what others change meanwhile.
pub const LOST_UPDATE_RISK: &str = "LostUpdateRisk";

/// The code of the finding that tells what `trueup/secret-version` does.
pub const SECRET_VERSION: &str = "SecretVersion";

/// Something worth knowing of an object, whatever its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// From a fixed vocabulary: `LostUpdateRisk`, `PossibleOverwrite`, …
    pub code: &'static str,
    pub message: String,
    pub hint: Option<String>,
}

impl Finding {
    pub fn new(code: &'static str, message: impl Into<String>) -> Finding {
        Finding { code, message: message.into(), hint: None }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Finding {
        self.hint = Some(hint.into());
        self
    }

    /// Whether it holds of all objects of the kind: it is told once, and only to those who ask for more.
    pub fn is_of_its_kind(&self) -> bool {
        self.code == LOST_UPDATE_RISK
    }
}

impl Explanation {
    pub fn new(message: impl Into<String>) -> Explanation {
        Explanation { message: message.into(), hint: None, reason: None }
    }

    pub fn because(mut self, reason: &'static str) -> Explanation {
        self.reason = Some(reason);
        self
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Explanation {
        self.hint = Some(hint.into());
        self
    }
}

impl Outcome {
    /// The fixed word of the outcome, as JSON and filters name it.
    pub fn word(&self) -> &'static str {
        match self {
            Outcome::InSync => "in-sync",
            Outcome::Planned => "planned",
            Outcome::Done => "done",
            Outcome::Applied => "already-applied",
            Outcome::Refused(_) => "refused",
            Outcome::Conflict(_) => "conflict",
            Outcome::Failed(_) => "failed",
            Outcome::Unknown(_) => "unknown",
            Outcome::NotEffective(_) => "not-effective",
            Outcome::Skipped(_) => "skipped",
            Outcome::Extra(_) => "extra",
        }
    }

    /// The sentence behind the outcome.
    pub fn explanation(&self) -> Option<&Explanation> {
        match self {
            Outcome::InSync | Outcome::Planned | Outcome::Done | Outcome::Applied => None,
            Outcome::Refused(e)
            | Outcome::Conflict(e)
            | Outcome::Failed(e)
            | Outcome::Unknown(e)
            | Outcome::NotEffective(e)
            | Outcome::Skipped(e)
            | Outcome::Extra(e) => Some(e),
        }
    }

    /// The sentence behind the outcome, to be said otherwise.
    pub fn explanation_mut(&mut self) -> Option<&mut Explanation> {
        match self {
            Outcome::InSync | Outcome::Planned | Outcome::Done | Outcome::Applied => None,
            Outcome::Refused(e)
            | Outcome::Conflict(e)
            | Outcome::Failed(e)
            | Outcome::Unknown(e)
            | Outcome::NotEffective(e)
            | Outcome::Skipped(e)
            | Outcome::Extra(e) => Some(e),
        }
    }
}

impl Action {
    pub fn word(self) -> &'static str {
        match self {
            Action::None => "none",
            Action::Create => "create",
            Action::Update => "update",
            Action::Replace => "replace",
            Action::Delete => "delete",
        }
    }
}
