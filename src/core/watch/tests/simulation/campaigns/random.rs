//! Random schedules.

use super::super::{Outcome, schedule};
use crate::core::engine::tests::simulation::dice::Dice;
use crate::core::engine::tests::simulation::shrink;

/// The schedules of an ordinary run of the tests, in so many shards.
const SEEDS: u64 = 2_000;
const SHARDS: u64 = 2;

/// Runs schedules until one has failed.
///
/// # Panics
/// If one failed, with its log.
pub fn run(seeds: impl Iterator<Item = u64>) {
    let (mut count, mut steps) = (0, 0);
    for seed in seeds {
        let outcome = schedule(Dice::new(seed), false);
        (count, steps) = (count + 1, steps + outcome.steps);
        if !outcome.broken.is_empty() {
            panic!("{}", tell(seed, &outcome));
        }
    }
    println!("loop: {count} schedules, {steps} steps, 0 violations");
}

/// The schedule of a list of choices, as [`run`] prints it.
///
/// # Panics
/// If it fails, with its log.
pub fn replay(choices: &str) {
    let outcome = schedule(Dice::replay(shrink::parse(choices)), true);
    assert!(outcome.broken.is_empty(), "{}\n{}", outcome.log.join("\n"), outcome.broken.join("\n"));
}

/// Makes the choices of a schedule that failed few, and says all that is known of it.
fn tell(seed: u64, outcome: &Outcome) -> String {
    let what = outcome.sort();
    let fails = |choices: &[u32]| schedule(Dice::replay(choices.to_vec()), false).sort() == what;
    let few = shrink::shrink(&outcome.choices, fails);
    let Outcome { broken, log, .. } = schedule(Dice::replay(few.clone()), true);
    format!(
        "seed {seed}:\n{}\n\nTRUEUP_LOOP_CHOICES=\"{}\"\n\nbroken:\n{}",
        log.join("\n"),
        shrink::written(&few),
        broken.join("\n")
    )
}

fn shard(nth: u64) {
    run((0..SEEDS).filter(|seed| seed % SHARDS == nth));
}

#[test]
fn every_schedule_of_the_loop_keeps_the_invariants_1() {
    shard(0);
}

#[test]
fn every_schedule_of_the_loop_keeps_the_invariants_2() {
    shard(1);
}
