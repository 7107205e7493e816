//! The last line of a report: what it came to, in numbers.

use std::time::Duration;

use crate::core::exit::Verb;
use crate::core::report::Report;
use crate::core::tally::{Acts, Tally};

use super::paint::{Line, Style};
use super::words::{counted, grouped, seconds};

/// `Plan: 1 to create, 997 in sync. 1,001 objects seen in 6 requests, 0.2 s.`
///
/// The time is the caller's to give, and to leave out where the same state must give the same bytes.
pub fn line(report: &Report, verb: Verb, elapsed: Option<Duration>) -> Line {
    let tally = Tally::of(report);
    let mut line = if tally.total() == 0 {
        Line::plain("No objects are selected.")
    } else if tally.in_sync == tally.total() {
        all_in_sync(&tally, verb)
    } else {
        counts(&tally, verb)
    };
    let requests = counted(report.requests.total() as usize, "request");
    let time = elapsed.map(|time| format!(", {}", seconds(time))).unwrap_or_default();
    let seen = format!(" {} seen in {requests}{time}.", counted(report.seen.count(), "object"));
    line.push(Style::Dim, &seen);
    line
}

fn all_in_sync(tally: &Tally, verb: Verb) -> Line {
    let (subject, is) = match tally.total() {
        1 => ("The one object".to_owned(), "is"),
        total => (format!("All {} objects", grouped(total as u64)), "are"),
    };
    let state = if verb == Verb::Delete { "gone" } else { "in sync" };
    let unknown = match tally.not_compared {
        0 => String::new(),
        number => format!("; {} not compared", counted(number, "value")),
    };
    let end = match verb {
        Verb::Apply | Verb::Delete if tally.wrote == 0 => "; nothing was written.",
        _ => ".",
    };
    let line = Line::new().with(Style::Good, &format!("{subject} {is} {state}"));
    line.with(Style::Change, &unknown).with(Style::Plain, end)
}

fn counts(tally: &Tally, verb: Verb) -> Line {
    let title = match verb {
        Verb::Plan => "Plan: ",
        Verb::Drift => "Drift: ",
        Verb::Apply if tally.done.total() == 0 && tally.planned.total() > 0 => "Not applied: ",
        Verb::Apply => "Applied: ",
        Verb::Delete if tally.done.total() == 0 && tally.planned.total() > 0 => "Not deleted: ",
        Verb::Delete => "Deleted: ",
    };
    let settled = if verb == Verb::Delete { "gone" } else { "in sync" };
    let planned = ["to create", "to update", "to replace", "to delete"];
    let done = ["created", "updated", "replaced", "deleted"];
    let mut parts = acts(&tally.done, done);
    parts.extend(acts(&tally.planned, planned));
    parts.extend([
        (Style::Plain, tally.applied, "already applied"),
        (Style::Bad, tally.failed, "failed"),
        (Style::Bad, tally.not_effective, "not effective"),
        (Style::Bad, tally.unknown, "unknown"),
        (Style::Bad, tally.refused, "refused"),
        (Style::Bad, tally.conflict, if tally.conflict == 1 { "conflict" } else { "conflicts" }),
        (Style::Change, tally.skipped, "skipped"),
        (Style::Change, tally.extra, "extra"),
        (Style::Plain, tally.accepted, "accepted"),
        (Style::Plain, tally.in_sync, settled),
        (Style::Change, tally.not_compared, if tally.not_compared == 1 { UNKNOWN } else { UNKNOWNS }),
    ]);
    let mut line = Line::new().with(Style::Strong, title);
    for (i, (style, number, words)) in parts.into_iter().filter(|(_, number, _)| *number > 0).enumerate() {
        line.push(Style::Plain, if i == 0 { "" } else { ", " });
        line.push(style, &format!("{} {words}", grouped(number as u64)));
    }
    line.push(Style::Plain, ".");
    line
}

const UNKNOWN: &str = "value not compared";
const UNKNOWNS: &str = "values not compared";

fn acts(acts: &Acts, words: [&'static str; 4]) -> Vec<(Style, usize, &'static str)> {
    vec![
        (Style::Good, acts.create, words[0]),
        (Style::Change, acts.update, words[1]),
        (Style::Bad, acts.replace, words[2]),
        (Style::Bad, acts.delete, words[3]),
    ]
}
