//! Lays a value at a path of a document tree: what the annotation `trueup/values` does.

use crate::core::node::{Node, Outside, Want};
use crate::core::path::{Path, Step};
use crate::core::problem::Problem;
use crate::core::value::plain_text;

/// Lays `new` at `path`, making the maps on the way.
///
/// # Errors
/// Something else stands there already, or the path goes through what is no map or through an element that is
/// not there. An empty key and `null` give way.
pub fn lay(root: &mut Node, path: &Path, new: Node) -> Result<(), Problem> {
    let mut node = root;
    for step in &path.0 {
        if node.is_blank() && matches!(step, Step::Field(_)) {
            *node = Node::new(new.at, Want::Map(Default::default()));
        }
        node = match (step, &mut node.want) {
            (Step::Field(name), Want::Map(map)) => {
                map.get_or_insert_with(name, || Node::new(new.at, Want::Outside(Outside::Nothing)))
            }
            (Step::Index(i), Want::List(items)) => items.get_mut(*i).ok_or_else(|| no_element(path, step))?,
            (Step::Keyed(name, value), Want::List(items)) => items
                .iter_mut()
                .find(|item| has_key(item, name, value))
                .ok_or_else(|| no_element(path, step))?,
            _ => {
                let problem = Problem::new(format!("`trueup/values` cannot lay a value at `{path}`"));
                return Err(problem.hint("something on the way is no map or list, or the path is a pattern"));
            }
        };
    }
    if !node.is_blank() {
        let (line, column) = (node.at.line, node.at.column);
        let message =
            format!("`trueup/values` names `{path}`, and line {line}, column {column} sets it already");
        return Err(Problem::new(message).hint("remove one of the two"));
    }
    *node = new;
    Ok(())
}

fn has_key(item: &Node, name: &str, value: &str) -> bool {
    matches!(item.get(name).map(|node| &node.want), Some(Want::Json(have)) if plain_text(have) == value)
}

fn no_element(path: &Path, step: &Step) -> Problem {
    let step = Path(vec![step.clone()]);
    Problem::new(format!("`trueup/values` names `{path}`, and there is no element `{step}`"))
        .hint("only maps are made on the way; list elements must be there")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::node::Pos;
    use crate::core::value::Value;

    fn laid(root: &str, path: &str) -> Result<String, String> {
        let mut root = Node::from_value(Pos::default(), serde_json::from_str(root).expect("JSON"));
        let new = Node::new(Pos::default(), Want::Json("new".into()));
        let path = Path::parse(path).expect("a path");
        lay(&mut root, &path, new).map_err(|problem| problem.message)?;
        Ok(root.to_value().expect("plain values").to_string())
    }

    #[test]
    fn values_find_their_place() {
        for (root, path, want) in [
            ("{}", "a.b", r#"{"a":{"b":"new"}}"#),
            (r#"{"a":{"x":1}}"#, "a.b", r#"{"a":{"b":"new","x":1}}"#),
            (r#"{"a":[{},{"x":1}]}"#, "a[1].b", r#"{"a":[{},{"b":"new","x":1}]}"#),
            (r#"{"a":[{"n":"p"},{"n":7}]}"#, "a[n=7].b", r#"{"a":[{"n":"p"},{"b":"new","n":7}]}"#),
        ] {
            assert_eq!(laid(root, path).as_deref(), Ok(want), "{path}");
        }
        for (root, path, want) in [
            (r#"{"a":[{}]}"#, "a[1].b", "there is no element `[1]`"),
            (r#"{"a":[{}]}"#, "a[n=1].b", "there is no element `[n=1]`"),
            (r#"{"a":[{}]}"#, "a[*].b", "cannot lay a value at `a[*].b`"),
            (r#"{"a":1}"#, "a.b", "cannot lay a value at `a.b`"),
            (r#"{"a":{"b":2}}"#, "a.b", "sets it already"),
        ] {
            let error = laid(root, path).expect_err(path);
            assert!(error.contains(want), "{error}");
        }
    }

    #[test]
    fn null_and_nothing_give_way() {
        for want in [Want::Unset, Want::Outside(Outside::Nothing)] {
            let mut root = Node::new(Pos::default(), want);
            let new = Node::new(Pos::default(), Want::Json(Value::from(1)));
            lay(&mut root, &Path::parse("a.b").expect("a path"), new).expect("a free place");
            assert_eq!(root.to_value().expect("a value").to_string(), r#"{"a":{"b":1}}"#);
        }
    }
}
