//! The crash-safe store behind the built-in server: an index in memory, a log on disk, one writer.
//!
//! Knows items, names and revisions, nothing of HTTP. A write that was answered survives a kill at any moment;
//! nothing half-written is ever seen.

mod answers;
mod commit;
mod condition;
mod decide;
mod deletion;
mod disk;
mod feed;
mod index;
mod item;
mod key;
mod record;
mod refusal;
mod status;
mod write;

use std::path::Path;
use std::sync::{Arc, RwLock};

pub use commit::Committed;
pub use condition::{Condition, Tags};
pub use disk::{Durability, OpenError};
pub use feed::{Event, Feed, Follower, Next, NoFeed, Position, What};
pub use index::{Collection, Index};
pub use item::Item;
pub use key::{Key, decode, encode};
pub use record::Damage;
pub use refusal::Refusal;
pub use write::{Action, Done, MAX_SIZE, Part, Patch, Write};

use commit::Committer;
use disk::{Disk, Log};

/// An open store. Dropping it writes what is queued and closes the file.
pub struct Store {
    index: Arc<RwLock<Index>>,
    feed: Arc<Feed>,
    committer: Committer,
}

impl Store {
    /// Opens the store in a folder, which is made when it is not there. One process at a time.
    pub fn open(folder: &Path, durability: Durability) -> Result<Store, OpenError> {
        let (log, index) = Log::open(folder, durability)?;
        Ok(Store::start(Disk::Log(log), index))
    }

    /// A store that is gone with the process.
    pub fn in_memory() -> Store {
        Store::start(Disk::Memory, Index::default())
    }

    /// Opens it as [`open`](Store::open) does, and keeps the `status` of the items of these collections apart, now
    /// and whenever it is opened later.
    pub fn open_with_status(
        folder: &Path,
        durability: Durability,
        collections: &[String],
    ) -> Result<Store, OpenError> {
        let (log, mut index) = Log::open(folder, durability)?;
        let mut disk = Disk::Log(log);
        let in_the_way = |in_the_way| OpenError::Status { path: folder.to_owned(), in_the_way };
        let changes = index.declare_apart(collections).map_err(in_the_way)?;
        if !changes.is_empty() {
            let failed = |source| OpenError::Io { path: folder.to_owned(), source };
            disk.save(&changes, index.clock()).map_err(failed)?;
        }
        changes.iter().for_each(|change| index.apply(change));
        Ok(Store::start(disk, index))
    }

    fn start(disk: Disk, index: Index) -> Store {
        let feed = Feed::new(index.clock());
        let index = Arc::new(RwLock::new(index));
        let committer = Committer::start(disk, index.clone(), feed.clone());
        Store { index, feed, committer }
    }

    /// Looks at the latest durable state. Writers wait meanwhile, so `look` should only pick what it needs.
    pub fn read<T>(&self, look: impl FnOnce(&Index) -> T) -> T {
        look(&self.index.read().expect("no reader or writer of the index panics"))
    }

    /// What changes, as it does. It ends when the store closes.
    pub fn feed(&self) -> &Arc<Feed> {
        &self.feed
    }

    /// What a write would do to the latest durable state. Nothing is done.
    pub fn rehearse(&self, write: Write) -> Result<Done, Refusal> {
        self.read(|index| index.decide(write).map(|(done, _)| done))
    }

    /// Asks for a write, and waits until it is durable or refused.
    pub async fn write(&self, write: Write) -> Result<Committed, Refusal> {
        self.committer.write(write).await
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.feed.close();
    }
}
