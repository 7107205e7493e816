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
///
/// The text of a scalar says all there is to say, unless a mask is in play: it has no other partner than one of the
/// same text. So scalars choose first; an element that would take any partner must not stand on theirs.
pub(super) fn partners(lists: &Lists, budget: usize) -> Partners {
    let (left, right) = (lists.items.len(), lists.observed.len());
    let masked = lists.scope.each().here().mask.is_some();
    let stubborn = |i: usize| !masked && matches!(lists.items[i].want, Want::Json(_));
    let (strict, others): (Vec<usize>, Vec<usize>) = (0..left).partition(|i| stubborn(*i));
    let mut free = vec![true; right];
    let mut pairs = likely(lists, strict, &mut free);
    pairs.extend(likely(lists, others, &mut free));
    matching((left, right), pairs, stubborn, |i, j| lists.same(i, j), budget)
}

/// Likely partners of some desired elements among those observed that are free, which these are then no more.
fn likely(lists: &Lists, of: Vec<usize>, free: &mut [bool]) -> Vec<(usize, usize)> {
    // Most lists come back in the order in which they were sent.
    let (still, moved): (Vec<usize>, Vec<usize>) =
        of.into_iter().partition(|at| free.get(*at) == Some(&true) && lists.same(*at, *at));
    let mut pairs: Vec<_> = still.into_iter().map(|at| (at, at)).collect();
    pairs.iter().for_each(|(_, j)| free[*j] = false);
    let left_over: Vec<usize> = (0..free.len()).filter(|j| free[*j]).collect();
    for (i, j) in signature::likely(&lists.select(&moved, &left_over)) {
        free[left_over[j]] = false;
        pairs.push((moved[i], left_over[j]));
    }
    pairs
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::core::diff::diff;
    use crate::core::fields::{Comparer, FieldRules};
    use crate::core::node::{Node, Pos, Secret, Want};
    use crate::core::value::Value;

    fn node(want: Want) -> Node {
        Node { at: Pos::default(), want }
    }

    fn changes(items: Vec<Node>, observed: &Value) -> Vec<String> {
        let mut rules = FieldRules::default();
        rules.here.compare = Some(Comparer::Set);
        let desired = node(Want::List(items));
        diff(&desired, observed, &rules).iter().map(|change| change.path.to_string()).collect()
    }

    /// A secret that is not there agrees with whatever the server shows.
    #[test]
    fn what_fits_anything_does_not_stand_on_the_only_partner_of_another() {
        let missing = || node(Want::Secret(Secret::new("env:MISSING", None)));
        let text = |text: &str| node(Want::Json(json!(text)));
        let none: [&str; 0] = [];
        assert_eq!(changes(vec![text("a"), missing()], &json!(["b", "a"])), none);
        assert_eq!(changes(vec![missing(), text("a")], &json!(["a", "b"])), none);
        assert_eq!(changes(vec![text("a"), text("a"), missing()], &json!(["b", "a", "a"])), none);
        assert_eq!(changes(vec![text("a"), missing()], &json!(["b", "c"])), ["[0]", "[0]"]);
    }
}
