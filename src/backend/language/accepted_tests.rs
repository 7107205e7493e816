//! The lines that are suggested for what a server keeps are lines of the language, and do what they are for.

use serde_json::{Value, json};

use super::testing::kind;
use crate::core::accept::{Reach, acceptance};
use crate::core::diff::diff;
use crate::core::fields::FieldRules;
use crate::core::node::{Node, Pos};

/// The rules of a kind with this line among its fields.
fn rules(line: &str) -> FieldRules {
    let fields = if line.is_empty() { String::new() } else { format!(", fields: {{{line}}}") };
    kind(&format!("{{key: {{name: .name}}, read: 'GET /t/{{name}}', update: 'PUT /t/{{name}}'{fields}}}"))
        .fields
}

#[test]
fn a_suggested_line_makes_the_plan_clean() {
    let deep = |value: Value| json!({"list": [{"name": "x", "the host": value}]});
    for (sent, stored) in [
        (json!("Shop"), json!("shop")),
        (json!("example.org"), json!("example.org.")),
        (json!("Example.org"), json!("example.org.")),
        (json!(" x "), json!("x")),
        (json!("A (B)"), json!("A &#40;B&#41;")),
        (json!(5), json!("5")),
        (json!({"x": 1}), json!("{\"x\": 1}")),
        (json!("2026-01-01T01:00:00+01:00"), json!("2026-01-01T00:00:00Z")),
        (json!("90s"), json!("1m30s")),
        (json!("1Gi"), json!("1024Mi")),
        (json!("2001:DB8:0::1"), json!("2001:db8::1")),
        (json!("HTTP://Example.org:80"), json!("http://example.org/")),
        (json!(["x", "y"]), json!(["y", "x"])),
        (
            json!([{"no": 1, "v": 1}, {"no": 2, "v": 2}]),
            json!([{"no": 2, "v": 2, "by": 1}, {"no": 1, "v": 1, "by": 1}]),
        ),
        (json!(["x"]), json!(["x", "theirs"])),
        (json!("x,y"), json!("y,x")),
        (json!("hunter2"), json!("********")),
        (json!([]), Value::Null),
        (json!(""), Value::Null),
        (json!(0), Value::Null),
        (json!("told once"), Value::Null),
        (json!("long text"), json!("long")),
    ] {
        for at in [|value: Value| json!({"a": value}), deep] {
            let (desired, observed) =
                (Node::from_value(Pos::default(), at(sent.clone())), at(stored.clone()));
            let mut lines: Vec<String> = Vec::new();
            let mut changes = diff(&desired, &observed, &rules(""));
            while let Some(change) = changes.first() {
                assert!(lines.len() < 3, "{sent} {stored}: {lines:?} leave {changes:?}");
                let found =
                    acceptance(&desired, &observed, &rules(&lines.join(", ")), change, Reach::Whatever);
                lines.push(found.unwrap_or_else(|| panic!("{change:?} has no line")).line());
                changes = diff(&desired, &observed, &rules(&lines.join(", ")));
            }
            assert_eq!(lines.len(), 1, "one line is enough for {sent} {stored}: {lines:?}");
        }
    }
}
