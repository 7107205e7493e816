//! Down both sides at once: what is declared against what is there. Lists have a file of their own.

use crate::core::change::{Change, Reason, Shown};
use crate::core::compare;
use crate::core::fields::{Comparer, FieldRule};
use crate::core::members::Members;
use crate::core::node::{Node, Want};
use crate::core::value::{Map, Value, equal};

use super::Comparison;
use super::scope::{Scope, Trail, asks_nothing, means_unset, nothing_to_remove, plain};
use super::show::Show;

/// The changes that would make `observed` agree, and what is not known to agree.
pub(super) fn comparison(desired: &Node, base: Option<&Node>, observed: &Value, scope: Scope) -> Comparison {
    let mut walk = Walk::new(Some(Show::new(desired, base)));
    walk.value(&Trail::Root, desired, Some(observed), scope);
    walk.found
}

/// Whether there would be none.
pub(crate) fn agrees(desired: &Node, observed: &Value, scope: Scope) -> bool {
    agrees_with(desired, Some(observed), scope)
}

/// [`agrees`], for a value that may not be on the server.
pub(crate) fn agrees_with(desired: &Node, observed: Option<&Value>, scope: Scope) -> bool {
    let mut walk = Walk::new(None);
    walk.value(&Trail::Root, desired, observed, scope);
    !walk.differs
}

/// Whether a member that only the server has would be left alone, whole; `closed` is what holds above it.
pub(crate) fn left_alone(value: &Value, closed: bool, scope: Scope) -> bool {
    let mut walk = Walk::new(None);
    walk.undeclared(&Trail::Root, value, closed, scope);
    !walk.differs
}

pub(super) struct Walk<'d> {
    /// `None` when only the verdict is wanted: then the first difference ends the walk.
    pub show: Option<Show<'d>>,
    found: Comparison,
    differs: bool,
}

impl<'d> Walk<'d> {
    fn new(show: Option<Show<'d>>) -> Walk<'d> {
        Walk { show, found: Comparison::default(), differs: false }
    }

    /// Whether there is nothing left to find out.
    pub fn done(&self) -> bool {
        self.differs && self.show.is_none()
    }

    pub fn report<'n>(&mut self, trail: &Trail, make: impl FnOnce(&Show) -> Difference<'n>) {
        self.differs = true;
        if let Some(show) = &self.show {
            let Difference { before, after, reason, node } = make(show);
            let at = node.map(|node| node.at);
            self.found.changes.push(Change {
                path: trail.path(),
                before,
                after,
                reason,
                at,
                set_by: Vec::new(),
                since: None,
            });
        }
    }

    /// Compares a declared value with what is at its place.
    pub fn value(&mut self, trail: &Trail, desired: &Node, observed: Option<&Value>, scope: Scope) {
        let here = scope.here();
        if self.done() || here.not_compared() {
            return;
        }
        let Some(value) = observed.filter(|value| !value.is_null()) else {
            return self.missing(trail, desired, observed, scope);
        };
        if is_masked(value, here) && !matches!(desired.want, Want::Unset) {
            return;
        }
        match (&desired.want, value) {
            (Want::Unset, _) if means_unset(value, here) => {}
            (Want::Unset, _) => self.report(trail, |show| Difference {
                before: Some(show.observed(trail, value, scope)),
                after: None,
                reason: scope.reason(true, Reason::Unset),
                node: Some(desired),
            }),
            _ => match filtered(desired, value, scope) {
                Some(true) => {}
                Some(false) => self.differ(trail, desired, value, scope),
                None => self.compared(trail, desired, value, scope),
            },
        }
    }

    fn compared(&mut self, trail: &Trail, desired: &Node, value: &Value, scope: Scope) {
        match (&desired.want, value) {
            (Want::Map(declared), Value::Object(map)) => self.members(trail, declared, map, scope),
            (Want::List(items), Value::Array(list)) => self.list(trail, desired, (items, list), scope),
            (Want::Secret(secret), _) if secret.value().is_none() => {
                if self.show.is_some() {
                    self.found.not_compared.push((trail.path(), secret.source.clone()));
                }
            }
            (want, _) if scalar_agrees(want, value, scope.here()) => {}
            _ => self.differ(trail, desired, value, scope),
        }
    }

    /// One change for a value that is on both sides.
    fn differ(&mut self, trail: &Trail, desired: &Node, value: &Value, scope: Scope) {
        self.report(trail, |show| {
            let after = show.desired(desired, scope);
            let before = match after {
                Shown::Secret => Shown::Secret,
                _ => show.observed(trail, value, scope),
            };
            let reason = scope.reason(true, Reason::Declared);
            Difference { before: Some(before), after: Some(after), reason, node: Some(desired) }
        });
    }

    /// Nothing on the server, or null: one change for all that is missing.
    fn missing(&mut self, trail: &Trail, desired: &Node, null: Option<&Value>, scope: Scope) {
        if !asks_nothing(desired, null.is_some(), scope.rules) {
            self.report(trail, |show| Difference {
                before: null.map(|null| Shown::Value(null.clone())),
                after: Some(show.desired(desired, scope)),
                reason: scope.reason(false, Reason::Declared),
                node: Some(desired),
            });
        }
    }

    fn members(&mut self, trail: &Trail, declared: &Members, map: &Map<String, Value>, scope: Scope) {
        for (name, node) in declared {
            self.value(&Trail::Field(trail, name), node, map.get(&**name), scope.field(name));
        }
        if scope.closed || !scope.rules.is_empty() {
            for (name, value) in map.iter().filter(|(name, _)| !declared.contains_key(name)) {
                self.undeclared(&Trail::Field(trail, name), value, scope.closed, scope.field(name));
            }
        }
    }

    /// A member that only the server has: it must go from a closed path, and a closed path may lie below it.
    /// A list is owned once it is declared, and left alone otherwise.
    fn undeclared(&mut self, trail: &Trail, value: &Value, closed: bool, scope: Scope) {
        if self.done() || scope.here().not_compared() {
            return;
        }
        if closed {
            if !nothing_to_remove(value, scope.rules) {
                self.removal(trail, value, scope, Reason::Closed);
            }
        } else if let Value::Object(map) = value
            && !scope.rules.is_empty()
        {
            for (name, value) in map {
                self.undeclared(&Trail::Field(trail, name), value, scope.closed, scope.field(name));
            }
        }
    }

    /// Something that only the server has, and must not have.
    pub fn removal(&mut self, trail: &Trail, value: &Value, scope: Scope, reason: Reason) {
        self.report(trail, |show| Difference {
            before: Some(show.observed(trail, value, scope)),
            after: None,
            reason: scope.reason(true, reason),
            node: None,
        });
    }
}

/// A change without its place.
pub(super) struct Difference<'n> {
    pub before: Option<Shown>,
    pub after: Option<Shown>,
    pub reason: Reason,
    pub node: Option<&'n Node>,
}

/// The verdict on a map or a list that has a filter: declared fields count on what the filter makes of both
/// sides. `None` where there is no filter, or parts that JSON cannot say: the values are compared as they are.
fn filtered(desired: &Node, value: &Value, scope: Scope) -> Option<bool> {
    let filter = scope.here().compare.as_ref().filter(|comparer| matches!(comparer, Comparer::Filter(_)))?;
    if !matches!(desired.want, Want::Map(_) | Want::List(_)) {
        return None;
    }
    let ours = Node::from_value(desired.at, compare::fold(filter, &plain(desired)?));
    let theirs = compare::fold(filter, value);
    Some(match &ours.want {
        Want::Json(ours) => equal(ours, &theirs),
        _ => {
            let mut walk = Walk::new(None);
            walk.compared(&Trail::Root, &ours, &theirs, scope);
            !walk.differs
        }
    })
}

/// A mask says "set, hidden": there is nothing to compare with.
pub(crate) fn is_masked(value: &Value, here: &FieldRule) -> bool {
    match (&here.mask, value) {
        (Some(mask), Value::String(text)) => mask.0.is_match(text),
        _ => false,
    }
}

/// Whether a value that is no container on at least one side is what is wanted.
fn scalar_agrees(want: &Want, value: &Value, here: &FieldRule) -> bool {
    match want {
        Want::Json(ours) => compare::same(here.compare.as_ref(), ours, value),
        // A secret that is not there cannot be compared.
        Want::Secret(secret) => {
            secret.value().is_none_or(|ours| compare::same(here.compare.as_ref(), ours, value))
        }
        Want::Unset | Want::Ref(_) | Want::Outside(_) | Want::List(_) | Want::Map(_) => false,
    }
}
