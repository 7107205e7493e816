//! K4: random schedules.

use std::collections::BTreeMap;

use super::super::dice::Dice;
use super::super::shrink;
use super::super::tally::Tally;
use super::super::{Live, Outcome, schedule, tell};

/// The schedules of an ordinary run of the tests, in so many shards.
const SEEDS: u64 = 10_000;
const SHARDS: u64 = 4;

fn live(live: &mut Live) -> Result<(), Vec<String>> {
    live.random()
}

pub(super) fn one(seed: u64, tally: &mut Tally) -> Outcome {
    let outcome = schedule(Dice::new(seed), false, live);
    tally.add(&outcome.choices, &outcome.hits, outcome.requests);
    tally.violations += u64::from(!outcome.broken.is_empty());
    outcome
}

/// Runs schedules until some have failed, in different ways.
///
/// # Panics
/// If one failed, with its log.
pub fn run(seeds: impl Iterator<Item = u64>) {
    const ENOUGH: usize = 3;
    let mut tally = Tally::default();
    let mut found: BTreeMap<String, (u64, Vec<u32>)> = BTreeMap::new();
    for seed in seeds {
        let outcome = one(seed, &mut tally);
        if let Some(what) = outcome.sort() {
            println!("seed {seed} breaks {what}: {}", outcome.broken[0]);
            found.entry(what).or_insert((seed, outcome.choices));
        }
        if found.len() == ENOUGH {
            break;
        }
    }
    println!("K4: {tally}");
    let told = found.values().map(|(seed, choices)| tell(&format!("seed {seed}"), choices, live));
    let told: Vec<String> = told.collect();
    assert!(told.is_empty(), "{} sorts of failures\n{}", told.len(), told.join("\n\n"));
}

/// The schedule of a list of choices, as [`run`] prints it.
///
/// # Panics
/// If it fails, with its log.
pub fn replay(choices: &str) {
    let outcome = schedule(Dice::replay(shrink::parse(choices)), true, live);
    assert!(outcome.broken.is_empty(), "{}\n{}", outcome.log.join("\n"), outcome.broken.join("\n"));
}

fn shard(nth: u64) {
    run((0..SEEDS).filter(|seed| seed % SHARDS == nth));
}

#[test]
fn every_schedule_keeps_the_invariants_1() {
    shard(0);
}

#[test]
fn every_schedule_keeps_the_invariants_2() {
    shard(1);
}

#[test]
fn every_schedule_keeps_the_invariants_3() {
    shard(2);
}

#[test]
fn every_schedule_keeps_the_invariants_4() {
    shard(3);
}
