//! What the benchmarks share: runs of the binary, the built-in server on a port, and the objects.

pub mod objects;
pub mod process;

use std::time::Duration;

/// Runs of each measurement; the median counts.
pub const RUNS: usize = 5;

/// The number that the variable `name` sets, for quick tries.
pub fn number(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// The middle of what [`RUNS`] measurements gave.
pub fn median<T: PartialOrd>(mut measure: impl FnMut() -> T) -> T {
    middle((0..RUNS).map(|_| measure()).collect())
}

pub fn middle<T: PartialOrd>(mut all: Vec<T>) -> T {
    all.sort_by(|a, b| a.partial_cmp(b).expect("measurements can be compared"));
    all.swap_remove(all.len() / 2)
}

pub fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}

/// `met` or `missed`, to stand behind a figure.
pub fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "missed" }
}
