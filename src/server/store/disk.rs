//! The file behind the store: a log of changes, whole in memory, appended in groups.
//!
//! A group is durable before it is answered. When most of the log is history, the present state is written to
//! a new file that takes the place of the old one at once. A lock on a file of its own keeps others away.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::index::{Change, Index};
use super::key::Key;
use super::record::{Damage, HEADER, decode, encode};

const LOG: &str = "store.log";
/// The next log while it is written; without meaning when found at the start.
const NEXT: &str = "store.log.new";
const LOCK: &str = "store.lock";

/// A log may grow to twice what it last held, and this, before it is written anew.
const SLACK: u64 = 4 * 1024 * 1024;

/// Whether a write is answered only when it would survive a power cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    #[default]
    Sync,
    /// Survives a kill of the process, perhaps not a power cut: for benchmarks and scratch stores.
    NoSync,
}

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("cannot open the store `{}`: it is in use by another process", .0.display())]
    InUse(PathBuf),
    #[error("cannot open the store `{}`: in `{LOG}`, {damage}", path.display())]
    Damaged { path: PathBuf, damage: Damage },
    #[error("cannot open the store `{}`: `{in_the_way}` is a collection with items, and cannot become a status", path.display())]
    Status { path: PathBuf, in_the_way: Key },
    #[error("cannot open the store `{}`: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl OpenError {
    /// What the user can do.
    pub fn hint(&self) -> &'static str {
        match self {
            OpenError::InUse(_) => "stop the other process, or use another path",
            OpenError::Damaged { damage: Damage::Later { .. }, .. } => {
                "open it with the version that wrote it"
            }
            OpenError::Damaged { .. } => "restore it from a copy, or move the folder away to start empty",
            OpenError::Status { .. } => {
                "delete these items first, or keep the status of other collections apart"
            }
            OpenError::Io { .. } => "the path must be a folder that can be written, or not exist yet",
        }
    }
}

/// Where changes are kept.
pub enum Disk {
    /// Nowhere but in the index.
    Memory,
    Log(Log),
}

/// An open log.
pub struct Log {
    folder: PathBuf,
    file: File,
    durability: Durability,
    /// Bytes of whole groups in the file.
    length: u64,
    /// From this length on the log is written anew.
    limit: u64,
    /// Set when the end of the file is not known any more: nothing may be appended.
    broken: bool,
    /// Holds the lock until the log is closed.
    _lock: File,
}

impl Disk {
    /// Writes the changes, all or none, and returns when they are durable.
    pub fn save(&mut self, changes: &[Change], clock: u64) -> io::Result<()> {
        match self {
            Disk::Memory => Ok(()),
            Disk::Log(log) => log.append(&encode(changes, clock)),
        }
    }

    /// Writes the log anew if most of it is history.
    pub fn tidy(&mut self, index: &Index) {
        if let Disk::Log(log) = self
            && log.length > log.limit
            && !log.broken
            && log.rewrite(index).is_err()
        {
            // The old log is as good as it was. Another try has time.
            log.limit = limit(log.length);
        }
    }
}

impl Log {
    /// Opens the log in this folder, which is made when it is not there, and reads it.
    pub fn open(folder: &Path, durability: Durability) -> Result<(Log, Index), OpenError> {
        let failed = |source| OpenError::Io { path: folder.to_owned(), source };
        fs::create_dir_all(folder).map_err(failed)?;
        let lock = appending(&folder.join(LOCK)).map_err(failed)?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => OpenError::InUse(folder.to_owned()),
            TryLockError::Error(source) => failed(source),
        })?;
        let file = appending(&folder.join(LOG)).map_err(failed)?;
        let content = fs::read(folder.join(LOG)).map_err(failed)?;
        let (index, good) =
            decode(&content).map_err(|damage| OpenError::Damaged { path: folder.to_owned(), damage })?;
        let live = index.snapshot().iter().map(size).sum();
        let mut log = Log {
            folder: folder.to_owned(),
            file,
            durability,
            length: good as u64,
            limit: limit(live),
            broken: false,
            _lock: lock,
        };
        if good < content.len() {
            log.file.set_len(log.length).map_err(failed)?;
        }
        if good == 0 {
            log.append(HEADER.as_bytes()).map_err(failed)?;
            sync_folder(folder).map_err(failed)?;
        }
        Ok((log, index))
    }

    /// Adds bytes to the file, all or none.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.broken {
            return Err(io::Error::other("an earlier write failed; open the store anew"));
        }
        // Until the bytes are known to be on the disk, the end of the file is not known.
        self.broken = true;
        if let Err(error) = self.file.write_all(bytes) {
            self.broken = self.file.set_len(self.length).is_err();
            return Err(error);
        }
        if self.durability == Durability::Sync {
            self.file.sync_data()?;
        }
        self.length += bytes.len() as u64;
        self.broken = false;
        Ok(())
    }

    /// Writes the present state to a new file, and puts it in the place of the log. Until the new name is durable
    /// the old file may come back after a power cut, so nothing may be appended when that is not known.
    fn rewrite(&mut self, index: &Index) -> io::Result<()> {
        let next = self.folder.join(NEXT);
        let content = [HEADER.as_bytes(), &encode(&index.snapshot(), index.clock())].concat();
        let mut file = appending(&next)?;
        file.set_len(0)?;
        file.write_all(&content)?;
        file.sync_all()?;
        fs::rename(&next, self.folder.join(LOG))?;
        self.file = file;
        self.length = content.len() as u64;
        self.limit = limit(self.length);
        let named = sync_folder(&self.folder);
        self.broken = named.is_err();
        named
    }
}

/// Opens a file to append to, new or not. What is stored may be secret: on Unix only its owner can read it.
fn appending(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// The length that a log may reach when its present state takes so much.
fn limit(live: u64) -> u64 {
    live * 2 + SLACK
}

/// About what a change takes in the log.
fn size(change: &Change) -> u64 {
    match change {
        Change::Stored(item) => (item.key.as_str().len() + item.json.len()) as u64,
        Change::Removed(item) => item.key.as_str().len() as u64,
        Change::Answered(answered) => {
            (answered.item.key.as_str().len() * 2 + answered.item.json.len()) as u64
        }
        Change::Apart(name) => name.len() as u64,
        Change::Counted(key, _) | Change::Buried(key, _) => key.as_str().len() as u64,
    }
}

/// Makes the names of new files as durable as their content. Only Unix opens folders as files.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::value::{Map, Value};
    use crate::server::store::{Action, Write};

    /// Puts an item with so many bytes of payload.
    fn put(log: &mut Log, index: &mut Index, name: &str, payload: usize) -> io::Result<()> {
        let body = Map::from_iter([("payload".to_owned(), Value::String("x".repeat(payload)))]);
        let key = Key::root().child("teams").child(name);
        let mut changes = Vec::new();
        let write = Write::new(key, Action::Put(body));
        index.perform(write, &mut changes).expect("accepted");
        log.append(&encode(&changes, index.clock()))
    }

    fn content(index: &Index) -> Vec<u8> {
        encode(&index.snapshot(), index.clock())
    }

    #[test]
    fn what_was_saved_is_there_and_a_torn_end_is_not() {
        for durability in [Durability::Sync, Durability::NoSync] {
            let folder = tempfile::tempdir().expect("a folder");
            let (mut log, mut index) = Log::open(folder.path(), durability).expect("a new store");
            put(&mut log, &mut index, "a", 10).expect("saved");
            drop(log);
            let mut file = OpenOptions::new().append(true).open(folder.path().join(LOG)).expect("the log");
            file.write_all(b"00000000 99 {\"clo").expect("a torn line");
            let (mut log, mut again) = Log::open(folder.path(), durability).expect("opened again");
            assert_eq!(content(&again), content(&index));
            put(&mut log, &mut again, "b", 10).expect("saved behind the whole lines");
            drop(log);
            let (_log, last) = Log::open(folder.path(), durability).expect("opened a third time");
            assert_eq!(content(&last), content(&again));
        }
    }

    #[test]
    fn a_log_of_history_is_written_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let (log, mut index) = Log::open(folder.path(), Durability::NoSync).expect("a new store");
        let mut disk = Disk::Log(log);
        let mut longest = 0;
        for round in 0..100 {
            let Disk::Log(log) = &mut disk else { unreachable!("it was opened as a log") };
            put(log, &mut index, "a", 200_000 + round).expect("saved");
            longest = longest.max(log.length);
            disk.tidy(&index);
        }
        assert!((SLACK..SLACK + 1_000_000).contains(&longest), "{longest}");
        drop(disk);
        let (log, again) = Log::open(folder.path(), Durability::NoSync).expect("opened again");
        assert_eq!(content(&again), content(&index));
        assert_eq!(log.length, fs::metadata(folder.path().join(LOG)).expect("the log").len());
    }

    #[test]
    fn what_cannot_be_opened_is_said_and_left_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join(LOG), "hello").expect("written");
        let error = Log::open(folder.path(), Durability::Sync).map(drop).expect_err("no store");
        let want = "in `store.log`, it is no store of this version: its first line is `hello`";
        assert!(error.to_string().ends_with(want), "{error}");
        assert_eq!(fs::read(folder.path().join(LOG)).expect("still there"), b"hello");
        let file = folder.path().join(LOG);
        let error = Log::open(&file, Durability::Sync).map(drop).expect_err("a file is no folder");
        assert!(matches!(error, OpenError::Io { .. }), "{error}");
        let folder = tempfile::tempdir().expect("a folder");
        let first = Log::open(folder.path(), Durability::Sync).expect("a new store");
        let error = Log::open(folder.path(), Durability::Sync).map(drop).expect_err("in use");
        assert!(error.to_string().ends_with("it is in use by another process"), "{error}");
        drop(first);
        Log::open(folder.path(), Durability::Sync).expect("free again");
    }
}
