//! What the program promises, held against its source: that nothing goes around the choke points, and that each
//! promise of `docs/security.md` has a test.
//!
//! The rules read the source as text, so each has a test that it bites.

#[path = "security/chokes.rs"]
mod chokes;
#[path = "security/promises.rs"]
mod promises;
#[path = "security/sources.rs"]
mod sources;
