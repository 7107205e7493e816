//! Nothing changes, and everything is looked at again and again.

use std::time::Duration;

use super::{Size, World, wait_for};
use crate::support::verdict;

/// So many resyncs.
const RESYNCS: usize = 24;
/// How far apart.
const INTERVAL: Duration = Duration::from_secs(10);

pub fn run(size: &Size) {
    let world = World::new(size.objects, true);
    let watch = world.watch(&["--resync", &format!("{}s", INTERVAL.as_secs())]);
    let limit = 150.0 + 0.004 * size.objects as f64;
    let pages = size.objects.div_ceil(crate::support::objects::PAGE) as u64;
    let (mut rests, mut most): (Vec<f64>, f64) = (Vec::new(), 0.0);
    for _ in 0..RESYNCS {
        let next = watch.requests(&world) + pages;
        let mut step = f64::MAX;
        wait_for("a resync", Duration::from_secs(120), || {
            let memory = watch.memory();
            (most, step) = (most.max(memory), step.min(memory));
            std::thread::sleep(Duration::from_millis(20));
            watch.requests(&world) >= next
        });
        rests.push(step);
    }
    let part = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let (early, late) = (part(&rests[..RESYNCS / 2]), part(&rests[RESYNCS / 2..]));
    println!("{RESYNCS} resyncs, {INTERVAL:?} apart:");
    println!("  memory between them: {early:.0} MB in the first half, {late:.0} MB in the second");
    println!("    (target: flat, {})", verdict(late <= early * 1.05));
    let peak = watch.memory_peak();
    println!(
        "  memory at most: {:.0} MB (target: {limit:.0} MB, {})",
        most.max(peak),
        verdict(most.max(peak) <= limit)
    );
}
