//! Why a difference is what it is: the rule and the comparer behind each change, and behind each line that one
//! might expect and that is not there.
//!
//! The changes are the engine's own. What is said beside them comes from a walk of its own over the same
//! scopes, pairings and verdicts, so it cannot disagree with them.

use crate::core::base::{Past, Since};
use crate::core::change::{Change, Reason, Shown};
use crate::core::compare;
use crate::core::facts::Said;
use crate::core::fields::{Comparer, FieldRule, FieldRules, Immutable};
use crate::core::node::{Node, Origin, Pos, Want};
use crate::core::path::{Path, Step};
use crate::core::value::{Map, Value, equal};

use super::list::settled;
use super::pair::{By, pair};
use super::scope::{Scope, Trail, plain};
use super::show::Show;
use super::walk;

/// One place of an object, and why it is in its plan or not.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub path: Path,
    /// Where the wanted value stands.
    pub at: Option<Pos>,
    /// What the server has, and what the file wants, in printable form.
    pub before: Option<Shown>,
    pub after: Option<Shown>,
    pub why: Why,
    /// What the kind says of the place, and what it inherits.
    pub said: Vec<Said>,
    pub folds: Option<Folds>,
    /// Who made the difference, and where the base has the place, where there is a base.
    pub since: Option<Since>,
    pub at_base: Option<Origin>,
}

/// What a comparer makes of the two sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Folds {
    pub word: String,
    pub before: Value,
    pub after: Value,
}

/// Why a line is there, or is not.
#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// A line of the plan.
    Change(Reason),
    /// No line: both sides are the same as they stand.
    Equal,
    /// No line: both sides are the same to the comparer.
    Same,
    /// No line: what one side has is as good as nothing, which is what the other has.
    AsUnset,
    /// No line for the order of a list: its elements find each other by this member, or as a set.
    Paired(Option<String>),
    ServerOwned,
    WriteOnly,
    Ignored,
    /// The server hides the value.
    Masked,
    /// The secret is not there to compare with.
    NoSecret,
    /// The server has it, and no document declares it.
    Undeclared,
}

/// Explains an object: its changes first, in their order, then what is no change, in the order of the file. `past` is
/// what the base has of it.
pub fn explain(
    desired: &Node,
    past: Option<&Past>,
    observed: &Value,
    rules: &FieldRules,
    changes: &[Change],
) -> Vec<Line> {
    let at_base = |change: &Change| past.and_then(|past| past.place(&change.path));
    let mut lines: Vec<Line> =
        changes.iter().map(|change| Line { at_base: at_base(change), ..changed(change, rules) }).collect();
    let mut quiet = Quiet { show: Show::new(desired, past.map(|past| &past.spec)), lines: Vec::new() };
    quiet.value(&Trail::Root, desired, Some(observed), Scope::root(rules));
    lines.extend(quiet.lines);
    lines
}

/// A change with the rules that hold there.
fn changed(change: &Change, rules: &FieldRules) -> Line {
    let here = &rules.at(&change.path).here;
    let value = |side: &Option<Shown>| match side {
        Some(Shown::Value(value)) => Some(value.clone()),
        _ => None,
    };
    let folds = value(&change.before).zip(value(&change.after)).and_then(|(a, b)| folds(here, &a, &b));
    Line {
        path: change.path.clone(),
        at: change.at,
        before: change.before.clone(),
        after: change.after.clone(),
        why: Why::Change(change.reason.clone()),
        said: said(rules, &change.path),
        folds,
        since: change.since.clone(),
        at_base: None,
    }
}

/// The words at a path, after those that it inherits.
fn said(rules: &FieldRules, path: &Path) -> Vec<Said> {
    let inherited =
        |said: &&Said| matches!(&*said.word, "closed" | "secret") || said.word.starts_with("immutable=");
    let mut all = Vec::new();
    let mut below = rules;
    for step in &path.0 {
        all.extend(below.here.said.iter().filter(inherited).cloned());
        below = below.below(step);
    }
    all.extend(below.here.said.iter().cloned());
    all
}

fn folds(rule: &FieldRule, before: &Value, after: &Value) -> Option<Folds> {
    let comparer = rule.compare.as_ref()?;
    if matches!(comparer, Comparer::Set | Comparer::Ordered | Comparer::KeyedBy(_)) {
        return None;
    }
    let word = comparer.to_string();
    Some(Folds { word, before: compare::fold(comparer, before), after: compare::fold(comparer, after) })
}

impl Why {
    /// The fixed word, as JSON names it.
    pub fn word(&self) -> &'static str {
        match self {
            Why::Change(Reason::Declared) => "declared",
            Why::Change(Reason::Unset) => "unset",
            Why::Change(Reason::Closed) => "closed",
            Why::Change(Reason::ListOwned) => "list-owned",
            Why::Change(Reason::Reordered) => "reordered",
            Why::Change(Reason::Left) => "left",
            Why::Change(Reason::Immutable(Immutable::Replace)) => "immutable-replace",
            Why::Change(Reason::Immutable(Immutable::Refuse)) => "immutable-refuse",
            Why::Equal => "equal",
            Why::Same => "same-to-comparer",
            Why::AsUnset => "as-unset",
            Why::Paired(_) => "paired",
            Why::ServerOwned => "server-owned",
            Why::WriteOnly => "write-only",
            Why::Ignored => "ignored",
            Why::Masked => "masked",
            Why::NoSecret => "secret-not-set",
            Why::Undeclared => "undeclared",
        }
    }
}

/// Why a field takes no part in the comparison.
fn uncompared(rule: &FieldRule) -> Why {
    match rule {
        FieldRule { server_owned: true, .. } => Why::ServerOwned,
        FieldRule { write_only: true, .. } => Why::WriteOnly,
        _ => Why::Ignored,
    }
}

/// Collects what is no change.
struct Quiet<'d> {
    show: Show<'d>,
    lines: Vec<Line>,
}

impl Quiet<'_> {
    fn note(
        &mut self,
        trail: &Trail,
        desired: Option<&Node>,
        observed: Option<&Value>,
        scope: Scope,
        why: Why,
    ) {
        let path = trail.path();
        let before = observed.map(|value| self.show.observed(trail, value, scope));
        let after = desired.map(|node| self.show.desired(node, scope));
        let value = |side: &Option<Shown>| match side {
            Some(Shown::Value(value)) => Some(value.clone()),
            _ => None,
        };
        let folds = match why {
            Why::Same => value(&before).zip(value(&after)).and_then(|(a, b)| folds(scope.here(), &a, &b)),
            _ => None,
        };
        let said = scope.here().said.clone();
        let at = desired.map(|node| node.at);
        self.lines.push(Line { path, at, before, after, why, said, folds, since: None, at_base: None });
    }

    fn value(&mut self, trail: &Trail, desired: &Node, observed: Option<&Value>, scope: Scope) {
        let here = scope.here();
        if here.not_compared() {
            return self.note(trail, Some(desired), observed, scope, uncompared(here));
        }
        let agrees = walk::agrees_with(desired, observed, scope);
        let Some(value) = observed.filter(|value| !value.is_null()) else {
            if agrees {
                self.note(trail, Some(desired), observed, scope, Why::AsUnset);
            }
            return;
        };
        match (&desired.want, value) {
            (Want::Unset, _) if agrees => self.note(trail, Some(desired), observed, scope, Why::AsUnset),
            _ if walk::is_masked(value, here) => {
                self.note(trail, Some(desired), observed, scope, Why::Masked)
            }
            (Want::Secret(secret), _) if secret.value().is_none() => {
                self.note(trail, Some(desired), observed, scope, Why::NoSecret);
            }
            _ if matches!(here.compare, Some(Comparer::Filter(_)))
                && value.is_object() | value.is_array() =>
            {
                let as_written = plain(desired).is_some_and(|ours| equal(&ours, value));
                if agrees {
                    let why = if as_written { Why::Equal } else { Why::Same };
                    self.note(trail, Some(desired), observed, scope, why);
                }
            }
            (Want::Map(_), Value::Object(map)) => self.members(trail, desired, map, scope),
            (Want::List(items), Value::Array(list)) => self.list(trail, desired, (items, list), scope),
            (Want::Json(ours), _) if agrees && !equal(ours, value) => {
                self.note(trail, Some(desired), observed, scope, Why::Same);
            }
            _ if agrees => self.note(trail, Some(desired), observed, scope, Why::Equal),
            _ => {}
        }
    }

    fn members(&mut self, trail: &Trail, desired: &Node, map: &Map<String, Value>, scope: Scope) {
        let Want::Map(declared) = &desired.want else { return };
        if declared.is_empty() && map.is_empty() {
            return self.note(trail, Some(desired), Some(&Value::Object(map.clone())), scope, Why::Equal);
        }
        for (name, node) in declared {
            self.value(&Trail::Field(trail, name), node, map.get(&**name), scope.field(name));
        }
        for (name, value) in map.iter().filter(|(name, _)| !declared.contains_key(name)) {
            let (trail, below) = (Trail::Field(trail, name), scope.field(name));
            let why = match below.here() {
                rule if rule.not_compared() => uncompared(rule),
                _ if !walk::left_alone(value, scope.closed, below) => continue,
                _ if scope.closed => Why::AsUnset,
                _ => Why::Undeclared,
            };
            self.note(&trail, None, Some(value), below, why);
        }
    }

    fn list(&mut self, trail: &Trail, desired: &Node, (items, list): (&[Node], &[Value]), scope: Scope) {
        let whole = Value::Array(list.to_vec());
        if items.is_empty() && list.is_empty() {
            return self.note(trail, Some(desired), Some(&whole), scope, Why::Equal);
        }
        let pairing = pair(items, list, scope);
        if pairing.reordered {
            return;
        }
        if pairing.partner.iter().enumerate().any(|(at, partner)| partner.is_some_and(|there| there != at)) {
            let by = match &pairing.by {
                By::Key(name) => Some(name.clone()),
                By::Set | By::Order => None,
            };
            self.note(trail, Some(desired), Some(&whole), scope, Why::Paired(by));
        }
        for (at, item) in items.iter().enumerate() {
            if let Some(partner) = pairing.partner[at] {
                let below = scope.element(at, Some(item), Some(&list[partner]));
                self.value(
                    &Trail::Element(trail, &Step::Index(at)),
                    &settled(item),
                    Some(&list[partner]),
                    below,
                );
            }
        }
    }
}

#[cfg(test)]
#[path = "explain_tests.rs"]
mod tests;
