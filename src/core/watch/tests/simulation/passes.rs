//! Passes of a schedule. Their objects are looked at together, but for those that take long: each of these is done for
//! itself, and the pass goes on for as long as one of them does.

use std::time::Duration;

use super::super::super::{Event, Pass, PassId, Seen, Verdict};
use super::run::{Run, What};
use crate::core::identity::ObjectId;

/// An instance, its life and its pass.
pub type PassOf = (usize, u32, PassId);

/// A pass that is under way.
#[derive(Default)]
pub struct Pieces {
    /// Parts that are not done.
    open: usize,
    /// Writes of those that have looked.
    written: usize,
    /// What it is done with, and has not given back.
    done: Vec<Seen>,
}

impl Run<'_> {
    pub fn begin(&mut self, at: usize, pass: Pass) {
        self.say(|| {
            let objects = pass.objects.iter().map(|(id, origin)| format!("{} {}", id.key, origin.word()));
            let objects: Vec<String> = objects.collect();
            let most = pass.most_writes.map_or(String::new(), |most| format!(", {most} writes at most"));
            let writes = if pass.writes { "" } else { ", no writes" };
            format!("{at}: pass {}: {}{most}{writes}", pass.id, objects.join(", "))
        });
        let it = &mut self.instances[at];
        it.monitor.began(self.now, &pass, &it.machine);
        let this = (at, it.life, pass.id);
        let (slow, swift): (Vec<_>, Vec<_>) = pass
            .objects
            .iter()
            .cloned()
            .partition(|_| self.scene.slow.is_some_and(|_| self.dice.chance(0.3)));
        let parts = slow.into_iter().map(|one| (vec![one], self.scene.slow.unwrap_or_default()));
        let parts: Vec<_> = parts.chain((!swift.is_empty()).then_some((swift, self.scene.pass))).collect();
        self.passes.insert(this, Pieces { open: parts.len(), ..Pieces::default() });
        for (objects, longest) in parts {
            let part = Pass { objects, ..pass.clone() };
            let wish = |id: &ObjectId| self.world.things[self.world.at(id)].wish;
            let wishes = part.objects.iter().map(|(id, _)| wish(id)).collect();
            let look = self.now + longest.mul_f64(self.dice.fraction());
            self.plan(look, What::Look(this, part, wishes));
        }
    }

    pub fn look(&mut self, this: PassOf, part: &Pass, wishes: &[u64]) {
        if self.instances[this.0].life != this.1 {
            return;
        }
        let pieces = self.passes.get_mut(&this).expect("it is under way");
        let left = part.most_writes.map(|most| most.saturating_sub(pieces.written));
        let part = Pass { most_writes: left, ..part.clone() };
        let seen = self.world.look(self.now, &part, wishes, self.dice);
        pieces.written += seen.iter().map(|seen| seen.writes).sum::<usize>();
        for seen in seen.iter().filter(|seen| seen.writes > 0) {
            let at = self.world.at(&seen.id);
            self.feed(at);
        }
        let end = self.now + self.scene.pass.mul_f64(self.dice.fraction());
        let about = part.objects.into_iter().map(|(id, _)| id).collect();
        self.plan(end, What::Done(this, about, seen));
    }

    pub fn done(&mut self, this: PassOf, about: &[ObjectId], seen: Vec<Seen>) {
        let (instance, life, pass) = this;
        if self.instances[instance].life != life {
            return;
        }
        let pieces = self.passes.get_mut(&this).expect("it is under way");
        pieces.open -= 1;
        pieces.done.extend(seen);
        if pieces.open > 0 {
            // What it does not tell of it keeps to its end.
            let told = about.iter().filter(|id| pieces.done.iter().any(|seen| seen.id == **id));
            let (now, monitor) = (self.now, &mut self.instances[instance].monitor);
            return told.for_each(|id| monitor.is_done_with(now, id));
        }
        let seen = self.passes.remove(&this).map(|pieces| pieces.done).unwrap_or_default();
        self.say(|| format!("{instance}: pass {pass} ends: {}", told(&seen)));
        self.step(instance, Event::Ended(pass, seen));
    }

    pub fn give_back(&mut self, this: PassOf) {
        let (instance, life, pass) = this;
        let Some(pieces) = self.passes.get_mut(&this).filter(|_| self.instances[instance].life == life)
        else {
            return;
        };
        let seen = std::mem::take(&mut pieces.done);
        self.say(|| format!("{instance}: pass {pass} is done with: {}", told(&seen)));
        self.step(instance, Event::Settled(pass, seen));
    }
}

impl super::scene::Scene {
    /// A part of a pass looks and ends within this, each.
    pub fn longest_pass(&self) -> Duration {
        self.pass.max(self.slow.unwrap_or_default())
    }
}

fn told(seen: &[Seen]) -> String {
    let one = |seen: &Seen| {
        let verdict = match &seen.verdict {
            Verdict::InSync => "in sync".to_string(),
            other => format!("{other:?}").chars().take_while(|c| *c != '(').collect(),
        };
        format!("{} {verdict}{}", seen.id.key, if seen.writes > 0 { ", written" } else { "" })
    };
    seen.iter().map(one).collect::<Vec<_>>().join("; ")
}
