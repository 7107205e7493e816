//! The engine against a model server: what it asks, what it writes, and what it reports.

mod base;
mod check;
mod conflicts;
mod creates;
mod deletions;
mod family;
mod faults;
mod guards;
mod lanes;
mod later;
pub mod make;
mod memory;
mod model;
mod operations;
mod order;
mod pass;
mod pledges;
mod rename;
mod runs;
mod simulation;
mod stick;
mod together;
