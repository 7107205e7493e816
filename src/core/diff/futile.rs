//! What a file declares in vain: the server owns it, so it is never compared and never sent.

use crate::core::fields::FieldRules;
use crate::core::node::{Node, Pos, Want};
use crate::core::path::{Path, Step};

use super::scope::{Scope, Trail};

/// The topmost declared paths that are the server's own by rule, with their places, in the order of the file.
pub fn futile(desired: &Node, rules: &FieldRules) -> Vec<(Path, Pos)> {
    let mut found = Vec::new();
    collect(&Trail::Root, desired, Scope::root(rules), &mut found);
    found.sort_by_key(|(_, at)| (at.line, at.column));
    found
}

fn collect(trail: &Trail, desired: &Node, scope: Scope, found: &mut Vec<(Path, Pos)>) {
    if scope.here().server_owned {
        return found.push((trail.path(), desired.at));
    }
    // Most kinds have no such rule below: then there is nothing to walk for.
    match &desired.want {
        Want::Map(map) if !scope.rules.is_leaf() => {
            for (name, node) in map {
                collect(&Trail::Field(trail, name), node, scope.field(name), found);
            }
        }
        Want::List(items) if !scope.rules.is_leaf() => {
            for (i, item) in items.iter().enumerate() {
                let scope = scope.element(i, Some(item), None);
                collect(&Trail::Element(trail, &Step::Index(i)), item, scope, found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::value::Value;

    #[test]
    fn declared_paths_that_the_server_owns() {
        let json = |text: &str| serde_json::from_str::<Value>(text).expect(text);
        let desired = Node::from_value(
            Pos::default(),
            json(r#"{"id":1,"l":[{"at":"x","v":1}],"name":"a","s":{"t":2}}"#),
        );
        let mut rules = FieldRules::default();
        for path in ["id", "l[*].at", "s", "none"] {
            rules.at_mut(&Path::parse(path).expect("a path")).server_owned = true;
        }
        let paths: Vec<String> = futile(&desired, &rules).iter().map(|(path, _)| path.to_string()).collect();
        assert_eq!(paths, ["id", "l[0].at", "s"]);
    }
}
