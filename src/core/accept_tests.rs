use serde_json::json;

use super::*;
use crate::core::facts::{Said, Stated};
use crate::core::node::Pos;

/// The line for the first difference, which is tried here once more.
fn line(sent: Value, stored: Value, rules: &FieldRules, reach: Reach) -> Option<String> {
    let desired = Node::from_value(Pos::default(), sent);
    let changes = diff(&desired, &stored, rules);
    let found = acceptance(&desired, &stored, rules, changes.first().expect("they differ"), reach)?;
    Some(found.line())
}

fn whatever(sent: Value, stored: Value) -> String {
    let sent = json!({"a": sent, "b": 1});
    let stored = if stored.is_null() { json!({"b": 1}) } else { json!({"a": stored, "b": 1}) };
    line(sent, stored, FieldRules::none(), Reach::Whatever).expect("something is always accepted")
}

#[test]
fn each_sort_of_difference_has_its_word() {
    for (sent, stored, want) in [
        (json!("Shop"), json!("shop"), "a: ascii_downcase"),
        (json!("example.org"), json!("example.org."), "a: trim_dot"),
        (json!("Example.org"), json!("example.org."), "a: 'trim_dot | ascii_downcase'"),
        (json!(" x "), json!("x"), "a: trim"),
        (json!("A (B)"), json!("A &#40;B&#41;"), "a: html_unescape"),
        (json!(5), json!("5"), "a: tostring"),
        (json!({"x": 1}), json!("{\"x\": 1}"), "a: json_value"),
        (json!("2026-01-01T01:00:00+01:00"), json!("2026-01-01T00:00:00Z"), "a: timestamp"),
        (json!("90s"), json!("1m30s"), "a: duration"),
        (json!("1Gi"), json!("1024Mi"), "a: quantity"),
        (json!("2001:DB8:0::1"), json!("2001:db8::1"), "a: cidr"),
        (json!("HTTP://Example.org:80"), json!("http://example.org/"), "a: url"),
        (json!(["x", "y"]), json!(["y", "x"]), "a: set"),
        (json!("x,y"), json!("y,x"), "a: comma_set"),
        (json!("hunter2"), json!("********"), "a: [secret, 'mask=^\\*+$']"),
        (json!([]), Value::Null, "a: 'default=[]'"),
        (json!(false), Value::Null, "a: default=false"),
        (json!("told once"), Value::Null, "a: write-only"),
        (json!("long text"), json!("long"), "a: ignore"),
    ] {
        assert_eq!(whatever(sent.clone(), stored.clone()), want, "{sent} {stored}");
    }
}

#[test]
fn elements_of_lists_are_spoken_of_together() {
    let sent = json!({"hosts": [{"name": "A.x", "ttl": 5}, {"name": "B.x", "ttl": 5}]});
    let stored = json!({"hosts": [{"name": "A.x", "ttl": "5"}, {"name": "B.x", "ttl": "5"}]});
    let found = line(sent, stored, FieldRules::none(), Reach::Spelling);
    assert_eq!(found.as_deref(), Some("'hosts[*].ttl': tostring"));
}

#[test]
fn a_plan_is_told_of_spellings_alone() {
    let plan =
        |sent, stored| line(json!({"a": sent}), json!({"a": stored}), FieldRules::none(), Reach::Spelling);
    assert_eq!(plan(json!("x"), json!("y")), None);
    assert_eq!(plan(json!("X"), json!("x")).as_deref(), Some("a: ascii_downcase"));
}

#[test]
fn the_words_that_a_field_has_stay_and_its_comparer_gives_way() {
    let mut rules = FieldRules::default();
    let rule = rules.at_mut(&Path::parse("a").expect("a path"));
    rule.compare = Some(Comparer::Timestamp);
    rule.said = ["copy", "timestamp"].map(|word| Said { word: word.into(), from: Stated::BuiltIn }).to_vec();
    let found = line(json!({"a": "X"}), json!({"a": "x"}), &rules, Reach::Spelling);
    assert_eq!(found.as_deref(), Some("a: [copy, ascii_downcase]"));
}
