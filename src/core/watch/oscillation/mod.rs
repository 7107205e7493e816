//! The oscillation detector: it counts our own writes and their effect by path, never events.
//!
//! | class | what it is | what follows |
//! |---|---|---|
//! | A | the server takes a value and keeps another | after two such writes the path is not written, until the wish is another |
//! | B | another writer sets a path back to what we replaced, three times in ten minutes | the path is frozen, and probed |
//! | – | the object is deleted (or made) by another writer, three times in ten minutes | the object is held, and probed |
//! | C | many writes for one wish | a warning at 5, the object is held at 10 in ten minutes |
//! | E | two loads of one source differ | [`stable`] names what is not the same |
//! | F | many writes in all, for what was changed in the files | a warning |
//!
//! (D, passes that write nothing, is the queue's.) What is known of an object's fields is of one object: it is
//! forgotten when the wish is another, or when another object bears the name. Deletions are counted by the name.
//!
//! Nothing here drops what triggers a pass: a pass looks at what is frozen as at everything else, and only does not
//! write it. A freeze ends by the clock, which its `until` tells, and then one write is the probe: what was written
//! is left alone for a while more, and if it is set back in that time, the next freeze is twice as long.

mod breaker;
mod flood;
mod history;
mod object;
pub mod stable;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::super::identity::ObjectId;
use super::super::path::Path;
use super::pass::Seen;
use super::subject::Subject;
use flood::Flood;
use object::Object;

/// Writes, cycles and losses are counted for so long.
const WINDOW: Duration = Duration::from_secs(10 * 60);

/// What is kept of the writes of all objects: of each the last 32 of ten minutes at most.
#[derive(Debug, Default)]
pub struct Detector {
    /// Only ever asked by identity: nothing depends on an order.
    objects: HashMap<ObjectId, Object>,
    flood: Flood,
}

/// What must not be written for now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Freeze {
    /// The object is only looked at.
    pub whole: bool,
    /// These paths are left as they are; the rest of the object goes on.
    pub paths: Vec<Path>,
    /// When it ends, or a probe is due: a pass is to run then, whether or not anything hints at it.
    pub until: Option<Duration>,
}

/// What was found of an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// Class A: the server keeps another value.
    NotEffective { paths: Vec<Path> },
    /// Class B: another writer sets it back, again and again. At the root it is the object itself, which another
    /// writer deletes, or makes where it is to be absent; it comes before its paths.
    Fighting { path: Path, by: Vec<Arc<str>>, cycles: u32, until: Duration },
    /// Class C: too many writes for one wish; `open` when they are stopped.
    Churn { writes: u32, open: Option<Duration> },
}

impl Detector {
    /// A pass of an object has ended. What holds of it from now on, all of it: an empty list is a clean object.
    /// Each time in it is after `now`, unless the very next pass is a probe.
    pub fn ended(&mut self, now: Duration, subject: &Subject, seen: &Seen) -> Vec<Found> {
        let flood = &mut self.flood;
        let object = self.objects.entry(seen.id.clone()).or_insert_with(|| {
            flood.changed(now);
            Object::new(now, subject.desired)
        });
        if object.want(now, subject.desired) {
            flood.changed(now);
        }
        flood.wrote(now, seen.writes);
        object.ended(now, seen)
    }

    /// What holds of an object of which no pass has shown anything new.
    pub fn found(&mut self, now: Duration, id: &ObjectId) -> Vec<Found> {
        self.objects.get_mut(id).map(|object| object.found(now)).unwrap_or_default()
    }

    /// What must not be written in a pass that begins now. Where a freeze has run out, this pass is its probe.
    pub fn freeze(&mut self, now: Duration, id: &ObjectId) -> Freeze {
        self.objects.get_mut(id).map(|object| object.freeze(now)).unwrap_or_default()
    }

    /// The object is wanted no longer, or otherwise.
    pub fn forget(&mut self, id: &ObjectId) {
        self.objects.remove(id);
    }

    /// Class F: what is to be warned of, when too much is written for what was changed in the files. The sentence is
    /// the same for as long as it goes on.
    pub fn flood(&mut self, now: Duration) -> Option<String> {
        self.flood.told(now)
    }
}

#[cfg(test)]
pub(super) mod tests;
