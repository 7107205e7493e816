//! What a pass says of its backends: opening and closing their breakers, and what follows for their objects.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::begin::Under;
use super::control::{Effect, Loop};
use super::hint::Origin;
use super::object::Standing;
use super::pass::{PassId, Seen, Verdict};
use super::queue::Entry;
use super::retry::{Delays, LONGEST};
use super::target::Turn;

/// What a pass says of one backend.
#[derive(Default)]
struct Said<'s> {
    answered: bool,
    faults: usize,
    why: &'s str,
    /// So long the server asks not to be asked.
    after: Duration,
}

impl Loop {
    /// Any answer in a pass says that its backend is there, whatever else failed.
    pub(super) fn judge_backends(&mut self, pass: PassId, under: &Under, seen: &[Seen]) {
        let mut said: BTreeMap<&Arc<str>, Said> = BTreeMap::new();
        for seen in seen {
            let said = said.entry(&seen.id.kind.backend).or_default();
            match &seen.verdict {
                Verdict::Blocked(_) => {}
                verdict if verdict.is_fault() => {
                    said.faults += 1;
                    said.why = verdict.explanation().map_or("", |why| &why.message);
                    said.after = said.after.max(verdict.retry_after().unwrap_or_default());
                }
                _ => said.answered = true,
            }
        }
        if let Some(target) = under.target {
            self.targets[target].ended(self.now, pass, &mut self.random);
        }
        for (name, said) in said {
            if let Some(&at) = self.target_at.get(name) {
                self.judge_backend(at, &said);
            }
        }
    }

    fn judge_backend(&mut self, at: usize, said: &Said) {
        let (now, target) = (self.now, &mut self.targets[at]);
        let turn = match said {
            Said { answered: true, .. } => target.answered(now),
            Said { faults: 0, .. } => Turn::Stays,
            Said { faults, why, .. } => target.failed(now, *faults, why, &mut self.random),
        };
        target.patience(now + said.after.min(LONGEST));
        let name = &target.name;
        let line = match turn {
            Turn::Stays => return,
            Turn::Opens => {
                format!("backend `{name}` is away, and nothing but probes is sent to it: {}", said.why)
            }
            Turn::Closes => format!("backend `{name}` answers again"),
        };
        self.effects.push(Effect::Warned(line));
        if turn == Turn::Closes {
            self.bring_the_failed(at);
        }
    }

    /// A backend is back: what failed and was to wait for its resync, as the budget was spent, waits no longer.
    fn bring_the_failed(&mut self, target: usize) {
        let mut delays = Delays::default();
        for at in 0..self.objects.len() {
            let object = &self.objects[at];
            let waits = object.target == target
                && object.standing == Standing::Open
                && object.failures.is_failing
                && object.running.is_none()
                && self.queue.get(at).is_none();
            if waits {
                let delay = delays.after(object.failures.count, &mut self.random);
                self.enqueue(at, Entry::new(self.now + delay, Origin::Retry));
            }
        }
    }
}
