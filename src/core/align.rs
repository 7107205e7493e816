//! Two sequences side by side: which elements are the same, in order.
//!
//! A longest common subsequence costs the product of the lengths, so it is taken only of what remains between
//! the common head, the common tail and, in long lists, pairs that are certain (*anchors*). Where even that is
//! too much, nothing in between is said to be the same: a coarser answer, never a wrong one.

use std::ops::Range;

/// The most comparisons for one table.
const TABLE: usize = 1 << 16;

/// The most comparisons for all tables of one alignment.
const BUDGET: usize = 1 << 20;

/// Pairs of positions whose elements are the same, ascending on both sides.
///
/// `anchors` is asked only where the table would be too large: pairs within the two ranges that are likely to
/// be the same and have no rival, ascending in the first position.
pub(crate) fn align(
    left: usize,
    right: usize,
    mut same: impl FnMut(usize, usize) -> bool,
    anchors: impl FnOnce(Range<usize>, Range<usize>) -> Vec<(usize, usize)>,
) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut budget = BUDGET;
    let (rest, tail) = trim(0..left, 0..right, &mut same, &mut pairs);
    match rest {
        (a, b) if a.len().saturating_mul(b.len()) <= TABLE => table(a, b, &mut same, &mut pairs),
        (a, b) => {
            let mut certain = anchors(a.clone(), b.clone());
            certain.retain(|(i, j)| same(*i, *j));
            let (mut i, mut j) = (a.start, b.start);
            for (to_i, to_j) in ascending(&certain).into_iter().chain([(a.end, b.end)]) {
                between(i..to_i, j..to_j, &mut same, &mut budget, &mut pairs);
                if to_i < a.end {
                    pairs.push((to_i, to_j));
                }
                (i, j) = (to_i + 1, to_j + 1);
            }
        }
    }
    pairs.extend(tail);
    pairs
}

/// One gap between anchors, within what is left of the budget.
fn between(
    a: Range<usize>,
    b: Range<usize>,
    same: &mut impl FnMut(usize, usize) -> bool,
    budget: &mut usize,
    pairs: &mut Vec<(usize, usize)>,
) {
    let ((a, b), tail) = trim(a, b, same, pairs);
    let cells = a.len().saturating_mul(b.len());
    if cells <= TABLE.min(*budget) {
        *budget -= cells;
        table(a, b, same, pairs);
    }
    pairs.extend(tail);
}

type Ranges = (Range<usize>, Range<usize>);

/// Puts the common head into `pairs`; what is left, and the common tail.
fn trim(
    a: Range<usize>,
    b: Range<usize>,
    same: &mut impl FnMut(usize, usize) -> bool,
    pairs: &mut Vec<(usize, usize)>,
) -> (Ranges, Vec<(usize, usize)>) {
    let (mut a, mut b) = (a, b);
    while !a.is_empty() && !b.is_empty() && same(a.start, b.start) {
        pairs.push((a.start, b.start));
        (a.start, b.start) = (a.start + 1, b.start + 1);
    }
    let mut tail = Vec::new();
    while !a.is_empty() && !b.is_empty() && same(a.end - 1, b.end - 1) {
        (a.end, b.end) = (a.end - 1, b.end - 1);
        tail.push((a.end, b.end));
    }
    tail.reverse();
    ((a, b), tail)
}

/// The longest common subsequence.
fn table(
    a: Range<usize>,
    b: Range<usize>,
    same: &mut impl FnMut(usize, usize) -> bool,
    pairs: &mut Vec<(usize, usize)>,
) {
    heaviest(a, b, |i, j| u32::from(same(i, j)), pairs);
}

/// Pairs, ascending on both sides, whose weights have the largest sum; those of weight 0 are none. By the
/// classic table, filled from the end so that it is read from the front, where the first of equals wins.
pub(crate) fn heaviest(
    a: Range<usize>,
    b: Range<usize>,
    mut weight: impl FnMut(usize, usize) -> u32,
    pairs: &mut Vec<(usize, usize)>,
) {
    if a.is_empty() || b.is_empty() {
        return;
    }
    let width = b.len() + 1;
    let mut best = vec![0u32; (a.len() + 1) * width];
    let mut weights = vec![0u32; a.len() * b.len()];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            let weight = weight(a.start + i, b.start + j);
            weights[i * b.len() + j] = weight;
            let without = best[(i + 1) * width + j].max(best[i * width + j + 1]);
            best[i * width + j] = without.max(best[(i + 1) * width + j + 1] + weight);
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let weight = weights[i * b.len() + j];
        if weight > 0 && best[i * width + j] == best[(i + 1) * width + j + 1] + weight {
            pairs.push((a.start + i, b.start + j));
            (i, j) = (i + 1, j + 1);
        } else if best[(i + 1) * width + j] >= best[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
}

/// The longest run of pairs that ascends in the second position too (patience sorting); they ascend in the first.
fn ascending(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length: the pair that ends the best run so long. For each pair: the one before it in its run.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, (_, j)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < *j);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(at) = next {
        run.push(pairs[at]);
        next = before[at];
    }
    run.reverse();
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(a: &str, b: &str) -> String {
        let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
        let pairs =
            align(a.len(), b.len(), |i, j| a[i] == b[j], |_, _| panic!("short lists need no anchors"));
        assert!(pairs.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 < w[1].1));
        pairs.iter().map(|(i, _)| a[*i]).collect()
    }

    #[test]
    fn the_longest_common_subsequence() {
        for (a, b, common) in [
            ("", "", ""),
            ("abc", "", ""),
            ("abc", "abc", "abc"),
            ("abc", "axc", "ac"),
            ("abc", "xabcy", "abc"),
            ("abcde", "bcdea", "bcde"),
            ("aab", "ab", "ab"),
            ("xaxbx", "ab", "ab"),
        ] {
            assert_eq!(of(a, b), common, "{a} {b}");
        }
    }

    #[test]
    fn long_lists_are_aligned_at_their_anchors() {
        let left: Vec<usize> = (0..10_000).collect();
        let mut right = left.clone();
        right.remove(3_000);
        right.insert(6_000, 77_777);
        right.swap(1_000, 9_000);
        let mut calls = 0usize;
        let same = |i: usize, j: usize| {
            calls += 1;
            left[i] == right[j]
        };
        let pairs = align(left.len(), right.len(), same, |a, b| {
            let place = |v: &usize| right[b.clone()].iter().position(|w| w == v).map(|at| at + b.start);
            a.step_by(100).filter_map(|i| Some((i, place(&left[i])?))).collect()
        });
        assert_eq!(pairs.len(), 9_997, "all but one removed and two swapped");
        assert!(calls < BUDGET);
    }

    #[test]
    fn wholly_different_long_lists_cost_little() {
        let mut calls = 0usize;
        let same = |_, _| {
            calls += 1;
            false
        };
        assert!(align(100_000, 100_000, same, |_, _| Vec::new()).is_empty());
        assert!(calls <= 4);
    }
}
