//! What is to have a unique value of an object that is to go: its heirs.
//!
//! Each of the two is wanted by itself, but together they are a replacement: one is to be there in the end. So what has the
//! value goes only once all that is known before has gone well with its heirs, and stays where one of them was refused,
//! was skipped or failed. What the server says to the creation itself comes too late to be known.

use super::super::report::{Explanation, Outcome};
use super::Engine;
use super::decide::Seen;
use super::object::Phase;

impl Engine {
    /// Whether a deletion that is due waits for an heir, or is not made for want of one.
    pub(super) fn is_spared(&mut self, at: usize) -> bool {
        if self.objects[at].kind.unique.is_empty() || self.uniques.let_go.contains(&at) {
            return false;
        }
        let heirs = self.heirs(at);
        let lost = heirs
            .iter()
            .find(|heir| self.objects[**heir].outcome().is_some() && !self.objects[**heir].is_usable());
        if let Some(&heir) = lost {
            self.uniques.spared.remove(&at);
            let why = self.stays_for_heir(at, heir);
            self.settle(at, Outcome::Skipped(why));
            return true;
        }
        let waits = heirs.iter().any(|heir| self.is_undecided_heir(*heir, at));
        if waits {
            self.uniques.spared.insert(at);
            self.objects[at].phase = Phase::Held;
        } else {
            self.uniques.spared.remove(&at);
        }
        waits
    }

    /// Whether it is still to be seen if an heir goes on. One that waits for the object is as far as it can be.
    fn is_undecided_heir(&self, heir: usize, at: usize) -> bool {
        self.objects[heir].outcome().is_none() && !self.awaits(heir, at)
    }

    /// Who is to have what an object has, and has it not.
    pub(super) fn heirs(&self, at: usize) -> Vec<usize> {
        let held = self.uniques.held.get(&at).into_iter().flatten();
        let takers = held.flat_map(|held| {
            let takers = self.uniques.takers.get(held).into_iter().flatten().copied();
            takers.filter(move |taker| *taker != at && self.takes(*taker, held))
        });
        let mut heirs: Vec<usize> = takers.collect();
        heirs.sort_unstable();
        heirs.dedup();
        heirs
    }

    fn takes(&self, taker: usize, held: &super::Held) -> bool {
        let object = &self.objects[taker];
        let has = self.uniques.held.get(&taker).is_some_and(|has| has.contains(held));
        let stays = matches!(object.seen, Seen::Present(_))
            && self.leaves_alone(taker, &object.kind.unique[held.field]);
        !(has || stays)
    }

    fn stays_for_heir(&self, at: usize, heir: usize) -> Explanation {
        let held = self.uniques.held.get(&at).into_iter().flatten();
        let mut fields =
            held.filter(|held| self.uniques.takers.get(*held).is_some_and(|takers| takers.contains(&heir)));
        let kind = &self.objects[at].kind;
        let path = fields.next().map(|held| kind.unique[held.field].to_string()).unwrap_or_default();
        let (heir, what) = (&self.objects[heir].id, self.what_became_of(heir));
        let why = format!("it stays: `{heir}`, which is to have its `{path}`, {what}");
        Explanation::new(why).hint("it goes once that can be done; to delete it alone: `--only`")
    }

    /// Lets deletions go on, or ends them, whose heirs have come further.
    pub(super) fn settle_spared(&mut self) {
        if !std::mem::take(&mut self.uniques.stirred) || self.uniques.spared.is_empty() {
            return;
        }
        for at in self.uniques.spared.clone() {
            if self.objects[at].outcome().is_some() {
                self.uniques.spared.remove(&at);
                continue;
            }
            let heirs = self.heirs(at);
            let is_free = self.objects[at].holders == 0 && matches!(self.objects[at].phase, Phase::Held);
            if is_free && !heirs.iter().any(|heir| self.is_undecided_heir(*heir, at)) {
                self.release(at);
            }
        }
    }

    /// Where nothing else goes on any more, deletions wait for no heir. Whether there were any.
    pub(super) fn spare_no_longer(&mut self) -> bool {
        let stands = self.pending.is_empty() && self.timers.is_empty() && self.effects.is_empty();
        if !stands || self.uniques.spared.is_empty() {
            return false;
        }
        for at in std::mem::take(&mut self.uniques.spared) {
            self.uniques.let_go.insert(at);
            if self.objects[at].holders == 0 && matches!(self.objects[at].phase, Phase::Held) {
                self.release(at);
            }
        }
        true
    }
}
