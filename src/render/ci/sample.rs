//! Reports that try to break out of each format.

use serde_json::json;

use crate::core::change::Reason;
use crate::core::exit::{Exit, Verb, exit};
use crate::core::node::{Origin, Pos};
use crate::core::problem::Problem;
use crate::core::redact::Redactor;
use crate::core::report::{Action, Explanation, Finding, LeftFiles, Outcome, Recorded, Report};

use super::super::sample::{change, entry, id};
use super::super::text::View;
use super::{Ci, Gathered, Places};

pub const VIEW: View = View { verb: Verb::Plan, objects: true, fields: true, verbose: false, elapsed: None };

/// A report as one of the formats, with what was said besides.
pub fn told(form: Ci, report: &Report, problems: &[Problem], verb: Verb) -> String {
    let mut gathered = Gathered::default();
    gathered.report(report, &View { verb, ..VIEW });
    problems.iter().for_each(|problem| gathered.problem(problem));
    let places = Places { folder: "/repo/infra".into(), root: "/repo".into() };
    gathered.written(form, verb.word(), exit(report, verb, true), &places, &Redactor::default())
}

/// A plan as one of the formats.
pub fn written(form: Ci, report: &Report) -> String {
    told(form, report, &[], Verb::Plan)
}

/// A run that came to no report.
pub fn failed(form: Ci, command: &str, problems: &[Problem]) -> String {
    let mut gathered = Gathered::default();
    problems.iter().for_each(|problem| gathered.problem(problem));
    gathered.written(form, command, Exit::BadInput, &Places::default(), &Redactor::default())
}

/// `text` in every place of a report that files or a server fill.
pub fn hostile(text: &str) -> Report {
    let why = || Explanation::new(text).hint(text);
    let results = [
        Outcome::Planned,
        Outcome::Failed(why()),
        Outcome::Refused(why()),
        Outcome::Conflict(why()),
        Outcome::Unknown(why()),
        Outcome::NotEffective(why()),
        Outcome::Skipped(why()),
        Outcome::Extra(why()),
        Outcome::InSync,
    ];
    let object = |result| {
        let mut object = entry("Queue", text, 1, Action::Update, result);
        object.origin = Some(Origin { file: text.into(), at: Pos { line: 7, column: 3 } });
        let block = |end: &str| json!(format!("a\nb\n{text}\nc\nd\n{text} {end}\ne"));
        object.changes = vec![
            change("a", Some(json!(text)), Some(json!({ "k": [text], text: 1 })), Reason::Declared),
            change("b", Some(block("old")), Some(block("new")), Reason::Declared),
            change("c", None, Some(json!(text)), Reason::Declared),
        ];
        object.changes[0].path = crate::core::path::Path::root().field(text);
        object.findings =
            vec![Finding { code: "PossibleOverwrite", message: text.into(), hint: Some(text.into()) }];
        object
    };
    let left = LeftFiles {
        id: id("Queue", "/", text),
        origin: Origin { file: text.into(), at: Pos { line: 1, column: 1 } },
    };
    Report {
        objects: results.into_iter().map(object).collect(),
        left: vec![left],
        recorded: Some(Recorded { name: text.into(), commit: text.into() }),
        ..Report::default()
    }
}
