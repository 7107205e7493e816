//! Which elements of a desired and an observed list belong together.
//!
//! By key, as a set, or in order: the rules say which, else the elements do. Difference and overlay ask the
//! same question here, so they can never disagree.

mod key;
mod lists;
mod matching;
mod order;
mod set;
mod signature;

use crate::core::fields::Comparer;
use crate::core::node::Node;
use crate::core::value::Value;

use super::scope::Scope;
use lists::Lists;

/// The members that elements are paired by when nothing is said, in this order.
const USUAL_KEYS: [&str; 3] = ["name", "key", "id"];

/// How two lists lie side by side.
#[derive(Debug)]
pub(crate) struct Pairing {
    /// For each desired element its observed partner, which may differ from it.
    pub partner: Vec<Option<usize>>,
    /// The observed elements without a partner, in order.
    pub extra: Vec<usize>,
    pub by: By,
    /// All partners agree, and stand in another order than they should.
    pub reordered: bool,
}

/// What the elements were paired by.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum By {
    Key(String),
    Set,
    Order,
}

/// For each desired element of some its partner among the observed ones.
type Partners = Vec<Option<usize>>;

/// Pairs the elements of two lists under the rules of the list. Elements that are not compared are paired
/// among themselves, so that they are in nobody's way.
pub(crate) fn pair(items: &[Node], observed: &[Value], scope: Scope) -> Pairing {
    let (compared, others) = Lists::split(items, observed, scope);
    let (partners, by, reordered) = partners(&compared);
    let mut partner = vec![None; items.len()];
    let mut taken = vec![false; observed.len()];
    let mut lay = |lists: &Lists, partners: Partners| {
        for (i, j) in partners.into_iter().enumerate() {
            if let Some(j) = j.map(|j| lists.right[j]) {
                partner[lists.left[i]] = Some(j);
                taken[j] = true;
            }
        }
    };
    lay(&compared, partners);
    lay(&others, self::partners(&others).0);
    let extra = (0..observed.len()).filter(|j| !taken[*j]).collect();
    Pairing { partner, extra, by, reordered }
}

fn partners(lists: &Lists) -> (Partners, By, bool) {
    let keyed = |name: &str| (key::partners(lists, name), By::Key(name.to_owned()), false);
    let ordered = || {
        let (partners, reordered) = order::partners(lists);
        (partners, By::Order, reordered)
    };
    match &lists.scope.here().compare {
        Some(Comparer::Set) => (set::partners(lists, set::SEARCH), By::Set, false),
        Some(Comparer::Ordered) => ordered(),
        Some(Comparer::KeyedBy(name)) => keyed(name),
        _ => match USUAL_KEYS.into_iter().find(|name| key::fits(lists, name)) {
            Some(name) => keyed(name),
            None => ordered(),
        },
    }
}
