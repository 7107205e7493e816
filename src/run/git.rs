//! Git, as far as a base needs it: what a revision holds, read by the `git` binary as a subprocess.
//!
//! Nothing is checked out or written, and no hook of the repository runs. Its
//! arguments are ours, or names that were resolved; what a person gives as a revision is given as nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::bounded;
use crate::core::problem::{Problem, said_by_system};

/// Variables by which a caller, such as a hook, would send `git` to another repository than that of the files.
const ELSEWHERE: [&str; 7] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_NAMESPACE",
];

/// A repository, by the root of its work tree, without links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    pub root: PathBuf,
}

/// What stands at a path of a revision. Folders are no entries: they are what paths have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    pub kind: EntryKind,
    pub object: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Link,
    /// A commit of another repository.
    Submodule,
}

/// The entries of a revision by their paths, which have `/` between their parts.
pub type Tree = BTreeMap<String, TreeEntry>;

impl Repository {
    /// The repository that a folder lies in.
    ///
    /// # Errors
    /// No repository, or no `git`.
    pub fn of(folder: &Path) -> Result<Repository, Problem> {
        let output = run(folder, ["rev-parse", "--show-toplevel"])?;
        let root = String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned();
        if !output.status.success() || root.is_empty() {
            let said = said(&output);
            let problem = Problem::new(format!("`{}` is in no Git repository: {said}", folder.display()));
            return Err(problem.hint("a base by revision needs one; `--base DIR` takes a folder"));
        }
        Ok(Repository { root: PathBuf::from(root) })
    }

    /// The commit that a revision names; `None` where it names none.
    ///
    /// # Errors
    /// A text that is no revision, or no `git`.
    pub fn commit(&self, revision: &str) -> Result<Option<String>, Problem> {
        if revision.starts_with('-') || revision.is_empty() || revision.contains(['\0', '\n']) {
            let problem = Problem::new(format!("`{revision}` is no revision"));
            return Err(problem.hint("a branch, a tag, a commit, or something like `HEAD~1`"));
        }
        let wanted = format!("{revision}^{{commit}}");
        let output = run(&self.root, ["rev-parse", "--verify", "--quiet", &wanted])?;
        let commit = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok((output.status.success() && is_object(&commit)).then_some(commit))
    }

    /// The full name of the ref that a revision is the name of, as in `refs/heads/main`; `None` where it is none.
    ///
    /// # Errors
    /// No `git`.
    pub fn full_name(&self, revision: &str) -> Result<Option<String>, Problem> {
        let output = run(&self.root, ["rev-parse", "--verify", "--quiet", "--symbolic-full-name", revision])?;
        let name = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok((output.status.success() && name.starts_with("refs/")).then_some(name))
    }

    /// Whether one commit is another one, or comes before it, as far as history is here.
    ///
    /// # Errors
    /// No `git`.
    pub fn precedes(&self, one: &str, other: &str) -> Result<bool, Problem> {
        Ok(run(&self.root, ["merge-base", "--is-ancestor", one, other])?.status.success())
    }

    /// Whether history was cut off when the repository was fetched.
    pub fn is_shallow(&self) -> bool {
        let output = run(&self.root, ["rev-parse", "--is-shallow-repository"]);
        output.is_ok_and(|output| output.stdout.starts_with(b"true"))
    }

    /// What a commit holds.
    ///
    /// # Errors
    /// What `git` says.
    pub fn tree(&self, commit: &str) -> Result<Tree, Problem> {
        let output =
            ok(run(&self.root, ["ls-tree", "-r", "-z", "--full-tree", commit])?, "listing its files")?;
        // A name that is not UTF-8 is shown as such: contents are asked for by their object.
        let entries = output.stdout.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        Ok(entries.filter_map(|line| entry(&line)).collect())
    }

    /// The paths at which the work tree is not as a commit has it, or may not be; what is ignored is left out, and
    /// so is what a sparse checkout has left out. Without a commit: all paths that are there.
    ///
    /// # Errors
    /// What `git` says.
    pub fn changed_since(&self, commit: Option<&str>) -> Result<Vec<String>, Problem> {
        const OTHERS: [&str; 4] = ["ls-files", "-z", "--others", "--exclude-standard"];
        let doing = "listing what is not committed";
        let known = match commit {
            Some(commit) => {
                vec!["diff-index", "-z", "--name-only", "--no-renames", "--ignore-submodules", commit]
            }
            None => vec!["ls-files", "-z", "--cached"],
        };
        let mut paths = BTreeSet::new();
        for words in [known, OTHERS.to_vec()] {
            let output = ok(run(&self.root, words)?, doing)?;
            let found = output.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty());
            paths.extend(found.map(|path| String::from_utf8_lossy(path).into_owned()));
        }
        Ok(paths.into_iter().collect())
    }

    /// The last commit up to this one that changed anything at or below a path; `None` where none is known to have.
    ///
    /// # Errors
    /// What `git` says.
    pub fn last_change(&self, commit: &str, path: &str) -> Result<Option<String>, Problem> {
        let words = ["log", "-1", "--format=%H", commit, "--", path];
        let output = ok(run(&self.root, words)?, "looking for the last change of a folder")?;
        let commit = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok(is_object(&commit).then_some(commit))
    }

    /// The contents of objects, in their order.
    ///
    /// # Errors
    /// An object that is not there, as in a clone without its contents, or what `git` says.
    pub fn contents(&self, objects: &[&str]) -> Result<Vec<Vec<u8>>, Problem> {
        if objects.is_empty() {
            return Ok(Vec::new());
        }
        let asked: String = objects.iter().map(|object| format!("{object}\n")).collect();
        let command = command(&self.root, ["cat-file", "--batch"]);
        let output = bounded::output(command, asked.into_bytes()).map_err(|error| not_run(&error))?;
        let output = ok(output, "reading its files")?;
        let mut rest = &output.stdout[..];
        objects.iter().map(|_| content(&mut rest)).collect()
    }

    /// Moves a ref from what it was to a commit; `None` where it is to be new.
    ///
    /// # Errors
    /// A ref that is not what it was any more, or a name that is none.
    pub fn move_ref(&self, name: &str, to: &str, from: Option<&str>) -> Result<(), Problem> {
        // Forty zeros say that there must be none.
        let none = "0".repeat(to.len());
        let output = run(&self.root, ["update-ref", "-m", "trueup apply", name, to, from.unwrap_or(&none)])?;
        ok(output, &format!("moving `{name}`")).map(drop)
    }

    /// Whether a name can be that of a ref.
    ///
    /// # Errors
    /// No `git`.
    pub fn takes_name(&self, name: &str) -> Result<bool, Problem> {
        Ok(run(&self.root, ["check-ref-format", name])?.status.success())
    }
}

/// Whether these files, which stood below a folder, were taken away by a commit, and what is checked out has nothing
/// there. False where that is not known for certain: no repository, no `git`, history that is cut off.
pub fn has_deleted(folder: &Path, files: &BTreeSet<&Path>) -> bool {
    let Some(real) = folder.ancestors().find_map(|above| {
        let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        above.canonicalize().ok().map(|real| (above, real))
    }) else {
        return false;
    };
    let (above, real) = real;
    let is_deleted = || -> Result<bool, Problem> {
        let repository = Repository::of(&real)?;
        let within = |path: &Path| {
            let rest = path.strip_prefix(above).unwrap_or(path);
            let path = real.join(rest);
            let path = path.strip_prefix(&repository.root).ok()?.to_str()?.to_owned();
            (!path.is_empty()).then_some(path)
        };
        let Some(place) = within(folder) else { return Ok(false) };
        let Some(head) = repository.commit("HEAD")? else { return Ok(false) };
        let below = format!("{place}/");
        let stands = repository.tree(&head)?.keys().any(|path| *path == place || path.starts_with(&below));
        if stands || repository.changed_since(Some(&head))?.iter().any(|path| path.starts_with(&below)) {
            return Ok(false);
        }
        let Some(last) = repository.last_change(&head, &place)? else { return Ok(false) };
        let Some(before) = repository.commit(&format!("{last}^"))? else { return Ok(false) };
        let tree = repository.tree(&before)?;
        Ok(files.iter().all(|file| within(file).is_some_and(|path| tree.contains_key(&path))))
    };
    is_deleted().unwrap_or(false)
}

/// One line of `ls-tree -z`: mode, type, object, and after a tab the path.
fn entry(line: &str) -> Option<(String, TreeEntry)> {
    let (about, path) = line.split_once('\t')?;
    let mut words = about.split(' ');
    let (mode, _, object) = (words.next()?, words.next()?, words.next()?);
    let kind = match mode {
        "120000" => EntryKind::Link,
        "160000" => EntryKind::Submodule,
        _ => EntryKind::File,
    };
    Some((path.to_owned(), TreeEntry { kind, object: object.to_owned() }))
}

/// One answer of `cat-file --batch`: object, type and size on a line, then so many bytes and a line end.
fn content(rest: &mut &[u8]) -> Result<Vec<u8>, Problem> {
    let broken = || Problem::new("reading the files of the base: `git` does not have all of them");
    let end = rest.iter().position(|byte| *byte == b'\n').ok_or_else(broken)?;
    let head = String::from_utf8_lossy(&rest[..end]).into_owned();
    let size = head.rsplit(' ').next().and_then(|size| size.parse::<usize>().ok());
    let size = size.ok_or_else(|| broken().hint("a clone without contents has to fetch them first"))?;
    let bytes = rest.get(end + 1..end + 1 + size).ok_or_else(broken)?.to_vec();
    *rest = rest.get(end + size + 2..).unwrap_or_default();
    Ok(bytes)
}

fn is_object(text: &str) -> bool {
    text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn command<'a>(folder: &Path, words: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(if folder == OsStr::new("") { Path::new(".") } else { folder });
    // A repository may name a program that watches its files.
    command.args(["--no-replace-objects", "--literal-pathspecs", "-c", "core.fsmonitor=false"]).args(words);
    for variable in ELSEWHERE {
        command.env_remove(variable);
    }
    command.env("LC_ALL", "C").env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0");
    command
}

fn run<'a>(folder: &Path, words: impl IntoIterator<Item = &'a str>) -> Result<Output, Problem> {
    bounded::output(command(folder, words), Vec::new()).map_err(|error| not_run(&error))
}

fn not_run(error: &io::Error) -> Problem {
    let problem = Problem::new(format!("running `git`: {}", said_by_system(&error.to_string())));
    if matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::Interrupted) {
        return problem
            .hint("a disk, a lock or a remote that it waits for: `git status` there shows whether it hangs");
    }
    problem.hint("a base by revision is read by `git`: install it, or give a folder with `--base DIR`")
}

fn ok(output: Output, doing: &str) -> Result<Output, Problem> {
    match output.status.success() {
        true => Ok(output),
        false => Err(Problem::new(format!("{doing}: {}", said(&output)))),
    }
}

/// The first line of what `git` complains of.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().next().unwrap_or("`git` says nothing");
    line.trim_start_matches("fatal: ").trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_tree() {
        let object = "a".repeat(40);
        for (mode, kind) in
            [("100644", EntryKind::File), ("120000", EntryKind::Link), ("160000", EntryKind::Submodule)]
        {
            let found = entry(&format!("{mode} blob {object}\tdir/a b.yaml"));
            assert_eq!(found, Some(("dir/a b.yaml".into(), TreeEntry { kind, object: object.clone() })));
        }
        assert_eq!(entry(""), None);
    }

    #[test]
    fn answers_of_a_batch() {
        let mut rest = &b"aa blob 3\nx\ny\nbb missing\n"[..];
        assert_eq!(content(&mut rest), Ok(b"x\ny".to_vec()));
        assert!(content(&mut rest).is_err());
        assert!(content(&mut &b"aa blob 9\nx"[..]).is_err());
    }
}
