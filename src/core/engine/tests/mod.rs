//! The engine against a model server: what it asks, what it writes, and what it reports.

mod family;
mod faults;
mod later;
mod model;
mod operations;
mod order;
mod pass;
mod rename;
mod simulation;
mod together;
