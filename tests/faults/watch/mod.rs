//! `watch` as a whole process: killed, signalled, beside another, with a server that goes and comes, and with nowhere to
//! say what it does.

mod away;
mod kills;
mod output;
mod pairs;
mod signals;
mod turns;

use crate::support::Run;
use crate::watch_stage::{Watching, until};
use crate::world::{State, World};

/// A watch over the world; it looks by itself every second.
fn watch(world: &World, flags: &str) -> Run {
    world.scratch.trueup(&format!("watch -f a.yaml -f backend.yaml --log ndjson {flags}"))
}

fn start(world: &World, flags: &str) -> Watching {
    Watching::of(watch(world, flags).start())
}

/// The same, and every object was looked at.
fn started(world: &World, flags: &str) -> Watching {
    let watching = start(world, flags);
    watching.until_said("all objects were looked at", 1);
    watching
}

/// Waits until what is there is as it should be.
fn until_is(world: &World, watching: &Watching, wanted: &State) {
    until(&|| format!("{wanted:#?} of {:#?}\n{}", world.state(), watching.text()), || {
        world.state() == *wanted
    });
}
