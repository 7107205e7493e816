//! An object of a report, as all formats of this folder see it.

use crate::core::exit::Verb;
use crate::core::node::Origin;
use crate::core::problem::Problem;
use crate::core::report::{Action, Entry, Finding, Outcome, Report};
use crate::core::set::OWN;

use super::super::paint::Text;
use super::super::text::{self, View};

/// How an object stands, as results of tests have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// As it is to be.
    Well,
    /// It differs, or something that is known forbids that it is changed.
    Failure,
    /// What was tried went wrong, or nothing certain is known.
    Error,
    /// Nothing was tried.
    Skipped,
}

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Note,
    Warning,
    Error,
}

/// An object.
pub struct Row<'t> {
    pub entry: &'t Entry,
    /// With its backend, where the report has several.
    pub name: String,
    pub standing: Standing,
    pub level: Level,
    /// What became of it, from a fixed vocabulary.
    pub rule: &'static str,
    /// The same for people: `to update`, `not effective`.
    pub state: &'static str,
    /// Whether text and JSON list it.
    pub listed: bool,
}

/// All objects of a report, in its order.
pub fn all<'t>(report: &'t Report, view: &View) -> Vec<Row<'t>> {
    let mut backends = report.objects.iter().map(|entry| &*entry.id.kind.backend).filter(|name| *name != OWN);
    let first = backends.next();
    let many = backends.any(|backend| Some(backend) != first);
    report.objects.iter().map(|entry| Row::of(entry, view, many)).collect()
}

impl<'t> Row<'t> {
    fn of(entry: &'t Entry, view: &View, many: bool) -> Row<'t> {
        let (standing, level, rule, state) = standing(entry, view.verb);
        let name = match many && *entry.id.kind.backend != *OWN {
            true => format!("{}/{}", entry.id.kind.backend, entry.id),
            false => entry.id.to_string(),
        };
        let listed = view.verbose || !entry.is_quiet();
        Row { entry, name, standing, level, rule, state, listed }
    }

    /// Its fields and the sentences about it, with their meaning.
    pub fn text(&self) -> Text {
        text::details(self.entry)
    }

    /// The same as plain lines, without the space before them all.
    pub fn lines(&self) -> Vec<String> {
        let plain = self.text().to_plain();
        plain.lines().map(|line| line.strip_prefix("    ").unwrap_or(line).to_owned()).collect()
    }

    /// What is known of it besides, if it is more than what holds of its kind.
    pub fn findings(&self) -> impl Iterator<Item = &'t Finding> {
        self.entry.findings.iter().filter(|finding| !finding.is_of_its_kind())
    }

    /// Who made the difference, of an object that comes or goes whole.
    pub fn since(&self) -> Option<&'static str> {
        text::since(self.entry).map(|(_, words)| words)
    }

    pub fn origin(&self) -> Option<&'t Origin> {
        self.entry.origin.as_ref()
    }
}

fn standing(entry: &Entry, verb: Verb) -> (Standing, Level, &'static str, &'static str) {
    use Standing::{Error, Failure, Skipped, Well};
    let verdict = entry.verdict();
    let word = verdict.word();
    match (verdict, entry.action) {
        (Outcome::InSync, _) => {
            (Well, Level::Note, word, if verb == Verb::Delete { "gone" } else { "in sync" })
        }
        (Outcome::Applied, _) => (Well, Level::Note, word, "already applied"),
        (Outcome::Done, action) => (Well, Level::Note, word, done(action)),
        (Outcome::Planned, action) => {
            // A plan is what somebody wants to see; drift nobody wants, and what an apply leaves was not consented to.
            let level = match verb {
                Verb::Plan => Level::Note,
                Verb::Drift => Level::Warning,
                Verb::Apply | Verb::Delete => Level::Error,
            };
            let (rule, state) = due(action);
            (Failure, level, rule, state)
        }
        (Outcome::Refused(_), _) => (Failure, Level::Error, word, word),
        (Outcome::Conflict(_), _) => (Failure, Level::Error, word, word),
        (Outcome::NotEffective(_), _) => (Failure, Level::Error, word, "not effective"),
        (Outcome::Failed(_), _) => (Error, Level::Error, word, word),
        (Outcome::Unknown(_), _) => (Error, Level::Error, word, word),
        (Outcome::Skipped(_), _) => (Skipped, Level::Warning, word, word),
        (Outcome::Extra(_), _) => (Skipped, Level::Note, word, word),
    }
}

fn done(action: Action) -> &'static str {
    match action {
        Action::None => "in sync",
        Action::Create => "created",
        Action::Update => "updated",
        Action::Replace => "replaced",
        Action::Delete => "deleted",
    }
}

fn due(action: Action) -> (&'static str, &'static str) {
    match action {
        Action::None => ("none", "in sync"),
        Action::Create => ("create", "to create"),
        Action::Update => ("update", "to update"),
        Action::Replace => ("replace", "to replace"),
        Action::Delete => ("delete", "to delete"),
    }
}

/// The rule of what was said on standard error.
pub fn rule(problem: &Problem) -> &'static str {
    match (problem.warning, &problem.origin) {
        (true, _) => "warning",
        (false, Some(_)) => "input",
        (false, None) => "run",
    }
}

/// What it says, and below it the next step.
pub fn said(problem: &Problem) -> String {
    match &problem.hint {
        Some(hint) => format!("{}\nhint: {hint}", problem.message),
        None => problem.message.clone(),
    }
}

pub fn level(problem: &Problem) -> Level {
    if problem.warning { Level::Warning } else { Level::Error }
}
