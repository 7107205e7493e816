//! Watch and the server are killed in turn, while others change things.

use std::time::Duration;

use super::{Size, World, wait_for};

/// So many of each.
const KILLS: usize = 20;

pub fn run(size: &Size) {
    let objects = size.objects.min(1_000);
    let mut world = World::new(objects, true);
    let mut watch = world.watch(&[]);
    let mut random = fastrand::Rng::with_seed(11);
    for turn in 0..2 * KILLS {
        for _ in 0..10 {
            let i = random.usize(..objects);
            if random.bool() { world.delete(i) } else { world.disturb(i, turn) }
        }
        std::thread::sleep(Duration::from_millis(random.u64(..200)));
        if turn % 2 == 0 {
            watch.kill();
            watch = world.begin_watch(&[]);
        } else {
            world.kill_server();
            std::thread::sleep(Duration::from_millis(random.u64(..500)));
            world.start_server();
        }
    }
    let time = wait_for("everything to be in sync", Duration::from_secs(300), || {
        watch.out_of_sync(&world) == Some(0) && world.uneven() == 0
    });
    println!(
        "{KILLS} kills of watch and as many of the server, in turn: {objects} objects in sync {time:.1?} after the last"
    );
}
