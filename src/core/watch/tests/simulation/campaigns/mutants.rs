//! Whether the schedules find anything: faults that are planted on purpose.

use super::super::schedule;
use crate::core::engine::tests::simulation::dice::Dice;
use crate::core::mutant::{Mutant, plant};

/// Each is found within so many schedules.
const WITHIN: u64 = 2_000;

/// A schedule counts only if it breaks nothing without the mutant.
fn find(mutant: Mutant) {
    let breaks = |seed: u64| !schedule(Dice::new(seed), false).broken.is_empty();
    for seed in 0..WITHIN {
        let planted = plant(mutant);
        let broken = breaks(seed);
        drop(planted);
        if broken {
            assert!(!breaks(seed), "seed {seed} breaks something without {mutant:?} as well");
            println!("{mutant:?}: found after {} schedules", seed + 1);
            return;
        }
    }
    panic!("{mutant:?} is not found within {WITHIN} schedules");
}

#[test]
fn every_mutant_of_the_loop_is_found() {
    use Mutant::*;
    [M9, M10, M11, M15, M16, M21].into_iter().for_each(find);
}
