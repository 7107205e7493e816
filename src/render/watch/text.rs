//! The status document as a table for a terminal: what is wrong with the whole, what is wrong with objects, a summary.

use std::time::Duration;

use super::super::paint::{Line, Style, Text};
use super::super::words::{counted, grouped};
use super::document::{Document, Object, State};
use super::time::{read, short};
use super::trouble::{Trouble, worst_first};

/// How the text is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Objects in sync too.
    pub all: bool,
    /// How long ago the watch gave a sign of life, where that is too long.
    pub silent: Option<Duration>,
    /// Dates are told as so long ago, from this time since 1970.
    pub now: Duration,
}

/// Objects that are told at most, unless all are asked for.
const MOST: usize = 200;

/// The table.
pub fn text(document: &Document, view: &View) -> Text {
    let mut text = Text::new();
    whole(&mut text, document, view);
    let objects = worst_first(document);
    let told: Vec<_> = objects.iter().filter(|(trouble, _)| view.all || *trouble != Trouble::Ok).collect();
    let most = if view.all { told.len() } else { MOST };
    let shown = &told[..told.len().min(most)];
    let widest = |width: &dyn Fn(&Object) -> usize| {
        shown.iter().map(|(_, object)| width(object)).max().unwrap_or_default().min(48)
    };
    let name = widest(&|object| name_of(object).width());
    for (trouble, object) in shown {
        item(&mut text, *trouble, object, name, view);
    }
    if shown.len() < told.len() {
        let more = told.len() - shown.len();
        text.push(
            Line::new().with(Style::Dim, &format!("… and {} more: -v shows all", counted(more, "object"))),
        );
    }
    if !text.lines.is_empty() {
        text.push(Line::new());
    }
    text.push(summary(document));
    text.push(process(document, view));
    text
}

/// What is wrong with the watch, its files, or a backend.
fn whole(text: &mut Text, document: &Document, view: &View) {
    let mut told = |line: Line| text.push(line);
    if let Some(silent) = view.silent {
        let line = Line::new().with(Style::Bad, "the watch seems dead");
        told(line.with(
            Style::Plain,
            &format!(": no sign of life for {}; this is what it last said", short(silent)),
        ));
    }
    if !document.desired.valid {
        let line = Line::new().with(Style::Bad, "the files are not valid");
        let held = if document.desired.loads > 0 { ": the last valid ones hold" } else { "" };
        told(line.with(Style::Plain, held));
        for problem in &document.desired.problems {
            let mut line = Line::plain("    ");
            if let Some(at) = &problem.position {
                line.push(Style::Aid, &format!("{}:{}:{}: ", at.file, at.line, at.column));
            }
            told(line.with(Style::Plain, &problem.message));
        }
    }
    for target in document.targets.iter().filter(|target| target.open) {
        let line = Line::new().with(Style::Bad, &format!("backend {} is not asked", target.name));
        let why = target.message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
        told(line.with(Style::Plain, &why));
    }
    for target in document.targets.iter().filter(|target| !target.open) {
        let Some(since) = &target.silent_since else { continue };
        let line = Line::new().with(Style::Bad, &format!("nothing is heard of backend {}", target.name));
        told(
            line.with(Style::Plain, &format!(" since {since}: what is told of its objects was seen before")),
        );
    }
    for feed in document.feeds.iter().filter(|feed| !feed.up && feed.message.is_some()) {
        let line = Line::new().with(Style::Change, &format!("feed of {}", feed.name));
        let why = feed.message.as_deref().unwrap_or_default();
        let next =
            feed.next_attempt.as_ref().map(|next| format!(", next attempt {next}")).unwrap_or_default();
        told(line.with(Style::Plain, &format!(": down since {}: {why}{next}", feed.since)));
    }
    for warning in &document.warnings {
        told(Line::new().with(Style::Change, "warning").with(Style::Plain, &format!(": {warning}")));
    }
    if !text.lines.is_empty() {
        text.push(Line::new());
    }
}

fn name_of(object: &Object) -> Line {
    Line::plain(&object.identity.kind).with(Style::Plain, " ").with(Style::Strong, &object.name)
}

fn item(text: &mut Text, trouble: Trouble, object: &Object, name: usize, view: &View) {
    const WORD: usize = 15;
    let style = match trouble {
        Trouble::Ok => Style::Good,
        Trouble::Stalled | Trouble::Unknown | Trouble::NotEffective | Trouble::Failing => Style::Bad,
        _ => Style::Change,
    };
    let mut line = Line::new().with(style, trouble.word());
    line.pad(WORD, 2);
    line.append(name_of(object));
    line.pad(WORD + name + 2, 2);
    let at = &object.position;
    line.push(Style::Aid, &format!("{}:{}", at.file, at.line));
    text.push(line);
    for state in Trouble::all(object).iter().filter_map(|trouble| state(object, trouble.condition())) {
        let already = |line: &Line| line == &told(state, view);
        // Two troubles of one condition are told by one line.
        if !text.lines.last().is_some_and(already) {
            text.push(told(state, view));
        }
    }
    for found in &object.findings {
        let line = Line::plain("    ").with(Style::Strong, &found.code);
        text.push(line.with(Style::Plain, &format!(": {}", found.message)));
    }
    let wait = object.next_attempt.as_deref().and_then(read).map(|next| next.saturating_sub(view.now));
    if let Some(wait) = wait.filter(|_| object.attempts > 0) {
        let failed = counted(object.attempts as usize, "attempt");
        let line = format!("    {failed} failed in a row, next in {}", short(wait));
        text.push(Line::new().with(Style::Dim, &line));
    }
}

fn state<'o>(object: &'o Object, kind: &str) -> Option<&'o State> {
    object.conditions.iter().find(|state| state.kind == kind)
}

fn told(state: &State, view: &View) -> Line {
    let mut line = Line::plain(&format!("    {}={} ", state.kind, state.status));
    line.push(Style::Strong, &state.reason);
    if !state.message.is_empty() {
        line.push(Style::Plain, &format!(": {}", state.message));
    }
    if let Some(since) = read(&state.last_transition_time) {
        line.push(Style::Dim, &format!(" (for {})", short(view.now.saturating_sub(since))));
    }
    line
}

/// `997 of 1,000 objects in sync: 2 stalled, 1 conflict. 12 writes, 0 missed events.`
fn summary(document: &Document) -> Line {
    let objects = worst_first(document);
    let of = |wanted: Trouble| objects.iter().filter(|(trouble, _)| *trouble == wanted).count();
    let total = counted(objects.len(), "object");
    // What is not ready yet is in sync nevertheless.
    let synced = of(Trouble::Ok) + of(Trouble::NotReady);
    let mut words = format!("{} of {total} in sync", grouped(synced as u64));
    let unwell = Trouble::ALL.into_iter().filter(|trouble| *trouble != Trouble::Ok && of(*trouble) > 0);
    let unwell: Vec<String> =
        unwell.map(|trouble| format!("{} {}", grouped(of(trouble) as u64), trouble.word())).collect();
    if !unwell.is_empty() {
        words += &format!(": {}", unwell.join(", "));
    }
    let summary = &document.summary;
    let writes = counted(usize::try_from(summary.writes).unwrap_or(usize::MAX), "write");
    let missed = counted(usize::try_from(summary.missed_events).unwrap_or(usize::MAX), "missed event");
    Line::new().with(Style::Strong, &words).with(Style::Plain, &format!(". {writes}, {missed}."))
}

fn process(document: &Document, view: &View) -> Line {
    let instance = &document.instance;
    let mut facts = vec![format!("trueup {}", instance.version)];
    facts.extend((!instance.name.is_empty()).then(|| instance.name.clone()));
    facts.extend((instance.role != "alone").then(|| instance.role.to_string()));
    facts.extend(instance.dry_run.then(|| "dry run".to_owned()));
    facts.extend(
        read(&instance.started).map(|started| format!("up {}", short(view.now.saturating_sub(started)))),
    );
    facts.push(format!("as of {}", document.time));
    Line::new().with(Style::Dim, &facts.join(", "))
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
