//! The files that `-f` names, at a revision of their repository.
//!
//! They are taken by the rules of a folder on a disk: `*.yaml`, `*.yml` and `*.json` below a folder, hidden ones
//! left out, links followed only to what is below some `-f`.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::git::{EntryKind, Repository, Tree};
use crate::core::problem::Problem;
use crate::core::raw::Source;
use crate::manifest::files::is_manifest;
use crate::manifest::{self};

/// So many links are followed on the way to one file.
const MOST_LINKS: usize = 8;

/// How a file begins that stands for a larger one elsewhere (Git LFS, the specification of pointers).
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// What a commit holds, and how it was named.
pub struct Revision {
    pub repository: Repository,
    pub name: String,
    pub commit: String,
    tree: Tree,
}

impl Revision {
    /// # Errors
    /// What `git` says.
    pub fn new(repository: &Repository, name: &str, commit: &str) -> Result<Revision, Problem> {
        let tree = repository.tree(commit)?;
        Ok(Revision {
            repository: repository.clone(),
            name: name.to_owned(),
            commit: commit.to_owned(),
            tree,
        })
    }

    /// How a file is named in messages, as Git names it.
    pub fn label(&self, path: &str) -> String {
        format!("{}:{path}", self.name)
    }

    /// The path behind a [`Revision::label`].
    pub fn path_of<'l>(&self, label: &'l str) -> Option<&'l str> {
        label.strip_prefix(&*self.name)?.strip_prefix(':')
    }

    /// Whether anything is at a path; a link that cannot be followed is something.
    fn has(&self, path: &str) -> bool {
        let Ok(path) = self.resolve(path) else { return true };
        let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
        let below =
            self.tree.range(prefix.clone()..).next().is_some_and(|(path, _)| path.starts_with(&prefix));
        below || self.tree.contains_key(&path)
    }

    /// The files of these roots, which are paths of the tree; a root that is not there has none.
    pub fn files(&self, roots: &[String]) -> (Vec<Arc<Source>>, Vec<Problem>) {
        let mut walk =
            Walk { revision: self, roots, seen: BTreeSet::new(), found: Vec::new(), problems: Vec::new() };
        for root in roots {
            match self.resolve(root) {
                Ok(path) if self.tree.contains_key(&path) => walk.file(root, &path),
                Ok(path) => walk.folder(root, &path),
                Err(problem) => walk.problems.push(problem),
            }
        }
        let (found, mut problems) = (walk.found, walk.problems);
        let sources = self.read(&found, &mut problems).unwrap_or_else(|problem| {
            problems.push(problem);
            Vec::new()
        });
        (sources, problems)
    }

    /// All manifests of the tree that are not below these roots; those that are no text are passed over.
    ///
    /// # Errors
    /// What `git` says: then nobody knows what stands there.
    pub fn others(&self, roots: &[String]) -> Result<Vec<Arc<Source>>, Problem> {
        let outside = |path: &&String| !roots.iter().any(|root| is_below(path, root));
        let manifests = self.tree.iter().filter(|(path, entry)| {
            entry.kind == EntryKind::File && outside(path) && is_manifest(Path::new(path))
        });
        let found: Vec<_> = manifests.map(|(path, _)| (path.clone(), path.clone())).collect();
        self.read(&found, &mut Vec::new())
    }

    /// The text of one file, which a file of the tree names; only what is below the roots may be named.
    pub fn text(&self, path: &str, roots: &[String]) -> Option<String> {
        let real =
            self.resolve(path).ok().filter(|real| roots.iter().any(|root| is_in_reach(real, root, self)))?;
        let object = &self.tree.get(&real).filter(|entry| entry.kind == EntryKind::File)?.object;
        let bytes = self.repository.contents(&[object]).ok()?.pop()?;
        String::from_utf8(bytes).ok().filter(|text| !text.as_bytes().starts_with(POINTER))
    }

    /// Files by how they are called and where they are.
    fn read(
        &self,
        files: &[(String, String)],
        problems: &mut Vec<Problem>,
    ) -> Result<Vec<Arc<Source>>, Problem> {
        let objects: Vec<&str> = files.iter().map(|(_, path)| &*self.tree[path].object).collect();
        let contents = self.repository.contents(&objects)?;
        let texts = files.iter().zip(contents).map(|((name, _), bytes)| match bytes.starts_with(POINTER) {
            true => Err(pointer(&self.label(name))),
            false => manifest::source(&self.label(name), &bytes),
        });
        Ok(texts.filter_map(|text| text.map_err(|problem| problems.push(problem)).ok()).collect())
    }

    /// Where a path leads, with the links on the way followed.
    fn resolve(&self, path: &str) -> Result<String, Problem> {
        let mut path = path.to_owned();
        for _ in 0..MOST_LINKS {
            let Some((link, rest)) = self.link_in(&path) else { return Ok(path) };
            let target = self.repository.contents(&[&self.tree[&link].object])?.pop().unwrap_or_default();
            let target = String::from_utf8_lossy(&target).into_owned();
            let folder = Path::new(&link).parent().unwrap_or(Path::new(""));
            let inside = normal(&folder.join(&target)).filter(|_| !Path::new(&target).is_absolute());
            let Some(inside) = inside else { return Err(leads_out(&self.label(&link))) };
            path = join(&inside, &rest);
        }
        Err(Problem::new(format!("`{}` is a link that leads to itself", self.label(&path))))
    }

    /// The first part of a path that is a link, and what follows it.
    fn link_in(&self, path: &str) -> Option<(String, String)> {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.map(|end| (&path[..end], path[end..].trim_start_matches('/')))
            .find(|(head, _)| self.tree.get(*head).is_some_and(|entry| entry.kind == EntryKind::Link))
            .map(|(head, rest)| (head.to_owned(), rest.to_owned()))
    }
}

struct Walk<'r> {
    revision: &'r Revision,
    roots: &'r [String],
    seen: BTreeSet<String>,
    /// How each file is called, and where it is.
    found: Vec<(String, String)>,
    problems: Vec<Problem>,
}

impl Walk<'_> {
    fn file(&mut self, name: &str, path: &str) {
        let label = self.revision.label(name);
        if self.revision.tree[path].kind == EntryKind::Submodule {
            let problem =
                Problem::new(format!("`{label}` is a submodule: its files are in another repository"));
            return self
                .problems
                .push(problem.hint("name it with a run of its own, or give a folder: `--base DIR`"));
        }
        if self.seen.insert(path.to_owned()) {
            self.found.push((name.to_owned(), path.to_owned()));
        }
    }

    /// `name` is how the folder is called, `path` where it is: they differ behind a link.
    fn folder(&mut self, name: &str, path: &str) {
        if !self.seen.insert(format!("{path}/")) {
            return;
        }
        let revision = self.revision;
        let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
        let below = revision.tree.range(prefix.clone()..).take_while(|(path, _)| path.starts_with(&prefix));
        for (path, entry) in below {
            let rest = &path[prefix.len()..];
            if rest.split('/').any(|part| part.starts_with('.')) {
                continue;
            }
            let name = join(name, rest);
            match entry.kind {
                EntryKind::Link => self.link(&name, path),
                EntryKind::Submodule => self.file(&name, path),
                EntryKind::File if is_manifest(Path::new(path)) => self.file(&name, path),
                EntryKind::File => {}
            }
        }
    }

    fn link(&mut self, name: &str, path: &str) {
        let revision = self.revision;
        let is_file = |path: &str| revision.tree.get(path).is_some_and(|entry| entry.kind == EntryKind::File);
        match revision.resolve(path) {
            Ok(real) if is_file(&real) && !is_manifest(Path::new(path)) => {}
            Ok(real) if !self.roots.iter().any(|root| is_in_reach(&real, root, revision)) => {
                self.problems.push(leads_out(&revision.label(name)));
            }
            Ok(real) if is_file(&real) => self.file(name, &real),
            Ok(real) => self.folder(name, &real),
            Err(_) if !is_manifest(Path::new(path)) => {}
            Err(problem) => self.problems.push(problem),
        }
    }
}

/// Whether a path is below a root, or beside a root that is a file.
fn is_in_reach(path: &str, root: &str, revision: &Revision) -> bool {
    let folder = match revision.tree.contains_key(root) {
        true => root.rsplit_once('/').map_or("", |(folder, _)| folder),
        false => root,
    };
    is_below(path, folder)
}

/// Whether a path of a tree is this root, or below it.
pub fn is_below(path: &str, root: &str) -> bool {
    root.is_empty() || path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn join(folder: &str, rest: &str) -> String {
    match (folder, rest) {
        ("", path) | (path, "") => path.to_owned(),
        (folder, rest) => format!("{folder}/{rest}"),
    }
}

/// A relative path without `.` and `..`; `None` where it leads out.
fn normal(path: &Path) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(parts.pop()?),
            Component::Normal(name) => parts.push(name.to_str()?),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}

fn pointer(label: &str) -> Problem {
    let problem = Problem::new(format!("`{label}` is a pointer of Git LFS: its content is in no commit"));
    problem.hint("keep manifests out of LFS, or give a folder that holds them: `--base DIR`")
}

fn leads_out(label: &str) -> Problem {
    let problem = Problem::new(format!("`{label}` is a link that leads out of the `-f` folders"));
    problem.hint("name what it leads to with a `-f` of its own")
}

/// The path of a file in its repository's trees; links in it are left as they are, as revisions may differ in them.
///
/// # Errors
/// A file outside of the repository.
pub fn path_in(repository: &Repository, file: &Path) -> Result<String, Problem> {
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let above = absolute.parent().and_then(|parent| parent.canonicalize().ok());
    let ways: [Option<PathBuf>; 3] = [
        lexical(&absolute),
        above.zip(absolute.file_name()).map(|(a, name)| a.join(name)),
        file.canonicalize().ok(),
    ];
    let inside = ways.into_iter().flatten().find_map(|way| normal(way.strip_prefix(&repository.root).ok()?));
    inside.ok_or_else(|| {
        let problem = Problem::new(format!(
            "`{}` is outside of the Git repository `{}`",
            file.display(),
            repository.root.display()
        ));
        problem.hint("a base by revision needs all files in one repository; `--base DIR` takes a folder")
    })
}

/// What a `-f` names at a revision. A link that the revision does not have is what it leads to today, else all that is
/// behind it would look as if it were new.
///
/// # Errors
/// A file outside of the repository.
pub fn root_of(revision: &Revision, file: &Path) -> Result<String, Problem> {
    let path = path_in(&revision.repository, file)?;
    let Some(real) = file.canonicalize().ok().filter(|_| !revision.has(&path)) else { return Ok(path) };
    let inside = real.strip_prefix(&revision.repository.root).ok().and_then(normal);
    inside.ok_or_else(|| {
        let problem = Problem::new(format!(
            "`{}` is not in `{}`, and leads to `{}`, which is outside of the Git repository `{}`",
            file.display(),
            revision.name,
            real.display(),
            revision.repository.root.display()
        ));
        problem.hint("a base by revision needs all files in one repository; `--base DIR` takes a folder")
    })
}

/// An absolute path without `.` and `..`.
fn lexical(path: &Path) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if !clean.pop() {
                    return None;
                }
            }
            part => clean.push(part),
        }
    }
    Some(clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_tree() {
        for (path, want) in [("a/./b/../c", Some("a/c")), ("..", None), ("/a", None), ("", Some(""))] {
            assert_eq!(normal(Path::new(path)).as_deref(), want, "{path}");
        }
        assert!(is_below("a/b", "a") && is_below("a", "a") && is_below("a", "") && !is_below("ab", "a"));
        assert_eq!((join("", "a"), join("a", ""), join("a", "b")), ("a".into(), "a".into(), "a/b".into()));
    }
}
