//! The least that a document has to say of an observed object, so that nothing differs.
//!
//! What the server owns, what equals a declared default, null, the id, the version and the parts of the key
//! are left out. Secrets never get into the result: they are left out and named, or, where leaving them out
//! would be a difference (below `closed`), a `!secret` that is not set stands in for them. Whatever is left out
//! is checked against the difference itself, so a rule that nobody thought of here makes a document longer and
//! never wrong.

use super::diff::pair::{By, pair};
use super::diff::scope::{Scope, means_unset};
use super::diff::walk;
use super::fields::{Comparer, FieldRules};
use super::node::{Node, Pos, Secret, Want};
use super::path::{Path, Step};
use super::value::{Map, Value};
use super::veil::Veil;

/// What is to be said of an object, and what of it could not be.
#[derive(Clone, Debug, PartialEq)]
pub struct Minimal {
    pub spec: Node,
    pub left_out: Vec<LeftOut>,
}

/// A value that is left out although a document could declare it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub path: Path,
    pub why: Hidden,
}

/// Why a value is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hidden {
    WriteOnly,
    /// Write-only, and not shown: the object may have none.
    NotShown,
    Secret,
    /// By the name of its field alone.
    Named,
    Masked,
}

impl Hidden {
    pub fn word(self) -> &'static str {
        match self {
            Hidden::WriteOnly => "write-only",
            Hidden::NotShown => "write-only: the server does not show whether there is one",
            Hidden::Secret => "secret",
            Hidden::Named => "secret by its name: `plain`, in the kind's fields, says that it is none",
            Hidden::Masked => "masked",
        }
    }
}

/// What is known of an object beside its value.
pub struct Known<'k> {
    /// Paths that need not be declared: the id, the version, the parts of the key.
    pub elsewhere: &'k [Path],
    /// Where documents of the object have secrets.
    pub veils: &'k [&'k Veil],
    /// Whether a text or a number tells a secret that is known to the run.
    pub tells: &'k dyn Fn(&Value) -> bool,
    /// The variable that stands in for the secret at a path.
    pub variable: &'k dyn Fn(&Path) -> String,
}

/// The least that has to be declared; `None` where the object holds a secret that can neither be left out nor
/// replaced.
pub fn minimal(observed: &Value, rules: &FieldRules, known: &Known) -> Option<Minimal> {
    let mut cut = Cut { known, left_out: Vec::new() };
    let place =
        Place { path: Path::root(), scope: Scope::root(rules), veils: known.veils.to_vec(), lean: true };
    let spec = match observed {
        Value::Object(map) => cut.map(&place, observed, map),
        _ => cut.kept(&place, observed),
    };
    let spec = spec?;
    rules.each_rule(&mut |path, rule| {
        if rule.write_only && is_missing(path, observed) {
            cut.note(path, Hidden::NotShown);
        }
    });
    Some(Minimal { spec, left_out: cut.left_out })
}

/// Whether a field could be declared in a map that is there, and the server does not show it.
fn is_missing(path: &Path, observed: &Value) -> bool {
    let Some((Step::Field(name), above)) = path.0.split_last() else { return false };
    let above = Path(above.to_vec());
    above.get(observed).and_then(Value::as_object).is_some_and(|map| map.get(name).is_none_or(Value::is_null))
}

/// A place of the walk.
#[derive(Clone)]
struct Place<'r> {
    path: Path,
    scope: Scope<'r>,
    veils: Vec<&'r Veil>,
    /// Whether what equals nothing may be left out here: in maps, and in elements that a key names.
    lean: bool,
}

impl<'r> Place<'r> {
    fn field(&self, name: &str) -> Place<'r> {
        Place {
            path: self.path.field(name),
            scope: self.scope.field(name),
            veils: self.veils.iter().map(|veil| veil.field(name)).collect(),
            lean: self.lean,
        }
    }

    fn element(&self, at: usize, item: &Value, lean: bool) -> Place<'r> {
        Place {
            path: self.path.with(Step::Index(at)),
            scope: self.scope.element(at, None, Some(item)),
            veils: self.veils.iter().map(|veil| veil.each()).collect(),
            lean,
        }
    }

    /// Why the value cannot be shown, if it cannot.
    fn hides(&self, value: &Value, known: &Known) -> Option<Hidden> {
        let told = matches!(value, Value::String(_) | Value::Number(_)) && (known.tells)(value);
        let hiding = || self.veils.iter().filter(|veil| veil.hides(value));
        if self.scope.secret || hiding().any(|veil| !veil.is_by_name()) {
            return Some(Hidden::Secret);
        }
        if hiding().next().is_some() {
            return Some(Hidden::Named);
        }
        if told {
            return Some(Hidden::Secret);
        }
        walk::is_masked(value, self.scope.here()).then_some(Hidden::Masked)
    }
}

struct Cut<'k> {
    known: &'k Known<'k>,
    left_out: Vec<LeftOut>,
}

impl Cut<'_> {
    /// What has to be said of a member of a map.
    fn member(&mut self, above: &Place, name: &str, value: &Value) -> Option<Node> {
        if (self.known.tells)(&Value::String(name.into())) {
            self.note(&above.path, Hidden::Secret);
            return None;
        }
        let place = above.field(name);
        let before = self.left_out.len();
        let kept = self.value(&place, value);
        if kept.is_some() || walk::left_alone(value, above.scope.closed, place.scope) {
            return kept;
        }
        self.left_out.truncate(before);
        if self.hidden_in(&place, value).is_none() {
            return Some(whole(value));
        }
        let source = format!("env:{}", (self.known.variable)(&place.path));
        Some(node(Want::Secret(Secret::new(&source, None))))
    }

    fn value(&mut self, place: &Place, value: &Value) -> Option<Node> {
        let here = place.scope.here();
        if here.write_only && !value.is_null() {
            self.note(&place.path, Hidden::WriteOnly);
        }
        if here.not_compared() || here.copy {
            return None;
        }
        let unset = place.lean && (means_unset(value, here) || self.known.elsewhere.contains(&place.path));
        if unset { None } else { self.kept(place, value) }
    }

    /// A value that is not left out for what it is.
    fn kept(&mut self, place: &Place, value: &Value) -> Option<Node> {
        if let Some(why) = place.hides(value, self.known).filter(|_| !value.is_null()) {
            self.note(&place.path, why);
            return None;
        }
        match value {
            Value::Object(map) => {
                let kept = self.map(place, value, map)?;
                let emptied =
                    matches!(&kept.want, Want::Map(members) if members.is_empty()) && !map.is_empty();
                (!emptied || place.scope.here().closed || !place.lean).then_some(kept)
            }
            Value::Array(items) => self.list(place, value, items),
            scalar => Some(whole(scalar)),
        }
    }

    fn map(&mut self, place: &Place, value: &Value, map: &Map<String, Value>) -> Option<Node> {
        let before = self.left_out.len();
        let members =
            map.iter().filter_map(|(name, item)| Some((name.clone(), self.member(place, name, item)?)));
        let kept = node(Want::Map(members.collect()));
        // A filter that looks at the map as one may miss what was left out.
        let by_filter = matches!(place.scope.here().compare, Some(Comparer::Filter(_)));
        if !by_filter || walk::agrees(&kept, value, place.scope) {
            return Some(kept);
        }
        self.uncut(place, value, before)
    }

    fn list(&mut self, place: &Place, value: &Value, items: &[Value]) -> Option<Node> {
        let before = self.left_out.len();
        let same: Vec<Node> = items.iter().map(whole).collect();
        let keyed = matches!(pair(&same, items, place.scope).by, By::Key(_));
        for lean in if keyed { &[true, false][..] } else { &[false] } {
            self.left_out.truncate(before);
            let element = |(at, item): (usize, &Value)| self.element(&place.element(at, item, *lean), item);
            let kept = node(Want::List(items.iter().enumerate().filter_map(element).collect()));
            if walk::agrees(&kept, value, place.scope) {
                return Some(kept);
            }
        }
        self.uncut(place, value, before)
    }

    fn element(&mut self, place: &Place, item: &Value) -> Option<Node> {
        let here = place.scope.here();
        if here.write_only && !item.is_null() {
            self.note(&place.path, Hidden::WriteOnly);
        }
        if here.not_compared() { None } else { self.kept(place, item) }
    }

    /// The value as it is, where it holds nothing that must not be shown; else it is named as one.
    fn uncut(&mut self, place: &Place, value: &Value, before: usize) -> Option<Node> {
        self.left_out.truncate(before);
        match self.hidden_in(place, value) {
            None => Some(whole(value)),
            Some(why) => {
                self.note(&place.path, why);
                None
            }
        }
    }

    /// Why some part of a value must not be shown, if any is so.
    fn hidden_in(&self, place: &Place, value: &Value) -> Option<Hidden> {
        if let Some(why) = place.hides(value, self.known).filter(|_| !value.is_null()) {
            return Some(why);
        }
        match value {
            Value::Object(map) => map.iter().find_map(|(name, item)| {
                let told = (self.known.tells)(&Value::String(name.clone()));
                if told { Some(Hidden::Secret) } else { self.hidden_in(&place.field(name), item) }
            }),
            Value::Array(items) => {
                let mut each = items.iter().enumerate();
                each.find_map(|(at, item)| self.hidden_in(&place.element(at, item, place.lean), item))
            }
            _ => None,
        }
    }

    fn note(&mut self, path: &Path, why: Hidden) {
        let left_out = LeftOut { path: path.clone(), why };
        if !self.left_out.contains(&left_out) {
            self.left_out.push(left_out);
        }
    }
}

fn node(want: Want) -> Node {
    Node::new(Pos::default(), want)
}

fn whole(value: &Value) -> Node {
    Node::from_value(Pos::default(), value.clone())
}

#[cfg(test)]
#[path = "minimal_tests.rs"]
mod tests;
