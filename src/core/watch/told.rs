//! Where everything stands, as values.

use std::collections::BTreeSet;

use super::super::identity::ObjectId;
use super::begin::Under;
use super::control::Loop;
use super::object::Object;
use super::status::{Counters, ObjectStatus, Refused, Status, TargetStatus};
use super::target::Target;

/// So many objects are told one by one.
const TOLD: usize = 20;

/// What is said of an object that is written again and again for one wish.
pub(super) fn churns(id: &ObjectId, writes: u32) -> String {
    format!("`{id}`: {writes} writes in ten minutes did not keep it as it is wanted")
}

impl Loop {
    /// Where everything stands.
    pub fn status(&self) -> Status {
        Status {
            objects: self.objects.iter().enumerate().map(|(at, object)| self.told(at, object)).collect(),
            targets: self.told_targets(),
            counters: self.counters(),
            warnings: self
                .idle_warning()
                .into_iter()
                .chain(self.flood.clone())
                .chain(self.churns())
                .collect(),
            refused: Refused::default(),
        }
    }

    /// The numbers alone.
    pub fn counters(&self) -> Counters {
        let of_objects = |under: &Under| under.started.saturating_mul(under.members.len() as u32);
        Counters {
            depth: self.queue.depth(),
            running: self.passes.values().map(|under| under.members.len()).sum(),
            longest: self.passes.values().map(|under| under.started).min(),
            begun: Some(self.passes.values().map(of_objects).sum()),
            ..self.counters.clone()
        }
    }

    /// A sentence for each object that is written again and again for one wish.
    fn churns(&self) -> Vec<String> {
        let churns = self.objects.iter().filter_map(|object| Some(churns(&object.subject.id, object.churn?)));
        let mut told: Vec<String> = churns.clone().take(TOLD).collect();
        let more = churns.count() - told.len();
        told.extend((more > 0).then(|| format!("and {more} more objects are written again and again")));
        told
    }

    fn told(&self, at: usize, object: &Object) -> ObjectStatus {
        let queued = self.queue.get(at).map(|entry| entry.ready);
        // Not even the resync comes before the server wants it to.
        let resync = self.groups.next_of(&object.subject.group);
        let resync = resync.map(|resync| resync.max(object.failures.not_before));
        let next = queued.into_iter().chain(resync).min();
        let probe = self.targets[object.target].open.as_ref().and_then(|open| open.next());
        ObjectStatus {
            id: object.subject.id.clone(),
            origin: object.subject.origin.clone(),
            desired: object.subject.desired,
            conditions: object.conditions.all().to_vec(),
            attempts: object.failures.row,
            next: next.filter(|_| object.running.is_none()).map(|next| next.max(probe.unwrap_or_default())),
            synced: object.synced,
            writes: object.writes,
        }
    }

    fn told_targets(&self) -> Vec<TargetStatus> {
        let used: BTreeSet<usize> = self.objects.iter().map(|object| object.target).collect();
        let told = |target: &Target| TargetStatus {
            name: target.name.clone(),
            open: target.open.is_some(),
            message: target.open.as_ref().map(|open| open.message.clone()),
            since: target.since,
            next: target.open.as_ref().and_then(|open| open.next()),
        };
        let by_name = self.target_at.values().filter(|at| used.contains(at));
        by_name.map(|at| told(&self.targets[*at])).collect()
    }

    /// What is looked at again and again for nothing.
    pub(super) fn idle_warning(&self) -> Option<String> {
        let mut idle = self.idle.iter().filter(|at| self.objects[**at].pace.is_idle(self.now));
        let first = &self.objects[*idle.next()?];
        let others = match idle.count() {
            0 => String::new(),
            1 => " and another one".into(),
            count => format!(" and {count} others"),
        };
        let origin = first.pace.most_frequent().map_or("hint", |origin| origin.word());
        Some(format!(
            "`{}`{others}: 30 looks within 5 minutes and nothing to do, most often by {origin}: every 10 s at most from \
             now on",
            first.subject.id
        ))
    }
}
