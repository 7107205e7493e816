//! The one counter behind the summary, the JSON and the exit code, so that they can never disagree.

use super::report::{Action, Entry, Finding, NOT_COMPARED, Outcome, Report};
use super::tolerance::Tolerances;

/// How many objects of a report stand where. The parts add up to all objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub planned: Acts,
    pub done: Acts,
    /// Objects that a saved plan was to change, and that are as it wants them already.
    pub applied: usize,
    pub in_sync: usize,
    pub refused: usize,
    pub conflict: usize,
    pub failed: usize,
    pub unknown: usize,
    pub not_effective: usize,
    pub skipped: usize,
    /// Objects that are in no document and are left alone.
    pub extra: usize,
    /// Objects of which all that differs is accepted.
    pub accepted: usize,
    /// Objects of which a write was accepted, wherever they stand; no part of the sum.
    pub wrote: usize,
    /// Objects of which a write was accepted, and that ended in a conflict or were refused; no part of the sum.
    pub half_done: usize,
    /// Values that could not be compared, wherever their objects stand; no part of the sum.
    pub not_compared: usize,
}

/// A count for each action that writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acts {
    pub create: usize,
    pub update: usize,
    pub replace: usize,
    pub delete: usize,
}

impl Tally {
    pub fn of(report: &Report) -> Tally {
        let accepted = report.tolerances.as_ref().map_or(0, Tolerances::whole);
        let mut tally = Tally { accepted, ..Tally::default() };
        for entry in &report.objects {
            tally.wrote += usize::from(entry.wrote);
            let stands = matches!(entry.result, Outcome::Conflict(_) | Outcome::Refused(_));
            tally.half_done += usize::from(entry.wrote && stands);
            let unknown = entry.findings.iter().filter(|finding| finding.code == NOT_COMPARED);
            tally.not_compared += unknown.count();
            match entry.verdict() {
                Outcome::InSync => tally.in_sync += 1,
                Outcome::Planned => tally.planned.count(entry.action),
                Outcome::Done => tally.done.count(entry.action),
                Outcome::Applied => tally.applied += 1,
                Outcome::Refused(_) => tally.refused += 1,
                Outcome::Conflict(_) => tally.conflict += 1,
                Outcome::Failed(_) => tally.failed += 1,
                Outcome::Unknown(_) => tally.unknown += 1,
                Outcome::NotEffective(_) => tally.not_effective += 1,
                Outcome::Skipped(_) => tally.skipped += 1,
                Outcome::Extra(_) => tally.extra += 1,
            }
        }
        tally
    }

    /// All objects of the report.
    pub fn total(&self) -> usize {
        let calm = self.applied + self.in_sync + self.extra + self.accepted;
        self.planned.total() + self.done.total() + calm + self.troubled()
    }

    /// Objects that are neither in sync nor on their way: each has a sentence that says why.
    pub fn troubled(&self) -> usize {
        self.refused + self.conflict + self.failed + self.unknown + self.not_effective + self.skipped
    }
}

impl Acts {
    fn count(&mut self, action: Action) {
        match action {
            Action::None => {}
            Action::Create => self.create += 1,
            Action::Update => self.update += 1,
            Action::Replace => self.replace += 1,
            Action::Delete => self.delete += 1,
        }
    }

    pub fn total(&self) -> usize {
        self.create + self.update + self.replace + self.delete
    }
}

static IN_SYNC: Outcome = Outcome::InSync;

impl Entry {
    /// The outcome as it is shown and counted: where no action is due, "planned" and "done" are "in sync".
    pub fn verdict(&self) -> &Outcome {
        match self.result {
            Outcome::Planned | Outcome::Done if self.action == Action::None => &IN_SYNC,
            ref result => result,
        }
    }

    /// Whether the object takes no line in a plan.
    pub fn is_in_sync(&self) -> bool {
        *self.verdict() == Outcome::InSync
    }

    /// Whether there is nothing to tell of the object itself.
    pub fn is_quiet(&self) -> bool {
        self.is_in_sync() && self.findings.iter().all(Finding::is_of_its_kind)
    }
}
