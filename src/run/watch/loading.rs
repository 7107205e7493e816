//! Reading the desired set, beside the loop: a large one takes its time.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::task::JoinHandle;

use super::desired::{Desired, Loaded, Source};
use super::files::Look;
use crate::core::watch::Subject;
use crate::run::bounded::Bound;

/// Files that are written just now are read again, so often.
const TRIES: usize = 3;

/// What was read, and what the files looked like before.
pub struct Loading {
    pub loaded: Loaded,
    pub look: Look,
}

/// Reads in a thread of its own, with commands that are bounded; `before` is what was wanted until then.
pub fn begin(
    source: Source,
    roots: Vec<PathBuf>,
    before: Option<Arc<Desired>>,
    bound: Bound,
) -> JoinHandle<Loading> {
    tokio::task::spawn_blocking(move || {
        let before = before.as_ref().map_or(&[][..], |before| &before.subjects);
        bound.around(|| load(&source, &roots, before))
    })
}

fn load(source: &Source, roots: &[PathBuf], before: &[Subject]) -> Loading {
    let look = || Look::of(roots, &BTreeSet::new());
    let mut first = look();
    for _ in 1..TRIES {
        let loaded = source.load(before);
        // What is wrong may be so because somebody writes: then it is no news.
        if loaded.read.is_ok() || look() == first {
            return Loading { look: first.with(Look::of(&[], &loaded.named)), loaded };
        }
        first = look();
    }
    let loaded = source.load(before);
    Loading { look: first.with(Look::of(&[], &loaded.named)), loaded }
}
