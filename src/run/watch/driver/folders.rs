//! What the driver does about folders that give no documents any more.

use std::path::PathBuf;

use tokio::time::Instant;

use super::super::folders::{Folders, Held};
use super::super::say::Hold;
use super::Driver;
use crate::core::set::Set;
use crate::core::watch::{About, Hint, Origin};
use crate::render::watch::log;

impl Driver<'_> {
    /// A person asks for everything, by whichever way.
    pub(super) fn agree_if_asked(&mut self, hints: &[Hint]) {
        if hints.iter().any(|hint| hint.origin == Origin::Person && hint.about == About::All) {
            self.agree_to_what_is_lost();
        }
    }

    /// A person was told which folders have no documents any more, and asks for everything nevertheless.
    pub(super) fn agree_to_what_is_lost(&mut self) {
        let before = self.held();
        let agreed = self.folders.agree();
        self.agreed(&before, agreed, "a person");
    }

    /// A reading of the files has ended.
    pub(super) fn take_folders(&mut self, read: Folders) {
        let before = self.held();
        let agreed = self.folders.take(read);
        self.agreed(&before, agreed, "git");
        self.hold_what_is_lost();
    }

    fn agreed(&mut self, before: &Held, mut folders: Vec<PathBuf>, by: &'static str) {
        folders.retain(|folder| before.has(folder));
        for folder in &folders {
            let event = log::Event::info("what a folder declared may go");
            self.teller.say(&event.with("folder", folder.display().to_string()).with("by", by));
        }
        if !folders.is_empty() {
            self.prune_when.changed(Instant::now());
            self.hold_what_is_lost();
        }
    }

    /// Tells what is not deleted, as its folder may only be away.
    fn hold_what_is_lost(&mut self) {
        let sentences = self.held().sentences();
        self.dirty |= self.teller.held(Hold::Folders, sentences);
    }

    fn held(&self) -> Held {
        self.held_of(&self.ground.desired.claimed(self.settings.pruning.deletes))
    }

    pub(super) fn held_of(&self, sets: &[Set]) -> Held {
        self.folders.held(sets, &self.ground.desired)
    }
}
