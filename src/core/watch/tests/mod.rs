//! The loop, driven by hand in virtual time.

mod conditions;
mod fights;
mod first;
mod hour;
pub mod make;
mod needs;
mod open;
mod pace;
mod queue;
mod release;
mod resync;
mod retry;
pub mod simulation;
mod target;
mod wanted;
