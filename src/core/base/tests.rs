//! Three small values side by side: what is to change, who made it, and what is left alone.

use serde_json::{Value, json};

use super::*;
use crate::core::change::Reason;
use crate::core::diff::compare_since;
use crate::core::fields::FieldRules;
use crate::core::node::{Pos, Secret, Want};
use crate::core::overlay::{Form, overlay};
use crate::core::path::Path;

fn node(value: &Value) -> Node {
    Node::from_value(Pos::default(), value.clone())
}

/// A tree in which the text `UNSET` is an explicit null, and `SECRET NAME` a secret that is not there.
fn desired(value: &Value) -> Node {
    fn mend(node: &mut Node) {
        let text = node.as_str().map(str::to_owned);
        match (&mut node.want, text.as_deref()) {
            (want, Some("UNSET")) => *want = Want::Unset,
            (want, Some(text)) if text.starts_with("SECRET ") => {
                *want = Want::Secret(Secret::new(text, None))
            }
            (Want::List(items), _) => items.iter_mut().for_each(mend),
            (Want::Map(map), _) => map.values_mut().for_each(mend),
            _ => {}
        }
    }
    let mut node = node(value);
    mend(&mut node);
    node
}

/// One line a difference: `path: side`, with a `-` before what goes.
fn told(base: &Value, ours: &Value, theirs: &Value, rules: &FieldRules) -> Vec<String> {
    let (base, ours) = (desired(base), desired(ours));
    let Left { spec, untold } = left(&ours, &base, theirs, rules, false);
    let mut changes = compare_since(&spec, Some(&base), theirs, rules).changes;
    tell(&mut changes, &spec, &Sides { base: Some(&base), ours: &ours, theirs, rules });
    let line = |change: &crate::core::change::Change| {
        let sign = if change.after.is_none() { "-" } else { "" };
        let side = change.since.as_ref().expect("it was told").side;
        format!("{sign}{}: {}", change.path, side.word())
    };
    changes.iter().map(line).chain(untold.iter().map(|path| format!("{path}: untold"))).collect()
}

#[test]
fn who_made_a_difference() {
    for (base, ours, theirs, want) in [
        (
            json!({"n": 1, "m": 1}),
            json!({"n": 2, "m": 1}),
            json!({"n": 1, "m": 9}),
            vec!["m: drift", "n: pending"],
        ),
        (json!({"n": 1}), json!({"n": 2}), json!({"n": 3}), vec!["n: conflict"]),
        (json!({"n": 1}), json!({"n": 2}), json!({"n": 2}), vec![]),
        (json!({"n": 1}), json!({"n": 1}), json!({}), vec!["n: drift"]),
        (json!({"n": 1}), json!({"n": 2}), json!({}), vec!["n: conflict"]),
        (json!({}), json!({"n": 2}), json!({"n": 1}), vec!["n: pending"]),
        (json!({"n": 1}), json!({"n": "UNSET"}), json!({"n": 1}), vec!["-n: pending"]),
        (json!({"n": 1}), json!({"n": "UNSET"}), json!({"n": 2}), vec!["-n: conflict"]),
        (json!({}), json!({"n": "UNSET"}), json!({"n": 2}), vec!["-n: pending"]),
        (json!({"n": "UNSET"}), json!({"n": "UNSET"}), json!({"n": 2}), vec!["-n: drift"]),
        (json!({"n": "UNSET"}), json!({"n": 1}), json!({"n": 2}), vec!["n: conflict"]),
        (json!({"n": "UNSET"}), json!({}), json!({"n": 2}), vec![]),
        (json!({"a": {"x": 1}}), json!({"a": {"x": 1, "y": 2}}), json!({}), vec!["a: both"]),
        (json!({"a": {"x": 1}}), json!({"a": {"x": 2}}), json!({}), vec!["a: conflict"]),
        (json!({"p": "SECRET A"}), json!({"p": "SECRET A"}), json!({}), vec!["p: drift"]),
    ] {
        assert_eq!(told(&base, &ours, &theirs, FieldRules::none()), want, "{base} {ours} {theirs}");
    }
}

#[test]
fn a_field_that_left_goes_if_it_is_still_the_bases() {
    for (base, ours, theirs, want) in [
        (json!({"n": 1, "m": 1}), json!({"m": 1}), json!({"n": 1, "m": 1}), vec!["-n: pending"]),
        (json!({"n": 1}), json!({}), json!({"n": 2}), vec!["-n: conflict"]),
        (json!({"n": 1}), json!({}), json!({}), vec![]),
        // The whole of a map where nothing else is in it, and only what was declared where something is.
        (json!({"a": {"x": 1}}), json!({}), json!({"a": {"x": 1}}), vec!["-a: pending"]),
        (json!({"a": {"x": 1}}), json!({}), json!({"a": {"x": 1, "y": 2}}), vec!["-a.x: pending"]),
        (
            json!({"a": {"x": 1, "y": 1}}),
            json!({}),
            json!({"a": {"x": 2, "y": 1}}),
            vec!["-a.x: conflict", "-a.y: pending"],
        ),
        (json!({"l": [1, 2]}), json!({}), json!({"l": [1, 2]}), vec!["-l: pending"]),
        (json!({"l": [1, 2]}), json!({}), json!({"l": [1, 3]}), vec!["-l: conflict"]),
        (json!({"p": "SECRET A"}), json!({}), json!({"p": "x"}), vec!["p: untold"]),
    ] {
        assert_eq!(told(&base, &ours, &theirs, FieldRules::none()), want, "{base} {ours} {theirs}");
    }
}

#[test]
fn lists() {
    let one = |v: u32| json!({"name": "a", "v": v, "w": 1});
    for (base, ours, theirs, want) in [
        (json!([one(1)]), json!([{"name": "a", "v": 1}]), json!([one(1)]), vec!["-l[name=a].w: pending"]),
        (json!([one(1)]), json!([one(2)]), json!([one(3)]), vec!["l[name=a].v: conflict"]),
        (json!([one(1)]), json!([]), json!([one(1)]), vec!["-l[name=a]: pending"]),
        (
            json!([one(1)]),
            json!([one(1), {"name": "b"}]),
            json!([one(1), {"name": "c"}]),
            vec!["l[name=b]: pending", "-l[name=c]: drift"],
        ),
        (json!([1, 2]), json!([1, 2, 3]), json!([1]), vec!["l[1]: drift", "l[2]: pending"]),
        (json!([1, 2]), json!([1]), json!([1, 2, 9]), vec!["-l[1]: pending", "-l[2]: drift"]),
        (json!([1]), json!([2]), json!([3]), vec!["l[0]: conflict"]),
        (json!([{"v": 1, "w": 2}]), json!([{"v": 1}]), json!([{"v": 1, "w": 2}]), vec!["-l[0].w: pending"]),
    ] {
        let list = |items: &Value| json!({"l": items});
        let got = told(&list(&base), &list(&ours), &list(&theirs), FieldRules::none());
        assert_eq!(got, want, "{base} {ours} {theirs}");
    }
}

/// An element that left an open list goes if it is still the base's; those of others stay.
#[test]
fn elements_that_left_an_open_list() {
    let mut rules = FieldRules::default();
    let at = |text: &str| Path::parse(text).expect(text);
    rules.at_mut(&at("k")).open = true;
    rules.at_mut(&at("s")).open = true;
    rules.at_mut(&at("s")).compare = Some(crate::core::fields::Comparer::Set);
    rules.at_mut(&at("o")).open = true;
    let one = |name: &str, v: u32| json!({"name": name, "v": v});
    for (list, base, ours, theirs, want, sent) in [
        (
            "k",
            json!([one("a", 1), one("b", 1)]),
            json!([one("a", 1)]),
            json!([one("x", 9), one("b", 1), one("a", 1)]),
            vec!["-k[name=b]: pending"],
            json!([one("x", 9), one("a", 1)]),
        ),
        (
            "k",
            json!([one("a", 1), one("b", 1)]),
            json!([one("a", 2)]),
            json!([one("b", 7), one("a", 1)]),
            vec!["k[name=a].v: pending", "-k[name=b]: conflict"],
            json!([one("a", 2)]),
        ),
        (
            "k",
            json!([one("a", 1)]),
            json!([one("a", 1)]),
            json!([one("x", 9), one("a", 1)]),
            vec![],
            json!([one("x", 9), one("a", 1)]),
        ),
        (
            "k",
            json!([one("b", 1)]),
            json!([one("c", 1)]),
            json!([one("x", 9)]),
            vec!["k[name=c]: pending"],
            json!([one("x", 9), one("c", 1)]),
        ),
        (
            "s",
            json!(["a", "b"]),
            json!(["a"]),
            json!(["x", "b", "a"]),
            vec!["-s[1]: pending"],
            json!(["x", "a"]),
        ),
        ("s", json!(["a", "b"]), json!(["b"]), json!(["b", "a"]), vec!["-s[1]: pending"], json!(["b"])),
        ("o", json!(["a", "b"]), json!(["a"]), json!(["a", "b"]), vec!["-o[1]: pending"], json!(["a"])),
        (
            "o",
            json!(["a", "b"]),
            json!(["b"]),
            json!(["a", "x", "b"]),
            vec!["-o[0]: pending"],
            json!(["x", "b"]),
        ),
        ("o", json!(["a", "b"]), json!(["a"]), json!(["a", "x"]), vec![], json!(["a", "x"])),
    ] {
        let of = |items: &Value| json!({list: items});
        let (base, ours, theirs) = (of(&base), of(&ours), of(&theirs));
        assert_eq!(told(&base, &ours, &theirs, &rules), want, "{base} {ours} {theirs}");
        let spec = left(&desired(&ours), &desired(&base), &theirs, &rules, false).spec;
        for form in [Form::Full, Form::Patch] {
            let body = overlay(&spec, &theirs, &rules, form).expect("it is all there");
            let mut items = body.get(list).cloned().unwrap_or_else(|| theirs[list].clone());
            let mut sent = sent.clone();
            for list in [&mut items, &mut sent] {
                list.as_array_mut().expect("a list").sort_by_key(Value::to_string);
            }
            assert_eq!(items, sent, "{form:?} {base} {ours} {theirs}");
        }
    }
    // The whole list: nothing of others' is taken away with it.
    for (base, theirs, want) in [
        (json!({"k": [one("a", 1)]}), json!({"k": [one("a", 1), one("x", 1)]}), vec!["-k[name=a]: pending"]),
        (json!({"k": [one("a", 1)]}), json!({"k": [one("a", 1)]}), vec!["-k: pending"]),
        (json!({"k": [one("a", 1)]}), json!({"k": [one("x", 1)]}), vec![]),
        (json!({"s": ["a", "b"]}), json!({"s": ["b", "x"]}), vec!["-s[0]: pending"]),
        (json!({"o": ["a"]}), json!({"o": ["a", "x"]}), vec!["-o[0]: pending"]),
        (json!({"o": ["a"]}), json!({"o": ["y", "x"]}), vec![]),
        (json!({"o": [{"v": 1}]}), json!({"o": [{"v": 1}, {"v": 2}]}), vec!["o[0]: untold"]),
    ] {
        assert_eq!(told(&base, &json!({}), &theirs, &rules), want, "{base} {theirs}");
    }
}

#[test]
fn closed_paths_and_fields_that_are_not_compared() {
    let mut rules = FieldRules::default();
    let at = |text: &str| Path::parse(text).expect(text);
    rules.at_mut(&at("args")).closed = true;
    rules.at_mut(&at("id")).server_owned = true;
    rules.at_mut(&at("size")).default = Some(json!(5));
    for (base, ours, theirs, want) in [
        (
            json!({"args": {"a": 1, "b": 2}}),
            json!({"args": {"a": 1}}),
            json!({"args": {"a": 1, "b": 2, "c": 3}}),
            vec!["-args.b: pending", "-args.c: drift"],
        ),
        (
            json!({"args": {"b": 2}}),
            json!({"args": {}}),
            json!({"args": {"b": 9}}),
            vec!["-args.b: conflict"],
        ),
        (json!({}), json!({"args": {}}), json!({"args": {"b": 9}}), vec!["-args.b: pending"]),
        (json!({"id": 1}), json!({}), json!({"id": 1}), vec![]),
        (json!({"size": 9}), json!({}), json!({"size": 5}), vec![]),
    ] {
        assert_eq!(told(&base, &ours, &theirs, &rules), want, "{base} {ours} {theirs}");
    }
}

#[test]
fn what_the_server_puts_in_the_place_of_nothing_is_left() {
    let (base, ours) = (json!({"n": 1}), node(&json!({})));
    for (theirs, goes) in [(json!({"n": 1}), true), (json!({"n": 7}), false)] {
        let Left { spec, .. } = left(&ours, &node(&base), &theirs, FieldRules::none(), true);
        assert_eq!(spec.get("n").is_some(), goes, "{theirs}");
    }
}

#[test]
fn what_the_servers_account_gives_to_us_nobody_else_has_changed() {
    let (base, ours, theirs) = (node(&json!({"n": 1})), node(&json!({})), json!({"n": 2, "m": 3}));
    let rules = FieldRules::none();
    for path in ["n", "m"] {
        let mut changes = compare_since(&desired(&json!({path: "UNSET"})), None, &theirs, rules).changes;
        changes[0].reason = Reason::Left;
        tell(&mut changes, &ours, &Sides { base: Some(&base), ours: &ours, theirs: &theirs, rules });
        assert_eq!(changes[0].since.as_ref().map(|since| since.side), Some(Side::Pending), "{path}");
    }
}

#[test]
fn a_secret_of_either_revision_is_shown_in_none() {
    let text = "hunter2-hunter2";
    let secret = Node::new(Pos::default(), Want::Secret(Secret::new("env:A", Some(text.into()))));
    let map =
        |node: Node| Node::new(Pos::default(), Want::Map([("p".to_owned(), node)].into_iter().collect()));
    let (hidden, plain, nothing) = (map(secret), node(&json!({"p": text})), node(&json!({})));
    let theirs = json!({"p": "another-secret"});
    for (base, ours) in [(&hidden, &nothing), (&hidden, &plain), (&plain, &hidden)] {
        let rules = FieldRules::none();
        let spec = left(ours, base, &theirs, rules, false).spec;
        let mut changes = compare_since(&spec, Some(base), &theirs, rules).changes;
        tell(&mut changes, &spec, &Sides { base: Some(base), ours, theirs: &theirs, rules });
        assert_eq!(changes.len(), 1);
        assert!(changes[0].is_secret());
        let base = changes[0].since.as_ref().and_then(|since| since.base.clone());
        assert_eq!(base, Some(Shown::Secret), "{changes:?}");
        assert_ne!(changes[0].before, Some(Shown::Value(theirs["p"].clone())), "{changes:?}");
    }
}
