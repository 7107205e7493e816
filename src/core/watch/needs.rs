//! What becomes of an object concerns those that need it: what refers to it is wanted as it is found, and what lies
//! below it goes with it. They are looked at when it changed, was made anew or is gone, and until then nobody says that
//! they are in sync.

use std::collections::{BTreeSet, HashMap};

use super::control::{Effect, Loop};
use super::hint::Origin;
use super::object::Object;
use super::pass::{Seen, Verdict};

/// By the number of an object: the numbers of those that need it.
pub type Needing = HashMap<usize, Vec<usize>>;

impl Loop {
    /// Who needs whom, by the numbers that the objects have now.
    pub(super) fn find_needs(&mut self) {
        let mut needing = Needing::new();
        for (at, object) in self.objects.iter().enumerate() {
            for needed in object.subject.needs.iter().filter_map(|id| self.at.get(id)) {
                needing.entry(*needed).or_default().push(at);
            }
        }
        self.needing = needing;
    }

    /// All that needs one of these, at first hand or at second, each once.
    pub(super) fn all_needing(&self, changed: &[usize]) -> BTreeSet<usize> {
        let mut all = BTreeSet::new();
        let mut next = changed.to_vec();
        while let Some(at) = next.pop() {
            let needing = self.needing.get(&at).into_iter().flatten().copied();
            next.extend(needing.filter(|at| all.insert(*at)));
        }
        all
    }

    /// Something may have changed of these: so may what those that need them are to be.
    pub(super) fn hint_needing(&mut self, hinted: &[usize]) {
        let needing = self.all_needing(hinted);
        self.count_need(&needing);
        for at in needing {
            self.trigger(at, Origin::Need, None);
        }
    }

    /// These need what has changed, and were judged before it did.
    pub(super) fn stir(&mut self, needing: &BTreeSet<usize>, origin: Origin) {
        for &at in needing {
            let object = &mut self.objects[at];
            object.is_stale = true;
            let turned = object.conditions.is_in_doubt(self.now);
            let id = &object.subject.id;
            self.effects.extend(turned.map(|condition| Effect::Turned(id.clone(), condition)));
            self.trigger_changed(at, origin);
        }
    }

    pub(super) fn count_need(&mut self, needing: &BTreeSet<usize>) {
        if !needing.is_empty() {
            *self.counters.hints.entry(Origin::Need).or_default() += 1;
        }
    }

    /// Whether a pass is at something that an object needs.
    pub(super) fn is_need_in_a_pass(&self, at: usize) -> bool {
        let mut needs = self.objects[at].subject.needs.iter().filter_map(|id| self.at.get(id));
        needs.any(|need| self.objects[*need].running.is_some())
    }
}

impl Object {
    /// Takes down what a pass found there; whether it is another thing than before, for those that need it.
    pub fn found(&mut self, seen: &Seen) -> bool {
        let is_there = match &seen.verdict {
            _ if seen.writes > 0 => Some(true),
            _ if seen.is_absent() => Some(false),
            Verdict::Unknown(..) | Verdict::Failed(..) | Verdict::Blocked(_) => None,
            _ => Some(true),
        };
        let differs = |before: Option<bool>| before.is_some() && is_there.is_some() && before != is_there;
        let came_or_went = differs(self.is_there);
        self.is_there = is_there.or(self.is_there);
        let is_another = seen.uid.is_some() && self.uid.is_some() && self.uid != seen.uid;
        if seen.uid.is_some() {
            self.uid.clone_from(&seen.uid);
        }
        seen.writes > 0 || came_or_went || is_another
    }
}

impl Seen {
    /// It was to be made, so it was not there.
    fn is_absent(&self) -> bool {
        self.touched.iter().any(|one| one.path.is_root() && one.before.is_none() && one.after.is_some())
    }
}
