//! Secrets that are sent again although nothing differs: a patch holds what differs, so what cannot be read back, or is
//! read back as a mask, is added to it. Other bodies have it anyway.

use super::super::exchange::Body;
use super::super::fields::FieldRules;
use super::super::node::{Node, Unavailable, Want};
use super::super::overlay::{Form, overlay, strip};
use super::super::patch::Operation;
use super::super::path::{Path, Step};
use super::super::value::Value;

/// Adds what is hidden, as far as the document states it. Of a list that holds such values all is sent: a patch has no
/// way to name an element.
///
/// # Errors
/// A value that is not there.
pub fn add_hidden(
    body: &mut Body,
    spec: &Node,
    observed: &Value,
    rules: &FieldRules,
) -> Result<(), Unavailable> {
    if !matches!(body, Body::Merge(_) | Body::JsonPatch(_)) {
        return Ok(());
    }
    let mut places: Vec<(Path, bool)> = Vec::new();
    rules.each_rule(&mut |path: &Path, rule| {
        let fields = path.0.iter().take_while(|step| matches!(step, Step::Field(_)));
        let place = Path(fields.cloned().collect());
        let in_list = place.0.len() < path.0.len();
        if (rule.write_only || rule.mask.is_some()) && !places.contains(&(place.clone(), in_list)) {
            places.push((place, in_list));
        }
    });
    for (place, in_list) in places {
        let Some(node) = stated(spec, &place) else { continue };
        let value = match (in_list, &node.want) {
            (false, _) => node.to_value()?,
            (true, Want::List(_) | Want::Map(_)) => {
                let mut whole = overlay(spec, observed, rules, Form::Full)?;
                strip(&mut whole, rules);
                let Some(list) = place.get(&whole) else { continue };
                list.clone()
            }
            (true, _) => continue,
        };
        match body {
            Body::Merge(patch) => {
                place.lay(patch, value);
            }
            // What an operation before has added whole has its secrets in it.
            Body::JsonPatch(operations) if has_parent(observed, &place) => {
                operations.push(Operation::Add { pointer: pointer(&place), value });
            }
            _ => {}
        }
    }
    Ok(())
}

fn stated<'n>(spec: &'n Node, place: &Path) -> Option<&'n Node> {
    place.0.iter().try_fold(spec, |node, step| match step {
        Step::Field(name) => node.get(name),
        _ => None,
    })
}

fn has_parent(observed: &Value, place: &Path) -> bool {
    place
        .0
        .split_last()
        .is_some_and(|(_, above)| Path(above.to_vec()).get(observed).is_some_and(Value::is_object))
}

/// RFC 6901.
fn pointer(place: &Path) -> String {
    let names = place.0.iter().filter_map(|step| match step {
        Step::Field(name) => Some(name.replace('~', "~0").replace('/', "~1")),
        _ => None,
    });
    names.map(|name| format!("/{name}")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::core::fields::FieldRule;
    use crate::core::node::Pos;

    fn rules() -> FieldRules {
        let mut rules = FieldRules::default();
        for path in ["auth.password", "users[*].key", "a/b"] {
            let rule = FieldRule { write_only: true, ..FieldRule::default() };
            *rules.at_mut(&Path::parse(path).expect("a path")) = rule;
        }
        rules
    }

    fn renewed(mut body: Body, spec: Value, observed: Value) -> Body {
        let spec = Node::from_value(Pos::default(), spec);
        add_hidden(&mut body, &spec, &observed, &rules()).expect("it is all there");
        body
    }

    #[test]
    fn a_merge_patch_gets_what_is_hidden_and_lists_whole() {
        let spec = json!({"auth": {"user": "me", "password": "p"}, "users": [{"name": "u", "key": "k"}]});
        let observed = json!({"auth": {"user": "me"}, "users": [{"name": "u", "mail": "m"}], "more": 1});
        let Body::Merge(patch) = renewed(Body::Merge(json!({})), spec, observed) else { unreachable!() };
        let users = json!([{"name": "u", "mail": "m", "key": "k"}]);
        assert_eq!(patch, json!({"auth": {"password": "p"}, "users": users}));
        let Body::Merge(patch) = renewed(Body::Merge(json!({"n": 1})), json!({"n": 1}), json!({})) else {
            unreachable!()
        };
        assert_eq!(patch, json!({"n": 1}), "what the document does not state is not sent");
    }

    #[test]
    fn a_json_patch_gets_operations_where_there_is_a_parent() {
        let spec = json!({"auth": {"password": "p"}, "a/b": "s"});
        let body = renewed(Body::JsonPatch(Vec::new()), spec, json!({"n": 1}));
        let Body::JsonPatch(operations) = body else { unreachable!() };
        assert_eq!(operations, [Operation::Add { pointer: "/a~1b".into(), value: json!("s") }]);
    }
}
