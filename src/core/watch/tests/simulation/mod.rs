//! The loop against a model of a world, in virtual time: from a list of choices objects, foreign changes, a feed that
//! loses, doubles and reorders, floods, outages, sleep, restarts and a second instance; and what must hold in every one.
//!
//! `TRUEUP_LOOP_SEEDS=N` runs N schedules and `TRUEUP_LOOP_CHOICES` one that failed (`src/simulation/asked.rs`). The first
//! that fails is told whole, its choices made few.

pub mod campaigns;
mod monitor;
mod needs;
mod passes;
mod run;
mod scene;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::core::engine::tests::simulation::dice::Dice;
use run::{Run, quiet};
use scene::Scene;

/// What came of a schedule.
pub struct Outcome {
    pub broken: Vec<String>,
    pub log: Vec<String>,
    pub choices: Vec<u32>,
    pub steps: u64,
}

impl Outcome {
    /// What was broken first, by its name.
    fn sort(&self) -> Option<&str> {
        self.broken.first().map(|line| line.split(':').next().unwrap_or_default())
    }
}

/// A random schedule. A panic breaks it as well.
pub fn schedule(mut dice: Dice, loud: bool) -> Outcome {
    let (mut log, mut steps) = (Vec::new(), 0);
    let ended = catch_unwind(AssertUnwindSafe(|| {
        let scene = Scene::draw(&mut dice);
        let mut run = Run::new(scene, &mut dice, loud);
        let broken = quiet(&mut run);
        (log, steps) = (run.log.take().unwrap_or_default(), run.steps);
        broken
    }));
    let broken = ended.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        vec![format!("panic: {}", text.unwrap_or_default())]
    });
    Outcome { broken, log, choices: dice.taken().to_vec(), steps }
}
