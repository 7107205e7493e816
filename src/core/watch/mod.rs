//! The loop of `watch`, as a state machine that performs nothing: which objects are due, when, and what became of
//! them.
//!
//! It is given an [`Event`] and the time, and answers with [`Effect`]s: passes to run, and when to be woken. A pass is
//! the same run of the engine that `apply` is, over the objects that are due. Hints say that something may have
//! changed; they never say what is so. Losing one costs a resync, and losing the process costs nothing: what is kept
//! here is when to look again, never what is true.
//!
//! ```text
//! hints ──┐                                   ┌──► passes: observe, diff, act, observe
//! resync ─┼─► queue: earliest time, highest ──┤              │
//! retry  ─┘   class, one entry an object      └◄── what came of each object
//! ```

mod away;
pub mod backoff;
mod begin;
mod beside;
pub mod conditions;
mod control;
mod end;
pub mod hint;
mod hour;
pub mod lease;
mod needs;
mod object;
pub mod observer;
mod open;
pub mod oscillation;
pub mod owned;
mod pace;
pub mod pass;
mod queue;
mod release;
mod resync;
mod retry;
mod seen;
pub mod settings;
pub mod shard;
pub mod snapshot;
pub mod status;
pub mod stream;
pub mod subject;
mod target;
#[cfg(test)]
pub(crate) mod tests;
mod told;
mod wanted;
mod wish;

pub use control::{Effect, Event, Loop};
pub use hint::{About, Class, Hint, Origin};
pub use hour::{HOUR, Lately};
pub use pass::{Pass, PassId, Retry, Seen, Touched, Verdict};
pub use settings::Settings;
pub use snapshot::{Desired, Instance, Role, Snapshot};
pub use status::{Condition, ConditionKind, Counters, ObjectStatus, Refused, Status, TargetStatus, Truth};
pub use subject::Subject;
pub use wish::{content, wish};
