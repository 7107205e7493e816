//! A folder of exported manifests: one file a kind, each replaced as a whole.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::core::identity::KindName;
use crate::core::problem::{Problem, said_by_system};

/// A file that grows beyond this is followed by another one: what the loader takes is limited.
const LARGEST: usize = 8 * 1024 * 1024;

/// A folder that is being filled, kind by kind.
pub struct Folder {
    path: PathBuf,
    /// How files are named; a kind's name, with its backend's where two backends have it.
    names: BTreeMap<KindName, String>,
    open: Option<Open>,
    /// The files and how many documents each has.
    pub files: Vec<(PathBuf, usize)>,
}

/// A file that is not in its place yet.
struct Open {
    kind: KindName,
    /// Its number among those of its kind, from 1.
    part: usize,
    sink: BufWriter<File>,
    bytes: usize,
    documents: usize,
}

impl Folder {
    /// Makes the folder where it is not there, for documents of these kinds.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn open(path: &Path, kinds: &[KindName]) -> Result<Folder, Problem> {
        fs::create_dir_all(path).map_err(|error| wrong(path, &error))?;
        let shared = |name: &KindName| kinds.iter().filter(|other| other.kind == name.kind).count() > 1;
        let names = kinds.iter().map(|name| {
            let stem = match shared(name) {
                true => format!("{}.{}", name.backend, name.kind),
                false => name.kind.to_string(),
            };
            (name.clone(), safe(&stem))
        });
        Ok(Folder { path: path.into(), names: names.collect(), open: None, files: Vec::new() })
    }

    /// Adds a document of a kind; those of one kind come in a row.
    ///
    /// # Errors
    /// What the system says.
    pub fn add(&mut self, kind: &KindName, text: &str) -> Result<(), Problem> {
        let mut part = 1;
        if let Some(open) = &self.open {
            let same = open.kind == *kind;
            if same && open.bytes + text.len() <= LARGEST {
                return self.write(text);
            }
            part = if same { open.part + 1 } else { 1 };
            self.close()?;
        }
        let draft = self.draft(kind, part);
        let file = File::create(&draft).map_err(|error| wrong(&draft, &error))?;
        self.open =
            Some(Open { kind: kind.clone(), part, sink: BufWriter::new(file), bytes: 0, documents: 0 });
        self.write(text)
    }

    fn write(&mut self, text: &str) -> Result<(), Problem> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let line = if open.documents == 0 { "" } else { "---\n" };
        let written =
            open.sink.write_all(line.as_bytes()).and_then(|()| open.sink.write_all(text.as_bytes()));
        open.bytes += line.len() + text.len();
        open.documents += 1;
        let (kind, part) = (open.kind.clone(), open.part);
        written.map_err(|error| wrong(&self.place(&kind, part), &error))
    }

    /// Puts the file that is being written into its place.
    ///
    /// # Errors
    /// What the system says.
    pub fn close(&mut self) -> Result<(), Problem> {
        let Some(mut open) = self.open.take() else { return Ok(()) };
        let place = self.place(&open.kind, open.part);
        let draft = self.draft(&open.kind, open.part);
        open.sink.flush().and_then(|()| fs::rename(&draft, &place)).map_err(|error| wrong(&place, &error))?;
        self.files.push((place, open.documents));
        Ok(())
    }

    /// Takes away what has not come into its place.
    pub fn abandon(&mut self) {
        if let Some(open) = self.open.take() {
            // It may be gone, and nothing depends on it.
            drop(fs::remove_file(self.draft(&open.kind, open.part)));
        }
    }

    /// Files of these kinds that an earlier export has left and this one has not written.
    pub fn stale<'k>(&self, kinds: impl Iterator<Item = &'k KindName>) -> Vec<PathBuf> {
        let next = |kind: &KindName| {
            let mut parts = 1..;
            parts.find(|part| !self.files.iter().any(|(file, _)| *file == self.place(kind, *part)))
        };
        let places = kinds.filter_map(|kind| next(kind).map(|part| self.place(kind, part)));
        places.filter(|place| place.exists()).collect()
    }

    fn place(&self, kind: &KindName, part: usize) -> PathBuf {
        self.path.join(format!("{}.yaml", self.stem(kind, part)))
    }

    fn draft(&self, kind: &KindName, part: usize) -> PathBuf {
        self.path.join(format!(".{}.yaml.part", self.stem(kind, part)))
    }

    fn stem(&self, kind: &KindName, part: usize) -> String {
        let name = self.names.get(kind).map_or("", String::as_str);
        if part == 1 { name.to_owned() } else { format!("{name}-{part}") }
    }
}

/// A name that is one file's, whatever stands in it.
fn safe(name: &str) -> String {
    let kept = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = name.chars().map(kept).collect();
    if name.starts_with('.') { format!("_{name}") } else { name }
}

fn wrong(path: &Path, error: &io::Error) -> Problem {
    Problem::new(format!("writing `{}`: {}", path.display(), said_by_system(&error.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(backend: &str, kind: &str) -> KindName {
        KindName { backend: backend.into(), kind: kind.into() }
    }

    #[test]
    fn one_file_a_kind_and_no_draft_is_left() {
        let scratch = tempfile::tempdir().expect("a folder");
        let path = scratch.path().join("new/one");
        let known = [name("a", "Queue"), name("a", "Team"), name("b", "Team")];
        let mut folder = Folder::open(&path, &known).expect("it can be made");
        for (backend, kind, text) in [
            ("a", "Queue", "q: 1\n"),
            ("a", "Queue", "q: 2\n"),
            ("a", "Team", "t: 1\n"),
            ("b", "Team", "t: 2\n"),
        ] {
            folder.add(&name(backend, kind), text).expect("it can be written");
        }
        folder.close().expect("it is closed");
        let text = |file: &str| fs::read_to_string(path.join(file)).expect(file);
        assert_eq!(text("Queue.yaml"), "q: 1\n---\nq: 2\n");
        assert_eq!((text("a.Team.yaml"), text("b.Team.yaml")), ("t: 1\n".into(), "t: 2\n".into()));
        assert_eq!(fs::read_dir(&path).expect("it is there").count(), 3);

        let mut again = Folder::open(&path, &known).expect("it is there");
        again.add(&name("a", "Queue"), "half").expect("it can be written");
        again.abandon();
        assert_eq!(text("Queue.yaml"), "q: 1\n---\nq: 2\n", "an export that was ended changes nothing");
        assert_eq!(again.stale([name("a", "Queue")].iter()), [path.join("Queue.yaml")]);
        assert_eq!(fs::read_dir(&path).expect("it is there").count(), 3);
    }

    #[test]
    fn a_large_kind_has_several_files() {
        let scratch = tempfile::tempdir().expect("a folder");
        let mut folder = Folder::open(scratch.path(), &[name("a", "Q")]).expect("it is there");
        let text = format!("t: {}\n", "x".repeat(LARGEST / 2));
        (0..3).for_each(|_| folder.add(&name("a", "Q"), &text).expect("it can be written"));
        folder.close().expect("it is closed");
        let files: Vec<_> = folder.files.iter().map(|(file, count)| (file.file_name(), *count)).collect();
        assert_eq!(
            files,
            [(Some("Q.yaml".as_ref()), 1), (Some("Q-2.yaml".as_ref()), 1), (Some("Q-3.yaml".as_ref()), 1)]
        );
        assert!(folder.stale([name("a", "Q")].iter()).is_empty());
    }

    #[test]
    fn names_stay_in_the_folder() {
        for (name, file) in [("Queue", "Queue"), ("../x", "_.._x"), ("a/b", "a_b"), (".hidden", "_.hidden")] {
            assert_eq!(safe(name), file);
        }
    }
}
