//! A saved plan whose run dies at each of its requests: given again, it does the rest.

use crate::crowd;
use crate::kills::{Reference, ends_well, is_held};
use crate::middle::{Middle, Moment, Stop};
use crate::world::{APPLY, Creates, Workload, World, of_others};

const PLAN: &str = "plan --out saved.plan -f a.yaml -f backend.yaml";
const APPLY_PLAN: &str = "apply saved.plan --yes --output json";

/// What a kill at this write of the plan's run leaves is finished by the same plan, and by a plain run after it.
fn killed_at(stop: Stop, reference: &Reference) -> Result<(), String> {
    let world = World::new(Workload::Twenty, Creates::Plain);
    let before = of_others(&world.state());
    let middle = Middle::before(&world.served, Some(stop));
    world.through(&middle.url(), Creates::Plain);
    world.scratch.trueup(PLAN).done().expect(0);
    let mut run = world.scratch.trueup(APPLY_PLAN).start();
    let held = is_held(&mut run, &middle);
    run.child.kill().expect("it can be killed");
    run.child.wait().expect("it can be waited for");
    if held.is_none() {
        return Err(format!("{stop:?}: it ended before"));
    }
    let again = world.scratch.trueup(APPLY_PLAN).done();
    // A plan of which nothing is left was applied before: it is refused.
    let all_done = world.written().len() == reference.written.len() && again.code() == 5;
    if !(again.code() == 0 || all_done) || world.state() != reference.state {
        return Err(format!("{stop:?}: the plan does not go on: {:?}\n{}", world.written(), again.told()));
    }
    ends_well(&world, &before, reference, APPLY).map_err(|error| format!("{stop:?}: {error}"))
}

#[test]
fn a_saved_plan_killed_at_every_write() {
    let reference = Reference::of(Creates::Plain);
    let stops: Vec<Stop> = (1..=reference.written.len())
        .flat_map(|at| [Moment::Before, Moment::After].map(|moment| Stop { at, moment, writes: true }))
        .collect();
    let came = crowd::each(&stops, 3, |stop| killed_at(*stop, &reference));
    println!("{} kills of a saved plan", came.len());
    let failed: Vec<String> = came.into_iter().filter_map(Result::err).collect();
    assert!(failed.is_empty(), "{} of {}: {}", failed.len(), stops.len(), failed.join("\n"));
}
