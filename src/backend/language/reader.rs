//! Words of the language: maps with known members, texts, filters, durations. Each wrong one is a problem at
//! its place, and reading goes on.

use std::time::Duration;

use super::facts::Whence;
use crate::core::facts::Stated;
use crate::core::filter::Filter;
use crate::core::node::{Node, Origin, Outside, Pos, Want};
use crate::core::problem::Problem;
use crate::core::raw::Source;
use crate::core::suggest;
use crate::core::value::{Value, plain_text, type_name};

/// What is being read, and what was wrong so far.
pub struct Reader<'d> {
    source: &'d Source,
    pub problems: Vec<Problem>,
    /// Values of the environment and of files may be missing.
    lenient: bool,
    /// Where the words of the kind that is being read are stated.
    pub whence: Whence<'d>,
}

/// A map whose members have known names.
#[derive(Clone, Copy)]
pub struct Record<'n> {
    node: &'n Node,
}

impl<'n> Record<'n> {
    /// The member `name`; an explicit `null` is as good as none.
    pub fn get(&self, name: &str) -> Option<&'n Node> {
        self.node.get(name).filter(|node| node.want != Want::Unset)
    }

    pub fn at(&self) -> Pos {
        self.node.at
    }
}

impl<'d> Reader<'d> {
    pub fn new(source: &'d Source) -> Reader<'d> {
        Reader { source, problems: Vec::new(), lenient: false, whence: Whence::default() }
    }

    /// A reader that has nothing to say of values from elsewhere that were not put in.
    pub fn lenient(source: &'d Source) -> Reader<'d> {
        Reader { lenient: true, ..Reader::new(source) }
    }

    /// Whether the value is not known here, and need not be.
    pub fn passes_over(&self, node: &Node) -> bool {
        self.lenient && matches!(node.want, Want::Outside(Outside::Env(_) | Outside::File(_)))
    }

    /// Where a word of the field at `path`, which stands at `at`, is stated.
    pub fn stated(&self, path: &str, at: Pos) -> Stated {
        self.whence.field(path, &self.source.file, at)
    }

    /// A place in the file.
    pub fn origin(&self, at: Pos) -> Origin {
        Origin { file: self.source.file.clone(), at }
    }

    /// Notes a problem, to which a hint can be added.
    pub fn wrong(&mut self, at: Pos, message: impl Into<String>) -> &mut Problem {
        self.problems.push(self.source.problem(at, message));
        self.problems.last_mut().expect("it was just pushed")
    }

    /// Whether nothing but warnings was noted after so many problems.
    pub fn is_sound_since(&self, before: usize) -> bool {
        self.problems[before..].iter().all(|problem| problem.warning)
    }

    /// A map with members of these names only.
    pub fn map<'n>(&mut self, node: &'n Node, what: &str, known: &[&str]) -> Option<Record<'n>> {
        for (name, member) in self.members(node, what) {
            if !known.contains(&name) {
                let hint = suggest::hint(name, "known here are", known.iter().copied());
                let at = self.source.place_of_name(name, member.at);
                self.wrong(at, format!("{what} has no `{name}`")).hint = Some(hint);
            }
        }
        matches!(node.want, Want::Map(_)).then_some(Record { node })
    }

    /// The members of a map in the order in which they are written.
    pub fn members<'n>(&mut self, node: &'n Node, what: &str) -> Vec<(&'n str, &'n Node)> {
        match &node.want {
            Want::Map(map) => {
                let mut members: Vec<_> = map.iter().map(|(name, node)| (&**name, node)).collect();
                members.sort_by_key(|(_, node)| node.at);
                members
            }
            _ => {
                self.unexpected(node, what, "a map");
                Vec::new()
            }
        }
    }

    /// The names of a map's members.
    pub fn names<'n>(&self, node: &'n Node) -> Vec<&'n str> {
        match &node.want {
            Want::Map(map) => map.keys().map(|name| &**name).collect(),
            _ => Vec::new(),
        }
    }

    /// A text.
    pub fn text<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n str> {
        let text = node.as_str();
        if text.is_none() {
            self.unexpected(node, what, "a text");
        }
        text
    }

    /// A text, a number or a boolean, as text.
    pub fn scalar(&mut self, node: &Node, what: &str) -> Option<String> {
        match &node.want {
            Want::Json(value) if !value.is_null() => Some(plain_text(value)),
            _ => {
                self.unexpected(node, what, "a text");
                None
            }
        }
    }

    pub fn boolean(&mut self, node: &Node, what: &str) -> Option<bool> {
        match &node.want {
            Want::Json(Value::Bool(b)) => Some(*b),
            _ => {
                self.unexpected(node, what, "`true` or `false`");
                None
            }
        }
    }

    /// A whole number from `least` up.
    pub fn count(&mut self, node: &Node, what: &str, least: u64) -> Option<u64> {
        let count = match &node.want {
            Want::Json(Value::Number(n)) => n.as_u64().filter(|n| *n >= least),
            _ => None,
        };
        if count.is_none() {
            self.unexpected(node, what, &format!("a whole number from {least} up"));
        }
        count
    }

    /// A duration such as `90s` or `1m30s`, longer than nothing.
    pub fn duration(&mut self, node: &Node, what: &str) -> Option<Duration> {
        let duration = node.as_str().and_then(|text| humantime::parse_duration(text).ok());
        if duration.is_none() {
            self.unexpected(node, what, "a duration such as `30s` or `1m30s`");
        }
        duration
    }

    /// A jq filter.
    pub fn filter(&mut self, node: &Node, what: &str) -> Option<Filter> {
        let Some(text) = node.as_str() else {
            let problem = self.unexpected(node, what, "a jq filter, as a text");
            if let Some(problem) = problem {
                let hint = match &node.want {
                    Want::Map(_) | Want::List(_) => {
                        "an unquoted `{…}` or `[…]` is a map or a list of YAML: put the filter in quotes, as in '{a: .}'"
                    }
                    _ => "put the filter in quotes",
                };
                problem.hint = Some(hint.into());
            }
            return None;
        };
        match Filter::parse(text) {
            Ok(filter) => Some(filter),
            Err(e) => {
                self.wrong(node.at, format!("{what}: {e}"));
                None
            }
        }
    }

    /// Notes that something else stands where `wanted` is expected.
    pub fn unexpected(&mut self, node: &Node, what: &str, wanted: &str) -> Option<&mut Problem> {
        if self.passes_over(node) {
            return None;
        }
        let found = match &node.want {
            Want::Json(Value::Number(number)) => {
                return Some(self.wrong(node.at, format!("{what} is {wanted}, not {number}")));
            }
            Want::Json(value) => type_name(value),
            Want::Unset => "null",
            Want::List(_) => "a list",
            Want::Map(_) => "a map",
            Want::Secret(_) => "a secret",
            Want::Ref(_) | Want::Outside(_) => "a value from elsewhere",
        };
        Some(self.wrong(node.at, format!("{what} is {wanted}, not {found}")))
    }
}
