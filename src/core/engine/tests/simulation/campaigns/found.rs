//! Schedules that failed once, each named after what it found.

use std::rc::Rc;

use super::super::dice::Dice;
use super::super::makes::Profile;
use super::super::workload::Workload;
use super::super::world::World;
use super::super::{Live, schedule};

/// A listing that lagged showed what had been before our own write: it was sent once more, and told of as one that
/// did not stick.
#[test]
fn a_listing_that_lags_says_nothing_against_our_own_write() {
    let live = |live: &mut Live| {
        let scene = Rc::new(Workload::Many.scene(Profile::P10));
        let mut world = World::draw(scene, live.dice);
        let broken = live.quiet(&mut world)?;
        if broken.is_empty() { Ok(()) } else { Err(broken) }
    };
    for seed in 0..20 {
        let outcome = schedule(Dice::new(seed), false, live);
        assert!(outcome.broken.is_empty(), "seed {seed}: {}", outcome.broken.join("\n"));
    }
}
