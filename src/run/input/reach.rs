//! Which of the backends in the files are reached.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::core::kind::Kinds;

/// Which backends a command needs to reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Those that a document names.
    Used,
    /// Those that have a kind of these names, as far as a document names one of them; without names those that a
    /// document names, and all of them where there is no document.
    Kinds(Vec<String>),
    /// Those of these names; all of them where none is named.
    Backends(Vec<String>),
    /// None: nothing is sent, and nothing that only a request needs has to be there.
    None,
}

impl Reach {
    /// Whether a backend is reached, where documents use these.
    pub(super) fn takes(&self, backend: &str, used: &BTreeSet<Arc<str>>, kinds: &Kinds) -> bool {
        match self {
            Reach::Used => used.contains(backend),
            Reach::Kinds(names) if names.is_empty() => used.is_empty() || used.contains(backend),
            Reach::Kinds(names) => {
                let has = |backend: &str| {
                    kinds.iter().any(|kind| {
                        *kind.name.backend == *backend && names.iter().any(|name| **name == *kind.name.kind)
                    })
                };
                has(backend) && (used.contains(backend) || !used.iter().any(|used| has(used)))
            }
            Reach::Backends(names) => names.is_empty() || names.iter().any(|name| name == backend),
            Reach::None => false,
        }
    }
}
