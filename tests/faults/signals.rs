//! SIGTERM in the middle of a run: what is under way ends, nothing new begins, and what nobody knows is said.

use std::thread;
use std::time::Duration;

use crate::crowd;
use crate::kills::{Reference, ends_well, is_held};
use crate::middle::{Middle, Moment, Stop};
use crate::world::{APPLY, Creates, Workload, World, of_others};

/// The report's words for what was done are true: it is there.
fn tells_the_truth(world: &World, report: &serde_json::Value) -> Result<(), String> {
    let state = world.state();
    for object in report["objects"].as_array().expect("a list") {
        let key = &object["identity"]["key"];
        let place = match object["identity"]["kind"].as_str().expect("a kind") {
            "Member" => format!("Member {}/{}", key["team"], key["user"]),
            kind => format!("{kind} {}", key["name"]),
        };
        let is_gone = place.contains("\"d1\"") || place.contains("\"d2\"");
        let wanted = state.get(&place).is_some_and(|item| item["description"] == "wanted");
        if object["result"] == "done" && is_gone == wanted {
            return Err(format!("`{place}` is not done"));
        }
    }
    Ok(())
}

fn stopped_at(at: usize, twice: bool, reference: &Reference) -> Result<(), String> {
    let world = World::new(Workload::Twenty, Creates::Plain);
    let before = of_others(&world.state());
    let middle = Middle::before(&world.served, Some(Stop { at, moment: Moment::After, writes: true }));
    world.through(&middle.url(), Creates::Plain);
    let mut run = world.scratch.trueup(APPLY).start();
    let Some(held) = is_held(&mut run, &middle) else { return Err("it was not held".into()) };
    let fails = |what: String| Err(format!("write {at}, twice {twice}: {what}"));
    run.signal("TERM");
    if twice {
        // Until it has been noticed as a second one.
        for _ in 0..200 {
            thread::sleep(Duration::from_millis(50));
            if run.child.try_wait().expect("it can be waited for").is_some() {
                break;
            }
            run.signal("TERM");
        }
    } else {
        thread::sleep(Duration::from_millis(400));
        held.send(()).expect("it is still held");
    }
    let done = run.done();
    if done.code() != 130 || done.err.contains("panic") {
        return fails(done.told());
    }
    let report = done.json();
    if twice && !done.out.contains("the run ended before it was settled") {
        return fails(format!("what is uncertain is not said: {}", done.told()));
    }
    if let Err(what) = tells_the_truth(&world, &report) {
        return fails(format!("{what}: {}", done.told()));
    }
    world.through(&world.served.url(), Creates::Plain);
    ends_well(&world, &before, reference, APPLY).or_else(fails)
}

fn stopped_everywhere(twice: bool) {
    let reference = Reference::of(Creates::Plain);
    // At the last ones all may be done before the signal is noticed.
    let all: Vec<usize> = (1..reference.written.len() - 4).collect();
    let came = crowd::each(&all, 4, |at| stopped_at(*at, twice, &reference));
    println!("{} writes, signalled twice: {twice}", all.len());
    let failed: Vec<String> = came.into_iter().filter_map(Result::err).collect();
    assert!(failed.is_empty() && all.len() >= 12, "{} of {}: {}", failed.len(), all.len(), failed.join("\n"));
}

#[test]
fn once_at_every_write() {
    stopped_everywhere(false);
}

#[test]
fn twice_at_every_write() {
    stopped_everywhere(true);
}
