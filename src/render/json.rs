//! A report for machines: one document, or one object a line and the summary last.
//!
//! The shape is a promise (`schemaVersion`): members are added, never renamed. A side of a change that is
//! not there is left out, so that JSON null can mean null; a secret's sides are left out as well.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::core::accept::Acceptance;
use crate::core::base::Side;
use crate::core::change::{Change, Reason, Shown};
use crate::core::escape;
use crate::core::exit::Verb;
use crate::core::fields::Immutable;
use crate::core::identity::{Key, ObjectId};
use crate::core::needed::Added;
use crate::core::node::Origin;
use crate::core::report::{Action, Entry, Finding, LeftFiles, Report};
use crate::core::tally::Tally;
use crate::core::value::Value;

use super::contest::Contest;
use super::{server_only, tolerated};

/// The version of every JSON shape that the program prints.
pub const SCHEMA_VERSION: u32 = 1;

/// A whole report.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'r> {
    schema_version: u32,
    command: &'static str,
    summary: Summary,
    objects: Vec<Object<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left: Vec<Left<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    added: Vec<Needed<'r>>,
    /// What is accepted of what differs, and the entries of the file that says so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    accepted: Vec<tolerated::Object<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    acceptances: Option<Vec<tolerated::Entry<'r>>>,
    /// What only the server has, where somebody asks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    undeclared: Vec<server_only::Object<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<Moved<'r>>,
}

/// What nobody chose, and takes part as something chosen needs it.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Needed<'r> {
    identity: Identity<'r>,
    needed_by: Identity<'r>,
}

/// What the base has and the files have no longer.
#[derive(serde::Serialize)]
struct Left<'r> {
    identity: Identity<'r>,
    position: Position<'r>,
}

/// The ref that was moved to what was applied.
#[derive(serde::Serialize)]
struct Moved<'r> {
    name: &'r str,
    commit: &'r str,
}

/// A line of NDJSON.
#[derive(serde::Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Row<'r> {
    Object(Object<'r>),
    Left(Left<'r>),
    Added(Needed<'r>),
    Accepted(tolerated::Object<'r>),
    Acceptance(tolerated::Entry<'r>),
    Undeclared(server_only::Object<'r>),
    #[serde(rename_all = "camelCase")]
    Summary {
        schema_version: u32,
        command: &'static str,
        summary: Summary,
        #[serde(skip_serializing_if = "Option::is_none")]
        recorded: Option<Moved<'r>>,
    },
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    /// All objects of the run, those in sync too.
    total: usize,
    actions: Actions,
    results: Results,
    /// Items that listings and reads showed, wanted or not.
    seen: usize,
    requests: Requests,
    interrupted: bool,
    /// Values that could not be compared, their secrets not being there.
    not_compared: usize,
}

#[derive(Default, serde::Serialize)]
struct Actions {
    none: usize,
    create: usize,
    update: usize,
    replace: usize,
    delete: usize,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "kebab-case")]
struct Results {
    in_sync: usize,
    planned: usize,
    done: usize,
    /// Only of a saved plan: there where it is not zero.
    #[serde(skip_serializing_if = "is_zero")]
    already_applied: usize,
    refused: usize,
    conflict: usize,
    failed: usize,
    unknown: usize,
    not_effective: usize,
    skipped: usize,
    extra: usize,
    /// Only where a file says what is accepted.
    #[serde(skip_serializing_if = "is_zero")]
    accepted: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[derive(serde::Serialize)]
struct Requests {
    list: u64,
    read: u64,
    login: u64,
    create: u64,
    update: u64,
    delete: u64,
    total: u64,
}

#[derive(serde::Serialize)]
struct Object<'r> {
    identity: Identity<'r>,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<Position<'r>>,
    action: &'static str,
    result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'r str>,
    /// The name of the case, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    wrote: bool,
    /// Who made the difference since the base.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<&'static str>,
    changes: Vec<Field<'r>>,
    /// Fields that both sides changed, and what becomes of each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conflicts: Vec<Contest<'r>>,
    findings: Vec<Note<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<Suggestion<'r>>,
}

/// A line for the kind's `fields` in the backend, with which what differs would be as good.
#[derive(serde::Serialize)]
struct Suggestion<'r> {
    path: String,
    words: &'r [String],
    line: String,
    why: &'static str,
}

/// `{backend, kind, key}`, the key by the names of its parts.
#[derive(serde::Serialize)]
pub struct Identity<'r> {
    backend: &'r str,
    kind: &'r str,
    #[serde(serialize_with = "key_parts")]
    key: &'r Key,
}

impl<'r> Identity<'r> {
    pub fn of(id: &'r ObjectId) -> Identity<'r> {
        Identity { backend: &id.kind.backend, kind: &id.kind.kind, key: &id.key }
    }
}

fn key_parts<S: Serializer>(key: &&Key, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(key.parts().len()))?;
    for (name, value) in key.parts() {
        map.serialize_entry(&**name, value)?;
    }
    map.end()
}

/// `{file, line, column}`
#[derive(serde::Serialize)]
pub struct Position<'r> {
    file: &'r str,
    line: u32,
    column: u32,
}

impl<'r> Position<'r> {
    pub fn of(origin: &'r Origin) -> Position<'r> {
        Position { file: &origin.file, line: origin.at.line, column: origin.at.column }
    }
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Field<'r> {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<&'r Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<&'r Value>,
    /// A reference whose value is not known yet, as written; in place of `after`.
    #[serde(skip_serializing_if = "Option::is_none")]
    later: Option<&'r str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    secret: bool,
    reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    /// Who set what the server has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    set_by: Vec<&'r str>,
    /// Who made the difference since the base.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<&'static str>,
    /// What the base has; left out like any side that is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<&'r Value>,
}

#[derive(serde::Serialize)]
struct Note<'r> {
    code: &'static str,
    message: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'r str>,
}

/// The report as one document. Objects in sync are left out unless `verbose`.
pub fn document(report: &Report, verb: Verb, verbose: bool) -> String {
    pretty(&Document {
        schema_version: SCHEMA_VERSION,
        command: verb.word(),
        summary: summary(report),
        objects: shown(report, verbose).map(|entry| object(entry, verbose)).collect(),
        left: report.left.iter().map(left).collect(),
        added: report.added.iter().map(needed).collect(),
        accepted: tolerated::objects(report).collect(),
        acceptances: tolerated::entries(report),
        undeclared: server_only::objects(&report.server_only).collect(),
        recorded: recorded(report),
    })
}

/// The report as lines: one an object, then the summary. A reader that finds no summary has not got all.
pub fn lines(report: &Report, verb: Verb, verbose: bool) -> String {
    let mut text: String =
        shown(report, verbose).map(|entry| line(&Row::Object(object(entry, verbose)))).collect();
    text.extend(report.left.iter().map(|one| line(&Row::Left(left(one)))));
    text.extend(report.added.iter().map(|one| line(&Row::Added(needed(one)))));
    text.extend(tolerated::objects(report).map(|one| line(&Row::Accepted(one))));
    let acceptances = tolerated::entries(report).into_iter().flatten();
    text.extend(acceptances.map(|one| line(&Row::Acceptance(one))));
    text.extend(server_only::objects(&report.server_only).map(|one| line(&Row::Undeclared(one))));
    let (schema_version, command) = (SCHEMA_VERSION, verb.word());
    let (summary, recorded) = (summary(report), recorded(report));
    text.push_str(&line(&Row::Summary { schema_version, command, summary, recorded }));
    text
}

/// Indented JSON, with a line end.
pub fn pretty(value: &impl Serialize) -> String {
    escape::json(serde_json::to_string_pretty(value).expect("what is printed has text keys only")) + "\n"
}

/// JSON on one line, with its end.
pub fn line(value: &impl Serialize) -> String {
    escape::json(serde_json::to_string(value).expect("what is printed has text keys only")) + "\n"
}

fn left(left: &LeftFiles) -> Left<'_> {
    Left { identity: Identity::of(&left.id), position: Position::of(&left.origin) }
}

fn needed(added: &Added) -> Needed<'_> {
    Needed { identity: Identity::of(&added.id), needed_by: Identity::of(&added.needed_by) }
}

fn recorded(report: &Report) -> Option<Moved<'_>> {
    report.recorded.as_ref().map(|recorded| Moved { name: &recorded.name, commit: &recorded.commit })
}

fn shown(report: &Report, verbose: bool) -> impl Iterator<Item = &Entry> {
    report.objects.iter().filter(move |entry| verbose || !entry.is_quiet())
}

fn summary(report: &Report) -> Summary {
    let tally = Tally::of(report);
    let mut actions = Actions::default();
    for entry in &report.objects {
        *match entry.action {
            Action::None => &mut actions.none,
            Action::Create => &mut actions.create,
            Action::Update => &mut actions.update,
            Action::Replace => &mut actions.replace,
            Action::Delete => &mut actions.delete,
        } += 1;
    }
    let sent = &report.requests;
    Summary {
        total: tally.total(),
        actions,
        results: Results {
            in_sync: tally.in_sync,
            planned: tally.planned.total(),
            done: tally.done.total(),
            already_applied: tally.applied,
            refused: tally.refused,
            conflict: tally.conflict,
            failed: tally.failed,
            unknown: tally.unknown,
            not_effective: tally.not_effective,
            skipped: tally.skipped,
            extra: tally.extra,
            accepted: tally.accepted,
        },
        seen: report.seen.count(),
        requests: Requests {
            list: sent.list,
            read: sent.read,
            login: sent.login,
            create: sent.create,
            update: sent.update,
            delete: sent.delete,
            total: sent.total(),
        },
        interrupted: report.interrupted,
        not_compared: tally.not_compared,
    }
}

fn object(entry: &Entry, verbose: bool) -> Object<'_> {
    // What holds of a kind is told of each object that is written so: it is that object's risk.
    let told = |finding: &&Finding| verbose || entry.action == Action::Update || !finding.is_of_its_kind();
    let verdict = entry.verdict();
    let why = verdict.explanation();
    Object {
        identity: Identity::of(&entry.id),
        position: entry.origin.as_ref().map(Position::of),
        action: entry.action.word(),
        result: verdict.word(),
        message: why.map(|why| why.message.as_str()),
        hint: why.and_then(|why| why.hint.as_deref()),
        reason: why.and_then(|why| why.reason),
        wrote: entry.wrote,
        origin: entry.since.map(Side::word),
        changes: entry.changes.iter().map(field).collect(),
        conflicts: entry.conflicts.iter().map(|conflict| Contest::of(&entry.id, conflict)).collect(),
        findings: entry.findings.iter().filter(told).map(finding).collect(),
        suggestions: entry.accepted.iter().map(suggestion).collect(),
    }
}

/// One object of a report, as a value to add to.
pub fn entry(entry: &Entry) -> Value {
    serde_json::to_value(object(entry, true)).expect("what is printed has text keys only")
}

fn suggestion(accepted: &Acceptance) -> Suggestion<'_> {
    let Acceptance { path, words, why, .. } = accepted;
    Suggestion { path: path.to_string(), words, line: accepted.line(), why }
}

fn finding(finding: &Finding) -> Note<'_> {
    Note { code: finding.code, message: &finding.message, hint: finding.hint.as_deref() }
}

fn field(change: &Change) -> Field<'_> {
    let secret = change.is_secret();
    Field {
        path: change.path.to_string(),
        before: change.before.as_ref().and_then(known).filter(|_| !secret),
        after: change.after.as_ref().and_then(known).filter(|_| !secret),
        later: change.after.as_ref().and_then(|side| match side {
            Shown::Later(text) => Some(&**text),
            _ => None,
        }),
        secret,
        reason: reason(&change.reason),
        line: change.at.map(|at| at.line),
        set_by: change.set_by.iter().map(|name| &**name).collect(),
        origin: change.since.as_ref().map(|since| since.side.word()),
        base: change.since.as_ref().and_then(|since| since.base.as_ref()).and_then(known).filter(|_| !secret),
    }
}

/// A side that can be said as JSON.
pub fn known(side: &Shown) -> Option<&Value> {
    match side {
        Shown::Value(value) => Some(value),
        Shown::Secret | Shown::Later(_) => None,
    }
}

fn reason(reason: &Reason) -> &'static str {
    match reason {
        Reason::Declared => "declared",
        Reason::Unset => "unset",
        Reason::Closed => "closed",
        Reason::ListOwned => "list-owned",
        Reason::Left => "left",
        Reason::Reordered => "reordered",
        Reason::Immutable(Immutable::Replace) => "immutable-replace",
        Reason::Immutable(Immutable::Refuse) => "immutable-refuse",
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
