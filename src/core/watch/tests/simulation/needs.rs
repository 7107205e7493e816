//! Objects that need others: what refers to an object is to be as that one is, and what lies below it goes with it. No
//! feed tells of either: it tells only of the object that was touched.

use super::super::super::super::identity::ObjectId;
use super::super::super::{ConditionKind, Loop, Seen};
use super::scene::Nature;
use super::world::World;

impl World {
    /// The object that this one needs, as far as the files name it.
    pub fn need(&self, at: usize) -> Option<usize> {
        let steps = match self.things[at].nature {
            Nature::Refers => 1,
            // A parent is on the same backend.
            Nature::Member => self.away_until.len(),
            _ => return None,
        };
        at.checked_sub(steps).filter(|need| self.things[*need].is_wanted)
    }

    /// Whether a document names the object as one that it needs.
    pub fn is_needed(&self, at: usize) -> bool {
        (0..self.things.len()).any(|other| self.things[other].is_wanted && self.need(other) == Some(at))
    }

    /// Whether nothing keeps the object from coming level at last.
    pub fn can_be_level(&self, at: usize) -> bool {
        match self.things[at].nature {
            Nature::Plain | Nature::Needy => true,
            Nature::Refers | Nature::Member => self.need(at).is_none_or(|need| self.can_be_level(need)),
            _ => false,
        }
    }

    /// The value that an object is to have by this wish, by what it refers to as that is found.
    pub fn goal(&self, at: usize, wish: u64) -> u64 {
        match self.need(at).filter(|_| self.things[at].nature == Nature::Refers) {
            Some(need) => wish * 1_000_000 + self.things[need].uid,
            None => wish,
        }
    }

    /// Whether what it needs is not there.
    pub fn lacks_its_need(&self, at: usize) -> bool {
        self.need(at).is_some_and(|need| !self.things[need].is_there())
    }

    /// It is another object than before, or none: so are those below it, and those that refer to it are to be others.
    fn is_another(&mut self, at: usize) {
        for other in 0..self.things.len() {
            if self.need(other) != Some(at) {
                continue;
            }
            match self.things[other].nature == Nature::Member && self.things[other].is_there() {
                true => self.vanish(other),
                false => self.things[other].changes += 1,
            }
        }
    }

    /// An object goes, with all that lies below it.
    pub fn vanish(&mut self, at: usize) {
        (self.things[at].value, self.things[at].uid) = (0, 0);
        self.things[at].changes += 1;
        self.is_another(at);
    }

    /// An object is made, by whomever.
    pub fn appears(&mut self, at: usize, value: u64) {
        let uid = self.a_fresh_one();
        (self.things[at].value, self.things[at].uid) = (value, uid);
        self.is_another(at);
    }

    /// All that needs one of these, at first hand or at second, and was not in the same pass.
    pub fn needing(&self, ids: &[ObjectId], seen: &[Seen]) -> Vec<ObjectId> {
        let mut changed: Vec<usize> = ids.iter().map(|id| self.at(id)).collect();
        let mut all = Vec::new();
        while let Some(at) = changed.pop() {
            let needing = (0..self.things.len()).filter(|other| self.need(*other) == Some(at));
            changed.extend(needing.clone());
            all.extend(needing.map(|other| self.things[other].id.clone()));
        }
        all.retain(|id| seen.iter().all(|seen| seen.id != *id));
        all
    }

    /// Those that need what a pass has written, and were not looked at in it, and yet are said to be in sync.
    pub fn said_too_soon(&self, seen: &[Seen], machine: &Loop) -> Vec<String> {
        let status = machine.status();
        let wrote = |at: &usize| seen.iter().any(|seen| seen.writes > 0 && seen.id == self.things[*at].id);
        let is_judged = |at: usize| seen.iter().any(|seen| seen.id == self.things[at].id);
        let all = (0..self.things.len()).filter(|at| self.things[*at].is_wanted && !is_judged(*at));
        let needing = all.filter(|at| self.need(*at).is_some_and(|need| wrote(&need)));
        let synced = needing.filter(|at| {
            status.object(&self.things[*at].id).is_some_and(|object| object.holds(ConditionKind::Synced))
        });
        synced
            .map(|at| format!("I15: {}: in sync, and what it needs was written", self.things[at].id))
            .collect()
    }
}
