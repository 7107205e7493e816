//! Pairs in order: by longest common subsequence, and in its gaps those most alike.

use std::ops::Range;

use crate::core::node::Want;
use crate::core::value::Value;

use super::super::walk::agrees;
use super::lists::Lists;
use super::{Partners, set, signature};
use crate::core::align::{align, heaviest};

/// The most comparisons in search of the elements that are most alike.
const ALIKE: usize = 1 << 12;

/// The most comparisons in search of another order. To miss it only makes the difference longer.
const REORDER: usize = 1 << 14;

/// The partners, and whether the order is all that differs.
pub(super) fn partners(lists: &Lists) -> (Partners, bool) {
    let (left, right) = (lists.items.len(), lists.observed.len());
    let open = lists.scope.here().open;
    if open && let Some(partners) = subsequence(lists) {
        return (partners, false);
    }
    let anchors = |a: Range<usize>, b: Range<usize>| {
        let (i, j) = (a.start, b.start);
        let within = lists.select(&a.collect::<Vec<_>>(), &b.collect::<Vec<_>>());
        signature::unrivalled(&within).into_iter().map(|(a, b)| (a + i, b + j)).collect()
    };
    let common = align(left, right, |i, j| lists.same(i, j), anchors);
    if let Some(partners) = reordered(lists, &common) {
        return (partners, true);
    }
    let mut partners = vec![None; left];
    let (mut i, mut j) = (0, 0);
    for (to_i, to_j) in common.into_iter().chain([(left, right)]) {
        // In an open list, an element that is not asked for is somebody else's.
        if !open {
            let alike = most_alike(lists, i..to_i, j..to_j).into_iter();
            alike.for_each(|(left, right)| partners[left] = Some(right));
        }
        if to_i < left {
            partners[to_i] = Some(to_j);
        }
        (i, j) = (to_i + 1, to_j + 1);
    }
    (partners, false)
}

/// Every desired element as the next observed one that agrees, if that finds all.
fn subsequence(lists: &Lists) -> Option<Partners> {
    let mut free = 0..lists.observed.len();
    (0..lists.items.len()).map(|i| free.find(|j| lists.same(i, *j)).map(Some)).collect()
}

/// As many pairs as a gap allows, in order, so that as many declared members as possible stay what they are:
/// the fields that only the server has must not end up in another element. Large gaps are paired as they come.
fn most_alike(lists: &Lists, a: Range<usize>, b: Range<usize>) -> Vec<(usize, usize)> {
    if a.len().max(b.len()) <= 1 || a.len().saturating_mul(b.len()) > ALIKE {
        return a.zip(b).collect();
    }
    let weight = |i: usize, j: usize| {
        let (Want::Map(declared), Value::Object(map)) = (&lists.items[i].want, lists.observed[j]) else {
            return 1;
        };
        let scope = lists.scope_of(i, j);
        let kept = declared.iter().filter(|(name, node)| {
            let scope = scope.field(name);
            !scope.here().not_compared() && map.get(&***name).is_some_and(|value| agrees(node, value, scope))
        });
        1 + 2 * kept.count() as u32
    };
    let mut pairs = Vec::new();
    heaviest(a, b, weight, &mut pairs);
    pairs
}

/// The partners in two lists that differ in nothing but the order of some elements.
fn reordered(lists: &Lists, common: &[(usize, usize)]) -> Option<Partners> {
    let missing = lists.items.len() - common.len();
    let surplus = lists.observed.len() - common.len();
    if missing == 0 || surplus < missing || (surplus > missing && !lists.scope.here().open) {
        return None;
    }
    let mut partners = vec![None; lists.items.len()];
    let mut taken = vec![false; lists.observed.len()];
    for (i, j) in common {
        partners[*i] = Some(*j);
        taken[*j] = true;
    }
    let loose: Vec<usize> = (0..partners.len()).filter(|i| partners[*i].is_none()).collect();
    let free: Vec<usize> = (0..taken.len()).filter(|j| !taken[*j]).collect();
    let found = set::partners(&lists.select(&loose, &free), REORDER);
    for (i, j) in found.into_iter().enumerate() {
        partners[loose[i]] = Some(free[j?]);
    }
    Some(partners)
}
