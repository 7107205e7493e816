//! Values at patterns of paths, and all places of a value.

use crate::core::kind::Kind;
use crate::core::path::{Path, Step};
use crate::core::value::{Value, plain_text};

/// The values at a pattern. What is not there, and null, is left out.
pub fn at<'v>(value: &'v Value, steps: &[Step]) -> Vec<&'v Value> {
    let Some((step, below)) = steps.split_first() else {
        return if value.is_null() { Vec::new() } else { vec![value] };
    };
    let next: Vec<&Value> = match (step, value) {
        (Step::Field(name), Value::Object(map)) => map.get(name).into_iter().collect(),
        (Step::Index(at), Value::Array(items)) => items.get(*at).into_iter().collect(),
        (Step::Keyed(name, want), Value::Array(items)) => {
            items.iter().filter(|item| item.get(name).is_some_and(|v| plain_text(v) == *want)).collect()
        }
        (Step::Each, Value::Array(items)) => items.iter().collect(),
        (Step::Each, Value::Object(map)) => map.values().collect(),
        _ => Vec::new(),
    };
    next.into_iter().flat_map(|value| at(value, below)).collect()
}

/// Calls `f` with every place below the root, its path's last name and its value; elements of lists are `[*]`.
pub fn each<'v>(value: &'v Value, f: &mut impl FnMut(&Path, &str, &'v Value)) {
    below(&Path::root(), value, f);
}

/// Deeper than this nothing is suggested.
const DEEPEST: usize = 8;

fn below<'v>(path: &Path, value: &'v Value, f: &mut impl FnMut(&Path, &str, &'v Value)) {
    if path.0.len() >= DEEPEST {
        return;
    }
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                let path = path.field(name);
                f(&path, name, value);
                below(&path, value, f);
            }
        }
        Value::Array(items) => {
            let path = path.with(Step::Each);
            items.iter().for_each(|item| below(&path, item, f));
        }
        _ => {}
    }
}

/// Whether the field, or one above it, takes no part in the comparison: nothing need be suggested of it.
pub fn is_settled(kind: &Kind, path: &Path) -> bool {
    (0..=path.0.len()).any(|end| kind.fields.at(&Path(path.0[..end].to_vec())).here.not_compared())
}

/// The path as the name of a member in a block of YAML.
pub fn as_yaml(path: &Path) -> String {
    let text = path.to_string();
    let is_plain =
        text.starts_with(char::is_alphabetic) && !text.contains([':', '#', '\'', '"', '[', ']', ' ']);
    if is_plain { text } else { format!("'{}'", text.replace('\'', "''")) }
}
