//! The kinds that documents may be of.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::backend::language;
use crate::core::identity::KindName;
use crate::core::kind::{Kind, Kinds};
use crate::core::node::Origin;
use crate::core::problem::Problem;
use crate::core::raw::RawDocument;
use crate::core::suggest;
use crate::manifest::KindSource;

/// The kinds of the backends, those of the built-in server made as they are named.
#[derive(Default)]
pub(super) struct Registry {
    pub kinds: RefCell<Kinds>,
    backends: BTreeMap<Arc<str>, Origin>,
    /// Backends that take any kind.
    open: BTreeSet<Arc<str>>,
    /// Backends with problems of their own.
    wrong: BTreeSet<Arc<str>>,
    /// There are files or backends that could not be read: a backend may stand there.
    unread: bool,
}

impl Registry {
    /// Reads the kinds of backends; what is wrong with them. `unread`: there are files that could not be read.
    pub fn read(backends: &[RawDocument], unread: bool) -> (Registry, Vec<Problem>) {
        let (mut registry, mut said) = (Registry { unread, ..Registry::default() }, Vec::new());
        for raw in backends {
            let (kinds, problems) = language::kinds(raw);
            let sound = problems.iter().all(|problem| problem.warning);
            said.extend(problems);
            let Some(name) = backend_name(raw) else {
                registry.unread = true;
                continue;
            };
            if let Some(first) = registry.backends.get(&name) {
                let message = format!("two backends are named `{name}`: the other one stands at {first}");
                said.push(Problem::new(message).at(raw.origin()));
                continue;
            }
            registry.backends.insert(name.clone(), raw.origin());
            if !sound {
                registry.wrong.insert(name);
            } else if kinds.is_empty() {
                registry.open.insert(name);
            }
            kinds.into_iter().for_each(|kind| registry.kinds.borrow_mut().insert(kind));
        }
        (registry, said)
    }
}

impl KindSource for Registry {
    fn kind(&self, name: &KindName, parts: &[&str]) -> Option<Arc<Kind>> {
        let known = self.kinds.borrow().get(name).cloned();
        if known.is_some() || !self.open.contains(&name.backend) {
            return known;
        }
        let parts = if parts.is_empty() { &["name"][..] } else { parts };
        let made = language::generic_kind(&name.backend, &name.kind, parts).ok()?;
        self.kinds.borrow_mut().insert(made);
        self.kinds.borrow().get(name).cloned()
    }

    fn of_document(&self, api_version: &str, kind: &str) -> Option<Arc<Kind>> {
        self.kinds.borrow().of_document(api_version, kind).cloned()
    }

    fn backends(&self) -> Vec<Arc<str>> {
        self.backends.keys().cloned().collect()
    }

    fn kinds_of(&self, backend: &str) -> Vec<Arc<str>> {
        self.kinds.borrow().kinds_of(backend)
    }

    fn is_doubtful(&self, backend: &str) -> bool {
        let names = || self.backends.keys().map(|name| &**name);
        let misspelt = suggest::nearest(backend, names()).is_some();
        self.wrong.contains(backend) || (self.unread && !misspelt)
    }
}

/// `metadata.name` of a Backend document.
pub(super) fn backend_name(raw: &RawDocument) -> Option<Arc<str>> {
    raw.root.get("metadata")?.get("name")?.as_str().map(Arc::from)
}
