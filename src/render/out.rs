//! The one way out: everything that the program says passes here, without secrets and unable to act on a
//! terminal.
//!
//! A stream that cannot be written to is no panic and no early end: what comes after is dropped, and
//! [`Out::exit`] says what it means for the exit code.

use std::borrow::Cow;
use std::io::{self, ErrorKind, Write};
use std::time::Duration;

use crate::core::escape;
use crate::core::exit::Exit;
use crate::core::facts::Fact;
use crate::core::identity::ObjectId;
use crate::core::kind::Kind;
use crate::core::mutant::planted;
use crate::core::probe::Probe;
use crate::core::problem::{Problem, said_by_system};
use crate::core::report::Report;
use crate::core::scrub;
use crate::core::secrets::Secrets;

use super::ci::{self, Ci, Gathered, Places, Valid};
use super::explained::{self, Object};
use super::exported::{self, Export};
use super::paint::{Line, Text};
use super::saved::{self, Shown};
use super::table::{self, Listed};
use super::text::{self, View};
use super::{json, kind, probe, probe_json, problem, watch};

/// `--output`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    #[default]
    Text,
    /// One document.
    Json,
    /// One object a line, the summary last.
    Ndjson,
    /// For other programs around the run: only what ends in a report has it. It is written when the run ends.
    Ci(Ci),
}

/// A place to write to.
pub struct Stream {
    sink: Box<dyn Write + Send>,
    colour: bool,
    state: Delivery,
    /// Why it failed.
    failure: Option<String>,
}

/// What became of what was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delivery {
    #[default]
    Whole,
    /// The reader has gone away: `trueup plan | head`.
    Closed,
    /// The disk is full, or something of that sort.
    Failed,
}

/// Standard output for the result, standard error for the talk.
pub struct Out {
    stdout: Stream,
    stderr: Stream,
    format: Format,
    quiet: bool,
    secrets: Secrets,
    /// A report told of a write: what is lost then is more than words.
    wrote: bool,
    /// The command, as it is named in what is written when the run ends.
    command: &'static str,
    /// What is written then.
    gathered: Gathered,
    places: Places,
    /// The lines are read by the runner of GitHub Actions, which takes some for commands.
    runner: bool,
}

impl Stream {
    /// `colour` is decided by the caller, for this stream.
    pub fn new(sink: impl Write + Send + 'static, colour: bool) -> Stream {
        Stream { sink: Box::new(sink), colour, state: Delivery::Whole, failure: None }
    }

    fn write(&mut self, text: &str) {
        if self.state != Delivery::Whole {
            return;
        }
        let written = self.sink.write_all(text.as_bytes()).and_then(|()| self.sink.flush());
        self.state = match written {
            Ok(()) => Delivery::Whole,
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Delivery::Closed,
            Err(error) => {
                self.failure = Some(error.to_string());
                Delivery::Failed
            }
        };
    }
}

impl Out {
    pub fn new(stdout: Stream, stderr: Stream, format: Format) -> Out {
        Out {
            stdout,
            stderr,
            format,
            quiet: false,
            secrets: Secrets::default(),
            wrote: false,
            command: "",
            gathered: Gathered::default(),
            places: Places::default(),
            runner: format == Format::Ci(Ci::Github),
        }
    }

    /// Names the command, and says where its files are.
    pub fn of(mut self, command: &'static str, places: Places) -> Out {
        self.command = command;
        self.places = places;
        self
    }

    /// Keeps text for people from being taken for commands by a runner of GitHub Actions that reads it.
    pub fn read_by_runner(mut self, runner: bool) -> Out {
        self.runner |= runner;
        self
    }

    /// Leaves out what is only said on the side.
    pub fn quiet(mut self, quiet: bool) -> Out {
        self.quiet = quiet;
        self
    }

    /// What is kept out, now and later: to be shared with all that learn secrets.
    pub fn secrets(&self) -> Secrets {
        self.secrets.clone()
    }

    /// A writer for logs and panics, on a stream of their own: it keeps out what this keeps out, now and later.
    pub fn guard<W: Write>(&self, sink: W) -> Guard<W> {
        Guard { sink, secrets: self.secrets.clone(), runner: self.runner }
    }

    pub fn format(&self) -> Format {
        self.format
    }

    /// The result of a run, on standard output, in the format asked for.
    pub fn report(&mut self, report: &Report, view: &View) {
        self.wrote |= report.objects.iter().any(|entry| entry.wrote);
        if let Format::Ci(_) = self.format {
            return self.gathered.report(report, view);
        }
        let report = scrub::report(report, &self.secrets.redactor());
        match self.format {
            Format::Text | Format::Ci(_) => self.result(&text::report(&report, view)),
            Format::Json => self.stdout.write(&json::document(&report, view.verb, view.verbose)),
            Format::Ndjson => self.stdout.write(&json::lines(&report, view.verb, view.verbose)),
        }
    }

    /// A saved plan, on standard output, in the format asked for.
    pub fn plan(&mut self, report: &Report, shown: &Shown, view: &View) {
        if let Format::Ci(_) = self.format {
            self.gathered.above(saved::head(shown));
            return self.gathered.report(report, view);
        }
        let report = scrub::report(report, &self.secrets.redactor());
        match self.format {
            Format::Text | Format::Ci(_) => self.result(&saved::text(&report, shown, view)),
            Format::Json => self.stdout.write(&saved::document(&report, shown, view)),
            Format::Ndjson => self.stdout.write(&saved::lines(&report, shown, view)),
        }
    }

    /// That a plan was saved, and until when it holds.
    pub fn saved(&mut self, file: &str, expires: &str) {
        let mut text = Text::new();
        text.push(Line::plain(&format!("Saved to {file}; it expires {expires}: `trueup apply {file}`.")));
        self.note(&text);
    }

    /// A report as text on standard error, whatever the format: a plan that is to be confirmed.
    pub fn preview(&mut self, report: &Report, view: &View) {
        let report = scrub::report(report, &self.secrets.redactor());
        self.talk(&text::report(&report, view));
    }

    /// Live objects, on standard output, in the format asked for.
    pub fn items(&mut self, items: &[Listed]) {
        let redactor = self.secrets.redactor();
        let shown = |item: &Listed| Listed {
            id: scrub::id(&item.id, &redactor),
            server_id: item.server_id.as_deref().map(|id| redactor.text(id).into()),
            value: redactor.value(&item.value),
        };
        let items: Vec<Listed> = items.iter().map(shown).collect();
        match self.format {
            Format::Text | Format::Ci(_) => self.result(&table::text(&items)),
            Format::Json => self.stdout.write(&table::document(&items)),
            Format::Ndjson => self.stdout.write(&table::lines(&items)),
        }
    }

    /// What is known of kinds, and why objects' plans are what they are: on standard output.
    pub fn explained(&mut self, kinds: &[(&Kind, &[Fact])], objects: &[Object]) {
        let redactor = self.secrets.redactor();
        let objects: Vec<Object> = objects.iter().map(|object| object.scrubbed(&redactor)).collect();
        match self.format {
            Format::Text | Format::Ci(_) => {
                let kinds = kinds.iter().map(|(kind, facts)| kind::text(kind, facts));
                let blocks = kinds.chain(objects.iter().map(explained::block));
                self.result(&blocks.fold(Text::new(), |mut all, block| {
                    if !all.lines.is_empty() {
                        all.push(Line::new());
                    }
                    all.append(block);
                    all
                }));
            }
            Format::Json => {
                let kinds: Vec<_> = kinds.iter().map(|(kind, facts)| kind::value(kind, facts)).collect();
                let objects: Vec<_> = objects.iter().map(explained::value).collect();
                let value = serde_json::json!({
                    "schemaVersion": json::SCHEMA_VERSION, "command": "explain", "kinds": kinds, "objects": objects,
                });
                self.stdout.write(&json::pretty(&value));
            }
            Format::Ndjson => {
                let typed = |word: &str, mut value: serde_json::Value| {
                    value["type"] = word.into();
                    json::line(&value)
                };
                let kinds = kinds.iter().map(|(kind, facts)| typed("kind", kind::value(kind, facts)));
                let objects = objects.iter().map(|object| typed("object", explained::value(object)));
                let lines: String = kinds.chain(objects).collect();
                self.stdout.write(&lines);
            }
        }
    }

    /// What an export came to. Its documents hold no secret, and are out already where they come one by one;
    /// what was left out is said on standard error for people.
    pub fn exported(&mut self, export: Export) {
        let redactor = self.secrets.redactor();
        let shown =
            |(id, why): &(ObjectId, String)| (scrub::id(id, &redactor), redactor.text(why).into_owned());
        let export = Export { left_out: export.left_out.iter().map(shown).collect(), ..export };
        match self.format {
            Format::Text | Format::Ci(_) => {
                self.result(&exported::files(export.files.as_deref().unwrap_or_default()));
                for (id, why) in &export.left_out {
                    self.talk(&problem::one(&Problem::new(format!("`{id}` is left out: {why}")).warning()));
                }
                self.note(&exported::text(&export));
            }
            Format::Json => self.stdout.write(&exported::document(&export)),
            Format::Ndjson => self.stdout.write(&exported::last_lines(&export)),
        }
    }

    /// What a probe found out, on standard output, in the format asked for.
    pub fn probe(&mut self, found: &Probe) {
        let found = found.scrubbed(&self.secrets.redactor());
        match self.format {
            Format::Text | Format::Ci(_) => self.result(&probe::text(&found)),
            Format::Json => self.stdout.write(&probe_json::document(&found)),
            Format::Ndjson => self.stdout.write(&probe_json::lines(&found)),
        }
    }

    /// Where the objects of a watch stand, on standard output, in the format asked for. It may come from a file or a
    /// process that does not know all secrets that this one knows.
    pub fn status(&mut self, document: &watch::Document, view: &watch::text::View) {
        let alive = view.silent.is_none();
        match self.format {
            Format::Text | Format::Ci(_) => self.result(&watch::text::text(document, view)),
            Format::Json => self.machine(&watch::json::told(document, alive)),
            Format::Ndjson => self.machine(&watch::json::lines(document, alive)),
        }
    }

    /// JSON of lines that were made from what others said: secrets are found in any of their encodings.
    fn machine(&mut self, text: &str) {
        let redactor = self.secrets.redactor();
        self.stdout.write(&redactor.text(text));
    }

    /// An event of a watch, on standard output, at this time since 1970.
    pub fn log(&mut self, event: &watch::log::Event, form: watch::log::Form, wall: Duration) {
        let event = event.scrubbed(&self.secrets.redactor());
        match form {
            watch::log::Form::Text => self.result(&watch::log::text(&event, wall)),
            watch::log::Form::Json => self.stdout.write(&watch::log::json(&event, wall)),
        }
    }

    /// What is wrong with the input: for people on standard error, for machines on standard output.
    pub fn problems(&mut self, problems: &[Problem], command: &str) {
        let redactor = self.secrets.redactor();
        let shown: Vec<Problem> = problems.iter().map(|p| scrub::problem(p, &redactor)).collect();
        match self.format {
            Format::Ci(_) => problems.iter().for_each(|problem| self.gathered.problem(problem)),
            Format::Text => self.talk(&problem::text(&shown)),
            Format::Json => self.stdout.write(&problem::document(&shown, command)),
            Format::Ndjson => self.stdout.write(&problem::lines(&shown)),
        }
    }

    /// What is valid, where the format is one of those that are written when the run ends.
    pub fn valid(&mut self, valid: Valid) {
        self.gathered.valid(valid);
    }

    /// One thing that went wrong, on standard error, whatever the format.
    pub fn error(&mut self, error: &Problem) {
        if let Format::Ci(_) = self.format {
            self.gathered.problem(error);
        }
        let shown = scrub::problem(error, &self.secrets.redactor());
        self.talk(&problem::one(&shown));
    }

    /// Text as a result, on standard output.
    pub fn result(&mut self, text: &Text) {
        let redactor = self.secrets.redactor();
        let text = text.write(self.stdout.colour, |span| redactor.text(span).into_owned());
        self.stdout.write(&safe(&text, self.runner));
    }

    /// Text on the side, on standard error; nothing when all is to be quiet.
    pub fn note(&mut self, text: &Text) {
        if !self.quiet {
            self.talk(text);
        }
    }

    fn talk(&mut self, text: &Text) {
        let redactor = self.secrets.redactor();
        let text = text.write(self.stderr.colour, |span| redactor.text(span).into_owned());
        self.stderr.write(&safe(&text, self.runner));
    }

    /// What the reader of the command line says: help on standard output, a complaint on standard error. It
    /// repeats words of the command line, which a script may have from anywhere.
    pub fn usage(&mut self, text: &str, complains: bool) {
        let shown = escape::block(&self.secrets.redactor().text(text)).into_owned();
        let stream = if complains { &mut self.stderr } else { &mut self.stdout };
        stream.write(&safe(&shown, self.runner));
    }

    /// Text that the program itself is the author of, or has made safe already, as it is: completions, the
    /// documents of an export.
    pub fn verbatim(&mut self, text: &str) {
        self.stdout.write(text);
    }

    /// The exit code of a run that ended as `exit`, given what became of its output. What is written at the end of a
    /// run is written here.
    ///
    /// A person who closes the pager has seen enough: text that was not read to its end changes nothing. A
    /// machine that got half a document, or a disk that took half of it, has not got the result: what would
    /// be success, or "there are differences", is then a failure, and one after a write where something was written.
    /// Whatever is worse stays. A full disk is said.
    pub fn exit(&mut self, exit: Exit) -> Exit {
        if let Format::Ci(form) = self.format {
            let (redactor, gathered) = (self.secrets.redactor(), std::mem::take(&mut self.gathered));
            self.stdout.write(&gathered.written(form, self.command, exit, &self.places, &redactor));
        }
        if let Some(why) = self.stdout.failure.take() {
            self.error(&Problem::new(format!("writing the output: {}", said_by_system(&why))));
        }
        let lost = match self.stdout.state {
            Delivery::Whole => false,
            Delivery::Closed => self.format != Format::Text,
            Delivery::Failed => !planted!(M30),
        };
        match exit {
            Exit::Success | Exit::Differs if lost && self.wrote => Exit::Partial,
            Exit::Success | Exit::Differs if lost => Exit::Failed,
            exit => exit,
        }
    }

    /// What became of standard output so far.
    pub fn delivery(&self) -> Delivery {
        self.stdout.state
    }
}

/// Text for people, as it is fit for who reads it.
fn safe(text: &str, runner: bool) -> Cow<'_, str> {
    if runner { Cow::Owned(ci::harmless(text)) } else { Cow::Borrowed(text) }
}

/// Writes text without secrets and unable to act on a terminal. Each write is a text of its own: a secret
/// that is cut in two by its writer is not found.
pub struct Guard<W> {
    sink: W,
    secrets: Secrets,
    runner: bool,
}

impl<W: Write> Write for Guard<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let secrets = self.secrets.redactor();
        let text = secrets.text(&text);
        let text = escape::block(&text);
        self.sink.write_all(safe(&text, self.runner).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

#[cfg(test)]
#[path = "out_tests.rs"]
mod tests;
