//! When the driver prunes, and what it tells of it.

use std::time::Duration;

use tokio::time::Instant;

use super::super::pass::{Ground, Halt};
use super::super::prune::{self, Job, Pruned};
use super::super::say::Hold;
use super::Driver;
use crate::core::problem::Problem;

/// That it waits for a pass is told once it has waited for so long.
const PATIENCE: Duration = Duration::from_secs(10);

impl Driver<'_> {
    /// Looks for what no document names, where that is due and may be done: never beside files that are no good or may
    /// be other ones by now, beside objects that were not looked at, or beside passes.
    pub(super) fn prune_if_due(&mut self) {
        let desired = &self.ground.desired;
        let wanted = self.ground.share.is_first()
            && !desired.claims_nothing(self.settings.pruning.deletes)
            && self.prune_when.is_due(Instant::now());
        let calm = self.state.valid && self.loading.is_empty() && self.pruning.is_empty();
        let seen = self.machine.has_seen_all() && self.patience.is_none();
        if !(wanted && calm && seen) {
            return;
        }
        if !self.passes.is_empty() {
            return self.waits_for_passes();
        }
        self.dirty |= self.teller.held(Hold::Passes, Vec::new());
        let sets = desired.claimed(self.settings.pruning.deletes);
        let (sets, held) = prune::free(sets, |target| self.machine.holds(target));
        let is_held = !held.is_empty();
        self.dirty |= self.teller.held(Hold::Pruning, held);
        if sets.is_empty() {
            return;
        }
        let left = self.machine.writes_left(self.began.elapsed());
        if left == Some(0) {
            return;
        }
        self.prune_halt = Halt { stop: self.halt.stop.child_token(), abort: self.halt.abort.child_token() };
        let doubts = prune::doubts(desired, &sets, &self.machine.status());
        self.prune_when.began(Instant::now(), self.settings.machine.resync, is_held || !doubts.is_empty());
        let (gates, files, held) = (self.settings.pruning.clone(), self.as_read.clone(), self.held_of(&sets));
        let job = Job { gates, sets, doubts, held, files, most_writes: left };
        let ground = Ground { share: self.ground.share.for_all(), ..self.ground.clone() };
        let pruning = prune::prune(ground, job, fastrand::u64(..), self.prune_halt.clone());
        self.pruning.push(Box::pin(pruning));
    }

    /// Between short passes there is always a time; a long one is told.
    fn waits_for_passes(&mut self) {
        let Some((id, since)) = self.machine.longest_under_way() else { return };
        if self.began.elapsed().saturating_sub(since) >= PATIENCE {
            let why = format!("nothing is deleted while `{id}` is still looked at or written");
            self.dirty |= self.teller.held(Hold::Passes, vec![why]);
        }
    }

    pub(super) fn pruned(&mut self, pruned: Option<Result<Pruned, Problem>>) {
        match pruned {
            Some(Ok(Pruned { told, report })) => {
                let writes = report.objects.iter().filter(|entry| entry.wrote).count();
                self.machine.wrote_beside(self.began.elapsed(), writes);
                self.teller.swept(&told, &report);
                self.dirty = true;
                if report.interrupted {
                    self.prune_when.cut_short(Instant::now());
                }
            }
            Some(Err(problem)) => self.teller.warned("pruning has failed", &problem),
            // The files changed meanwhile, or it is the end: it begins anew, once that is known.
            None => self.prune_when.cut_short(Instant::now()),
        }
    }
}
