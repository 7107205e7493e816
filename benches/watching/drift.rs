//! Others change objects all the time, and requests fail.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{Size, World, wait_for};
use crate::support::verdict;

pub fn run(size: &Size) {
    let world = World::new(size.objects, true);
    let watch = world.watch(&[]);
    let before = world.writes().len();
    // On what watch sends; `PUT` with a precondition is its own, as others send none.
    world.faults(&json!({"seed": 7, "rules": [
        {"match": {"path": "/widgets/**", "probability": 0.0025}, "fault": {"drop": "before"}},
        {"match": {"path": "/widgets/**", "probability": 0.0025}, "fault": {"drop": "after"}},
        {"match": {"path": "/widgets/**", "probability": 0.0025}, "fault": {"status": {"status": 503, "at": "before"}}},
        {"match": {"path": "/widgets/**", "probability": 0.0025}, "fault": {"status": {"status": 500, "at": "after"}}},
    ]}));
    let mut random = fastrand::Rng::with_seed(7);
    let began = Instant::now();
    // One in a hundred each minute.
    let pause = Duration::from_secs(60) / (size.objects as u32 / 100).max(1);
    let (mut changed, mut deleted) = (0, 0);
    while began.elapsed() < size.time {
        let i = random.usize(..size.objects);
        if random.u8(..) < 64 {
            deleted += usize::from(attempt(&world, i, None));
        } else {
            changed += usize::from(attempt(&world, i, Some(random.usize(..100))));
        }
        std::thread::sleep(pause);
    }
    world.faults(&json!({"rules": []}));
    let quiet = wait_for("everything to be level again", Duration::from_secs(300), || {
        watch.out_of_sync(&world) == Some(0) && world.uneven() == 0
    });
    let ours = world.writes().split_off(before);
    // Others put whole objects (200), or delete (204); watch patches, and puts what is gone (201).
    let updates = ours.iter().filter(|(method, _)| method == "PATCH").count();
    let creates = ours.iter().filter(|(method, status)| method == "PUT" && *status == 201).count();
    println!(
        "drift for {:?}: {changed} changes and {deleted} deletions by others, 1 % of requests failed",
        size.time
    );
    println!("  in sync {quiet:.1?} after the last");
    let met = verdict(updates <= changed && creates <= deleted + changed);
    println!(
        "  writes: {updates} updates, {creates} creates (target: no more than changes and deletions, {met})"
    );
}

/// Somebody's write, which may fail; whether it was answered with success.
fn attempt(world: &World, i: usize, replicas: Option<usize>) -> bool {
    let url = format!("http://127.0.0.1:{}/widgets/{}", world.port(), crate::support::objects::name(i));
    let mut whole = crate::support::objects::body(i);
    let sent = match replicas {
        Some(replicas) => {
            whole["replicas"] = (100 + replicas).into();
            world.try_send(reqwest::Method::PUT, &url, Some(&whole))
        }
        None => world.try_send(reqwest::Method::DELETE, &url, None),
    };
    // A write that was done and not answered counts: it may have to be repaired.
    !matches!(sent, Some((404 | 503, _)))
}
