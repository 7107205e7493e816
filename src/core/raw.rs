//! A document as it stands in a file, before anything is known of its kind.

use std::sync::Arc;

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
    /// The line with this 1-based number, without its end.
    pub fn line(&self, number: u32) -> Option<&str> {
        self.text.lines().nth((number as usize).checked_sub(1)?)
    }

    /// A problem at a place of this file, with its excerpt.
    pub fn problem(&self, at: Pos, message: impl Into<String>) -> Problem {
        let mut problem = Problem::new(message).at(Origin { file: self.file.clone(), at });
        problem.excerpt = self.line(at.line).map(str::to_owned);
        problem
    }
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
