use std::io;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use serde_json::json;

use super::super::paint::{Line, Style};
use super::super::sample::{change, entry, id, plan};
use super::*;
use crate::core::change::Reason;
use crate::core::exit::{Verb, exit};
use crate::core::forms;
use crate::core::report::{Action, Explanation, Finding, Outcome};
use crate::core::value::Value;

/// A sink that can be looked into, and that closes after so many bytes.
#[derive(Clone, Default)]
struct Sink {
    bytes: Arc<Mutex<Vec<u8>>>,
    fails: Option<ErrorKind>,
}

impl Sink {
    fn text(&self) -> String {
        String::from_utf8(self.bytes.lock().expect("one thread").clone()).expect("UTF-8")
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(kind) = self.fails {
            return Err(kind.into());
        }
        self.bytes.lock().expect("one thread").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const VIEW: View = View { verb: Verb::Plan, objects: true, fields: true, verbose: true, elapsed: None };

fn out(format: Format) -> (Out, Sink) {
    let sink = Sink::default();
    (Out::new(Stream::new(sink.clone(), false), Stream::new(sink.clone(), false), format), sink)
}

/// The formats that are written when a run ends.
const FORMS: [Ci; 5] = [Ci::Markdown, Ci::Html, Ci::Junit, Ci::Sarif, Ci::Github];

fn formats() -> Vec<Format> {
    let forms = FORMS.into_iter().map(Format::Ci);
    [Format::Text, Format::Json, Format::Ndjson].into_iter().chain(forms).collect()
}

/// Everything that `Out` can say, with `text` wherever a text can stand.
fn say(out: &mut Out, text: &str) {
    let mut object =
        entry("Queue", text, 1, Action::Update, Outcome::Failed(Explanation::new(text).hint(text)));
    let padded = format!("x {text} y");
    let block = |end: &str| json!(format!("a\nb\nc\nd\n{padded}\n{end}"));
    object.changes = vec![
        change("a", Some(json!(text)), Some(json!({ "k": [padded], text: 1 })), Reason::Declared),
        change("b", Some(block("old")), Some(block("new")), Reason::Declared),
        change(
            "c",
            Some(json!("w ".repeat(40) + text)),
            Some(json!("w ".repeat(40) + "z")),
            Reason::Declared,
        ),
        change("d", None, Some(json!("v".repeat(38) + text + &"v".repeat(40))), Reason::Declared),
    ];
    object.findings =
        vec![Finding { code: "PossibleOverwrite", message: padded.clone(), hint: Some(text.into()) }];
    let report = Report { objects: vec![object], ..Report::default() };
    out.report(&report, &VIEW);
    out.preview(&report, &VIEW);
    let value = json!({ "name": text, text: [padded.clone()] });
    out.items(&[Listed { id: id("Queue", "/", text), server_id: Some(text.into()), value }]);
    let mut problem = Problem::new(padded.clone()).hint(text);
    problem.excerpt = Some(padded.clone());
    out.problems(&[problem.clone()], "validate");
    out.error(&problem);
    let words = Text { lines: vec![Line::new().with(Style::Bad, &padded)] };
    out.result(&words);
    out.note(&words);
}

#[test]
fn a_guard_knows_secrets_that_are_learnt_later() {
    let (out, sink) = out(Format::Text);
    let mut guard = out.guard(sink.clone());
    out.secrets().learn(["s3cr3t"]);
    guard.write_all("panicked at s3cr3t\u{1b}[2J\n".as_bytes()).expect("a sink");
    assert_eq!(sink.text(), "panicked at (redacted)\\u{1b}[2J\n");
}

#[test]
fn quiet_leaves_out_notes_and_nothing_else() {
    let (out, sink) = out(Format::Text);
    let mut out = out.quiet(true);
    out.note(&Text { lines: vec![Line::plain("by the way")] });
    assert_eq!(sink.text(), "");
    out.error(&Problem::new("wrong"));
    assert_eq!(sink.text(), "error: wrong\n");
}

#[test]
fn a_closed_reader_is_told_by_the_exit_code() {
    use ErrorKind::{BrokenPipe, StorageFull};
    for (format, fails, before, after) in [
        (Format::Text, None, Exit::Success, Exit::Success),
        (Format::Json, None, Exit::Differs, Exit::Differs),
        (Format::Text, Some(BrokenPipe), Exit::Success, Exit::Success),
        (Format::Text, Some(BrokenPipe), Exit::Differs, Exit::Differs),
        (Format::Json, Some(BrokenPipe), Exit::Success, Exit::Failed),
        (Format::Ndjson, Some(BrokenPipe), Exit::Differs, Exit::Failed),
        (Format::Json, Some(BrokenPipe), Exit::Partial, Exit::Partial),
        (Format::Text, Some(StorageFull), Exit::Success, Exit::Failed),
        (Format::Json, Some(StorageFull), Exit::Refused, Exit::Refused),
        (Format::Ci(Ci::Junit), None, Exit::Differs, Exit::Differs),
        (Format::Ci(Ci::Junit), Some(BrokenPipe), Exit::Differs, Exit::Failed),
        (Format::Ci(Ci::Github), Some(StorageFull), Exit::Conflict, Exit::Conflict),
    ] {
        let sink = Sink { fails, ..Sink::default() };
        let mut out = Out::new(Stream::new(sink, false), Stream::new(Sink::default(), false), format);
        out.report(&plan(), &VIEW);
        out.report(&plan(), &VIEW);
        assert_eq!(out.exit(before), after, "{format:?} {fails:?}");
        assert_eq!(out.delivery() == Delivery::Whole, fails.is_none());
    }
    for (format, fails) in [(Format::Text, StorageFull), (Format::Json, BrokenPipe)] {
        let sink = Sink { fails: Some(fails), ..Sink::default() };
        let mut out = Out::new(Stream::new(sink, false), Stream::new(Sink::default(), false), format);
        let mut report = plan();
        report.objects[0].wrote = true;
        out.report(&report, &VIEW);
        assert_eq!(out.exit(Exit::Success), Exit::Partial, "something was written, and something failed");
    }
}

#[test]
fn a_runner_takes_no_text_for_a_command() {
    for (format, runner) in [(Format::Text, true), (Format::Ci(Ci::Github), false)] {
        let (out, sink) = out(format);
        let mut out = out.read_by_runner(runner);
        out.error(&Problem::new("x ##[add-mask]y"));
        out.usage("::error::x\n", true);
        out.result(&Text { lines: vec![Line::plain("  ::set-output name=a::b")] });
        assert_eq!(sink.text(), "error: x ##\\[add-mask]y\n\\::error::x\n  \\::set-output name=a::b\n");
        let mut guard = out.guard(sink.clone());
        guard.write_all(b"::stop-commands::x\n").expect("a sink");
        assert!(sink.text().ends_with("\n\\::stop-commands::x\n"));
    }
    let (mut out, sink) = out(Format::Text);
    out.error(&Problem::new("x ##[add-mask]y"));
    assert_eq!(sink.text(), "error: x ##[add-mask]y\n");
}

#[test]
fn a_run_without_a_report_has_a_document() {
    for form in FORMS {
        let (out, sink) = out(Format::Ci(form));
        let mut out = out.of("plan", Places::default());
        out.problems(&[Problem::new("duplicate key")], "plan");
        assert_eq!(sink.text(), "");
        assert_eq!(out.exit(Exit::BadInput), Exit::BadInput);
        assert!(
            sink.text().contains("duplicate key") && sink.text().contains("exit code 65"),
            "{}",
            sink.text()
        );
    }
}

/// A report of objects with any action and outcome, as an engine might or might not make it.
fn any_report() -> impl Strategy<Value = Report> {
    use Action::{Create, Delete, None, Replace, Update};
    let why = || Explanation::new("x");
    let results = vec![
        Outcome::InSync,
        Outcome::Planned,
        Outcome::Done,
        Outcome::Refused(why()),
        Outcome::Conflict(why()),
        Outcome::Failed(why()),
        Outcome::Unknown(why()),
        Outcome::NotEffective(why()),
        Outcome::Skipped(why()),
    ];
    let action = prop::sample::select(vec![None, Create, Update, Replace, Delete]);
    let object = (action, prop::sample::select(results)).prop_map(|(a, r)| entry("Queue", "a", 1, a, r));
    (prop::collection::vec(object, 0..6), prop::bool::weighted(0.1))
        .prop_map(|(objects, interrupted)| Report { objects, interrupted, ..Report::default() })
}

fn said(report: &Report, verb: Verb, format: Format) -> (String, Exit) {
    let (mut out, sink) = out(format);
    out.report(report, &View { verb, verbose: false, ..VIEW });
    let exit = out.exit(exit(report, verb, true));
    (sink.text(), exit)
}

proptest! {
    /// Text, JSON, NDJSON and the exit code tell one story (terraform #36403, jd #62).
    #[test]
    fn all_formats_and_the_exit_code_agree(
        report in any_report(),
        verb in prop::sample::select(vec![Verb::Plan, Verb::Drift, Verb::Apply, Verb::Delete]),
    ) {
        let (text, exit) = said(&report, verb, Format::Text);
        let (whole, exit_whole) = said(&report, verb, Format::Json);
        let (lines, exit_lines) = said(&report, verb, Format::Ndjson);
        prop_assert_eq!((exit, exit), (exit_whole, exit_lines));
        let last = text.trim_end().lines().last().unwrap_or_default();
        for form in FORMS {
            let (document, exit_document) = said(&report, verb, Format::Ci(form));
            prop_assert_eq!(exit, exit_document);
            prop_assert!(document.contains(last), "{last} in {document}");
        }
        let whole: Value = serde_json::from_str(&whole).expect("JSON");
        let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let (summary, objects) = rows.split_last().expect("a summary");
        prop_assert_eq!(&whole["summary"], &summary["summary"]);
        prop_assert_eq!(whole["objects"].as_array().expect("a list").len(), objects.len());
        prop_assert_eq!(text.lines().filter(|line| line.contains("manifests/")).count(), objects.len());
        let results = summary["summary"]["results"].as_object().expect("results");
        for (word, count) in results.iter().filter(|(word, _)| *word != "in-sync") {
            let have = objects.iter().filter(|object| object["result"] == **word).count();
            prop_assert_eq!(&json!(have), count, "{}", word);
        }
        prop_assert_eq!(exit == Exit::Success, objects.is_empty() && !report.interrupted);
    }

    #[test]
    fn no_control_character_leaves_in_text(
        format in prop::sample::select(formats()),
        text in prop_oneof![any::<String>(), "(?s)[\u{0}-\u{1f}a\u{7f}-\u{9f}\u{202e}\u{200b}]{0,9}"]) {
        let (mut out, sink) = out(format);
        say(&mut out, &text);
        out.exit(Exit::Success);
        let bad = |c: char| c != '\n' && (c.is_control() || "\u{202e}\u{200b}\u{2028}\u{feff}".contains(c));
        let said = sink.text();
        prop_assert!(!said.contains(bad), "{said:?}");
    }

    #[test]
    fn no_secret_leaves_in_any_form(
        secret in "S[!-~]{6,24}[!-~ äß日\n]{0,12}Z",
        which in any::<prop::sample::Index>(),
        format in prop::sample::select(formats()),
    ) {
        let forms: Vec<String> = forms::all(&secret).into_iter().collect();
        let form = which.get(&forms);
        let (mut out, sink) = out(format);
        out.secrets().learn([&secret]);
        say(&mut out, form);
        out.exit(Exit::Success);
        let said = sink.text();
        for form in &forms {
            prop_assert!(!said.contains(form.as_str()), "{form} in {said}");
        }
    }
}
