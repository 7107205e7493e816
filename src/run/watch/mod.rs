//! `watch`: the loop of the core, driven. One task does everything that decides; passes, loading and the watching of
//! files are tasks beside it, whose ends are events.
//!
//! ```text
//! signals, files, observers ──► events ──► core::watch::Loop ──► passes (tasks) ──► ends, as events
//! ```
//!
//! Nothing that is kept here says what is so: a process that is killed and started anew comes to the same end.

mod apart;
pub mod ask;
pub mod backoffs;
pub mod board;
pub mod changes;
mod confirmed;
pub mod desired;
mod driver;
pub mod face;
pub mod feeds;
pub mod files;
mod findings;
mod folders;
mod guard;
pub mod hook;
mod interests;
pub mod lead;
mod loading;
pub mod observers;
pub mod once;
pub mod outbox;
mod outlook;
mod pass;
pub mod polling;
pub mod port;
mod post;
mod process;
mod prune;
mod say;
pub mod showing;
pub mod shown;
pub mod standing;
pub mod status_file;
mod systemd;
pub mod ways;
mod wishes;

use std::time::Duration;

use crate::core::exit::Exit;
use crate::core::problem::Problem;
use crate::core::prune::Gates;
use crate::core::watch::settings;
use crate::render::out::Out;
use crate::render::watch::log::Form;
use crate::run::bounded::Bound;
use crate::run::clients::Unopened;
use crate::run::drive::Limits;

use desired::Source;
use driver::Driver;
use lead::Sharing;
use showing::Places;
use ways::Opening;

/// A command by which files are read, as `git` for a base, has so long to end.
pub const COMMAND_TIME: Duration = Duration::from_secs(60);

/// What a watch is told once.
pub struct Settings {
    pub source: Source,
    pub opening: Opening,
    pub pruning: Gates,
    pub places: Places,
    pub machine: settings::Settings,
    /// How often is polled; `None`: it adapts.
    pub interval: Option<Duration>,
    /// How several instances share the work, where `source` names a lease.
    pub sharing: Sharing,
    /// What bounds the commands by which files are read.
    pub bound: Bound,
    /// How lines of the log are written.
    pub form: Form,
    /// Lines that tell of nothing wrong are left out.
    pub quiet: bool,
}

/// Why a watch did not begin: what is wrong was not said yet.
#[derive(Debug)]
pub struct NotBegun {
    pub exit: Exit,
    pub problems: Vec<Problem>,
}

impl From<Unopened> for NotBegun {
    fn from(unopened: Unopened) -> NotBegun {
        NotBegun { exit: unopened.exit, problems: unopened.problems }
    }
}

/// Keeps the server level with the files, until `limits` say that it is enough.
///
/// `resyncs` is rung by a person who wants the files read and everything looked at now. The exit is a success when all
/// that was under way came to its end, [`Exit::Failed`] when it did not within half a minute, and
/// [`Exit::Interrupted`] when a second signal would not wait.
///
/// # Errors
/// A desired set that is not valid; backends that cannot be opened. What comes later ends nothing.
pub async fn watch(
    settings: Settings,
    resyncs: &tokio::sync::Notify,
    limits: &Limits,
    out: &mut Out,
) -> Result<Exit, NotBegun> {
    let bound = settings.bound.clone();
    tokio::select! {
        begun = Driver::begin(settings, out) => Ok(begun?.run(resyncs, limits).await),
        // Nothing was begun but reading.
        () = limits.stop.cancelled() => {
            bound.ended().await;
            Ok(Exit::Success)
        }
    }
}
