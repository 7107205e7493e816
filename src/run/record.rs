//! `apply --record`: a ref that follows what was applied, to be the base of the next run.
//!
//! What it is moved to is the last commit, so the files that are applied have to be those of that commit. That is
//! known before anything is written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::base::{repository_of, same_lines};
use super::git::Repository;
use super::revision::{Revision, path_in};
use crate::core::problem::Problem;
use crate::core::raw::Source;
use crate::core::report::Recorded;

/// Where the refs are that are named without their `refs/`.
pub const NAMESPACE: &str = "refs/trueup/";

/// A ref that is to be moved once all is settled.
#[derive(Debug)]
pub struct Record {
    repository: Repository,
    name: String,
    commit: String,
    /// Where it was when the run began; another run that moves it meanwhile is not undone.
    was: Option<String>,
}

impl Record {
    /// Prepares to record the files of a run: those of `-f` as they were `read`, and those that they name.
    ///
    /// # Errors
    /// A name that is none, files that are not those of the last commit.
    pub fn new(
        name: &str,
        files: &[PathBuf],
        read: &[Arc<Source>],
        named: &BTreeMap<PathBuf, String>,
    ) -> Result<Record, Problem> {
        let repository = repository_of(files)?;
        let name = full_name(name, &repository)?;
        let Some(commit) = repository.commit("HEAD")? else {
            return Err(Problem::new("there is no commit yet that could be recorded"));
        };
        let head = Revision::new(&repository, "HEAD", &commit)?;
        let roots = files.iter().map(|file| path_in(&repository, file)).collect::<Result<Vec<_>, _>>()?;
        let (committed, problems) = head.files(&roots);
        if let Some(problem) = problems.into_iter().next() {
            return Err(problem);
        }
        let committed = committed.iter().filter_map(|file| Some((head.path_of(&file.file)?, &*file.text)));
        let mut committed: BTreeMap<&str, &str> = committed.collect();
        for file in read {
            let path = path_in(&repository, Path::new(&*file.file))?;
            if !committed.remove(&*path).is_some_and(|text| same_lines(text, &file.text)) {
                return Err(differs(&file.file));
            }
        }
        if let Some((path, _)) = committed.first_key_value() {
            return Err(differs(path));
        }
        for (file, text) in named {
            let path = path_in(&repository, file)?;
            if !head.text(&path, &[String::new()]).is_some_and(|there| same_lines(&there, text)) {
                return Err(differs(&file.display().to_string()));
            }
        }
        let was = repository.commit(&name)?;
        Ok(Record { repository, name, commit, was })
    }

    /// Moves the ref.
    ///
    /// # Errors
    /// It is not where it was any more.
    pub fn done(&self) -> Result<Recorded, Problem> {
        self.repository.move_ref(&self.name, &self.commit, self.was.as_deref())?;
        Ok(Recorded { name: self.name.clone(), commit: self.commit.clone() })
    }
}

/// A full name is taken as it is, and any other stands below `refs/trueup/`: no branch is moved by a slip.
fn full_name(name: &str, repository: &Repository) -> Result<String, Problem> {
    let full = match name {
        name if name.starts_with("refs/") => name.to_owned(),
        name => format!("{NAMESPACE}{}", name.strip_prefix("trueup/").unwrap_or(name)),
    };
    if name == "HEAD" || name.starts_with('-') || !repository.takes_name(&full)? {
        let problem = Problem::new(format!("`{name}` is no name for a ref"));
        return Err(problem.hint("`--record production` moves `refs/trueup/production`"));
    }
    Ok(full)
}

fn differs(file: &str) -> Problem {
    let problem =
        Problem::new(format!("`{file}` is not as it is in the last commit, which `--record` is about"));
    problem.hint("commit what is to be applied, or apply it without `--record`")
}
