//! The status document: where everything stands, with dates and names as text. It is what `/status` answers, what the
//! status file holds, and what `trueup status` reads back.
//!
//! The shape is a promise (`schemaVersion`): members are added, never renamed. Words of other versions are kept as they
//! come, so that an older program can still show them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::core::digest::Digest;
use crate::core::identity::ObjectId;
use crate::core::node::Origin;
use crate::core::problem::Problem;
use crate::core::redact::Redactor;
use crate::core::report::Finding;
use crate::core::value::Value;
use crate::core::watch::snapshot::FeedStatus;
use crate::core::watch::status::{self, Condition, ObjectStatus, Status, TargetStatus};
use crate::core::watch::{ConditionKind, HOUR, Lately, Snapshot, Truth};

use super::super::json::SCHEMA_VERSION;
use super::time::{self, date};

/// The name of a word that this program has, or that another version had.
type Word = Cow<'static, str>;

/// Where everything stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    pub schema_version: u32,
    pub command: Word,
    /// When this was made.
    pub time: String,
    /// When the loop last gave a sign of life.
    pub last_alive: String,
    pub instance: Instance,
    pub desired: Desired,
    /// Every object was looked at since it was last wanted otherwise.
    pub seen_all: bool,
    pub summary: Summary,
    /// Sentences; those about `refused` are among them.
    pub warnings: Vec<String>,
    /// What no document names, is to go, and is kept by a guard: the first of them. Earlier versions had none.
    #[serde(default)]
    pub refused: Vec<Refused>,
    /// By name.
    pub targets: Vec<Target>,
    /// Change feeds, by name. Earlier versions had none.
    #[serde(default)]
    pub feeds: Vec<Feed>,
    /// By backend, kind and key.
    pub objects: Vec<Object>,
    /// The writes of the last hour, where `--max-changes` limits them, for the next process. Earlier versions had none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Writes>,
}

/// Writes of about one time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Writes {
    pub time: String,
    pub count: usize,
}

/// The process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Instance {
    pub name: String,
    pub version: String,
    pub role: Word,
    pub dry_run: bool,
    pub started: String,
}

/// The files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Desired {
    pub valid: bool,
    pub since: String,
    pub loads: u64,
    pub failures: u64,
    pub problems: Vec<Trouble>,
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trouble {
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Position {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// Numbers first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    pub objects: usize,
    /// How many objects have each condition, by its status.
    pub conditions: BTreeMap<Word, BTreeMap<Word, usize>>,
    /// Objects that wait for a pass and are due.
    pub queued: usize,
    pub running: usize,
    /// Since the start.
    pub writes: u64,
    /// Drift that only a resync found.
    pub missed_events: u64,
}

/// A backend.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    pub name: String,
    /// Nothing but probes is sent.
    pub open: bool,
    pub since: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_probe: Option<String>,
    /// Since when polls find out nothing, where that is long. Earlier versions had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent_since: Option<String>,
}

/// A change feed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Feed {
    /// What it is about.
    pub name: String,
    pub up: bool,
    pub since: String,
    /// Why it is down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_attempt: Option<String>,
}

/// An object that no document names, and that is not pruned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refused {
    pub identity: Identity,
    /// The key as a person reads it.
    pub name: String,
    pub message: String,
}

/// An object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Object {
    pub identity: Identity,
    /// The key as a person reads it.
    pub name: String,
    pub position: Position,
    /// What is wanted now, as a number that only this process knows how to make. Earlier versions had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired_hash: Option<String>,
    pub conditions: Vec<State>,
    /// Passes in a row that failed.
    pub attempts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_attempt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_synced: Option<String>,
    pub writes: u64,
    /// What its last pass found worth knowing, whatever came of it. Earlier versions had none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Found>,
}

/// Something worth knowing of an object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    pub code: Word,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// What names an object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    pub backend: String,
    pub kind: String,
    pub key: serde_json::Map<String, Value>,
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct State {
    #[serde(rename = "type")]
    pub kind: Word,
    pub status: Word,
    pub reason: Word,
    pub message: String,
    pub last_transition_time: String,
    /// The `desiredHash` that it speaks of: where that is another one by now, it speaks of an earlier wish. Earlier
    /// versions had none, and there is none before anything was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_desired_hash: Option<String>,
}

impl Document {
    /// The document of a snapshot, made at the time `now` of a loop that was last `alive` at that time, without secrets.
    pub fn of(snapshot: &Snapshot, now: Duration, alive: Duration, redactor: &Redactor) -> Document {
        let snapshot = snapshot.scrubbed(redactor);
        let zero = snapshot.zero;
        let Snapshot { instance, desired, status, seen_all, feeds, silent, findings, changes, .. } = snapshot;
        let mut objects: Vec<&ObjectStatus> = status.objects.iter().collect();
        objects.sort_by(|a, b| a.id.cmp(&b.id));
        let mut targets: Vec<Target> =
            status.targets.iter().map(|target| self::target(target, &silent, zero)).collect();
        targets.sort_by(|a, b| a.name.cmp(&b.name));
        Document {
            schema_version: SCHEMA_VERSION,
            command: "status".into(),
            time: date(zero + now),
            last_alive: date(zero + alive),
            instance: Instance {
                name: instance.name,
                version: instance.version.into(),
                role: instance.role.word().into(),
                dry_run: instance.dry_run,
                started: date(instance.started),
            },
            desired: Desired {
                valid: desired.valid,
                since: date(zero + desired.since),
                loads: desired.loads,
                failures: desired.failures,
                problems: desired.problems.iter().map(trouble).collect(),
            },
            seen_all,
            summary: summary(&status),
            objects: objects
                .into_iter()
                .map(|object| self::object(object, findings.get(&object.id), zero))
                .collect(),
            warnings: status.warnings.iter().cloned().chain(not_pruned(&status.refused)).collect(),
            refused: status.refused.first.iter().map(refused).collect(),
            targets,
            feeds: feeds.all.iter().map(|feed| self::feed(feed, zero)).collect(),
            changes: changes.iter().map(|lately| writes(*lately, zero)).collect(),
        }
    }
}

/// A write counts until the end of its second, and not less long.
fn writes((leaves, count): Lately, zero: Duration) -> Writes {
    let at = (zero + leaves).saturating_sub(HOUR);
    Writes { time: date(at + Duration::from_nanos(999_999_999)), count }
}

impl Document {
    /// When this was made, since 1970.
    pub fn made_at(&self) -> Option<Duration> {
        time::read(&self.time)
    }

    /// When the loop last gave a sign of life, since 1970.
    pub fn alive_at(&self) -> Option<Duration> {
        time::read(&self.last_alive)
    }
}

fn summary(status: &Status) -> Summary {
    let tally = status.tally();
    let by_truth = |kind: ConditionKind| {
        let counts = Truth::ALL.map(|truth| (Word::from(truth.word()), tally.of(kind, truth)));
        (Word::from(kind.word()), counts.into_iter().collect())
    };
    Summary {
        objects: status.objects.len(),
        conditions: ConditionKind::ALL.into_iter().map(by_truth).collect(),
        queued: status.counters.depth,
        running: status.counters.running,
        writes: status.counters.writes,
        missed_events: status.counters.missed_events,
    }
}

fn target(target: &TargetStatus, silent: &[(Arc<str>, Duration)], zero: Duration) -> Target {
    let silent = silent.iter().find(|(name, _)| *name == target.name).map(|(_, since)| *since);
    Target {
        name: target.name.to_string(),
        open: target.open,
        since: date(zero + target.since),
        message: target.message.clone(),
        next_probe: target.next.map(|next| date(zero + next)),
        silent_since: silent.map(|since| date(zero + since)),
    }
}

fn feed(feed: &FeedStatus, zero: Duration) -> Feed {
    Feed {
        name: feed.name.to_string(),
        up: feed.up,
        since: date(zero + feed.since),
        message: feed.message.as_deref().map(cut),
        next_attempt: feed.next.map(|next| date(zero + next)),
    }
}

fn object(object: &ObjectStatus, findings: Option<&Vec<Finding>>, zero: Duration) -> Object {
    let mut conditions: Vec<&Condition> = object.conditions.iter().collect();
    conditions.sort_by_key(|condition| condition.kind);
    Object {
        identity: identity(&object.id),
        name: object.id.key.to_string(),
        position: position(&object.origin),
        desired_hash: Some(hash(object.desired)),
        conditions: conditions.into_iter().map(|condition| state(condition, zero)).collect(),
        attempts: object.attempts,
        next_attempt: object.next.map(|next| date(zero + next)),
        last_synced: object.synced.map(|synced| date(zero + synced)),
        writes: object.writes,
        findings: findings.into_iter().flatten().map(found).collect(),
    }
}

fn found(finding: &Finding) -> Found {
    Found {
        code: finding.code.into(),
        message: cut(&finding.message),
        hint: finding.hint.as_deref().map(cut),
    }
}

fn identity(id: &ObjectId) -> Identity {
    let key = id.key.parts().iter().map(|(name, value)| (name.to_string(), value.clone()));
    Identity { backend: id.kind.backend.to_string(), kind: id.kind.kind.to_string(), key: key.collect() }
}

fn refused((id, why): &(ObjectId, String)) -> Refused {
    Refused { identity: identity(id), name: id.key.to_string(), message: cut(why) }
}

/// A sentence for each that is not pruned.
fn not_pruned(refused: &status::Refused) -> impl Iterator<Item = String> + '_ {
    let told = refused.first.iter().map(|(id, why)| format!("`{id}` is not pruned: {}", cut(why)));
    let more = (refused.more > 0).then(|| format!("and {} more objects are not pruned", refused.more));
    told.chain(more)
}

fn state(condition: &Condition, zero: Duration) -> State {
    State {
        kind: condition.kind.word().into(),
        status: condition.truth.word().into(),
        reason: condition.reason.into(),
        message: cut(&condition.message),
        last_transition_time: date(zero + condition.since),
        observed_desired_hash: condition.observed.map(hash),
    }
}

fn hash(digest: Digest) -> String {
    format!("{:032x}", digest.0)
}

/// The longest message of a condition, in bytes.
const LONGEST: usize = 1024;

fn cut(message: &str) -> String {
    if message.len() <= LONGEST {
        return message.to_owned();
    }
    let end = (0..=LONGEST - '…'.len_utf8()).rev().find(|at| message.is_char_boundary(*at)).unwrap_or(0);
    format!("{}…", &message[..end])
}

fn trouble(problem: &Problem) -> Trouble {
    Trouble {
        message: problem.message.clone(),
        hint: problem.hint.clone(),
        position: problem.origin.as_ref().map(position),
    }
}

fn position(origin: &Origin) -> Position {
    Position { file: origin.file.to_string(), line: origin.at.line, column: origin.at.column }
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
