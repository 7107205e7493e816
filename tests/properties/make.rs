//! Arbitrary values, desired trees, rules, and observed objects that are close to what is desired.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use trueup::core::fields::{Clear, Comparer, FieldRule, FieldRules, Immutable, Mask};
use trueup::core::node::{Node, Pos, Secret, Want};
use trueup::core::path::{Path, Step};
use trueup::core::value::{Map, Value};

/// What every secret text holds, old and new ones, and nothing else.
pub const SECRET: &str = "hunter2";

/// What is compared, and how.
#[derive(Clone, Debug)]
pub struct Case {
    pub desired: Node,
    pub observed: Value,
    pub rules: FieldRules,
}

/// Few names, so that the sides and the rules meet.
fn name() -> impl Strategy<Value = String> {
    select(&["a", "b", "c", "name", "id", "x/y~z", ""][..]).prop_map(str::to_owned)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("a JSON text")
}

/// Numbers in several spellings.
pub fn number() -> impl Strategy<Value = Value> {
    let few = select(
        &["0", "-0", "1", "1.0", "1e0", "10e-1", "2", "18446744073709551616", "1.8446744073709551616e19"][..],
    );
    let any = (-999i64..999, 0..4usize, -3i32..4)
        .prop_map(|(mantissa, zeros, power)| format!("{mantissa}.{}e{power}", "0".repeat(zeros + 1)));
    prop_oneof![few.prop_map(json), any.prop_map(|text| json(&text))]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        2 => number(),
        3 => select(&["", "x", "y", "10.0.0.1", "2001:DB8::1", "1Gi", "90s", "***", "~/"][..]).prop_map(Value::from),
    ]
}

/// An object of a server: any map.
pub fn item() -> impl Strategy<Value = Map<String, Value>> {
    btree_map(name(), value(), 0..4).prop_map(|map| map.into_iter().collect())
}

/// Any JSON value, a map most of the time.
pub fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            2 => btree_map(name(), inner.clone(), 0..5).prop_map(|map| Value::Object(map.into_iter().collect())),
            1 => vec(inner, 0..5).prop_map(Value::Array),
        ]
    })
}

fn leaf() -> impl Strategy<Value = Want> {
    prop_oneof![
        8 => scalar().prop_map(Want::Json),
        1 => Just(Want::Unset),
        1 => (0..3).prop_map(|n| secret(&format!("{SECRET}-{n}"))),
        1 => Just(Want::Secret(Secret::new("env:MISSING", None))),
    ]
}

fn secret(text: &str) -> Want {
    Want::Secret(Secret::new("env:SECRET", Some(text.into())))
}

fn node(want: Want) -> Node {
    Node::new(Pos::default(), want)
}

fn map_of(inner: impl Strategy<Value = Node>) -> impl Strategy<Value = Node> {
    btree_map(name(), inner, 0..5).prop_map(|map| node(Want::Map(map.into_iter().collect())))
}

fn desired() -> impl Strategy<Value = Node> {
    let tree = leaf().prop_map(node).prop_recursive(3, 30, 5, |inner| {
        prop_oneof![
            1 => map_of(inner.clone()),
            1 => vec(inner.clone(), 0..5).prop_map(|items| node(Want::List(items))),
            1 => vec(map_of(inner), 0..5).prop_map(|items| node(Want::List(items))),
        ]
    });
    map_of(tree)
}

fn word() -> impl Strategy<Value = FieldRule> {
    let comparer = select(vec![
        Comparer::Set,
        Comparer::Ordered,
        Comparer::KeyedBy("a".into()),
        Comparer::Quantity,
        Comparer::Duration,
        Comparer::Timestamp,
        Comparer::Cidr,
        Comparer::Url,
    ]);
    let clear = prop_oneof![
        Just(Clear::Null),
        Just(Clear::Empty),
        Just(Clear::Omit),
        scalar().prop_map(Clear::Value)
    ];
    let immutable = select(&[Immutable::Replace, Immutable::Refuse][..]);
    let rule = FieldRule::default;
    prop_oneof![
        Just(FieldRule { server_owned: true, ..rule() }),
        Just(FieldRule { server_owned: true, copy: true, ..rule() }),
        Just(FieldRule { write_only: true, ..rule() }),
        Just(FieldRule { ignore: true, ..rule() }),
        Just(FieldRule { closed: true, ..rule() }),
        Just(FieldRule { open: true, ..rule() }),
        Just(FieldRule { open: true, compare: Some(Comparer::Set), ..rule() }),
        Just(FieldRule { secret: true, ..rule() }),
        Just(FieldRule { mask: Some(Mask(regex_lite::Regex::new(r"^\*+$").expect("a regex"))), ..rule() }),
        immutable.prop_map(move |immutable| FieldRule { immutable: Some(immutable), ..rule() }),
        clear.prop_map(move |clear| FieldRule { clear: Some(clear), ..rule() }),
        value().prop_map(move |default| FieldRule { default: Some(default), ..rule() }),
        comparer.prop_map(move |comparer| FieldRule { compare: Some(comparer), ..rule() }),
    ]
}

/// A few words at a few paths; none at positions of lists, for elements move.
pub fn rules() -> impl Strategy<Value = FieldRules> {
    let step = prop_oneof![
        4 => name().prop_map(Step::Field),
        2 => Just(Step::Each),
        1 => select(&["x", "1"][..]).prop_map(|value| Step::Keyed("name".into(), value.into())),
    ];
    let path = (name(), vec(step, 0..3)).prop_map(|(first, rest)| {
        let mut steps = vec![Step::Field(first)];
        steps.extend(rest);
        Path(steps)
    });
    vec((path, word()), 0..6).prop_map(|words| {
        let mut rules = FieldRules::default();
        for (path, word) in words {
            *rules.at_mut(&path) = word;
        }
        rules
    })
}

/// What happened to an object on the server.
#[derive(Clone, Debug)]
pub struct Edits(Vec<(Index, Index, Edit)>);

#[derive(Clone, Debug)]
enum Edit {
    Put(Value),
    PutMember(String, Value),
    Remove,
    Turn,
}

pub fn edits() -> impl Strategy<Value = Edits> {
    let edit = prop_oneof![
        scalar().prop_map(Edit::Put),
        value().prop_map(Edit::Put),
        (name(), value()).prop_map(|(name, value)| Edit::PutMember(name, value)),
        Just(Edit::Remove),
        Just(Edit::Turn),
    ];
    vec((any::<Index>(), any::<Index>(), edit), 0..5).prop_map(Edits)
}

impl Edits {
    pub fn on(&self, mut value: Value) -> Value {
        for (which, place, edit) in &self.0 {
            let mut containers = 0;
            each_container(&mut value, &mut |_| containers += 1);
            if containers == 0 {
                break;
            }
            let (wanted, mut at) = (which.index(containers), 0);
            each_container(&mut value, &mut |container| {
                if at == wanted {
                    apply(container, place, edit);
                }
                at += 1;
            });
        }
        value
    }
}

/// Children first, so that the number does not change on the way.
fn each_container(value: &mut Value, f: &mut impl FnMut(&mut Value)) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| each_container(item, f)),
        Value::Object(map) => map.values_mut().for_each(|item| each_container(item, f)),
        _ => return,
    }
    f(value);
}

fn apply(container: &mut Value, place: &Index, edit: &Edit) {
    match (container, edit) {
        (Value::Object(map), Edit::PutMember(name, value)) => {
            map.insert(name.clone(), value.clone());
        }
        (Value::Array(items), Edit::PutMember(_, value)) => {
            items.insert(place.index(items.len() + 1), value.clone());
        }
        (Value::Array(items), edit) if !items.is_empty() => {
            let at = place.index(items.len());
            match edit {
                Edit::Put(value) => items[at] = value.clone(),
                Edit::Remove => drop(items.remove(at)),
                _ => items.rotate_left(at),
            }
        }
        (Value::Object(map), edit) if !map.is_empty() => {
            let name = map.keys().nth(place.index(map.len())).expect("it is within").clone();
            match edit {
                Edit::Put(value) => drop(map.insert(name, value.clone())),
                Edit::Remove => drop(map.remove(&name)),
                _ => {}
            }
        }
        _ => {}
    }
}

/// What a server would hold, with `secret` for the secrets.
fn stored(desired: &Node, secret: &str) -> Value {
    match &desired.want {
        Want::Unset => Value::Null,
        Want::Json(value) => value.clone(),
        Want::Secret(_) => secret.into(),
        Want::List(items) => items.iter().map(|item| stored(item, secret)).collect(),
        Want::Map(map) => {
            let members = map.iter().filter(|(_, item)| item.want != Want::Unset);
            Value::Object(
                members.map(|(name, item)| (name.to_string(), stored(item, secret))).collect::<Map<_, _>>(),
            )
        }
        Want::Ref(_) | Want::Outside(_) => unreachable!("none is made here"),
    }
}

/// Something desired, and an observed object near it or far from it.
pub fn case() -> impl Strategy<Value = Case> {
    let near = (desired(), edits(), rules()).prop_map(|(desired, edits, rules)| {
        let observed = edits.on(stored(&desired, &format!("{SECRET}-0")));
        Case { desired, observed, rules }
    });
    let far = (desired(), value(), rules());
    let far = far.prop_map(|(desired, observed, rules)| Case { desired, observed, rules });
    prop_oneof![4 => near, 1 => far]
}

/// A case in which each secret has an older value on the server, wherever its list has moved it.
pub fn secret_case() -> impl Strategy<Value = Case> {
    (desired(), edits(), rules()).prop_map(|(desired, edits, rules)| {
        let observed = edits.on(stored(&desired, &format!("old-{SECRET}")));
        Case { desired, observed, rules }
    })
}

/// Maps with a unique name each.
pub fn keyed_list() -> impl Strategy<Value = Value> {
    let members = btree_map(select(&["a", "b"][..]), scalar(), 0..3);
    btree_map(select(&["w", "x", "y", "z"][..]), members, 0..5).prop_map(|elements| {
        let element = |(name, members): (&str, BTreeMap<&str, Value>)| {
            let mut map: Map<String, Value> = members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
            map.insert("name".into(), name.into());
            Value::Object(map)
        };
        elements.into_iter().map(element).collect()
    })
}
