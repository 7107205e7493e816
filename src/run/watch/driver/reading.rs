//! Reading the files anew, beside all else: what it takes, nothing waits for.

use std::time::Duration;

use tokio::time::Instant;

use super::super::NotBegun;
use super::super::files::AsRead;
use super::super::loading::{self, Loading};
use super::super::ways::Ways;
use super::{Driver, done};
use crate::core::problem::Problem;
use crate::core::watch::{About, Event, Hint, Origin, snapshot};
use crate::render::watch::log;

/// A reading that takes so long is told of, and a person who waits for it is served with what was read before.
const SLOW: Duration = Duration::from_secs(10);

/// A reading that is under way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slow {
    pub(super) since: Option<Instant>,
    /// What was said of how long it has taken, in seconds.
    pub(super) told: Option<u64>,
}

impl Slow {
    /// For the status, where there is something to say. While nothing ends, it is another one less and less often.
    pub(super) fn warning(&self) -> Option<String> {
        let told = self.told?;
        Some(format!("files: a reading has taken {told} s by now: what was read before holds"))
    }

    /// What is to be said now of how long it has taken, in seconds.
    fn taken(&self, now: Instant) -> Option<u64> {
        let took = now.saturating_duration_since(self.since?);
        let step = if took < Duration::from_secs(60) { 10 } else { 60 };
        (took >= SLOW).then(|| took.as_secs() / step * step)
    }

    /// How long it took, where that was told of.
    fn ended(self) -> Option<Duration> {
        self.told.and(self.since).map(|since| since.elapsed())
    }
}

impl Driver<'_> {
    /// Tells of a reading that takes long, and looks at everything where a person has waited for it.
    pub(super) fn mind_the_reading(&mut self) {
        let Some(taken) = self.slow.taken(Instant::now()) else { return };
        match self.slow.told.replace(taken) {
            None => {
                let event = log::Event::warn("reading of the files takes long").with("seconds", taken);
                self.teller.say(&event);
                self.dirty = true;
            }
            told => self.dirty |= told != Some(taken),
        }
        self.serve_the_person();
    }

    /// A person who asked for everything to be looked at need not wait any longer.
    fn serve_the_person(&mut self) {
        if std::mem::take(&mut self.person) && self.begun && self.patience.is_none() {
            self.step(Event::Hint(Hint { about: About::All, origin: Origin::Person, observed: None }));
        }
    }

    /// A person asks for it: the files first.
    pub(super) fn look_at_all(&mut self) {
        // Of many that come while the files are read, one is told.
        if !std::mem::replace(&mut self.person, true) {
            self.teller.say(&log::Event::info("a person asks for everything to be looked at"));
        }
        self.agree_to_what_is_lost();
        self.load();
    }

    /// Reads the files, after the reading that is under way if there is one.
    pub(super) fn load(&mut self) {
        // What is wanted may be another thing by now: nothing is deleted for what was wanted before.
        self.prune_halt.stop.cancel();
        self.load_again = !self.loading.is_empty();
        if !self.load_again {
            let (source, roots) = (self.settings.source.clone(), self.files.roots());
            let before = Some(self.ground.desired.clone());
            let folders = self.folders.clone();
            self.apart.reads(Instant::now());
            let loading = loading::begin(source, roots, before, folders, self.settings.bound.clone());
            self.loading.spawn(async move { done(loading.await) });
            self.slow = Slow { since: Some(Instant::now()), told: None };
        }
    }

    pub(super) fn loaded(&mut self, Loading { loaded, look, folders }: Loading) {
        self.teller.secrets().learn(&loaded.secrets);
        if let Some(took) = std::mem::take(&mut self.slow).ended() {
            self.dirty = true;
            self.teller
                .say(&log::Event::info("reading of the files has ended").with("seconds", took.as_secs()));
        }
        self.as_read = AsRead { roots: self.files.roots(), named: loaded.named, look };
        self.files.read(&self.as_read);
        self.read_at = Instant::now() + self.settings.machine.resync;
        let opened = loaded.read.and_then(|read| {
            let kinds = &read.desired.kinds;
            let ways = Ways::open(&self.settings.opening, read.connections, kinds, Some(&self.ground.ways))?;
            Ok((read.desired, ways, read.lease, read.warnings))
        });
        match opened {
            Ok((desired, ways, lease, warnings)) => {
                self.want(desired, ways, &warnings);
                self.take_folders(folders);
                if let Some((lead, lease)) = self.lead.as_ref().zip(lease) {
                    lead.reach(lease, self.ground.ways.clone());
                }
            }
            Err(NotBegun { problems, .. }) => self.keep_the_last(problems),
        }
        self.apart.read().into_iter().for_each(|pass| self.start(pass));
        self.serve_the_person();
        if std::mem::take(&mut self.load_again) {
            self.load();
        }
    }

    /// The files are no good: what they said before holds.
    fn keep_the_last(&mut self, problems: Vec<Problem>) {
        self.teller.invalid(&problems);
        self.dirty = true;
        let since = if self.state.valid { self.began.elapsed() } else { self.state.since };
        let failures = self.state.failures + 1;
        self.state = snapshot::Desired { valid: false, problems, since, failures, ..self.state };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_reading_changes_less_and_less_often() {
        let since = Instant::now();
        let slow = Slow { since: Some(since), told: None };
        let said = |seconds| slow.taken(since + Duration::from_secs(seconds));
        let all = [0, 9, 10, 19, 20, 59, 60, 119, 120, 3599].map(said);
        let some = [10, 10, 20, 50, 60, 60, 120, 3540].map(Some);
        assert_eq!(all, [&[None, None][..], &some].concat()[..]);
        assert_eq!(Slow::default().taken(since), None, "nothing is read");
        assert_eq!((slow.warning(), slow.ended()), (None, None));
        let told = Slow { told: Some(60), ..slow };
        assert_eq!(
            told.warning().as_deref(),
            Some("files: a reading has taken 60 s by now: what was read before holds")
        );
    }
}
