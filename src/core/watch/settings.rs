//! What the loop is told once.

use std::time::Duration;

use super::hour::Lately;

/// How the loop is to behave.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Every object is observed anew this often, whatever hints say.
    pub resync: Duration,
    /// Passes never write.
    pub dry_run: bool,
    /// So many writes an hour at most.
    pub changes_an_hour: Option<usize>,
    /// Writes of an earlier process that count as well, each for how long.
    pub earlier_changes: Vec<Lately>,
    /// Passes under way at once, in all.
    pub passes: usize,
    /// The seed of all jitter.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            resync: Duration::from_secs(10 * 60),
            dry_run: false,
            changes_an_hour: None,
            earlier_changes: Vec::new(),
            passes: 16,
            seed: 0,
        }
    }
}
