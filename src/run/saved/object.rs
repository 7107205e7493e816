//! What a saved plan says of one object: what is due, what it rests on, and the hashes of both.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::core::change::{Change, Reason, Shown};
use crate::core::engine::Specimen;
use crate::core::engine::pledge::Pledge;
use crate::core::identity::{Key, KindName, ObjectId};
use crate::core::node::{Origin, Pos};
use crate::core::path::Path;
use crate::core::redact::Redactor;
use crate::core::report::{Action, Entry, Explanation, Finding, Outcome};
use crate::core::scrub;
use crate::core::value::Value;

use super::conflict::SavedConflict;
use super::seal;

/// One object of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedObject {
    pub backend: String,
    pub kind: String,
    pub key: Vec<(String, Value)>,
    pub place: Option<Place>,
    pub action: Action,
    pub result: String,
    pub message: Option<String>,
    pub hint: Option<String>,
    pub changes: Vec<SavedChange>,
    pub conflicts: Vec<SavedConflict>,
    pub findings: Vec<Note>,
    /// The server's id of what was seen.
    pub id: Option<String>,
    /// References as they are written, and what they named.
    pub references: Vec<(String, Value)>,
    /// What is wanted, without secrets.
    pub desired: String,
    /// What was compared, without secrets: paths in sync are as they are wanted, the others as `changes` has them.
    pub observed: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedChange {
    pub path: String,
    pub before: Option<Side>,
    pub after: Option<Side>,
    pub reason: Reason,
    pub line: Option<u32>,
    pub column: Option<u32>,
    pub set_by: Vec<String>,
}

/// A side of a change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    Value(Value),
    Secret,
    Later(String),
}

impl Side {
    /// A side as it may be shown. A value of which some is hidden is a secret as a whole.
    pub fn of(side: Option<&Shown>, shown: Option<&Shown>) -> Option<Side> {
        let hidden = side != shown;
        shown.map(|shown| match shown {
            _ if hidden => Side::Secret,
            Shown::Value(value) => Side::Value(value.clone()),
            Shown::Secret => Side::Secret,
            Shown::Later(text) => Side::Later(text.to_string()),
        })
    }

    pub fn shown(&self) -> Shown {
        match self {
            Side::Value(value) => Shown::Value(value.clone()),
            Side::Secret => Shown::Secret,
            Side::Later(text) => Shown::Later(text.as_str().into()),
        }
    }
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    pub code: String,
    pub message: String,
    pub hint: Option<String>,
}

/// The codes of findings that a plan can have; another version may have more.
const CODES: [&str; 9] = [
    "GivenUp",
    "GoesWithParent",
    "LostUpdateRisk",
    "NotChecked",
    "NotCompared",
    "NoManagers",
    "RenameDone",
    "SetLater",
    "WouldStore",
];

impl SavedObject {
    /// Of an object that was planned. `desired` is the hash of what is wanted of it.
    pub fn of(entry: &Entry, specimen: &Specimen, desired: String, redactor: &Redactor) -> SavedObject {
        let shown = scrub::entry(entry, redactor);
        let why = shown.verdict().explanation();
        let pairs = entry.changes.iter().zip(&shown.changes);
        let changes: Vec<SavedChange> = pairs.map(|(change, shown)| SavedChange::of(change, shown)).collect();
        let conflicts = entry.conflicts.iter().zip(&shown.conflicts);
        let observed = observed(&desired, specimen, &changes);
        let clear = |(text, value): &(Arc<str>, Value)| {
            (redactor.value(value) == *value).then(|| (text.to_string(), value.clone()))
        };
        SavedObject {
            backend: shown.id.kind.backend.to_string(),
            kind: shown.id.kind.kind.to_string(),
            key: shown.id.key.parts().iter().map(|(name, v)| (name.to_string(), v.clone())).collect(),
            place: shown.origin.as_ref().map(Place::of),
            action: shown.action,
            result: shown.verdict().word().to_owned(),
            message: why.map(|why| why.message.clone()),
            hint: why.and_then(|why| why.hint.clone()),
            changes,
            conflicts: conflicts.map(|(conflict, shown)| SavedConflict::of(conflict, shown)).collect(),
            findings: shown.findings.iter().map(Note::of).collect(),
            id: specimen.observed.as_ref().and_then(|item| item.server_id.as_deref().map(str::to_owned)),
            references: specimen.references.iter().filter_map(clear).collect(),
            desired,
            observed,
        }
    }

    /// The object as the plan's report had it.
    pub fn entry(&self) -> Entry {
        let kind = KindName { backend: self.backend.as_str().into(), kind: self.kind.as_str().into() };
        let key = self.key.iter().map(|(name, value)| (name.as_str().into(), value.clone())).collect();
        Entry {
            id: ObjectId { kind, key: Key::new(key) },
            origin: self.place.as_ref().map(Place::origin),
            action: self.action,
            result: self.outcome(),
            changes: self.changes.iter().map(SavedChange::change).collect(),
            conflicts: self.conflicts.iter().map(SavedConflict::conflict).collect(),
            findings: self.findings.iter().map(Note::finding).collect(),
            accepted: Vec::new(),
            wrote: false,
            since: None,
        }
    }

    /// What a run may do to it. `desired` is the hash of what is wanted of it now.
    pub fn pledge(&self, desired: &str) -> Pledge {
        let refused = match self.outcome() {
            _ if self.desired != desired => Some(
                Explanation::new(
                    "it is not what the plan wants: a variable or a file that it names has changed",
                )
                .hint("make a new plan"),
            ),
            Outcome::InSync | Outcome::Planned => None,
            other => other.explanation().map(|why| Explanation {
                message: format!("the plan does not do it: {}", why.message),
                ..why.clone()
            }),
        };
        Pledge {
            action: self.action,
            changes: self.changes.iter().map(SavedChange::change).collect(),
            server_id: self.id.as_deref().map(Arc::from),
            references: self.references.iter().map(|(t, v)| (t.as_str().into(), v.clone())).collect(),
            refused,
        }
    }

    fn outcome(&self) -> Outcome {
        let message = self.message.clone().unwrap_or_default();
        let why = Explanation { message, hint: self.hint.clone(), reason: None };
        match &*self.result {
            "in-sync" => Outcome::InSync,
            "planned" => Outcome::Planned,
            "conflict" => Outcome::Conflict(why),
            "failed" => Outcome::Failed(why),
            "unknown" => Outcome::Unknown(why),
            "skipped" => Outcome::Skipped(why),
            _ => Outcome::Refused(why),
        }
    }
}

/// Paths in sync are told by what is wanted of them, so values that a comparer takes for one make no difference.
fn observed(desired: &str, specimen: &Specimen, changes: &[SavedChange]) -> String {
    let clear = |change: &&SavedChange| change.before != Some(Side::Secret);
    let values: Vec<Value> = changes.iter().filter(clear).map(SavedChange::observed).collect();
    seal::hash(&serde_json::json!([desired, specimen.observed.is_some(), values]))
}

impl Place {
    fn of(origin: &Origin) -> Place {
        Place { file: origin.file.to_string(), line: origin.at.line, column: origin.at.column }
    }

    fn origin(&self) -> Origin {
        Origin { file: self.file.as_str().into(), at: Pos { line: self.line, column: self.column } }
    }
}

impl SavedChange {
    /// What is shown of a change.
    fn of(change: &Change, shown: &Change) -> SavedChange {
        let side = |side: &Option<Shown>, shown: &Option<Shown>| Side::of(side.as_ref(), shown.as_ref());
        SavedChange {
            path: shown.path.to_string(),
            before: side(&change.before, &shown.before),
            after: side(&change.after, &shown.after),
            reason: shown.reason.clone(),
            line: shown.at.map(|at| at.line),
            column: shown.at.map(|at| at.column),
            set_by: shown.set_by.iter().map(|name| name.to_string()).collect(),
        }
    }

    fn change(&self) -> Change {
        Change {
            // A path that is not ours covers nothing: then what it stood for has moved.
            path: Path::parse(&self.path).unwrap_or_default(),
            before: self.before.as_ref().map(Side::shown),
            after: self.after.as_ref().map(Side::shown),
            reason: self.reason.clone(),
            at: self.line.zip(self.column).map(|(line, column)| Pos { line, column }),
            set_by: self.set_by.iter().map(|name| name.as_str().into()).collect(),
            since: None,
        }
    }

    fn observed(&self) -> Value {
        match &self.before {
            Some(Side::Value(value)) => serde_json::json!([self.path, value]),
            _ => serde_json::json!([self.path]),
        }
    }
}

impl Note {
    fn of(finding: &Finding) -> Note {
        Note { code: finding.code.into(), message: finding.message.clone(), hint: finding.hint.clone() }
    }

    fn finding(&self) -> Finding {
        let code = CODES.into_iter().find(|code| **code == *self.code).unwrap_or("Noted");
        Finding { code, message: self.message.clone(), hint: self.hint.clone() }
    }
}
