//! A report for people: one block an object, one line a field, and a summary.
//!
//! Pure: a report in, lines out. The same report gives the same lines; nothing is asked of the terminal.

use std::collections::BTreeMap;
use std::time::Duration;

use unicode_width::UnicodeWidthStr;

use crate::core::base::Side;
use crate::core::exit::Verb;
use crate::core::needed::Added;
use crate::core::report::{Action, Entry, Explanation, Finding, LeftFiles, Outcome, Recorded, Report};
use crate::core::set::OWN;

use super::change::{self, INDENT};
use super::paint::{Line, Style, Text};
use super::{server_only, summary, tolerated};

/// How a report is to be told.
#[derive(Clone, Copy, Debug)]
pub struct View {
    pub verb: Verb,
    /// Whether objects are listed: not again after a plan that was shown and not carried out.
    pub objects: bool,
    /// Whether fields are listed: not again after a plan that has just listed them.
    pub fields: bool,
    /// Objects in sync too.
    pub verbose: bool,
    /// Left out where the same state must give the same bytes.
    pub elapsed: Option<Duration>,
}

/// Columns of the marker before an identity.
const MARKER: usize = 4;
/// Identities wider than this do not push the column of files behind them.
const WIDEST: usize = 60;
/// Between an identity and the file it comes from.
const GAP: usize = 3;

/// The whole report. Objects in sync take no line, unless they have a finding or all are asked for.
pub fn report(report: &Report, view: &View) -> Text {
    let mut text = match view.objects {
        true => objects(report, view),
        false => Text::new(),
    };
    text.append(notes(report, view));
    text.push(summary::line(report, view.verb, view.elapsed));
    if let Some(Recorded { name, commit }) = &report.recorded {
        text.push(Line::plain(&format!("Recorded: `{name}` is at {commit}.")));
    }
    text
}

/// What is said of the run as a whole, between its objects and its summary.
pub fn notes(report: &Report, view: &View) -> Text {
    let mut text = of_the_run(report, view);
    if view.objects {
        text.append(tolerated::text(report));
        text.append(server_only::text(&report.server_only));
        text.append(added(report, view));
        text.append(of_kinds(report, view));
    }
    text
}

/// The same without what belongs to objects: what is accepted of them, and what only the server has.
pub fn brief_notes(report: &Report, view: &View) -> Text {
    let mut text = of_the_run(report, view);
    if view.objects {
        text.append(added(report, view));
        text.append(of_kinds(report, view));
    }
    text
}

fn of_the_run(report: &Report, view: &View) -> Text {
    let mut text = Text::new();
    if report.interrupted {
        let words = match view.objects {
            true => "Interrupted: what has no result above was not settled; run the command again.",
            false => "Interrupted: nothing was written.",
        };
        text.push(Line::new().with(Style::Bad, words));
    }
    if view.objects {
        for LeftFiles { id, origin } in &report.left {
            let words = "left the files; --base alone never deletes";
            let line = Line::new().with(Style::Change, "?   ").with(Style::Strong, &id.to_string());
            let line = line.with(Style::Aid, &format!("   {}:{}", origin.file, origin.at.line));
            text.push(line.with(Style::Dim, &format!("   {words}")));
        }
    }
    text
}

/// What nobody chose, and takes part as something chosen needs it.
fn added(report: &Report, view: &View) -> Text {
    const LISTED: usize = 10;
    let listed = if view.verbose { report.added.len() } else { LISTED };
    let mut text = Text::new();
    for Added { id, needed_by } in report.added.iter().take(listed) {
        let words = format!(": `{id}`, needed by `{needed_by}`");
        text.push(Line::new().with(Style::Change, "added").with(Style::Plain, &words));
    }
    let more = report.added.len().saturating_sub(listed);
    if more > 0 {
        let words = format!(": {more} more, needed by what was chosen; -v lists them");
        text.push(Line::new().with(Style::Change, "added").with(Style::Plain, &words));
    }
    text
}

/// What holds of all objects of a kind, once each: of those that are to be updated, or of all that were looked at.
fn of_kinds(report: &Report, view: &View) -> Text {
    let mut kinds: BTreeMap<String, &Finding> = BTreeMap::new();
    let writes = |entry: &&Entry| entry.action == Action::Update && view.verb != Verb::Drift;
    for entry in report.objects.iter().filter(|entry| view.verbose || writes(entry)) {
        let name = format!("{}/{}", entry.id.kind.backend, entry.id.kind.kind);
        for finding in entry.findings.iter().filter(|finding| finding.is_of_its_kind()) {
            kinds.entry(name.clone()).or_insert(finding);
        }
    }
    let mut text = Text::new();
    for (name, Finding { code, message, hint }) in kinds {
        text.append(sentence(Style::Change, code, &format!("`{name}`: {message}"), hint.as_deref()));
    }
    text
}

/// All that is said of one object below its head: its fields, and the sentences about it.
pub fn details(entry: &Entry) -> Text {
    let mut text = change::lines(entry);
    text.append(explanations(entry, None));
    text
}

/// The head of one object's block and the sentences about it, without its fields.
pub fn about(entry: &Entry) -> Text {
    let name = entry.id.to_string();
    let column = MARKER + name.width() + GAP;
    let mut text = Text { lines: vec![head(entry, &name, column, column)] };
    text.append(explanations(entry, None));
    text
}

/// The blocks of the objects, with their files below each other.
fn objects(report: &Report, view: &View) -> Text {
    let has_line = |entry: &&Entry| view.verbose || !entry.is_quiet();
    let shown: Vec<&Entry> = report.objects.iter().filter(has_line).collect();
    let backends = || shown.iter().map(|entry| &*entry.id.kind.backend).filter(|backend| *backend != OWN);
    let many = backends().any(|backend| Some(backend) != backends().next());
    let name = |entry: &Entry| match many {
        true if *entry.id.kind.backend != *OWN => format!("{}/{}", entry.id.kind.backend, entry.id),
        _ => entry.id.to_string(),
    };
    let widths = shown.iter().map(|entry| name(entry).width()).filter(|width| *width <= WIDEST);
    let column = MARKER + widths.max().unwrap_or(0) + GAP;
    let places = shown.iter().filter_map(|entry| place(entry)).map(|place| place.width());
    let result = column + places.filter(|width| *width <= WIDEST).max().unwrap_or(0) + GAP;
    let mut text = Text::new();
    let mut told = None;
    for entry in shown {
        text.push(head(entry, &name(entry), column, result));
        if view.fields {
            text.append(change::lines(entry));
        }
        text.append(explanations(entry, told));
        told = entry.verdict().explanation();
    }
    text
}

/// The file and line that an object comes from.
fn place(entry: &Entry) -> Option<String> {
    entry.origin.as_ref().map(|origin| format!("{}:{}", origin.file, origin.at.line))
}

fn head(entry: &Entry, name: &str, column: usize, result: usize) -> Line {
    let (style, marker) = marker(entry);
    let mut line = Line::new().with(style, marker);
    line.pad(MARKER, 1);
    line.push(Style::Strong, name);
    if let Some(place) = place(entry) {
        line.pad(column, GAP);
        line.push(Style::Aid, &place);
    }
    if let Some((style, word)) = done(entry).map(|word| (Style::Good, word)).or_else(|| since(entry)) {
        line.pad(result, GAP);
        line.push(style, word);
    }
    line
}

/// Who made the difference, of an object that comes or goes whole. Of others each field says it.
pub fn since(entry: &Entry) -> Option<(Style, &'static str)> {
    Some(match (entry.since?, entry.action) {
        (Side::Drift, Action::Create) => (Style::Change, "drift: gone from the server"),
        (Side::Drift, Action::Delete) => (Style::Change, "drift: back on the server"),
        (Side::Conflict, Action::Delete) => (Style::Bad, "changed on the server since the base"),
        (_, Action::Create | Action::Delete) => (Style::Dim, "pending"),
        _ => return None,
    })
}

/// The sign of what is due, or was done; `!` where something stands in the way of knowing or doing it.
pub fn marker(entry: &Entry) -> (Style, &'static str) {
    let act = match entry.action {
        Action::None => (Style::Dim, "="),
        Action::Create => (Style::Good, "+"),
        Action::Update => (Style::Change, "~"),
        Action::Replace => (Style::Bad, "-/+"),
        Action::Delete => (Style::Bad, "-"),
    };
    match entry.verdict() {
        Outcome::InSync | Outcome::Applied => (Style::Dim, "="),
        Outcome::Planned | Outcome::Done => act,
        Outcome::Extra(_) => (Style::Change, "?"),
        Outcome::Refused(_) | Outcome::Skipped(_) if entry.action != Action::None => (Style::Bad, act.1),
        _ => (Style::Bad, "!"),
    }
}

fn done(entry: &Entry) -> Option<&'static str> {
    match (entry.verdict(), entry.action) {
        (Outcome::Done, Action::Create) => Some("created"),
        (Outcome::Done, Action::Update) => Some("updated"),
        (Outcome::Done, Action::Replace) => Some("replaced"),
        (Outcome::Done, Action::Delete) => Some("deleted"),
        (Outcome::Applied, _) => Some("already applied"),
        _ => None,
    }
}

/// The sentences of an object, each on its own line, and what to do about it below. `told` is what was said of
/// the object above: one cause that stops a thousand objects is told once.
fn explanations(entry: &Entry, told: Option<&Explanation>) -> Text {
    let mut text = Text::new();
    let verdict = entry.verdict();
    if let Some(why) = verdict.explanation() {
        let word = match verdict {
            Outcome::NotEffective(_) => "not effective",
            other => other.word(),
        };
        let mild = matches!(verdict, Outcome::Skipped(_) | Outcome::Extra(_));
        let style = if mild { Style::Change } else { Style::Bad };
        let (message, hint) =
            if told == Some(why) { ("as above", None) } else { (&*why.message, why.hint.as_deref()) };
        text.append(sentence(style, word, message, hint));
    }
    for Finding { code, message, hint } in entry.findings.iter().filter(|one| !one.is_of_its_kind()) {
        text.append(sentence(Style::Change, code, message, hint.as_deref()));
    }
    for accepted in &entry.accepted {
        let kind = &entry.id.kind;
        let line = format!(
            "`{}`, in `kinds.{}.fields` of the backend `{}`",
            accepted.line(),
            kind.kind,
            kind.backend
        );
        text.append(sentence(Style::Aid, "suggest", &format!("{line}: {}", accepted.why), None));
    }
    text
}

fn sentence(style: Style, word: &str, message: &str, hint: Option<&str>) -> Text {
    let mut text = Text::new();
    text.push(Line::plain(INDENT).with(style, word).with(Style::Plain, ": ").with(Style::Plain, message));
    if let Some(hint) = hint {
        text.push(Line::plain(INDENT).with(Style::Aid, "hint").with(Style::Plain, &format!(": {hint}")));
    }
    text
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
