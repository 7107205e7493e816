//! SIGKILL at each request of the first pass over twenty objects, before and after the server does it: the next watch
//! ends as one that nobody disturbed (I20).

use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use super::{start, started, until_is};
use crate::crowd;
use crate::kills::{Reference, ends_well};
use crate::middle::{Middle, Moment, Stop};
use crate::watch_stage::Watching;
use crate::world::{APPLY, Creates, Workload, World, of_others};

/// One pass, and then nothing for as long as a test takes.
const ONE_PASS: &str = "--interval 1h --resync 1h";

/// The requests of a first pass that nobody disturbs.
fn requests() -> usize {
    let world = World::new(Workload::Twenty, Creates::Plain);
    let middle = Middle::before(&world.served, None);
    world.through(&middle.url(), Creates::Plain);
    let watching = started(&world, ONE_PASS);
    let requests = middle.lines().len();
    watching.ends("TERM", 0);
    requests
}

/// Waits until it is held at its request; `None` if its first pass ends before.
pub fn held(watching: &Watching, middle: &Middle) -> Option<Sender<()>> {
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        let ended = !watching.said("all objects were looked at").is_empty();
        match middle.held() {
            None if ended => return None,
            None => thread::sleep(Duration::from_millis(5)),
            held => return held,
        }
    }
    panic!("it hangs: {:?}\n{}", middle.lines(), watching.text());
}

fn killed_at(stop: Stop, reference: &Reference) -> Result<bool, String> {
    let world = World::new(Workload::Twenty, Creates::Plain);
    let before = of_others(&world.state());
    let middle = Middle::before(&world.served, Some(stop));
    world.through(&middle.url(), Creates::Plain);
    let watching = start(&world, ONE_PASS);
    let held = held(&watching, &middle);
    watching.ends("KILL", -1);
    let was_killed = held.is_some();
    drop(held);
    world.through(&world.served.url(), Creates::Plain);
    let again = start(&world, ONE_PASS);
    until_is(&world, &again, &reference.state);
    again.until_said("all objects were looked at", 1);
    let log = again.ends("TERM", 0);
    let written = world.written();
    // An apply finds nothing left to do, and all holds that holds when an apply is killed.
    ends_well(&world, &before, reference, APPLY)
        .and_then(|()| match world.written().len() == written.len() {
            true => Ok(was_killed),
            false => Err(format!("the watch left something: {:?}\n{log}", world.written())),
        })
        .map_err(|error| format!("{stop:?}: {error}\n{:?}", middle.lines()))
}

#[test]
fn at_every_request_of_the_first_pass() {
    let (reference, requests) = (Reference::of(Creates::Plain), requests());
    let stops: Vec<Stop> = (1..=requests)
        .flat_map(|at| [Moment::Before, Moment::After].map(|moment| Stop { at, moment, writes: false }))
        .collect();
    let came = crowd::each(&stops, 3, |stop| killed_at(*stop, &reference));
    let failed: Vec<&String> = came.iter().filter_map(|one| one.as_ref().err()).collect();
    assert!(failed.is_empty(), "{} of {}: {}", failed.len(), stops.len(), failed[0]);
    let killed = came.iter().filter(|one| matches!(one, Ok(true))).count();
    println!("{requests} requests, {killed} kills");
    // Which looks are spared depends on the order of the answers: the last requests may not come.
    assert!(killed + 10 >= stops.len() && requests > 30, "{killed} of {}", stops.len());
}
