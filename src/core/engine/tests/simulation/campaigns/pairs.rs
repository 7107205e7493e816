//! K3: pairs of faults, at places that chance picks.

use super::super::dice::Dice;
use super::super::fate::ROWS;
use super::super::makes::PROFILES;
use super::super::tally::Tally;
use super::super::workload::WORKLOADS;
use super::super::{Live, number, schedule, tell};
use super::Start;
use super::single::with_faults;

/// More requests than most of the workloads need.
const REQUESTS: usize = 16;
const PAIRS: u64 = 200_000;

fn pair(live: &mut Live) -> Result<(), Vec<String>> {
    let (workload, profile) = (live.dice.one(&WORKLOADS), live.dice.one(&PROFILES));
    let mut draw = || (live.dice.below(REQUESTS) as u32, live.dice.below(ROWS.len()));
    let at = [draw(), draw()];
    with_faults(live, &Start::of(workload, profile), &at).map(drop)
}

#[test]
#[ignore = "a quarter of an hour; `TRUEUP_PAIRS` says how many"]
fn two_faults_are_made_good() {
    let mut tally = Tally::default();
    for seed in 0..number(option_env!("TRUEUP_PAIRS")).unwrap_or(PAIRS) {
        let outcome = schedule(Dice::new(seed), false, pair);
        tally.add(&outcome.choices, &outcome.hits, outcome.requests);
        if !outcome.broken.is_empty() {
            panic!("{tally}\n{}", tell(&format!("pair {seed}"), &outcome.choices, pair));
        }
    }
    println!("K3: {tally}");
}
