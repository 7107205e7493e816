//! Plain paths: `.`, `.a.b`, `.["a b"].c`. They are most of the filters that a backend has.

use crate::core::value::{Value, type_name};

/// The names of a plain path; `None` for every other filter.
pub fn names(text: &str) -> Option<Vec<String>> {
    let text = text.trim();
    if text == "." {
        return Some(Vec::new());
    }
    let mut names = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (name, tail) = match rest.strip_prefix("[\"").filter(|_| !names.is_empty()) {
            Some(quoted) => bracketed(quoted)?,
            None => {
                let after = rest.strip_prefix('.')?;
                match after.strip_prefix("[\"") {
                    Some(quoted) => bracketed(quoted)?,
                    None => bare(after)?,
                }
            }
        };
        names.push(name.to_owned());
        rest = tail;
    }
    (!names.is_empty()).then_some(names)
}

/// Whether the text of a filter names the member of a variable: `zone` of `$key.zone | trim_dot`.
pub fn has_member(text: &str, variable: &str, member: &str) -> bool {
    text.split(&format!("${variable}")).skip(1).any(|rest| {
        let after = rest.strip_prefix('.').unwrap_or(rest);
        let found = match after.strip_prefix("[\"") {
            Some(quoted) => bracketed(quoted),
            None => bare(after).filter(|_| rest.starts_with('.')),
        };
        found.is_some_and(|(name, _)| name == member)
    })
}

/// What stands at the path: `None` when it is not there.
///
/// # Errors
/// Something on the way is neither a map nor null.
pub fn get<'v>(names: &[String], input: &'v Value) -> Result<Option<&'v Value>, String> {
    let mut value = input;
    for name in names {
        value = match value {
            Value::Object(map) => match map.get(name) {
                Some(below) => below,
                None => return Ok(None),
            },
            Value::Null => return Ok(None),
            other => return Err(format!("`{name}` is looked up in {}, not in a map", type_name(other))),
        };
    }
    Ok(Some(value))
}

/// A jq identifier, and what follows it.
fn bare(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts.then(|| text.split_at(end))
}

/// The text of `["…"]` after its opening, without escapes, and what follows it.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let end = text.find(['"', '\\'])?;
    Some((&text[..end], text[end..].strip_prefix("\"]")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_paths_are_recognised() {
        for (text, want) in [
            (".", vec![]),
            (" .a ", vec!["a"]),
            (".a.b_2", vec!["a", "b_2"]),
            (r#".["a b"].c"#, vec!["a b", "c"]),
            (r#".a["x-y"]["z"]"#, vec!["a", "x-y", "z"]),
            (r#".a.["x"]"#, vec!["a", "x"]),
        ] {
            assert_eq!(names(text).expect(text), want, "{text}");
        }
    }

    #[test]
    fn everything_else_is_left_to_the_program() {
        for text in
            ["", "..", ".a[0]", ".a[]", ".a?", ".a | .b", ".1", r#"["a"]"#, r#".["a\n"]"#, ".a.", "a", ".a-b"]
        {
            assert_eq!(names(text), None, "{text}");
        }
    }
}
