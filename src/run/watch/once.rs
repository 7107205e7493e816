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
use crate::core::watch::{Effect, Event, Instance, Loop, Refused, Role, Seen, Snapshot, Subject, snapshot};
use crate::render::watch::json;

/// Writes the status file as a watch would that has made this one pass, which began at `start`.
///
/// # Errors
/// A file that cannot be written.
pub fn keep(
    path: &Path,
    subjects: Vec<Subject>,
    report: &Report,
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
    let mut machine = Loop::new(Settings { dry_run, ..Settings::default() });
    let seen: Vec<Seen> = report.objects.iter().map(Seen::of).collect();
    for effect in machine.step(Duration::ZERO, Event::Desired(subjects)) {
        if let Effect::Pass(pass) = effect {
            // What it tells of others, the loop does not hear.
            machine.step(start.elapsed(), Event::Ended(pass.id, seen.clone()));
        }
    }
    let (status, seen_all) = (machine.status(), machine.has_seen_all());
    let status = status.with_refused(&Refused::of(report.objects.iter(), |id| wanted.contains(id)));
    shown.publish(Snapshot { instance, desired, status, seen_all, ..Snapshot::default() });
    let written = status_file::may_begin(path)
        .and_then(|()| status_file::replace(path, json::document(&shown.document()).as_bytes()));
    written.map_err(|error| {
        let why = said_by_system(&error.to_string());
        Problem::new(format!("writing the status file `{}`: {why}", path.display()))
    })
}
