//! What became of documents since the base: which left the files, and which were elsewhere in the repository then.
//!
//! Identities are compared, not paths. What left `-f` and still stands anywhere in the repository, as the last commit
//! or the work tree has it, is nobody's to remove. What is new in `-f` has its base where it was, if it went from
//! there: of a document that is elsewhere as well, as in the folder of another environment, nothing has moved.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::base::{Build, Earlier, base_of};
use super::revision::{Revision, is_below};
use crate::core::base::Base;
use crate::core::document::Document;
use crate::core::identity::ObjectId;
use crate::core::node::Origin;
use crate::core::problem::Problem;
use crate::core::prune::Former;
use crate::core::raw::Source as File;
use crate::manifest::{self, files::is_manifest};

/// A document, by the path of its file in the repository.
type Placed = (String, Document);

/// Tells what left from what moved, and gives what moved here its base.
///
/// # Errors
/// What `git` says: then nobody knows what stands elsewhere.
pub fn heed(
    earlier: &Earlier,
    documents: &mut [Document],
    found: &mut Former,
    former: &dyn Fn(&Document) -> Option<ObjectId>,
    build: Build,
) -> Result<(), Problem> {
    let is_new = |document: &Document| matches!(document.base, Base::New);
    if found.left.is_empty() && !documents.iter().any(is_new) {
        return Ok(());
    }
    let (committed, unread) = match &earlier.head {
        Some(head) => placed(head, head.others(&[])?, build),
        None => (Vec::new(), HashSet::new()),
    };
    let today = Today::look(earlier, &committed, unread, build)?;
    keep_what_stands(earlier, found, &committed, &today.elsewhere);
    let (then, _) = placed(&earlier.at, earlier.at.others(&earlier.roots)?, build);
    let gone = today.gone_since(then);
    for document in documents.iter_mut().filter(|document| is_new(document)) {
        let names = [Some(document.id.clone()), former(document)];
        let past = names.into_iter().flatten().find_map(|name| gone.get(&name));
        if let Some(past) = past {
            document.base = base_of(past, &mut document.policy);
        }
    }
    Ok(())
}

/// What left `-f` has not left the repository where it stands elsewhere, or where its removal is in no commit yet.
fn keep_what_stands(earlier: &Earlier, found: &mut Former, committed: &[Placed], elsewhere: &[Placed]) {
    let outside = |path: &str| !earlier.roots.iter().any(|root| is_below(path, root));
    let mut standing: HashMap<&ObjectId, (&Origin, bool)> = HashMap::new();
    for (path, document) in elsewhere.iter().chain(committed) {
        let place = (&document.origin, outside(path));
        let known = standing.entry(&document.id).or_insert(place);
        if place.1 && !known.1 {
            *known = place;
        }
    }
    found.left.retain(|document| {
        let Some((origin, outside)) = standing.get(&document.id) else { return true };
        found.moved.push((document.id.clone(), (*origin).clone()));
        !outside
    });
}

/// The repository outside of `-f`, as the work tree has it.
struct Today {
    elsewhere: Vec<Placed>,
    /// Files that nobody can read as they are: what stood in them may still.
    unread: HashSet<String>,
}

impl Today {
    fn look(
        earlier: &Earlier,
        committed: &[Placed],
        unread: HashSet<String>,
        build: Build,
    ) -> Result<Today, Problem> {
        let repository = &earlier.at.repository;
        let head = earlier.head.as_ref().map(|head| &*head.commit);
        let changed: HashSet<String> = repository.changed_since(head)?.into_iter().collect();
        let outside = |path: &str| !earlier.roots.iter().any(|root| is_below(path, root));
        let as_committed = committed.iter().filter(|(path, _)| outside(path) && !changed.contains(path));
        let mut today = Today { elsewhere: as_committed.cloned().collect(), unread };
        today.unread.retain(|path| !changed.contains(path));
        let mut files: Vec<&String> = changed.iter().filter(|path| outside(path)).collect();
        files.sort_unstable();
        for path in files {
            today.read(&repository.root, path, build);
        }
        Ok(today)
    }

    /// A file of the work tree, if it is there and a manifest.
    fn read(&mut self, root: &Path, path: &str, build: Build) {
        let file = root.join(path);
        if !is_manifest(Path::new(path)) || !file.is_file() {
            return;
        }
        let source = fs::read(&file).ok().and_then(|bytes| manifest::source(path, &bytes).ok());
        let loaded =
            source.map(|source| manifest::read(vec![source])).filter(|loaded| loaded.problems.is_empty());
        match loaded {
            Some(loaded) => {
                let documents = build(loaded.manifests).documents;
                self.elsewhere.extend(documents.into_iter().map(|document| (path.to_owned(), document)));
            }
            None => drop(self.unread.insert(path.to_owned())),
        }
    }

    /// What stood elsewhere then and does not today, but for what only changed its place there, and for what stood in
    /// several places: which of them moved, nobody knows.
    fn gone_since(&self, then: Vec<Placed>) -> HashMap<ObjectId, Document> {
        let places = |all: &[Placed]| -> HashSet<(ObjectId, String)> {
            all.iter().map(|(path, document)| (document.id.clone(), path.clone())).collect()
        };
        let (before, now) = (places(&then), places(&self.elsewhere));
        let arrived: HashSet<&ObjectId> = now.difference(&before).map(|(id, _)| id).collect();
        let mut gone: HashMap<ObjectId, Vec<Document>> = HashMap::new();
        for (path, document) in then {
            let place = (document.id.clone(), path);
            if !now.contains(&place) && !self.unread.contains(&place.1) && !arrived.contains(&document.id) {
                gone.entry(place.0).or_default().push(document);
            }
        }
        let only = |(id, mut all): (ObjectId, Vec<Document>)| match all.len() {
            1 => Some((id, all.pop()?)),
            _ => None,
        };
        gone.into_iter().filter_map(only).collect()
    }
}

/// The documents of these files, and the paths of those that cannot be read: a repository holds much that is none.
fn placed(revision: &Revision, files: Vec<Arc<File>>, build: Build) -> (Vec<Placed>, HashSet<String>) {
    let path_of = |origin: &Origin| revision.path_of(&origin.file).map(str::to_owned);
    let loaded = manifest::read(files);
    let unread = loaded.problems.iter().filter_map(|problem| path_of(problem.origin.as_ref()?)).collect();
    let documents = build(loaded.manifests).documents;
    let documents = documents.into_iter().filter_map(|document| Some((path_of(&document.origin)?, document)));
    (documents.collect(), unread)
}
