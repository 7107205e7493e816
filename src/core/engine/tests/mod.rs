//! The engine against a model server: what it asks, what it writes, and what it reports.

mod base;
mod check;
mod deletions;
mod family;
mod faults;
mod lanes;
mod later;
pub mod make;
mod model;
mod operations;
mod order;
mod pass;
mod pledges;
mod rename;
mod runs;
mod simulation;
mod together;
