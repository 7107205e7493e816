//! The members of a map: none twice, and what `<<` merges in below those that are written.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use crate::core::members::Members;
use crate::core::node::{Node, Outside, Pos, Want};
use crate::core::problem::Problem;
use crate::core::value::type_name;

/// A map that is not at its end yet.
#[derive(Default)]
pub struct OpenMap {
    map: BTreeMap<Arc<str>, Node>,
    /// The values of `<<`, and where each stands.
    merges: Vec<(Pos, Node)>,
    key: Key,
}

/// What the next value of a map is.
#[derive(Default)]
pub enum Key {
    /// The next key.
    #[default]
    Due,
    /// The value of this key.
    Of(Arc<str>, Pos),
    /// The value of `<<`.
    Merge(Pos),
    /// The value of a key that was refused.
    Refused,
}

impl OpenMap {
    pub fn key_is_due(&self) -> bool {
        matches!(self.key, Key::Due)
    }

    pub fn set_key(&mut self, key: Key) {
        self.key = key;
    }

    /// Takes the next value: that of the key before it, or a key that is a map or a list.
    pub fn add(&mut self, mut node: Node) -> Result<(), (Pos, Problem)> {
        match std::mem::take(&mut self.key) {
            Key::Of(name, at) => {
                // A block that begins below its key is known by its key.
                let block = node.at.line > at.line && matches!(node.want, Want::Map(_) | Want::List(_));
                if block || node.is_nothing() {
                    node.at = at;
                }
                match self.map.entry(name) {
                    Entry::Vacant(place) => drop(place.insert(node)),
                    Entry::Occupied(first) => return Err((at, twice(first.key(), first.get().at))),
                }
            }
            Key::Merge(at) => {
                let first = self.merges.first().map(|(first, _)| twice("<<", *first));
                self.merges.push((at, node));
                return first.map_or(Ok(()), |problem| Err((at, problem)));
            }
            Key::Refused => {}
            Key::Due => {
                self.key = Key::Refused;
                let problem = Problem::new("a key must be a text, and here a map or a list is one").hint(
                    "put the text in quotes if it begins with `{` or `[`; render the file first if it is a template",
                );
                return Err((node.at, problem));
            }
        }
        Ok(())
    }

    /// The map, laid over the values of its `<<`. `report` is told of what is wrong with those.
    pub fn finish(mut self, report: &mut dyn FnMut(Pos, Problem)) -> Members {
        for (at, node) in self.merges {
            merge(&mut self.map, at, node, report);
        }
        self.map.into_iter().collect()
    }
}

fn twice(name: &str, first: Pos) -> Problem {
    let line = first.line;
    Problem::new(format!("the key `{name}` stands twice in one map, first in line {line}"))
        .hint("remove one of the two")
}

/// Adds members that are not there yet; of several maps the first wins (the YAML merge key type, 2005).
fn merge(into: &mut BTreeMap<Arc<str>, Node>, at: Pos, node: Node, report: &mut dyn FnMut(Pos, Problem)) {
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
