//! A run as other programs around it want it: a comment, a page, test results, findings, annotations.
//!
//! All five are written from one `Told` at the end of the run, which holds the same report that text and JSON are
//! made of: nothing is counted or compared here. What the run said besides, on standard error, is in it too, so that a
//! run that could not even begin has a document.

mod aside;
mod github;
mod html;
mod junit;
mod markdown;
pub mod places;
mod row;
mod sarif;

#[cfg(test)]
mod sample;

use crate::core::exit::Exit;
use crate::core::identity::ObjectId;
use crate::core::node::Origin;
use crate::core::problem::Problem;
use crate::core::redact::Redactor;
use crate::core::report::Report;
use crate::core::scrub;

use super::paint::{Line, Text};
use super::summary;
use super::text::{self, View};
use super::words::counted;

use aside::Aside;
pub use github::harmless;
pub use places::Places;
use row::Row;

/// The formats that only reports have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ci {
    /// A comment below a pull request.
    Markdown,
    /// One page.
    Html,
    /// Results of tests.
    Junit,
    /// Findings of an analysis, as SARIF 2.1.0.
    Sarif,
    /// Workflow commands of GitHub Actions.
    Github,
}

/// What a run has said so far, as it was said: it is looked through for secrets when it is written.
#[derive(Default)]
pub struct Gathered {
    report: Option<(Report, View)>,
    valid: Option<Valid>,
    /// What stands above a report: what a saved plan is.
    above: Vec<Line>,
    problems: Vec<Problem>,
}

/// What `validate` found to be well.
#[derive(Clone, Debug, Default)]
pub struct Valid {
    /// Each document, and where it stands.
    pub documents: Vec<(ObjectId, Origin)>,
    /// All of it in one sentence.
    pub summary: String,
    /// What is valid and worth knowing.
    pub risks: Vec<Problem>,
}

impl Gathered {
    pub fn report(&mut self, report: &Report, view: &View) {
        // Nobody has seen any of it before.
        let view = View { objects: true, fields: true, ..*view };
        self.report = Some((report.clone(), view));
    }

    pub fn valid(&mut self, valid: Valid) {
        self.problems.extend(valid.risks.iter().cloned());
        self.valid = Some(valid);
    }

    pub fn above(&mut self, text: Text) {
        self.above.extend(text.lines);
    }

    pub fn problem(&mut self, problem: &Problem) {
        self.problems.push(problem.clone());
    }

    /// The document of a run of `command` that ends as `exit`.
    pub fn written(
        &self,
        form: Ci,
        command: &str,
        exit: Exit,
        places: &Places,
        redactor: &Redactor,
    ) -> String {
        let report = self.report.as_ref().map(|(report, view)| (scrub::report(report, redactor), *view));
        let problems: Vec<Problem> =
            self.problems.iter().map(|problem| scrub::problem(problem, redactor)).collect();
        let valid = self.valid.as_ref().map(|valid| Valid {
            documents: valid
                .documents
                .iter()
                .map(|(id, origin)| (scrub::id(id, redactor), origin.clone()))
                .collect(),
            ..valid.clone()
        });
        let seen = |line: &Line| line.write(false, |span| redactor.text(span).into_owned());
        let above = self.above.iter().map(&seen).collect();
        let notes = report.as_ref().map(|(report, view)| text::notes(report, view)).unwrap_or_default();
        let notes = notes.lines.iter().map(&seen).collect();
        let brief = report.as_ref().map(|(report, view)| text::brief_notes(report, view)).unwrap_or_default();
        let brief = brief.lines.iter().map(&seen).collect();
        let told = Told {
            command,
            report: report.as_ref().map(|(report, view)| (report, view)),
            valid: valid.as_ref(),
            above,
            notes,
            brief,
            problems: &problems,
            exit,
            places,
        };
        match form {
            Ci::Markdown => markdown::document(&told),
            Ci::Html => html::document(&told),
            Ci::Junit => junit::document(&told),
            Ci::Sarif => sarif::document(&told),
            Ci::Github => github::lines(&told),
        }
    }
}

/// A whole run, without secrets.
struct Told<'t> {
    command: &'t str,
    report: Option<(&'t Report, &'t View)>,
    valid: Option<&'t Valid>,
    /// Plain lines before all others.
    above: Vec<String>,
    /// Plain lines about the run as a whole.
    notes: Vec<String>,
    /// The same without what [`Told::asides`] has.
    brief: Vec<String>,
    problems: &'t [Problem],
    exit: Exit,
    places: &'t Places,
}

impl Told<'_> {
    /// All objects, in the order of the report.
    fn rows(&self) -> Vec<Row<'_>> {
        self.report.map(|(report, view)| row::all(report, view)).unwrap_or_default()
    }

    /// What is said of objects besides, each at its place.
    fn asides(&self) -> Vec<Aside<'_>> {
        self.report.map(|(report, _)| aside::all(report)).unwrap_or_default()
    }

    /// What it came to, in one plain sentence.
    fn summary(&self) -> String {
        if let Some((report, view)) = self.report {
            return summary::line(report, view.verb, view.elapsed).write(false, str::to_owned);
        }
        if let Some(valid) = self.valid {
            return valid.summary.clone();
        }
        let errors = self.problems.iter().filter(|problem| !problem.warning).count();
        match errors {
            0 => format!("`trueup {}` came to no result: exit code {}.", self.command, self.exit.code()),
            _ => format!(
                "`trueup {}` came to no result, for {}: exit code {}.",
                self.command,
                counted(errors, "error"),
                self.exit.code()
            ),
        }
    }

    /// Whether the run did what it was asked for, whatever it found.
    fn is_whole(&self) -> bool {
        matches!(self.exit, Exit::Success | Exit::Differs | Exit::Conflict | Exit::Refused)
    }

    /// The ref that was moved, in one plain sentence.
    fn recorded(&self) -> Option<String> {
        let recorded = self.report?.0.recorded.as_ref()?;
        let line = Line::plain(&format!("Recorded: `{}` is at {}.", recorded.name, recorded.commit));
        Some(line.write(false, str::to_owned))
    }
}
