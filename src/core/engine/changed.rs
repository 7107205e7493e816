//! What a write changes, as an update mask names it (AIP-134): for requests that say `{changed}` or `$changed`.

use super::super::diff::diff;
use super::super::exchange::Body;
use super::super::fields::FieldRules;
use super::super::node::Node;
use super::super::path::{Path, Step};
use super::super::value::Value;

/// The paths that a write of `body` towards `spec` changes in `observed`, in the order of the difference.
///
/// A mask cannot name an element of a list, so a path ends at its first list: lists are sent whole. Write-only
/// values show in no difference; they are named where the body carries them.
pub fn changed(spec: &Node, observed: &Value, rules: &FieldRules, body: &Body) -> Vec<String> {
    let differing = diff(spec, observed, rules).into_iter().map(|change| change.path);
    let mut paths: Vec<Path> = differing.map(up_to_list).collect();
    if let Body::Object(sent) | Body::Merge(sent) = body {
        rules.each_rule(&mut |path: &Path, rule| {
            if rule.write_only && path.get(sent).is_some() {
                paths.push(path.clone());
            }
        });
    }
    let mut named: Vec<Path> = Vec::new();
    for path in paths {
        if !named.iter().any(|above| above.covers(&path)) {
            named.retain(|below| !path.covers(below));
            named.push(path);
        }
    }
    named.iter().map(Path::to_string).collect()
}

fn up_to_list(path: Path) -> Path {
    let fields = path.0.into_iter().take_while(|step| matches!(step, Step::Field(_)));
    Path(fields.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::node::Pos;
    use serde_json::json;

    #[test]
    fn a_mask_names_what_differs_up_to_the_first_list() {
        let mut rules = FieldRules::default();
        let path = |text: &str| Path::parse(text).expect(text);
        rules.at_mut(&path("secret")).write_only = true;
        let observed = json!({"a": 1, "b": {"c": 1, "d": 2}, "l": [{"name": "x", "v": 1}], "same": 1});
        for (spec, sent, want) in [
            (json!({"a": 2, "same": 1.0}), Body::None, vec!["a"]),
            (json!({"b": {"c": 2, "d": 2}, "l": [{"name": "x", "v": 2}]}), Body::None, vec!["b.c", "l"]),
            (json!({"l": [{"name": "x", "v": 2, "w": 3}]}), Body::None, vec!["l"]),
            (json!({"new": {"x": 1}, "b": {"e.f": 1}}), Body::None, vec!["new", r#"b["e.f"]"#]),
            (
                json!({"a": 2, "secret": "s"}),
                Body::Object(json!({"a": 2, "secret": "s"})),
                vec!["a", "secret"],
            ),
            (json!({"a": 2, "secret": "s"}), Body::Merge(json!({"a": 2})), vec!["a"]),
            (json!({"secret": "s"}), Body::Merge(json!({"secret": "s"})), vec!["secret"]),
        ] {
            let mut named =
                changed(&Node::from_value(Pos::default(), spec.clone()), &observed, &rules, &sent);
            named.sort();
            let mut want = want;
            want.sort_unstable();
            assert_eq!(named, want, "{spec}");
        }
        let spec = Node::from_value(Pos::default(), json!({"a": 1, "b": {"c": [1]}}));
        assert_eq!(changed(&spec, &json!({}), &rules, &Body::None), ["a", "b"], "all that a create says");
    }
}
