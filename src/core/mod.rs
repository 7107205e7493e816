//! The pure core: no files, sockets, clock, environment, randomness or async, and no other layer of the crate.
//!
//! ```text
//! documents + kinds ─┐
//!                    ├─ diff ─ plan ─ engine ⇄ Ask / Write ⇄ Answer
//! observed items  ───┘                  └─ report
//! ```

pub mod accept;
mod align;
pub mod alike;
pub mod base;
pub mod byname;
pub mod census;
pub mod change;
pub mod compare;
pub mod conflict;
pub mod cycle;
pub mod date;
pub mod decoded;
pub mod diff;
pub mod digest;
pub mod document;
pub mod engine;
pub mod escape;
pub mod excerpt;
pub mod exchange;
pub mod exit;
pub mod facts;
pub mod family;
pub mod feed;
pub mod fields;
pub mod filter;
pub mod forms;
pub mod give_up;
pub mod glob;
pub mod graph;
pub mod idempotency;
pub mod identity;
pub mod key;
pub mod kind;
pub mod lease;
pub mod managers;
pub mod mark;
pub mod members;
pub mod minimal;
pub mod mutant;
pub mod needed;
pub mod node;
pub mod observed;
pub mod overlay;
pub mod overwritten;
pub mod patch;
pub mod path;
pub mod probe;
pub mod problem;
pub mod prune;
pub mod raw;
pub mod redact;
pub mod rename;
pub mod replicas;
pub mod report;
pub mod scrub;
pub mod secrets;
pub mod server_only;
pub mod set;
pub mod suggest;
pub mod taint;
pub mod tally;
pub mod template;
pub mod tolerance;
pub mod unfinished;
pub mod unique;
pub mod value;
pub mod veil;
pub mod watch;
