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
use super::workload::Workload;
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
