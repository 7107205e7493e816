//! Asks before anything is written. The terminal is asked itself, as standard input may be the manifests.

use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, Write};

use tokio_util::sync::CancellationToken;

use crate::core::conflict::{Conflict, Resolution};
use crate::core::escape;
use crate::core::exit::Verb;
use crate::core::identity::ObjectId;
use crate::core::redact::Redactor;
use crate::core::report::{Action, Entry, NOT_TOLD, Outcome, Report};
use crate::core::scrub;
use crate::render::words::counted;

/// What came of asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    Given,
    /// Anything but a clear yes.
    Withheld,
    /// Nobody can be asked: the caller shows [`HINT`] and refuses.
    NoTerminal,
    /// A signal came instead of an answer.
    Interrupted,
}

/// What to do where nobody can be asked.
pub const HINT: &str = "there is no terminal to ask in; add `--yes` to write without being asked";

/// Objects that a question names; of more the number is told.
const NAMED: usize = 10;

/// Asks in the controlling terminal, when `interactive` says that a person is there to read the question
/// (standard error is a terminal). `stop` ends the wait for an answer.
pub async fn ask(question: &str, interactive: bool, stop: &CancellationToken) -> Consent {
    if !interactive {
        return Consent::NoTerminal;
    }
    let Ok(mut terminal) = OpenOptions::new().read(true).write(true).open("/dev/tty") else {
        return Consent::NoTerminal;
    };
    let (Ok(reader), Ok(writer)) = (terminal.try_clone(), terminal.try_clone()) else {
        return Consent::NoTerminal;
    };
    let question = question.to_owned();
    let read = move || ask_on(&question, BufReader::new(reader), writer).unwrap_or(Consent::NoTerminal);
    let answer = unless_stopped(stop, read).await;
    if answer == Consent::Interrupted {
        // What follows is not to stand behind the question; a terminal that is gone needs no new line.
        let _ = writeln!(terminal);
    }
    answer
}

/// Reads on a thread of its own: nothing can end a read of a terminal, so a signal leaves it behind.
async fn unless_stopped(
    stop: &CancellationToken,
    read: impl FnOnce() -> Consent + Send + 'static,
) -> Consent {
    tokio::select! {
        biased;
        () = stop.cancelled() => Consent::Interrupted,
        answer = tokio::task::spawn_blocking(read) => answer.unwrap_or(Consent::NoTerminal),
    }
}

/// Asks on any pair of streams; the end of input is no yes.
fn ask_on(question: &str, mut input: impl BufRead, mut output: impl Write) -> io::Result<Consent> {
    write!(output, "{question}")?;
    output.flush()?;
    let mut answer = String::new();
    input.read_line(&mut answer)?;
    Ok(match answer.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Consent::Given,
        _ => Consent::Withheld,
    })
}

/// The question for what a report plans. What would be lost is named.
pub fn question(report: &Report, verb: Verb, redactor: &Redactor) -> String {
    let mut text = String::new();
    for (action, act) in [(Action::Delete, "Deletes"), (Action::Replace, "Deletes and creates again")] {
        let due = |entry: &&Entry| entry.action == action && entry.result == Outcome::Planned;
        let objects: Vec<&Entry> = report.objects.iter().filter(due).collect();
        if objects.is_empty() {
            continue;
        }
        let names = named(objects.iter().map(|entry| &entry.id), redactor);
        text.push_str(&format!("{act} {}: {names}.\n", counted(objects.len(), "object")));
    }
    text.push_str(&along(report, redactor));
    text.push_str(&forced(report, redactor));
    let due = report.objects.iter().filter(|entry| entry.result == Outcome::Planned).count();
    text.push_str(&match verb {
        Verb::Delete => format!("Delete {}? [y/N] ", counted(due, "object")),
        _ => "Apply these changes? [y/N] ".to_owned(),
    });
    text
}

/// The first names, and how many there are besides.
fn named<'e>(ids: impl ExactSizeIterator<Item = &'e ObjectId>, redactor: &Redactor) -> String {
    let more = ids.len().saturating_sub(NAMED);
    let names = ids.take(NAMED).map(|id| scrub::id(id, redactor).to_string());
    let mut names = names.map(|name| escape::inline(&name).into_owned()).collect::<Vec<_>>().join(", ");
    if more > 0 {
        names.push_str(&format!(" and {more} more"));
    }
    names
}

/// What goes along with what is deleted and is in no document, and what nobody can tell of that.
fn along(report: &Report, redactor: &Redactor) -> String {
    let planned = || report.objects.iter().filter(|entry| entry.result == Outcome::Planned);
    let ids: Vec<&ObjectId> = planned().flat_map(|entry| &entry.observed.along).collect();
    let mut text = String::new();
    if !ids.is_empty() {
        let (all, names) = (counted(ids.len(), "object"), named(ids.into_iter(), redactor));
        text.push_str(&format!("With them go {all} that no document names, with all below: {names}.\n"));
    }
    let untold = planned().filter(|entry| entry.findings.iter().any(|finding| finding.code == NOT_TOLD));
    let untold: Vec<&ObjectId> = untold.map(|entry| &entry.id).collect();
    if !untold.is_empty() {
        let names = named(untold.into_iter(), redactor);
        text.push_str(&format!("Nobody can tell all that goes with: {names}.\n"));
    }
    text
}

/// The fields in conflict that are to be overwritten.
fn forced(report: &Report, redactor: &Redactor) -> String {
    let planned = report.objects.iter().filter(|entry| entry.result == Outcome::Planned);
    let of = |entry: &Entry| {
        let id = scrub::id(&entry.id, redactor).to_string();
        let forced = entry.conflicts.iter().filter(|conflict| conflict.resolution == Resolution::Forced);
        let name = |conflict: &Conflict| format!("{id} {}", redactor.text(&conflict.named));
        forced.map(name).collect::<Vec<String>>()
    };
    let all: Vec<String> = planned.flat_map(of).collect();
    if all.is_empty() {
        return String::new();
    }
    let names: Vec<_> = all.iter().take(NAMED).map(|name| escape::inline(name)).collect();
    let more = all.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("Overwrites {} in conflict: {}{more}.\n", counted(all.len(), "field"), names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::conflict::Cause;
    use crate::core::report::{Explanation, Finding};
    use crate::render::sample::{entry, plan};

    #[test]
    fn only_a_clear_yes_is_consent() {
        for (answer, want) in [
            ("y\n", Consent::Given),
            ("YES\r\n", Consent::Given),
            ("", Consent::Withheld),
            ("\n", Consent::Withheld),
            ("n\n", Consent::Withheld),
            ("yep\n", Consent::Withheld),
        ] {
            let mut shown = Vec::new();
            assert_eq!(ask_on("Sure? ", answer.as_bytes(), &mut shown).expect("no I/O"), want, "{answer:?}");
            assert_eq!(shown, b"Sure? ");
        }
    }

    #[tokio::test]
    async fn a_signal_is_an_answer() {
        let stop = CancellationToken::new();
        assert_eq!(ask("Sure? ", false, &stop).await, Consent::NoTerminal);
        assert_eq!(unless_stopped(&stop, || Consent::Given).await, Consent::Given);
        // The reader waits for as long as the test holds the other end.
        let (hold, wait) = std::sync::mpsc::channel::<()>();
        let signal = stop.clone();
        let read = move || {
            signal.cancel();
            let _ = wait.recv();
            Consent::Given
        };
        assert_eq!(unless_stopped(&stop, read).await, Consent::Interrupted);
        drop(hold);
    }

    #[test]
    fn what_is_forced_is_named() {
        let redactor = Redactor::new(["s3cr3t"]);
        let conflict = |named: &str, resolution| Conflict {
            left: false,
            named: named.into(),
            path: None,
            cause: Cause::Moved,
            resolution,
            base: None,
            ours: None,
            theirs: None,
            by: Vec::new(),
        };
        let mut forced = entry("Queue", "q", 1, Action::Update, Outcome::Planned);
        forced.conflicts = vec![
            conflict("limits.cpu", Resolution::Forced),
            conflict("size", Resolution::GivenUp),
            conflict("s3cr3t\u{1b}", Resolution::Forced),
        ];
        let mut report = plan();
        report.objects = vec![forced];
        assert_eq!(
            question(&report, Verb::Apply, &redactor),
            "Overwrites 2 fields in conflict: Queue //q limits.cpu, Queue //q (redacted)\\u{1b}.\nApply these changes? [y/N] "
        );
    }

    #[test]
    fn what_goes_along_is_named() {
        let redactor = Redactor::new(["s3cr3t"]);
        let mut zone = entry("Queue", "q", 1, Action::Replace, Outcome::Planned);
        zone.observed.along =
            vec![zone.id.clone(), entry("User", "s3cr3t", 1, Action::None, Outcome::InSync).id];
        zone.findings = vec![Finding::new(NOT_TOLD, "whether a Binding is below it cannot be told")];
        let mut kept = entry("Queue", "kept", 1, Action::Delete, Outcome::Refused(Explanation::new("no")));
        kept.observed.along = vec![kept.id.clone()];
        let mut report = plan();
        report.objects = vec![zone, kept];
        insta::assert_snapshot!(question(&report, Verb::Apply, &redactor), @r"
        Deletes and creates again 1 object: Queue //q.
        With them go 2 objects that no document names, with all below: Queue //q, User //(redacted).
        Nobody can tell all that goes with: Queue //q.
        Apply these changes? [y/N]
        ");
    }

    #[test]
    fn what_would_be_lost_is_named() {
        let redactor = Redactor::new(["s3cr3t"]);
        assert_eq!(question(&plan(), Verb::Apply, &redactor), "Apply these changes? [y/N] ");
        let mut report = plan();
        report.objects = (0..12)
            .map(|i| entry("Queue", &format!("q{i}\u{1b}"), 1, Action::Delete, Outcome::Planned))
            .collect();
        report.objects.push(entry("User", "s3cr3t", 1, Action::Replace, Outcome::Planned));
        let asked = question(&report, Verb::Delete, &redactor);
        assert!(asked.ends_with("\nDelete 13 objects? [y/N] "), "{asked}");
        insta::assert_snapshot!(question(&report, Verb::Apply, &redactor), @r"
            Deletes 12 objects: Queue //q0\u{1b}, Queue //q1\u{1b}, Queue //q2\u{1b}, Queue //q3\u{1b}, Queue //q4\u{1b}, Queue //q5\u{1b}, Queue //q6\u{1b}, Queue //q7\u{1b}, Queue //q8\u{1b}, Queue //q9\u{1b} and 2 more.
            Deletes and creates again 1 object: User //(redacted).
            Apply these changes? [y/N]
            ");
    }
}
