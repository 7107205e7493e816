//! What a campaign ran and what it found, as numbers.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::fate::{Hit, possible};

#[derive(Default)]
pub struct Tally {
    pub schedules: u64,
    /// Hashes of what was chosen.
    pub distinct: HashSet<u64>,
    pub hits: BTreeSet<Hit>,
    pub violations: u64,
    pub requests: u64,
}

impl Tally {
    pub fn add(&mut self, what: &impl Hash, hits: &[Hit], requests: u32) {
        let mut hasher = DefaultHasher::new();
        what.hash(&mut hasher);
        self.distinct.insert(hasher.finish());
        self.schedules += 1;
        self.hits.extend(hits);
        self.requests += u64::from(requests);
    }
}

/// As the table of `docs/reliability.md` has it. Where none of n schedules broke anything, the rate of those that
/// would is below about 3/n, with 95 % confidence.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let possible = possible();
        let hit = possible.iter().filter(|hit| self.hits.contains(hit)).count();
        write!(
            f,
            "{} schedules, {} distinct, {} requests, {} violations (below {:.1e}), {hit} of {} triples of fault, \
             operation and profile",
            self.schedules,
            self.distinct.len(),
            self.requests,
            self.violations,
            3.0 / self.schedules.max(1) as f64,
            possible.len(),
        )
    }
}
