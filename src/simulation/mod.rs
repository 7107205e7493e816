//! Random schedules at the level of HTTP: the real engine, driver, client and backend language against a model
//! server of HTTP messages, in one process and in virtual time.
//!
//! The simulation of the core answers what the engine asks; here its questions become requests, so that paging,
//! entity tags, redirects, bodies, statuses and credentials are inside. From one list of choices come an API, its
//! objects, documents, faults, other actors, an order of events, and the request at which the process ends.
//!
//! `TRUEUP_WIRE_SEEDS=N` runs N schedules, `TRUEUP_WIRE_SEED=N` the one with this seed. The first that fails is told
//! whole, its choices made few.

mod api;
mod asked;
mod chains;
mod dice;
mod fate;
mod line;
mod mutants;
mod pages;
mod run;
mod scene;
mod world;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use crate::core::engine::Mode;
use crate::core::report::{Action, Entry, Outcome};
use api::Api;
use dice::{Dice, shrink};
use fate::Fate;
use line::Trouble;
use run::{Ended, Simulation, sim};
use scene::Scene;
use world::{Manner, World, Written};

/// The schedules of an ordinary run of the tests.
const SEEDS: u64 = 2_000;

/// What a schedule showed.
struct Shown {
    broken: Vec<String>,
    choices: Vec<u32>,
    log: Vec<String>,
    met: BTreeSet<(String, Fate)>,
}

/// One schedule.
fn schedule(mut dice: Dice, loud: bool) -> Shown {
    let api = Api::draw(&mut dice);
    let mut some = || dice.percent(25);
    let manner = Manner {
        empty_pages: some(),
        repeats_items: some(),
        respells: some(),
        redirects: some(),
        echoes: some(),
    };
    let scene = Scene::draw(&mut dice, api);
    let mut world = World::new(api, manner);
    scene.furnish(&mut world, &mut dice);
    let simulation = Simulation::new(sim(world, dice, scene, loud));
    simulation.line.sim().say(|| format!("{api:?} {manner:?}"));
    let broken = live(&simulation).err().unwrap_or_default();
    let mut sim = simulation.line.sim();
    Shown {
        broken,
        choices: std::mem::take(&mut sim.dice.taken),
        log: sim.log.take().unwrap_or_default(),
        met: std::mem::take(&mut sim.met),
    }
}

/// A plan, a troubled run, and what must come after the troubles.
fn live(simulation: &Simulation) -> Result<(), Vec<String>> {
    let (trouble, crash, agrees) = {
        let dice = &mut simulation.line.sim().dice;
        let trouble =
            Trouble { faults: dice.one(&[0, 5, 20, 50]), meddling: dice.one(&[0, 0, 5, 30]), crash: None };
        let crash = dice.percent(30).then(|| (dice.below(12) as u32, dice.percent(50)));
        (trouble, crash, dice.percent(30))
    };
    let plan = simulation.go(Mode::Plan, trouble, None)?.report;
    simulation.go(Mode::Apply, Trouble { crash, ..trouble }, agrees.then_some(&plan))?;
    simulation.pass(Duration::from_secs(70));
    calm(simulation)
}

/// Once the troubles are over: one run is enough, does what the plan says, and the next one writes nothing.
fn calm(simulation: &Simulation) -> Result<(), Vec<String>> {
    let plan = simulation.go(Mode::Plan, Trouble::default(), None)?;
    let stubborn = stubborn(simulation);
    let done = simulation.go(Mode::Apply, Trouble::default(), None)?;
    let mut broken = converged(simulation, &done, &stubborn);
    broken.extend(as_planned(simulation, &plan, &done));
    let again = simulation.go(Mode::Apply, Trouble::default(), None)?;
    if !again.written.is_empty() {
        broken.push(format!("a second run writes: {:?}", again.written));
    }
    if broken.is_empty() { Ok(()) } else { Err(broken) }
}

/// Several objects of one name are a person's to sort out.
fn stubborn(simulation: &Simulation) -> Vec<bool> {
    let sim = simulation.line.sim();
    (0..sim.scene.documents.len()).map(|at| sim.world.of(sim.scene.name(at)).count() > 1).collect()
}

fn converged(simulation: &Simulation, done: &Ended, stubborn: &[bool]) -> Vec<String> {
    let sim = simulation.line.sim();
    let mut broken = Vec::new();
    for (at, entry) in done.report.objects.iter().enumerate().filter(|(at, _)| !stubborn[*at]) {
        let settled = matches!(entry.result, Outcome::InSync | Outcome::Done);
        if !settled || !sim.scene.is_right(at, &sim.world) {
            broken.push(format!("{} did not converge: {:?}", entry.id, entry.result));
        }
    }
    broken
}

/// A plan lists exactly the writes of the undisturbed run after it.
fn as_planned(simulation: &Simulation, plan: &Ended, done: &Ended) -> Vec<String> {
    let sim = simulation.line.sim();
    let planned = |(at, entry): (usize, &Entry)| {
        let name = sim.scene.name(at).to_owned();
        match (&entry.result, entry.action) {
            (Outcome::Planned, Action::Create) => Some(Written::Create(name)),
            (Outcome::Planned, Action::Update) => Some(Written::Update(name)),
            (Outcome::Planned, Action::Delete) => Some(Written::Delete(name)),
            _ => None,
        }
    };
    let mut planned: Vec<Written> = plan.report.objects.iter().enumerate().filter_map(planned).collect();
    let mut written = done.written.clone();
    let by = |one: &Written| format!("{one:?}");
    planned.sort_by_key(by);
    written.sort_by_key(by);
    if planned == written { Vec::new() } else { vec![format!("planned {planned:?}, done {written:?}")] }
}

/// What a violation is about, whatever object it names.
fn sort_of(broken: &[String]) -> Option<&'static str> {
    const SORTS: [&str; 12] = [
        "another origin",
        "a secret",
        "the report holds",
        "a second object",
        "was deleted",
        "undeclared field",
        "a plan wrote",
        "never was",
        "do not end",
        "planned",
        "a second run writes",
        "did not converge",
    ];
    SORTS.into_iter().find(|sort| broken.iter().any(|one| one.contains(sort)))
}

/// Tells which schedule panicked.
struct Named(u64);

impl Drop for Named {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("seed {} panics", self.0);
        }
    }
}

/// The schedule with its choices made few, told whole.
fn story(seed: u64, shown: &Shown) -> String {
    let sort = sort_of(&shown.broken);
    let fails = &mut |choices: &[u32]| {
        let broken = schedule(Dice::of(choices.to_vec()), false).broken;
        !broken.is_empty() && sort_of(&broken) == sort
    };
    let choices = shrink(&shown.choices, 400, fails);
    let told = schedule(Dice::of(choices.clone()), true);
    let count = choices.iter().filter(|choice| **choice != 0).count();
    let (log, broken) = (told.log.join("\n"), told.broken.join("\n"));
    format!("seed {seed}, {count} choices: {choices:?}\n{log}\n\nbroken:\n{broken}")
}

/// A number from the environment.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

#[test]
fn every_schedule_keeps_the_invariants() {
    let (first, count) = match number("TRUEUP_WIRE_SEED") {
        Some(seed) => (seed, 1),
        None => (0, number("TRUEUP_WIRE_SEEDS").unwrap_or(SEEDS)),
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let (met, failed) = (Mutex::new(BTreeSet::new()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for thread in 0..threads as u64 {
            let (met, failed) = (&met, &failed);
            scope.spawn(move || {
                for seed in (first + thread..first + count).step_by(threads) {
                    let _named = Named(seed);
                    let shown = schedule(Dice::new(seed), false);
                    met.lock().expect("no one panics with it").extend(shown.met.iter().cloned());
                    if !shown.broken.is_empty() {
                        failed.lock().expect("no one panics with it").push((seed, shown));
                    }
                }
            });
        }
    });
    let mut failed = failed.into_inner().expect("no one panics with it");
    failed.sort_by_key(|(seed, _)| *seed);
    let met = met.into_inner().expect("no one panics with it").len();
    let bound = 3.0 / count as f64;
    println!(
        "{count} schedules, {met} pairs of a role and a fault, {} failed, bound {bound:.0e}",
        failed.len()
    );
    if let Some((seed, shown)) = failed.first() {
        let all: Vec<String> =
            failed.iter().map(|(seed, shown)| format!("seed {seed}: {}", shown.broken.join("; "))).collect();
        panic!("{}\n\n{}", story(*seed, shown), all.join("\n"));
    }
}
