//! Traces of somebody else's hand: fields that nobody declared, and that changed around a write of the whole object.

use super::compare::utc;
use super::diff::scope::Scope;
use super::fields::FieldRules;
use super::node::{Node, Want};
use super::path::Path;
use super::value::{Map, Value, equal};

/// The paths that are in both, that `spec` does not declare, and whose values differ. Left out is what the server
/// sets itself as far as that shows: what the rules say it owns, times, and numbers that count writes. Lists that are
/// declared are not looked into.
pub fn overwritten(before: &Value, now: &Value, spec: &Node, rules: &FieldRules) -> Vec<Path> {
    let mut found = Vec::new();
    walk(&Path::root(), before, now, Some(spec), Scope::root(rules), &mut found);
    found
}

fn walk(path: &Path, before: &Value, now: &Value, spec: Option<&Node>, scope: Scope, found: &mut Vec<Path>) {
    if scope.here().not_compared() || scope.here().mask.is_some() {
        return;
    }
    match (before, now, spec.map(|node| &node.want)) {
        (Value::Object(before), Value::Object(now), None | Some(Want::Map(_))) => {
            members(path, before, now, spec, scope, found);
        }
        (_, _, Some(_)) => {}
        _ if equal(before, now) || is_of_the_server(before, now) => {}
        _ => found.push(path.clone()),
    }
}

fn members(
    path: &Path,
    before: &Map<String, Value>,
    now: &Map<String, Value>,
    spec: Option<&Node>,
    scope: Scope,
    found: &mut Vec<Path>,
) {
    for (name, before) in before {
        if let Some(now) = now.get(name) {
            let declared = spec.and_then(|node| node.get(name));
            walk(&path.field(name), before, now, declared, scope.field(name), found);
        }
    }
}

/// Whether both are times, or numbers of which the second is a little further.
fn is_of_the_server(before: &Value, now: &Value) -> bool {
    match (before, now) {
        (Value::String(before), Value::String(now)) => {
            (utc(before).is_some() && utc(now).is_some())
                || matches!((before.parse(), now.parse()), (Ok(before), Ok(now)) if counts(before, now))
        }
        (Value::Number(before), Value::Number(now)) => {
            matches!((before.as_u64(), now.as_u64()), (Some(before), Some(now)) if counts(before, now))
        }
        _ => false,
    }
}

/// A counter of writes, or a time in seconds or milliseconds.
fn counts(before: u64, now: u64) -> bool {
    const A_TIME: u64 = 1_000_000_000;
    now == before + 1 || (before > A_TIME && now > before)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::core::node::Pos;

    #[test]
    fn what_others_change_is_told_from_what_the_server_sets() {
        let mut rules = FieldRules::default();
        rules.at_mut(&Path::parse("status").expect("a path")).server_owned = true;
        let spec = Node::from_value(Pos::default(), json!({"n": 2, "m": {"ours": 1}, "l": [{"name": "x"}]}));
        for (before, now, want) in [
            (json!({"n": 1, "note": "a"}), json!({"n": 2, "note": "b"}), &["note"][..]),
            (json!({"m": {"ours": 0, "theirs": 1}}), json!({"m": {"ours": 1, "theirs": 5}}), &["m.theirs"]),
            (json!({"deep": {"x": {"y": "a"}}}), json!({"deep": {"x": {"y": "b"}}}), &["deep.x.y"]),
            (json!({"tags": ["a"]}), json!({"tags": ["b"]}), &["tags"]),
            (json!({"l": [{"name": "x", "v": 1}]}), json!({"l": [{"name": "x", "v": 9}]}), &[]),
            (json!({"status": "a"}), json!({"status": "b"}), &[]),
            (json!({"rev": 7}), json!({"rev": 8}), &[]),
            (json!({"rev": "7"}), json!({"rev": "8"}), &[]),
            (json!({"rev": 7}), json!({"rev": 9}), &["rev"]),
            (json!({"at": 1_700_000_000}), json!({"at": 1_700_000_009}), &[]),
            (json!({"at": "2026-01-01T00:00:00Z"}), json!({"at": "2026-01-01T00:00:09Z"}), &[]),
            (json!({"note": 1}), json!({"note": 1.0}), &[]),
            (json!({"gone": 1}), json!({"come": 1}), &[]),
        ] {
            let found = overwritten(&before, &now, &spec, &rules);
            let found: Vec<String> = found.iter().map(Path::to_string).collect();
            assert_eq!(found, want, "{before} {now}");
        }
    }
}
