//! Desired state from files: what `-f` names becomes documents, each value knowing its file, line and column.
//!
//! ```text
//! files ─ yaml ─ sort ┬─ backends (the backend language compiles them to kinds)
//!                     └─ manifests + kinds + outside values ─ document
//! ```
//!
//! This is an edge: it reads files and is handed the environment. It sends nothing, prints nothing, and knows
//! no API. Every step gives what is sound and a list of what is wrong, so that one run reports all of it.

pub mod document;
pub mod emit;
mod excerpt;
pub mod exported;
pub mod files;
mod json;
pub mod kept;
pub mod kinds;
mod lay;
mod leaf;
mod limits;
mod metadata;
mod open_map;
mod policy;
mod problems;
mod references;
mod regular;
pub mod replicas;
mod scalar;
pub mod select;
mod selected;
pub mod set;
mod sort;
mod tag;
pub mod tolerances;
mod tree;
pub mod values;
mod verbatim;
pub mod yaml;

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use crate::core::problem::Problem;
use crate::core::raw::{RawDocument, Source};

pub use document::{Built, documents};
pub use kinds::KindSource;
pub use select::{SelectError, Selection};
pub use selected::Chosen;
pub use sort::sort;
pub use values::Outsides;

/// The documents of a set of files, before anything is known of their kinds.
#[derive(Debug, Default)]
pub struct Loaded {
    /// `apiVersion: trueup/v1`, `kind: Backend`; values from outside are not put in, so that a backend that is
    /// not used may name variables that are not set.
    pub backends: Vec<RawDocument>,
    /// All documents of the backends' kinds, and `kind: ReplicaSet`, of which such are made.
    pub manifests: Vec<RawDocument>,
    /// `kind: Set`.
    pub sets: Vec<RawDocument>,
    pub problems: Vec<Problem>,
    /// The files that were read, those without documents too.
    pub sources: Vec<Arc<Source>>,
}

/// Reads everything that the roots name.
pub fn load(roots: &[PathBuf]) -> Loaded {
    load_with(roots, &mut std::io::stdin())
}

/// [`load`] with a standard input of the caller's.
pub fn load_with(roots: &[PathBuf], stdin: &mut dyn Read) -> Loaded {
    let (sources, mut problems) = files::gather_with(roots, stdin);
    let raws = raw_documents(&sources, &mut problems);
    if !roots.is_empty() && raws.is_empty() && problems.iter().all(|problem| problem.warning) {
        let names: Vec<String> = roots.iter().map(|root| format!("`{}`", root.display())).collect();
        let problem = Problem::new(format!("no documents in {}", names.join(", ")));
        problems.push(problem.hint("a document begins with `apiVersion: BACKEND` and `kind: KIND`"));
    }
    let mut loaded = sort(raws);
    problems.append(&mut loaded.problems);
    Loaded { problems, sources, ..loaded }
}

/// [`load`] of texts that were read elsewhere. That there is nothing in them is no problem.
pub fn read(sources: Vec<Arc<Source>>) -> Loaded {
    let mut problems = Vec::new();
    let mut loaded = sort(raw_documents(&sources, &mut problems));
    problems.append(&mut loaded.problems);
    Loaded { problems, sources, ..loaded }
}

/// A file that was read elsewhere.
///
/// # Errors
/// A file that is too large, or no text.
pub fn source(name: &str, bytes: &[u8]) -> Result<Arc<Source>, Problem> {
    Ok(Arc::new(Source { file: name.into(), text: regular::read_from(bytes, name)? }))
}

fn raw_documents(sources: &[Arc<Source>], problems: &mut Vec<Problem>) -> Vec<RawDocument> {
    let mut raws = Vec::new();
    for source in sources {
        let (documents, mut wrong) = yaml::read(source);
        raws.extend(documents);
        problems.append(&mut wrong);
    }
    raws
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load_text(text: &str) -> Loaded {
        load_with(&[PathBuf::from("-")], &mut text.as_bytes())
    }

    #[test]
    fn all_problems_of_all_documents_come_in_one_run() {
        let loaded = load_text(
            "apiVersion: trueup/v1\nkind: Backend\nspec: {url: !env NOT_SET}\n---\nkind: A\n---\nx: 017\n---\n\
             apiVersion: trueup/v1\nkind: Replica\n---\n{\n",
        );
        assert_eq!((loaded.backends.len(), loaded.manifests.len()), (1, 1));
        let told: Vec<String> = loaded.problems.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told[0].starts_with("-:7:4: the number `017` has two readings"), "{told:?}");
        assert!(told[1].contains(": the YAML is broken: "), "{told:?}");
        assert_eq!(told[2], "-:10:7: `trueup/v1` has no kind `Replica`");
    }

    #[test]
    fn an_empty_set_is_a_problem() {
        for text in ["", "---\n# nothing\n"] {
            let loaded = load_text(text);
            assert_eq!(loaded.problems.len(), 1);
            assert_eq!(loaded.problems[0].message, "no documents in `-`");
        }
    }
}
