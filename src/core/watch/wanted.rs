//! Another desired set: what is unchanged stays as it is known, what is changed or new is due at once, and what is
//! gone is forgotten.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::super::identity::ObjectId;
use super::control::{Effect, Loop};
use super::hint::Origin;
use super::object::{Object, Standing};
use super::queue::Entry;
use super::subject::Subject;
use super::target::Target;

impl Loop {
    pub(super) fn want(&mut self, subjects: Vec<Subject>) {
        let queue = std::mem::take(&mut self.queue);
        let known = std::mem::take(&mut self.objects).into_iter().enumerate();
        let mut known: HashMap<ObjectId, (Object, Option<Entry>)> =
            known.map(|(at, object)| (object.subject.id.clone(), (object, queue.get(at).copied()))).collect();
        let order = std::mem::take(&mut self.at);
        let mut due = Vec::new();
        self.objects.reserve_exact(subjects.len());
        for subject in subjects {
            let at = self.objects.len();
            self.at.insert(subject.id.clone(), at);
            let (object, entry, is_due) = self.take_over(subject, &mut known);
            if let Some(entry) = entry {
                self.queue.put(at, object.target, entry);
            }
            if is_due {
                due.push(at);
            }
            self.objects.push(object);
        }
        let mut gone: Vec<(usize, ObjectId)> = known.into_keys().map(|id| (order[&id], id)).collect();
        gone.sort_unstable();
        gone.iter().for_each(|(_, id)| self.detector.forget(id));
        self.find_places();
        if !due.is_empty() {
            *self.counters.hints.entry(Origin::Files).or_default() += 1;
        }
        self.forget_open();
        let mut needing = self.all_needing(&due);
        for at in due {
            needing.remove(&at);
            self.trigger(at, Origin::Files, None);
        }
        self.stir(&needing, Origin::Files);
    }

    /// What is known of an object, its entry in the queue, and whether it is due for its wish.
    fn take_over(
        &mut self,
        subject: Subject,
        known: &mut HashMap<ObjectId, (Object, Option<Entry>)>,
    ) -> (Object, Option<Entry>, bool) {
        let target = self.target(subject.target());
        match known.remove(&subject.id) {
            Some((mut object, entry)) if object.subject.desired == subject.desired => {
                object.subject = subject;
                (object, entry, false)
            }
            Some((mut object, entry)) => {
                self.detector.forget(&subject.id);
                let id = subject.id.clone();
                object.want(subject);
                let turned = object.conditions.wanted_otherwise(self.now);
                self.effects.extend(turned.map(|condition| Effect::Turned(id, condition)));
                (object, entry, true)
            }
            None => (Object::new(self.now, subject, target), None, true),
        }
    }

    /// The number of a backend.
    fn target(&mut self, name: &Arc<str>) -> usize {
        let targets = &mut self.targets;
        *self.target_at.entry(Arc::clone(name)).or_insert_with(|| {
            targets.push(Target::new(Arc::clone(name)));
            targets.len() - 1
        })
    }

    /// What is kept by the number of an object is found anew, as they have other numbers now.
    fn find_places(&mut self) {
        for (pass, under) in &self.passes {
            for member in &under.members {
                if let Some(at) = self.at.get(&member.id) {
                    self.objects[*at].running = Some(*pass);
                }
            }
        }
        let mut members: BTreeMap<Arc<str>, Vec<usize>> = BTreeMap::new();
        for (at, object) in self.objects.iter().enumerate() {
            members.entry(Arc::clone(&object.subject.group)).or_default().push(at);
        }
        self.find_needs();
        self.groups.replace(self.now, self.settings.resync, members, &mut self.random);
        let all = || self.objects.iter().enumerate();
        let blocked = all().filter(|(_, object)| object.standing == Standing::Blocked);
        self.blocked = blocked.map(|(at, _)| at).collect();
        self.idle = all().filter(|(_, object)| object.pace.is_idle(self.now)).map(|(at, _)| at).collect();
        self.unseen = Some(all().filter(|(_, object)| !object.is_seen).count());
        let used: BTreeSet<usize> = all().map(|(_, object)| object.target).collect();
        self.targets_used = used.len();
        for at in (0..self.targets.len()).filter(|at| !used.contains(at)) {
            self.targets[at].forget();
        }
    }
}
