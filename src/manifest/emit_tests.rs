//! What is written is read back as the same value, by the loader and by another reader.

use std::sync::Arc;

use insta::assert_snapshot;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::core::node::{Pos, Secret};
use crate::core::raw::Source;
use crate::core::value::{Map, equal};
use crate::manifest::yaml;

fn written(value: &Value) -> String {
    let mut text = String::new();
    member(&mut text, "spec", &Node::from_value(Pos::default(), value.clone()), 0);
    text
}

/// The value as the loader reads it; without a word of warning.
fn loaded(text: &str) -> Value {
    let source = Arc::new(Source { file: "-".into(), text: text.into() });
    let (documents, problems) = yaml::read(&source);
    assert!(problems.is_empty(), "{problems:?}\n{text}");
    documents[0].root.get("spec").expect(text).to_value().expect("plain values")
}

/// The texts of a value: other readers may read numbers as floats, and know no `!null`.
fn texts(value: &Value, all: &mut Vec<String>) {
    match value {
        Value::String(text) => all.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, all)),
        Value::Object(map) => map.iter().for_each(|(name, item)| {
            all.push(name.clone());
            texts(item, all);
        }),
        _ => {}
    }
}

fn other_texts(value: &serde_yaml::Value, all: &mut Vec<String>) {
    match value {
        serde_yaml::Value::String(text) => all.push(text.clone()),
        serde_yaml::Value::Sequence(items) => items.iter().for_each(|item| other_texts(item, all)),
        serde_yaml::Value::Mapping(map) => map.iter().for_each(|(name, item)| {
            all.push(name.as_str().expect("a text").to_owned());
            other_texts(item, all);
        }),
        _ => {}
    }
}

fn check(value: &Value) {
    let text = written(value);
    let back = loaded(&text);
    assert!(equal(&back, value), "{value}\n{back}\n{text}");
    let other: serde_yaml::Value = serde_yaml::from_str(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    texts(value, &mut ours);
    other_texts(&other["spec"], &mut theirs);
    ours.sort();
    theirs.sort();
    assert_eq!(ours, theirs, "{text}");
    let unsafe_left = text.chars().find(|c| *c != '\n' && is_unsafe(*c));
    assert_eq!(unsafe_left, None, "{text}");
}

#[test]
fn one_value_a_line() {
    let value = json!({
        "name": "orders", "no": "no", "port": "8080", "at": "12:30", "empty": "", "on": true, "none": null,
        "list": [1, [2, []], {"a": {}, "b": [{"c": "x: y"}]}, null, "a\nb\n"],
        "text": "first\n\n  second\nthird\n", "cut": "one\ntwo", "odd": " one\ntwo", "esc": "\u{1b}[31m\t\u{202e}",
        "url": "https://example.org/a?b=c#d", "path": "/a/b", "big": 18446744073709551617_u128.to_string(),
    });
    assert_snapshot!(written(&value), @r#"
    spec:
      at: "12:30"
      big: "18446744073709551617"
      cut: |-
        one
        two
      empty: ""
      esc: "\u001B[31m\t\u202E"
      list:
        - 1
        -
          - 2
          - []
        - a: {}
          b:
            - c: "x: y"
        - !null
        - |
          a
          b
      name: orders
      "no": "no"
      none: !null
      odd: " one\ntwo"
      "on": true
      path: /a/b
      port: "8080"
      text: |
        first

          second
        third
      url: "https://example.org/a?b=c#d"
    "#);
    check(&value);
}

#[test]
fn texts_that_look_like_something_else() {
    for text in [
        "null",
        "~",
        "Null",
        "true",
        "False",
        "yes",
        "off",
        "y",
        "N",
        "1",
        "-1",
        "+1",
        "0x1F",
        "0o17",
        "017",
        "1_000",
        "1e3",
        ".5",
        ".inf",
        ".nan",
        "12:30:45",
        "2026-01-01",
        "=",
        "<<",
        "-",
        "- a",
        "? a",
        ": a",
        "a:",
        "a: b",
        "a #b",
        "#a",
        "&a",
        "*a",
        "!a",
        "!secret env:X",
        "%a",
        "@a",
        "`a",
        "{a",
        "[a",
        "a, b",
        "'a'",
        "\"a\"",
        "a ",
        " a",
        "a  b",
        "---",
        "...",
        "a\\b",
        "\u{feff}a",
        "a\u{85}b",
        "a\u{2028}b",
        "\r\n",
        "\n",
        "\n\n",
        "a\n\n",
        "a\n \nb",
        "a\n\tb",
        "\ta\nb",
        "# a\nb",
        "a\n# b\n",
        "a\n---\nb",
        "a\n...\n",
        "a\n  b",
        "  a\nb",
        "\u{0}",
        "\u{7f}",
        "\u{10ffff}",
        "\u{ffff}",
        "\u{fffe}",
        "日本",
        "é: è",
        "🦀",
        "x\n🦀\n",
        "a\nb ",
        "a\nb \nc",
        "|",
        "|-\na",
        "k: |\n  x\n",
        "- a\n- b",
        "e5",
        "Infinity",
        "nan",
        "0b11",
        "1.2.3",
        "a\r\nb",
        "tab\there",
    ] {
        check(&json!({ "value": text, "list": [text, [text], {"deep": text}] }));
        check(&json!({ text: text, "x": {text: {text: [text]}} }));
    }
    check(&json!({ "k".repeat(3000): {"é".repeat(1023): 1, "\u{1}".repeat(500): [{"l".repeat(1100): 2}]} }));
}

#[test]
fn numbers_keep_every_digit() {
    for number in [
        "0",
        "-0",
        "-0.0",
        "1.0",
        "1e3",
        "1E3",
        "-1e-3",
        "1.5e300",
        "18446744073709551617",
        "1e400",
        "0.10000000000000000001",
        "123456789012345678901234567890.5",
    ] {
        let value: Value = serde_json::from_str(number).expect("a number");
        let text = written(&value);
        let Value::Number(back) = loaded(&text) else { panic!("{text}") };
        assert!(equal(&Value::Number(back), &value), "{text}");
    }
}

#[test]
fn what_json_cannot_say() {
    let node = |want| Node::new(Pos::default(), want);
    let map = [
        ("a", node(Want::Unset)),
        ("b", node(Want::Secret(Secret::new("env:X_Y", None)))),
        ("c", node(Want::Secret(Secret::new("file:a b", None)))),
    ];
    let mut text = String::new();
    member(&mut text, "spec", &node(Want::Map(map.into_iter().collect())), 0);
    comment(&mut text, "left out:\n\u{1b}[2J");
    assert_snapshot!(text, @r"
    spec:
      a: null
      b: !secret env:X_Y
      c: !secret file:a b
    # left out:\n\u{1b}[2J
    ");
    let source = Arc::new(Source { file: "-".into(), text });
    let documents = yaml::parse(&source).expect("sound");
    let spec = documents[0].root.get("spec").expect("a spec");
    assert_eq!(spec.get("a").map(|node| &node.want), Some(&Want::Unset));
    assert_eq!(spec.get("c").map(|node| &node.want), Some(&Want::Secret(Secret::new("file:a b", None))));
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[ -~\n]{0,12}", "[a-z:# \n\t-]{0,10}", "([a-z ]{0,4}\n){0,4}"]
}

fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        // No number that is infinite to a reader with floats.
        (any::<u64>(), any::<u32>(), -280..280i32)
            .prop_map(|(a, b, e)| serde_json::from_str(&format!("{a}.{b}e{e}")).expect("a number")),
        text().prop_map(Value::from),
    ];
    scalar.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            btree_map(text(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_comes_back(value in value()) {
        check(&value);
    }
}
