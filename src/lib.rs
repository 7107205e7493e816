//! trueup makes any REST API match what YAML files say.
#![forbid(unsafe_code)]

pub mod api;
pub mod backend;
pub mod cli;
pub mod core;
pub mod manifest;
pub mod render;
pub mod run;
pub mod server;

#[cfg(test)]
mod simulation;
