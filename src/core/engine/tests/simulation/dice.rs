//! Choices drawn from a seed.

use crate::core::engine::random::Random;

pub struct Dice(Random);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(Random::new(seed.wrapping_mul(0x9E37_79B9).wrapping_add(1)))
    }

    /// A number below `end`; zero for an end of zero.
    pub fn below(&mut self, end: usize) -> usize {
        ((self.0.unit() * end as f64) as usize).min(end.saturating_sub(1))
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        self.0.unit() < probability
    }

    /// A number in `0.0..1.0`.
    pub fn fraction(&mut self) -> f64 {
        self.0.unit()
    }

    pub fn one<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.below(among.len())]
    }

    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for last in (1..all.len()).rev() {
            all.swap(last, self.below(last + 1));
        }
    }
}
