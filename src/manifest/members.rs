//! The members of a map: none twice, and what `<<` merges in below those that are written.

use std::collections::BTreeMap;

use crate::core::node::{Node, Outside, Pos, Want};
use crate::core::problem::Problem;
use crate::core::value::type_name;

/// A member as written: its key, where the key stands, its value.
pub type Entry = (String, Pos, Node);

/// The map of these entries, laid over the values of its `<<`. `report` is told of what is wrong.
pub fn map(
    mut entries: Vec<Entry>,
    merges: Vec<(Pos, Node)>,
    report: &mut dyn FnMut(Pos, Problem),
) -> BTreeMap<String, Node> {
    // Sorted once, a map is built in one go, and equal keys are neighbours.
    entries.sort_by(|(a, _, _), (b, _, _)| a.cmp(b));
    for pair in entries.windows(2) {
        if let [(first, at, _), (second, again, _)] = pair
            && first == second
        {
            report(*again, twice(first, *at));
        }
    }
    for pair in merges.windows(2) {
        report(pair[1].0, twice("<<", pair[0].0));
    }
    let mut map: BTreeMap<String, Node> = entries.into_iter().map(|(name, _, node)| (name, node)).collect();
    for (at, node) in merges {
        merge(&mut map, at, node, report);
    }
    map
}

fn twice(name: &str, first: Pos) -> Problem {
    let (line, column) = (first.line, first.column);
    Problem::new(format!("the key `{name}` stands twice in one map, first in line {line}, column {column}"))
        .hint("remove one of the two")
}

/// Adds members that are not there yet; of several maps the first wins (the YAML merge key type, 2005).
fn merge(into: &mut BTreeMap<String, Node>, at: Pos, node: Node, report: &mut dyn FnMut(Pos, Problem)) {
    let maps = match node.want {
        Want::List(items) => items,
        _ => vec![node],
    };
    for node in maps {
        match node.want {
            Want::Map(map) => map.into_iter().for_each(|(name, node)| {
                into.entry(name).or_insert(node);
            }),
            other => {
                let problem = Problem::new(format!("`<<` merges maps, and this is {}", described(&other)));
                report(at, problem.hint("write `<<: *NAME`, or \"<<\" for a key of this name"));
            }
        }
    }
}

fn described(want: &Want) -> &'static str {
    match want {
        Want::Json(value) => type_name(value),
        Want::Unset | Want::Outside(Outside::Nothing) => "nothing",
        Want::List(_) => "a list",
        Want::Map(_) => "a map",
        Want::Secret(_) | Want::Ref(_) | Want::Outside(_) => "a value from elsewhere",
    }
}
