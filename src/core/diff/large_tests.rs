//! Values that are far too large for a person: what is compared piece by piece takes no time that grows with
//! the square of their number. With that, none of these would come to its end.

use super::super::fields::FieldRules;
use super::super::node::Pos;
use super::*;
use serde_json::json;

fn node(value: Value) -> Node {
    Node::from_value(Pos::default(), value)
}

#[test]
fn very_many_members_are_compared_one_by_one() {
    let map = |change: u32| -> Value {
        let members =
            (0..200_000).map(|i| (format!("key{i}"), json!(if i % 100_000 == 7 { i + change } else { i })));
        Value::Object(members.collect())
    };
    let changes = diff(&node(map(1)), &map(0), &FieldRules::default());
    let paths: Vec<String> = changes.iter().map(|change| change.path.to_string()).collect();
    assert_eq!(paths, ["key100007", "key7"]);
}

#[test]
fn very_long_lists_are_compared_one_by_one() {
    let list = |change: u32| -> Value {
        let element =
            |i: u32| json!({"name": format!("n{i}"), "v": if i == 70_000 { i + change } else { i }});
        (0..100_000).map(element).collect()
    };
    let changes = diff(&node(list(1)), &list(0), &FieldRules::default());
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].path.to_string(), "[name=n70000].v");
    // Nothing in common, and nothing that tells elements apart.
    let texts = |word: &str| -> Value { (0..100_000).map(|i| json!(format!("{word}{i}"))).collect() };
    assert!(!diff(&node(texts("a")), &texts("b"), &FieldRules::default()).is_empty());
}

/// Of a text of ten megabytes one change is made, and no copy for each step below it.
#[test]
fn a_very_long_text_is_one_value() {
    let text = |end: &str| json!({"a": {"b": ["x".repeat(10_000_000) + end]}});
    let changes = diff(&node(text("1")), &text("2"), &FieldRules::default());
    assert_eq!(changes.len(), 1);
}
