//! Nothing changes.

use std::time::Duration;

use super::{Size, World};
use crate::support::verdict;

pub fn run(size: &Size) {
    for (name, feed) in [("with the change feed", true), ("by polling alone", false)] {
        let world = World::new(size.objects, feed);
        let watch = world.watch(&[]);
        // The first pass is over; what it left to be given back is given back.
        std::thread::sleep(Duration::from_secs(5));
        let (writes, requests, processor) = (world.writes().len(), watch.requests(&world), watch.processor());
        let first = watch.memory();
        let mut most: f64 = first;
        let steps = 20;
        for _ in 0..steps {
            std::thread::sleep(size.time / steps);
            most = most.max(watch.memory());
        }
        let share = (watch.processor() - processor).as_secs_f64() / size.time.as_secs_f64() * 100.0;
        let sent = watch.requests(&world) - requests;
        let written = world.writes().len() - writes;
        println!("steady for {:?}, {name}:", size.time);
        println!("  writes: {written} (target: 0, {})", verdict(written == 0));
        println!("  processor: {share:.2} % of one core (target: under 1 %, {})", verdict(share < 1.0));
        println!(
            "  memory: {first:.0} MB at the start, {most:.0} MB at most, {:.0} MB at the end",
            watch.memory()
        );
        println!("  requests: {sent}, {:.0} an hour", sent as f64 * 3600.0 / size.time.as_secs_f64());
    }
}
