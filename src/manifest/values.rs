//! Puts values from outside into a document: `!env`, `!file`, `!secret`.
//!
//! Here stands the trust boundary of files that a pull request can edit: which variables they may name, and
//! which files. The environment comes in as a function. Knows nothing of kinds or annotations.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::problems::Problems;
use super::{files, regular};
use crate::core::glob::Glob;
use crate::core::node::{Node, Outside, Secret, Want};
use crate::core::problem::Problem;
use crate::core::raw::Source;
use crate::core::value::Value;

/// Where values from outside come from, and the secrets that came so far.
pub struct Outsides<'e> {
    env: &'e dyn Fn(&str) -> Option<OsString>,
    /// Variables that may be read; `None`: all.
    allowed: Option<Vec<Glob>>,
    /// Folders that `!file` stays below.
    bounds: Vec<PathBuf>,
    /// Whether `!secret file:` stays below them too.
    secrets_bound: bool,
    secrets: BTreeSet<String>,
    /// Reads a file of an earlier revision, by the file that names it and its path.
    earlier: Option<Earlier<'e>>,
    /// The files that `!file` has read, without links, and their texts.
    files: BTreeMap<PathBuf, String>,
    /// The files that `!file` and `!secret file:` name, as they are found from here, there or not.
    named: BTreeSet<PathBuf>,
    /// Those that `!secret file:` names, that are there, and that are not among the manifests.
    secret_files: BTreeSet<PathBuf>,
}

/// Reads a file of an earlier revision: the file that names it, and the path as it is written there.
pub type Earlier<'e> = &'e dyn Fn(&str, &str) -> Option<String>;

impl<'e> Outsides<'e> {
    /// For documents that were read from `roots`; `env` looks up a variable.
    pub fn new(env: &'e dyn Fn(&str) -> Option<OsString>, roots: &[PathBuf]) -> Outsides<'e> {
        let bounds = files::bounds(roots);
        Outsides {
            env,
            allowed: None,
            bounds,
            secrets_bound: false,
            secrets: BTreeSet::new(),
            earlier: None,
            files: BTreeMap::new(),
            named: BTreeSet::new(),
            secret_files: BTreeSet::new(),
        }
    }

    /// For documents of an earlier revision. What they name may be gone since, and is left as it is written.
    pub fn earlier(mut self, read: Earlier<'e>) -> Outsides<'e> {
        self.earlier = Some(read);
        self
    }

    /// The files that `!file` has read, and their texts.
    pub fn files(&self) -> &BTreeMap<PathBuf, String> {
        &self.files
    }

    /// The files that values came from or were to come from, secrets among them, there or not.
    pub fn named(&self) -> &BTreeSet<PathBuf> {
        &self.named
    }

    /// The files that `!secret file:` has read outside of the folders of the manifests: what is kept among these is as
    /// readable as they are.
    pub fn secret_files(&self) -> &BTreeSet<PathBuf> {
        &self.secret_files
    }

    /// `--allow-env`: `!env` and `!secret env:` may name only variables that one of these matches.
    pub fn allow_env(mut self, globs: &[String]) -> Outsides<'e> {
        self.allowed = Some(globs.iter().map(|glob| Glob::new(glob)).collect());
        self
    }

    /// `!secret file:` may read only what `!file` may: for documents that are trusted less than the machine.
    pub fn secrets_below_roots(mut self) -> Outsides<'e> {
        self.secrets_bound = true;
        self
    }

    /// The texts of all secrets that were put in, for whoever must keep them out of the output.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        self.secrets.iter().map(String::as_str)
    }

    /// Puts in every value below `node`, which stands in `source`. A secret that is not there is no problem: a
    /// plan needs none.
    pub fn fill(&mut self, node: &mut Node, source: &Source) -> Vec<Problem> {
        let mut problems = Problems::new(source.file.clone());
        self.walk(node, &mut problems);
        problems.list
    }

    /// Puts in secrets of the environment and nothing else, where they are there and may be read: for a base, whose
    /// other values came with it.
    pub fn fill_variables(&mut self, node: &mut Node) {
        match &mut node.want {
            Want::Secret(secret) if secret.source.starts_with("env:") => {
                if let Ok(found) = self.secret(&secret.source, "") {
                    self.secrets.extend(found.reveal().filter(|text| !text.is_empty()).map(str::to_owned));
                    *secret = found;
                }
            }
            Want::List(items) => items.iter_mut().for_each(|item| self.fill_variables(item)),
            Want::Map(map) => map.values_mut().for_each(|item| self.fill_variables(item)),
            _ => {}
        }
    }

    pub(super) fn walk(&mut self, node: &mut Node, problems: &mut Problems) {
        let at = node.at;
        match &mut node.want {
            Want::Outside(outside) => {
                let text = match outside {
                    Outside::Nothing | Outside::Gone(_) => return,
                    Outside::Env(name) => self.variable(name),
                    Outside::File(path) => self.file(path, &problems.file),
                };
                let left = self.earlier.is_some() && text.is_err();
                if !left && let Some(text) = problems.ok(at, text) {
                    node.want = Want::Json(Value::String(text));
                }
            }
            Want::Secret(secret) => {
                let found = self.secret(&secret.source, &problems.file);
                let left = self.earlier.is_some() && found.is_err();
                if !left && let Some(found) = problems.ok(at, found) {
                    self.secrets.extend(found.reveal().map(str::to_owned));
                    *secret = found;
                }
            }
            Want::List(items) => items.iter_mut().for_each(|item| self.walk(item, problems)),
            Want::Map(map) => map.values_mut().for_each(|item| self.walk(item, problems)),
            Want::Unset | Want::Json(_) | Want::Ref(_) => {}
        }
    }

    fn variable(&self, name: &str) -> Result<String, Problem> {
        self.look_up(name)?.ok_or_else(|| {
            Problem::new(format!("the environment variable `{name}` is not set"))
                .hint("set it, or write the value in its place")
        })
    }

    fn look_up(&self, name: &str) -> Result<Option<String>, Problem> {
        if let Some(allowed) = &self.allowed
            && !allowed.iter().any(|glob| glob.matches(name))
        {
            let problem = Problem::new(format!("the environment variable `{name}` may not be read"));
            return Err(problem.hint("`--allow-env GLOB` says which variables files may name"));
        }
        let text = (self.env)(name).map(OsString::into_string).transpose();
        text.map_err(|_| Problem::new(format!("the environment variable `{name}` is not UTF-8")))
    }

    fn file(&mut self, path: &str, file: &str) -> Result<String, Problem> {
        if let Some(text) = self.earlier.and_then(|read| read(file, path)) {
            return Ok(without_line_end(text));
        }
        let beside = beside(path, file);
        self.named.insert(beside.clone());
        let real = beside.canonicalize().map_err(|error| {
            regular::failed(&beside.display().to_string(), &error)
                .hint("a `!file` is relative to the file it stands in")
        })?;
        self.bound(path, &real, "!file")?;
        let text = regular::read(&real)?;
        self.files.insert(real, text.clone());
        Ok(without_line_end(text))
    }

    fn bound(&self, path: &str, real: &Path, tag: &str) -> Result<(), Problem> {
        if self.bounds.iter().any(|bound| real.starts_with(bound)) {
            return Ok(());
        }
        let problem =
            Problem::new(format!("`{tag}` may not read `{path}`: it is outside of the `-f` folders"));
        Err(problem.hint("put the file beside the manifests, or name its folder with `-f`"))
    }

    fn secret(&mut self, from: &str, file: &str) -> Result<Secret, Problem> {
        let text = match from.split_once(':') {
            Some(("env", name)) => self.look_up(name)?,
            Some(("file", path)) => self.secret_file(path, file)?,
            _ => None,
        };
        // CI systems set what is not there to nothing, and nothing is no secret to overwrite one with.
        Ok(Secret::new(from, text.filter(|text| !text.is_empty())))
    }

    fn secret_file(&mut self, path: &str, file: &str) -> Result<Option<String>, Problem> {
        let beside = beside(path, file);
        let real = beside.canonicalize();
        self.named.insert(beside.clone());
        let Ok(real) = real else { return Ok(None) };
        if self.secrets_bound {
            self.bound(path, &real, "!secret")?;
        }
        let text = regular::read(&real)?;
        if !self.bounds.iter().any(|bound| real.starts_with(bound)) {
            self.secret_files.insert(beside);
        }
        Ok(Some(without_line_end(text)))
    }
}

/// A path that is relative to the file it is named in.
fn beside(path: &str, file: &str) -> PathBuf {
    Path::new(file).parent().unwrap_or(Path::new("")).join(path)
}

/// Editors end a file with a line end that is no part of the value.
fn without_line_end(mut text: String) -> String {
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    text
}

#[cfg(test)]
mod tests;
