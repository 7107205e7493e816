//! The status file: the status document, replaced as a whole when something has changed.
//!
//! A reader tells a dead watch from a quiet one by the file's modification time: it is set anew every
//! [`HEARTBEAT`] while the loop gives signs of life, without writing the file again. What goes wrong here is told
//! once and stops nothing.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::core::problem::said_by_system;
use crate::core::watch::Snapshot;
use crate::render::watch::json;
use crate::render::watch::log::Event;

use super::shown::Shown;

/// The file is written this often at most.
pub const GAP: Duration = Duration::from_secs(1);
/// The sign of life.
pub const HEARTBEAT: Duration = Duration::from_secs(30);
/// A loop that is silent for so long is not reported alive.
pub const SILENCE: Duration = Duration::from_secs(60);

/// Keeps the file until `stop`, when it is written for the last time. `log` is told when it cannot be written, once,
/// and when it can be again.
pub async fn keep(shown: Shown, path: PathBuf, log: impl Fn(Event), stop: CancellationToken) {
    let mut changes = shown.subscribe();
    let mut keeper = Keeper { path, written: None, fails: false };
    loop {
        keeper.write(&shown, &log).await;
        let wrote = Instant::now();
        let mut beat = wrote + HEARTBEAT;
        loop {
            tokio::select! {
                () = stop.cancelled() => return keeper.write(&shown, &log).await,
                changed = changes.changed() => match changed {
                    Ok(()) => break,
                    Err(_) => return,
                },
                () = tokio::time::sleep_until(beat) => {
                    beat += HEARTBEAT;
                    keeper.beat(&shown, &log).await;
                }
            }
        }
        tokio::select! {
            () = stop.cancelled() => {}
            () = tokio::time::sleep_until(wrote + GAP) => {}
        }
    }
}

struct Keeper {
    path: PathBuf,
    /// What stands in the file.
    written: Option<Arc<Snapshot>>,
    fails: bool,
}

impl Keeper {
    /// Writes the file, unless it says the same already.
    async fn write(&mut self, shown: &Shown, log: &impl Fn(Event)) {
        let latest = shown.latest();
        if self.written.as_ref().is_some_and(|written| written.tells_as(&latest)) {
            return;
        }
        let (shown, snapshot, path) = (shown.clone(), latest.clone(), self.path.clone());
        // Neither the making of megabytes of text nor a slow disk holds up the loop.
        let work = move || replace(&path, json::document(&shown.document_of(&snapshot)).as_bytes());
        let done =
            tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)));
        // What could not be written is tried again with the next heartbeat.
        self.written = done.is_ok().then_some(latest);
        self.told(done, log);
    }

    /// Shows that the loop is alive. A file that is gone is written again.
    async fn beat(&mut self, shown: &Shown, log: &impl Fn(Event)) {
        if shown.silence() >= SILENCE {
            return;
        }
        let touched = match self.written {
            Some(_) => OpenOptions::new()
                .write(true)
                .open(&self.path)
                .and_then(|file| file.set_modified(SystemTime::now())),
            None => Err(ErrorKind::NotFound.into()),
        };
        if touched.is_err() {
            self.written = None;
            self.write(shown, log).await;
        }
    }

    fn told(&mut self, done: io::Result<()>, log: &impl Fn(Event)) {
        let file = || self.path.display().to_string();
        match &done {
            Ok(()) if self.fails => log(Event::info("status file is written again").with("file", file())),
            Err(error) if !self.fails => {
                let why = said_by_system(&error.to_string());
                log(Event::warn("status file cannot be written").with("file", file()).with("detail", why));
            }
            _ => {}
        }
        self.fails = done.is_err();
    }
}

/// Puts a file into its place, all of it or nothing. It holds names and messages and no secret: others may read it, as
/// far as the umask lets them.
///
/// # Errors
/// What the system says.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or(ErrorKind::InvalidInput)?.to_string_lossy();
    let draft = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
    let written = draft_of(&draft, bytes).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // It may never have been made.
        drop(fs::remove_file(&draft));
    }
    written
}

fn draft_of(draft: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = match create(draft) {
        // Of a process that was killed and had our number: in a container it is always the same one.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            fs::remove_file(draft)?;
            create(draft)
        }
        made => made,
    }?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn create(draft: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o644);
    options.open(draft)
}

#[cfg(test)]
#[path = "status_file_tests.rs"]
mod tests;
