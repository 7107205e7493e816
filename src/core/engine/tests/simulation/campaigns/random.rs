//! K4: random schedules.

use std::collections::BTreeMap;

use super::super::dice::Dice;
use super::super::shrink;
use super::super::tally::Tally;
use super::super::{Live, Outcome, number, schedule, tell};

/// The schedules of an ordinary run of the tests, in so many shards.
const SEEDS: u64 = 10_000;
const SHARDS: u64 = 4;
/// Seeds whose failure is not understood yet: `docs/reliability.md` tells of them.
const OPEN: [u64; 1] = [1899];

fn live(live: &mut Live) -> Result<(), Vec<String>> {
    live.random()
}

/// The first of a range of seeds that fails.
pub fn first_failure(seeds: impl Iterator<Item = u64>, tally: &mut Tally) -> Option<u64> {
    let mut seeds = seeds;
    seeds.find(|seed| !one(*seed, tally).broken.is_empty())
}

fn one(seed: u64, tally: &mut Tally) -> Outcome {
    let outcome = schedule(Dice::new(seed), false, live);
    tally.add(&outcome.choices, &outcome.hits, outcome.requests);
    tally.violations += u64::from(!outcome.broken.is_empty());
    outcome
}

/// Runs schedules until some have failed, in different ways.
fn run(seeds: impl Iterator<Item = u64>) {
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

fn shard(nth: u64) {
    if option_env!("TRUEUP_SEED").is_some() || option_env!("TRUEUP_CHOICES").is_some() {
        return;
    }
    let all = number(option_env!("TRUEUP_SEEDS")).unwrap_or(SEEDS);
    run((0..all).filter(|seed| seed % SHARDS == nth && !OPEN.contains(seed)));
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

#[test]
fn the_schedule_that_was_asked_for() {
    if let Some(choices) = option_env!("TRUEUP_CHOICES") {
        let outcome = schedule(Dice::replay(shrink::parse(choices)), true, live);
        assert!(outcome.broken.is_empty(), "{}\n{}", outcome.log.join("\n"), outcome.broken.join("\n"));
    }
    if let Some(seed) = number(option_env!("TRUEUP_SEED")) {
        run(seed..=seed);
    }
}
