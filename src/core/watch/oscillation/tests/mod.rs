//! The detector against a world of two writers, in virtual time.

mod deletions;
mod fights;
mod many;
pub mod world;
