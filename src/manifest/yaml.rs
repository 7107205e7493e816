//! YAML and JSON texts to document trees: the only file that names the YAML parser.
//!
//! The parser knows the grammar and the positions; `tree` knows what a document may be, `scalar` what a plain
//! scalar says, `tag` what our tags say. A text that is JSON is read as JSON: YAML's grammar of flow
//! collections lacks a few things that JSON has (`\ud83d\ude00`, a tab after a colon).

use std::sync::Arc;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError};

use super::leaf::{Scalar, Tag};
use super::tree::{Shape, Stop, Tree};
use super::{excerpt, json};
use crate::core::node::{Node, Pos};
use crate::core::problem::Problem;
use crate::core::raw::{RawDocument, Source};

/// The largest text that is read.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The documents of a text.
///
/// # Errors
/// All problems of the text, when any of them is more than a warning.
pub fn parse(source: &Arc<Source>) -> Result<Vec<RawDocument>, Vec<Problem>> {
    let (documents, problems) = read(source);
    if problems.iter().all(|problem| problem.warning) { Ok(documents) } else { Err(problems) }
}

/// The documents of a text that are sound, and everything that is wrong with the others. Empty documents are
/// left out. A syntax error ends the text: what stands before it is given.
pub fn read(source: &Arc<Source>) -> (Vec<RawDocument>, Vec<Problem>) {
    let text = source.text.strip_prefix('\u{feff}').unwrap_or(&source.text);
    if text.len() > MAX_BYTES {
        let problem = Problem::new(format!(
            "reading `{}`: it is larger than {} MB",
            source.file,
            MAX_BYTES / (1024 * 1024)
        ));
        return (Vec::new(), vec![problem.hint("split it into several files")]);
    }
    let mut roots = Vec::new();
    let mut problems = if json::is_json(&source.file, text) {
        let mut tree = Tree::json(source.file.clone());
        json::read(text, &mut tree, &mut roots);
        tree.problems
    } else {
        let mut tree = Tree::yaml(source.file.clone(), text.contains('*'));
        events(text, &mut tree, &mut roots);
        tree.problems
    };
    excerpt::add(&mut problems, std::slice::from_ref(source));
    (roots.into_iter().map(|root| RawDocument { source: source.clone(), root }).collect(), problems)
}

fn events(text: &str, tree: &mut Tree, roots: &mut Vec<Node>) {
    let mut parser = Parser::new_from_str(text);
    while let Some(next) = parser.next_event() {
        let (event, span) = match next {
            Ok(event) => event,
            Err(error) => return syntax(&error, text, tree),
        };
        let at = pos(&span.start);
        let done = match event {
            Event::DocumentStart(_) => {
                tree.begin();
                Ok(())
            }
            Event::DocumentEnd => {
                roots.extend(tree.end());
                Ok(())
            }
            Event::Alias(anchor) => tree.alias(anchor, at),
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain;
                tree.scalar(Scalar { text: &text, plain, tag: tag.as_deref().map(own_tag) }, at, anchor)
            }
            Event::SequenceStart(anchor, tag) => {
                tree.open(Shape::List, at, tag.as_deref().map(own_tag), anchor)
            }
            Event::MappingStart(anchor, tag) => {
                tree.open(Shape::Map, at, tag.as_deref().map(own_tag), anchor)
            }
            Event::SequenceEnd | Event::MappingEnd => tree.close(),
            Event::StreamEnd => return,
            Event::StreamStart | Event::Nothing => Ok(()),
        };
        if let Err(Stop) = done {
            return;
        }
    }
}

/// The parser counts columns from 0, in characters, and lines from 1.
fn pos(mark: &Marker) -> Pos {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Pos { line: number(mark.line()).max(1), column: number(mark.col() + 1) }
}

fn own_tag(tag: &saphyr_parser::Tag) -> Tag {
    match (tag.handle.as_str(), tag.suffix.as_str()) {
        ("", "!") | ("!", "") => Tag::NonSpecific,
        ("!", name) => Tag::Local(name.into()),
        ("tag:yaml.org,2002:", name) => Tag::Core(name.into()),
        (handle, name) => Tag::Other(format!("{handle}{name}")),
    }
}

/// What the parser says in its own words, with the usual cause of it.
fn syntax(error: &ScanError, text: &str, tree: &mut Tree) {
    let info = error.info();
    let at = pos(error.marker()).min(end(text));
    if info == "recursion limit exceeded" {
        let _: Result<(), Stop> = tree.too_deep(at);
        return;
    }
    let said = info.rsplit_once(", ").map_or(info, |(_, what)| what);
    let problem = Problem::new(format!("the YAML is broken: {}", said.replace('`', "'")));
    tree.problem(
        at,
        match usual_cause(info) {
            Some(hint) => problem.hint(hint),
            None => problem,
        },
    );
}

/// Behind the last line that says something: a text that was cut off is wrong there, and not in a line that it
/// does not have.
fn end(text: &str) -> Pos {
    let number = |n: usize| u32::try_from(n + 1).unwrap_or(u32::MAX);
    let text = text.trim_end();
    let last = text.rsplit('\n').next().unwrap_or_default();
    Pos { line: number(text.matches('\n').count()), column: number(last.chars().count()) }
}

fn usual_cause(info: &str) -> Option<&'static str> {
    let causes: [(&str, &str); 9] = [
        ("tab", "indent with spaces"),
        ("mapping values are not allowed", "put a text that holds `: ` in quotes"),
        (
            "unknown anchor",
            "an alias (`*name`) needs an anchor (`&name`) before it; put a text that begins with `*` in quotes",
        ),
        ("unexpected end of stream", "a closing quote is missing"),
        (
            "expected ',' or",
            "a bracket is not closed, a comma is missing, or a text with braces such as `GET /things/{name}` needs quotes",
        ),
        (
            "document start",
            "begin a further document with a line `---`; the indentation of this line may be wrong",
        ),
        ("simple key expect", "a `:` is missing after the key, or the indentation is wrong"),
        ("unexpected character", "put the text in quotes"),
        ("block sequence entries are not allowed", "begin a list in a line of its own"),
    ];
    causes.iter().find(|(part, _)| info.contains(part)).map(|(_, hint)| *hint)
}

#[cfg(test)]
mod tests;
