//! What a running watch shows: lines of a log.

pub mod log;
mod time;
