//! Fields that only the server has, for people and for machines.

use unicode_width::UnicodeWidthStr;

use crate::core::change::Shown;
use crate::core::server_only::{Field, ServerOnly};
use crate::core::value::Value;

use super::change::INDENT;
use super::json::{self, Identity, Position};
use super::paint::{Line, Style, Text};
use super::value::side;

/// An object with them.
#[derive(serde::Serialize)]
pub struct Object<'r> {
    identity: Identity<'r>,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<Position<'r>>,
    fields: Vec<Row<'r>>,
}

#[derive(serde::Serialize)]
struct Row<'r> {
    path: String,
    /// Left out of a secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'r Value>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    secret: bool,
    /// Whether the backend knows the field as the server's.
    known: bool,
}

/// The objects, for machines.
pub fn objects(all: &[ServerOnly]) -> impl Iterator<Item = Object<'_>> {
    all.iter().map(|ServerOnly { id, origin, fields }| Object {
        identity: Identity::of(id),
        position: origin.as_ref().map(Position::of),
        fields: fields.iter().map(row).collect(),
    })
}

fn row(field: &Field) -> Row<'_> {
    let Field { path, value, known } = field;
    Row { path: path.to_string(), value: json::known(value), secret: *value == Shown::Secret, known: *known }
}

/// The objects, for people.
pub fn text(all: &[ServerOnly]) -> Text {
    let mut text = Text::new();
    if !all.is_empty() {
        text.push(Line::new().with(Style::Dim, "Only on the server, and left alone:"));
    }
    for ServerOnly { id, origin, fields } in all {
        let mut head = Line::plain(INDENT).with(Style::Strong, &id.to_string());
        if let Some(origin) = origin {
            head.push(Style::Aid, &format!("   {}:{}", origin.file, origin.at.line));
        }
        text.push(head);
        text.append(details(fields));
    }
    text
}

/// The fields of an object.
pub fn details(fields: &[Field]) -> Text {
    let mut text = Text::new();
    let width = fields.iter().map(|field| field.path.to_string().width()).filter(|width| *width <= 44).max();
    for Field { path, value, known } in fields {
        let mut line = Line::plain(INDENT).with(Style::Plain, "  ");
        let start = line.width();
        line.push(Style::Plain, &path.to_string());
        line.pad(start + width.unwrap_or(0) + 3, 3);
        line.push(Style::Dim, &side(value, false));
        line.push(Style::Dim, if *known { "   known to the backend" } else { "" });
        text.push(line);
    }
    text
}
