//! Who looks out for changes: polling and feeds, which share what they know of a server's state.

use std::sync::Arc;

use super::Settings;
use super::backoffs::Backoffs;
use super::board::Board;
use super::feeds::Feeds;
use super::observers::{Hints, Observers};
use super::polling::{Pace, Polling};
use super::standing::Alive;
use crate::core::watch::observer::Feed;

/// All of them, begun. What they find goes into `hints`; how the feeds are stands on the `board`.
pub fn observers(settings: &Settings, hints: Hints, board: &Board) -> Observers {
    let mut all = Observers::default();
    let backoffs = Backoffs::default();
    let pace = Pace { interval: settings.interval, seed: settings.machine.seed };
    let polling = Arc::new(Polling::start(pace, hints.clone(), backoffs.clone(), board.clone()));
    all.add(polling.clone());
    // Polling rests while a feed tells what happens.
    let announce = move |group: &Arc<str>, alive| {
        let feed = match alive {
            Alive::No => Feed::None,
            Alive::Lossy => Feed::Lossy,
            Alive::Replays => Feed::Replays,
        };
        polling.feed(group.clone(), feed);
    };
    all.add(Feeds::new(hints, backoffs, board.clone(), Arc::new(announce)));
    all
}
