//! Choices drawn from a seed, kept in a list, and drawn again from such a list: a schedule is its choices.
//!
//! 0 is the plain choice everywhere: no fault, the first of several. So a list is made simpler by zeros and by
//! cutting its end off.

/// Draws choices.
#[derive(Clone)]
pub struct Dice {
    state: u64,
    script: Option<Vec<u32>>,
    /// What was drawn so far.
    pub taken: Vec<u32>,
}

impl Dice {
    /// Choices of a seed.
    pub fn new(seed: u64) -> Dice {
        Dice { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15), script: None, taken: Vec::new() }
    }

    /// The choices of a list, and 0 after its end.
    pub fn of(script: Vec<u32>) -> Dice {
        Dice { script: Some(script), ..Dice::new(0) }
    }

    /// The next number of the seed (SplitMix64).
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn take(&mut self, draw: impl FnOnce(u64) -> u32) -> u32 {
        let at = self.taken.len();
        let choice = match &self.script {
            Some(script) => script.get(at).copied().unwrap_or(0),
            None => {
                let number = self.next();
                draw(number)
            }
        };
        self.taken.push(choice);
        choice
    }

    /// A number below `end`; 0 for an end of 0.
    pub fn below(&mut self, end: usize) -> usize {
        let choice = self.take(|number| (number % end.max(1) as u64) as u32);
        (choice as usize).min(end.saturating_sub(1))
    }

    /// Whether something of this probability, in hundredths, happens.
    pub fn percent(&mut self, probability: u32) -> bool {
        self.take(|number| u32::from(number % 100 < u64::from(probability))) != 0 && probability > 0
    }

    pub fn one<T: Clone>(&mut self, among: &[T]) -> T {
        among[self.below(among.len())].clone()
    }
}

/// A simpler list of choices that still fails: its end cut off, then runs of it set to 0. At most `tries` are tried.
pub fn shrink(choices: &[u32], mut tries: usize, fails: &mut dyn FnMut(&[u32]) -> bool) -> Vec<u32> {
    let mut best = choices.to_vec();
    let mut attempt = |best: &mut Vec<u32>, candidate: Vec<u32>| {
        if tries == 0 || candidate == *best {
            return false;
        }
        tries -= 1;
        let better = fails(&candidate);
        if better {
            *best = candidate;
        }
        better
    };
    let mut piece = best.len() / 2;
    while piece > 0 {
        let kept = best.len().saturating_sub(piece);
        let candidate = best[..kept].to_vec();
        if !attempt(&mut best, candidate) {
            piece /= 2;
        }
    }
    let mut piece = best.len().div_ceil(2);
    while piece > 0 {
        for start in (0..best.len()).step_by(piece) {
            let end = (start + piece).min(best.len());
            if best[start..end].iter().any(|choice| *choice != 0) {
                let mut candidate = best.clone();
                candidate[start..end].fill(0);
                attempt(&mut best, candidate);
            }
        }
        piece /= 2;
    }
    while best.last() == Some(&0) {
        best.pop();
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_drawn_again_from_their_list() {
        let draw = |dice: &mut Dice| (dice.below(7), dice.percent(50), dice.below(0), dice.one(&[1, 2, 3]));
        let mut dice = Dice::new(4);
        let drawn: Vec<_> = (0..20).map(|_| draw(&mut dice)).collect();
        let mut again = Dice::of(dice.taken.clone());
        assert_eq!((0..20).map(|_| draw(&mut again)).collect::<Vec<_>>(), drawn);
        assert_eq!(draw(&mut again), (0, false, 0, 1), "after the end all is plain");
    }

    #[test]
    fn a_list_shrinks_to_what_fails() {
        let choices: Vec<u32> = (0..200).map(|at| at % 7).collect();
        let small = shrink(&choices, 1_000, &mut |list| list.get(40) == Some(&5) && list.get(3) == Some(&3));
        let kept: Vec<usize> = (0..small.len()).filter(|at| small[*at] != 0).collect();
        assert_eq!((kept, small.len()), (vec![3, 40], 41));
    }
}
