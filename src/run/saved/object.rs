//! What a saved plan says of one object: what is due, what it rests on, and the hashes of both.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::core::base::Side as Who;
use crate::core::conflict::Resolution;
use crate::core::document::Document;
use crate::core::engine::Specimen;
use crate::core::engine::pledge::Pledge;
use crate::core::identity::{Key, KindName, ObjectId};
use crate::core::needed::Added;
use crate::core::node::{Origin, Pos};
use crate::core::observed::Observed;
use crate::core::redact::Redactor;
use crate::core::report::{Action, Entry, Explanation, Finding, LeftFiles, Outcome};
use crate::core::scrub;
use crate::core::value::Value;
use crate::core::veil::Veil;

use super::change::{SavedChange, Side};
use super::conflict::SavedConflict;
use super::past::SavedBase;
use super::pruned::SavedPruned;
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
    /// From a fixed vocabulary, where the case has a name.
    pub reason: Option<String>,
    pub changes: Vec<SavedChange>,
    pub conflicts: Vec<SavedConflict>,
    pub findings: Vec<Note>,
    /// The server's id of what was seen.
    pub id: Option<String>,
    /// References as they are written, and what they named.
    pub references: Vec<(String, Value)>,
    /// What is in no document, and goes along with it.
    pub along: Vec<SavedName>,
    /// What the base says of it.
    pub base: Option<SavedBase>,
    /// Whether `trueup/secret-version` is not what it was there.
    pub secret_since: bool,
    /// Who made the difference, where there is a base.
    pub since: Option<Who>,
    /// Why it is to go, where no document says so.
    pub pruned: Option<SavedPruned>,
    /// What is wanted, without secrets.
    pub desired: String,
    /// What was compared, without secrets: paths in sync are as they are wanted, the others as `changes` has them.
    pub observed: String,
}

/// The name of an object in no document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedName {
    pub backend: String,
    pub kind: String,
    pub key: Vec<(String, Value)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// An object that the base has and the files have no longer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedLeft {
    pub backend: String,
    pub kind: String,
    pub key: Vec<(String, Value)>,
    pub place: Place,
}

/// What nobody chose, and what needs it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedAdded {
    pub object: SavedName,
    pub needed_by: SavedName,
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    pub code: String,
    pub message: String,
    pub hint: Option<String>,
}

/// The codes of findings and reasons that a plan can have; another version may have more.
const CODES: [&str; 30] = [
    "ChangeLimit",
    "CreateUncertain",
    "DuplicateFound",
    "DuplicateMember",
    "FreedFirst",
    "GivenUp",
    "GoesWithParent",
    "LostUpdateRisk",
    "NoManagers",
    "NoOwnerMark",
    "NotChecked",
    "NotCompared",
    "NotRemoved",
    "NotTheApi",
    "NotTold",
    "NotVisible",
    "OtherOwner",
    "PossibleOverwrite",
    "Pruned",
    "RenameDone",
    "Reported",
    "SecretVersion",
    "SentAgain",
    "SetLater",
    "Surplus",
    "TakesAlong",
    "UnderWay",
    "WeakETag",
    "WouldStore",
    "WrongObject",
];

impl SavedObject {
    /// Of an object that was planned. `desired` is the hash of what is wanted of it; `specimen` is none of what is
    /// only told of.
    pub fn of(
        entry: &Entry,
        specimen: Option<&Specimen>,
        desired: String,
        pruned: Option<SavedPruned>,
        redactor: &Redactor,
    ) -> SavedObject {
        let shown = scrub::entry(entry, redactor);
        let why = shown.verdict().explanation();
        let pairs = entry.changes.iter().zip(&shown.changes);
        let changes: Vec<SavedChange> = pairs.map(|(change, shown)| SavedChange::of(change, shown)).collect();
        let conflicts = entry.conflicts.iter().zip(&shown.conflicts);
        let item = specimen.and_then(|specimen| specimen.observed.as_ref());
        let observed = observed(&desired, item.is_some(), &changes);
        let references = specimen.map_or(&[][..], |specimen| &specimen.references);
        let base = specimen.and_then(|specimen| {
            SavedBase::of(&specimen.base, &Veil::of_rules(&specimen.kind.fields), redactor)
        });
        let clear = |(text, value): &(Arc<str>, Value)| {
            (redactor.value(value) == *value).then(|| (text.to_string(), value.clone()))
        };
        let (backend, kind, key) = parts(&shown.id);
        SavedObject {
            backend,
            kind,
            key,
            place: shown.origin.as_ref().map(Place::of),
            action: shown.action,
            result: shown.verdict().word().to_owned(),
            message: why.map(|why| why.message.clone()),
            hint: why.and_then(|why| why.hint.clone()),
            reason: why.and_then(|why| why.reason).map(str::to_owned),
            changes,
            conflicts: conflicts.map(|(conflict, shown)| SavedConflict::of(conflict, shown)).collect(),
            findings: shown.findings.iter().map(Note::of).collect(),
            id: item.and_then(|item| item.server_id.as_deref().map(str::to_owned)),
            references: references.iter().filter_map(clear).collect(),
            along: entry.observed.along.iter().map(|id| SavedName::of(&scrub::id(id, redactor))).collect(),
            base,
            secret_since: specimen.is_some_and(|specimen| specimen.secret_since),
            since: shown.since,
            pruned,
            desired,
            observed,
        }
    }

    pub fn object_id(&self) -> ObjectId {
        id(&self.backend, &self.kind, &self.key)
    }

    /// The object as the plan's report had it.
    pub fn entry(&self) -> Entry {
        Entry {
            id: self.object_id(),
            origin: self.place.as_ref().map(Place::origin),
            action: self.action,
            result: self.outcome(),
            changes: self.changes.iter().map(SavedChange::change).collect(),
            conflicts: self.conflicts.iter().map(SavedConflict::conflict).collect(),
            findings: self.findings.iter().map(Note::finding).collect(),
            accepted: Vec::new(),
            wrote: false,
            observed: Observed {
                along: self.along.iter().map(SavedName::object_id).collect(),
                ..Observed::default()
            },
            since: self.since,
        }
    }

    /// The document that wishes it gone, where no other does.
    pub fn doomed(&self) -> Option<Document> {
        let pruned = self.pruned.as_ref()?.pruned(self.id.as_deref());
        let base = self.base.as_ref().and_then(|base| base.base().ok()).unwrap_or_default();
        let mut wish = pruned.wish(self.object_id(), self.place.as_ref()?.origin(), base);
        let conflicts = self.conflicts.iter().map(SavedConflict::conflict);
        let forced = conflicts.filter(|conflict| conflict.resolution == Resolution::Forced);
        wish.policy.forced_paths = forced.filter_map(|conflict| conflict.path).collect();
        Some(wish)
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
            along: self.along.iter().map(SavedName::object_id).collect(),
            refused,
            moved: None,
        }
    }

    fn outcome(&self) -> Outcome {
        let message = self.message.clone().unwrap_or_default();
        let reason = self.reason.as_deref().and_then(known);
        let why = Explanation { message, hint: self.hint.clone(), reason };
        match &*self.result {
            "in-sync" => Outcome::InSync,
            "planned" => Outcome::Planned,
            "conflict" => Outcome::Conflict(why),
            "failed" => Outcome::Failed(why),
            "unknown" => Outcome::Unknown(why),
            "skipped" => Outcome::Skipped(why),
            "extra" => Outcome::Extra(why),
            _ => Outcome::Refused(why),
        }
    }
}

/// Paths in sync are told by what is wanted of them, so values that a comparer takes for one make no difference.
fn observed(desired: &str, is_there: bool, changes: &[SavedChange]) -> String {
    let clear = |change: &&SavedChange| change.before != Some(Side::Secret);
    let values: Vec<Value> = changes.iter().filter(clear).map(SavedChange::observed).collect();
    seal::hash(&serde_json::json!([desired, is_there, values]))
}

impl SavedName {
    fn of(id: &ObjectId) -> SavedName {
        let (backend, kind, key) = parts(id);
        SavedName { backend, kind, key }
    }

    fn object_id(&self) -> ObjectId {
        id(&self.backend, &self.kind, &self.key)
    }
}

impl SavedAdded {
    pub fn of(added: &Added, redactor: &Redactor) -> SavedAdded {
        let name = |id: &ObjectId| {
            let (backend, kind, key) = parts(&scrub::id(id, redactor));
            SavedName { backend, kind, key }
        };
        SavedAdded { object: name(&added.id), needed_by: name(&added.needed_by) }
    }

    pub fn added(&self) -> Added {
        Added { id: self.object.object_id(), needed_by: self.needed_by.object_id() }
    }
}

impl SavedLeft {
    pub fn of(left: &LeftFiles, redactor: &Redactor) -> SavedLeft {
        let (backend, kind, key) = parts(&scrub::id(&left.id, redactor));
        SavedLeft { backend, kind, key, place: Place::of(&left.origin) }
    }

    pub fn left(&self) -> LeftFiles {
        LeftFiles { id: id(&self.backend, &self.kind, &self.key), origin: self.place.origin() }
    }
}

/// An identity as a plan has it: backend, kind, and the parts of the key.
fn parts(id: &ObjectId) -> (String, String, Vec<(String, Value)>) {
    let key = id.key.parts().iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
    (id.kind.backend.to_string(), id.kind.kind.to_string(), key)
}

fn id(backend: &str, kind: &str, key: &[(String, Value)]) -> ObjectId {
    let kind = KindName { backend: backend.into(), kind: kind.into() };
    let key = key.iter().map(|(name, value)| (name.as_str().into(), value.clone())).collect();
    ObjectId { kind, key: Key::new(key) }
}

impl Place {
    pub fn of(origin: &Origin) -> Place {
        Place { file: origin.file.to_string(), line: origin.at.line, column: origin.at.column }
    }

    pub fn origin(&self) -> Origin {
        Origin { file: self.file.as_str().into(), at: Pos { line: self.line, column: self.column } }
    }
}

/// A code of a finding or of a reason.
fn known(text: &str) -> Option<&'static str> {
    CODES.into_iter().find(|code| *code == text)
}

impl Note {
    fn of(finding: &Finding) -> Note {
        Note { code: finding.code.into(), message: finding.message.clone(), hint: finding.hint.clone() }
    }

    fn finding(&self) -> Finding {
        let code = known(&self.code).unwrap_or("Noted");
        Finding { code, message: self.message.clone(), hint: self.hint.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The codes that the engine and what it asks can give to a finding, as they stand in the source.
    #[test]
    fn every_code_of_a_finding_is_known() {
        let mut found = Vec::new();
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/core");
        let mut folders = vec![root];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder of the source") {
                let path = entry.expect("an entry").path();
                let name =
                    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                // The conditions of a watch have reasons of their own, which stand in no plan.
                if path.is_dir() && !matches!(&*name, "tests" | "watch") {
                    folders.push(path);
                } else if name.ends_with(".rs") && !name.contains("tests") {
                    codes(&std::fs::read_to_string(path).expect("a file of the source"), &mut found);
                }
            }
        }
        found.retain(|code| !CODES.contains(&code.as_str()));
        assert_eq!(found, [""; 0], "codes that a saved plan would forget");
        let mut sorted = CODES;
        sorted.sort_unstable();
        assert_eq!(CODES, sorted);
    }

    /// `const NAME: &str = "Code";` and `code: "Code"`, the tests of a file left out.
    fn codes(text: &str, found: &mut Vec<String>) {
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for begin in [": &str = \"", "code: \""] {
            for part in text.split(begin).skip(1) {
                let word = part.split('"').next().unwrap_or_default();
                let camel =
                    word.chars().skip(1).any(char::is_uppercase) && word.starts_with(char::is_uppercase);
                if camel && word.chars().all(char::is_alphanumeric) {
                    found.push(word.to_owned());
                }
            }
        }
    }
}
