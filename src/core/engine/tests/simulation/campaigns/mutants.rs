//! Whether the campaigns find bugs at all: faults that are planted on purpose have to be found by random schedules.

use super::super::tally::Tally;
use super::random::one;
use crate::core::mutant::{Mutant, plant};

/// The schedules of an ordinary run of the tests: each mutant is found within so many.
const WITHIN: u64 = 10_000;
/// How often each is looked for, with other seeds.
const TRIALS: u64 = 3;

/// Whether a schedule breaks something.
fn breaks(seed: u64) -> bool {
    !one(seed, &mut Tally::default()).broken.is_empty()
}

/// A schedule counts only if it breaks nothing without the mutant.
fn schedules_to_find(mutant: Mutant, trial: u64) -> u64 {
    let from = trial * 1_000_000;
    for seed in from..from + WITHIN {
        let planted = plant(mutant);
        let broken = breaks(seed);
        drop(planted);
        if broken {
            assert!(!breaks(seed), "seed {seed} breaks something without {mutant:?} as well");
            return seed - from + 1;
        }
    }
    panic!("{mutant:?} is not found within {WITHIN} schedules");
}

fn find(mutants: &[Mutant]) {
    for mutant in mutants {
        let mut counts: Vec<u64> = (0..TRIALS).map(|trial| schedules_to_find(*mutant, trial)).collect();
        counts.sort_unstable();
        println!("{mutant:?}: found after {} schedules (median of {counts:?})", counts[counts.len() / 2]);
    }
}

#[test]
fn every_mutant_is_found_1() {
    use Mutant::*;
    // M4 is found by `creates::a_500_after_the_creation_makes_no_second_object`: chance meets it too seldom.
    find(&[M1, M3, M5, M6, M26]);
}

#[test]
fn every_mutant_is_found_2() {
    use Mutant::*;
    find(&[M7, M8, M17, M25, M28, Unasked]);
}
