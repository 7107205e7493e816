//! Joins the core and the edges: loads the input, connects the backends, and drives the engine.

pub mod clients;
pub mod drive;
mod embedded;
pub mod input;
pub mod live;
mod probe;
pub mod runner;
pub mod saved;
mod sweep;
pub mod walk;
