//! `trueup watch` as a process: the real binary beside a server, files that change and signals that come.
//!
//! Nothing here waits for a time to pass: each test waits for what must become so, with a deadline that is never
//! reached unless it does not.

mod drift;
mod files;
mod folders;
mod hints;
mod instances;
mod limits;
mod once;
mod open;
mod outages;
mod pruning;
mod reading;
mod shelf;
mod shown;
mod signals;
mod slow;
pub mod stage;
mod stories;
mod trouble;
