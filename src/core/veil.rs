//! Where secrets stand, known by their places: what the server has there is a secret too, whatever its value.
//!
//! A place is secret by a kind's word `secret`, by a document's `!secret`, and by a `!ref` to such a place.
//! Which element of a list the server's belongs to is not known, so a member of one is a secret in all.

use std::collections::BTreeMap;

use super::byname::{self, Hint};
use super::fields::FieldRules;
use super::node::{Node, Pos, Secret, Want};
use super::path::{Path, Step};
use super::redact::Redactor;
use super::scrub::SECRET;
use super::value::{Value, plain_text};

/// The places of secrets, as a tree that is walked beside the values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Veil {
    /// This value, with all that is below.
    here: bool,
    /// What is called like a secret is one, here and below.
    named: bool,
    /// What the name of this value says, or that of the list that it is in.
    hint: Hint,
    /// No name below this place says anything.
    plain: bool,
    fields: BTreeMap<String, Veil>,
    /// Any element of a list, or any member of a map.
    each: Option<Box<Veil>>,
}

/// Whether a text that stands in a secret's place is looked for beside it: `admin` or `none` would hide what
/// everybody may see.
pub fn is_telling(text: &str) -> bool {
    text.chars().count() >= 8
}

static NOTHING: Veil = leaf(false, false, Hint::None);
static ALL: Veil = leaf(true, false, Hint::None);
static NAMED: Veil = leaf(false, true, Hint::None);
static TEXT: Veil = leaf(false, true, Hint::Text);
static ANY: Veil = leaf(false, true, Hint::Any);

const fn leaf(here: bool, named: bool, hint: Hint) -> Veil {
    Veil { here, named, hint, plain: false, fields: BTreeMap::new(), each: None }
}

/// The veil of what nobody has spoken of, by its name.
fn by(hint: Hint) -> &'static Veil {
    match hint {
        Hint::None => &NAMED,
        Hint::Text => &TEXT,
        Hint::Any => &ANY,
    }
}

impl Veil {
    /// The secrets of a desired value.
    pub fn of(node: &Node) -> Veil {
        let mut veil = Veil::default();
        veil.add(node);
        veil
    }

    /// The secrets that a kind's fields name.
    pub fn of_rules(rules: &FieldRules) -> Veil {
        let mut veil = Veil::default();
        rules.each_rule(&mut |path, rule| {
            if rule.secret {
                veil.at_mut(path).here = true;
            }
        });
        veil
    }

    /// The secrets that a kind's fields name, and what is called like one and is not `plain` by the kind. It is for
    /// showing alone: whether values differ is nothing that a name decides.
    pub fn by_names(rules: &FieldRules) -> Veil {
        let mut veil = NAMED.clone();
        rules.each_rule(&mut |path, rule| {
            if rule.secret || rule.plain {
                let at = veil.at_mut(path);
                at.here |= rule.secret;
                if rule.plain {
                    (at.plain, at.named, at.hint) = (true, false, Hint::None);
                }
            }
        });
        veil
    }

    /// The same where nothing is known of a kind.
    pub fn by_names_alone() -> &'static Veil {
        &NAMED
    }

    pub fn is_empty(&self) -> bool {
        *self == NOTHING
    }

    /// The veil of a map's member.
    pub fn field(&self, name: &str) -> &Veil {
        match (self.fields.get(name), &self.each) {
            _ if self.here => &ALL,
            (Some(veil), _) => veil,
            (None, Some(each)) if self.named && !each.has_more() => by(byname::hint(name).max(each.hint)),
            (None, Some(each)) => each,
            (None, None) if self.named => by(byname::hint(name)),
            (None, None) => &NOTHING,
        }
    }

    /// The veil of any element of a list.
    pub fn each(&self) -> &Veil {
        match &self.each {
            _ if self.here => &ALL,
            Some(each) => each,
            None if self.named => by(self.hint),
            None => &NOTHING,
        }
    }

    /// Whether more is said than what names say.
    fn has_more(&self) -> bool {
        self.here || self.plain || !self.fields.is_empty() || self.each.is_some()
    }

    /// The veil at a path.
    pub fn at(&self, path: &Path) -> &Veil {
        path.0.iter().fold(self, |veil, step| veil.step(step))
    }

    /// The veil one step below.
    pub fn step(&self, step: &Step) -> &Veil {
        match step {
            Step::Field(name) => self.field(name),
            Step::Index(_) | Step::Keyed(..) | Step::Each => self.each(),
        }
    }

    /// Whether a key of this list's elements may be a secret.
    pub fn hides_key(&self, name: &str) -> bool {
        let each = self.each();
        each.here || each.fields.get(name).is_some_and(Veil::holds_any)
    }

    /// Whether this value is a secret, or may hold one that is not where the file has it.
    pub fn hides(&self, value: &Value) -> bool {
        let in_map = || self.fields.values().any(Veil::holds_any);
        let in_list = || self.each.as_deref().is_some_and(Veil::holds_any);
        self.here
            || match value {
                Value::Null => false,
                Value::Object(_) => in_list(),
                Value::Array(_) => in_map(),
                Value::String(text) if self.hint > Hint::None && !text.is_empty() => true,
                Value::Number(_) if self.hint == Hint::Any => true,
                _ => in_map() || in_list(),
            }
    }

    /// Whether what it hides here is a secret by its name, and by nothing else.
    pub fn is_by_name(&self) -> bool {
        self.hint > Hint::None && !self.holds_any()
    }

    /// Whether a secret that is one by more than its name stands here or below.
    fn holds_any(&self) -> bool {
        self.here || self.fields.values().chain(self.each.as_deref()).any(Veil::holds_any)
    }

    /// A copy of a value in which [`SECRET`] stands for each secret.
    pub fn cover(&self, value: &Value) -> Value {
        match value {
            _ if self.hides(value) => SECRET.into(),
            Value::Object(map) => {
                let members = map.iter().map(|(name, item)| (name.clone(), self.field(name).cover(item)));
                Value::Object(members.collect())
            }
            Value::Array(items) => items.iter().map(|item| self.each().cover(item)).collect(),
            scalar => scalar.clone(),
        }
    }

    /// Collects the texts of a value's secrets. Words that stand for themselves, as `true`, tell nothing.
    pub fn hidden(&self, value: &Value, texts: &mut Vec<String>) {
        let veil = if self.hides(value) { &ALL } else { self };
        match value {
            Value::Object(map) => map.iter().for_each(|(name, item)| veil.field(name).hidden(item, texts)),
            Value::Array(items) => items.iter().for_each(|item| veil.each().hidden(item, texts)),
            Value::String(_) | Value::Number(_) if veil.here => texts.push(plain_text(value)),
            _ => {}
        }
    }

    /// The texts of an object's secrets that are looked for beside these, too.
    pub fn telling(veils: &[&Veil], value: &Value) -> Vec<String> {
        let mut texts = Vec::new();
        veils.iter().for_each(|veil| veil.hidden(value, &mut texts));
        texts.retain(|text| is_telling(text));
        texts
    }

    /// A copy of an object without its secrets: where they stand, and wherever their texts stand besides.
    pub fn cover_all(veils: &[&Veil], value: &Value) -> Value {
        let texts = Veil::telling(veils, value);
        let covered = veils.iter().fold(value.clone(), |value, veil| veil.cover(&value));
        if texts.is_empty() { covered } else { Redactor::new(texts).value(&covered) }
    }

    /// A value that was looked up, as a tree at `at` whose secrets stay secrets; they come from `source`.
    pub fn node(&self, at: Pos, value: Value, source: &str) -> Node {
        let veil = if self.hides(&value) { &ALL } else { self };
        let want = match value {
            Value::Array(items) => {
                Want::List(items.into_iter().map(|item| veil.each().node(at, item, source)).collect())
            }
            Value::Object(map) => {
                let node = |(name, item): (String, Value)| {
                    let node = veil.field(&name).node(at, item, source);
                    (name, node)
                };
                Want::Map(map.into_iter().map(node).collect())
            }
            Value::Null => Want::Json(Value::Null),
            scalar if veil.here => Want::Secret(Secret::of_value(source, scalar)),
            scalar => Want::Json(scalar),
        };
        Node::new(at, want)
    }

    /// Adds the places of another veil.
    pub fn join(&mut self, other: &Veil) {
        self.here |= other.here;
        self.named |= other.named;
        self.hint = self.hint.max(other.hint);
        self.plain |= other.plain;
        for (name, below) in &other.fields {
            self.fields.entry(name.clone()).or_default().join(below);
        }
        if let Some(each) = &other.each {
            self.each.get_or_insert_default().join(each);
        }
    }

    fn at_mut(&mut self, path: &Path) -> &mut Veil {
        path.0.iter().fold(self, |veil, step| {
            let made = |hint| Veil { named: veil.named, plain: veil.plain, ..leaf(false, false, hint) };
            match step {
                Step::Field(name) => {
                    let hint = if veil.named { byname::hint(name) } else { Hint::None };
                    veil.fields.entry(name.clone()).or_insert(made(hint))
                }
                Step::Index(_) | Step::Keyed(..) | Step::Each => {
                    veil.each.get_or_insert(Box::new(made(veil.hint)))
                }
            }
        })
    }

    fn add(&mut self, node: &Node) {
        match &node.want {
            Want::Secret(_) => self.here = true,
            Want::Ref(reference) => self.join(&reference.secrets),
            Want::Map(map) => {
                for (name, item) in map.iter().filter(|(_, item)| has_secret(item)) {
                    self.fields.entry(name.to_string()).or_default().add(item);
                }
            }
            Want::List(items) => {
                for item in items.iter().filter(|item| has_secret(item)) {
                    self.each.get_or_insert_default().add(item);
                }
            }
            Want::Unset | Want::Json(_) | Want::Outside(_) => {}
        }
    }
}

fn has_secret(node: &Node) -> bool {
    match &node.want {
        Want::Secret(_) => true,
        Want::Ref(reference) => !reference.secrets.is_empty(),
        Want::Map(map) => map.values().any(has_secret),
        Want::List(items) => items.iter().any(has_secret),
        Want::Unset | Want::Json(_) | Want::Outside(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn veil(paths: &[&str]) -> Veil {
        let mut rules = FieldRules::default();
        for path in paths {
            rules.at_mut(&Path::parse(path).expect(path)).secret = true;
        }
        Veil::of_rules(&rules)
    }

    #[test]
    fn places_are_covered_whatever_stands_there() {
        let veil = veil(&["token", "users[*].key", "deep.a.b"]);
        for (value, covered) in [
            (json!({"token": "t", "n": 1}), json!({"token": SECRET, "n": 1})),
            (json!({"token": {"x": ["t"]}}), json!({"token": SECRET})),
            (json!({"users": [{"key": 1, "n": 2}, 3]}), json!({"users": [{"key": SECRET, "n": 2}, SECRET]})),
            // Not in the form that is known: where the secret is in it nobody knows.
            (json!({"users": {"key": "k"}, "deep": ["x"]}), json!({"users": SECRET, "deep": SECRET})),
            (json!({"deep": {"a": {"b": 1, "c": 2}}}), json!({"deep": {"a": {"b": SECRET, "c": 2}}})),
        ] {
            assert_eq!(veil.cover(&value), covered);
        }
    }

    #[test]
    fn what_is_called_like_a_secret_is_covered_where_nobody_says_otherwise() {
        let mut rules = FieldRules::default();
        for path in ["open.token", "public", "users[*].token", "map[*].api_key"] {
            rules.at_mut(&Path::parse(path).expect(path)).plain = true;
        }
        rules.at_mut(&Path::parse("public.hidden").expect("a path")).secret = true;
        let veil = Veil::by_names(&rules);
        for (value, covered) in [
            (json!({"password": "p", "n": "x"}), json!({"password": SECRET, "n": "x"})),
            (json!({"deep": [{"api_key": "k", "id": 1}]}), json!({"deep": [{"api_key": SECRET, "id": 1}]})),
            (
                json!({"password": 12, "max_tokens": 12, "token": 12}),
                json!({"password": SECRET, "max_tokens": 12, "token": 12}),
            ),
            (
                json!({"token": true, "secret": null, "passwd": ""}),
                json!({"token": true, "secret": null, "passwd": ""}),
            ),
            (
                json!({"tokens": ["a", {"id": "b", "token": "c"}]}),
                json!({"tokens": [SECRET, {"id": "b", "token": SECRET}]}),
            ),
            (json!({"secret": {"name": "n", "value": "v"}}), json!({"secret": {"name": "n", "value": "v"}})),
            (
                json!({"open": {"token": "t", "secret": "s"}}),
                json!({"open": {"token": "t", "secret": SECRET}}),
            ),
            (json!({"open": "x"}), json!({"open": "x"})),
            (
                json!({"public": {"token": "t", "hidden": "h"}}),
                json!({"public": {"token": "t", "hidden": SECRET}}),
            ),
            (
                json!({"users": [{"token": "t", "password": "p"}]}),
                json!({"users": [{"token": "t", "password": SECRET}]}),
            ),
            (
                json!({"map": {"a": {"api_key": "k", "token": "t"}}}),
                json!({"map": {"a": {"api_key": "k", "token": SECRET}}}),
            ),
        ] {
            assert_eq!(veil.cover(&value), covered);
            assert!(
                !Veil::of_rules(&rules).cover(&value).to_string().contains(SECRET)
                    || covered["public"]["hidden"] == SECRET
            );
        }
        assert_eq!(
            Veil::by_names_alone().cover(&json!({"open": {"token": "t"}})),
            json!({"open": {"token": SECRET}})
        );
    }

    #[test]
    fn what_is_looked_up_stays_secret_and_is_sent_as_it_is() {
        let value = json!({"token": 7, "users": [{"key": true, "n": null}], "n": "x"});
        let node = veil(&["token", "users[*].key"]).node(Pos::default(), value.clone(), "ref A/a .");
        assert_eq!(node.to_value(), Ok(value));
        let is_secret = |node: Option<&Node>| matches!(node.map(|n| &n.want), Some(Want::Secret(_)));
        assert!(is_secret(node.get("token")) && !is_secret(node.get("n")));
        assert!(!format!("{node:?}").contains("true"), "{node:?}");
    }

    /// Another tool keeps a copy of all that it has sent, in an annotation.
    #[test]
    fn a_secret_is_hidden_wherever_else_it_stands_in_its_object() {
        let copy = json!({"token": "t0k\"en-of-the-server", "mode": "none"}).to_string();
        let value = json!({"token": "t0k\"en-of-the-server", "mode": "none", "note": copy, "kind": "none"});
        let (one, other) = (veil(&["token"]), veil(&["mode"]));
        let shown = json!({"token": SECRET, "mode": SECRET, "note": r#"{"mode":"none","token":"(redacted)"}"#, "kind": "none"});
        assert_eq!(Veil::cover_all(&[&one, &other], &value), shown);
    }

    #[test]
    fn a_path_leads_into_the_veil() {
        let veil = veil(&["token", "headers[*]", "users[*].key"]);
        for (path, hidden) in
            [("token", true), ("token.x", true), ("headers.a", true), ("users[0].key", true), ("n", false)]
        {
            let path = Path::parse(path).expect(path);
            assert_eq!(veil.at(&path).hides(&json!("x")), hidden, "{path}");
        }
    }
}
