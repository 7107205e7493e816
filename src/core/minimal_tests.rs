use serde_json::json;

use super::*;
use crate::core::fields::{Clear, FieldRule, Immutable, Mask};
use crate::core::filter::Filter;

fn path(text: &str) -> Path {
    Path::parse(text).expect("a path")
}

fn rules(words: &[(&str, FieldRule)]) -> FieldRules {
    let mut rules = FieldRules::default();
    for (at, rule) in words {
        *rules.at_mut(&path(at)) = rule.clone();
    }
    rules
}

/// What is declared, with `!secret` for what stands in for one, and what is left out.
fn cut(observed: &Value, rules: &FieldRules, elsewhere: &[&str]) -> Option<(String, Vec<String>)> {
    let elsewhere: Vec<Path> = elsewhere.iter().map(|text| path(text)).collect();
    let variable = |path: &Path| format!("X_{path}");
    let known = Known { elsewhere: &elsewhere, veils: &[], tells: &|_| false, variable: &variable };
    let Minimal { spec, left_out } = minimal(observed, rules, &known)?;
    assert!(walk::agrees(&spec, observed, Scope::root(rules)));
    let left_out = left_out.iter().map(|one| format!("{} {}", one.path, one.why.word())).collect();
    Some((shown(&spec).to_string(), left_out))
}

fn shown(node: &Node) -> Value {
    match &node.want {
        Want::Map(map) => {
            Value::Object(map.iter().map(|(name, item)| (name.to_string(), shown(item))).collect())
        }
        Want::List(items) => items.iter().map(shown).collect(),
        Want::Secret(secret) => format!("!secret {}", secret.source).into(),
        _ => node.to_value().expect("a plain value"),
    }
}

fn rule() -> FieldRule {
    FieldRule::default()
}

fn filter(text: &str) -> FieldRule {
    FieldRule { compare: Some(Comparer::Filter(Filter::parse(text).expect("a filter"))), ..rule() }
}

#[track_caller]
fn check(observed: Value, words: &[(&str, FieldRule)], elsewhere: &[&str], want: &str, left_out: &[&str]) {
    let (spec, out) = cut(&observed, &rules(words), elsewhere).expect("it can be said");
    assert_eq!((spec.as_str(), out), (want, left_out.iter().map(|text| (*text).to_owned()).collect()));
}

#[test]
fn what_says_nothing_is_left_out() {
    check(
        json!({"id": 7, "name": "a", "size": 1, "note": null, "seen": 9, "x": {"y": {"z": 1}}, "e": {}, "l": []}),
        &[
            ("seen", FieldRule { server_owned: true, ..rule() }),
            ("size", FieldRule { default: Some(json!(1.0)), ..rule() }),
            ("x.y.z", FieldRule { ignore: true, ..rule() }),
        ],
        &["id", "name"],
        r#"{"e":{},"l":[]}"#,
        &[],
    );
    check(
        json!({"a": "", "b": "ALL", "v": 3, "keep": ""}),
        &[
            ("a", FieldRule { clear: Some(Clear::Empty), ..rule() }),
            ("b", FieldRule { default: Some(json!("all")), ..filter("ascii_downcase") }),
            ("v", FieldRule { copy: true, ..rule() }),
        ],
        &[],
        r#"{"keep":""}"#,
        &[],
    );
}

#[test]
fn secrets_are_named_and_not_told() {
    let mask = Mask(regex_lite::Regex::new(r"^\*+$").expect("a regex"));
    check(
        json!({"password": "p", "sub": {}, "token": "t", "hidden": "***", "unset": null, "users": [{"n": 1, "key": "k"}]}),
        &[
            ("password", FieldRule { write_only: true, secret: true, ..rule() }),
            ("pin", FieldRule { write_only: true, ..rule() }),
            ("sub.pin", FieldRule { write_only: true, ..rule() }),
            ("no.pin", FieldRule { write_only: true, ..rule() }),
            ("token", FieldRule { secret: true, ..rule() }),
            ("unset", FieldRule { secret: true, ..rule() }),
            ("hidden", FieldRule { mask: Some(mask), ..rule() }),
            ("users[*].key", FieldRule { secret: true, ..rule() }),
        ],
        &[],
        r#"{"sub":{},"users":[{"n":1}]}"#,
        &[
            "hidden masked",
            "password write-only",
            "token secret",
            "users[0].key secret",
            "pin write-only: the server does not show whether there is one",
            "sub.pin write-only: the server does not show whether there is one",
        ],
    );
}

#[test]
fn where_a_gap_would_be_a_difference_something_stands_in_for_it() {
    let closed = FieldRule { closed: true, immutable: Some(Immutable::Replace), ..rule() };
    let secret = FieldRule { secret: true, ..rule() };
    check(
        json!({"id": 5, "env": {"A": "a", "KEY": "k", "N": null}, "all": ["s1", "s2"]}),
        &[(".", closed), ("env.KEY", secret.clone()), ("all[*]", secret)],
        &["id"],
        r#"{"all":"!secret env:X_all","env":{"A":"a","KEY":"!secret env:X_env.KEY"},"id":5}"#,
        &[],
    );
}

#[test]
fn elements_keep_what_tells_them_apart() {
    let default = |value| FieldRule { default: Some(value), ..rule() };
    check(
        json!({"ports": [{"name": "a", "p": 80}, {"name": "b", "p": 81}], "plain": [{"p": 80}, {"p": null}]}),
        &[("ports[*].p", default(json!(80))), ("plain[*].p", default(json!(80)))],
        &[],
        r#"{"plain":[{"p":80},{"p":null}],"ports":[{"name":"a"},{"name":"b","p":81}]}"#,
        &[],
    );
}

#[test]
fn a_filter_sees_all_that_it_looks_at() {
    let words = [("m", filter(".a + .b")), ("m.b", FieldRule { server_owned: true, ..rule() })];
    check(json!({"m": {"a": 1, "b": 2}}), &words, &[], r#"{"m":{"a":1,"b":2}}"#, &[]);
    let words = [("m", filter(".a + .b")), ("m.b", FieldRule { secret: true, ..rule() })];
    check(json!({"m": {"a": 1, "b": 2}}), &words, &[], "{}", &["m secret"]);
    let words = [(".", filter(".a + .b")), ("b", FieldRule { secret: true, ..rule() })];
    assert_eq!(cut(&json!({"a": 1, "b": 2}), &rules(&words), &[]), None, "there is no way to say it");
}
