//! The file of a saved plan: readable by its owner alone, replaced as a whole, and never taken from a place where
//! somebody else may have put it.
//!
//! A plan says what is going to be written with the credentials of whoever applies it. So it has to be a regular
//! file, no link to one, of the same user or of root, that nobody else can write.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::{Rejected, seal};
use crate::core::problem::{Problem, said_by_system};

/// More than a hundred thousand objects need.
const LARGEST: u64 = 256 * 1024 * 1024;

/// Reads a plan that is to be done.
///
/// # Errors
/// What is no file that a plan may stand in; what the system says.
pub fn read_trusted(path: &Path) -> Result<String, Rejected> {
    let metadata = fs::symlink_metadata(path).map_err(|error| unreadable(path, &error))?;
    if metadata.is_symlink() {
        let problem = Problem::new(format!("`{}` is not applied: it is a link", path.display()));
        return Err(Rejected::refused(problem.hint("name the plan itself")));
    }
    read_if(path, |opened| owned(opened, &metadata))
}

/// Reads a plan that is to be shown.
///
/// # Errors
/// What is no regular file; what the system says.
pub fn read_any(path: &Path) -> Result<String, Rejected> {
    read_if(path, |_| None)
}

/// Reads a regular file that `wrong`, given what was opened, has nothing against.
fn read_if(path: &Path, wrong: impl Fn(&Metadata) -> Option<(String, String)>) -> Result<String, Rejected> {
    let bad = |why: &str| Rejected::bad(Problem::new(format!("reading `{}`: {why}", path.display())));
    let metadata = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    // Looked at before it is opened: a named pipe waits for its writer.
    if !metadata.is_file() {
        let mut rejected = bad("it is not a regular file");
        rejected.problem =
            rejected.problem.hint("a saved plan is a file; standard input and devices are not read");
        return Err(rejected);
    }
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let opened = file.metadata().map_err(|error| unreadable(path, &error))?;
    if let Some((why, hint)) = wrong(&opened) {
        let problem = Problem::new(format!("`{}` is not applied: {why}", path.display()));
        return Err(Rejected::refused(problem.hint(hint)));
    }
    let too_large = || bad(&format!("it is larger than {} MB", LARGEST / (1024 * 1024)));
    if opened.len() > LARGEST {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    if bytes.len() as u64 > LARGEST {
        return Err(too_large());
    }
    String::from_utf8(bytes).map_err(|_| bad("it is not a saved plan: it is not UTF-8"))
}

/// What is wrong with who can write the file that was opened, and what to do. `named` is what the name led to
/// before: it must be the same file.
#[cfg(unix)]
fn owned(opened: &Metadata, named: &Metadata) -> Option<(String, String)> {
    use std::os::unix::fs::MetadataExt;
    let us = rustix::process::geteuid().as_raw();
    let again = || "run the command again".to_owned();
    if (opened.dev(), opened.ino()) != (named.dev(), named.ino()) {
        Some(("it was replaced while it was opened".into(), again()))
    } else if ![us, 0].contains(&opened.uid()) {
        let why = format!("it belongs to user {}, and this is user {us}", opened.uid());
        Some((why, "apply a plan of your own".into()))
    } else if opened.mode() & 0o022 != 0 {
        let why = format!("others can write it: its mode is {:04o}", opened.mode() & 0o7777);
        Some((why, "look at it with `--show`, then take the right away: `chmod 600 FILE`".into()))
    } else {
        None
    }
}

#[cfg(not(unix))]
fn owned(_: &Metadata, _: &Metadata) -> Option<(String, String)> {
    None
}

fn unreadable(path: &Path, error: &io::Error) -> Rejected {
    let why = said_by_system(&error.to_string());
    Rejected::bad(Problem::new(format!("reading `{}`: {why}", path.display())))
}

/// Whether a plan may be put here: where nothing is, or another plan.
///
/// # Errors
/// What stands there, or what the system says.
pub fn may_write(path: &Path) -> Result<(), Rejected> {
    let refused = |why: &str, hint: &str| {
        let problem = Problem::new(format!("no plan is saved to `{}`: {why}", path.display()));
        Err(Rejected::refused(problem.hint(hint)))
    };
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return match folder(path).is_dir() {
                true => Ok(()),
                false => refused("its folder is not there", "make the folder, or name another"),
            };
        }
        Err(error) => return Err(Rejected::refused(unwritable(path, &error))),
    };
    if metadata.is_symlink() {
        return refused("it is a link", "name the file itself");
    }
    if !metadata.is_file() {
        return refused("it is not a regular file", "name a file");
    }
    let mut begin = vec![0; seal::BEGIN.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut begin));
    let is_plan = metadata.len() == 0 || (read.is_ok() && begin == seal::BEGIN.as_bytes());
    if is_plan { Ok(()) } else { refused("it is a file, and no plan", "name another, or remove it") }
}

/// Puts a plan's text into its place, all of it or nothing.
///
/// # Errors
/// What the system says.
pub fn write(path: &Path, text: &str) -> Result<(), Problem> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = folder(path).join(format!(".{name}.{}.part", std::process::id()));
    let written = write_draft(&draft, text).and_then(|()| fs::rename(&draft, path));
    written.map_err(|error| {
        // It may never have been made.
        drop(fs::remove_file(&draft));
        unwritable(path, &error)
    })
}

fn write_draft(draft: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(draft)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn folder(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_owned()
}

fn unwritable(path: &Path, error: &io::Error) -> Problem {
    Problem::new(format!("writing `{}`: {}", path.display(), said_by_system(&error.to_string())))
}
