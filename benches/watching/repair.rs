//! Somebody deletes an object.

use std::time::{Duration, Instant};

use reqwest::Method;

use super::{Size, World, wait_for};
use crate::support::objects;
use crate::support::{middle, verdict};

pub fn run(size: &Size) {
    {
        let world = World::new(size.objects, true);
        let _watch = world.watch(&[]);
        let server = middle((0..20).map(|i| one_request(&world, i)).collect());
        let mut times: Vec<Duration> = (0..20).map(|i| repaired(&world, i * size.objects / 20)).collect();
        times.sort();
        let middle = times[times.len() / 2];
        let met = verdict(middle < Duration::from_millis(100) + server);
        println!(
            "a foreign deletion that the change feed announces is repaired in {middle:.1?} (median of 20,"
        );
        println!(
            "  the longest {:.1?}; one request of another client: {server:.1?}; target: 100 ms more, {met})",
            times[19]
        );
    }
    let resync = Duration::from_secs(20);
    let world = World::new(size.objects, false);
    let _watch = world.watch(&["--interval", "1h", "--resync", "20s"]);
    let time = repaired(&world, 0);
    let met = verdict(time <= resync.mul_f64(1.1));
    println!(
        "without feed and polling, and a resync of {resync:?}: in {time:.1?} (target: one resync, {met})"
    );
}

fn one_request(world: &World, i: usize) -> Duration {
    let began = Instant::now();
    world.send(Method::GET, &format!("/widgets/{}", objects::name(i)), None);
    began.elapsed()
}

fn repaired(world: &World, i: usize) -> Duration {
    // A second between passes of one object is the floor; another object each time has none before it.
    world.delete(i);
    wait_for("the object to be there again", Duration::from_secs(120), || world.is_level(i))
}
