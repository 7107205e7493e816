//! What the benchmarks share: runs of the binary, the built-in server on a port, and the objects.

pub mod objects;
pub mod process;
mod told;

use std::time::Duration;

pub use told::{middle, number, verdict};

/// Runs of each measurement; the median counts.
pub const RUNS: usize = 5;

/// The middle of what [`RUNS`] measurements gave.
pub fn median<T: PartialOrd>(mut measure: impl FnMut() -> T) -> T {
    middle((0..RUNS).map(|_| measure()).collect())
}

pub fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}
