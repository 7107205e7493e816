//! The files of the desired set, watched: what the system tells of them is a hint, and a look at them now and then
//! finds what it did not tell.
//!
//! Kubernetes swaps a link above the files, editors write beside a file and rename, network file systems tell nothing
//! at all: so folders are watched rather than files, and what decides is whether the files look otherwise than before.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;
use tokio::sync::mpsc::{self, Receiver, Sender, UnboundedReceiver, UnboundedSender};
use tokio::time::Instant;

use crate::core::problem::{Problem, said_by_system};
use crate::manifest::files::is_manifest;

/// Changes are taken together until there was none for so long.
const QUIET: Duration = Duration::from_millis(200);
/// But not longer than this.
const LONGEST: Duration = Duration::from_secs(1);
/// How often the files are looked at where the system tells of changes, and where it does not.
const SCAN: Duration = Duration::from_secs(30);
const SCAN_ALONE: Duration = Duration::from_secs(2);
/// A tree with more files than this is no desired set.
const MOST: usize = 100_000;

/// What files look like from outside: those that there are, each with what tells one content from another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look(BTreeMap<PathBuf, Mark>);

/// Length, time and number of a file: a change that leaves all three is found when the set is read as a whole again.
type Mark = (u64, Option<SystemTime>, u64);

/// What is told of the files.
#[derive(Debug)]
pub enum News {
    /// They look otherwise than when they were read.
    Changed,
    /// The system tells of changes no more: why, and what is done instead.
    Blind(Problem),
}

/// Files that are watched, as seen by whoever reads them.
pub struct Watched {
    roots: Vec<PathBuf>,
    news: Receiver<News>,
    reads: UnboundedSender<AsRead>,
}

impl Watched {
    /// Watches what these paths name, until the value is dropped; `-` is nothing that changes.
    pub fn new(roots: Vec<PathBuf>) -> Watched {
        let roots: Vec<PathBuf> = roots.into_iter().filter(|root| root.as_os_str() != "-").collect();
        let (sender, news) = mpsc::channel(4);
        let (reads, read) = mpsc::unbounded_channel();
        tokio::spawn(Files::new(roots.clone()).run(sender, read));
        Watched { roots, news, reads }
    }

    /// The next news. What is changed is told once, until the files are read.
    pub async fn next(&mut self) -> News {
        match self.news.recv().await {
            Some(news) => news,
            None => std::future::pending().await,
        }
    }

    /// The paths whose [`Look`] is to be taken before they are read.
    pub fn roots(&self) -> Vec<PathBuf> {
        self.roots.clone()
    }

    /// The set was read when the files looked so.
    pub fn read(&self, files: &AsRead) {
        // The task is there as long as this is.
        let _ = self.reads.send(files.clone());
    }
}

/// The task behind [`Watched`].
struct Files {
    roots: Vec<PathBuf>,
    /// What documents name besides.
    named: BTreeSet<PathBuf>,
    watcher: Option<RecommendedWatcher>,
    /// With what tells a folder from another one that took its place.
    watched: BTreeMap<PathBuf, Mark>,
    told: Arc<Told>,
    seen: Look,
    /// Why the system tells no more, until it is told.
    blind: Option<Problem>,
}

/// What the system has told of.
#[derive(Default)]
struct Told {
    bell: Notify,
    /// Why it may tell no more.
    failed: Mutex<Option<String>>,
}

impl Files {
    fn new(roots: Vec<PathBuf>) -> Files {
        let told = Arc::<Told>::default();
        let ear = told.clone();
        let watcher =
            notify::recommended_watcher(move |event: notify::Result<notify::Event>| ear.hear(event));
        let (watcher, blind) = match watcher {
            Ok(watcher) => (Some(watcher), None),
            Err(error) => (None, Some(blind(&error.to_string()))),
        };
        let (named, watched, seen) = (BTreeSet::new(), BTreeMap::new(), Look::default());
        Files { roots, named, watcher, watched, told, seen, blind }
    }

    async fn run(mut self, news: Sender<News>, mut reads: UnboundedReceiver<AsRead>) {
        // Nothing is known before the first read.
        let mut waits = true;
        loop {
            if let Some(problem) = self.blind.take() {
                let _ = news.send(News::Blind(problem)).await;
            }
            tokio::select! {
                read = reads.recv() => {
                    let Some(AsRead { look, named, .. }) = read else { return };
                    (self.seen, self.named) = (look, named);
                    // A network file system may take its time.
                    let listening = tokio::task::spawn_blocking(move || {
                        self.listen();
                        self
                    });
                    self = match listening.await {
                        Ok(files) => files,
                        Err(_) => return,
                    };
                    waits = false;
                    // What was heard of meanwhile may have come after the look.
                    self.told.bell.notify_one();
                }
                () = self.changed(), if !waits && !self.roots.is_empty() => {
                    waits = true;
                    let _ = news.send(News::Changed).await;
                }
            }
            let failed = self.told.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(why) = failed {
                self.watcher = None;
                self.blind = Some(blind(&why));
            }
        }
    }

    /// Waits until the files look otherwise than when they were read. Changes that follow each other closely are one.
    async fn changed(&self) {
        loop {
            let scan = if self.watcher.is_some() { SCAN } else { SCAN_ALONE };
            tokio::select! {
                () = self.told.bell.notified() => self.until_quiet().await,
                () = tokio::time::sleep(scan) => {}
            }
            let (roots, named) = (self.roots.clone(), self.named.clone());
            // A network file system may take its time.
            let look = tokio::task::spawn_blocking(move || Look::of(&roots, &named)).await;
            if look.is_ok_and(|look| look != self.seen) {
                return;
            }
        }
    }

    async fn until_quiet(&self) {
        let end = Instant::now() + LONGEST;
        loop {
            let quiet = (Instant::now() + QUIET).min(end);
            tokio::select! {
                () = self.told.bell.notified(), if Instant::now() < end => {}
                () = tokio::time::sleep_until(quiet) => return,
            }
        }
    }

    /// Watches the folders that matter by now.
    fn listen(&mut self) {
        let wanted = self.folders();
        let Some(watcher) = self.watcher.as_mut() else { return };
        // What is watched is the folder itself, and not its path: another one may stand there by now.
        let wanted: BTreeMap<PathBuf, Mark> =
            wanted.into_iter().filter_map(|folder| Some((folder.clone(), which(&folder)?))).collect();
        self.watched.retain(|folder, watched| {
            let stays = wanted.get(folder) == Some(watched);
            if !stays {
                // It may be gone, and is of no interest any more.
                let _ = watcher.unwatch(folder);
            }
            stays
        });
        for (folder, mark) in wanted {
            if self.watched.contains_key(&folder) {
                continue;
            }
            match watcher.watch(&folder, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    self.watched.insert(folder, mark);
                }
                // It went away just now: the next look finds it so.
                Err(_) if !folder.exists() => {}
                Err(error) => {
                    self.blind = Some(blind(&error.to_string()));
                    self.watcher = None;
                    self.watched.clear();
                    return;
                }
            }
        }
    }

    /// The folders in which a change of the set shows: of all files, and below all roots.
    fn folders(&self) -> BTreeSet<PathBuf> {
        let mut walk = Walk::default();
        self.roots.iter().for_each(|root| walk.root(root));
        let all = walk.files.keys().chain(&walk.folders).chain(&self.named);
        let linked: Vec<PathBuf> = all.flat_map(|path| behind(path)).collect();
        let paths = || self.roots.iter().chain(&self.named).chain(&linked);
        let parents = paths().filter_map(|path| folder_of(path));
        walk.folders.extend(parents.filter(|parent| parent.is_dir()));
        // A link on the way, which is put elsewhere when a new release comes.
        let links = paths().flat_map(|path| path.ancestors().skip(1)).filter(|path| path.is_symlink());
        walk.folders.extend(links.filter_map(folder_of));
        walk.folders
    }
}

/// The folder in which a path stands.
fn folder_of(path: &Path) -> Option<PathBuf> {
    path.parent().map(|parent| match parent.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => parent.to_owned(),
    })
}

/// Links lead from one to the next for so long, at most.
const HOPS: usize = 8;

/// Where a file or a folder really stands that is a link, and each link on the way: what is written there is a change
/// here.
fn behind(path: &Path) -> Vec<PathBuf> {
    let next = |path: &PathBuf| {
        let to = fs::read_link(path).ok()?;
        Some(path.parent()?.join(to))
    };
    std::iter::successors(next(&path.to_owned()), next).take(HOPS).collect()
}

impl Told {
    fn hear(&self, event: notify::Result<notify::Event>) {
        match event {
            // Reading them is no change, and is what this process does itself.
            Ok(event) if matches!(event.kind, EventKind::Access(_)) => return,
            Ok(_) => {}
            Err(error) => {
                *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
            }
        }
        self.bell.notify_one();
    }
}

/// Tells a folder from another one of its path; `None` where there is none. Numbers are used again.
fn which(folder: &Path) -> Option<Mark> {
    let metadata = fs::metadata(folder).ok()?;
    Some((0, metadata.created().ok(), number(&metadata)))
}

fn blind(why: &str) -> Problem {
    let message = format!("watching the files for changes: {}", said_by_system(why));
    let seconds = SCAN_ALONE.as_secs();
    Problem::new(message).hint(format!("they are looked at every {seconds} s instead")).warning()
}

impl Look {
    /// What these files look like now, and those that documents name besides.
    pub fn of(roots: &[PathBuf], named: &BTreeSet<PathBuf>) -> Look {
        let mut walk = Walk::default();
        roots.iter().for_each(|root| walk.root(root));
        for path in named {
            walk.file(path);
        }
        Look(walk.files)
    }
}

/// Files as they were when they were read.
#[derive(Clone, Debug, Default)]
pub struct AsRead {
    pub roots: Vec<PathBuf>,
    pub named: BTreeSet<PathBuf>,
    pub look: Look,
}

impl AsRead {
    /// Whether they look so still, whether or not anybody has told of a change.
    pub async fn holds(self) -> bool {
        let look = tokio::task::spawn_blocking(move || Look::of(&self.roots, &self.named) == self.look).await;
        look.unwrap_or(false)
    }
}

impl Look {
    /// This one, and what of `more` it does not know.
    pub fn with(mut self, more: Look) -> Look {
        for (path, mark) in more.0 {
            self.0.entry(path).or_insert(mark);
        }
        self
    }
}

/// Goes through the files that loading would read, without reading them.
#[derive(Default)]
struct Walk {
    files: BTreeMap<PathBuf, Mark>,
    folders: BTreeSet<PathBuf>,
    /// Without links, so that a loop of links ends.
    seen: HashSet<PathBuf>,
}

impl Walk {
    fn root(&mut self, root: &Path) {
        match root.is_dir() {
            true => self.folder(root),
            false => self.file(root),
        }
    }

    fn folder(&mut self, folder: &Path) {
        let Ok(real) = folder.canonicalize() else { return };
        if !self.seen.insert(real) || self.files.len() > MOST {
            return;
        }
        self.folders.insert(folder.to_owned());
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            let path = entry.path();
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            match path.is_dir() {
                true => self.folder(&path),
                false if is_manifest(&path) => self.file(&path),
                false => {}
            }
        }
    }

    /// A file that is not there is no file.
    fn file(&mut self, path: &Path) {
        if let Ok(metadata) = fs::metadata(path) {
            let mark = (metadata.len(), metadata.modified().ok(), number(&metadata));
            self.files.insert(path.to_owned(), mark);
        }
    }
}

#[cfg(unix)]
fn number(metadata: &Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    metadata.ino()
}

#[cfg(not(unix))]
fn number(_: &Metadata) -> u64 {
    0
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
