//! The file: one redb database, in which a transaction is either wholly there or not at all.
//!
//! redb gives what matters here: its own lock, checksums, and recovery after a kill at any moment. Items are
//! kept under their number in the order of creation, so that creating many writes few pages, and loading gives
//! listings their order.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};

use super::index::{Change, Index, Item};
use super::key::Key;

/// Number → path, revision, natural, JSON.
const ITEMS: TableDefinition<u64, (&str, u64, bool, &[u8])> = TableDefinition::new("items");
/// Path of a removed item whose name may come back → its last revision.
const GONE: TableDefinition<&str, u64> = TableDefinition::new("gone");
/// Path of a collection → the last id that the server gave out.
const COUNTERS: TableDefinition<&str, u64> = TableDefinition::new("counters");
/// `format` and `clock`.
const META: TableDefinition<&str, u64> = TableDefinition::new("meta");

/// The layout of the tables above; a store of another layout is refused.
const FORMAT: u64 = 1;
/// The database's name in the store's folder.
const FILE: &str = "store.redb";

/// Whether a write is answered only when it would survive a power cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    #[default]
    Sync,
    /// Never waits for the disk: for benchmarks and scratch stores. A crash may lose the last writes.
    NoSync,
}

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("cannot open the store `{}`: it is in use by another process", .0.display())]
    InUse(PathBuf),
    #[error("cannot open the store `{}`: `{FILE}` is damaged: {detail}", path.display())]
    Damaged { path: PathBuf, detail: String },
    #[error(
        "cannot open the store `{}`: it has format {found}, this version reads {FORMAT}", path.display()
    )]
    Format { path: PathBuf, found: u64 },
    #[error("cannot open the store `{}`", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl OpenError {
    /// What the user can do.
    pub fn hint(&self) -> &'static str {
        match self {
            OpenError::InUse(_) => "stop the other process, or use another path",
            OpenError::Damaged { .. } => {
                "restore it from a copy, or move the folder away to start with an empty one"
            }
            OpenError::Format { .. } => "open it with the version that made it",
            OpenError::Io { .. } => "the path must be a folder that can be written, or not exist yet",
        }
    }

    fn of(path: &Path, error: impl Into<redb::Error>) -> OpenError {
        let path = path.to_owned();
        match error.into() {
            redb::Error::DatabaseAlreadyOpen => OpenError::InUse(path),
            redb::Error::Io(source) if source.kind() != io::ErrorKind::InvalidData => {
                OpenError::Io { path, source }
            }
            other => OpenError::Damaged { path, detail: other.to_string() },
        }
    }
}

/// The open database.
pub struct Disk {
    database: Database,
    durability: redb::Durability,
}

impl Disk {
    /// Opens the store in this folder, which is made when it is not there, and loads it.
    pub fn open(folder: &Path, durability: Durability) -> Result<(Disk, Index), OpenError> {
        let failed = |source| OpenError::Io { path: folder.to_owned(), source };
        fs::create_dir_all(folder).map_err(failed)?;
        let file = folder.join(FILE);
        let is_new = !file.exists();
        let database = Database::create(&file).map_err(|e| OpenError::of(folder, e))?;
        if is_new {
            sync_folder(folder).map_err(failed)?;
        }
        Disk::load(database, folder, durability)
    }

    /// An empty store that is gone with the process.
    pub fn in_memory() -> (Disk, Index) {
        let backend = redb::backends::InMemoryBackend::new();
        let opened = Database::builder().create_with_backend(backend);
        let database = opened.expect("a database in memory needs no file");
        let disk = Disk { database, durability: redb::Durability::None };
        disk.found().expect("a database in memory can be written");
        (disk, Index::default())
    }

    fn load(
        mut database: Database,
        folder: &Path,
        durability: Durability,
    ) -> Result<(Disk, Index), OpenError> {
        let failed = |error: redb::Error| OpenError::of(folder, error);
        // The whole file is read below in any case; this reads it by its checksums, so that nothing damaged is served.
        database.check_integrity().map_err(|e| failed(e.into()))?;
        let durability = match durability {
            Durability::Sync => redb::Durability::Immediate,
            Durability::NoSync => redb::Durability::None,
        };
        let disk = Disk { database, durability };
        let format = disk.found().map_err(failed)?;
        if format != FORMAT {
            return Err(OpenError::Format { path: folder.to_owned(), found: format });
        }
        let index = disk.index().map_err(failed)?;
        Ok((disk, index))
    }

    /// Makes the tables where they are missing, and says which format they have.
    fn found(&self) -> Result<u64, redb::Error> {
        let transaction = self.database.begin_write()?;
        let format = {
            let mut meta = transaction.open_table(META)?;
            let have = meta.get("format")?.map(|value| value.value());
            if have.is_none() {
                meta.insert("format", FORMAT)?;
                transaction.open_table(ITEMS)?;
                transaction.open_table(GONE)?;
                transaction.open_table(COUNTERS)?;
            }
            have.unwrap_or(FORMAT)
        };
        transaction.commit()?;
        Ok(format)
    }

    fn index(&self) -> Result<Index, redb::Error> {
        let transaction = self.database.begin_read()?;
        let clock = transaction.open_table(META)?.get("clock")?.map_or(0, |value| value.value());
        let mut index = Index::at(clock);
        for entry in transaction.open_table(COUNTERS)?.iter()? {
            let (key, id) = entry?;
            index.count(Key::stored(key.value()), id.value());
        }
        for entry in transaction.open_table(GONE)?.iter()? {
            let (key, revision) = entry?;
            index.bury(Key::stored(key.value()), revision.value());
        }
        for entry in transaction.open_table(ITEMS)?.iter()? {
            let (seq, record) = entry?;
            let (key, revision, natural, json) = record.value();
            let (key, json) = (Key::stored(key), json.to_vec().into());
            index.insert(Arc::new(Item { key, seq: seq.value(), revision, natural, json }));
        }
        Ok(index)
    }

    /// Writes the changes, all or none, and returns when they are durable.
    pub fn save(&self, changes: &[Change], clock: u64) -> Result<(), redb::Error> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_durability(self.durability)?;
        {
            let mut items = transaction.open_table(ITEMS)?;
            let mut gone = transaction.open_table(GONE)?;
            let mut counters = transaction.open_table(COUNTERS)?;
            for change in changes {
                match change {
                    Change::Stored(item) => {
                        let record = (item.key.as_str(), item.revision, item.natural, &item.json[..]);
                        items.insert(item.seq, record)?;
                        gone.remove(item.key.as_str())?;
                    }
                    Change::Removed(item) => {
                        items.remove(item.seq)?;
                        if item.natural {
                            gone.insert(item.key.as_str(), item.revision)?;
                        }
                    }
                    Change::Counted(key, id) => {
                        counters.insert(key.as_str(), id)?;
                    }
                }
            }
            transaction.open_table(META)?.insert("clock", clock)?;
        }
        transaction.commit()?;
        Ok(())
    }
}

/// Makes a new file's name as durable as its content. Only Unix opens folders as files.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { fs::File::open(folder)?.sync_all() } else { Ok(()) }
}
