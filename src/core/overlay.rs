//! The object to send: the desired fields laid over the observed object.
//!
//! Lists are paired as in the difference, so what it calls equal is what stays. Secrets stand in the result
//! in clear: it is for a request's body and nothing else.

use super::diff::list::settled;
use super::diff::pair::{By, Pairing, pair};
use super::diff::scope::{Scope, asks_nothing, empty_like, nothing_to_remove};
use super::diff::walk;
use super::fields::{Clear, FieldRules};
use super::node::{Node, Unavailable, Want};
use super::value::{Map, Value};

/// What the result is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A full body: ours as written even where it compares equal, server-owned fields stripped, write-only sent.
    Full,
    /// The target of a patch: the observed object, changed only where the difference is.
    Patch,
}

/// The desired fields laid over `observed` (for a create: over nothing).
///
/// Undeclared fields survive, also inside the elements of lists; elements that only the server has do not,
/// unless the list is open. A full body has the elements in the order of the file; the target of a patch
/// leaves them where they are when order does not count. Write-only values are in a full body, and in what a
/// patch adds or sends whole: an element that lacks its password would lose it.
///
/// # Errors
/// The first value that has to be sent and is not there.
pub fn overlay(
    desired: &Node,
    observed: &Value,
    rules: &FieldRules,
    form: Form,
) -> Result<Value, Unavailable> {
    let place = Place { scope: Scope::root(rules), whole: false, in_list: false };
    Ok(form.value(desired, Some(observed), place)?.unwrap_or(Value::Null))
}

/// Takes out what the server owns, at every depth. A merge patch sends whole lists, so those of an overlay may
/// hold such fields: a patch has the shape of its object, and is stripped before it is sent.
pub fn strip(value: &mut Value, rules: &FieldRules) {
    strip_scope(value, Scope::root(rules));
}

fn strip_scope(value: &mut Value, scope: Scope) {
    match value {
        _ if scope.rules.is_empty() => {}
        Value::Object(map) => {
            map.retain(|name, _| !is_stripped(scope.field(name)));
            map.iter_mut().for_each(|(name, value)| strip_scope(value, scope.field(name)));
        }
        Value::Array(items) => {
            let mut at = 0..items.len();
            let scope_of = |item: &Value, at: usize| scope.element(at, None, Some(item));
            items.retain(|item| !is_stripped(scope_of(item, at.next().unwrap_or_default())));
            for (at, item) in items.iter_mut().enumerate() {
                let scope = scope_of(item, at);
                strip_scope(item, scope);
            }
        }
        _ => {}
    }
}

fn is_stripped(scope: Scope) -> bool {
    scope.here().server_owned && !scope.here().copy
}

#[derive(Clone, Copy)]
struct Place<'r> {
    scope: Scope<'r>,
    /// What is here is sent whole, not as a difference: write-only values go along.
    whole: bool,
    /// A merge patch sends lists whole, so null is a value in them.
    in_list: bool,
}

impl<'r> Place<'r> {
    fn field(&self, name: &str) -> Place<'r> {
        Place { scope: self.scope.field(name), ..*self }
    }
}

impl Form {
    /// What stands at a place afterwards; `None`: nothing.
    fn value(
        self,
        desired: &Node,
        observed: Option<&Value>,
        place: Place,
    ) -> Result<Option<Value>, Unavailable> {
        let here = place.scope.here();
        if here.not_compared() {
            return self.uncompared(desired, observed, place);
        }
        if self == Form::Patch && is_settled(desired, observed, place.scope) {
            return Ok(observed.cloned());
        }
        self.laid(desired, observed, place)
    }

    /// A field that is compared, and differs or is sent whether it does or not.
    fn laid(
        self,
        desired: &Node,
        observed: Option<&Value>,
        place: Place,
    ) -> Result<Option<Value>, Unavailable> {
        let present = observed.filter(|value| !value.is_null());
        Ok(match (&desired.want, present) {
            (Want::Unset, _) => self.cleared(observed, place),
            (Want::Map(_), Some(Value::Object(map))) => Some(self.members(desired, map, place)?),
            (Want::Map(_), _) => Some(self.members(desired, &Map::new(), Place { whole: true, ..place })?),
            (Want::List(items), Some(Value::Array(list))) => Some(self.list(items, list, place)?),
            (Want::List(items), _) => Some(self.list(items, &[], place)?),
            _ => Some(desired.to_value()?),
        })
    }

    /// A field that takes no part in the comparison.
    fn uncompared(
        self,
        desired: &Node,
        observed: Option<&Value>,
        place: Place,
    ) -> Result<Option<Value>, Unavailable> {
        let here = place.scope.here();
        let theirs = || {
            let mut value = observed.cloned();
            if let (Form::Full, Some(value)) = (self, &mut value) {
                strip_scope(value, place.scope);
            }
            value
        };
        let ours = || match desired.want {
            Want::Unset => Ok(None),
            _ => desired.to_value().map(|mut value| {
                strip_scope(&mut value, place.scope);
                Some(value)
            }),
        };
        let sent = self == Form::Full || place.whole;
        match theirs() {
            _ if is_stripped(place.scope) && self == Form::Full => Ok(None),
            value if here.server_owned || !sent => Ok(value),
            Some(value) if here.copy || here.ignore => Ok(Some(value)),
            _ => ours(),
        }
    }

    /// What is sent where nothing must be set.
    fn cleared(self, observed: Option<&Value>, place: Place) -> Option<Value> {
        let value = observed?;
        match &place.scope.here().clear {
            // In a merge patch, null is how a member is removed; only where it is a value does it stand here.
            Some(Clear::Null) if self == Form::Full || place.in_list => Some(Value::Null),
            Some(Clear::Empty) => Some(empty_like(value)),
            Some(Clear::Value(value)) => Some(value.clone()),
            Some(Clear::Null | Clear::Omit) | None => None,
        }
    }

    fn members(
        self,
        desired: &Node,
        observed: &Map<String, Value>,
        place: Place,
    ) -> Result<Value, Unavailable> {
        let Want::Map(declared) = &desired.want else { return desired.to_value() };
        let mut merged = Map::new();
        for (name, value) in observed.iter().filter(|(name, _)| !declared.contains_key(name)) {
            if let Some(value) = self.undeclared(value, place.scope.closed, place.field(name)) {
                merged.insert(name.to_string(), value);
            }
        }
        for (name, item) in declared {
            if let Some(value) = self.value(item, observed.get(&**name), place.field(name))? {
                merged.insert(name.to_string(), value);
            }
        }
        Ok(Value::Object(merged))
    }

    /// A member that only the server has: it survives, but for what is closed.
    fn undeclared(self, value: &Value, closed: bool, place: Place) -> Option<Value> {
        let scope = place.scope;
        if self == Form::Full && is_stripped(scope) {
            return None;
        }
        if closed && !nothing_to_remove(value, scope.rules) {
            return self.cleared(Some(value), place);
        }
        match value {
            Value::Object(map) if !closed && !scope.rules.is_empty() && !scope.here().not_compared() => {
                let below = map.iter().filter_map(|(name, value)| {
                    Some((name.clone(), self.undeclared(value, scope.closed, place.field(name))?))
                });
                Some(Value::Object(below.collect()))
            }
            _ => {
                let mut value = value.clone();
                if self == Form::Full {
                    strip_scope(&mut value, scope);
                }
                Some(value)
            }
        }
    }

    fn list(self, items: &[Node], list: &[Value], place: Place) -> Result<Value, Unavailable> {
        let scope = place.scope;
        let pairing = pair(items, list, scope);
        let mut merged = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            let partner = pairing.partner[i].map(|j| &list[j]);
            if item.is_gone() {
                merged.push(None);
                continue;
            }
            let place = Place { scope: scope.element(i, Some(item), partner), whole: true, in_list: true };
            merged.push(match partner {
                // What a new element has not to say is no reason to leave it out.
                None if !place.scope.here().not_compared() => self.laid(&settled(item), None, place)?,
                partner => self.value(&settled(item), partner, place)?,
            });
        }
        let extra = |j: usize| {
            let place = Place { scope: scope.element(j, None, Some(&list[j])), ..place };
            self.undeclared(&list[j], false, place)
        };
        let stays = |j: usize| {
            let open = scope.here().open || scope.element(j, None, Some(&list[j])).here().not_compared();
            open && pairing.extra.binary_search(&j).is_ok()
        };
        let order = order(&pairing, list.len(), stays, self == Form::Patch);
        let elements = order.into_iter().filter_map(|slot| match slot {
            Slot::Ours(i) => merged[i].take(),
            Slot::Theirs(j) => extra(j),
        });
        Ok(Value::Array(elements.collect()))
    }
}

/// Whether a patch has nothing to do here. Maps are asked member by member.
fn is_settled(desired: &Node, observed: Option<&Value>, scope: Scope) -> bool {
    match (&desired.want, observed) {
        (_, None) => asks_nothing(desired, false, scope.rules),
        (_, Some(Value::Null)) => asks_nothing(desired, true, scope.rules),
        (Want::Map(_), Some(Value::Object(_))) if scope.here().compare.is_none() => false,
        (_, Some(value)) => walk::agrees(desired, value, scope),
    }
}

enum Slot {
    /// A desired element, by its position in the file.
    Ours(usize),
    /// An element that only the server has.
    Theirs(usize),
}

/// The elements in the order in which they are sent. Where order does not count, a patch keeps what is there
/// in its place; elsewhere the elements of others stay behind those that they stood behind.
fn order(pairing: &Pairing, observed: usize, stays: impl Fn(usize) -> bool, patch: bool) -> Vec<Slot> {
    let keep = |j: &usize| stays(*j);
    let mut slots = Vec::new();
    if pairing.by != By::Order && patch {
        let mut owner = vec![None; observed];
        let paired = pairing.partner.iter().enumerate().filter_map(|(i, j)| Some((i, (*j)?)));
        paired.for_each(|(i, j)| owner[j] = Some(i));
        slots.extend((0..observed).filter_map(|j| match owner[j] {
            Some(i) => Some(Slot::Ours(i)),
            None => keep(&j).then_some(Slot::Theirs(j)),
        }));
        let new = pairing.partner.iter().enumerate().filter(|(_, j)| j.is_none());
        slots.extend(new.map(|(i, _)| Slot::Ours(i)));
        return slots;
    }
    let mut next = 0;
    for (i, partner) in pairing.partner.iter().enumerate() {
        if let Some(j) = *partner {
            slots.extend((next..j).filter(keep).map(Slot::Theirs));
            next = next.max(j);
        }
        slots.push(Slot::Ours(i));
    }
    slots.extend((next..observed).filter(keep).map(Slot::Theirs));
    slots
}
