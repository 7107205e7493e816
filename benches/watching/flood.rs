//! The change feed tells of ten thousand events each second, for a minute; some of them are true.

use std::time::{Duration, Instant};

use super::busy::Busy;
use super::{Size, World, wait_for};
use crate::support::verdict;

/// Events each second.
const RATE: usize = 10_000;
/// Objects that are changed meanwhile, each second.
const CHANGES: usize = 5;

pub fn run(size: &Size) {
    let time = size.time / 10;
    for (what, among) in [("one object", 1), ("all objects", size.objects)] {
        let busy = Busy::start(size.objects, RATE);
        let world = World::of(size.objects, busy.port);
        let watch = world.watch(&[]);
        std::thread::sleep(Duration::from_secs(5));
        let (first, processor) = (watch.memory(), watch.processor());
        let told = |busy: &Busy| busy.shared.told.load(std::sync::atomic::Ordering::Relaxed);
        let mut most = first;
        let mut random = fastrand::Rng::with_seed(3);
        let mut disturbed: Vec<(usize, Instant, Option<Duration>)> = Vec::new();
        busy.shared.flood(among);
        let began = Instant::now();
        while began.elapsed() < time {
            let i = random.usize(..size.objects);
            if !disturbed.iter().any(|(other, ..)| *other == i) {
                busy.shared.disturb(i);
                disturbed.push((i, Instant::now(), None));
            }
            let next = Instant::now() + Duration::from_secs(1) / CHANGES as u32;
            while Instant::now() < next {
                look(&busy, &mut disturbed);
                most = most.max(watch.memory());
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        busy.shared.calm();
        let events = told(&busy) as f64 / began.elapsed().as_secs_f64();
        let share = (watch.processor() - processor).as_secs_f64() / began.elapsed().as_secs_f64() * 100.0;
        // By events alone: the next resync is minutes away.
        let quiet = wait_for("everything to be level again", Duration::from_secs(60), || {
            look(&busy, &mut disturbed);
            disturbed.iter().all(|(.., took)| took.is_some())
        });
        let mut times: Vec<Duration> = disturbed.iter().filter_map(|(.., took)| *took).collect();
        times.sort();
        let limit = 150.0 + 0.004 * size.objects as f64;
        println!("{events:.0} events a second for {time:?}, of {what}, {} of them true:", disturbed.len());
        println!(
            "  all repaired {quiet:.1?} after the last event, in {:.1?} (median)",
            times[times.len() / 2]
        );
        println!("  the longest {:.1?}; processor: {share:.0} % of one core", times[times.len() - 1]);
        most = most.max(watch.memory());
        println!(
            "  memory: {first:.0} MB before, {most:.0} MB at most, {:.0} MB at the end (target: {limit:.0} MB, {})",
            watch.memory(),
            verdict(most <= limit)
        );
    }
}

/// Notes which of the changed objects are as they were.
fn look(busy: &Busy, disturbed: &mut [(usize, Instant, Option<Duration>)]) {
    for (i, since, took) in disturbed.iter_mut().filter(|(.., took)| took.is_none()) {
        *took = busy.shared.is_level(*i).then(|| since.elapsed());
    }
}
