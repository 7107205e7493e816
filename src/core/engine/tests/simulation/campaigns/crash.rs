//! K1: the process dies about each request of each workload on each profile, at each moment, and is run again.

use std::time::Duration;

use super::super::dice::Dice;
use super::super::makes::{PROFILES, Profile};
use super::super::oracle;
use super::super::tally::Tally;
use super::super::trouble::{Moment, Trouble};
use super::super::workload::Workload;
use super::super::world::{Deeds, World};
use super::super::{Live, schedule, tell};
use super::{Start, exhaust};
use crate::core::engine::Mode;

const MOMENTS: [Moment; 4] = [Moment::Sent, Moment::Committed, Moment::Answered, Moment::Acted];

/// One death. Gives the requests that the run had, or would have had.
fn die(
    live: &mut Live,
    start: &Start,
    profile: Profile,
    kill: Option<(u32, Moment)>,
) -> Result<u32, Vec<String>> {
    let Start { world, reference } = start;
    let mut world = world.clone();
    let died = live.run(&mut world, Mode::Apply, &Trouble { kill, ..Trouble::default() })?;
    if profile == Profile::P6 {
        // A search shows what was made after a while, and nothing else tells of it.
        world.pass(Duration::from_secs(30));
    }
    live.run(&mut world, Mode::Apply, &Trouble::default())?;
    live.settle_down(&mut world);
    let mut broken = live.quiet(&mut world)?;
    broken.extend(oracle::as_undisturbed(&world, reference));
    let writes = |world: &World| world.deeds.iter().map(Deeds::writes).sum::<u32>();
    if writes(&world) > writes(reference) + 1 {
        broken.push(format!("X1: {} writes, and {} without a death", writes(&world), writes(reference)));
    }
    if broken.is_empty() { Ok(died.requests) } else { Err(broken) }
}

/// All deaths of one workload on one profile.
pub fn all_of(workload: Workload, profile: Profile, tally: &mut Tally) -> Option<String> {
    let start = Start::of(workload, profile);
    let count = std::cell::Cell::new(0);
    let counting = |live: &mut Live| {
        count.set(die(live, &start, profile, None)?);
        Ok(())
    };
    if !schedule(Dice::replay(Vec::new()), false, counting).broken.is_empty() {
        return Some(tell(&format!("{workload:?} on {profile:?}"), &[], counting));
    }
    let about = (0..count.get()).flat_map(|number| MOMENTS.map(|moment| (number, moment)));
    for kill in about.chain([(0, Moment::Output)]) {
        let one = |live: &mut Live| die(live, &start, profile, Some(kill)).map(drop);
        let outcome = schedule(Dice::replay(Vec::new()), false, one);
        tally.add(&(workload, profile, kill), &outcome.hits, outcome.requests);
        if !outcome.broken.is_empty() {
            tally.violations += 1;
            return Some(tell(&format!("{workload:?} on {profile:?}, killed at {kill:?}"), &[], one));
        }
    }
    None
}

#[test]
fn a_death_at_any_request_is_made_good_1() {
    exhaust("K1", &PROFILES[..5], all_of);
}

#[test]
fn a_death_at_any_request_is_made_good_2() {
    exhaust("K1", &PROFILES[5..], all_of);
}
