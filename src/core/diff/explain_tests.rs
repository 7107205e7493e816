use serde_json::json;

use super::*;
use crate::core::diff::diff;
use crate::core::facts::Stated;
use crate::core::fields::Mask;
use crate::core::filter::Filter;
use crate::core::node::Secret;

fn rules(words: &[(&str, FieldRule)]) -> FieldRules {
    let mut rules = FieldRules::default();
    for (path, rule) in words {
        *rules.at_mut(&Path::parse(path).expect("a path")) = rule.clone();
    }
    rules
}

fn rule() -> FieldRule {
    FieldRule::default()
}

fn comparer(comparer: Comparer) -> FieldRule {
    FieldRule { compare: Some(comparer), ..rule() }
}

fn told(desired: &Node, observed: &Value, rules: &FieldRules) -> Vec<String> {
    let changes = diff(desired, observed, rules);
    let lines = explain(desired, None, observed, rules, &changes);
    lines
        .iter()
        .map(|line| {
            let by = match &line.why {
                Why::Paired(Some(name)) => format!(" by {name}"),
                _ => String::new(),
            };
            let folds = line.folds.as_ref().map_or(String::new(), |folds| {
                format!(" [{}: {} and {}]", folds.word, folds.before, folds.after)
            });
            format!("{} {}{by}{folds}", line.path, line.why.word())
        })
        .collect()
}

fn node(value: Value) -> Node {
    Node::from_value(Pos { line: 3, column: 5 }, value)
}

#[test]
fn each_line_and_each_line_that_is_not_there() {
    let mask = Mask(regex_lite::Regex::new(r"^\*+$").expect("a regex"));
    let lower = Filter::parse("ascii_downcase").expect("a filter");
    let rules = rules(&[
        ("args", FieldRule { closed: true, ..rule() }),
        ("args.gone", FieldRule { default: Some(json!(0)), ..rule() }),
        ("name", comparer(Comparer::Filter(lower))),
        ("size", comparer(Comparer::Quantity)),
        ("wait", comparer(Comparer::Duration)),
        ("seen", FieldRule { server_owned: true, ..rule() }),
        ("stat", FieldRule { server_owned: true, ..rule() }),
        ("pass", FieldRule { write_only: true, ..rule() }),
        ("etc", FieldRule { ignore: true, ..rule() }),
        ("key", FieldRule { mask: Some(mask), ..rule() }),
        ("level", FieldRule { default: Some(json!("info")), ..rule() }),
        ("type", FieldRule { immutable: Some(Immutable::Replace), ..rule() }),
        ("tags", comparer(Comparer::Set)),
    ]);
    let desired = node(json!({
        "args": {"a": 1}, "name": "WEB", "size": "1Gi", "wait": "90s", "seen": 1, "pass": "p", "etc": 1, "key": "k",
        "level": "info", "type": "x", "tags": ["b", "a"], "list": [{"name": "q"}, {"name": "p", "v": 1}], "n": 1.0,
    }));
    let observed = json!({
        "args": {"a": 1, "b": 2, "gone": 0}, "name": "web", "size": 1073741824, "wait": "91s", "seen": 2, "stat": 3,
        "etc": 2, "key": "***", "type": "y", "tags": ["a", "b"], "list": [{"name": "p", "v": 2}, {"name": "q"}], "n": 1,
        "other": true,
    });
    assert_eq!(
        told(&desired, &observed, &rules),
        [
            "args.b closed",
            "list[name=p].v declared",
            "type immutable-replace",
            "wait declared [duration: \"PT91S\" and \"PT90S\"]",
            "args.a equal",
            "args.gone as-unset",
            "etc ignored",
            "key masked",
            "level as-unset",
            "list paired by name",
            "list[0].name equal",
            "list[1].name equal",
            "n equal",
            "name same-to-comparer [ascii_downcase: \"web\" and \"web\"]",
            "pass write-only",
            "seen server-owned",
            "size same-to-comparer [quantity: 1073741824 and 1073741824]",
            "tags paired",
            "tags[0] equal",
            "tags[1] equal",
            "other undeclared",
            "stat server-owned",
        ]
    );
}

#[test]
fn words_are_inherited_from_above() {
    let said = |word: &str| vec![Said { word: word.into(), from: Stated::Preset("p".into()) }];
    let rules = rules(&[
        ("a", FieldRule { immutable: Some(Immutable::Replace), said: said("immutable=replace"), ..rule() }),
        ("a.b", FieldRule { compare: Some(Comparer::Url), said: said("url"), ..rule() }),
    ]);
    let (desired, observed) = (node(json!({"a": {"b": "http://x"}})), json!({"a": {"b": "http://y"}}));
    let changes = diff(&desired, &observed, &rules);
    let line = explain(&desired, None, &observed, &rules, &changes).remove(0);
    let words: Vec<&str> = line.said.iter().map(|said| &*said.word).collect();
    assert_eq!((line.path.to_string().as_str(), words), ("a.b", vec!["immutable=replace", "url"]));
    assert_eq!(line.at, Some(Pos { line: 3, column: 5 }));
    assert_eq!(line.why, Why::Change(Reason::Immutable(Immutable::Replace)));
}

#[test]
fn no_secret_is_told() {
    let secret = |value: Option<&str>| {
        Node::new(Pos::default(), Want::Secret(Secret::new("env:X", value.map(str::to_owned))))
    };
    let map = [("a", secret(Some("hunter2"))), ("b", secret(None)), ("c", node(json!("pre-hunter2")))];
    let desired = Node::new(Pos::default(), Want::Map(map.into_iter().collect()));
    let observed = json!({"a": "hunter2", "b": "hunter3", "c": "pre-hunter2", "d": "hunter2"});
    let rules = FieldRules::default();
    let lines = explain(&desired, None, &observed, &rules, &[]);
    assert!(!format!("{lines:?}").contains("hunter"), "{lines:?}");
    assert_eq!(told(&desired, &observed, &rules), ["a equal", "b secret-not-set", "c equal", "d undeclared"]);
}

#[test]
fn lists_and_fields_that_must_not_be_set() {
    let whole = Filter::parse(".").expect("a filter");
    let rules = rules(&[
        ("ordered", comparer(Comparer::Ordered)),
        ("fixed", FieldRule { immutable: Some(Immutable::Refuse), ..rule() }),
        ("shape", comparer(Comparer::Filter(whole))),
    ]);
    let mut desired = node(json!({
        "few": ["a"], "ordered": ["b", "a"], "fixed": 1, "shape": {"x": 1}, "none": {}, "nothing": [], "gone": 0, "void": 0,
    }));
    let Want::Map(map) = &mut desired.want else { panic!("a map") };
    for name in ["gone", "void"] {
        map.insert(name, Node::new(Pos::default(), Want::Unset));
    }
    let observed = json!({
        "few": ["a", "b"], "ordered": ["a", "b"], "fixed": 2, "shape": {"x": 1.0}, "none": {}, "nothing": [], "gone": 3,
    });
    let mut told = told(&desired, &observed, &rules);
    told.sort();
    assert_eq!(
        told,
        [
            "few[0] equal",
            "few[1] list-owned",
            "fixed immutable-refuse",
            "gone unset",
            "none equal",
            "nothing equal",
            "ordered reordered",
            "shape equal",
            "void as-unset",
        ]
    );
}
