//! What documents ask of the backends: which kind a name stands for.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::core::identity::KindName;
use crate::core::kind::{Kind, Kinds};
use crate::core::problem::Problem;
use crate::core::suggest;

/// Where kinds come from: the compiled backends, or one that makes kinds on demand (an embedded backend takes
/// any kind).
pub trait KindSource {
    /// The kind of this name. `parts` are the names of the key's parts as a document writes them, in its order;
    /// none where a reference in its short form asks.
    fn kind(&self, name: &KindName, parts: &[&str]) -> Option<Arc<Kind>>;

    /// The kind that takes documents of this type verbatim.
    fn of_document(&self, api_version: &str, kind: &str) -> Option<Arc<Kind>>;

    /// The names of all backends, those without kinds among them: for hints.
    fn backends(&self) -> Vec<Arc<str>>;

    /// The names of a backend's kinds: for hints.
    fn kinds_of(&self, backend: &str) -> Vec<Arc<str>>;

    /// Whether the backend is wrong itself, so that a kind that it lacks may be what is wrong with it.
    fn is_doubtful(&self, _backend: &str) -> bool {
        false
    }
}

impl KindSource for Kinds {
    fn kind(&self, name: &KindName, _parts: &[&str]) -> Option<Arc<Kind>> {
        self.get(name).cloned()
    }

    fn of_document(&self, api_version: &str, kind: &str) -> Option<Arc<Kind>> {
        Kinds::of_document(self, api_version, kind).cloned()
    }

    fn backends(&self) -> Vec<Arc<str>> {
        let names: BTreeSet<_> = self.iter().map(|kind| kind.name.backend.clone()).collect();
        names.into_iter().collect()
    }

    fn kinds_of(&self, backend: &str) -> Vec<Arc<str>> {
        let kinds = self.iter().filter(|kind| *kind.name.backend == *backend);
        kinds.map(|kind| kind.name.kind.clone()).collect()
    }
}

fn no_backend(name: &str) -> String {
    format!("there is no backend `{name}`")
}

/// Says once of a backend that there is none, however many documents name it.
pub fn once(problems: &mut Vec<Problem>) {
    let said = |problem: &Problem| problem.message.starts_with("there is no backend `");
    let mut counts: HashMap<String, usize> = HashMap::new();
    for problem in problems.iter().filter(|problem| said(problem)) {
        *counts.entry(problem.message.clone()).or_default() += 1;
    }
    problems.retain_mut(|problem| match counts.get_mut(&problem.message) {
        None => true,
        Some(0) => false,
        Some(count) => {
            let count = std::mem::take(count);
            if count > 1 {
                problem.message.push_str(&format!(", which {count} documents name"));
            }
            true
        }
    });
}

/// The error for a kind that no backend has.
pub fn unknown(kinds: &dyn KindSource, name: &KindName) -> Problem {
    let KindName { backend, kind } = name;
    let backends = kinds.backends();
    if backends.iter().any(|known| known == backend) {
        let known = kinds.kinds_of(backend);
        return Problem::new(format!("the backend `{backend}` has no kind `{kind}`")).hint(suggest::hint(
            kind,
            "its kinds are",
            known.iter().map(|name| &**name),
        ));
    }
    if backend.contains('/') {
        return Problem::new(format!("no backend takes documents of `{backend}`, `{kind}`")).hint(format!(
            "a kind takes them verbatim when it declares `document: {{apiVersion: {backend}, kind: {kind}}}`"
        ));
    }
    let problem = Problem::new(no_backend(backend));
    if backends.is_empty() {
        return problem.hint("add a document of `apiVersion: trueup/v1`, `kind: Backend` with this name");
    }
    problem.hint(suggest::hint(backend, "the backends are", backends.iter().map(|name| &**name)))
}
