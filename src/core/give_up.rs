//! Giving up fields for a run: what is wanted, without them. Each then stays as the server has it.
//!
//! Most are left out of what is wanted, so they are neither compared nor sent. Where leaving out would mean to take
//! away (an undeclared key below a closed path, an element in a list that is owned whole, a body that replaces all),
//! what the server has is wanted in its place.

use super::base::find;
use super::diff::scope::Scope;
use super::fields::FieldRules;
use super::members::Members;
use super::node::{Node, Pos, Want};
use super::path::{Path, Step};
use super::value::{Value, plain_text};

/// A place that is given up.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    pub path: Path,
    /// Whether what the server has is wanted there, in place of nothing.
    pub theirs: bool,
}

impl Given {
    /// How a place of `spec` is given up. `whole` says that what is sent replaces all that the server has.
    pub fn of(path: Path, spec: &Node, rules: &FieldRules, whole: bool) -> Given {
        let theirs = whole || find(spec, &path.0).is_none() || is_closed(&path, rules);
        Given { path, theirs }
    }
}

/// Whether nothing undeclared is allowed at a place.
pub fn is_closed(path: &Path, rules: &FieldRules) -> bool {
    (0..path.0.len()).any(|length| rules.at(&Path(path.0[..length].to_vec())).here.closed)
}

/// The place to give up for a difference at `path`. Elements that are named by their position, or that stand in a
/// set, are given up with their list. `None` for the whole of an object.
pub fn place(path: &Path) -> Option<Path> {
    let steps = path.0.iter().take_while(|step| matches!(step, Step::Field(_) | Step::Keyed(..)));
    let place = Path(steps.cloned().collect());
    (!place.is_root()).then_some(place)
}

/// Whether anything at a place, or around it, is hidden: then what is observed cannot be sent back.
pub fn is_hidden(path: &Path, rules: &FieldRules) -> bool {
    let scopes = (0..=path.0.len())
        .map(|length| path.0[..length].iter().fold(Scope::root(rules), |scope, step| scope.step(step)));
    scopes.into_iter().any(|scope| {
        let here = scope.here();
        here.secret || here.write_only || here.mask.is_some()
    })
}

/// `spec` without what is given up; `observed` is what the server has.
pub fn without(spec: &Node, given: &[Given], observed: &Value) -> Node {
    let mut spec = spec.clone();
    for Given { path, theirs } in given {
        match path.get(observed).filter(|_| *theirs) {
            Some(value) => lay(&mut spec, &path.0, value),
            None => {
                remove(&mut spec, &path.0);
            }
        }
    }
    spec
}

/// Takes what stands at a path away, and maps that are empty after it; true where `node` is such a map now.
fn remove(node: &mut Node, path: &[Step]) -> bool {
    let Some((step, below)) = path.split_first() else { return false };
    match (step, &mut node.want) {
        (Step::Field(name), Want::Map(map)) => {
            let gone = below.is_empty() || map.get_mut(name).is_some_and(|node| remove(node, below));
            gone && map.remove(name).is_some() && map.is_empty()
        }
        (Step::Keyed(name, text), Want::List(items)) => {
            let at = items.iter().position(|item| is_element(item, name, text));
            match (at, below) {
                (Some(at), []) => {
                    items.remove(at);
                }
                (Some(at), below) => {
                    remove(&mut items[at], below);
                }
                (None, _) => {}
            }
            false
        }
        _ => false,
    }
}

/// Puts what the server has at a path, making what is missing on the way.
fn lay(node: &mut Node, path: &[Step], value: &Value) {
    let Some((step, below)) = path.split_first() else {
        *node = Node::from_value(node.at, value.clone());
        return;
    };
    match (step, &mut node.want) {
        (Step::Field(name), Want::Map(map)) => {
            let made = || Node::new(Pos::default(), Want::Map(Members::default()));
            lay(map.get_or_insert_with(name, made), below, value);
        }
        (Step::Keyed(name, text), Want::List(items)) => {
            match items.iter().position(|item| is_element(item, name, text)) {
                Some(at) => lay(&mut items[at], below, value),
                None if below.is_empty() => items.push(Node::from_value(Pos::default(), value.clone())),
                None => {}
            }
        }
        _ => {}
    }
}

fn is_element(item: &Node, name: &str, text: &str) -> bool {
    matches!(item.get(name).map(|key| &key.want), Some(Want::Json(key)) if plain_text(key) == *text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn after(spec: Value, path: &str, theirs: bool, observed: Value) -> Value {
        let given = [Given { path: Path::parse(path).expect(path), theirs }];
        without(&Node::from_value(Pos::default(), spec), &given, &observed).to_value().expect("no secrets")
    }

    #[test]
    fn what_is_given_up_is_left_out_or_is_as_the_server_has_it() {
        let web = || json!({"l": [{"name": "web", "n": 1, "m": 1}, {"name": "db"}], "k": 1});
        for (spec, path, theirs, observed, want) in [
            (json!({"a": 1, "b": 2}), "a", false, json!({"a": 9}), json!({"b": 2})),
            (json!({"a": {"x": 1}, "b": 2}), "a.x", false, json!({}), json!({"b": 2})),
            (json!({"a": {"x": 1}}), "a.x", false, json!({}), json!({})),
            (json!({"a": 1}), "a", true, json!({"a": {"x": 9}}), json!({"a": {"x": 9}})),
            (json!({"a": 1}), "a", true, json!({}), json!({})),
            (json!({"a": 1}), "b.c", true, json!({"b": {"c": 9}}), json!({"a": 1, "b": {"c": 9}})),
            (json!({"a": 1}), "a.x", true, json!({"a": {"x": 9}}), json!({"a": 1})),
            (json!({"a": 1}), "z", false, json!({}), json!({"a": 1})),
            (
                web(),
                "l[name=web].n",
                false,
                json!({}),
                json!({"l": [{"name": "web", "m": 1}, {"name": "db"}], "k": 1}),
            ),
            (web(), "l[name=db]", false, json!({}), json!({"l": [{"name": "web", "n": 1, "m": 1}], "k": 1})),
            (
                web(),
                "l[name=new]",
                true,
                json!({"l": [{"name": "new", "n": 3}]}),
                json!({"l": [{"name": "web", "n": 1, "m": 1}, {"name": "db"}, {"name": "new", "n": 3}], "k": 1}),
            ),
        ] {
            assert_eq!(after(spec.clone(), path, theirs, observed), want, "{spec} without {path}");
        }
    }

    #[test]
    fn the_place_of_an_element_by_position_is_its_list() {
        for (path, want) in [
            ("a.b", Some("a.b")),
            ("a[1].b", Some("a")),
            ("a[*]", Some("a")),
            ("l[name=x].n", Some("l[name=x].n")),
            ("[0]", None),
        ] {
            let found = place(&Path::parse(path).expect(path));
            assert_eq!(found.map(|path| path.to_string()).as_deref(), want, "{path}");
        }
        assert_eq!(place(&Path::root()), None);
    }
}
