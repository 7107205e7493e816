//! What came of a pass, and what follows from it for each object.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use super::super::identity::ObjectId;
use super::begin::{Member, Under};
use super::conditions::Reading;
use super::control::{Effect, Loop};
use super::hint::{Class, Origin};
use super::object::Standing;
use super::oscillation::Found;
use super::pass::{PassId, Retry, Seen, Verdict};
use super::queue::Entry;
use super::retry::{Delays, LATE};
use super::target::Turn;

/// What a pass says of a backend.
#[derive(Default)]
struct Said<'s> {
    answered: bool,
    faults: usize,
    why: &'s str,
}

/// How many objects failed in a way that says something of their backend.
fn is_fault(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Failed(_, Retry::Soon { fault: true, .. }))
        || matches!(verdict, Verdict::Unknown(_, Retry::Soon { fault: true, .. }))
}

impl Loop {
    pub(super) fn end(&mut self, pass: PassId, seen: &[Seen]) {
        let Some(under) = self.passes.remove(&pass) else { return };
        let written = seen.iter().map(|seen| seen.writes).sum();
        self.hour.settle(self.now, under.reserved, written);
        self.counters.writes += written as u64;
        if let Some(target) = under.target {
            self.targets[target].passes -= 1;
        }
        self.judge_backends(pass, &under, seen);
        let is_spent = under.most.is_some_and(|most| written >= most);
        let seen: HashMap<&ObjectId, &Seen> = seen.iter().map(|seen| (&seen.id, seen)).collect();
        let mut delays = Delays::default();
        let mut frees = false;
        for member in &under.members {
            self.counters.worked.add(self.now.saturating_sub(under.started));
            let Some(&at) = self.at.get(&member.id) else { continue };
            self.objects[at].running = None;
            frees |= self.settle(at, &under, member, seen.get(&member.id).copied(), is_spent, &mut delays);
        }
        if frees {
            self.wake_the_blocked();
        }
        self.warn_of_a_flood();
    }

    /// What a pass says of its backends: any answer says that one is there.
    fn judge_backends(&mut self, pass: PassId, under: &Under, seen: &[Seen]) {
        let mut said: BTreeMap<&Arc<str>, Said> = BTreeMap::new();
        for seen in seen {
            let said = said.entry(&seen.id.kind.backend).or_default();
            match &seen.verdict {
                Verdict::Blocked(_) => {}
                verdict if is_fault(verdict) => {
                    said.faults += 1;
                    said.why = verdict.explanation().map_or("", |why| &why.message);
                }
                _ => said.answered = true,
            }
        }
        if let Some(target) = under.target {
            self.targets[target].ended(self.now, pass, &mut self.random);
        }
        for (name, said) in said {
            let Some(&at) = self.target_at.get(name) else { continue };
            let (now, target) = (self.now, &mut self.targets[at]);
            let turn = match said {
                Said { answered: true, .. } => target.answered(now),
                Said { faults: 0, .. } => Turn::Stays,
                Said { faults, why, .. } => target.failed(now, faults, why, &mut self.random),
            };
            self.effects.extend(match turn {
                Turn::Stays => None,
                Turn::Opens => Some(Effect::Warned(format!(
                    "backend `{name}` is away, and nothing but probes is sent to it: {}",
                    said.why
                ))),
                Turn::Closes => Some(Effect::Warned(format!("backend `{name}` answers again"))),
            });
        }
    }

    /// Takes over what came of one object; true if it is in sync now and was not before.
    fn settle(
        &mut self,
        at: usize,
        under: &Under,
        member: &Member,
        seen: Option<&Seen>,
        is_spent: bool,
        delays: &mut Delays,
    ) -> bool {
        let now = self.now;
        let object = &mut self.objects[at];
        object.ended = Some(now);
        if let Some(writes) = seen.map(|seen| seen.writes).filter(|writes| *writes > 0) {
            object.writes += writes as u64;
            object.pace.wrote();
        }
        if object.subject.desired != member.desired {
            // It is about another wish, and the pass for this one is due already.
            self.go_again(at);
            return false;
        }
        let verdict = seen.map(|seen| &seen.verdict);
        let is_held_back = is_spent && !member.is_held && !self.settings.dry_run;
        let is_limited = is_held_back && matches!(verdict, Some(Verdict::Differs(_)));
        self.count(at, member, seen);
        let was = self.objects[at].standing;
        let retry = self.judge(at, under, verdict, is_limited, delays);
        let found =
            seen.map_or_else(Vec::new, |seen| self.detector.ended(now, &self.objects[at].subject, seen));
        self.tell(at, seen, &found, is_limited);
        let thaws = found.iter().filter_map(until).chain(member.thaws).filter(|until| *until > now).min();
        for ready in retry.into_iter().chain(thaws) {
            self.enqueue(at, Entry::new(ready, Origin::Retry));
        }
        self.go_again(at);
        let is = self.objects[at].standing;
        is == Standing::InSync && was != Standing::InSync
    }

    /// Keeps count of how the object fares; when it is to be tried again for that.
    fn judge(
        &mut self,
        at: usize,
        under: &Under,
        verdict: Option<&Verdict>,
        is_limited: bool,
        delays: &mut Delays,
    ) -> Option<Duration> {
        let now = self.now;
        let object = &mut self.objects[at];
        let failures = &mut object.failures;
        let is_away = self.targets[object.target].open.is_some();
        let (standing, retry) = match verdict {
            Some(Verdict::InSync) => {
                failures.in_sync(now);
                object.synced = Some(now);
                (Standing::InSync, None)
            }
            Some(Verdict::Differs(_)) if is_limited => {
                failures.answered(now);
                (Standing::Limited, Some(self.hour.frees(now)))
            }
            Some(
                Verdict::Differs(_) | Verdict::Conflict(_) | Verdict::Refused(_) | Verdict::NotEffective(_),
            ) => {
                failures.answered(now);
                (Standing::Stuck, None)
            }
            Some(Verdict::Blocked(_)) => {
                failures.blocked(now);
                (Standing::Blocked, Some(now + delays.after(failures.count, &mut self.random)))
            }
            Some(Verdict::Failed(_, Retry::Late) | Verdict::Unknown(_, Retry::Late)) => {
                failures.failed(now);
                (Standing::Open, Some(now + LATE))
            }
            Some(verdict) if is_fault(verdict) && under.is_probe && is_away => {
                failures.probed();
                (Standing::Open, Some(now))
            }
            _ => {
                failures.failed(now);
                let delay = delays.after(failures.count, &mut self.random);
                // While its backend is away, the breaker is what holds it.
                let is_shared = is_away && verdict.is_some_and(is_fault);
                (Standing::Open, (is_shared || self.budget.retry()).then_some(now + delay))
            }
        };
        if let Some(
            Verdict::Failed(_, Retry::Soon { after, .. }) | Verdict::Unknown(_, Retry::Soon { after, .. }),
        ) = verdict
        {
            failures.patience(now, *after);
        }
        object.standing = standing;
        match standing {
            Standing::Blocked => self.blocked.insert(at),
            _ => self.blocked.remove(&at),
        };
        if verdict.is_some() && !std::mem::replace(&mut object.is_seen, true) {
            self.unseen = self.unseen.map(|unseen| unseen - 1);
        }
        retry
    }

    fn count(&mut self, at: usize, member: &Member, seen: Option<&Seen>) {
        let verdict = seen.map(|seen| &seen.verdict);
        let result = match verdict {
            Some(Verdict::InSync) => "success",
            Some(Verdict::Differs(_) | Verdict::Blocked(_)) => "requeue",
            Some(Verdict::Conflict(_) | Verdict::Refused(_) | Verdict::NotEffective(_)) => "terminal",
            Some(Verdict::Failed(_, Retry::Late) | Verdict::Unknown(_, Retry::Late)) => "terminal",
            Some(Verdict::Failed(..) | Verdict::Unknown(..)) | None => "error",
        };
        *self.counters.passes.entry(result).or_default() += 1;
        let drifted = seen.is_some_and(|seen| seen.writes > 0 || matches!(seen.verdict, Verdict::Differs(_)));
        let is_announced = self.objects[at].again.is_some_and(|again| again.class >= Class::Event);
        if drifted && member.origin == Origin::Resync && member.was_in_sync && !is_announced {
            self.counters.missed_events += 1;
        }
    }

    fn tell(&mut self, at: usize, seen: Option<&Seen>, found: &[Found], is_limited: bool) {
        let object = &mut self.objects[at];
        let reading = Reading {
            verdict: seen.map(|seen| &seen.verdict),
            ready: seen.and_then(|seen| seen.ready),
            found,
            row: object.failures.row,
            is_limited,
            is_dry: self.settings.dry_run,
            is_away: self.targets[object.target].open.is_some(),
        };
        let turned = object.conditions.update(self.now, &reading);
        let id = &object.subject.id;
        self.effects.extend(turned.into_iter().map(|condition| Effect::Turned(id.clone(), condition)));
    }

    /// Brings what was asked of an object while it was in its pass.
    fn go_again(&mut self, at: usize) {
        let Some(mut entry) = self.objects[at].again.take() else { return };
        if entry.class == Class::Event {
            entry.ready = self.not_past_the_backoff(at, entry);
        }
        let object = &self.objects[at];
        entry.ready = entry.ready.max(object.earliest(self.now, entry.class));
        self.queue.put(at, object.target, entry);
    }

    /// Something came level: what waits for another object may wait for that one.
    fn wake_the_blocked(&mut self) {
        for at in self.blocked.clone() {
            if self.objects[at].running.is_none() {
                self.enqueue(at, Entry::new(self.now, Origin::Retry));
            }
        }
    }

    fn warn_of_a_flood(&mut self) {
        let flood = self.detector.flood(self.now);
        if let Some(flood) = flood.as_ref().filter(|_| flood != self.flood) {
            self.effects.push(Effect::Warned(flood.clone()));
        }
        self.flood = flood;
    }
}

/// When what was found ends, or is probed.
fn until(found: &Found) -> Option<Duration> {
    match found {
        Found::NotEffective { .. } => None,
        Found::Fighting { until, .. } => Some(*until),
        Found::Churn { open, .. } => *open,
    }
}
