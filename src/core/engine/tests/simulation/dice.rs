//! Choices: all of a schedule go through one recorder. Drawn from a seed, or replayed from a list in which zero is
//! the plain choice: nothing fails, nobody meddles, what came first goes first.

use crate::core::engine::random::Random;

pub struct Dice {
    random: Random,
    /// What to choose, instead of drawing; past its end the plain choice is taken.
    script: Option<Vec<u32>>,
    /// Only even chances and choices among few are made; all else is as if it were plain.
    coarse: bool,
    taken: Vec<u32>,
    /// The number of ways that each choice had.
    ends: Vec<u32>,
}

impl Dice {
    pub fn new(seed: u64) -> Dice {
        let random = Random::new(seed.wrapping_mul(0x9E37_79B9).wrapping_add(1));
        Dice { random, script: None, coarse: false, taken: Vec::new(), ends: Vec::new() }
    }

    pub fn replay(choices: Vec<u32>) -> Dice {
        Dice { script: Some(choices), ..Dice::new(0) }
    }

    /// One of all lists of a small scope; the next is its [`Dice::successor`].
    pub fn every(choices: Vec<u32>) -> Dice {
        Dice { coarse: true, ..Dice::replay(choices) }
    }

    /// Whether it still follows what it was given.
    pub fn follows(&self) -> bool {
        self.script.as_ref().is_some_and(|script| self.taken.len() < script.len())
    }

    /// What was chosen so far.
    pub fn taken(&self) -> &[u32] {
        &self.taken
    }

    /// The list of choices that comes after the ones taken, where every choice counts up; `None` after the last.
    pub fn successor(&self) -> Option<Vec<u32>> {
        let at = (0..self.taken.len()).rev().find(|at| self.taken[*at] + 1 < self.ends[*at])?;
        let mut next = self.taken[..=at].to_vec();
        next[at] += 1;
        Some(next)
    }

    fn choose(&mut self, end: usize, draw: impl FnOnce(f64) -> usize) -> usize {
        let chosen = match &self.script {
            Some(script) => script.get(self.taken.len()).copied().unwrap_or_default() as usize,
            None => draw(self.random.unit()),
        };
        let chosen = chosen.min(end.saturating_sub(1));
        self.taken.push(chosen as u32);
        self.ends.push(end as u32);
        chosen
    }

    /// A number below `end`; zero for an end of zero.
    pub fn below(&mut self, end: usize) -> usize {
        if end < 2 {
            return 0;
        }
        self.choose(end, |unit| (unit * end as f64) as usize)
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        if probability <= 0.0 || probability >= 1.0 || (self.coarse && probability != 0.5) {
            return probability >= 1.0;
        }
        self.choose(2, |unit| usize::from(unit < probability)) == 1
    }

    /// A number in `0.0..1.0`.
    pub fn fraction(&mut self) -> f64 {
        if self.coarse { 0.5 } else { self.below(1000) as f64 / 1000.0 }
    }

    pub fn one<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.below(among.len())]
    }

    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for first in 0..all.len() {
            let other = first + self.below(all.len() - first);
            all.swap(first, other);
        }
    }
}
