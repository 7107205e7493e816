//! Why an object's plan is what it is: for each line the place, the rule and the comparer behind it, and why
//! lines that one might expect are not there.

use std::collections::BTreeMap;

use crate::core::change::{Change, Reason, Shown};
use crate::core::diff::explain::{Folds, Line as Explained, Why};
use crate::core::facts::{Fact, Said, Stated};
use crate::core::fields::Immutable;
use crate::core::kind::Kind;
use crate::core::node::Origin;
use crate::core::redact::Redactor;
use crate::core::report::{Action, Entry};
use crate::core::scrub;
use crate::core::value::Value;
use crate::core::veil::Veil;

use super::json::{self, Position};
use super::kind::{From, meaning};
use super::paint::{Line, Style, Text};
use super::value::{brief, side};
use super::{change, text};

/// An object, with all that explains its entry in a report.
#[derive(Clone, Debug)]
pub struct Object<'k> {
    pub entry: Entry,
    pub kind: &'k Kind,
    /// The members of the kind, as they are written.
    pub facts: &'k [Fact],
    /// What is there and what is not; none where there is nothing to compare with.
    pub lines: Vec<Explained>,
    /// Whether the server has the object.
    pub present: bool,
}

const INDENT: &str = "      ";
const BELOW: &str = "          ";

impl Object<'_> {
    /// A copy without secrets.
    pub fn scrubbed(&self, redactor: &Redactor) -> Self {
        let text = |text: &String| redactor.text(text).into_owned();
        let names = Veil::by_names(&self.kind.fields);
        let line = |line: &Explained| {
            // The change that the line is, or would be: secrets leave it as they leave any.
            let change = scrub::shown_change(&as_change(line), &names, redactor);
            let folds = line.folds.as_ref().filter(|_| !change.is_secret());
            let folds = folds.map(|folds| Folds {
                word: text(&folds.word),
                before: redactor.value(&folds.before),
                after: redactor.value(&folds.after),
            });
            let Change { path, before, after, since, .. } = change;
            Explained { path, before, after, since, folds, ..line.clone() }
        };
        Object {
            entry: scrub::shown(&self.entry, redactor),
            lines: self.lines.iter().map(line).collect(),
            ..self.clone()
        }
    }

    /// The operation that is missing, where that is why a change cannot be made in place.
    fn missing_operation(&self, line: &Explained) -> Option<String> {
        let worded = line.said.iter().any(|said| said.word.starts_with("immutable"));
        let immutable = matches!(line.why, Why::Change(Reason::Immutable(Immutable::Replace)));
        if !immutable || worded || self.kind.update.is_some() {
            return None;
        }
        let stated = self.facts.iter().find(|fact| fact.member == "update");
        let from = stated.map_or("by default".into(), |fact| place(&fact.from));
        Some(format!("`update: none`, {from}: the API cannot change a {}", self.kind.name.kind))
    }
}

fn as_change(line: &Explained) -> Change {
    Change {
        path: line.path.clone(),
        before: line.before.clone(),
        after: line.after.clone(),
        reason: match &line.why {
            Why::Change(reason) => reason.clone(),
            _ => Reason::Declared,
        },
        at: line.at,
        set_by: Vec::new(),
        since: line.since.clone(),
    }
}

/// An object, for people.
pub fn block(object: &Object) -> Text {
    let mut text = text::about(&object.entry);
    let line = |style, words: &str| Line::plain(INDENT).with(style, words);
    if !object.present && object.entry.action == Action::Create {
        text.push(line(Style::Dim, "the server has no such object: all that the document declares is sent"));
    }
    let (changes, quiet): (Vec<_>, Vec<_>) =
        object.lines.iter().partition(|line| matches!(line.why, Why::Change(_)));
    for change in changes {
        text.append(changed(object, change));
    }
    let (told, listed): (Vec<_>, Vec<_>) = quiet.into_iter().partition(|line| is_told(line));
    if object.present && object.entry.changes.is_empty() && object.entry.action == Action::None {
        text.push(line(Style::Dim, "no field differs:"));
    } else if !told.is_empty() || !listed.is_empty() {
        text.push(line(Style::Dim, "no line of the plan:"));
    }
    for one in told {
        text.append(unchanged(object, one));
    }
    text.append(groups(object, &listed));
    text
}

/// Whether a line that is no change is worth its own lines: what is declared and not plainly equal, and what
/// would have to go if it were not as good as nothing.
fn is_told(line: &Explained) -> bool {
    match line.why {
        Why::Equal => false,
        Why::AsUnset => true,
        _ => line.after.is_some(),
    }
}

/// A line of the plan, and below it all that stands behind it.
fn changed(object: &Object, line: &Explained) -> Text {
    let change = as_change(line);
    let (sides, mut below) = change::sides(&change);
    let mut head = Line::plain(INDENT).with(Style::Strong, &line.path.to_string()).with(Style::Plain, "   ");
    head.append(sides);
    let mut text = Text { lines: vec![head] };
    let (style, reason) = change::reason(&object.entry, &change);
    below.push(Line::new().with(style, &reason));
    below.extend(details(object, line));
    text.lines.extend(below.into_iter().map(indented));
    text
}

/// A line that is not in the plan, and why.
fn unchanged(object: &Object, line: &Explained) -> Text {
    let mut head = Line::plain(INDENT).with(Style::Strong, &line.path.to_string()).with(Style::Plain, "   ");
    head.push(Style::Plain, &phrase(line));
    let mut text = Text { lines: vec![head] };
    text.lines.extend(details(object, line).into_iter().map(indented));
    text
}

fn indented(line: Line) -> Line {
    let mut whole = Line::plain(BELOW);
    whole.append(line);
    whole
}

/// Where the value stands, what the comparer makes of both sides, and the words with their places.
fn details(object: &Object, line: &Explained) -> Vec<Line> {
    let mut lines = Vec::new();
    if let (Some(at), Some(origin)) = (line.at, &object.entry.origin) {
        let place = format!("{}:{}:{}", origin.file, at.line, at.column);
        lines.push(Line::plain("declared at ").with(Style::Aid, &place));
    }
    if let (Some(at), Some(since)) = (&line.at_base, &line.since) {
        let had = since.base.as_ref().map_or("as a whole".into(), |base| side(base, false));
        lines.push(Line::plain(&format!("{had} at the base, at ")).with(Style::Aid, &at.to_string()));
    } else if line.since.is_some() {
        lines.push(Line::plain("nothing at the base"));
    }
    if let Some(Folds { word, before, after }) = &line.folds {
        let same = if matches!(line.why, Why::Same) { "=" } else { "≠" };
        lines.push(Line::plain(&format!("`{word}` makes {} {same} {} of them", brief(before), brief(after))));
    }
    for Said { word, from } in &line.said {
        lines.push(Line::new().with(Style::Dim, &format!("`{word}`, {}: {}", place(from), meaning(word))));
    }
    lines.extend(object.missing_operation(line).map(|text| Line::new().with(Style::Dim, &text)));
    lines
}

/// Where a word is stated, as part of a sentence.
fn place(from: &Stated) -> String {
    match from {
        Stated::At(origin) => format!("at {origin}"),
        Stated::Preset(_) | Stated::BuiltIn => format!("by the {from}"),
    }
}

/// Why a line is not there.
fn phrase(line: &Explained) -> String {
    let one = |shown: &Option<Shown>| shown.as_ref().map_or("nothing".into(), |shown| side(shown, false));
    match &line.why {
        Why::Change(_) | Why::Equal => "equal".into(),
        Why::Same => format!("{} on the server is {} to the comparer", one(&line.before), one(&line.after)),
        Why::AsUnset => match (&line.before, &line.after) {
            (None, Some(_)) => format!("{} is what nothing on the server means", one(&line.after)),
            (Some(_), None) => format!("{} on the server is as good as nothing", one(&line.before)),
            _ => "as good as nothing on both sides".into(),
        },
        Why::Paired(Some(name)) => format!("in another order; elements are paired by `{name}`"),
        Why::Paired(None) => "in another order, which does not count".into(),
        Why::ServerOwned => "declared, and owned by the server: never sent, never compared".into(),
        Why::WriteOnly => "sent, and not compared: the server does not show it".into(),
        Why::Ignored => "not compared".into(),
        Why::Masked => "the server hides it: set, and not comparable".into(),
        Why::NoSecret => "not compared: its secret is not set here".into(),
        Why::Undeclared => "left alone: not declared".into(),
    }
}

/// What needs no line each.
fn groups(object: &Object, lines: &[&Explained]) -> Text {
    const TITLES: [(&str, &str); 5] = [
        ("equal", "equal"),
        ("undeclared", "left alone, not declared"),
        ("ignored", "not compared"),
        ("write-only", "not compared, write-only"),
        ("server-owned", "owned by the server"),
    ];
    let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for line in lines {
        groups.entry(line.why.word()).or_default().push(line.path.to_string());
    }
    let mut text = Text::new();
    for (word, title) in TITLES {
        if let Some(paths) = groups.remove(word) {
            let head = Line::plain(INDENT).with(Style::Dim, &format!("{title}: "));
            text.push(head.with(Style::Plain, &paths.join(", ")));
        }
    }
    debug_assert!(groups.is_empty(), "{:?} of {}", groups.keys(), object.entry.id);
    text
}

#[derive(serde::Serialize)]
struct Row<'r> {
    #[serde(flatten)]
    object: serde_json::Value,
    lines: Vec<Field<'r>>,
}

#[derive(serde::Serialize)]
struct Field<'r> {
    path: String,
    why: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<&'r Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<&'r Value>,
    /// Who made the difference since the base.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<&'r Value>,
    #[serde(rename = "basePosition", skip_serializing_if = "Option::is_none")]
    at_base: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    secret: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparer: Option<Comparer<'r>>,
    words: Vec<Word<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fact: Option<String>,
}

#[derive(serde::Serialize)]
struct Comparer<'r> {
    word: &'r str,
    before: &'r Value,
    after: &'r Value,
}

#[derive(serde::Serialize)]
struct Word<'r> {
    word: &'r str,
    from: From<'r>,
}

/// An object, for machines.
pub fn value(object: &Object) -> serde_json::Value {
    let lines = object.lines.iter().map(|line| field(object, line)).collect();
    let row = Row { object: json::entry(&object.entry), lines };
    serde_json::to_value(row).expect("what is printed has text keys only")
}

fn position(origin: &Origin) -> serde_json::Value {
    serde_json::to_value(Position::of(origin)).expect("a place is plain")
}

fn field<'r>(object: &'r Object, line: &'r Explained) -> Field<'r> {
    let secret = as_change(line).is_secret();
    let known = |side: &'r Option<Shown>| match side {
        Some(Shown::Value(value)) if !secret => Some(value),
        _ => None,
    };
    let place = line.at.zip(object.entry.origin.as_ref()).map(|(at, origin)| {
        let origin = Origin { file: origin.file.clone(), at };
        position(&origin)
    });
    let folds = line.folds.as_ref();
    Field {
        path: line.path.to_string(),
        why: line.why.word(),
        position: place,
        before: known(&line.before),
        after: known(&line.after),
        origin: line.since.as_ref().map(|since| since.side.word()),
        base: line.since.as_ref().and_then(|since| known(&since.base)),
        at_base: line.at_base.as_ref().map(position),
        secret,
        comparer: folds.map(|f| Comparer { word: &f.word, before: &f.before, after: &f.after }),
        words: line.said.iter().map(|s| Word { word: &s.word, from: From::of(Some(&s.from)) }).collect(),
        fact: object.missing_operation(line),
    }
}
