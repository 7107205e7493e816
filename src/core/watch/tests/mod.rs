//! The loop, driven by hand in virtual time.

mod first;
pub mod make;
pub mod simulation;
