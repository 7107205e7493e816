//! Finds and reads the files that `-f` names.
//!
//! One thing that goes wrong is one problem, and everything else is still read. What is below a folder is
//! taken in the byte order of names. Links are followed only to what is below some `-f`: a repository must not
//! be able to make the tool read elsewhere.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::regular;
use crate::core::problem::Problem;
use crate::core::raw::Source;
use crate::core::suggest;

/// More files than any desired state has; a run on `/` ends here.
const MAX_FILES: usize = 100_000;

/// Reads all that the roots name: files, folders (all `*.yaml`, `*.yml` and `*.json` below, hidden ones left
/// out), and `-`, the standard input.
pub fn gather(roots: &[PathBuf]) -> (Vec<Arc<Source>>, Vec<Problem>) {
    gather_with(roots, &mut io::stdin())
}

/// [`gather`] with a standard input of the caller's.
pub fn gather_with(roots: &[PathBuf], stdin: &mut dyn Read) -> (Vec<Arc<Source>>, Vec<Problem>) {
    gather_at_most(MAX_FILES, roots, stdin)
}

fn gather_at_most(most: usize, roots: &[PathBuf], stdin: &mut dyn Read) -> (Vec<Arc<Source>>, Vec<Problem>) {
    let mut walk = Walk {
        bounds: bounds(roots),
        seen: HashSet::new(),
        sources: Vec::new(),
        problems: Vec::new(),
        found: 0,
        most,
        full: false,
    };
    let mut stdin = Some(stdin);
    for root in roots {
        if root.as_os_str() == "-" {
            // Named twice, it is read once, like a file.
            if let Some(stdin) = stdin.take() {
                walk.take_text("-", regular::read_from(stdin, "standard input"));
            }
        } else {
            walk.root(root);
        }
    }
    (walk.sources, walk.problems)
}

/// The folders that nothing may be read outside of: the roots themselves, or where they are files, the
/// folders that these stand in. Without links; what does not exist is left out.
pub fn bounds(roots: &[PathBuf]) -> Vec<PathBuf> {
    let real = |root: &PathBuf| {
        let real = root.canonicalize().ok()?;
        if real.is_dir() { Some(real) } else { real.parent().map(Path::to_owned) }
    };
    roots.iter().filter(|root| root.as_os_str() != "-").filter_map(real).collect()
}

struct Walk {
    bounds: Vec<PathBuf>,
    /// Real paths of the folders and files that were taken: what two roots or a loop of links lead to is read
    /// once.
    seen: HashSet<PathBuf>,
    sources: Vec<Arc<Source>>,
    problems: Vec<Problem>,
    /// Files that were met, those that were read before among them.
    found: usize,
    most: usize,
    full: bool,
}

impl Walk {
    fn root(&mut self, root: &Path) {
        let name = root.display().to_string();
        let real = match root.canonicalize() {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return self.problems.push(missing(root, &name));
            }
            Err(error) => return self.problems.push(regular::failed(&name, &error)),
        };
        if !real.is_dir() {
            return self.file(root, real);
        }
        // A folder that was read already has said what there is to say.
        if self.seen.contains(&real) {
            return;
        }
        let before = (self.found, self.problems.len());
        self.folder(root, &real);
        if before == (self.found, self.problems.len()) {
            let problem = Problem::new(format!("no documents below `{name}`"));
            self.problems.push(problem.hint("a folder is searched for `*.yaml`, `*.yml` and `*.json`"));
        }
    }

    fn folder(&mut self, path: &Path, real: &Path) {
        if !self.seen.insert(real.to_owned()) {
            return;
        }
        let entries = fs::read_dir(path).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => return self.problems.push(regular::failed(&path.display().to_string(), &error)),
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            if self.full {
                return;
            }
            let name = entry.file_name();
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() => self.link(&entry.path()),
                Ok(kind) if kind.is_dir() => self.folder(&entry.path(), &real.join(name)),
                Ok(_) if is_manifest(&entry.path()) => self.file(&entry.path(), real.join(name)),
                Ok(_) => {}
                Err(error) => {
                    self.problems.push(regular::failed(&entry.path().display().to_string(), &error));
                }
            }
        }
    }

    fn link(&mut self, path: &Path) {
        let name = path.display().to_string();
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(_) if !is_manifest(path) => return,
            Err(error) => return self.problems.push(regular::failed(&name, &error)),
        };
        let folder = real.is_dir();
        if !folder && !is_manifest(path) {
            return;
        }
        if !self.bounds.iter().any(|bound| real.starts_with(bound)) {
            let problem = Problem::new(format!("`{name}` is a link that leads out of the `-f` folders"));
            return self.problems.push(problem.hint("name what it leads to with a `-f` of its own"));
        }
        if folder { self.folder(path, &real) } else { self.file(path, real) }
    }

    fn file(&mut self, path: &Path, real: PathBuf) {
        self.found += 1;
        if !self.seen.insert(real) {
            return;
        }
        if self.sources.len() >= self.most {
            self.full = true;
            return self.problems.push(Problem::new(format!("`-f` names more than {} files", self.most)));
        }
        self.take_text(&path.display().to_string(), regular::read(path));
    }

    fn take_text(&mut self, file: &str, text: Result<String, Problem>) {
        match text {
            Ok(text) => self.sources.push(Arc::new(Source { file: file.into(), text })),
            Err(problem) => self.problems.push(problem),
        }
    }
}

/// Whether a file is one of those that are searched for in folders.
pub fn is_manifest(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml" || extension == "json")
}

/// The problem of a root that is not there, with the nearest name that is.
fn missing(root: &Path, name: &str) -> Problem {
    let folder = root.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let names: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    let wrong = root.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let problem = Problem::new(format!("there is no file or folder `{name}`"));
    problem.hint(match suggest::nearest(wrong, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{}`?", root.with_file_name(near).display()),
        None => "`-f` takes a file, a folder, or `-` for standard input".into(),
    })
}

#[cfg(test)]
mod tests;
