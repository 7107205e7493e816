//! The campaigns: sets of schedules, each with a number to reach.

mod crash;
mod found;
mod mutants;
pub mod pairs;
pub mod random;
pub mod scope;
mod single;
mod storm;

use std::rc::Rc;

use super::Live;
use super::dice::Dice;
use super::makes::Profile;
use super::tally::Tally;
use super::workload::{WORKLOADS, Workload};
use super::world::World;

/// A workload on a profile: the world before, and the one that it comes to without troubles.
pub struct Start {
    pub world: World,
    pub reference: World,
}

impl Start {
    pub fn of(workload: Workload, profile: Profile) -> Start {
        let (mut dice, mut log) = (Dice::replay(Vec::new()), Vec::new());
        let mut live = Live { dice: &mut dice, log: &mut log, loud: false, hits: Vec::new(), requests: 0 };
        let world = World::draw(Rc::new(workload.scene(profile)), live.dice);
        let reference = live.undisturbed(&world).expect("it breaks nothing");
        Start { world, reference }
    }
}

/// Every workload on each of these profiles. `all_of` runs what there is of one, and tells the first that breaks anything.
fn exhaust(
    campaign: &str,
    profiles: &[Profile],
    all_of: fn(Workload, Profile, &mut Tally) -> Option<String>,
) {
    let mut tally = Tally::default();
    let mut found = Vec::new();
    for profile in profiles {
        found.extend(WORKLOADS.iter().filter_map(|workload| all_of(*workload, *profile, &mut tally)));
    }
    assert!(found.is_empty(), "{} fail; the first: {}", found.len(), found[0]);
    println!("{campaign} {profiles:?}: {tally}");
}
