//! Which elements of a desired and an observed list belong together.
//!
//! By key, as a set, or in order: the rules say which, else the elements do. Difference and overlay ask the
//! same question here, so they can never disagree.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::core::compare;
use crate::core::fields::Comparer;
use crate::core::node::{Node, Want};
use crate::core::value::{Value, canonical_text};

use super::align::{align, heaviest};
use super::matching::matching;
use super::scope::Scope;
use super::signature;
use super::walk::agrees;

/// The members that elements are paired by when nothing is said, in this order.
const USUAL_KEYS: [&str; 3] = ["name", "key", "id"];

/// The most comparisons in search of the elements that are most alike.
const ALIKE: usize = 1 << 12;

/// The most comparisons in search of partners that their texts do not show: in a set, where missing one would
/// be a false difference, and to call a difference a new order, where it would only be told at more length.
const SEARCH: usize = 1 << 20;
const REORDER: usize = 1 << 14;

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
    let unfit = member.secret || member.here().not_compared() || items.iter().any(is_secret);
    !unfit
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
    let (wanted, offered): (Vec<_>, Vec<_>) = ((0..items.len()).collect(), (0..observed.len()).collect());
    let partner = unordered((items, &wanted), (observed, &offered), scope, SEARCH);
    Pairing::new(partner, observed.len(), By::Set)
}

/// The largest matching among some elements, given by ascending positions, as partners of all desired ones.
fn unordered(
    (items, wanted): (&[Node], &[usize]),
    (observed, offered): (&[Value], &[usize]),
    scope: Scope,
    budget: usize,
) -> Vec<Option<usize>> {
    let same = |i: usize, j: usize| same_element(items, observed, scope, wanted[i], offered[j]);
    // Most lists come back in the order in which they were sent.
    let ends = wanted.len().min(offered.len());
    let (still, moved): (Vec<usize>, Vec<usize>) = (0..ends).partition(|at| same(*at, *at));
    let rest = |all: &[usize]| moved.iter().copied().chain(ends..all.len()).collect::<Vec<_>>();
    let (left, right) = (rest(wanted), rest(offered));
    let place = |of: &[usize], rest: &[usize]| rest.iter().map(|at| of[*at]).collect::<Vec<_>>();
    let likely =
        signature::likely((items, &place(wanted, &left)), (observed, &place(offered, &right)), scope);
    let find = |of: &[usize], at: usize| of.binary_search(&at).expect("positions are ascending");
    let likely = likely.into_iter().map(|(i, j)| (find(wanted, i), find(offered, j)));
    let likely = still.into_iter().map(|at| (at, at)).chain(likely);
    // The text of a scalar says all there is to say, unless a mask is in play.
    let masked = scope.each().here().mask.is_some();
    let stubborn = |i: usize| !masked && matches!(items[wanted[i]].want, Want::Json(_));
    let mut partner = vec![None; items.len()];
    let found = matching((wanted.len(), offered.len()), likely, stubborn, same, budget);
    for (i, j) in found.into_iter().enumerate() {
        partner[wanted[i]] = j.map(|j| offered[j]);
    }
    partner
}

/// By longest common subsequence; in the gaps, elements that have no equal are paired with those most alike.
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
            let alike = most_alike((items, i..to_i), (observed, j..to_j), scope);
            alike.into_iter().for_each(|(left, right)| partner[left] = Some(right));
        }
        if to_i < items.len() {
            partner[to_i] = Some(to_j);
        }
        (i, j) = (to_i + 1, to_j + 1);
    }
    Pairing::new(partner, observed.len(), By::Order)
}

/// As many pairs as a gap allows, in order, so that as many declared members as possible stay what they are:
/// the fields that only the server has must not end up in another element. Large gaps are paired as they come.
fn most_alike(
    (items, a): (&[Node], Range<usize>),
    (observed, b): (&[Value], Range<usize>),
    scope: Scope,
) -> Vec<(usize, usize)> {
    if a.len().max(b.len()) <= 1 || a.len().saturating_mul(b.len()) > ALIKE {
        return a.zip(b).collect();
    }
    let weight = |i: usize, j: usize| {
        let (Want::Map(declared), Value::Object(map)) = (&items[i].want, &observed[j]) else { return 1 };
        let scope = scope.element(i, Some(&items[i]), Some(&observed[j]));
        let kept = declared.iter().filter(|(name, node)| {
            let scope = scope.field(name);
            !scope.here().not_compared() && map.get(*name).is_some_and(|value| agrees(node, value, scope))
        });
        1 + 2 * kept.count() as u32
    };
    let mut pairs = Vec::new();
    heaviest(a, b, weight, &mut pairs);
    pairs
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
    let mut partner = unordered((items, &wanted), (observed, &offered), scope, REORDER);
    common.iter().for_each(|(i, j)| partner[*i] = Some(*j));
    if !partner.iter().all(Option::is_some) {
        return None;
    }
    Some(Pairing { reordered: true, ..Pairing::new(partner, observed.len(), By::Order) })
}

fn same_element(items: &[Node], observed: &[Value], scope: Scope, i: usize, j: usize) -> bool {
    agrees(&items[i], &observed[j], scope.element(i, Some(&items[i]), Some(&observed[j])))
}
