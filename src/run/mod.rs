//! Joins the core and the edges: loads the input, connects the backends, and drives the engine.

mod base;
pub mod bounded;
pub mod clients;
pub mod drive;
mod embedded;
mod force;
mod git;
pub mod input;
pub mod lease;
pub mod live;
mod moves;
mod probe;
pub mod record;
mod revision;
pub mod runner;
pub mod saved;
pub mod sweep;
pub mod walk;
pub mod watch;
