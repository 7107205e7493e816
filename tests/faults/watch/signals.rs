//! SIGTERM at each write of the first pass, once and twice.

use super::kills::held;
use super::start;
use crate::crowd;
use crate::kills::{Reference, ends_well};
use crate::middle::{Middle, Moment, Stop};
use crate::world::{APPLY, Creates, Workload, World, of_others};

fn stopped_at(at: usize, twice: bool, reference: &Reference) -> Result<(), String> {
    let world = World::new(Workload::Twenty, Creates::Plain);
    let before = of_others(&world.state());
    let middle = Middle::before(&world.served, Some(Stop { at, moment: Moment::After, writes: true }));
    world.through(&middle.url(), Creates::Plain);
    let mut watching = start(&world, "--interval 1h --resync 1h");
    let Some(held) = held(&watching, &middle) else { return Err(format!("write {at} was not held")) };
    watching.running.signal("TERM");
    watching.until_said("stopping", 1);
    let by_then = world.written().len();
    assert!(
        watching.running.child.try_wait().expect("it can be waited for").is_none(),
        "a write is under way"
    );
    let log = if twice {
        watching.ends("TERM", 130)
    } else {
        held.send(()).expect("it is still held");
        watching.ended(0)
    };
    let written = world.written().len();
    world.through(&world.served.url(), Creates::Plain);
    // What is under way ends, a batch of each kind at most, and nothing else begins.
    let goes_on = written > by_then + 8;
    ends_well(&world, &before, reference, APPLY)
        .and_then(|()| {
            if goes_on { Err(format!("{written} writes, {by_then} when it was stopped")) } else { Ok(()) }
        })
        .map_err(|error| format!("write {at}, twice {twice}: {error}\n{log}"))
}

fn stopped_everywhere(twice: bool) {
    let reference = Reference::of(Creates::Plain);
    // At the last ones the pass may be over before.
    let all: Vec<usize> = (1..reference.written.len() - 4).collect();
    let came = crowd::each(&all, 4, |at| stopped_at(*at, twice, &reference));
    let failed: Vec<String> = came.into_iter().filter_map(Result::err).collect();
    assert!(failed.is_empty() && all.len() >= 12, "{} of {}: {}", failed.len(), all.len(), failed.join("\n"));
}

#[test]
fn a_watch_stopped_once_at_every_write() {
    stopped_everywhere(false);
}

#[test]
fn a_watch_stopped_twice_at_every_write() {
    stopped_everywhere(true);
}
