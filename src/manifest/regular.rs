//! Reads one file as text, or says why not: regular files only, UTF-8 only, up to a size.
//!
//! The type of a file is looked at before it is opened: opening a named pipe waits for a writer, and some
//! devices never end.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use super::yaml::MAX_BYTES;
use crate::core::node::{Origin, Pos};
use crate::core::problem::{Problem, said_by_system};

/// The text of a regular file.
pub fn read(path: &Path) -> Result<String, Problem> {
    let name = path.display().to_string();
    let metadata = fs::metadata(path).map_err(|error| failed(&name, &error))?;
    if !metadata.is_file() {
        return Err(not_regular(&name));
    }
    if metadata.len() > MAX_BYTES as u64 {
        return Err(too_large(&name));
    }
    let file = open(path).map_err(|error| failed(&name, &error))?;
    // It may be another one by now.
    let metadata = file.metadata().map_err(|error| failed(&name, &error))?;
    if metadata.is_file() { read_from(file, &name) } else { Err(not_regular(&name)) }
}

/// Opens a file without waiting for anybody: for the writer of a named pipe, say.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<fs::File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    fs::OpenOptions::new().read(true).custom_flags(flags).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<fs::File> {
    fs::File::open(path)
}

/// The text of a stream, called `name` in messages.
pub fn read_from(stream: impl Read, name: &str) -> Result<String, Problem> {
    let mut bytes = Vec::new();
    stream.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(|error| failed(name, &error))?;
    if bytes.len() > MAX_BYTES {
        return Err(too_large(name));
    }
    // Texts are kept until all is loaded.
    bytes.shrink_to_fit();
    String::from_utf8(bytes)
        .map_err(|error| not_utf8(name, error.as_bytes(), error.utf8_error().valid_up_to()))
}

/// A problem of the operating system's.
pub fn failed(name: &str, error: &io::Error) -> Problem {
    Problem::new(format!("reading `{name}`: {}", said_by_system(&error.to_string())))
}

pub fn not_regular(name: &str) -> Problem {
    Problem::new(format!("reading `{name}`: it is not a regular file"))
        .hint("pipes and devices are not opened; `-f -` reads standard input")
}

fn too_large(name: &str) -> Problem {
    let problem =
        Problem::new(format!("reading `{name}`: it is larger than {} MB", MAX_BYTES / (1024 * 1024)));
    problem.hint("split it into several files")
}

fn not_utf8(name: &str, bytes: &[u8], offset: usize) -> Problem {
    let before = &bytes[..offset];
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let lines = before.iter().filter(|byte| **byte == b'\n').count();
    let characters = String::from_utf8_lossy(&before[line_start..]).chars().count();
    let number = |n: usize| u32::try_from(n + 1).unwrap_or(u32::MAX);
    let at = Pos { line: number(lines), column: number(characters) };
    let wide = bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]);
    let kind = if wide { "it is UTF-16; " } else { "" };
    Problem::new(format!(
        "reading `{name}`: it is not UTF-8: byte 0x{:02X} at offset {offset}",
        bytes[offset]
    ))
    .at(Origin { file: name.into(), at })
    .hint(format!("{kind}save it as UTF-8"))
}
