//! What holds at a place of the walk: the rules there, and what the places above pass down.

use crate::core::change::Reason;
use crate::core::fields::{Clear, Comparer, FieldRule, FieldRules, Immutable};
use crate::core::node::{Node, Want};
use crate::core::path::{Path, Step};
use crate::core::value::{Map, Value, equal, plain_text};

use super::super::compare;

/// The rules at a place, with what is inherited.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'r> {
    pub rules: &'r FieldRules,
    /// Nothing undeclared may stand below.
    pub closed: bool,
    /// Everything from here on is a secret.
    pub secret: bool,
    /// What is above cannot be changed in place, and is there.
    frozen: Option<Immutable>,
}

impl<'r> Scope<'r> {
    pub fn root(rules: &'r FieldRules) -> Scope<'r> {
        Scope { rules, closed: rules.here.closed, secret: rules.here.secret, frozen: None }
    }

    pub fn here(&self) -> &'r FieldRule {
        &self.rules.here
    }

    /// The scope of a map's member.
    pub fn field(&self, name: &str) -> Scope<'r> {
        self.below(self.rules.field(name))
    }

    /// The scope of a list's element, found by what either side says of it.
    pub fn element(&self, index: usize, desired: Option<&Node>, observed: Option<&Value>) -> Scope<'r> {
        let written = |name: &str| match &desired?.get(name)?.want {
            Want::Json(value) => Some(plain_text(value)),
            _ => None,
        };
        let seen = |name: &str| observed?.get(name).map(plain_text);
        self.below(self.rules.element_with(index, |name| written(name).or_else(|| seen(name))))
    }

    /// The scope of any element of a list.
    pub fn each(&self) -> Scope<'r> {
        self.below(self.rules.element(&Step::Each))
    }

    /// The scope one step below.
    pub fn step(&self, step: &Step) -> Scope<'r> {
        self.below(self.rules.below(step))
    }

    fn below(&self, rules: &'r FieldRules) -> Scope<'r> {
        Scope {
            rules,
            closed: self.closed || rules.here.closed,
            secret: self.secret || rules.here.secret,
            frozen: self.here().immutable.or(self.frozen),
        }
    }

    /// Why a change here stands in a plan. Taking or changing what an immutable path has cannot be done in
    /// place, and neither can adding below it; setting what is missing altogether can.
    pub fn reason(&self, present: bool, otherwise: Reason) -> Reason {
        let own = if present { self.here().immutable } else { None };
        own.or(self.frozen).map_or(otherwise, Reason::Immutable)
    }
}

/// Whether `value`, which is on the server, is as good as nothing there: null, the default, or what clearing
/// leaves behind.
pub(crate) fn means_unset(value: &Value, rule: &FieldRule) -> bool {
    let cleared = match &rule.clear {
        Some(Clear::Empty) => equal(value, &empty_like(value)),
        Some(Clear::Value(cleared)) => equal(value, cleared),
        Some(Clear::Null | Clear::Omit) | None => false,
    };
    let is_default = |default| compare::same(rule.compare.as_ref(), value, default);
    value.is_null() || cleared || folds_away(value, rule) || rule.default.as_ref().is_some_and(is_default)
}

/// Whether the filter of a field makes null of a value: it says that the value is as good as none.
fn folds_away(value: &Value, rule: &FieldRule) -> bool {
    let filter = rule.compare.as_ref().filter(|comparer| matches!(comparer, Comparer::Filter(_)));
    filter.is_some_and(|filter| compare::fold(filter, value).is_null())
}

/// Whether nothing of an undeclared value has to go: all of it is as good as unset, or not compared.
pub(crate) fn nothing_to_remove(value: &Value, rules: &FieldRules) -> bool {
    rules.here.not_compared()
        || means_unset(value, &rules.here)
        || value.as_object().is_some_and(|map| {
            !map.is_empty() && map.iter().all(|(name, value)| nothing_to_remove(value, rules.field(name)))
        })
}

/// Whether a desired value has nothing to ask for where the server has nothing (or null).
pub(crate) fn asks_nothing(desired: &Node, is_null: bool, rules: &FieldRules) -> bool {
    let default = rules.here.default.as_ref();
    rules.here.not_compared()
        || match &desired.want {
            Want::Unset => true,
            Want::Json(Value::Null) if is_null || default.is_some_and(Value::is_null) => true,
            Want::Map(map)
                if !map.is_empty() && map.iter().all(|(n, v)| asks_nothing(v, false, rules.field(n))) =>
            {
                true
            }
            _ => {
                default.is_some_and(|value| !value.is_null() && super::agrees(desired, value, rules))
                    || plain(desired).is_some_and(|value| !value.is_null() && folds_away(&value, &rules.here))
            }
        }
}

/// The empty value of the same type.
pub(crate) fn empty_like(value: &Value) -> Value {
    match value {
        Value::Null => Value::Null,
        Value::Bool(_) => Value::Bool(false),
        Value::Number(_) => Value::from(0),
        Value::String(_) => Value::String(String::new()),
        Value::Array(_) => Value::Array(Vec::new()),
        Value::Object(_) => Value::Object(Map::new()),
    }
}

/// The comparer that looks at values as a whole; those of lists pair elements.
pub(crate) fn value_comparer(rule: &FieldRule) -> Option<&Comparer> {
    match &rule.compare {
        Some(Comparer::Set | Comparer::Ordered | Comparer::KeyedBy(_)) | None => None,
        comparer => comparer.as_ref(),
    }
}

/// A desired tree as plain JSON, when it has nothing that JSON cannot say.
pub(crate) fn plain(node: &Node) -> Option<Value> {
    match &node.want {
        Want::Json(value) => Some(value.clone()),
        Want::List(items) => items.iter().map(plain).collect::<Option<Vec<_>>>().map(Value::Array),
        Want::Map(map) => {
            let members = map.iter().map(|(name, item)| Some((name.to_string(), plain(item)?)));
            members.collect::<Option<Map<_, _>>>().map(Value::Object)
        }
        Want::Unset | Want::Secret(_) | Want::Ref(_) | Want::Outside(_) => None,
    }
}

/// The way to a place, built only when it is asked for.
pub(crate) enum Trail<'t> {
    Root,
    Field(&'t Trail<'t>, &'t str),
    Element(&'t Trail<'t>, &'t Step),
}

impl Trail<'_> {
    pub fn path(&self) -> Path {
        let mut steps = Vec::new();
        let mut trail = self;
        loop {
            trail = match trail {
                Trail::Root => break,
                Trail::Field(above, name) => {
                    steps.push(Step::Field((*name).to_owned()));
                    above
                }
                Trail::Element(above, step) => {
                    steps.push((*step).clone());
                    above
                }
            };
        }
        steps.reverse();
        Path(steps)
    }
}
