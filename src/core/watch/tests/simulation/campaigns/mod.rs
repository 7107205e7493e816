//! Sets of schedules, each with a number to reach.

mod cases;
mod mutants;
pub mod random;
