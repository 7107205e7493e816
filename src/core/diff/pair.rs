//! Which elements of a desired and an observed list belong together.
//!
//! By key, as a set, or in order: the rules say which, else the elements do. Difference and overlay ask the
//! same question here, so they can never disagree.

use std::collections::{HashMap, HashSet};

use crate::core::compare;
use crate::core::fields::Comparer;
use crate::core::node::{Node, Want};
use crate::core::value::{Value, canonical_text};

use super::align::align;
use super::matching::matching;
use super::scope::Scope;
use super::signature;
use super::walk::agrees;

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

/// Pairs the elements of two lists under the rules of the list.
pub(crate) fn pair(items: &[Node], observed: &[Value], scope: Scope) -> Pairing {
    match &scope.here().compare {
        Some(Comparer::Set) => as_set(items, observed, scope),
        Some(Comparer::Ordered) => in_order(items, observed, scope),
        Some(Comparer::KeyedBy(name)) => by_key(items, observed, scope, name),
        _ => match USUAL_KEYS.into_iter().find(|name| is_key(name, items, observed, scope)) {
            Some(name) => by_key(items, observed, scope, name),
            None => in_order(items, observed, scope),
        },
    }
}

impl Pairing {
    fn new(partner: Vec<Option<usize>>, observed: usize, by: By) -> Pairing {
        let mut taken = vec![false; observed];
        partner.iter().flatten().for_each(|j| taken[*j] = true);
        let extra = (0..observed).filter(|j| !taken[*j]).collect();
        Pairing { partner, extra, by, reordered: false }
    }
}

/// The text of an element's key on the desired side: folded, so that equal keys have equal texts.
fn desired_key(item: &Node, scope: Scope, name: &str) -> Option<String> {
    match &item.get(name)?.want {
        Want::Json(value) => scalar_key(value, scope, name),
        Want::Secret(secret) => scalar_key(&Value::String(secret.reveal()?.into()), scope, name),
        _ => None,
    }
}

fn observed_key(item: &Value, scope: Scope, name: &str) -> Option<String> {
    scalar_key(item.get(name)?, scope, name)
}

fn scalar_key(value: &Value, scope: Scope, name: &str) -> Option<String> {
    if matches!(value, Value::Null | Value::Array(_) | Value::Object(_)) {
        return None;
    }
    match &scope.each().field(name).here().compare {
        Some(comparer) => Some(canonical_text(&compare::fold(comparer, value))),
        None => Some(canonical_text(value)),
    }
}

/// Whether every element on both sides has this member, a scalar, and none twice on a side. A secret is no
/// key, for paths would tell it, and neither is a member that is not compared.
fn is_key(name: &str, items: &[Node], observed: &[Value], scope: Scope) -> bool {
    fn all_unlike<T>(items: &[T], key: impl Fn(&T) -> Option<String>) -> bool {
        let mut seen = HashSet::with_capacity(items.len());
        items.iter().all(|item| key(item).is_some_and(|key| seen.insert(key)))
    }
    let member = scope.each().field(name);
    let is_secret = |item: &Node| matches!(item.get(name).map(|key| &key.want), Some(Want::Secret(_)));
    !(items.is_empty() && observed.is_empty())
        && !member.secret
        && !member.here().not_compared()
        && !items.iter().any(is_secret)
        && all_unlike(items, |item| desired_key(item, scope, name))
        && all_unlike(observed, |item| observed_key(item, scope, name))
}

/// The n-th desired element of a key with the n-th observed one; elements without the key likewise.
fn by_key(items: &[Node], observed: &[Value], scope: Scope, name: &str) -> Pairing {
    let mut places: HashMap<Option<String>, std::vec::IntoIter<usize>> = HashMap::new();
    let mut lists: HashMap<Option<String>, Vec<usize>> = HashMap::with_capacity(observed.len());
    for (j, item) in observed.iter().enumerate() {
        lists.entry(observed_key(item, scope, name)).or_default().push(j);
    }
    places.extend(lists.into_iter().map(|(key, list)| (key, list.into_iter())));
    let partner = items.iter().map(|item| places.get_mut(&desired_key(item, scope, name))?.next()).collect();
    Pairing::new(partner, observed.len(), By::Key(name.to_owned()))
}

/// Elements compared whole, without order.
fn as_set(items: &[Node], observed: &[Value], scope: Scope) -> Pairing {
    let all = |n: usize| (0..n).collect::<Vec<_>>();
    let partner = unordered((items, &all(items.len())), (observed, &all(observed.len())), scope);
    Pairing::new(partner, observed.len(), By::Set)
}

/// The largest matching among some elements, as partners of all desired ones.
fn unordered(
    (items, wanted): (&[Node], &[usize]),
    (observed, offered): (&[Value], &[usize]),
    scope: Scope,
) -> Vec<Option<usize>> {
    let same = |i: usize, j: usize| same_element(items, observed, scope, wanted[i], offered[j]);
    let place = |of: &[usize], at: usize| of.binary_search(&at).expect("positions are ascending");
    let likely = signature::likely((items, wanted), (observed, offered), scope);
    let likely = likely.into_iter().map(|(i, j)| (place(wanted, i), place(offered, j)));
    // The text of a scalar says all there is to say, unless a mask or a missing secret is in play.
    let masked = scope.each().here().mask.is_some();
    let stubborn = |i: usize| !masked && matches!(items[wanted[i]].want, Want::Json(_));
    let mut partner = vec![None; items.len()];
    for (i, j) in matching((wanted.len(), offered.len()), likely, stubborn, same).into_iter().enumerate() {
        partner[wanted[i]] = j.map(|j| offered[j]);
    }
    partner
}

/// By longest common subsequence. In the gaps, elements that have no equal are paired as they come.
fn in_order(items: &[Node], observed: &[Value], scope: Scope) -> Pairing {
    let open = scope.here().open;
    let same = |i: usize, j: usize| same_element(items, observed, scope, i, j);
    if open && let Some(partner) = subsequence(items.len(), observed.len(), same) {
        return Pairing::new(partner, observed.len(), By::Order);
    }
    let anchors = |a, b| signature::unrivalled(items, a, observed, b, scope);
    let common = align(items.len(), observed.len(), same, anchors);
    if let Some(pairing) = only_reordered(items, observed, scope, &common) {
        return pairing;
    }
    let mut partner = vec![None; items.len()];
    let (mut i, mut j) = (0, 0);
    for (to_i, to_j) in common.into_iter().chain([(items.len(), observed.len())]) {
        if !open {
            for (left, right) in (i..to_i).zip(j..to_j) {
                partner[left] = Some(right);
            }
        }
        if to_i < items.len() {
            partner[to_i] = Some(to_j);
        }
        (i, j) = (to_i + 1, to_j + 1);
    }
    Pairing::new(partner, observed.len(), By::Order)
}

/// Every desired element as the next observed one that agrees, if that finds all.
fn subsequence(left: usize, right: usize, same: impl Fn(usize, usize) -> bool) -> Option<Vec<Option<usize>>> {
    let mut free = 0..right;
    (0..left).map(|i| free.find(|j| same(i, *j)).map(Some)).collect()
}

/// The pairing of two lists that differ in nothing but the order of some elements.
fn only_reordered(
    items: &[Node],
    observed: &[Value],
    scope: Scope,
    common: &[(usize, usize)],
) -> Option<Pairing> {
    let missing = items.len() - common.len();
    let surplus = observed.len() - common.len();
    if missing == 0 || surplus < missing || (surplus > missing && !scope.here().open) {
        return None;
    }
    let rest = |n: usize, used: &mut dyn Iterator<Item = usize>| {
        let mut free = vec![true; n];
        used.for_each(|at| free[at] = false);
        (0..n).filter(|at| free[*at]).collect::<Vec<_>>()
    };
    let wanted = rest(items.len(), &mut common.iter().map(|(i, _)| *i));
    let offered = rest(observed.len(), &mut common.iter().map(|(_, j)| *j));
    let mut partner = unordered((items, &wanted), (observed, &offered), scope);
    common.iter().for_each(|(i, j)| partner[*i] = Some(*j));
    if !partner.iter().all(Option::is_some) {
        return None;
    }
    Some(Pairing { reordered: true, ..Pairing::new(partner, observed.len(), By::Order) })
}

fn same_element(items: &[Node], observed: &[Value], scope: Scope, i: usize, j: usize) -> bool {
    agrees(&items[i], &observed[j], scope.element(i, Some(&items[i]), Some(&observed[j])))
}
