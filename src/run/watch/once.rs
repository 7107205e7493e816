//! The status of one pass that nobody goes on with, for `--once`.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;

use super::shown::Shown;
use super::status_file;
use crate::core::identity::ObjectId;
use crate::core::problem::{Problem, said_by_system};
use crate::core::report::Report;
use crate::core::secrets::Secrets;
use crate::core::watch::settings::Settings;
use crate::core::watch::{
    Effect, Event, Instance, Lately, Loop, Refused, Role, Seen, Snapshot, Subject, snapshot,
};
use crate::render::watch::json;

/// How much may be changed in an hour, and what was.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    most: Option<usize>,
    earlier: Vec<Lately>,
    /// Why it is not known what was changed before, so that the limit is of this run alone.
    pub unknown: Option<Problem>,
}

impl Changes {
    /// With what an earlier run told in this status file.
    pub fn of(most: Option<usize>, status_file: Option<&Path>) -> Changes {
        let Some(path) = most.and(status_file) else {
            return Changes { most, ..Changes::default() };
        };
        match super::changes::earlier(path) {
            Ok(earlier) => Changes { most, earlier, unknown: None },
            Err(why) => {
                let message = format!(
                    "the changes of the last hour are not known, and none of them count: `{}`: {why}",
                    path.display()
                );
                let unknown = Some(Problem::new(message).warning());
                Changes { most, unknown, ..Changes::default() }
            }
        }
    }

    /// How much may be changed now; `None` without a limit.
    pub fn left(&self) -> Option<usize> {
        let earlier = self.earlier.iter().fold(0_usize, |sum, (_, count)| sum.saturating_add(*count));
        self.most.map(|most| most.saturating_sub(earlier))
    }
}

/// Writes the status file as a watch would that has made this one pass, which began at `start`.
///
/// # Errors
/// A file that cannot be written.
pub fn keep(
    path: &Path,
    subjects: Vec<Subject>,
    report: &Report,
    changes: Changes,
    start: Instant,
    secrets: Secrets,
    dry_run: bool,
) -> Result<(), Problem> {
    let shown = Shown::new(start, secrets);
    let instance = Instance {
        name: super::showing::name(),
        version: env!("CARGO_PKG_VERSION"),
        role: Role::Alone,
        dry_run,
        started: shown.latest().zero,
    };
    let desired = snapshot::Desired { valid: true, loads: 1, ..snapshot::Desired::default() };
    let wanted: HashSet<ObjectId> = subjects.iter().map(|subject| subject.id.clone()).collect();
    let Changes { most, earlier, .. } = changes;
    let settings =
        Settings { changes_an_hour: most, earlier_changes: earlier, dry_run, ..Settings::default() };
    let mut machine = Loop::new(settings);
    let seen: Vec<Seen> = report.objects.iter().map(Seen::of).collect();
    for effect in machine.step(Duration::ZERO, Event::Desired(subjects)) {
        if let Effect::Pass(pass) = effect {
            // What it tells of others, the loop does not hear.
            machine.step(start.elapsed(), Event::Ended(pass.id, seen.clone()));
        }
    }
    let unnamed = report.objects.iter().filter(|entry| entry.wrote && !wanted.contains(&entry.id)).count();
    machine.wrote_beside(start.elapsed(), unnamed);
    let (status, seen_all) = (machine.status(), machine.has_seen_all());
    let changes = machine.changes();
    let status = status.with_refused(&Refused::of(report.objects.iter(), |id| wanted.contains(id)));
    shown.publish(Snapshot { instance, desired, status, seen_all, changes, ..Snapshot::default() });
    let written = status_file::may_begin(path)
        .and_then(|()| status_file::replace(path, json::document(&shown.document()).as_bytes()));
    written.map_err(|error| {
        let why = said_by_system(&error.to_string());
        Problem::new(format!("writing the status file `{}`: {why}", path.display()))
    })
}
