//! A pass: one run of the engine over objects that are due, and what came of each of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::super::digest::Digest;
use super::super::identity::ObjectId;
use super::super::path::Path;
use super::super::report::Explanation;
use super::super::unfinished::Unfinished;
use super::hint::Origin;

/// Ties what came of a pass to it.
pub type PassId = u64;

/// A run of the engine that is to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Pass {
    pub id: PassId,
    /// In the order in which they became due. Of one backend, unless a person waits for all.
    pub objects: Vec<(ObjectId, Origin)>,
    /// Whether anything may be written.
    pub writes: bool,
    /// So many writes at most; what is over it is left for later. `None`: no limit.
    pub most_writes: Option<usize>,
    /// Paths that are not written in this pass, as two writers fight over them or a value does not hold there.
    pub frozen: BTreeMap<ObjectId, Vec<Path>>,
    /// Objects that are only looked at in this pass.
    pub held: Vec<ObjectId>,
    /// What an earlier pass began and did not see the end of.
    pub open: BTreeMap<ObjectId, Unfinished>,
}

/// What came of one object in a pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub id: ObjectId,
    pub verdict: Verdict,
    /// What the kind's `ready` says; `None` where there is none.
    pub ready: Option<bool>,
    /// The server's own id, or whatever tells the object from a later one with the same key.
    pub uid: Option<Arc<str>>,
    /// Writes that were accepted for it in this pass.
    pub writes: usize,
    /// What was written, or would have been: each path, with what stood there before and after.
    pub touched: Vec<Touched>,
    /// What this pass began and did not see the end of.
    pub open: Option<Arc<Unfinished>>,
}

/// One path of a difference. At the root stands the object itself: with nothing before it is to be made, with nothing
/// after it is to go, with both it is to be replaced.
#[derive(Clone, Debug, PartialEq)]
pub struct Touched {
    pub path: Path,
    /// What the server had; `None` where it had nothing.
    pub before: Option<Digest>,
    /// What the files want; `None` where nothing is to be there.
    pub after: Option<Digest>,
    /// Who set what the server had, where it tells.
    pub set_by: Vec<Arc<str>>,
}

/// Where an object stands at the end of a pass.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// A read made after the last write shows no difference.
    InSync,
    /// It differs, and this pass was not to write it: a dry run, a report, a hold.
    Differs(Explanation),
    Conflict(Explanation),
    /// A guard forbids the write.
    Refused(Explanation),
    /// The server took the value and keeps another.
    NotEffective(Explanation),
    /// Neither presence nor absence could be proved.
    Unknown(Explanation, Retry),
    Failed(Explanation, Retry),
    /// The server is still at what an earlier pass or this one has begun, or does not show it yet: nothing is begun
    /// anew, and so long after this pass it is worth another look.
    Progressing(Explanation, Duration),
    /// Something that it needs is not settled.
    Blocked(Explanation),
}

/// When it is worth trying again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// With backoff, and not before what the server asked for. `fault`: the server's or the network's failure, which
    /// other objects of the backend share.
    Soon { fault: bool, after: Option<Duration> },
    /// Repeating it would change nothing, unless somebody changes something.
    Late,
    /// The same, as the credential was refused (401): what is refused to one object is refused to all, until it is
    /// taken again.
    Barred,
}

impl Verdict {
    pub fn is_in_sync(&self) -> bool {
        *self == Verdict::InSync
    }

    /// Whether it failed by the server's fault or the network's, which other objects of the backend share.
    pub fn is_fault(&self) -> bool {
        matches!(self.retry(), Some(Retry::Soon { fault: true, .. }))
    }

    /// Whether the object was looked at, whatever that showed.
    pub fn is_by_a_look(&self) -> bool {
        match self {
            Verdict::InSync
            | Verdict::Differs(_)
            | Verdict::Conflict(_)
            | Verdict::Refused(_)
            | Verdict::NotEffective(_) => true,
            Verdict::Unknown(..) | Verdict::Failed(..) | Verdict::Progressing(..) | Verdict::Blocked(_) => {
                false
            }
        }
    }

    /// Whether trying again is of no use by itself.
    pub fn is_final(&self) -> bool {
        matches!(self.retry(), Some(Retry::Late | Retry::Barred))
    }

    /// How long the server asked to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        match self.retry() {
            Some(Retry::Soon { after, .. }) => after,
            _ => None,
        }
    }

    fn retry(&self) -> Option<Retry> {
        match self {
            Verdict::Unknown(_, retry) | Verdict::Failed(_, retry) => Some(*retry),
            _ => None,
        }
    }

    /// The sentence behind it.
    pub fn explanation(&self) -> Option<&Explanation> {
        match self {
            Verdict::InSync => None,
            Verdict::Differs(why)
            | Verdict::Conflict(why)
            | Verdict::Refused(why)
            | Verdict::NotEffective(why)
            | Verdict::Unknown(why, _)
            | Verdict::Failed(why, _)
            | Verdict::Progressing(why, _)
            | Verdict::Blocked(why) => Some(why),
        }
    }
}
