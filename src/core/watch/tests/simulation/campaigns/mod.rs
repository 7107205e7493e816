//! Sets of schedules, each with a number to reach.

mod mutants;
pub mod random;
