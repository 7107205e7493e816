//! Some elements of two lists, with the places that they have in them.

use crate::core::node::Node;
use crate::core::value::Value;

use super::super::scope::Scope;
use super::super::walk::agrees;

/// Elements to be paired. Positions in it are its own; `left` and `right` lead back to the whole lists.
pub(super) struct Lists<'l> {
    pub items: Vec<&'l Node>,
    pub observed: Vec<&'l Value>,
    pub left: Vec<usize>,
    pub right: Vec<usize>,
    /// Of the list.
    pub scope: Scope<'l>,
}

impl<'l> Lists<'l> {
    /// The elements that are compared, and the others.
    pub fn split(items: &'l [Node], observed: &'l [Value], scope: Scope<'l>) -> (Lists<'l>, Lists<'l>) {
        let whole = Lists {
            items: items.iter().map(Node::element).collect(),
            observed: observed.iter().collect(),
            left: (0..items.len()).collect(),
            right: (0..observed.len()).collect(),
            scope,
        };
        let is_compared = |scope: Scope| !scope.here().not_compared();
        let (left, other_left): (Vec<_>, Vec<_>) =
            (0..items.len()).partition(|i| is_compared(scope.element(*i, Some(items[*i].element()), None)));
        let (right, other_right): (Vec<_>, Vec<_>) =
            (0..observed.len()).partition(|j| is_compared(scope.element(*j, None, Some(&observed[*j]))));
        (whole.select(&left, &right), whole.select(&other_left, &other_right))
    }

    /// Some of these elements.
    pub fn select(&self, left: &[usize], right: &[usize]) -> Lists<'l> {
        Lists {
            items: left.iter().map(|i| self.items[*i]).collect(),
            observed: right.iter().map(|j| self.observed[*j]).collect(),
            left: left.iter().map(|i| self.left[*i]).collect(),
            right: right.iter().map(|j| self.right[*j]).collect(),
            scope: self.scope,
        }
    }

    /// The scope of an element, as the two sides know it.
    pub fn scope_of(&self, i: usize, j: usize) -> Scope<'l> {
        self.scope.element(self.left[i], Some(self.items[i]), Some(self.observed[j]))
    }

    /// Whether an observed element has all that is desired of it.
    pub fn same(&self, i: usize, j: usize) -> bool {
        agrees(self.items[i], self.observed[j], self.scope_of(i, j))
    }
}
