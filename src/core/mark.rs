//! Owner marks: the owner's name in the field that a kind declares for it (`owner: PATH`), and nothing else.
//!
//! `tags[]` is a mark as one element of a list, among the elements of others. No value and no hash is stored: a mark
//! says who may delete an object, and never what the object was.

use super::kind::Kind;
use super::node::{Node, Pos, Want};
use super::path::{Path, Step};
use super::value::Value;

/// How a mark stands in an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Borne {
    Ours,
    /// Another owner's, in a field that holds only one.
    Theirs(String),
    None,
}

/// The fields that lead to the mark, and whether it is an element of the list there; `None` for a path at which no
/// mark can stand.
pub fn place(path: &Path) -> Option<(Vec<&str>, bool)> {
    let (steps, in_list) = match path.0.split_last()? {
        (Step::Each, above) => (above, true),
        _ => (&path.0[..], false),
    };
    let names: Option<Vec<&str>> = steps
        .iter()
        .map(|step| match step {
            Step::Field(name) => Some(name.as_str()),
            _ => None,
        })
        .collect();
    names.filter(|names| !names.is_empty()).map(|names| (names, in_list))
}

/// The field of the mark; of one in a list the list.
pub fn field(path: &Path) -> Path {
    let steps = path.0.iter().filter(|step| matches!(step, Step::Field(_)));
    Path(steps.cloned().collect())
}

/// Whether an observed object bears the mark of `owner`.
pub fn borne(path: &Path, owner: &str, observed: &Value) -> Borne {
    let Some((_, in_list)) = place(path) else { return Borne::None };
    match field(path).get(observed) {
        Some(Value::Array(items)) if in_list && items.iter().any(|item| *item == *owner) => Borne::Ours,
        Some(Value::String(text)) if !in_list && **text == *owner => Borne::Ours,
        Some(Value::String(text)) if !in_list && !text.is_empty() => Borne::Theirs(text.clone()),
        _ => Borne::None,
    }
}

/// Whether an update can put a mark on an object that is there.
pub fn can_be_added(kind: &Kind, path: &Path) -> bool {
    let field = field(path);
    let mut rules = (0..=field.0.len()).map(|n| &kind.fields.at(&Path(field.0[..n].to_vec())).here);
    kind.update.is_some() && rules.all(|rule| rule.immutable.is_none() && !rule.not_compared())
}

/// Adds the mark of `owner` to what is wanted of an object: the field, or an element of the list that is wanted;
/// where no list is wanted, of the one that is there.
pub fn add(spec: &mut Node, path: &Path, owner: &str, observed: Option<&Value>) {
    let Some((names, in_list)) = place(path) else { return };
    let at = spec.at;
    let mark = Node::new(at, Want::Json(owner.into()));
    let Some(node) = reach(spec, &names) else { return };
    if !in_list {
        *node = mark;
        return;
    }
    if !matches!(node.want, Want::List(_)) {
        let there = observed.and_then(|value| field(path).get(value)).filter(|value| value.is_array());
        *node = Node::from_value(at, there.cloned().unwrap_or_else(|| Value::Array(Vec::new())));
    }
    if let Want::List(items) = &mut node.want
        && !items.iter().any(|item| item.as_str() == Some(owner))
    {
        items.push(mark);
    }
}

/// An observed object without the mark of `owner` in a list, and without the list where nothing else is in it; `None`
/// where the mark is no element of a list, or is not there.
pub fn without(path: &Path, owner: &str, observed: &Value) -> Option<Value> {
    let (names, in_list) = place(path)?;
    if !in_list || borne(path, owner, observed) != Borne::Ours {
        return None;
    }
    let (last, above) = names.split_last()?;
    let mut whole = observed.clone();
    let map = above.iter().try_fold(&mut whole, |value, name| value.get_mut(name))?.as_object_mut()?;
    let items = map.get_mut(*last)?.as_array_mut()?;
    items.retain(|item| *item != *owner);
    if items.is_empty() {
        map.remove(*last);
    }
    Some(whole)
}

/// The node at these fields, with the maps on the way made. `None` where something else is in the way.
fn reach<'n>(spec: &'n mut Node, names: &[&str]) -> Option<&'n mut Node> {
    let at: Pos = spec.at;
    let mut node = spec;
    for name in names {
        let Want::Map(map) = &mut node.want else { return None };
        node = map.get_or_insert_with(name, || Node::new(at, Want::Map(Default::default())));
    }
    Some(node)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path(text: &str) -> Path {
        Path::parse(text).expect("a path")
    }

    fn added(spec: Value, at: &str, observed: Option<Value>) -> Value {
        let mut node = Node::from_value(Pos::default(), spec);
        add(&mut node, &path(at), "me", observed.as_ref());
        node.to_value().expect("it is all there")
    }

    #[test]
    fn a_mark_is_a_field_or_one_element_among_others() {
        for (spec, at, observed, want) in [
            (json!({}), "meta.owner", None, json!({"meta": {"owner": "me"}})),
            (json!({"meta": {"a": 1}}), "meta.owner", None, json!({"meta": {"a": 1, "owner": "me"}})),
            (json!({}), "tags[*]", None, json!({"tags": ["me"]})),
            (json!({}), "tags[*]", Some(json!({"tags": ["x"]})), json!({"tags": ["x", "me"]})),
            (json!({"tags": ["y"]}), "tags[*]", Some(json!({"tags": ["x"]})), json!({"tags": ["y", "me"]})),
            (json!({"tags": ["me"]}), "tags[*]", None, json!({"tags": ["me"]})),
            (json!({"meta": 1}), "meta.owner", None, json!({"meta": 1})),
        ] {
            assert_eq!(added(spec.clone(), at, observed), want, "{spec} {at}");
        }
    }

    #[test]
    fn whose_mark_an_object_bears() {
        for (at, observed, want) in [
            ("owner", json!({"owner": "me"}), Borne::Ours),
            ("owner", json!({"owner": "you"}), Borne::Theirs("you".into())),
            ("owner", json!({"owner": ""}), Borne::None),
            ("owner", json!({}), Borne::None),
            ("owner", json!({"owner": ["me"]}), Borne::None),
            ("tags[*]", json!({"tags": ["you", "me"]}), Borne::Ours),
            ("tags[*]", json!({"tags": ["you"]}), Borne::None),
            ("tags[*]", json!({"tags": "me"}), Borne::None),
        ] {
            assert_eq!(borne(&path(at), "me", &observed), want, "{at} {observed}");
        }
    }

    #[test]
    fn a_mark_stands_at_fields_and_at_most_in_one_list() {
        for (at, fits) in [
            ("a.b", true),
            ("a.b[*]", true),
            (".", false),
            ("a[*].b", false),
            ("a[0]", false),
            ("[*]", false),
        ] {
            assert_eq!(place(&path(at)).is_some(), fits, "{at}");
        }
    }
}
