//! Random and exhaustive schedules: from a list of choices a scene, a server, faults, other actors and an order of
//! events; and the invariants that hold in every one of them. `docs/reliability.md` tells what is simulated.
//!
//! Campaigns whose size or seed is asked for stand in `src/simulation/asked.rs`, as the core names no environment. A
//! schedule that failed becomes a test of its own, named after what it found.

mod actors;
mod audit;
pub mod campaigns;
pub mod dice;
mod fate;
mod leniency;
mod makes;
mod operations;
mod oracle;
mod pruning;
mod run;
mod scene;
pub mod shrink;
mod tally;
mod trouble;
mod workload;
mod world;
mod writes;

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

use crate::core::engine::Mode;
use actors::Actor;
use dice::Dice;
use fate::Hit;
use run::Run;
use scene::Scene;
use trouble::{Moment, Trouble};
use world::World;

/// What came of a schedule.
struct Outcome {
    broken: Vec<String>,
    log: Vec<String>,
    hits: Vec<Hit>,
    choices: Vec<u32>,
    requests: u32,
}

impl Outcome {
    /// What was broken first: the names of invariants and oracles in it, as `I8` or `O1`; else all of it.
    fn sort(&self) -> Option<String> {
        let line = self.broken.first()?;
        let is_name = |word: &&str| {
            let mut letters = word.chars();
            letters.next().is_some_and(|c| "IOX".contains(c))
                && letters.next().is_some_and(|c| c.is_ascii_digit())
        };
        let names: Vec<&str> = line
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .filter(is_name)
            .collect();
        Some(if names.is_empty() { line.clone() } else { names.join(", ") })
    }
}

/// One schedule. A panic breaks it as well.
fn schedule(mut dice: Dice, loud: bool, live: impl Fn(&mut Live) -> Result<(), Vec<String>>) -> Outcome {
    schedule_with(&mut dice, loud, live)
}

fn schedule_with(
    dice: &mut Dice,
    loud: bool,
    live: impl Fn(&mut Live) -> Result<(), Vec<String>>,
) -> Outcome {
    let mut log = Vec::new();
    let mut live_one = Live { dice: &mut *dice, log: &mut log, loud, hits: Vec::new(), requests: 0 };
    let ended = catch_unwind(AssertUnwindSafe(|| live(&mut live_one)));
    let (hits, requests) = (std::mem::take(&mut live_one.hits), live_one.requests);
    let broken = match ended {
        Ok(Ok(())) => Vec::new(),
        Ok(Err(broken)) => broken,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            vec![format!("O6: a panic: {}", text.unwrap_or_else(|| "of no text".into()))]
        }
    };
    Outcome { broken, log, hits, choices: dice.taken().to_vec(), requests }
}

/// A schedule while it runs.
struct Live<'l> {
    dice: &'l mut Dice,
    log: &'l mut Vec<String>,
    loud: bool,
    hits: Vec<Hit>,
    requests: u32,
}

impl Live<'_> {
    fn run(&mut self, world: &mut World, mode: Mode, trouble: &Trouble) -> Result<run::Ended, Vec<String>> {
        let mut run = Run::new(world, self.dice, self.log, self.loud);
        let ended = run.go(mode, trouble);
        self.hits.append(&mut run.hits);
        self.requests += run.sent;
        ended
    }

    /// A run in a small scope; nothing, if it came to a state that was met before.
    fn run_once(
        &mut self,
        world: &mut World,
        mode: Mode,
        trouble: &Trouble,
        met: &mut HashSet<u64>,
    ) -> Result<Option<run::Ended>, Vec<String>> {
        let mut run = Run::new(world, self.dice, self.log, self.loud);
        run.met = Some(met);
        let ended = run.go(mode, trouble);
        self.requests += run.sent;
        let again = run.again;
        ended.map(|ended| (!again).then_some(ended))
    }

    /// The end of the same world without troubles.
    fn undisturbed(&mut self, world: &World) -> Result<World, Vec<String>> {
        let mut reference = world.clone();
        self.run(&mut reference, Mode::Apply, &Trouble::default())?;
        self.settle_down(&mut reference);
        self.run(&mut reference, Mode::Apply, &Trouble::default())?;
        self.settle_down(&mut reference);
        Ok(reference)
    }

    /// Time passes in which everything ends that somebody has begun.
    fn settle_down(&mut self, world: &mut World) {
        world.pass(Duration::from_secs(60));
        world.deliver(self.dice);
        world.pass(Duration::from_secs(60));
    }

    /// What must come once the troubles are over: convergence in one run that does what its plan says, then silence.
    fn quiet(&mut self, world: &mut World) -> Result<Vec<String>, Vec<String>> {
        let plan = self.run(world, Mode::Plan, &Trouble::default())?;
        let done = self.run(world, Mode::Apply, &Trouble::default())?;
        let mut broken = oracle::as_planned(world, &plan, &done);
        broken.extend(oracle::converged(world, &done));
        broken.extend(oracle::doubles_are_told(world, &done));
        self.settle_down(world);
        let again = self.run(world, Mode::Apply, &Trouble::default())?;
        broken.extend(oracle::nothing_left(world, &done, &again));
        Ok(broken)
    }

    /// A random schedule: a plan, a troubled run, perhaps one that dies, and the quiet after.
    fn random(&mut self) -> Result<(), Vec<String>> {
        let scene = Scene::draw(self.dice);
        self.random_of(scene)
    }

    fn random_of(&mut self, scene: Scene) -> Result<(), Vec<String>> {
        let scene = Rc::new(scene);
        if self.loud {
            self.log.extend(scene.told());
        }
        let mut world = World::draw(scene, self.dice);
        let reference = if self.dice.chance(0.4) { Some(self.undisturbed(&world)?) } else { None };
        let trouble = Trouble {
            faults: self.dice.one(&[0.0, 0.05, 0.2, 0.5]),
            actors: Actor::draw(self.dice),
            stop_at: if self.dice.chance(0.2) { Some(self.dice.below(60) as u32) } else { None },
            kill: self.draw_kill(),
            ..Trouble::default()
        };
        let before = Trouble { stop_at: None, kill: None, ..trouble.clone() };
        let plan = self.run(&mut world, Mode::Plan, &before)?.report;
        let agreed = self.dice.chance(0.4).then_some(&plan);
        self.run(&mut world, Mode::Apply, &Trouble { agreed, ..trouble })?;
        self.settle_down(&mut world);
        let mut broken = self.quiet(&mut world)?;
        if let Some(reference) = reference {
            self.settle_down(&mut world);
            broken.extend(oracle::as_undisturbed(&world, &reference));
        }
        if broken.is_empty() { Ok(()) } else { Err(broken) }
    }

    fn draw_kill(&mut self) -> Option<(u32, Moment)> {
        use Moment::{Acted, Answered, Committed, Sent};
        let kills = self.dice.chance(0.2);
        kills.then(|| (self.dice.below(40) as u32, self.dice.one(&[Sent, Committed, Answered, Acted])))
    }
}

/// Runs a schedule that failed again, shrinks it, and says all that is known of it.
fn tell(name: &str, choices: &[u32], live: impl Fn(&mut Live) -> Result<(), Vec<String>> + Copy) -> String {
    let what = |choices: &[u32]| schedule(Dice::replay(choices.to_vec()), false, live).sort();
    let first = what(choices);
    let fails = |choices: &[u32]| what(choices) == first;
    let few = shrink::shrink(choices, fails);
    let Outcome { broken, log, .. } = schedule(Dice::replay(few.clone()), true, live);
    let count = few.iter().filter(|choice| **choice != 0).count();
    let list = shrink::written(&few);
    format!(
        "{name}:\n{}\n\nTRUEUP_CHOICES=\"{list}\" ({count} choices)\n\nbroken:\n{}",
        log.join("\n"),
        broken.join("\n")
    )
}
