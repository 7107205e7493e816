//! The lines of one object's changes: one line a field, and below it the lines of a long text.

use unicode_width::UnicodeWidthStr;

use crate::core::base::Side;
use crate::core::change::{Change, Reason, Shown};
use crate::core::conflict::{Conflict, Resolution};
use crate::core::fields::Immutable;
use crate::core::report::{Action, Entry, Outcome};
use crate::core::value::Value;

use super::longtext::{self, Block};
use super::paint::{Line, Style, Text};
use super::value::{LONGEST, side};

/// Where the sign of a field's line stands; its path stands two columns further.
pub const INDENT: &str = "    ";
/// Where the lines of a long text begin.
const INDENT_TEXT: &str = "          ";
/// Paths and values wider than this do not push the columns behind them.
const WIDEST: usize = 44;
/// Between two columns.
const GAP: usize = 3;

/// The sides of a change as they stand on its line, and what follows below it.
struct Row {
    sign: (Style, &'static str),
    path: String,
    sides: Line,
    below: Vec<Line>,
    reason: (Style, String),
}

/// The changes of an object, in their order, with the columns aligned.
pub fn lines(entry: &Entry) -> Text {
    let rows: Vec<Row> = entry.changes.iter().map(|change| row(entry, change)).collect();
    let column =
        |width: fn(&Row) -> usize| rows.iter().map(width).filter(|w| *w <= WIDEST).max().unwrap_or(0);
    let paths = column(|row| row.path.width());
    let sides = column(|row| row.sides.width());
    let mut text = Text::new();
    for row in rows {
        let mut line = Line::plain(INDENT).with(row.sign.0, row.sign.1);
        let start = line.width();
        line.push(Style::Plain, &row.path);
        line.pad(start + paths + GAP, GAP);
        line.append(row.sides);
        if !row.reason.1.is_empty() {
            line.pad(start + paths + GAP + sides + GAP, GAP);
            line.push(row.reason.0, &row.reason.1);
        }
        text.push(line);
        for below in row.below {
            let mut line = Line::plain(INDENT_TEXT);
            line.append(below);
            text.push(line);
        }
    }
    text
}

fn row(entry: &Entry, change: &Change) -> Row {
    let sign = match (&change.before, &change.after) {
        (Some(_), None) => (Style::Bad, "- "),
        (None, Some(_)) if entry.action != Action::Create => (Style::Good, "+ "),
        _ => (Style::Plain, "  "),
    };
    let (sides, below) = match conflict(entry, change) {
        Some(_) => (Line::new(), Vec::new()),
        None => sides(change),
    };
    Row { sign, path: change.path.to_string(), sides, below, reason: reason(entry, change) }
}

/// `before → after`, or the one side that there is; texts that are long are shown by their difference.
pub fn sides(change: &Change) -> (Line, Vec<Line>) {
    if let Some((before, after)) = texts(change) {
        if longtext::is_block(before, after) {
            if let Some(Block { heading, lines }) = longtext::block(before, after) {
                return (Line::new().with(Style::Change, &heading), lines);
            }
        } else if before.chars().count().min(after.chars().count()) > LONGEST
            && let Some(line) = longtext::words(before, after)
        {
            return (line, Vec::new());
        }
    }
    let line = match (&change.before, &change.after) {
        (Some(before), Some(after)) if change.is_secret() => {
            let secret = if matches!(after, Shown::Secret) { after } else { before };
            Line::new().with(Style::Change, &side(secret, true))
        }
        (Some(before), Some(after)) => Line::new()
            .with(Style::Bad, &side(before, true))
            .with(Style::Dim, " → ")
            .with(Style::Good, &side(after, true)),
        (Some(before), None) => Line::new().with(Style::Bad, &side(before, false)),
        (None, Some(after)) => Line::new().with(Style::Good, &side(after, false)),
        (None, None) => Line::new(),
    };
    (line, Vec::new())
}

/// Both sides, when both are texts.
fn texts(change: &Change) -> Option<(&str, &str)> {
    match (&change.before, &change.after) {
        (Some(Shown::Value(Value::String(before))), Some(Shown::Value(Value::String(after)))) => {
            Some((before, after))
        }
        _ => None,
    }
}

/// Whether consent is what a refused replacement wants for.
fn wants_consent(entry: &Entry) -> bool {
    let why = entry.result.explanation();
    why.is_some_and(|why| why.hint.as_deref().is_some_and(|hint| hint.contains("--replace")))
}

/// Why the line is there, in words, and who set what the server has. The fields of an object that is created
/// need none.
pub fn reason(entry: &Entry, change: &Change) -> (Style, String) {
    let (style, mut words) = bare_reason(entry, change);
    if !change.set_by.is_empty() && !words.contains(", held by ") {
        let names: Vec<String> = change.set_by.iter().map(|name| format!("`{name}`")).collect();
        words = format!("{words}, set by {}", names.join(", "));
    }
    (style, words)
}

/// The three sides of a change that both made, and what becomes of it.
fn conflict(entry: &Entry, change: &Change) -> Option<(Style, String)> {
    let told = entry.conflicts.iter().find(|conflict| conflict.path.as_ref() == Some(&change.path));
    let found = told.cloned().or_else(|| Conflict::since_base(change))?;
    let sides = found.sides(&|shown| side(shown, true));
    Some(match found.resolution {
        Resolution::Forced => (Style::Change, format!("forced: {sides}")),
        Resolution::Reported | Resolution::GivenUp => (Style::Bad, format!("conflict: {sides}")),
    })
}

/// Why the line is there, and who made the difference where there is a base.
fn bare_reason(entry: &Entry, change: &Change) -> (Style, String) {
    if let Some(told) = conflict(entry, change) {
        return told;
    }
    let (style, words) = own_reason(entry, change);
    let Some(since) = &change.since else { return (style, words) };
    let who = match (since.side, &change.reason) {
        (Side::Pending, Reason::Declared) => "pending: changed in the files".into(),
        (Side::Drift, Reason::Declared) => "drift: changed on the server".into(),
        (Side::Both, Reason::Declared) => "pending and drift: changed in the files and on the server".into(),
        (Side::Both, _) => format!("pending and drift: {words}"),
        (side, _) => format!("{}: {words}", side.word()),
    };
    (style, who)
}

fn own_reason(entry: &Entry, change: &Change) -> (Style, String) {
    let refused = matches!(entry.result, Outcome::Refused(_));
    match change.reason {
        Reason::Declared if entry.action == Action::Create => (Style::Dim, String::new()),
        Reason::Declared if change.before.is_none() => (Style::Dim, "missing on the server".into()),
        Reason::Declared => (Style::Dim, "differs on the server".into()),
        Reason::Unset => (Style::Dim, "null: must not be set".into()),
        Reason::Closed => (Style::Dim, "closed: not declared".into()),
        Reason::ListOwned => (Style::Dim, "not in the declared list".into()),
        Reason::Left => (Style::Dim, "declared no longer".into()),
        Reason::Reordered => (Style::Dim, "order: the same elements, in another order".into()),
        Reason::Immutable(Immutable::Replace) if refused && wants_consent(entry) => {
            (Style::Bad, format!("immutable: refused, needs --replace {}", entry.id.slashed()))
        }
        Reason::Immutable(Immutable::Replace) if refused => (Style::Bad, "immutable: refused".into()),
        Reason::Immutable(Immutable::Replace) => (Style::Dim, "immutable: the object is replaced".into()),
        Reason::Immutable(Immutable::Refuse) => {
            (Style::Bad, "immutable: refused, cannot be changed once it is there".into())
        }
    }
}
