//! A document as it stands in a file, before anything is known of its kind.

use std::sync::Arc;

use super::excerpt::Excerpt;
use super::node::{Node, Origin, Pos};
use super::problem::Problem;

/// A file's name and text, kept for the excerpts under errors.
#[derive(Debug)]
pub struct Source {
    /// The path as the user gave it, `-` for standard input.
    pub file: Arc<str>,
    pub text: String,
}

impl Source {
    /// The place of a member's name, whose value stands at `at`: what is wrong with a name is shown there. The
    /// value's place where the name is not found, as behind an alias.
    pub fn place_of_name(&self, name: &str, at: Pos) -> Pos {
        /// Lines between a name and its value: comments, mostly.
        const MOST: usize = 20;
        let lines: Vec<(u32, &str)> = (1..=at.line).zip(self.text.lines()).collect();
        for (number, line) in lines.into_iter().rev().take(MOST) {
            let before: String = match number == at.line {
                true => line.chars().take(at.column.saturating_sub(1) as usize).collect(),
                false => line.to_owned(),
            };
            if before.trim_start().starts_with('#') {
                continue;
            }
            if let Some(found) = name_in(&before, name) {
                let column = before[..found].chars().count() + 1;
                return Pos { line: number, column: u32::try_from(column).unwrap_or(u32::MAX) };
            }
        }
        at
    }

    /// A problem at a place of this file, with its excerpt.
    pub fn problem(&self, at: Pos, message: impl Into<String>) -> Problem {
        let mut problem = Problem::new(message).at(Origin { file: self.file.clone(), at });
        self.show(&mut problem);
        problem
    }

    /// Gives a problem the line of this file that it points at, as it may be shown.
    pub fn show(&self, problem: &mut Problem) {
        let Some(at) = problem.origin.as_ref().map(|origin| origin.at) else { return };
        let lines: Vec<&str> = self.text.lines().take(at.line as usize).collect();
        let excerpt = (at.line as usize).checked_sub(1).and_then(|at| Excerpt::of(&lines, at));
        excerpt.iter().for_each(|excerpt| problem.show(excerpt));
    }
}

/// Where the last member of this name begins in a piece of a line, its quote included.
fn name_in(line: &str, name: &str) -> Option<usize> {
    let is_quote = |c: char| matches!(c, '"' | '\'');
    line.rmatch_indices(name).map(|(start, _)| start).find_map(|start| {
        let quoted = line[..start].ends_with(is_quote);
        let begin = if quoted { start - 1 } else { start };
        let behind = line[start + name.len()..].trim_start_matches(is_quote).trim_start();
        let apart = line[..begin]
            .chars()
            .next_back()
            .is_none_or(|c| c.is_whitespace() || matches!(c, '{' | ',' | '?'));
        (apart && behind.starts_with(':')).then_some(begin)
    })
}

/// One document of a file.
#[derive(Clone, Debug)]
pub struct RawDocument {
    pub source: Arc<Source>,
    pub root: Node,
}

impl RawDocument {
    /// The text of the top-level member `name`.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.root.get(name)?.as_str()
    }

    /// A place in the document's file.
    pub fn place(&self, at: Pos) -> Origin {
        Origin { file: self.source.file.clone(), at }
    }

    /// Where the document begins.
    pub fn origin(&self) -> Origin {
        Origin { file: self.source.file.clone(), at: self.root.at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_before_its_value() {
        let text = "a: 1\nb: {c: 2, \"é d\": 3}\ne:\n  # e: no\n  - 1\nä: x: 1\n";
        let source = Source { file: "a.yaml".into(), text: text.into() };
        let place = |name: &str, line, column| source.place_of_name(name, Pos { line, column });
        for (name, at, want) in [
            ("a", (1, 4), (1, 1)),
            ("c", (2, 8), (2, 5)),
            ("é d", (2, 18), (2, 11)),
            ("e", (5, 3), (3, 1)),
            ("none", (2, 8), (2, 8)),
            ("x", (6, 7), (6, 4)),
        ] {
            assert_eq!(place(name, at.0, at.1), Pos { line: want.0, column: want.1 }, "{name}");
        }
    }
}
