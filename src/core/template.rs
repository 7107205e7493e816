//! Texts with placeholders: the paths, queries and headers of requests.

use std::fmt;
use std::sync::Arc;

/// Literals and placeholders, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template(pub Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Literal(String),
    /// `{name}`: a part of the key, one segment, escaped.
    Part(Arc<str>),
    /// `{*name}`: raw, several segments.
    RawPart(Arc<str>),
    /// `{name.id}`: the server id of the parent that the part stands for.
    PartId(Arc<str>),
    /// `{id}`
    Id,
    /// `{version}`
    Version,
    /// `{changed}`: the paths that a write changes, joined by commas (AIP-134's update mask).
    Changed,
    /// `{owner}`
    Owner,
    /// `{position}`: in a feed, where it is to go on.
    Position,
}

impl Template {
    /// The text, where there is no placeholder.
    pub fn literal(&self) -> Option<&str> {
        match &self.0[..] {
            [] => Some(""),
            [Piece::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// The placeholders.
    pub fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.0.iter().filter(|piece| !matches!(piece, Piece::Literal(_)))
    }
}

/// As it is written in a backend.
impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|piece| f.write_str(&piece.written()))
    }
}

impl Piece {
    /// As it is written in a backend.
    pub fn written(&self) -> String {
        match self {
            Piece::Literal(text) => text.clone(),
            Piece::Part(name) => format!("{{{name}}}"),
            Piece::RawPart(name) => format!("{{*{name}}}"),
            Piece::PartId(name) => format!("{{{name}.id}}"),
            Piece::Id => "{id}".into(),
            Piece::Version => "{version}".into(),
            Piece::Owner => "{owner}".into(),
            Piece::Changed => "{changed}".into(),
            Piece::Position => "{position}".into(),
        }
    }
}
