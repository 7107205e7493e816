//! What the server has and the file says nothing of: never a change, shown on request.

use crate::core::fields::FieldRules;
use crate::core::node::{Node, Want};
use crate::core::path::{Path, Step};
use crate::core::value::Value;

use super::pair::pair;
use super::scope::{Scope, Trail};

/// The topmost observed paths that are declared nowhere, in order; elements of lists by their position on the
/// server. What the server owns is left out, and so are lists' own elements: those are the difference's.
pub fn undeclared(desired: &Node, observed: &Value, rules: &FieldRules) -> Vec<Path> {
    let mut paths = Vec::new();
    collect(&Trail::Root, desired, observed, Scope::root(rules), &mut paths);
    paths
}

fn collect(trail: &Trail, desired: &Node, observed: &Value, scope: Scope, paths: &mut Vec<Path>) {
    match (&desired.want, observed) {
        (Want::Map(declared), Value::Object(map)) => {
            for (name, value) in map {
                let (trail, scope) = (Trail::Field(trail, name), scope.field(name));
                match declared.get(name) {
                    Some(node) => collect(&trail, node, value, scope, paths),
                    None if scope.here().server_owned => {}
                    None => paths.push(trail.path()),
                }
            }
        }
        (Want::List(items), Value::Array(list)) => {
            let pairing = pair(items, list, scope);
            for (i, item) in items.iter().enumerate() {
                let Some(j) = pairing.partner[i] else { continue };
                let scope = scope.element(i, Some(item), Some(&list[j]));
                collect(&Trail::Element(trail, &Step::Index(j)), item, &list[j], scope, paths);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::node::Pos;

    #[test]
    fn topmost_paths_that_the_file_does_not_have() {
        let json = |text: &str| serde_json::from_str::<Value>(text).expect(text);
        let desired = Node::from_value(Pos::default(), json(r#"{"a":{"b":1},"l":[{"name":"y","v":1}]}"#));
        let observed =
            json(r#"{"a":{"b":1,"c":{"d":2}},"id":7,"l":[{"name":"x"},{"name":"y","w":2}],"z":0}"#);
        let mut rules = FieldRules::default();
        rules.at_mut(&Path::parse("id").expect("a path")).server_owned = true;
        let paths: Vec<String> =
            undeclared(&desired, &observed, &rules).iter().map(Path::to_string).collect();
        assert_eq!(paths, ["a.c", "l[1].w", "z"]);
    }
}
