//! Campaigns of the engine's simulation whose size is asked for by the environment, which the core does not name.
//! They are run when somebody asks: `cargo test --lib asked -- --ignored --nocapture`.

use std::thread;

use super::number;
use crate::core::engine::tests::simulation::campaigns::{pairs, random, scope};
use crate::core::watch::tests::simulation::campaigns::random as watch;

/// Runs seeds from `TRUEUP_FROM` on, some in each thread.
fn in_threads(count: u64, run: fn(std::iter::StepBy<std::ops::Range<u64>>)) {
    let from = number("TRUEUP_FROM").unwrap_or(0);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for nth in 0..threads as u64 {
            scope.spawn(move || run((from + nth..from + count).step_by(threads)));
        }
    });
}

#[test]
#[ignore = "`TRUEUP_SEEDS` says how many; a hundred thousand take half an hour"]
fn random_schedules() {
    in_threads(number("TRUEUP_SEEDS").unwrap_or(100_000), random::run);
}

#[test]
#[ignore = "of the seed `TRUEUP_SEED`, or the choices `TRUEUP_CHOICES`"]
fn one_schedule() {
    if let Some(seed) = number("TRUEUP_SEED") {
        random::run(seed..=seed);
    }
    if let Ok(choices) = std::env::var("TRUEUP_CHOICES") {
        random::replay(&choices);
    }
}

#[test]
#[ignore = "`TRUEUP_PAIRS` says how many"]
fn pairs_of_faults() {
    in_threads(number("TRUEUP_PAIRS").unwrap_or(20_000), pairs::run);
}

#[test]
#[ignore = "`TRUEUP_FAULTS` says how many faults in all, `TRUEUP_SCOPE` how many schedules of a scope at most"]
fn a_small_scope_in_every_order() {
    let faults = number("TRUEUP_FAULTS").map_or(u32::MAX, |faults| faults as u32);
    let most = number("TRUEUP_SCOPE").unwrap_or(u64::MAX);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for nth in 0..threads {
            scope.spawn(move || scope::whole(faults, most, (nth, threads)));
        }
    });
}

#[test]
#[ignore = "`TRUEUP_LOOP_SEEDS` says how many; `TRUEUP_LOOP_CHOICES` is one that failed"]
fn schedules_of_the_loop() {
    match std::env::var("TRUEUP_LOOP_CHOICES") {
        Ok(choices) => watch::replay(&choices),
        Err(_) => in_threads(number("TRUEUP_LOOP_SEEDS").unwrap_or(50_000), watch::run),
    }
}
