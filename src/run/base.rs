//! The base of a run: the documents of an earlier revision, or of a folder, beside those of today.
//!
//! Identities are compared, not paths: [`moves`] tells what moved. What is at the base is read by the kinds of today.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::git::Repository;
use super::moves;
use super::record::NAMESPACE;
use super::revision::{Revision, root_of};
use crate::core::base::{Base, Past};
use crate::core::document::{Document, Ensure, Policy};
use crate::core::identity::ObjectId;
use crate::core::problem::Problem;
use crate::core::prune::{Former, Standing};
use crate::core::raw::RawDocument;
use crate::core::report::Explanation;
use crate::manifest::{self, Built};

/// Where a base comes from.
pub enum Source {
    /// A folder that stands for all that `-f` names.
    Folder(PathBuf),
    /// The same files at a revision of their repository.
    Revision(Box<Earlier>),
}

/// The revisions that are compared.
pub struct Earlier {
    pub(super) at: Revision,
    standing: Standing,
    /// The last commit; `None` in a repository that has none here.
    pub(super) head: Option<Revision>,
    /// What `-f` names, as paths of a tree.
    pub(super) roots: Vec<String>,
}

/// Makes documents, by the kinds of today.
pub type Build<'b> = &'b mut dyn FnMut(Vec<RawDocument>) -> Built;

impl Source {
    /// `--base`: a folder, where there is one of that name, else a revision.
    ///
    /// # Errors
    /// Neither of the two, or both; files that no revision can have.
    pub fn open(base: &str, files: &[PathBuf]) -> Result<Source, Problem> {
        let folder = Path::new(base);
        if folder.is_dir() {
            one_meaning(base, files)?;
            return Ok(Source::Folder(folder.to_owned()));
        }
        if folder.is_file() || base.starts_with(['.', '/']) && !folder.exists() {
            let problem = Problem::new(format!("there is no folder `{base}` to be the base"));
            return Err(problem.hint("`--base` takes a folder or a revision"));
        }
        let repository = repository_of(files)?;
        let (at, commit) = revision(&repository, base)?;
        let head = repository.commit("HEAD")?;
        let standing = standing(&repository, base, &commit, head.as_deref())?;
        let head = head.map(|commit| Revision::new(&repository, "HEAD", &commit)).transpose()?;
        let roots = files.iter().map(|file| root_of(&at, file)).collect::<Result<_, _>>()?;
        Ok(Source::Revision(Box::new(Earlier { at, standing, head, roots })))
    }

    /// The text of a file that a document of the base names.
    pub fn text(&self, file: &str, path: &str) -> Option<String> {
        let Source::Revision(earlier) = self else { return None };
        let folder = Path::new(earlier.at.path_of(file)?).parent()?;
        let path = tidy(&folder.join(path))?;
        let text = earlier.at.text(&path, &earlier.roots)?;
        // Git may have other line ends in the work tree than in its commits (`core.autocrlf`): no change of anybody's.
        let here = fs::read_to_string(earlier.at.repository.root.join(path)).ok();
        Some(here.filter(|here| same_lines(here, &text)).unwrap_or(text))
    }

    /// Gives each document its base. What left, and everything that cannot be read any more.
    pub fn lay(
        &self,
        documents: &mut [Document],
        former: &dyn Fn(&Document) -> Option<ObjectId>,
        build: Build,
    ) -> (Former, Vec<Problem>) {
        let loaded = match self {
            Source::Folder(folder) => manifest::load(std::slice::from_ref(folder)),
            Source::Revision(earlier) => {
                let (files, problems) = earlier.at.files(&earlier.roots);
                let mut loaded = manifest::read(files);
                loaded.problems.extend(problems);
                loaded
            }
        };
        let mut problems = loaded.problems;
        let built = build(loaded.manifests);
        problems.extend(built.problems);
        problems.extend(built.unchecked.keys().map(|backend| no_backend(backend)));
        problems.retain(|problem| !problem.warning);
        let order: Vec<ObjectId> = built.documents.iter().map(|document| document.id.clone()).collect();
        let mut known: HashMap<ObjectId, Document> =
            built.documents.into_iter().map(|document| (document.id.clone(), document)).collect();
        for document in documents.iter_mut() {
            let found = known.remove(&document.id);
            let found = found.or_else(|| known.remove(&former(document)?));
            document.base = found.map_or(Base::New, |found| base_of(&found, &mut document.policy));
        }
        let mut left: Vec<Document> = order.iter().filter_map(|id| known.remove(id)).collect();
        left.retain(|document| document.policy.ensure == Ensure::Present);
        let mut found = Former { left, ..Former::default() };
        match self {
            Source::Folder(folder) => {
                let why = format!("the base is the folder `{}`", folder.display());
                found.standing = Standing::Unproved(Explanation::new(why).hint(NAME_A_REF));
            }
            Source::Revision(earlier) => {
                found.standing = earlier.standing.clone();
                problems.extend(moves::heed(earlier, documents, &mut found, former, build).err());
            }
        }
        (found, problems)
    }
}

/// Whether two texts are the same to Git where it changes line ends.
pub fn same_lines(one: &str, other: &str) -> bool {
    one == other || one.replace("\r\n", "\n") == other.replace("\r\n", "\n")
}

/// What the base says of a document; `policy` is the one of today, which learns what it asks for since.
pub(super) fn base_of(document: &Document, policy: &mut Policy) -> Base {
    policy.secret_since = policy.secret_version.is_some()
        && policy.ensure == Ensure::Present
        && document.policy.ensure == Ensure::Present
        && policy.secret_version != document.policy.secret_version;
    match document.policy.ensure {
        Ensure::Present => Base::Present(Arc::new(Past::of(document))),
        Ensure::Absent => Base::Absent,
        Ensure::Exists => Base::New,
    }
}

/// The one repository that all files lie in.
///
/// # Errors
/// Standard input, files in several repositories or in none.
pub fn repository_of(files: &[PathBuf]) -> Result<Repository, Problem> {
    let mut found: Option<Repository> = None;
    for file in files {
        if file.as_os_str() == "-" {
            let problem = Problem::new("standard input has no earlier revision");
            return Err(problem.hint("`--base DIR` takes what an earlier run was given"));
        }
        let is_folder = file.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
        let folder = if is_folder { file } else { file.parent().unwrap_or(Path::new("")) };
        let repository = Repository::of(folder)?;
        if let Some(first) = found.replace(repository).filter(|first| Some(first) != found.as_ref()) {
            let problem = Problem::new(format!(
                "`{}` is in another Git repository than `{}`",
                file.display(),
                first.root.display()
            ));
            return Err(
                problem.hint("a run with a base is about one repository; `--base DIR` takes a folder")
            );
        }
    }
    found.ok_or_else(|| Problem::new("no files are given whose revision could be the base"))
}

/// A revision by what a person calls it; `production` may be what `--record production` has moved.
fn revision(repository: &Repository, name: &str) -> Result<(Revision, String), Problem> {
    let recorded = || repository.commit(&format!("{NAMESPACE}{name}"));
    if let Some(commit) = repository.commit(name)?.map_or_else(recorded, |commit| Ok(Some(commit)))? {
        return Ok((Revision::new(repository, name, &commit)?, commit));
    }
    let problem = Problem::new(format!("there is no revision `{name}`"));
    Err(if repository.is_shallow() {
        problem.hint("the clone is shallow: fetch what it names as well, with `git fetch --unshallow`, or the ref that it is")
    } else {
        problem
            .hint("`--base` takes a branch, a tag, a commit, a ref that `apply --record` moves, or a folder")
    })
}

/// That a folder is not the name of a revision as well: `production` often is both, and today's folder as the base
/// of itself would make drift of each conflict, and overwrite it.
///
/// # Errors
/// It is both.
fn one_meaning(base: &str, files: &[PathBuf]) -> Result<(), Problem> {
    let Ok(repository) = repository_of(files) else { return Ok(()) };
    let recorded = format!("{NAMESPACE}{base}");
    for name in [recorded.as_str(), base] {
        if repository.commit(name).is_ok_and(|commit| commit.is_some()) {
            let full = repository.full_name(name)?;
            let full = full.unwrap_or_else(|| format!("{name}^0"));
            let problem = Problem::new(format!("`--base {base}` is a folder and a revision"));
            return Err(
                problem.hint(format!("`--base ./{base}` is the folder, `--base {full}` the revision"))
            );
        }
    }
    Ok(())
}

/// What makes a base a proof.
const NAME_A_REF: &str = "a proof is a ref that `apply --record` has moved: `--base production`";

/// Whether a base proves that what it holds was applied. It does by its name alone: the ref below `refs/trueup/` that
/// was moved once all of its files were applied. A commit that such a ref happens to be at may be meant for other
/// files, and one that is not followed by the last commit may be newer than the files of today.
fn standing(
    repository: &Repository,
    base: &str,
    commit: &str,
    head: Option<&str>,
) -> Result<Standing, Problem> {
    let short = || repository.full_name(&format!("{NAMESPACE}{base}"));
    let name = match repository.commit(base)? {
        Some(_) => repository.full_name(base)?,
        None => short()?,
    };
    let name = name.filter(|name| name.starts_with(NAMESPACE));
    let Some(name) = name.filter(|name| repository.commit(name).ok().flatten().as_deref() == Some(commit))
    else {
        let why = format!("`{base}` is not a ref that `apply --record` moves");
        return Ok(Standing::Unproved(Explanation::new(why).hint(NAME_A_REF)));
    };
    let precedes = match head {
        Some(head) => repository.precedes(commit, head)?,
        None => false,
    };
    if precedes {
        return Ok(Standing::Recorded(name.into()));
    }
    let why = format!(
        "the last commit does not come after `{name}`: what is not in the files may be newer than they are"
    );
    let hint = match repository.is_shallow() {
        true => "the clone is shallow: fetch what lies between, with `git fetch --unshallow`",
        false => "check out what comes after it, as a merge or a revert does",
    };
    Ok(Standing::Unproved(Explanation::new(why).hint(hint)))
}

fn no_backend(backend: &str) -> Problem {
    Problem::new(format!("the base has documents of the backend `{backend}`, which is not here any more"))
        .hint("take a later base, or add the backend again until then")
}

/// A path without `.` and `..`, with `/` between its parts.
fn tidy(path: &Path) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.iter() {
        match part.to_str()? {
            "." => {}
            ".." => drop(parts.pop()?),
            "/" => return None,
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}
