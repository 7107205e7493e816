//! Reading the desired set, beside the loop: a large one takes its time.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::desired::{Desired, Loaded, Source};
use super::files::Look;
use super::folders::Folders;
use crate::core::watch::Subject;
use crate::run::bounded::Bound;

/// Files that are written just now are read again, so often.
const TRIES: usize = 3;

/// What was read, and what the files looked like before.
pub struct Loading {
    pub loaded: Loaded,
    pub look: Look,
    pub folders: Folders,
}

/// Reads in a thread of its own, with commands that are bounded; `before` is what was wanted until then.
pub fn begin(
    source: Source,
    roots: Vec<PathBuf>,
    before: Option<Arc<Desired>>,
    mut folders: Folders,
    bound: Bound,
) -> JoinHandle<Loading> {
    tokio::task::spawn_blocking(move || {
        let subjects = before.as_ref().map_or(&[][..], |before| &before.subjects);
        bound.around(|| {
            let (loaded, look) = load(&source, &roots, subjects);
            if let Some((before, after)) = before.as_ref().zip(loaded.read.as_ref().ok()) {
                folders.wanted(before, &after.desired, &roots, Instant::now());
                folders.ask_git();
            }
            Loading { loaded, look, folders }
        })
    })
}

fn load(source: &Source, roots: &[PathBuf], before: &[Subject]) -> (Loaded, Look) {
    let look = || Look::of(roots, &BTreeSet::new());
    let mut first = look();
    for _ in 1..TRIES {
        let loaded = source.load(before);
        // What is wrong may be so because somebody writes: then it is no news.
        if loaded.read.is_ok() || look() == first {
            let look = first.with(Look::of(&[], &loaded.named));
            return (loaded, look);
        }
        first = look();
    }
    let loaded = source.load(before);
    let look = first.with(Look::of(&[], &loaded.named));
    (loaded, look)
}
