//! The oscillation detector: it counts our own writes and their effect by path, never events.

use std::time::Duration;

use super::super::identity::ObjectId;
use super::super::path::Path;
use super::pass::Seen;
use super::subject::Subject;

/// What is kept of the writes of all objects, for ten minutes at most.
#[derive(Debug, Default)]
pub struct Detector {}

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
    /// Class B: another writer sets it back, again and again.
    Fighting { path: Path, by: Vec<std::sync::Arc<str>>, cycles: u32, until: Duration },
    /// Class C: too many writes for one wish; `open` when they are stopped.
    Churn { writes: u32, open: Option<Duration> },
}

impl Detector {
    /// A pass of an object has ended. What holds of it from now on, all of it: an empty list is a clean object.
    pub fn ended(&mut self, _now: Duration, _subject: &Subject, _seen: &Seen) -> Vec<Found> {
        Vec::new()
    }

    /// What must not be written in a pass that begins now. Where a freeze has run out, this pass is its probe.
    pub fn freeze(&mut self, _now: Duration, _id: &ObjectId) -> Freeze {
        Freeze::default()
    }

    /// The object is wanted no longer, or otherwise.
    pub fn forget(&mut self, _id: &ObjectId) {}

    /// Class F: what is to be warned of, when too much is written for what was changed in the files.
    pub fn flood(&mut self, _now: Duration) -> Option<String> {
        None
    }
}
