//! Keeps the reading of the files and the passes over everything apart: two sets of documents and such a pass, all at once,
//! are the most that a watch would ever need room for.
//!
//! It is a matter of memory alone, so it yields: what somebody waits for goes at once, and nothing is held back for
//! longer than [`LONGEST`], as where a file system does not answer.

use std::time::Duration;

use tokio::time::Instant;

use crate::core::watch::{Origin, Pass};

/// Nothing is held back for longer.
const LONGEST: Duration = Duration::from_secs(10);

/// What is held back while the files are read.
#[derive(Debug, Default)]
pub struct Apart {
    held: Vec<Pass>,
    /// When the reading began.
    since: Option<Instant>,
}

impl Apart {
    /// Whether the files may be read for the mere time that has gone by, which was over at `due`.
    pub fn may_read(now: Instant, due: Instant, passes: usize) -> bool {
        passes == 0 || now >= due + LONGEST
    }

    /// The files are read from now on.
    pub fn reads(&mut self, now: Instant) {
        self.since = Some(now);
    }

    /// The pass again, if it is to begin now. One for which nobody waits is kept until the files are read.
    pub fn hold(&mut self, now: Instant, pass: Pass) -> Option<Pass> {
        let waits = self.since.is_some_and(|since| now < since + LONGEST);
        if waits && pass.objects.iter().all(|(_, origin)| *origin == Origin::Resync) {
            self.held.push(pass);
            return None;
        }
        Some(pass)
    }

    /// The files are read: what was held back is to begin.
    pub fn read(&mut self) -> Vec<Pass> {
        self.since = None;
        std::mem::take(&mut self.held)
    }

    /// What was held back for too long, and is to begin.
    pub fn overdue(&mut self, now: Instant) -> Vec<Pass> {
        match self.since {
            Some(since) if now >= since + LONGEST => std::mem::take(&mut self.held),
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::core::identity::{Key, KindName, ObjectId};

    fn pass(id: u64, origins: &[Origin]) -> Pass {
        let kind = KindName { backend: "b".into(), kind: "K".into() };
        let object = |origin: &Origin| (ObjectId { kind: kind.clone(), key: Key::new(Vec::new()) }, *origin);
        let objects = origins.iter().map(object).collect();
        let (frozen, open) = (BTreeMap::new(), BTreeMap::new());
        Pass { id, objects, writes: true, most_writes: None, frozen, held: Vec::new(), open }
    }

    #[test]
    fn a_resync_waits_until_the_files_are_read_and_what_somebody_waits_for_does_not() {
        let (now, mut apart) = (Instant::now(), Apart::default());
        let resync = || pass(1, &[Origin::Resync, Origin::Resync]);
        assert_eq!(apart.hold(now, resync()), Some(resync()), "nothing is read");
        apart.reads(now);
        for origins in [&[Origin::Feed][..], &[Origin::Resync, Origin::Person]] {
            assert_eq!(apart.hold(now, pass(2, origins)), Some(pass(2, origins)), "{origins:?}");
        }
        assert_eq!(apart.hold(now, resync()), None);
        assert_eq!(apart.overdue(now + LONGEST / 2), []);
        assert_eq!(apart.read(), [resync()]);
        assert_eq!(apart.hold(now, resync()), Some(resync()), "they are read");
        assert_eq!(apart.read(), [], "it began once");
    }

    #[test]
    fn nothing_waits_for_ever() {
        let (now, mut apart) = (Instant::now(), Apart::default());
        let resync = || pass(1, &[Origin::Resync]);
        apart.reads(now);
        assert_eq!(apart.hold(now, resync()), None);
        assert_eq!(apart.overdue(now + LONGEST), [resync()]);
        assert_eq!(apart.overdue(now + LONGEST), [], "it began once");
        assert_eq!(apart.hold(now + LONGEST, resync()), Some(resync()), "the reading hangs");
        assert!(Apart::may_read(now, now, 0));
        assert!(!Apart::may_read(now, now, 1) && Apart::may_read(now + LONGEST, now, 1));
    }
}
