//! A pass that takes long gives back what it is done with, and goes on with the rest: one slow object holds up no other.
//!
//! What it gives back is as free as after its end, and may be in another pass beside this one. The pass keeps what hangs
//! together with the rest of it (what that needs, and what needs that); which this is, it knows itself.

use std::collections::HashSet;
use std::time::Duration;

use super::super::identity::ObjectId;
use super::begin::{Under, WRITES};
use super::control::{Effect, Loop};
use super::pace::FLOOR;
use super::pass::{PassId, Seen};

/// A pass that takes longer is asked what it is done with, and again each time so long after it has told. Sooner would
/// be of no use: two passes of one object start no closer together.
pub const LONG: Duration = FLOOR;

impl Loop {
    /// Asks the passes whose time has come.
    pub(super) fn collect(&mut self) {
        for (pass, under) in &mut self.passes {
            if under.ask.is_some_and(|at| at <= self.now) {
                under.ask = None;
                self.effects.push(Effect::Collect(*pass));
            }
        }
    }

    /// When the next one is to be asked.
    pub(super) fn next_collect(&self) -> Option<Duration> {
        self.passes.values().filter_map(|under| under.ask).min()
    }

    /// A pass that goes on has found that these differ.
    pub(super) fn is_at_work(&mut self, pass: PassId, ids: &[ObjectId]) {
        for id in ids {
            let Some(&at) = self.at.get(id) else { continue };
            let object = &mut self.objects[at];
            if object.running == Some(pass) {
                let turned = object.conditions.is_at_work(self.now);
                self.effects.extend(turned.map(|condition| Effect::Turned(id.clone(), condition)));
            }
        }
    }

    /// An object of the pass that has been under way for the longest time, and since when.
    pub fn longest_under_way(&self) -> Option<(&ObjectId, Duration)> {
        let longest = self.passes.values().filter(|under| !under.members.is_empty());
        longest.min_by_key(|under| under.started).map(|under| (&under.members[0].id, under.started))
    }

    /// A pass goes on without these.
    pub(super) fn give_back(&mut self, pass: PassId, seen: &[Seen]) {
        let now = self.now;
        let Some(under) = self.passes.get_mut(&pass) else { return };
        under.ask = Some(now + LONG);
        let ids: HashSet<&ObjectId> = seen.iter().map(|seen| &seen.id).collect();
        let members = std::mem::take(&mut under.members);
        let (back, kept) = members.into_iter().partition(|member| ids.contains(&member.id));
        under.members = kept;
        let written = seen.iter().map(|seen| seen.writes).sum();
        under.written += written;
        // What is left of it needs no more.
        let left = under.reserved.saturating_sub(written).min(under.members.len() * WRITES);
        let reserved = std::mem::replace(&mut under.reserved, left) - left;
        let part = Under { members: back, reserved, ..*under };
        self.take_in(&part, seen, written);
    }
}
