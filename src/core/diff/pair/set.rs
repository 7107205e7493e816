//! Pairs without order, of elements that agree.

use crate::core::node::Want;

use super::Partners;
use super::lists::Lists;
use super::matching::matching;
use super::signature;

/// The most comparisons in search of partners that their texts do not show. To miss one would be a false
/// difference.
pub(super) const SEARCH: usize = 1 << 20;

/// As many pairs as there can be.
pub(super) fn partners(lists: &Lists, budget: usize) -> Partners {
    let (left, right) = (lists.items.len(), lists.observed.len());
    // Most lists come back in the order in which they were sent.
    let both = left.min(right);
    let (still, moved): (Vec<usize>, Vec<usize>) = (0..both).partition(|at| lists.same(*at, *at));
    let rest = |all: usize| moved.iter().copied().chain(both..all).collect::<Vec<_>>();
    let (loose, free) = (rest(left), rest(right));
    let likely = signature::likely(&lists.select(&loose, &free)).into_iter();
    let likely = still.into_iter().map(|at| (at, at)).chain(likely.map(|(i, j)| (loose[i], free[j])));
    // The text of a scalar says all there is to say, unless a mask is in play.
    let masked = lists.scope.each().here().mask.is_some();
    let stubborn = |i: usize| !masked && matches!(lists.items[i].want, Want::Json(_));
    matching((left, right), likely, stubborn, |i, j| lists.same(i, j), budget)
}
