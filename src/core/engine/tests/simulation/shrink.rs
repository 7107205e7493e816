//! Shrinking: from the choices of a schedule that fails to few that still do.

/// So many runs at most.
const RUNS: u32 = 1_500;

/// The shortest list found that `fails`, its choices as plain as can be; `choices` itself fails.
///
/// First the end is cut off, then stretches are left out or made plain, shorter ones each time, then each choice
/// that is left is made smaller; until nothing of it helps any more.
pub fn shrink(choices: &[u32], mut fails: impl FnMut(&[u32]) -> bool) -> Vec<u32> {
    let mut best = choices.to_vec();
    let mut runs = 0;
    let mut try_one = |best: &mut Vec<u32>, other: Vec<u32>| {
        if other == *best || runs >= RUNS {
            return false;
        }
        runs += 1;
        let better = fails(&other);
        if better {
            *best = other;
        }
        better
    };
    loop {
        let before = best.clone();
        cut(&mut best, &mut try_one);
        leave_out(&mut best, &mut try_one);
        make_plain(&mut best, &mut try_one);
        make_smaller(&mut best, &mut try_one);
        while best.last() == Some(&0) {
            best.pop();
        }
        if best == before {
            return best;
        }
    }
}

type Try<'t> = dyn FnMut(&mut Vec<u32>, Vec<u32>) -> bool + 't;

fn cut(best: &mut Vec<u32>, try_one: &mut Try) {
    let mut piece = best.len() / 2;
    while piece > 0 {
        let shorter = best[..best.len().saturating_sub(piece)].to_vec();
        if !try_one(best, shorter) {
            piece /= 2;
        }
        piece = piece.min(best.len());
    }
}

fn leave_out(best: &mut Vec<u32>, try_one: &mut Try) {
    let mut piece = best.len() / 2;
    while piece > 0 {
        let mut from = 0;
        while from < best.len() {
            let mut fewer = best.clone();
            fewer.drain(from..(from + piece).min(best.len()));
            if !try_one(best, fewer) {
                from += piece;
            }
        }
        piece /= 4;
    }
}

fn make_plain(best: &mut Vec<u32>, try_one: &mut Try) {
    let mut piece = best.len();
    while piece > 0 {
        for from in (0..best.len()).step_by(piece) {
            let to = (from + piece).min(best.len());
            if best[from..to].iter().all(|choice| *choice == 0) {
                continue;
            }
            let mut plain = best.clone();
            plain[from..to].fill(0);
            try_one(best, plain);
        }
        piece /= 2;
    }
}

fn make_smaller(best: &mut Vec<u32>, try_one: &mut Try) {
    for at in 0..best.len() {
        for smaller in [1, best[at] / 2, best[at].saturating_sub(1)] {
            if smaller < best[at] && smaller > 0 {
                let mut other = best.clone();
                other[at] = smaller;
                try_one(best, other);
            }
        }
    }
}

/// The choices that are not plain, as `TRUEUP_CHOICES` takes them: `place:choice`, with commas.
pub fn written(choices: &[u32]) -> String {
    let odd = choices.iter().enumerate().filter(|(_, choice)| **choice != 0);
    odd.map(|(at, choice)| format!("{at}:{choice}")).collect::<Vec<_>>().join(",")
}

/// The opposite of [`written`].
pub fn parse(text: &str) -> Vec<u32> {
    let mut choices = Vec::new();
    for pair in text.split(',').filter(|pair| !pair.is_empty()) {
        let (at, choice) = pair.split_once(':').expect("`place:choice`");
        let at: usize = at.trim().parse().expect("a place");
        choices.resize(choices.len().max(at + 1), 0);
        choices[at] = choice.trim().parse().expect("a choice");
    }
    choices
}

#[test]
fn what_matters_is_left_and_nothing_else() {
    let choices: Vec<u32> = (0..500).map(|i| i * 7 % 5).collect();
    let needed = |list: &[u32]| list.iter().filter(|choice| **choice == 3).count() >= 2;
    assert!(needed(&choices));
    let few = shrink(&choices, needed);
    assert_eq!(written(&few), "0:3,1:3");
    assert_eq!(parse(&written(&few)), few);
    let placed = |list: &[u32]| list.get(17).is_some_and(|choice| *choice >= 2);
    assert_eq!(written(&shrink(&choices, placed)), "17:2");
}
