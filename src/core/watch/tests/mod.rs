//! The loop, driven by hand in virtual time.

mod fights;
mod first;
pub mod make;
pub mod simulation;
