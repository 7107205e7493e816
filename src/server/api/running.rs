//! Creates with an idempotency key that are not answered yet: a second one with the same key is told so.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard};

use crate::server::store::Key;

/// A collection, and a key that was sent to it.
type Sent = (Key, String);

/// The keys of creates that run.
#[derive(Default)]
pub struct Running(Mutex<HashSet<Sent>>);

/// One of them. It has ended when this is dropped, however that comes.
pub struct Run<'r> {
    running: &'r Running,
    sent: Sent,
}

impl Running {
    /// Begins one; `None` while another one with this key runs.
    pub fn begin(&self, collection: &Key, key: &str) -> Option<Run<'_>> {
        let sent = (collection.clone(), key.to_owned());
        let begun = self.keys().insert(sent.clone());
        begun.then(|| Run { running: self, sent })
    }

    fn keys(&self) -> MutexGuard<'_, HashSet<Sent>> {
        self.0.lock().expect("nothing panics while it holds the keys")
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        self.running.keys().remove(&self.sent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_key_runs_once_at_a_time_in_a_collection() {
        let running = Running::default();
        let (teams, zones) = (Key::root().child("teams"), Key::root().child("zones"));
        let first = running.begin(&teams, "k").expect("the first one");
        for _ in 0..2 {
            assert!(running.begin(&teams, "k").is_none(), "it runs already");
        }
        assert!(running.begin(&teams, "other").is_some() && running.begin(&zones, "k").is_some());
        drop(first);
        assert!(running.begin(&teams, "k").is_some(), "it has ended");
    }
}
