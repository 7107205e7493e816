//! What a pass says of its backends: opening and closing their breakers, and what follows for their objects.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::super::identity::ObjectId;
use super::control::{Effect, Loop};
use super::hint::Origin;
use super::object::Standing;
use super::pass::{Seen, Verdict};
use super::queue::Entry;
use super::retry::{Delays, LATE, LONGEST};
use super::target::Turn;

/// What a pass says of one backend.
#[derive(Default)]
struct Said<'s> {
    answered: bool,
    /// An object was looked at: the credential is taken.
    took: bool,
    faults: usize,
    why: &'s str,
    /// So long the server asks not to be asked.
    after: Duration,
}

impl Loop {
    /// Any answer in a pass says that its backend is there, whatever else failed.
    pub(super) fn judge_backends(&mut self, seen: &[Seen]) {
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
                verdict => {
                    said.answered = true;
                    said.took |= verdict.is_by_a_look();
                }
            }
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
        let name = target.name.clone();
        match turn {
            Turn::Stays => {}
            Turn::Opens => self.effects.push(Effect::Left(name, said.why.to_owned())),
            Turn::Closes => {
                self.effects.push(Effect::Back(name));
                self.bring_the_failed(at);
            }
        }
        if said.took {
            self.bring_the_barred(at);
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

    /// When to try again what was refused its credential. One object of a backend asks with backoff whether that is
    /// taken by now; the others wait for what comes of it, as each refusal may count against an account.
    pub(super) fn after_a_bar(&mut self, at: usize, delays: &mut Delays) -> Duration {
        let object = &self.objects[at];
        let asker = &mut self.targets[object.target].asker;
        let asks = |id: &ObjectId| match self.at.get(id).map(|at| &self.objects[*at]) {
            Some(other) => other.failures.is_barred,
            None => false,
        };
        if asker.as_ref().is_none_or(|asker| *asker == object.subject.id || !asks(asker)) {
            *asker = Some(object.subject.id.clone());
            return self.now + delays.after(object.failures.count, &mut self.random);
        }
        self.now + LATE
    }

    /// A backend takes its credential: what was refused by it is tried again soon.
    fn bring_the_barred(&mut self, target: usize) {
        if self.targets[target].asker.take().is_none() {
            return;
        }
        let mut delays = Delays::default();
        for at in 0..self.objects.len() {
            let object = &self.objects[at];
            if object.target == target && object.failures.is_barred && object.running.is_none() {
                let delay = delays.after(object.failures.count, &mut self.random);
                self.enqueue(at, Entry::new(self.now + delay, Origin::Retry));
            }
        }
    }
}
