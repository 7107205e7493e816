//! The server is away, and comes back.

use std::io::Read;
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::{Size, World, wait_for};
use crate::support::verdict;

pub fn run(size: &Size) {
    let away = size.time / 2;
    let mut world = World::new(size.objects, true);
    let watch = world.watch(&[]);
    world.kill_server();
    let requests = accept_and_drop(world.port(), away);
    world.start_server();
    // While it was away somebody has changed what it has, as far as anyone can tell.
    let changed = (size.objects / 100).max(1);
    (0..changed).for_each(|i| world.disturb(i * 100 % size.objects, i));
    let time = wait_for("everything to be in sync", Duration::from_secs(600), || {
        watch.out_of_sync(&world) == Some(0) && world.uneven() == 0
    });
    println!("the server away for {away:?}: {requests} requests meanwhile");
    let met = verdict(time < Duration::from_secs(120));
    println!(
        "  back, with {changed} objects changed: all in sync after {time:.1?} (target: two minutes, {met})"
    );
}

/// Takes connections for a time, counts them, and ends each without an answer.
fn accept_and_drop(port: u16, time: Duration) -> u64 {
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("the port is free again");
    let (over, count) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for stream in listener.incoming() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                count.fetch_add(1, Ordering::Relaxed);
                let _ = stream.map(|mut stream| stream.read(&mut [0; 4096]));
            }
        });
        std::thread::sleep(time);
        over.store(true, Ordering::Relaxed);
        // The last connection, so that the loop looks once more.
        let _ = std::net::TcpStream::connect(("127.0.0.1", port));
    });
    count.load(Ordering::Relaxed)
}
