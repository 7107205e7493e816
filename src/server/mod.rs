//! The built-in reference server: a well-behaved REST API for any kind, on a crash-safe local store.
//!
//! It is what a newcomer meets first (`url: embedded:PATH`, `trueup serve`) and what the rest of the tool is
//! tested against, so it knows nothing of it: no manifests, no backends, no engine.
//!
//! ```text
//! a socket ── listen ── faults? ─┐
//!                                ├─ api (routes, rules of HTTP) ── store (index in memory, log on disk)
//! embedded (in process) ─────────┘                             └─ ownership (who holds which field)
//! ```

pub mod api;
pub mod embedded;
pub mod faults;
pub mod listen;
pub mod ownership;
pub mod store;

pub use api::{Opened, Server};
pub use embedded::Embedded;
pub use faults::{Faults, Rules, RulesError};
pub use listen::{Service, serve};
pub use store::{Durability, OpenError, Store};
