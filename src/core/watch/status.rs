//! Where everything stands, as values: what the status file, `/status`, `/metrics` and the log are made of.
//!
//! Times are counted from the start of the loop; the edge knows the wall clock.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::super::digest::Digest;
use super::super::identity::ObjectId;
use super::super::node::Origin as Place;
use super::super::report::{Entry, Outcome};
use super::hint::Origin;

/// The conditions of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ConditionKind {
    Synced,
    /// Only where the kind says what ready is.
    Ready,
    Stalled,
    Conflict,
    Fighting,
    NotEffective,
    Unknown,
}

impl ConditionKind {
    /// All, in their order.
    pub const ALL: [ConditionKind; 7] = [
        ConditionKind::Synced,
        ConditionKind::Ready,
        ConditionKind::Stalled,
        ConditionKind::Conflict,
        ConditionKind::Fighting,
        ConditionKind::NotEffective,
        ConditionKind::Unknown,
    ];

    pub fn word(self) -> &'static str {
        match self {
            ConditionKind::Synced => "Synced",
            ConditionKind::Ready => "Ready",
            ConditionKind::Stalled => "Stalled",
            ConditionKind::Conflict => "Conflict",
            ConditionKind::Fighting => "Fighting",
            ConditionKind::NotEffective => "NotEffective",
            ConditionKind::Unknown => "Unknown",
        }
    }
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Truth {
    True,
    False,
    /// Nothing is known of it yet.
    Unknown,
}

impl Truth {
    pub const ALL: [Truth; 3] = [Truth::True, Truth::False, Truth::Unknown];

    pub fn word(self) -> &'static str {
        match self {
            Truth::True => "True",
            Truth::False => "False",
            Truth::Unknown => "Unknown",
        }
    }
}

/// One condition of one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    pub kind: ConditionKind,
    pub truth: Truth,
    /// From a fixed vocabulary.
    pub reason: &'static str,
    /// Redacted, and at most 1 KiB.
    pub message: String,
    /// When the truth flipped last; another reason or message is no flip.
    pub since: Duration,
    /// The wish that it speaks of, as [`ObjectStatus::desired`] has it: another one there is newer. `None`: it speaks of
    /// none, as nothing was seen yet.
    pub observed: Option<Digest>,
}

/// Where one object stands.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectStatus {
    pub id: ObjectId,
    pub origin: Place,
    /// What is wanted now, by a number that means nothing to another process.
    pub desired: Digest,
    /// In the order of their kinds: `Synced`, and `Ready` where there is one, always; of the others those that hold, or
    /// have held since the start.
    pub conditions: Vec<Condition>,
    /// Passes in a row that failed.
    pub attempts: u32,
    /// When it is looked at again; `None` while a pass is under way.
    pub next: Option<Duration>,
    /// When it was last seen in sync.
    pub synced: Option<Duration>,
    /// Writes since the start.
    pub writes: u64,
}

impl ObjectStatus {
    pub fn condition(&self, kind: ConditionKind) -> Option<&Condition> {
        self.conditions.iter().find(|condition| condition.kind == kind)
    }

    pub fn holds(&self, kind: ConditionKind) -> bool {
        self.condition(kind).is_some_and(|condition| condition.truth == Truth::True)
    }
}

/// Where one backend stands.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetStatus {
    pub name: Arc<str>,
    /// Its breaker is open: nothing but probes is sent.
    pub open: bool,
    /// Why, while it is open.
    pub message: Option<String>,
    pub since: Duration,
    /// The next probe, while it is open.
    pub next: Option<Duration>,
}

/// Numbers that only grow, unless they say otherwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counters {
    /// Objects that wait and are due; now.
    pub depth: usize,
    /// Objects that are in a pass; now.
    pub running: usize,
    /// Entries made in the queue.
    pub adds: u64,
    /// Passes of an object after a failure.
    pub retries: u64,
    /// Passes of an object, by their end: `success`, `error`, `terminal`, `requeue`.
    pub passes: BTreeMap<&'static str, u64>,
    /// Hints by where they came from.
    pub hints: BTreeMap<Origin, u64>,
    /// Hints about what is in no document.
    pub foreign: u64,
    /// Drift that only a resync found.
    pub missed_events: u64,
    /// Writes that were accepted.
    pub writes: u64,
    /// How long entries waited after they were due: by the buckets of [`BOUNDS`].
    pub waited: Histogram,
    /// How long passes of an object took.
    pub worked: Histogram,
    /// Since when the longest pass runs; now.
    pub longest: Option<Duration>,
    /// For each object in a pass, since when, added up; now. With `running` it gives the time of the work under way at
    /// any later moment.
    pub begun: Option<Duration>,
}

/// Upper bounds of the buckets of all durations, in seconds.
pub const BOUNDS: [f64; 10] = [0.001, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 60.0, 600.0];

/// How many durations fell in each bucket; the last is for all above the last bound.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    pub counts: [u64; BOUNDS.len() + 1],
    pub sum: Duration,
}

impl Histogram {
    pub fn add(&mut self, time: Duration) {
        let seconds = time.as_secs_f64();
        let at = BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(BOUNDS.len());
        self.counts[at] += 1;
        self.sum += time;
    }
}

/// Where everything stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// In the order of the documents.
    pub objects: Vec<ObjectStatus>,
    /// By name.
    pub targets: Vec<TargetStatus>,
    pub counters: Counters,
    /// What holds of the loop as a whole: too many writes, say. Sentences.
    pub warnings: Vec<String>,
    /// What a guard keeps from being pruned, as it was found last.
    pub refused: Refused,
}

/// Objects that no document names, that are to go, and that a guard keeps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Refused {
    /// The first of them, each with the reason.
    pub first: Vec<(ObjectId, String)>,
    /// How many more there are.
    pub more: usize,
}

impl Refused {
    /// So many are told one by one.
    const TOLD: usize = 20;

    /// Those among the entries of a report that are not `wanted`.
    pub fn of<'e>(entries: impl Iterator<Item = &'e Entry>, wanted: impl Fn(&ObjectId) -> bool) -> Refused {
        let mut all = Refused::default();
        for entry in entries.filter(|entry| !wanted(&entry.id)) {
            match &entry.result {
                Outcome::Refused(why) if all.first.len() < Refused::TOLD => {
                    all.first.push((entry.id.clone(), why.message.clone()));
                }
                Outcome::Refused(_) => all.more += 1,
                _ => {}
            }
        }
        all
    }
}

impl Status {
    /// The same, and what became of pruning, which the loop knows nothing of.
    #[must_use]
    pub fn with_refused(self, refused: &Refused) -> Status {
        Status { refused: refused.clone(), ..self }
    }

    /// The same, and what others than the loop have to say.
    #[must_use]
    pub fn with_warnings(mut self, more: Vec<String>) -> Status {
        self.warnings.extend(more);
        self
    }
}
