//! Writes YAML that the loader reads back as the same value, and other readers too.
//!
//! A writer of our own: the libraries write `no` and `12:30` plain, and lose digits. Block style throughout, one
//! value a line, so that two exports differ in the lines that changed. Texts that could be taken for anything
//! else are quoted, and what could act on a terminal is escaped. Knows no kind and no server.

use std::fmt::Write as _;

use super::scalar::{self, Scalar};
use crate::core::escape::is_unsafe;
use crate::core::node::{Node, Want};
use crate::core::value::{Number, Value};

/// Columns that each level is indented by.
pub const STEP: usize = 2;
/// The longest key, in characters, that may stand before its `:` on one line (YAML 1.2, 7.4.2).
const LONGEST_KEY: usize = 1024;

/// A member of the document's top level, or of a map whose order matters: `name: value`, indented.
pub fn member(out: &mut String, name: &str, node: &Node, indent: usize) {
    pad(out, indent);
    key(out, name, indent);
    behind(out, node, indent);
}

/// A comment line; what could end the line is escaped.
pub fn comment(out: &mut String, text: &str) {
    let _ = writeln!(out, "# {}", crate::core::escape::inline(text));
}

fn pad(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

/// A key with its colon. One that is too long takes a line of its own.
fn key(out: &mut String, name: &str, indent: usize) {
    let mut text = String::new();
    string(&mut text, name);
    if text.chars().count() >= LONGEST_KEY {
        let _ = writeln!(out, "? {text}");
        pad(out, indent);
        out.push(':');
    } else {
        let _ = write!(out, "{text}:");
    }
}

/// What stands behind `name:`, with the line's end.
fn behind(out: &mut String, node: &Node, indent: usize) {
    match &node.want {
        Want::Map(map) if !map.is_empty() => {
            out.push('\n');
            for (name, node) in map {
                member(out, name, node, indent + STEP);
            }
        }
        Want::List(items) if !items.is_empty() => {
            out.push('\n');
            items.iter().for_each(|item| element(out, item, indent + STEP));
        }
        Want::Json(Value::String(text)) if is_block(text) => block(out, text, indent + STEP),
        _ => {
            out.push(' ');
            leaf(out, node);
            out.push('\n');
        }
    }
}

/// An element of a list; a map or a list in it begins on the line of its dash.
fn element(out: &mut String, node: &Node, indent: usize) {
    pad(out, indent);
    out.push('-');
    match &node.want {
        Want::Map(map) if !map.is_empty() => {
            let mut first = true;
            for (name, node) in map {
                if std::mem::take(&mut first) {
                    out.push(' ');
                } else {
                    pad(out, indent + STEP);
                }
                key(out, name, indent + STEP);
                behind(out, node, indent + STEP);
            }
        }
        Want::List(items) if !items.is_empty() => {
            out.push('\n');
            items.iter().for_each(|item| element(out, item, indent + STEP));
        }
        _ => behind(out, node, indent),
    }
}

/// A value of one line.
fn leaf(out: &mut String, node: &Node) {
    match &node.want {
        Want::Unset => out.push_str("null"),
        Want::Json(Value::Null) => out.push_str("!null"),
        Want::Json(Value::Bool(value)) => out.push_str(if *value { "true" } else { "false" }),
        Want::Json(Value::Number(value)) => number(out, value),
        Want::Json(Value::String(text)) => string(out, text),
        Want::Json(other) => out.push_str(&other.to_string()),
        Want::Secret(secret) => tagged(out, "secret", &secret.source),
        Want::Ref(reference) => tagged(out, "ref", &reference.text),
        Want::Outside(outside) => {
            let text = outside.to_string();
            let (tag, text) = text.split_once(' ').unwrap_or((&text, ""));
            tagged(out, tag, text);
        }
        Want::List(_) => out.push_str("[]"),
        Want::Map(_) => out.push_str("{}"),
    }
}

fn tagged(out: &mut String, tag: &str, text: &str) {
    let _ = write!(out, "!{tag} ");
    string(out, text);
}

/// Every digit as it is. A whole number with an exponent gets a point, which YAML 1.1 wants in one.
fn number(out: &mut String, number: &Number) {
    let text = number.as_str();
    match text.find(['e', 'E']) {
        Some(at) if !text[..at].contains('.') => {
            let _ = write!(out, "{}.0{}", &text[..at], &text[at..]);
        }
        _ => out.push_str(text),
    }
}

fn string(out: &mut String, text: &str) {
    if is_plain(text) {
        out.push_str(text);
    } else {
        quoted(out, text);
    }
}

/// Whether a text may stand without quotes: it begins with a letter, a slash or an underscore, holds nothing
/// that YAML gives a meaning, and is no word or number in any version of it.
fn is_plain(text: &str) -> bool {
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '/'));
    let inside = |c: char| c.is_ascii_alphanumeric() || "_-./@+=:%*!?~$^|;()<> ".contains(c) || is_letter(c);
    begins
        && text.chars().all(inside)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains("  ")
        && !matches!(text, "y" | "Y" | "n" | "N")
        && scalar::read(text) == Ok(Scalar::Text)
        && scalar::other_reading(text).is_none()
}

/// A letter or digit of another script.
fn is_letter(c: char) -> bool {
    !c.is_ascii() && c.is_alphanumeric() && !is_unsafe(c)
}

/// Between double quotes, as JSON has it; `\U` for what JSON needs two escapes for.
fn quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_unsafe(c) || !is_printable(c) => {
                let code = u32::from(c);
                let _ =
                    if code > 0xffff { write!(out, "\\U{code:08X}") } else { write!(out, "\\u{code:04X}") };
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// What YAML lets stand as it is (1.2.2, 5.1), beside what [`is_unsafe`] knows.
fn is_printable(c: char) -> bool {
    !matches!(c, '\u{fffe}' | '\u{ffff}')
}

/// Whether a text of several lines may stand as a block, exact to the last character: its first line begins
/// at its margin, no line ends in spaces that an editor would take away, and it ends in one line end or none.
fn is_block(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    body.contains('\n')
        && !body.starts_with([' ', '\n'])
        && !body.ends_with('\n')
        && body.lines().all(|line| !line.ends_with(' '))
        && body.chars().all(|c| c == '\n' || (!is_unsafe(c) && is_printable(c)))
}

fn block(out: &mut String, text: &str, indent: usize) {
    out.push_str(if text.ends_with('\n') { " |\n" } else { " |-\n" });
    for line in text.lines() {
        if !line.is_empty() {
            pad(out, indent);
            out.push_str(line);
        }
        out.push('\n');
    }
}

#[cfg(test)]
#[path = "emit_tests.rs"]
mod tests;
