//! What passes began and did not see the end of: the loop carries it from pass to pass, so that none of them begins it
//! anew. It forbids, and never says what is so; with the process it is lost.

use std::sync::Arc;
use std::time::Duration;

use super::super::unfinished::Unfinished;
use super::control::Loop;
use super::pass::Seen;

/// What is left open of an object that no document names is kept for so long: files that are replaced one by one lack it
/// for a moment only.
const UNWANTED: Duration = Duration::from_secs(60 * 60);

/// What a pass left open.
#[derive(Clone, Debug)]
pub struct Left {
    /// When it began, by the clock of the loop.
    since: Duration,
    what: Arc<Unfinished>,
}

impl Left {
    /// The same, for a pass that begins now.
    pub fn as_of(&self, now: Duration) -> Unfinished {
        Unfinished { age: now.saturating_sub(self.since), ..Unfinished::clone(&self.what) }
    }
}

impl Loop {
    /// A backend is another one now: what was begun at the one before says nothing of it.
    pub fn moved(&mut self, target: &str) {
        self.open.retain(|id, _| *id.kind.backend != *target);
    }

    /// Takes over what a pass left open, and forgets what it brought to an end.
    pub(super) fn note_open(&mut self, seen: &[Seen]) {
        for seen in seen {
            match &seen.open {
                Some(what) => {
                    let left = Left { since: self.now.saturating_sub(what.age), what: what.clone() };
                    self.open.insert(seen.id.clone(), left);
                }
                None => drop(self.open.remove(&seen.id)),
            }
        }
    }

    /// Forgets what nobody wants any more.
    pub(super) fn forget_open(&mut self) {
        let (now, at) = (self.now, &self.at);
        self.open.retain(|id, left| at.contains_key(id) || now < left.since + UNWANTED);
    }
}
