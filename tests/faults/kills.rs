//! The process dies at each request of an apply of twenty objects, before and after the server does it: the next
//! run brings everything about, nothing twice, nothing lost.

use std::thread;
use std::time::{Duration, Instant};

use crate::crowd;
use crate::middle::{Middle, Moment, Stop};
use crate::support::Running;
use crate::world::{APPLY, Creates, State, Workload, World, has_twins, keeps, of_others};

/// A run that nobody disturbs.
pub struct Reference {
    pub requests: usize,
    pub written: Vec<String>,
    pub state: State,
}

impl Reference {
    pub fn of(creates: Creates) -> Reference {
        let world = World::new(Workload::Twenty, creates);
        let middle = Middle::before(&world.served, None);
        world.through(&middle.url(), creates);
        world.apply().expect(0);
        Reference { requests: middle.lines().len(), written: world.written(), state: world.state() }
    }
}

/// Waits until a run is held at its request; false, if it ends before.
pub fn is_held(run: &mut Running, middle: &Middle) -> Option<std::sync::mpsc::Sender<()>> {
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        if let Some(held) = middle.held() {
            return Some(held);
        }
        if run.child.try_wait().expect("it can be waited for").is_some() {
            return None;
        }
        thread::sleep(Duration::from_millis(2));
    }
    panic!("it hangs: {:?}", middle.lines());
}

/// What holds after a run was broken off, and the command was given again.
pub fn ends_well(world: &World, before: &State, reference: &Reference, line: &str) -> Result<(), String> {
    let again = world.scratch.trueup(line).done();
    let (state, written) = (world.state(), world.written());
    let posts = |lines: &[String]| lines.iter().filter(|line| line.starts_with("POST ")).count();
    let deleted: Vec<&String> = written.iter().filter(|line| line.starts_with("DELETE ")).collect();
    let twice = deleted.iter().any(|line| deleted.iter().filter(|other| other == &line).count() > 1);
    let wrong = match () {
        () if again.code() != 0 => "the next run does not succeed",
        () if has_twins(&state) => "something is there twice",
        () if state != reference.state => "it is not as without the kill",
        () if !keeps(before, &state) => "what is of others was changed",
        () if posts(&written) != posts(&reference.written) => "a create was sent and accepted twice",
        () if twice => "something was deleted twice",
        () if written.len() > reference.written.len() + 1 => "there are more writes than one more",
        () => {
            let silent = world.apply();
            match world.written().len() == written.len() && silent.code() == 0 {
                true => return Ok(()),
                false => "the run after that is not silent",
            }
        }
    };
    Err(format!("{wrong}: {written:?}\n{state:#?}\n{}", again.told()))
}

fn killed_at(stop: Stop, creates: Creates, reference: &Reference) -> Result<bool, String> {
    let world = World::new(Workload::Twenty, creates);
    let before = of_others(&world.state());
    let middle = Middle::before(&world.served, Some(stop));
    world.through(&middle.url(), creates);
    let mut run = world.scratch.trueup(APPLY).start();
    let held = is_held(&mut run, &middle);
    run.child.kill().expect("it can be killed");
    run.child.wait().expect("it can be waited for");
    let was_killed = held.is_some();
    drop(held);
    world.through(&world.served.url(), creates);
    ends_well(&world, &before, reference, APPLY)
        .map(|()| was_killed)
        .map_err(|error| format!("{stop:?}, {creates:?}: {error}\n{:?}", middle.lines()))
}

fn killed_everywhere(creates: Creates) {
    let reference = Reference::of(creates);
    let stops: Vec<Stop> = (1..=reference.requests)
        .flat_map(|at| [Moment::Before, Moment::After].map(|moment| Stop { at, moment, writes: false }))
        .collect();
    let came = crowd::each(&stops, 3, |stop| killed_at(*stop, creates, &reference));
    let failed: Vec<&String> = came.iter().filter_map(|one| one.as_ref().err()).collect();
    assert!(failed.is_empty(), "{} of {}: {failed:#?}", failed.len(), stops.len());
    let killed = came.iter().filter(|one| matches!(one, Ok(true))).count();
    println!(
        "{creates:?}: {} requests, {} writes, {killed} kills",
        reference.requests,
        reference.written.len()
    );
    // A run may need a look less, so that the last requests do not come.
    assert!(killed + 8 >= stops.len() && reference.requests > 40, "{killed} of {}", stops.len());
}

#[test]
fn at_every_request_without_keys() {
    killed_everywhere(Creates::Plain);
}

#[test]
fn at_every_request_with_idempotency_keys() {
    killed_everywhere(Creates::Keyed);
}
