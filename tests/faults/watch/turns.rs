//! SIGKILL of the watch and of the server in turn, while others change things: all ends in sync, nothing is there twice,
//! nothing is lost, and nothing is written but what the changes need. `TRUEUP_TURNS` says how many of each.

use std::time::Duration;

use super::{start, until_is};
use crate::middle::Middle;
use crate::servers::Served;
use crate::watch_stage::{Watching, id, until};
use crate::world::{Creates, MANY, Workload, World, has_twins};

const FLAGS: &str = "--interval 1s --resync 5s";

/// What others do in the meantime, each to objects of its own turn: how many writes make it good again.
fn disturb(world: &World, turn: usize) -> usize {
    let at = |n: usize| (3 * turn + n) % MANY;
    let served = &world.served;
    let team = |n: usize| format!("/teams/{}", id(served, "/teams", &format!("t{n}")));
    let space = |n: usize| format!("/spaces/s{n}");
    served.change(&space(at(0)), r#"{"description": "theirs"}"#);
    served.change(&team(at(1)), r#"{"description": "theirs"}"#);
    served.call("DELETE", &if turn.is_multiple_of(2) { space(at(2)) } else { team(at(2)) }, "");
    // Nobody declares this one: it stays.
    served.change(&space(at(1)), &format!(r#"{{"extra": {turn}}}"#));
    3
}

/// Kills the server, and starts it on the same port over the same store.
fn revive(world: &mut World) {
    let address = world.served.url().replace("http://", "");
    world.served.process.child.kill().expect("it can be killed");
    world.served.process.child.wait().expect("it can be waited for");
    let line = format!("serve --listen {address} --store store --faults faults.yaml --no-sync");
    world.served = Served::of(world.scratch.trueup(&line).start());
}

/// Waits for a few more requests: the next kill is in the middle of something, each time of something else.
fn until_busy(middle: &Middle, turn: usize) {
    let before = middle.lines().len();
    let more = [1, 4, 2, 7, 3, 9, 5, 12][turn % 8];
    until(&|| format!("{more} more requests"), || middle.lines().len() >= before + more);
}

#[test]
fn the_watch_and_the_server_are_killed_in_turn() {
    let turns: usize = std::env::var("TRUEUP_TURNS").map_or(4, |turns| turns.parse().expect("a number"));
    let mut world = World::new(Workload::Many, Creates::Plain);
    let middle = Middle::before(&world.served, None);
    world.through(&middle.url(), Creates::Plain);
    let mut watching = start(&world, FLAGS);
    watching.until_said("all objects were looked at", 1);
    let mut wanted = world.state();
    assert_eq!(wanted.len(), 2 + 2 * MANY, "{wanted:#?}");
    let mut needed = middle.accepted().len();
    assert_eq!(needed, 2 * MANY);
    for turn in 0..2 * turns {
        needed += disturb(&world, turn);
        let extra = &format!("Space \"s{}\"", (3 * turn + 1) % MANY);
        wanted.get_mut(extra).expect("it is there")["extra"] = turn.into();
        if turn.is_multiple_of(2) {
            let gone = &format!("Space \"s{}\"", (3 * turn + 2) % MANY);
            wanted.get_mut(gone).expect("it is there").as_object_mut().expect("an object").remove("extra");
        }
        until_busy(&middle, turn);
        if turn.is_multiple_of(2) {
            watching.ends("KILL", -1);
            watching = start(&world, FLAGS);
        } else {
            revive(&mut world);
        }
        until_is(&world, &watching, &wanted);
    }
    until_quiet(&middle, &watching);
    watching.ends("TERM", 0);
    let state = world.state();
    assert!(state == wanted && !has_twins(&state), "{state:#?}");
    let accepted = middle.accepted();
    // A write whose answer died with the server was accepted, and is not among these.
    assert!(
        accepted.len() <= needed && accepted.len() + 8 * turns >= needed,
        "{} for {needed}: {accepted:#?}",
        accepted.len()
    );
    let before = accepted.len();
    world.apply().expect(0);
    assert_eq!(middle.accepted().len(), before, "nothing was left to do");
    println!(
        "{turns} kills of each: {before} writes for {needed} changes, {} requests",
        middle.lines().len()
    );
}

/// Waits until it has looked a few times at everything, and written nothing.
fn until_quiet(middle: &Middle, watching: &Watching) {
    let written = middle.accepted().len();
    let looks = || middle.lines().iter().filter(|line| line.starts_with("GET /teams?")).count();
    let before = looks();
    until(&|| format!("three more looks\n{}", watching.text()), || looks() >= before + 3);
    assert_eq!(middle.accepted().len(), written, "it writes where nothing differs:\n{}", watching.text());
    std::thread::sleep(Duration::from_millis(10));
}
