//! Folders that gave documents and give none any more. That may be a wish that all of it go, and as well a volume that
//! is not mounted, or a checkout in the middle. The files cannot tell, so nothing of what they declared is deleted
//! before a person or Git says that it is to be.
//!
//! Nothing of this outlives the process: a new one knows no folder that was there before.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

use super::desired::Desired;
use crate::core::alike::folded;
use crate::core::document::Document;
use crate::core::identity::ObjectId;
use crate::core::kind::Kind;
use crate::core::set::Set;
use crate::run::git;

/// A folder whose files go one by one loses its documents within this time.
const MEANWHILE: Duration = Duration::from_secs(60);
/// So many folders are told one by one.
const TOLD: usize = 10;

/// What is kept of folders that have given documents.
#[derive(Clone, Debug, Default)]
pub struct Folders {
    /// By folder: what its documents declared, each with its file.
    lost: BTreeMap<PathBuf, BTreeMap<ObjectId, PathBuf>>,
    /// Of these it is known that they are to be gone.
    agreed: BTreeSet<PathBuf>,
    /// Documents that left a folder lately in which others were still.
    left: Vec<(Instant, ObjectId, PathBuf)>,
}

impl Folders {
    /// Other files are read than before, at paths below `roots`.
    pub fn wanted(&mut self, before: &Desired, after: &Desired, roots: &[PathBuf], now: Instant) {
        let alive = Alive::of(after);
        let is_there = |id: &ObjectId| !after.places([id]).is_empty();
        for objects in self.lost.values_mut() {
            objects.retain(|id, _| !is_there(id));
        }
        self.lost.retain(|folder, objects| !objects.is_empty() && !alive.has(folder));
        self.left.retain(|(at, id, _)| !is_there(id) && now.saturating_duration_since(*at) < MEANWHILE);
        let gone = before.documents.iter().filter(|document| !is_there(&document.id));
        self.left.extend(gone.map(|gone| (now, gone.id.clone(), PathBuf::from(&*gone.origin.file))));
        let (stay, lost): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.left).into_iter().partition(|(_, _, file)| alive.has(folder_of(file)));
        self.left = stay;
        for (_, id, file) in lost {
            let folder = alive.topmost_lost(folder_of(&file), roots);
            self.lost.entry(folder).or_default().insert(id, file);
        }
        self.agreed.retain(|folder| self.lost.contains_key(folder));
    }

    /// Asks Git of each folder whether a commit has taken its files away, and whether that is what is checked out.
    pub fn ask_git(&mut self) {
        let open = self.lost.iter().filter(|(folder, _)| !self.agreed.contains(*folder));
        let gone = open.filter(|(folder, objects)| {
            let files: BTreeSet<&Path> = objects.values().map(PathBuf::as_path).collect();
            git::has_deleted(folder, &files)
        });
        let gone: Vec<PathBuf> = gone.map(|(folder, _)| folder.clone()).collect();
        self.agreed.extend(gone);
    }

    /// A person wants things to be as the files have them, who was told what they lack: the folders that are agreed to
    /// by that.
    pub fn agree(&mut self) -> Vec<PathBuf> {
        let new = self.lost.keys().filter(|folder| !self.agreed.contains(*folder));
        let new: Vec<PathBuf> = new.cloned().collect();
        self.agreed.extend(new.iter().cloned());
        new
    }

    /// Takes what a reading found; what was agreed to meanwhile stays so. The folders that Git has agreed to.
    pub fn take(&mut self, read: Folders) -> Vec<PathBuf> {
        let before = std::mem::replace(self, read);
        let by_git = self.agreed.difference(&before.agreed).cloned().collect();
        let meanwhile = before.agreed.into_iter().filter(|folder| self.lost.contains_key(folder));
        self.agreed.extend(meanwhile);
        by_git
    }

    /// What is not to be deleted, as far as it is any of these Sets'.
    pub fn held(&self, sets: &[Set], desired: &Desired) -> Held {
        let open = self.lost.iter().filter(|(folder, _)| !self.agreed.contains(*folder));
        let mut all = Vec::new();
        for (folder, objects) in open {
            let folder = folder.display().to_string();
            let claimed = |id: &&ObjectId| {
                let kind = desired.kinds.get(&id.kind);
                kind.is_some_and(|kind| sets.iter().any(|set| set.claim_of(id, kind).is_some()))
            };
            let objects: Vec<ObjectId> = objects.keys().filter(claimed).cloned().collect();
            if !objects.is_empty() {
                all.push((folder, objects));
            }
        }
        Held(all)
    }
}

/// By folder: objects that are not to be deleted for now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held(Vec<(String, Vec<ObjectId>)>);

impl Held {
    pub fn has(&self, folder: &Path) -> bool {
        self.0.iter().any(|(held, _)| *held == folder.display().to_string())
    }

    /// For the log and the status, a sentence for each folder.
    pub fn sentences(&self) -> Vec<String> {
        let told = self.0.iter().take(TOLD).map(|(folder, objects)| {
            let objects = match objects.len() {
                1 => "an object".to_owned(),
                count => format!("{count} objects"),
            };
            format!(
                "the folder `{folder}` declared {objects} and has no document any more: nothing of that is deleted \
                 before SIGHUP or `POST /resync` says that it is to be so"
            )
        });
        let more = self.0.len().saturating_sub(TOLD);
        told.chain((more > 0).then(|| format!("and {more} more folders without a document"))).collect()
    }

    /// Why an object is not to be deleted.
    pub fn why(&self, kind: &Kind, id: &ObjectId) -> Option<String> {
        let is_it = |held: &ObjectId| {
            held == id
                || (held.kind == kind.name && folded(&held.key.to_string()) == folded(&id.key.to_string()))
        };
        let (folder, _) = self.0.iter().find(|(_, objects)| objects.iter().any(is_it))?;
        Some(format!("`{folder}`, which declared it, has no document any more, and may be not mounted"))
    }
}

/// The folders that documents come from, and all above them.
struct Alive<'d>(BTreeSet<&'d Path>);

impl<'d> Alive<'d> {
    fn of(desired: &'d Desired) -> Alive<'d> {
        let mut all = BTreeSet::new();
        for file in desired.files() {
            for folder in folder_of(Path::new(file)).ancestors() {
                if !all.insert(folder) {
                    break;
                }
            }
        }
        Alive(all)
    }

    fn has(&self, folder: &Path) -> bool {
        self.0.contains(folder)
    }

    /// The highest folder around a lost one, up to a root, that is lost as well.
    fn topmost_lost(&self, folder: &Path, roots: &[PathBuf]) -> PathBuf {
        let is_root = |folder: &&Path| roots.iter().any(|root| root == folder);
        let mut top = folder;
        while !is_root(&top)
            && let Some(above) =
                top.parent().filter(|above| !above.as_os_str().is_empty() && !self.has(above))
        {
            top = above;
        }
        top.to_owned()
    }
}

fn folder_of(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new(""))
}

impl Desired {
    /// The files in which anything stands, some more than once.
    fn files(&self) -> impl Iterator<Item = &str> {
        let documents = self.documents.iter().map(|document: &Document| &*document.origin.file);
        documents.chain(self.other_files())
    }
}

#[cfg(test)]
#[path = "folders_tests.rs"]
mod tests;
