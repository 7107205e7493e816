//! What a file of accepted drift comes to: the objects with what is accepted of them, for people and for machines.

use crate::core::report::Report;
use crate::core::tolerance::{Tolerance, Tolerances, Tolerated};
use crate::core::value::Value;

use super::change::{self, INDENT};
use super::json::{self, Position};
use super::paint::{Line, Style, Text};

/// One entry of the file.
#[derive(serde::Serialize)]
pub struct Entry<'r> {
    object: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    until: String,
    reason: &'r str,
    position: Position<'r>,
    /// `holds`, `expired` or `unused`; left out where it stands with an object.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
}

/// An object with what is accepted of it.
#[derive(serde::Serialize)]
pub struct Object<'r> {
    #[serde(flatten)]
    object: Value,
    /// Whether nothing else of it differs.
    whole: bool,
    /// By change, what accepts it; for an object without changes the one that accepts all of it.
    by: Vec<Entry<'r>>,
}

/// The objects with what is accepted of them.
pub fn objects(report: &Report) -> impl Iterator<Item = Object<'_>> {
    all(report).flat_map(|all| &all.objects).map(object)
}

fn object(one: &Tolerated) -> Object<'_> {
    let by = one.by.iter().map(|by| entry(by, None)).collect();
    Object { object: json::entry(&one.entry), whole: one.whole, by }
}

/// The entries of the file, where there is one.
pub fn entries(report: &Report) -> Option<Vec<Entry<'_>>> {
    let all = report.tolerances.as_ref()?;
    Some(all.entries.iter().map(|(one, standing)| entry(one, Some(standing.word()))).collect())
}

fn all(report: &Report) -> impl Iterator<Item = &Tolerances> {
    report.tolerances.iter()
}

fn entry<'r>(one: &'r Tolerance, state: Option<&'static str>) -> Entry<'r> {
    let Tolerance { object, path, until, reason, origin } = one;
    let path = path.as_ref().map(ToString::to_string);
    Entry { object, path, until: until.to_string(), reason, position: Position::of(origin), state }
}

/// A block for each object: what differs, and why that is no matter for now.
pub fn text(report: &Report) -> Text {
    let mut text = Text::new();
    for one in all(report).flat_map(|all| &all.objects) {
        let entry = &one.entry;
        let mut head = Line::new().with(Style::Dim, "=   ").with(Style::Strong, &entry.id.to_string());
        if let Some(origin) = &entry.origin {
            head.push(Style::Aid, &format!("   {}:{}", origin.file, origin.at.line));
        }
        let what =
            if entry.changes.is_empty() { format!("   {}", entry.action.word()) } else { String::new() };
        text.push(head.with(Style::Dim, &what));
        text.append(details(one));
    }
    text
}

/// What is accepted of an object, and why.
pub fn details(Tolerated { entry, by, .. }: &Tolerated) -> Text {
    let mut text = change::lines(entry);
    let mut told: Vec<&Tolerance> = Vec::new();
    for one in by.iter().map(|one| &**one) {
        if !told.contains(&one) {
            told.push(one);
        }
    }
    for Tolerance { path, until, reason, origin, .. } in told {
        let what = path.as_ref().map(|path| format!("`{path}` ")).unwrap_or_default();
        let words = format!(": {what}until {until}: {reason}");
        let place = format!("   {}:{}", origin.file, origin.at.line);
        let line = Line::plain(INDENT).with(Style::Dim, "accepted").with(Style::Plain, &words);
        text.push(line.with(Style::Aid, &place));
    }
    text
}
