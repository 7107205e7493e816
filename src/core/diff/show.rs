//! What of a value may be printed: everything but secrets, on both sides.
//!
//! A secret is known by its rule (`secret`), by its tag (`!secret`: then the same place on the server is one
//! too), and by its text, wherever that turns up.

use crate::core::change::Shown;
use crate::core::node::{Node, Want};
use crate::core::path::Step;
use crate::core::value::{Map, Value};
use crate::core::veil::Veil;

use super::scope::{Scope, Trail};

/// What stands in the place of a secret inside a map or a list that is shown whole.
const HIDDEN: &str = "(secret)";

/// Shorter texts are taken for a secret only when they are equal to it, not when they contain it.
const TELLING: usize = 6;

/// Makes printable forms, knowing the secrets of a document, and of its earlier revision.
pub(crate) struct Show<'d> {
    secrets: Vec<&'d str>,
    veil: Veil,
}

impl<'d> Show<'d> {
    pub fn new(document: &'d Node, base: Option<&'d Node>) -> Show<'d> {
        let (mut secrets, mut veil) = (Vec::new(), Veil::of(document));
        collect(document, &mut secrets);
        if let Some(base) = base {
            collect(base, &mut secrets);
            veil.join(&Veil::of(base));
        }
        Show { secrets, veil }
    }

    /// A value of another revision, at a place of this one: what is a secret in either is one.
    pub fn other(&self, path: &[Step], node: &Node, scope: Scope) -> Shown {
        let veil = path.iter().fold(&self.veil, |veil, step| veil.step(step));
        match self.desired(node, scope) {
            Shown::Value(value) if veil.hides(&value) => Shown::Secret,
            Shown::Value(value) => Shown::Value(veil.cover(&value)),
            other => other,
        }
    }

    /// The secrets that the file has at a place.
    pub fn veil(&self, trail: &Trail) -> &Veil {
        match trail {
            Trail::Root => &self.veil,
            Trail::Field(above, name) => self.veil(above).field(name),
            Trail::Element(above, _) => self.veil(above).each(),
        }
    }

    /// A desired value.
    pub fn desired(&self, node: &Node, scope: Scope) -> Shown {
        match &node.want {
            Want::Secret(_) => Shown::Secret,
            _ if scope.secret => Shown::Secret,
            Want::Ref(reference) => Shown::Later(reference.text.clone()),
            Want::Outside(outside) => Shown::Later(outside.to_string().into()),
            Want::Json(Value::String(text)) if self.tells(text) => Shown::Secret,
            _ => Shown::Value(self.desired_value(node, scope)),
        }
    }

    fn desired_value(&self, node: &Node, scope: Scope) -> Value {
        match &node.want {
            Want::Secret(_) => HIDDEN.into(),
            Want::Map(map) => {
                let mut shown = Map::new();
                for (name, item) in map {
                    let scope = scope.field(name);
                    if !matches!(item.want, Want::Unset) && !scope.here().not_compared() {
                        shown.insert(name.to_string(), self.desired_value(item, scope));
                    }
                }
                Value::Object(shown)
            }
            Want::List(items) => {
                let each = items.iter().enumerate();
                each.map(|(i, item)| self.desired_value(item, scope.element(i, Some(item), None))).collect()
            }
            _ if scope.secret => HIDDEN.into(),
            Want::Unset => Value::Null,
            Want::Json(value) => self.scalar(value),
            Want::Ref(reference) => format!("({})", reference.text).into(),
            Want::Outside(outside) => format!("({outside})").into(),
        }
    }

    /// An observed value at this place.
    pub fn observed(&self, trail: &Trail, value: &Value, scope: Scope) -> Shown {
        let veil = self.veil(trail);
        match value {
            _ if scope.secret || veil.hides(value) => Shown::Secret,
            Value::String(text) if self.tells(text) => Shown::Secret,
            value => Shown::Value(self.observed_value(value, scope, veil)),
        }
    }

    fn observed_value(&self, value: &Value, scope: Scope, veil: &Veil) -> Value {
        match value {
            _ if scope.secret || veil.hides(value) => HIDDEN.into(),
            Value::Object(map) => {
                let mut shown = Map::new();
                for (name, value) in map {
                    let scope = scope.field(name);
                    if !scope.here().not_compared() {
                        let value = self.observed_value(value, scope, veil.field(name));
                        shown.insert(name.clone(), value);
                    }
                }
                Value::Object(shown)
            }
            Value::Array(items) => {
                let scope = |i, item| scope.element(i, None, Some(item));
                let each = items.iter().enumerate();
                each.map(|(i, item)| self.observed_value(item, scope(i, item), veil.each())).collect()
            }
            scalar => self.scalar(scalar),
        }
    }

    fn scalar(&self, value: &Value) -> Value {
        match value {
            Value::String(text) if self.tells(text) => HIDDEN.into(),
            other => other.clone(),
        }
    }

    /// Whether a text would tell a secret.
    pub fn tells(&self, text: &str) -> bool {
        self.secrets
            .iter()
            .any(|secret| text == *secret || (secret.len() >= TELLING && text.contains(secret)))
    }
}

fn collect<'d>(node: &'d Node, secrets: &mut Vec<&'d str>) {
    match &node.want {
        Want::Secret(secret) => secrets.extend(secret.reveal().filter(|text| !text.is_empty())),
        Want::Map(map) => map.values().for_each(|item| collect(item, secrets)),
        Want::List(items) => items.iter().for_each(|item| collect(item, secrets)),
        Want::Unset | Want::Json(_) | Want::Ref(_) | Want::Outside(_) => {}
    }
}
