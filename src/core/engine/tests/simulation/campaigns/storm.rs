//! K10: one to sixteen others write to the object that we write to, slower and faster than we can.

use std::rc::Rc;
use std::time::Duration;

use super::super::actors::{Actor, Habit, ROUND_TRIP};
use super::super::dice::Dice;
use super::super::makes::{PROFILES, Profile};
use super::super::tally::Tally;
use super::super::trouble::Trouble;
use super::super::workload::Workload;
use super::super::world::World;
use super::super::{Live, schedule, tell};
use crate::core::engine::Mode;
use crate::core::report::Outcome;

const WRITERS: [u32; 5] = [1, 2, 4, 8, 16];
/// The time between two writes of one writer, in round trips.
const PERIODS: [f64; 7] = [0.1, 0.5, 1.0, 2.0, 4.0, 10.0, 50.0];
const EACH: u64 = 8;

/// Whether our write of the one object landed.
fn weather(live: &mut Live, profile: Profile, writers: u32, period: f64) -> Result<bool, Vec<String>> {
    let scene = Rc::new(Workload::Storm.scene(profile));
    let mut world = World::draw(scene, live.dice);
    let actor = |dice: &mut Dice| Actor {
        habit: Habit::Note,
        after: Some(0),
        every: ROUND_TRIP.mul_f64(period),
        next: ROUND_TRIP.mul_f64(period * dice.fraction()),
    };
    let actors = (0..writers).map(|_| actor(live.dice)).collect();
    let ended = live.run(&mut world, Mode::Apply, &Trouble { actors, ..Trouble::default() })?;
    world.pass(Duration::from_secs(60));
    let broken = live.quiet(&mut world)?;
    let result = &ended.report.objects[0].result;
    if *result != Outcome::Done && period / f64::from(writers) >= SLOW as f64 / 10.0 {
        println!("K10: {profile:?}, {writers} writers every {period} round trips: {result:?}");
    }
    if broken.is_empty() { Ok(*result == Outcome::Done) } else { Err(broken) }
}

#[test]
fn a_storm_of_conflicts_loses_nothing_of_anybody() {
    let mut tally = Tally::default();
    // By the time between two writes of anybody else, in tenths of a round trip.
    let mut landed: std::collections::BTreeMap<u64, (u64, u64)> = Default::default();
    for profile in PROFILES.into_iter().filter(|profile| *profile != Profile::P7) {
        for (writers, period) in WRITERS.into_iter().flat_map(|n| PERIODS.map(|period| (n, period))) {
            for seed in 0..EACH {
                let success = std::cell::Cell::new(false);
                let one = |live: &mut Live| {
                    success.set(weather(live, profile, writers, period)?);
                    Ok(())
                };
                let outcome = schedule(Dice::new(seed), false, one);
                tally.add(&(profile, writers, &outcome.choices), &outcome.hits, outcome.requests);
                let what = || tell(&format!("{profile:?}, {writers}, {period}"), &outcome.choices, one);
                assert!(outcome.broken.is_empty(), "{}", what());
                let count = landed.entry((period * 10.0 / f64::from(writers)) as u64).or_default();
                *count = (count.0 + u64::from(success.get()), count.1 + 1);
            }
        }
    }
    println!("K10: {tally}");
    for (tenths, (landed, all)) in &landed {
        println!("  every {:.1} round trips: {landed} of {all} landed", *tenths as f64 / 10.0);
    }
    let slow = landed.iter().filter(|(tenths, _)| **tenths >= SLOW).map(|(_, count)| count);
    let (landed, all) = slow.fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    assert!(landed * 1000 >= all * 999, "{landed} of {all} landed against slow writers");
}

/// From so many tenths of a round trip on, a write of ours has to land: a look and the write after it take about
/// one.
const SLOW: u64 = 40;
