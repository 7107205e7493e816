//! The command line as a whole: the real binary, real files, and servers that misbehave on loopback.
//!
//! One module a theme. Every expectation is the text that a person reads, and the exit code beside it.

mod answers;
mod base;
mod base_git;
mod base_places;
mod batch;
mod canaries;
mod creates;
mod deletions;
mod dialect;
mod explain;
mod export;
mod files;
mod listings;
mod main_job;
mod managers;
mod mismatch;
mod offline;
mod operations;
mod plan_files;
mod probe;
mod process;
mod proxy;
mod prune;
mod prune_base;
mod prune_limits;
mod rename;
mod replicas;
mod replicas_input;
mod repository;
mod saved_base;
mod saved_plans;
mod saved_reruns;
mod saved_sets;
mod secrets;
mod servers;
mod support;
mod tokens;
mod trust;
mod usage;
mod verbs;
mod versions;
mod writes;
