//! K2: each fault befalls each request of each workload on each profile, once.

use super::super::dice::Dice;
use super::super::fate::ROWS;
use super::super::makes::{PROFILES, Profile};
use super::super::oracle;
use super::super::tally::Tally;
use super::super::trouble::Trouble;
use super::super::workload::Workload;
use super::super::{Live, schedule, tell};
use super::{Start, exhaust};
use crate::core::engine::Mode;

/// A run with faults at these requests, and what comes after. Gives the requests of the run.
pub fn with_faults(live: &mut Live, start: &Start, at: &[(u32, usize)]) -> Result<u32, Vec<String>> {
    let mut world = start.world.clone();
    let trouble = Trouble { at: at.to_vec(), ..Trouble::default() };
    let ended = live.run(&mut world, Mode::Apply, &trouble)?;
    live.settle_down(&mut world);
    let mut broken = live.quiet(&mut world)?;
    broken.extend(oracle::as_undisturbed(&world, &start.reference));
    if broken.is_empty() { Ok(ended.requests) } else { Err(broken) }
}

/// All single faults of one workload on one profile. What befell nothing is not counted.
pub fn all_of(workload: Workload, profile: Profile, tally: &mut Tally) -> Option<String> {
    let start = Start::of(workload, profile);
    let count = std::cell::Cell::new(0);
    let counting = |live: &mut Live| {
        count.set(with_faults(live, &start, &[])?);
        Ok(())
    };
    if !schedule(Dice::replay(Vec::new()), false, counting).broken.is_empty() {
        return Some(tell(&format!("{workload:?} on {profile:?}"), &[], counting));
    }
    for number in 0..count.get() {
        for (row, (name, _)) in ROWS.iter().enumerate() {
            let at = [(number, row)];
            let one = |live: &mut Live| with_faults(live, &start, &at).map(drop);
            let outcome = schedule(Dice::replay(Vec::new()), false, one);
            if outcome.hits.is_empty() && outcome.broken.is_empty() {
                continue;
            }
            tally.add(&(workload, profile, at), &outcome.hits, outcome.requests);
            if !outcome.broken.is_empty() {
                tally.violations += 1;
                let what = format!("{workload:?} on {profile:?}, {name} at request {number}");
                return Some(tell(&what, &[], one));
            }
        }
    }
    None
}

#[test]
fn a_fault_of_any_request_is_made_good_1() {
    exhaust("K2", &PROFILES[..3], all_of);
}

#[test]
fn a_fault_of_any_request_is_made_good_2() {
    exhaust("K2", &PROFILES[3..5], all_of);
}

#[test]
fn a_fault_of_any_request_is_made_good_3() {
    exhaust("K2", &PROFILES[5..8], all_of);
}

#[test]
fn a_fault_of_any_request_is_made_good_4() {
    exhaust("K2", &PROFILES[8..], all_of);
}
