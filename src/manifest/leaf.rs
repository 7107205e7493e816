//! What one scalar says, as a key or as a value, and what a tag makes of a list or a map.
//!
//! Brings `scalar` and `tag` together. Knows no positions: the caller adds them to the errors.

use super::{scalar, tag};
use crate::core::members::Members;
use crate::core::node::{Outside, Want};
use crate::core::problem::Problem;
use crate::core::value::Value;

/// A tag as written, without the parser's spelling of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tag {
    /// `!name`: one of ours, or unknown.
    Local(String),
    /// `!!name`: of the core schema.
    Core(String),
    /// `!` alone: a text, whatever it looks like.
    NonSpecific,
    /// Anything else, in full.
    Other(String),
}

/// How a scalar stands in the file.
pub struct Scalar<'t> {
    /// Copied where it is kept: the parser's own strings have room to spare, which adds up.
    pub text: &'t str,
    /// Neither quoted nor a block: its type follows from its text.
    pub plain: bool,
    pub tag: Option<Tag>,
}

/// What a scalar is as a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    Text,
    /// `<<`
    Merge,
}

/// Keys are texts; one that is anything else is refused, with the way to quote it.
pub fn key(scalar: &Scalar<'_>) -> Result<Name, Problem> {
    let text = scalar.text;
    match &scalar.tag {
        None if scalar.plain => {}
        None | Some(Tag::NonSpecific) => return Ok(Name::Text),
        Some(Tag::Core(name)) if name == "str" => return Ok(Name::Text),
        Some(_) => return Err(Problem::new("a tag cannot stand on a key").hint("put it on the value")),
    }
    if text == "<<" {
        return Ok(Name::Merge);
    }
    let what = match scalar::read(text) {
        Ok(scalar::Scalar::Text) => return Ok(Name::Text),
        Ok(scalar::Scalar::Empty) => {
            let problem = Problem::new("a key is missing before the `:`");
            return Err(problem.hint("write \"\" for the empty key"));
        }
        Ok(scalar::Scalar::Null) => "null",
        Ok(scalar::Scalar::Bool(_)) => "a boolean",
        Ok(scalar::Scalar::Number(_)) | Err(_) => "a number",
    };
    Err(Problem::new(format!("the key `{text}` is {what}")).hint(format!("keys are texts: write \"{text}\"")))
}

/// What a scalar is as a value.
pub fn value(scalar: &Scalar<'_>) -> Result<Want, Problem> {
    match &scalar.tag {
        None if scalar.plain => plain(scalar.text),
        None | Some(Tag::NonSpecific) => Ok(Want::Json(Value::String(scalar.text.into()))),
        Some(Tag::Local(name)) => tag::of_text(name, scalar.text),
        Some(Tag::Core(name)) => core(name, scalar.text),
        Some(Tag::Other(name)) => Err(tag::unknown(name)),
    }
}

/// The warning for a value that readers of YAML 1.1 take for something else.
pub fn warning(scalar: &Scalar<'_>) -> Option<Problem> {
    if !scalar.plain || scalar.tag.is_some() {
        return None;
    }
    let text = scalar.text;
    let other = scalar::other_reading(text)?;
    let here = if other == "a text" { "a number" } else { "a text" };
    let problem = Problem::new(format!("`{text}` is {here} here, and {other} to readers of YAML 1.1"));
    let hint = match other {
        "a boolean" => format!("write `true` or `false`, or \"{text}\" for the text"),
        _ => format!("write \"{text}\" for the text"),
    };
    Some(problem.hint(hint).warning())
}

/// Whether a list may have this tag.
pub fn list(tag: Option<Tag>) -> Result<(), Problem> {
    match tag {
        None | Some(Tag::NonSpecific) => Ok(()),
        Some(Tag::Core(name)) if name == "seq" => Ok(()),
        Some(Tag::Core(name)) => Err(tag::unknown(&format!("!!{name}"))),
        Some(Tag::Local(name)) => Err(tag::not_a(&name, "a list")),
        Some(Tag::Other(name)) => Err(tag::unknown(&name)),
    }
}

/// What a map with this tag is.
pub fn map(tag: Option<Tag>, map: Members) -> Result<Want, Problem> {
    match tag {
        None | Some(Tag::NonSpecific) => Ok(Want::Map(map)),
        Some(Tag::Core(name)) if name == "map" => Ok(Want::Map(map)),
        Some(Tag::Core(name)) => Err(tag::unknown(&format!("!!{name}"))),
        Some(Tag::Local(name)) => tag::of_map(&name, &map),
        Some(Tag::Other(name)) => Err(tag::unknown(&name)),
    }
}

fn plain(text: &str) -> Result<Want, Problem> {
    Ok(match scalar::read(text)? {
        scalar::Scalar::Empty => Want::Outside(Outside::Nothing),
        scalar::Scalar::Null => Want::Unset,
        scalar::Scalar::Bool(value) => Want::Json(Value::Bool(value)),
        scalar::Scalar::Number(number) => Want::Json(Value::Number(number)),
        scalar::Scalar::Text => Want::Json(Value::String(text.into())),
    })
}

/// `!!str 017` is a text; the other tags of the core schema must agree with what the scalar is anyway.
fn core(name: &str, text: &str) -> Result<Want, Problem> {
    if name == "str" {
        return Ok(Want::Json(Value::String(text.into())));
    }
    if !matches!(name, "int" | "float" | "bool" | "null") {
        let problem = tag::unknown(&format!("!!{name}"));
        return Err(if name == "binary" {
            problem.hint("write the Base64 text as a string")
        } else {
            problem
        });
    }
    let want = plain(text)?;
    let agrees = match &want {
        Want::Unset | Want::Outside(_) => name == "null",
        Want::Json(Value::Bool(_)) => name == "bool",
        Want::Json(Value::Number(number)) => {
            name == "float" || (name == "int" && !number.as_str().contains(['.', 'e', 'E']))
        }
        _ => false,
    };
    match want {
        Want::Outside(_) if agrees => Ok(Want::Unset),
        want if agrees => Ok(want),
        _ => Err(Problem::new(format!("`{text}` is no `!!{name}`")).hint("leave the tag out")),
    }
}
