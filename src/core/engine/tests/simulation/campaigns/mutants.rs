//! Whether the campaigns find bugs at all: faults that are planted on purpose have to be found by random schedules.

use super::super::tally::Tally;
use super::random::first_failure;
use crate::core::mutant::{Mutant, plant};

/// The schedules of an ordinary run of the tests: each mutant is found within so many.
const WITHIN: u64 = 10_000;
/// How often each is looked for, with other seeds.
const TRIALS: u64 = 3;

fn schedules_to_find(mutant: Mutant, trial: u64) -> u64 {
    let _planted = plant(mutant);
    let mut tally = Tally::default();
    let from = trial * 1_000_000;
    let found = first_failure(from..from + WITHIN, &mut tally);
    assert!(found.is_some(), "{mutant:?} is not found within {WITHIN} schedules");
    tally.schedules
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
    find(&[M1, M3, M4, M5, M6, M26]);
}

#[test]
fn every_mutant_is_found_2() {
    use Mutant::*;
    find(&[M7, M8, M17, M25, M28]);
}
