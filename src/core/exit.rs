//! What a process that made a report tells its caller: one number, from the same counter as the text.
//!
//! The output format is no argument here, so it cannot matter (jd #62, terraform #36403).

use std::collections::BTreeSet;

use super::base::Side;
use super::report::{Entry, Outcome, Report};
use super::tally::Tally;

/// The exit codes, all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exit {
    Success = 0,
    /// Something failed, or something is unknown; nothing was written.
    Failed = 1,
    /// There are differences, or changes were made: told only to those who ask for it.
    Differs = 2,
    Conflict = 3,
    /// Something was written, and something failed.
    Partial = 4,
    /// A guard refused: consent, a limit, a protection.
    Refused = 5,
    /// The command line is wrong (BSD `EX_USAGE`).
    Usage = 64,
    /// The input is wrong (BSD `EX_DATAERR`).
    BadInput = 65,
    /// 128 + SIGINT, as shells report it.
    Interrupted = 130,
}

impl Exit {
    pub fn code(self) -> u8 {
        self as u8
    }
}

/// The commands that end in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    Plan,
    Drift,
    Apply,
    Delete,
}

impl Verb {
    /// The command's name, as JSON says it.
    pub fn word(self) -> &'static str {
        match self {
            Verb::Plan => "plan",
            Verb::Drift => "drift",
            Verb::Apply => "apply",
            Verb::Delete => "delete",
        }
    }

    /// Whether the command may write.
    pub fn writes(self) -> bool {
        matches!(self, Verb::Apply | Verb::Delete)
    }
}

/// The exit of a run. `detailed` is `--detailed-exitcode`; `drift` is always detailed.
///
/// The first row that holds: interrupted, partial, failed or unknown, refused, conflict, differences, success.
/// A value that does not stick is a failure, and so is a conflict or a refusal of an object of which something was
/// written: a deletion is done, and what was to follow it is not.
///
/// What a writing command leaves planned was not consented to. A skipped object counts as the one that it waits for, also
/// where that is accepted drift; when there is none such, it is a failure, in a plan as in a run that writes. A saved plan
/// of which nothing was left to do was applied before: it is refused.
pub fn exit(report: &Report, verb: Verb, detailed: bool) -> Exit {
    let tally = Tally::of(report);
    let waits_for = |what: fn(&Outcome) -> bool| tally.skipped > 0 && accepts(report, what);
    let no_consent = verb.writes() && tally.planned.total() > 0;
    let used_up = tally.applied > 0 && tally.done.total() == 0;
    let refused =
        tally.refused > 0 || no_consent || used_up || waits_for(|what| matches!(what, Outcome::Refused(_)));
    let conflict = tally.conflict > 0 || waits_for(|what| matches!(what, Outcome::Conflict(_)));
    let explained = tally.unknown > 0 || conflict || refused;
    let stuck = tally.skipped > 0 && !explained;
    let failed = tally.failed + tally.not_effective + tally.half_done > 0 || stuck;
    let differs = tally.planned.total() + tally.done.total() > 0;
    if report.interrupted {
        Exit::Interrupted
    } else if failed && tally.wrote > 0 {
        Exit::Partial
    } else if failed || tally.unknown > 0 {
        Exit::Failed
    } else if refused {
        Exit::Refused
    } else if conflict {
        Exit::Conflict
    } else if differs && (detailed || verb == Verb::Drift) {
        Exit::Differs
    } else {
        Exit::Success
    }
}

/// Whether a difference of an object that stands so is accepted.
fn accepts(report: &Report, what: fn(&Outcome) -> bool) -> bool {
    let accepted = report.tolerances.iter().flat_map(|all| &all.objects);
    accepted.map(|object| &object.entry.result).any(what)
}

/// What makes `drift` end with [`Exit::Differs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailOn {
    /// Whatever is to be done.
    Difference,
    /// What the files changed since the base.
    Pending,
    /// What the server changed since the base.
    Drift,
    /// What both changed, to different ends.
    Conflict,
    /// What is in the scope of a Set and in no document.
    Extra,
}

impl FailOn {
    /// As the command line says it.
    pub fn word(self) -> &'static str {
        match self {
            FailOn::Difference => "difference",
            FailOn::Pending => "pending",
            FailOn::Drift => "drift",
            FailOn::Conflict => "conflict",
            FailOn::Extra => "extra",
        }
    }

    fn side(self) -> Option<Side> {
        match self {
            FailOn::Pending => Some(Side::Pending),
            FailOn::Drift => Some(Side::Drift),
            FailOn::Conflict => Some(Side::Conflict),
            FailOn::Difference | FailOn::Extra => None,
        }
    }
}

/// The exit of a `drift` that fails on some things; on all differences where nothing is said.
pub fn drift(report: &Report, fail_on: &BTreeSet<FailOn>) -> Exit {
    let all = fail_on.is_empty() || fail_on.contains(&FailOn::Difference);
    let told = match all {
        true => exit(report, Verb::Drift, true),
        false => of_sides(report, &fail_on.iter().filter_map(|what| what.side()).collect()),
    };
    let extra = fail_on.contains(&FailOn::Extra) && Tally::of(report).extra > 0;
    if told == Exit::Success && extra { Exit::Differs } else { told }
}

/// Differences that somebody else made than those of `sides` do not count. What is in conflict is of every sort.
fn of_sides(report: &Report, sides: &BTreeSet<Side>) -> Exit {
    let picks = |side: Side| {
        let asked = |asked: &Side| match asked {
            Side::Pending => side.is_pending(),
            Side::Drift => side.is_drift(),
            Side::Both | Side::Conflict => side == Side::Conflict,
        };
        sides.iter().any(asked)
    };
    let counts = |entry: &&Entry| match (entry.verdict(), entry.since) {
        (Outcome::Conflict(_), _) => picks(Side::Conflict),
        (Outcome::Planned | Outcome::Refused(_), Some(side)) => picks(side),
        // Nobody knows who made it.
        (Outcome::Planned | Outcome::Refused(_), None) => picks(Side::Both),
        _ => true,
    };
    let mut objects: Vec<Entry> = report.objects.iter().filter(counts).cloned().collect();
    if objects.len() < report.objects.len() {
        // What waits for a difference that does not count does not count either.
        objects.retain(|entry| !matches!(entry.result, Outcome::Skipped(_)));
    }
    exit(&Report { objects, ..report.clone() }, Verb::Drift, true)
}

#[cfg(test)]
mod tests {
    use super::super::identity::{Key, KindName, ObjectId};
    use super::super::report::{Action, Entry, Explanation, Outcome};
    use super::*;

    /// `word` or `word+` (a write was accepted), each an object.
    fn report(words: &str) -> Report {
        let objects = words.split_whitespace().map(|word| {
            let why = || Explanation::new("x");
            let (action, result) = match word.trim_end_matches('+') {
                "sync" => (Action::None, Outcome::InSync),
                "idle" => (Action::None, Outcome::Planned),
                "planned" => (Action::Update, Outcome::Planned),
                "done" => (Action::Create, Outcome::Done),
                "applied" => (Action::Create, Outcome::Applied),
                "refused" => (Action::Replace, Outcome::Refused(why())),
                "conflict" => (Action::Update, Outcome::Conflict(why())),
                "failed" => (Action::Update, Outcome::Failed(why())),
                "unknown" => (Action::None, Outcome::Unknown(why())),
                "unstuck" => (Action::Update, Outcome::NotEffective(why())),
                "skipped" => (Action::Create, Outcome::Skipped(why())),
                other => panic!("no such word: {other}"),
            };
            let kind = KindName { backend: "b".into(), kind: "K".into() };
            let id = ObjectId { kind, key: Key::new(vec![]) };
            Entry {
                id,
                origin: None,
                action,
                result,
                changes: vec![],
                since: None,
                conflicts: vec![],
                findings: vec![],
                accepted: vec![],
                wrote: word.ends_with('+'),
                observed: Default::default(),
            }
        });
        Report { objects: objects.collect(), ..Report::default() }
    }

    #[test]
    fn every_row_and_the_order_of_rows() {
        use Exit::*;
        use Verb::*;
        for (words, verb, detailed, want) in [
            ("", Plan, true, Success),
            ("sync sync", Plan, true, Success),
            ("idle", Drift, false, Success),
            ("sync planned", Plan, false, Success),
            ("sync planned", Plan, true, Differs),
            ("sync planned", Drift, false, Differs),
            ("sync planned", Apply, false, Refused),
            ("sync planned", Delete, true, Refused),
            ("sync done+", Apply, false, Success),
            ("sync done+", Apply, true, Differs),
            ("sync done+", Delete, false, Success),
            ("sync applied", Apply, false, Refused),
            ("applied applied", Apply, true, Refused),
            ("applied done+", Apply, false, Success),
            ("applied done+", Apply, true, Differs),
            ("applied unknown", Apply, false, Failed),
            ("conflict planned", Plan, true, Conflict),
            ("conflict done+", Apply, true, Conflict),
            ("conflict+", Apply, false, Partial),
            ("refused+", Apply, false, Partial),
            ("sync conflict+ conflict", Apply, true, Partial),
            ("refused conflict planned", Plan, true, Refused),
            ("refused conflict done+", Apply, true, Refused),
            ("unknown refused conflict", Plan, true, Failed),
            ("unknown done+", Apply, true, Failed),
            ("failed refused", Apply, true, Failed),
            ("failed unknown done+", Apply, true, Partial),
            ("failed+", Apply, false, Partial),
            ("unstuck+", Apply, false, Partial),
            ("skipped refused done+", Apply, false, Refused),
            ("skipped conflict", Apply, false, Conflict),
            ("skipped unknown done+", Apply, false, Failed),
            ("skipped failed done+", Apply, false, Partial),
            ("skipped planned", Plan, true, Failed),
            ("skipped planned", Plan, false, Failed),
            ("skipped planned", Drift, false, Failed),
            ("skipped planned", Apply, false, Refused),
            ("skipped planned refused", Plan, false, Refused),
            ("skipped", Plan, false, Failed),
            ("skipped", Apply, false, Failed),
            ("skipped done+", Apply, false, Partial),
        ] {
            assert_eq!(
                exit(&report(words), verb, detailed),
                want,
                "{words} of {verb:?}, detailed: {detailed}"
            );
            let interrupted = Report { interrupted: true, ..report(words) };
            assert_eq!(exit(&interrupted, verb, detailed), Interrupted, "{words}");
        }
    }

    #[test]
    fn only_differences_that_are_asked_for_count() {
        use Exit::*;
        let all = [FailOn::Pending, FailOn::Drift, FailOn::Conflict];
        for (word, since, on, want) in [
            ("planned", Some(Side::Pending), &all[..0], Differs),
            ("planned", Some(Side::Pending), &all[..1], Differs),
            ("planned", Some(Side::Pending), &all[1..], Success),
            ("planned", Some(Side::Drift), &all[..1], Success),
            ("planned", Some(Side::Drift), &all[1..2], Differs),
            ("planned", Some(Side::Both), &all[..1], Differs),
            ("planned", Some(Side::Both), &all[2..], Success),
            ("planned", None, &all[..1], Differs),
            ("planned", None, &all[2..], Success),
            ("conflict", Some(Side::Conflict), &all[..1], Conflict),
            ("conflict", Some(Side::Conflict), &all[2..], Conflict),
            ("conflict", None, &all[2..], Conflict),
            ("refused", Some(Side::Pending), &all[1..], Success),
            ("refused", Some(Side::Drift), &all[1..], Refused),
            ("failed", None, &all[2..], Failed),
            ("unknown", None, &all[2..], Failed),
        ] {
            let mut report = report(word);
            report.objects[0].since = since;
            let fail_on = on.iter().copied().collect();
            assert_eq!(drift(&report, &fail_on), want, "{word} {since:?} {on:?}");
        }
        let mut waits = report("planned skipped");
        waits.objects[0].since = Some(Side::Pending);
        assert_eq!(drift(&waits, &[FailOn::Drift].into()), Success);
    }

    #[test]
    fn codes_are_those_of_the_contract() {
        let codes = [
            (Exit::Success, 0),
            (Exit::Failed, 1),
            (Exit::Differs, 2),
            (Exit::Conflict, 3),
            (Exit::Partial, 4),
            (Exit::Refused, 5),
            (Exit::Usage, 64),
            (Exit::BadInput, 65),
            (Exit::Interrupted, 130),
        ];
        for (exit, code) in codes {
            assert_eq!(exit.code(), code);
        }
    }

    #[test]
    fn the_parts_add_up() {
        let report =
            report("sync idle planned done+ applied refused conflict failed unknown unstuck+ skipped");
        let tally = Tally::of(&report);
        assert_eq!(tally.total(), report.objects.len());
        assert_eq!((tally.in_sync, tally.troubled(), tally.wrote), (2, 6, 2));
    }
}
