//! Reading the desired set, beside the loop: a large one takes its time.

use std::collections::BTreeSet;
use std::path::PathBuf;

use tokio::task::JoinHandle;

use super::desired::{Loaded, Source};
use super::files::Look;
use crate::run::bounded::Bound;

/// Files that are written just now are read again, so often.
const TRIES: usize = 3;

/// What was read, and what the files looked like before.
pub struct Loading {
    pub loaded: Loaded,
    pub look: Look,
}

/// Reads in a thread of its own, with commands that are bounded.
pub fn begin(source: Source, roots: Vec<PathBuf>, bound: Bound) -> JoinHandle<Loading> {
    tokio::task::spawn_blocking(move || bound.around(|| load(&source, &roots)))
}

fn load(source: &Source, roots: &[PathBuf]) -> Loading {
    let look = || Look::of(roots, &BTreeSet::new());
    let mut before = look();
    for _ in 1..TRIES {
        let loaded = source.load(true);
        // What is wrong may be so because somebody writes: then it is no news.
        if loaded.read.is_ok() || look() == before {
            return Loading { look: before.with(Look::of(&[], &loaded.named)), loaded };
        }
        before = look();
    }
    let loaded = source.load(true);
    Loading { look: before.with(Look::of(&[], &loaded.named)), loaded }
}
