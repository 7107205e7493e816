//! K3: pairs of faults, at places that chance picks.

use super::super::dice::Dice;
use super::super::fate::ROWS;
use super::super::makes::PROFILES;
use super::super::tally::Tally;
use super::super::workload::WORKLOADS;
use super::super::{Live, schedule, tell};
use super::Start;
use super::single::with_faults;

/// More requests than most of the workloads need.
const REQUESTS: usize = 16;

fn pair(live: &mut Live, starts: &[Start]) -> Result<(), Vec<String>> {
    let start = &starts[live.dice.below(starts.len())];
    let mut draw = || (live.dice.below(REQUESTS) as u32, live.dice.below(ROWS.len()));
    let at = [draw(), draw()];
    with_faults(live, start, &at).map(drop)
}

/// Runs the pairs of these seeds.
///
/// # Panics
/// At the first that fails, with its log.
pub fn run(seeds: impl Iterator<Item = u64>) {
    let mut tally = Tally::default();
    let all = WORKLOADS.iter().flat_map(|workload| PROFILES.map(|profile| Start::of(*workload, profile)));
    let starts: Vec<Start> = all.collect();
    let pair = |live: &mut Live| pair(live, &starts);
    for seed in seeds {
        let outcome = schedule(Dice::new(seed), false, pair);
        tally.add(&outcome.choices, &outcome.hits, outcome.requests);
        if !outcome.broken.is_empty() {
            panic!("{tally}\n{}", tell(&format!("pair {seed}"), &outcome.choices, pair));
        }
    }
    println!("K3: {tally}");
}
