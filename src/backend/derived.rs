//! What an operation's filter makes of secrets is a secret too: cut, reversed, in another alphabet, it is
//! found by no redactor that knows the secret alone.

use crate::core::exchange::Write;
use crate::core::kind::{Kind, Op};
use crate::core::redact::Redactor;
use crate::core::value::{Value, plain_text};

use super::body;
use super::request::write_vars;

/// The texts in the body of a write that come of secrets and that `redactor`, which knows these, does not hide:
/// those that are others when the secrets are.
pub fn of_write(kind: &Kind, op: &Op, write: &Write, redactor: &Redactor) -> Vec<String> {
    let (Some(filter), Ok(sent)) = (&op.body, body::of_write(kind, op, write)) else { return Vec::new() };
    let without = redactor.value(&sent.value);
    if without == sent.value {
        return Vec::new();
    }
    let vars = write_vars(op, write.target());
    let made = |input: &Value| filter.one(input, &vars).ok().flatten().unwrap_or_default();
    let mut found = Vec::new();
    others(&made(&sent.value), &made(&without), &mut found);
    found.retain(|text| redactor.text(text) == text.as_str());
    found
}

/// Collects what stands in `made` and not at the same place in `other`.
fn others(made: &Value, other: &Value, found: &mut Vec<String>) {
    match (made, other) {
        (Value::Object(made), other) => {
            for (name, value) in made {
                others(value, other.get(name).unwrap_or(&Value::Null), found);
            }
        }
        (Value::Array(made), other) => {
            for (at, value) in made.iter().enumerate() {
                others(value, other.get(at).unwrap_or(&Value::Null), found);
            }
        }
        (Value::String(_) | Value::Number(_), other) if made != other => found.push(plain_text(made)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{filter, kind};
    use super::*;
    use crate::core::exchange::{Body, Target};
    use crate::core::identity::{Key, ObjectId};
    use serde_json::json;

    fn made_by(text: &str) -> Vec<String> {
        let kind = kind();
        let mut op = kind.create.clone().expect("a create");
        op.body = Some(filter(text));
        let key = Key::new(vec![("vhost".into(), "/".into()), ("name".into(), "orders".into())]);
        let target = Target::new(ObjectId { kind: kind.name.clone(), key });
        let write = Write::Create(target, Body::Object(json!({"a": "s3cr3t-Value", "b": "plain"})));
        of_write(&kind, &op, &write, &Redactor::new(["s3cr3t-Value"]))
    }

    #[test]
    fn what_is_made_of_a_secret_is_known() {
        assert_eq!(
            made_by(
                r#"{type: "monitor", v: .a[1:] + .a[:1], w: [.b, "v1" + (.a | explode | reverse | implode)]}"#
            ),
            ["3cr3t-Values", "v1eulaV-t3rc3s"]
        );
        // Hidden as it is.
        assert!(made_by(". + {c: (.a | @base64), d: .b | ascii_upcase, e: .a | ascii_upcase}").is_empty());
        // What cannot be told apart is taken for one.
        assert_eq!(
            made_by(r#"if .a == "s3cr3t-Value" then {c: (.a[1:] + .a[:1])} else error("x") end"#),
            ["3cr3t-Values"]
        );
    }
}
