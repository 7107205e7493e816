//! Random schedules: from one seed a scene, a server, faults, other actors and an order of events; and the
//! invariants that hold in every one of them.
//!
//! `TRUEUP_SEEDS=N` runs N schedules, `TRUEUP_SEED=N` the one with this seed. A seed that failed becomes a test
//! of its own, named after what it found.

mod audit;
mod dice;
mod operations;
mod pruning;
mod run;
mod scene;
mod world;

use std::rc::Rc;
use std::time::Duration;

use crate::core::document::{Drift, Ensure};
use crate::core::engine::Mode;
use crate::core::report::{Action, Entry, Outcome};
use dice::Dice;
use run::{Ended, Run, Trouble};
use scene::Scene;
use world::World;

/// The schedules of an ordinary run of the tests.
const SEEDS: u64 = 2_000;

/// One schedule; what broke in it, and its log if that is wanted.
fn schedule(seed: u64, loud: bool) -> Result<(), (Vec<String>, Vec<String>)> {
    let mut dice = Dice::new(seed);
    let scene = Rc::new(Scene::draw(&mut dice));
    let mut world = World::draw(scene, &mut dice);
    let mut log = Vec::new();
    let told = live(&mut Run { world: &mut world, dice: &mut dice, log: &mut log, loud });
    told.map_err(|broken| (broken, log))
}

/// A plan, a troubled run, and what must come after the troubles.
fn live(run: &mut Run) -> Result<(), Vec<String>> {
    let trouble = Trouble {
        faults: run.dice.one(&[0.0, 0.05, 0.2, 0.5]),
        meddling: run.dice.one(&[0.0, 0.0, 0.05, 0.3]),
        stop_at: if run.dice.chance(0.2) { Some(run.dice.below(60) as u32) } else { None },
        agreed: None,
    };
    let plan = run.go(Mode::Plan, &Trouble { stop_at: None, ..trouble.clone() })?.report;
    let agreed = run.dice.chance(0.4).then_some(&plan);
    run.go(Mode::Apply, &Trouble { agreed, ..trouble })?;

    run.world.pass(Duration::from_secs(60));
    let plan = run.go(Mode::Plan, &Trouble::default())?;
    let done = run.go(Mode::Apply, &Trouble::default())?;
    let mut broken = as_planned(run.world, &plan, &done);
    broken.extend(converged(run.world, &done));
    let again = run.go(Mode::Apply, &Trouble::default())?;
    broken.extend(nothing_left(run.world, &done, &again));
    if broken.is_empty() { Ok(()) } else { Err(broken) }
}

/// A plan lists exactly the writes of an undisturbed run.
fn as_planned(world: &World, plan: &Ended, done: &Ended) -> Vec<String> {
    let planned = |entry: &Entry| match (&entry.result, entry.action) {
        (Outcome::Planned, Action::Replace) => vec![Action::Delete, Action::Create],
        (Outcome::Planned, action) => vec![action],
        _ => Vec::new(),
    };
    let mut broken = Vec::new();
    if done.conflicts > 1 {
        broken.push(format!(
            "{} writes were refused for our own: that is learnt from the first",
            done.conflicts
        ));
    }
    let selected = (0..world.scene.documents.len()).filter(|at| world.scene.selected[*at]);
    for (entry, at) in plan.report.objects.iter().zip(selected) {
        let (planned, mut written) = (planned(entry), &done.writes[at][..]);
        if entry.action == Action::Create && !world.scene.graph.nodes[at].later.is_empty() {
            // What a cycle puts off is set by a second write.
            written = written.strip_suffix(&[Action::Update]).unwrap_or(written);
        }
        // The server may refuse what a plan cannot know: a parent whose other children stay, say.
        if planned != written && !was_refused(done, entry) {
            broken.push(format!("{}: planned {planned:?}, done {written:?}", entry.id));
        }
    }
    broken
}

/// Whether the server refused the object's write, or one of a run in which the object was then left alone.
fn was_refused(ended: &Ended, entry: &Entry) -> bool {
    let told = &ended.report.objects;
    let failed = |entry: &Entry| matches!(entry.result, Outcome::Failed(_));
    let entry = told.iter().find(|told| told.id == entry.id).expect("it is told of");
    failed(entry) || (matches!(entry.result, Outcome::Skipped(_)) && told.iter().any(failed))
}

/// What cannot be made right without a person, and what is tied to it.
fn stubborn(world: &World) -> Vec<bool> {
    let scene = &world.scene;
    let count = scene.documents.len();
    let mut stubborn: Vec<bool> = (0..count)
        .map(|at| {
            let policy = &scene.documents[at].policy;
            let several = world.slot(at).is_some_and(|slot| slot.len() > 1);
            let fixed = scene.kind(at).update.is_none();
            !scene.selected[at]
                || policy.paused
                || policy.protected
                || policy.drift == Drift::Report
                || policy.ensure == Ensure::Exists
                || several
                || fixed
        })
        .collect();
    for _ in 0..count {
        for at in 0..count {
            let node = &scene.graph.nodes[at];
            for need in node.needs().into_iter().chain(node.later.iter().copied()) {
                let either = stubborn[at] || stubborn[need];
                (stubborn[at], stubborn[need]) = (either, either);
            }
        }
    }
    stubborn
}

/// Once the troubles are over, one run is enough.
fn converged(world: &World, done: &Ended) -> Vec<String> {
    let stubborn = stubborn(world);
    let mut broken = Vec::new();
    for at in (0..stubborn.len()).filter(|at| !stubborn[*at]) {
        let document = &world.scene.documents[at];
        let entry = done.report.objects.iter().find(|entry| entry.id == document.id).expect("it is told of");
        let settled = matches!(entry.result, Outcome::InSync | Outcome::Done);
        if !settled || !world.is_right(at) {
            broken.push(format!("{} did not converge: {:?}", entry.id, entry.result));
        }
    }
    broken
}

/// And the next one writes nothing.
fn nothing_left(world: &World, done: &Ended, again: &Ended) -> Vec<String> {
    let refused = |at: usize| {
        let id = &world.scene.documents[at].id;
        done.report.objects.iter().any(|entry| entry.id == *id && was_refused(done, entry))
    };
    let at = (0..again.writes.len()).filter(|at| !again.writes[*at].is_empty() && !refused(*at));
    at.map(|at| format!("{} is written again: {:?}", world.scene.documents[at].id, again.writes[at]))
        .collect()
}

fn run_seed(seed: u64) {
    let told = std::panic::catch_unwind(|| schedule(seed, false));
    if matches!(told, Ok(Ok(()))) {
        return;
    }
    let Err((broken, log)) = schedule(seed, true) else { panic!("seed {seed} fails, and not again") };
    panic!("seed {seed}:\n{}\n\nbroken:\n{}", log.join("\n"), broken.join("\n"));
}

/// A number given when the tests are built: the core names no environment.
fn number(given: Option<&str>) -> Option<u64> {
    given.map(|text| text.parse().expect("a number"))
}

#[test]
fn every_schedule_keeps_the_invariants() {
    if let Some(seed) = number(option_env!("TRUEUP_SEED")) {
        return run_seed(seed);
    }
    (0..number(option_env!("TRUEUP_SEEDS")).unwrap_or(SEEDS)).for_each(run_seed);
}
