//! The server, as far as the loop can tell: of each object one value, and whether its backend is there.

use std::time::Duration;

use super::super::super::super::digest::Digest;
use super::super::super::super::identity::ObjectId;
use super::super::super::super::path::Path;
use super::super::super::{Pass, Retry, Seen, Subject, Touched, Verdict};
use super::super::make::{id_of, seconds, seen, subject_of, why};
use super::scene::{Nature, Scene};
use crate::core::engine::tests::simulation::dice::Dice;

#[derive(Clone, Debug)]
pub struct Thing {
    pub id: ObjectId,
    pub nature: Nature,
    pub backend: usize,
    pub wish: u64,
    /// Whether it stands in the files.
    pub is_wanted: bool,
    /// 0: it is not there.
    pub value: u64,
    /// The server's own id of it.
    pub uid: u64,
    /// Changes by others, and of the wish.
    pub changes: u64,
    pub writes: u64,
}

pub struct World {
    pub things: Vec<Thing>,
    /// In the order of the documents.
    pub order: Vec<usize>,
    pub away_until: Vec<Duration>,
    /// Objects that were asked about or written while their backend was away.
    pub in_vain: u64,
    pub faults: f64,
    pub outages: f64,
    fresh: u64,
}

const BACKENDS: [&str; 2] = ["rabbit", "dns"];

impl World {
    pub fn new(scene: &Scene) -> World {
        let things: Vec<Thing> = (0..scene.natures.len())
            .map(|at| {
                let backend = at % scene.backends;
                Thing {
                    id: id_of(BACKENDS[backend], &at.to_string()),
                    nature: scene.natures[at],
                    backend,
                    wish: 1,
                    is_wanted: true,
                    value: 0,
                    uid: 0,
                    changes: 1,
                    writes: 0,
                }
            })
            .collect();
        World {
            order: (0..things.len()).collect(),
            things,
            away_until: vec![Duration::ZERO; scene.backends],
            in_vain: 0,
            faults: scene.faults,
            outages: scene.outages,
            fresh: 1,
        }
    }

    pub fn at(&self, id: &ObjectId) -> usize {
        self.things.iter().position(|thing| thing.id == *id).expect("nothing else is wanted")
    }

    /// What the files say.
    pub fn subjects(&self) -> Vec<Subject> {
        let wanted =
            self.order.iter().map(|at| (*at, &self.things[*at])).filter(|(_, thing)| thing.is_wanted);
        let needs = |at| self.need(at).map(|need| self.things[need].id.clone()).into_iter().collect();
        let subject = |(at, thing): (usize, &Thing)| Subject {
            needs: needs(at),
            group: format!("{}/{}", thing.backend, at % 4 / 2).into(),
            ..subject_of(BACKENDS[thing.backend], &at.to_string(), u128::from(thing.wish))
        };
        wanted.map(subject).collect()
    }

    pub fn a_fresh_one(&mut self) -> u64 {
        self.fresh += 1;
        self.fresh
    }

    /// Another client changes an object.
    pub fn change(&mut self, at: usize) {
        let value = self.a_fresh_one();
        self.things[at].changes += 1;
        match self.things[at].is_there() {
            true => self.things[at].value = value,
            false => self.appears(at, value),
        }
    }

    /// The files want something else.
    pub fn wish(&mut self, at: usize) {
        self.things[at].wish = self.a_fresh_one();
        self.things[at].changes += 1;
    }

    pub fn digest(&self, at: usize) -> Digest {
        Digest(u128::from(self.things[at].value))
    }

    fn is_away(&self, backend: usize, now: Duration) -> bool {
        now < self.away_until[backend]
    }

    /// What a pass comes to if it looks and writes now. `wishes` are those of its start.
    pub fn look(&mut self, now: Duration, pass: &Pass, wishes: &[u64], dice: &mut Dice) -> Vec<Seen> {
        let outages = self.outages;
        let down: Vec<bool> = (0..self.away_until.len())
            .map(|backend| self.is_away(backend, now) || dice.chance(outages))
            .collect();
        let mut left = pass.most_writes.unwrap_or(usize::MAX);
        let mut all = Vec::new();
        let mut due: Vec<_> =
            pass.objects.iter().zip(wishes).map(|((id, _), wish)| (self.at(id), wish)).collect();
        // What is needed comes first.
        due.sort_unstable();
        for (at, wish) in due {
            let id = &self.things[at].id.clone();
            if down[self.things[at].backend] {
                self.in_vain += 1;
                let retry = Retry::Soon { fault: true, after: None };
                all.push(seen(id, Verdict::Unknown(why(), retry)));
                continue;
            }
            let may = pass.writes && !pass.held.contains(id) && left > 0;
            if let Some(seen) = self.look_at(at, *wish, may, dice) {
                left -= seen.writes;
                all.push(seen);
            }
        }
        all
    }

    /// `None` if the pass ends without it.
    fn look_at(&mut self, at: usize, wish: u64, may: bool, dice: &mut Dice) -> Option<Seen> {
        if dice.chance(self.faults) {
            return self.fail(at, wish, may, dice);
        }
        let need_is_level = at > 0 && {
            let need = &self.things[at - 1];
            need.value == need.wish || !need.is_wanted || need.nature != Nature::Plain
        };
        let (goal, lacks) = (self.goal(at, wish), self.lacks_its_need(at));
        let thing = &self.things[at];
        let told = |verdict| Some(thing.seen(verdict));
        if lacks {
            return told(Verdict::Blocked(why()));
        }
        if thing.value == goal {
            return told(Verdict::InSync);
        }
        match thing.nature {
            Nature::Refused => return told(Verdict::Refused(why())),
            Nature::Contested => return told(Verdict::Conflict(why())),
            Nature::Reported => return told(Verdict::Differs(why())),
            Nature::Hopeless => return told(Verdict::Failed(why(), Retry::Late)),
            Nature::Needy if at > 0 && !need_is_level => return told(Verdict::Blocked(why())),
            Nature::Plain | Nature::Needy | Nature::Refers | Nature::Member => {}
        }
        if !may {
            return told(Verdict::Differs(why()));
        }
        let touched = self.write(at, goal);
        Some(Seen { writes: 1, touched, ..self.things[at].seen(Verdict::InSync) })
    }

    fn fail(&mut self, at: usize, wish: u64, may: bool, dice: &mut Dice) -> Option<Seen> {
        let soon = |fault| Retry::Soon { fault, after: None };
        let verdict = match dice.below(6) {
            0 => Verdict::Failed(why(), soon(false)),
            1 => Verdict::Failed(why(), soon(true)),
            2 => Verdict::Unknown(why(), soon(false)),
            3 => {
                let after = Some(seconds(dice.one(&[5.0, 40.0])));
                Verdict::Failed(why(), Retry::Soon { fault: false, after })
            }
            4 => {
                // It is done, and the answer is lost.
                let (goal, thing) = (self.goal(at, wish), &self.things[at]);
                let takes = matches!(thing.nature, Nature::Plain | Nature::Refers | Nature::Member);
                let writes = takes && may && thing.value != goal && !self.lacks_its_need(at);
                if writes {
                    self.write(at, goal);
                }
                let verdict = Verdict::Unknown(why(), soon(true));
                return Some(Seen { writes: usize::from(writes), ..seen(&self.things[at].id, verdict) });
            }
            _ => return None,
        };
        Some(seen(&self.things[at].id, verdict))
    }

    /// One write of a pass, and what it is about.
    fn write(&mut self, at: usize, goal: u64) -> Vec<Touched> {
        let is_made = !self.things[at].is_there();
        match is_made {
            true => self.appears(at, goal),
            false => self.things[at].value = goal,
        }
        self.things[at].writes += 1;
        let whole = Touched { path: Path::root(), before: None, after: Some(Digest(1)), set_by: Vec::new() };
        is_made.then_some(whole).into_iter().collect()
    }
}

impl Thing {
    pub fn is_there(&self) -> bool {
        self.value != 0
    }

    fn seen(&self, verdict: Verdict) -> Seen {
        Seen { uid: self.is_there().then(|| self.uid.to_string().into()), ..seen(&self.id, verdict) }
    }
}
