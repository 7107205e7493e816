//! The status file: the status document, replaced as a whole when something has changed.
//!
//! A reader tells a dead watch from a quiet one by the file's modification time: it is set anew every
//! [`HEARTBEAT`] while the loop gives signs of life, without writing the file again. What goes wrong here is told
//! once and stops nothing.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::core::problem::said_by_system;
use crate::core::watch::Snapshot;
use crate::manifest::files::is_manifest;
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
    let mut keeper = Keeper { path, written: None, ours: None, shared: false, fails: false };
    let mut beat = Instant::now() + HEARTBEAT;
    loop {
        let is_written = keeper.write(&shown, &log).await;
        let wrote = Instant::now();
        // A loop that is busy with what changes nothing in the file gives its sign of life all the same.
        if is_written {
            beat = wrote + HEARTBEAT;
        }
        loop {
            tokio::select! {
                () = stop.cancelled() => {
                    keeper.write(&shown, &log).await;
                    return;
                }
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
    /// The file that was written last, by what the system calls it.
    ours: Option<Number>,
    /// It was told that another process writes it as well.
    shared: bool,
    fails: bool,
}

/// What tells a file from another one of its name.
type Number = (u64, u64);

impl Keeper {
    /// Writes the file, unless it says the same already. Returns whether it was written.
    async fn write(&mut self, shown: &Shown, log: &impl Fn(Event)) -> bool {
        let latest = shown.latest();
        if self.written.as_ref().is_some_and(|written| written.tells_as(&latest)) {
            return false;
        }
        self.look_for_others(log);
        let (shown, snapshot, path) = (shown.clone(), latest.clone(), self.path.clone());
        let is_first = self.ours.is_none();
        // Neither the making of megabytes of text nor a slow disk holds up the loop.
        let work = move || {
            if is_first {
                may_begin(&path)?;
            }
            replace(&path, json::document(&shown.document_of(&snapshot)).as_bytes())?;
            Ok(fs::symlink_metadata(&path).ok().map(|metadata| number(&metadata)))
        };
        let done =
            tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)));
        let done = done.map(|ours| self.ours = ours.or(self.ours));
        // What could not be written is tried again with the next heartbeat.
        self.written = done.is_ok().then_some(latest);
        let is_written = done.is_ok();
        self.told(done, log);
        is_written
    }

    /// Shows that the loop is alive. A file that is gone is written again.
    async fn beat(&mut self, shown: &Shown, log: &impl Fn(Event)) {
        if shown.silence() >= SILENCE {
            return;
        }
        // To touch the file of another process would make that one look alive.
        let is_other = self.look_for_others(log);
        let touched = match self.written {
            Some(_) if is_other => Err(ErrorKind::AlreadyExists.into()),
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

    /// Whether the file is another one than was written last. The log is told once that somebody else writes it.
    fn look_for_others(&mut self, log: &impl Fn(Event)) -> bool {
        let there = fs::symlink_metadata(&self.path).ok().map(|metadata| number(&metadata));
        let is_other = self.ours.is_some() && there.is_some() && there != self.ours;
        if is_other && !std::mem::replace(&mut self.shared, true) {
            let file = self.path.display().to_string();
            log(Event::warn("status file is written by another process as well").with("file", file));
        }
        is_other
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
/// What the system says; something in its place that is no file: a device must not become one.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => {
            return Err(io::Error::other("it is a link: name the file itself"));
        }
        Ok(metadata) if metadata.is_dir() => return Err(ErrorKind::IsADirectory.into()),
        Ok(metadata) if !metadata.is_file() => return Err(io::Error::other("it is not a regular file")),
        _ => {}
    }
    let name = path.file_name().ok_or(ErrorKind::InvalidInput)?.to_string_lossy();
    let draft = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
    let written = draft_of(&draft, bytes).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // It may never have been made.
        drop(fs::remove_file(&draft));
    }
    written
}

/// The path among `roots` by which a status file would be read as a manifest.
pub fn read_by<'r>(path: &Path, roots: impl IntoIterator<Item = &'r PathBuf>) -> Option<&'r PathBuf> {
    let folder = path.parent().map(|parent| if parent == Path::new("") { Path::new(".") } else { parent })?;
    let real = folder.canonicalize().ok()?.join(path.file_name()?);
    let is_hidden = |part: std::path::Component<'_>| part.as_os_str().as_encoded_bytes().starts_with(b".");
    roots.into_iter().find(|root| {
        let Ok(root) = root.canonicalize() else { return false };
        let below = real.strip_prefix(&root).ok();
        below.is_some_and(|below| match root.is_dir() {
            true => is_manifest(&real) && !below.components().any(is_hidden),
            false => true,
        })
    })
}

/// Whether a status may be put here by a process that has not written it before: where nothing is, or another status.
///
/// # Errors
/// It is something else, a manifest say.
pub fn may_begin(path: &Path) -> io::Result<()> {
    // Looked at before it is opened: a named pipe waits for its writer.
    if !fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0) {
        return Ok(());
    }
    let mut begin = Vec::new();
    File::open(path)?.take(128).read_to_end(&mut begin)?;
    let text: String = String::from_utf8_lossy(&begin).split_whitespace().collect();
    let is_status = text.starts_with("{\"schemaVersion\":") && text.contains("\"command\":\"status\"");
    if is_status {
        Ok(())
    } else {
        Err(io::Error::other("it is a file, and no status: name another, or remove it"))
    }
}

#[cfg(unix)]
fn number(metadata: &fs::Metadata) -> Number {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn number(_: &fs::Metadata) -> Number {
    (0, 0)
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
