//! trueup makes any REST API match what YAML files say.
#![forbid(unsafe_code)]

pub mod api;
pub mod backend;
pub mod core;
pub mod run;
