//! The largest matching of desired and observed elements without order: who can stand for whom.
//!
//! Likely pairs are looked up by text; then each element that is left over tries to displace others along an
//! augmenting path (Berge's lemma), so that a loose element never takes the only partner of a strict one. The
//! search has a budget: beyond it, in lists of thousands of unlike maps, a pair may be missed.

use std::collections::VecDeque;

/// For each desired element its observed partner.
///
/// `likely` are pairs to start from, each element at most once; `stubborn` says that no other partner than a
/// likely one is possible. `budget` is the most comparisons of the search.
pub(super) fn matching(
    (left, right): (usize, usize),
    likely: impl IntoIterator<Item = (usize, usize)>,
    stubborn: impl Fn(usize) -> bool,
    mut same: impl FnMut(usize, usize) -> bool,
    mut budget: usize,
) -> Vec<Option<usize>> {
    let mut partner = vec![None; left];
    let mut owner = vec![None; right];
    for (i, j) in likely {
        if same(i, j) {
            (partner[i], owner[j]) = (Some(j), Some(i));
        }
    }
    for i in 0..left {
        if partner[i].is_none() && !stubborn(i) && budget > 0 {
            augment(i, &mut partner, &mut owner, &mut same, &mut budget);
        }
    }
    partner
}

/// Finds a partner for `from`, moving others to a second choice where that helps.
fn augment(
    from: usize,
    partner: &mut [Option<usize>],
    owner: &mut [Option<usize>],
    same: &mut impl FnMut(usize, usize) -> bool,
    budget: &mut usize,
) {
    // Who reached an observed element first in this search; breadth first, so paths are short.
    let mut reached: Vec<Option<usize>> = vec![None; owner.len()];
    let mut queue = VecDeque::from([from]);
    while let Some(i) = queue.pop_front() {
        for j in 0..owner.len() {
            if reached[j].is_some() {
                continue;
            }
            if *budget == 0 {
                return;
            }
            *budget -= 1;
            if !same(i, j) {
                continue;
            }
            reached[j] = Some(i);
            match owner[j] {
                Some(other) => queue.push_back(other),
                None => return settle(j, partner, owner, &reached),
            }
        }
    }
}

/// Turns the path that ends at `free` around.
fn settle(
    free: usize,
    partner: &mut [Option<usize>],
    owner: &mut [Option<usize>],
    reached: &[Option<usize>],
) {
    let mut next = Some(free);
    while let Some(j) = next {
        let i = reached[j].expect("each element on the path was reached from one");
        owner[j] = Some(i);
        next = partner[i].replace(j);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loose_element_leaves_the_strict_one_its_partner() {
        // 0 fits both, 1 fits only the first.
        let fits = |i, j| i == 0 || j == 0;
        assert_eq!(matching((2, 2), [], |_| false, fits, 1 << 20), [Some(1), Some(0)]);
        assert_eq!(matching((2, 2), [(0, 0)], |_| false, fits, 1 << 20), [Some(1), Some(0)]);
        assert_eq!(matching((2, 1), [], |_| false, fits, 1 << 20), [Some(0), None]);
    }

    #[test]
    fn a_likely_pair_must_be_a_pair() {
        assert_eq!(matching((1, 1), [(0, 0)], |_| true, |_, _| false, 9), [None]);
    }

    #[test]
    fn a_spent_budget_ends_the_search() {
        assert_eq!(matching((2, 2), [], |_| false, |i, j| i == j, 2), [Some(0), None]);
    }

    #[test]
    fn long_chains_are_turned_around() {
        // Each but the last fits its own place and the next; the last fits only the first.
        let n = 500;
        let fits = |i, j| if i == n - 1 { j == 0 } else { j == i || j == i + 1 };
        let partner = matching((n, n), (0..n - 1).map(|i| (i, i)), |_| false, fits, 1 << 20);
        assert!(partner.iter().all(Option::is_some));
    }
}
