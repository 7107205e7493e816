//! The tags that put values from elsewhere into a document: `!ref`, `!env`, `!file`, `!secret`, `!null`.
//!
//! Knows what stands behind a tag, as text or as a map; not how a parser spells tags. The annotation
//! `trueup/values` says the same without the `!`, and is read by the same functions. Errors have no place:
//! the caller adds it.

use std::fmt::Write;
use std::sync::Arc;

use crate::core::members::Members;
use crate::core::node::{Outside, Reference, Secret, Want};
use crate::core::path::Path;
use crate::core::problem::Problem;
use crate::core::suggest;
use crate::core::value::{Value, plain_text};
use crate::core::veil::Veil;

/// The tags, in the order in which hints list them.
const TAGS: [&str; 5] = ["!ref", "!env", "!file", "!secret", "!null"];

const REF_FORM: &str =
    "write `!ref KIND/NAME .FIELD`, as in `!ref Team/platform .id`; a `/` inside a name is written `%2F`";
const LONG_REF_FORM: &str = "write `!ref {kind: Queue, vhost: /, name: orders, field: .id}`";
const ENV_FORM: &str = "write `!env NAME`";
const FILE_FORM: &str = "write `!file PATH`, relative to this file";
const SECRET_FORM: &str = "write `!secret env:NAME` or `!secret file:PATH`";

/// The error for a tag that is none of ours.
pub fn unknown(tag: &str) -> Problem {
    Problem::new(format!("the tag `{tag}` is not known")).hint(suggest::hint(tag, "the tags are", TAGS))
}

/// The value of `!name text`; `name` is without its `!`.
pub fn of_text(name: &str, text: &str) -> Result<Want, Problem> {
    match name {
        "ref" => Ok(Want::Ref(short_reference(text)?.into())),
        "env" => Ok(Want::Outside(Outside::Env(variable(text, ENV_FORM)?))),
        "file" if text.is_empty() => Err(Problem::new("`!file` names no file").hint(FILE_FORM)),
        "file" => Ok(Want::Outside(Outside::File(text.into()))),
        "secret" => secret(text),
        "null" if matches!(text, "" | "~" | "null") => Ok(Want::Json(Value::Null)),
        "null" => Err(Problem::new("`!null` takes no value").hint("write `!null` alone")),
        other => Err(unknown(&format!("!{other}"))),
    }
}

/// The value of `!name {…}`.
pub fn of_map(name: &str, map: &Members) -> Result<Want, Problem> {
    match name {
        "ref" => Ok(Want::Ref(long_reference(map)?.into())),
        other => Err(not_a(other, "a map")),
    }
}

/// The error for a tag on a list, or on a map where it takes none.
pub fn not_a(name: &str, what: &str) -> Problem {
    let form = match name {
        "ref" => LONG_REF_FORM,
        "env" => ENV_FORM,
        "file" => FILE_FORM,
        "secret" => SECRET_FORM,
        "null" => "write `!null` alone",
        other => return unknown(&format!("!{other}")),
    };
    Problem::new(format!("`!{name}` cannot stand on {what}")).hint(form)
}

/// `trueup/values` and annotations: the tag and its text in one, without `!`: `secret env:NAME`.
pub fn of_words(words: &str) -> Result<Want, Problem> {
    let words = words.trim();
    let (name, text) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    of_text(name.strip_prefix('!').unwrap_or(name), text.trim())
}

fn variable(text: &str, form: &str) -> Result<Arc<str>, Problem> {
    let bare = text.strip_prefix('$').unwrap_or(text).trim_start_matches('{').trim_end_matches('}');
    if text.is_empty() {
        return Err(Problem::new("no variable is named").hint(form));
    }
    if bare != text || text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '=') {
        let problem = Problem::new(format!("`{text}` is not the name of a variable"));
        return Err(problem.hint(format!("{form}, without `$`, braces, `=` or spaces")));
    }
    Ok(text.into())
}

fn secret(text: &str) -> Result<Want, Problem> {
    let source = match text.split_once(':') {
        Some(("env", name)) => format!("env:{}", variable(name, SECRET_FORM)?),
        Some(("file", path)) if !path.is_empty() => format!("file:{path}"),
        // The text is not repeated: it may be the secret itself.
        _ => {
            return Err(Problem::new("`!secret` does not say where the secret is").hint(SECRET_FORM));
        }
    };
    Ok(Want::Secret(Secret::new(&source, None)))
}

fn short_reference(text: &str) -> Result<Reference, Problem> {
    let Some((object, field)) = text.split_once(char::is_whitespace) else {
        let problem = match text {
            "" => Problem::new("`!ref` names no object"),
            _ => Problem::new(format!("`!ref {text}` names no field")),
        };
        return Err(problem.hint(REF_FORM));
    };
    let mut reference = object_reference(object)?;
    reference.field = field_path(field.trim())?;
    reference.text = text.into();
    Ok(reference)
}

/// `Kind/part/part`, percent-encoded, naming the object itself: the field is the root.
pub fn object_reference(text: &str) -> Result<Reference, Problem> {
    let mut names = text.split('/');
    let kind = names.next().unwrap_or_default();
    if kind.is_empty() || text.contains(char::is_whitespace) {
        return Err(Problem::new(format!("`{text}` does not name an object")).hint(REF_FORM));
    }
    let mut parts = Vec::new();
    for name in names {
        if name.is_empty() {
            return Err(Problem::new(format!("`{text}` has an empty name")).hint(REF_FORM));
        }
        parts.push(("".into(), Value::String(decode(name)?)));
    }
    Ok(Reference {
        backend: None,
        kind: kind.into(),
        parts,
        field: Path::root(),
        text: text.into(),
        secrets: Veil::default(),
    })
}

fn field_path(text: &str) -> Result<Path, Problem> {
    Path::parse(text).map_err(|error| Problem::new(error.to_string()).hint(REF_FORM))
}

/// `{kind: …, field: …, backend?: …}` and the parts of the key.
fn long_reference(map: &Members) -> Result<Reference, Problem> {
    let word = |name: &str| match map.get(name) {
        None => Ok(None),
        Some(node) => node
            .as_str()
            .map(Some)
            .ok_or_else(|| Problem::new(format!("`{name}` of a `!ref` must be a text")).hint(LONG_REF_FORM)),
    };
    let missing = |name: &str| Problem::new(format!("`!ref` has no `{name}`")).hint(LONG_REF_FORM);
    let kind = word("kind")?.ok_or_else(|| missing("kind"))?;
    let field = word("field")?.ok_or_else(|| missing("field"))?;
    let mut parts: Vec<(Arc<str>, Value)> = Vec::new();
    let mut text = format!("{{kind: {kind}");
    for (name, node) in map.iter().filter(|(name, _)| !matches!(&***name, "kind" | "field" | "backend")) {
        let value = node.to_value().ok().filter(|value| !value.is_null()).ok_or_else(|| {
            Problem::new(format!("`{name}` of a `!ref` must be a plain value")).hint(LONG_REF_FORM)
        })?;
        write!(text, ", {name}: {}", plain_text(&value)).expect("writing to a string cannot fail");
        parts.push((name.clone(), value));
    }
    write!(text, ", field: {field}}}").expect("writing to a string cannot fail");
    Ok(Reference {
        backend: word("backend")?.map(Into::into),
        kind: kind.into(),
        parts,
        field: field_path(field)?,
        text: text.into(),
        secrets: Veil::default(),
    })
}

/// Percent-decoding (RFC 3986, 2.1) of a name to UTF-8 text.
fn decode(name: &str) -> Result<String, Problem> {
    let wrong = || {
        Problem::new(format!("`{name}` is not percent-encoded UTF-8"))
            .hint("a `%` is followed by two hexadecimal digits; a `%` itself is written `%25`")
    };
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|b| char::from(b).to_digit(16));
        let (high, low) = (digit().ok_or_else(wrong)?, digit().ok_or_else(wrong)?);
        bytes.push(u8::try_from(high * 16 + low).expect("two hexadecimal digits make a byte"));
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::node::Node;
    use crate::core::node::Pos;

    fn reference(text: &str) -> Reference {
        match of_text("ref", text).expect(text) {
            Want::Ref(reference) => *reference,
            other => panic!("{other:?}"),
        }
    }

    fn long(entries: &[(&str, Value)]) -> Result<Want, Problem> {
        let map = entries
            .iter()
            .map(|(name, value)| ((*name).to_owned(), Node::from_value(Pos::default(), value.clone())))
            .collect();
        of_map("ref", &map)
    }

    #[test]
    fn short_references() {
        let queue = reference("Queue/%2F/my%20orders   .arguments[\"x-max-length\"]");
        assert_eq!(&*queue.kind, "Queue");
        let values: Vec<&Value> = queue.parts.iter().map(|(_, value)| value).collect();
        assert_eq!(values, ["/", "my orders"]);
        assert_eq!(queue.field.to_string(), "arguments.x-max-length");
        assert!(queue.parts.iter().all(|(name, _)| name.is_empty()));
        assert_eq!(reference("Settings .version").parts, []);
        assert!(reference("Team/platform .").field.is_root());
        assert_eq!(object_reference("Team/caf%C3%A9").expect("a reference").parts[0].1, "café");
    }

    #[test]
    fn long_references() {
        let want = long(&[
            ("kind", "Queue".into()),
            ("vhost", "/".into()),
            ("name", 5.into()),
            ("field", ".id".into()),
            ("backend", "other".into()),
        ]);
        let Ok(Want::Ref(reference)) = want else { panic!("{want:?}") };
        assert_eq!(reference.backend.as_deref(), Some("other"));
        assert_eq!(reference.parts, [("name".into(), Value::from(5)), ("vhost".into(), Value::from("/"))]);
        assert_eq!(&*reference.text, "{kind: Queue, name: 5, vhost: /, field: .id}");
        for (entries, message) in [
            (&[("field", ".id".into())][..], "`!ref` has no `kind`"),
            (&[("kind", "Queue".into())], "`!ref` has no `field`"),
            (&[("kind", 5.into()), ("field", ".id".into())], "`kind` of a `!ref` must be a text"),
            (
                &[("kind", "A".into()), ("field", ".id".into()), ("x", Value::Null)],
                "`x` of a `!ref` must be a plain value",
            ),
            (&[("kind", "A".into()), ("field", "a..b".into())], "`a..b` is not a field path"),
        ] {
            let problem = long(entries).expect_err(message);
            assert!(problem.message.contains(message), "{}", problem.message);
            assert!(problem.hint.is_some());
        }
    }

    #[test]
    fn the_other_tags() {
        assert_eq!(of_text("env", "HOME"), Ok(Want::Outside(Outside::Env("HOME".into()))));
        assert_eq!(of_text("file", "a b/c.pem"), Ok(Want::Outside(Outside::File("a b/c.pem".into()))));
        assert_eq!(of_text("null", ""), Ok(Want::Json(Value::Null)));
        for text in ["env:PASSWORD", "file:/run/secrets/password"] {
            assert_eq!(of_text("secret", text), Ok(Want::Secret(Secret::new(text, None))));
        }
        assert_eq!(of_words("secret  env:A "), of_text("secret", "env:A"));
        assert_eq!(of_words("null"), of_text("null", ""));
        assert_eq!(of_words("!ref Team/a .id"), of_text("ref", "Team/a .id"));
    }

    #[test]
    fn wrong_forms_show_the_right_one() {
        for (name, text, message, hint) in [
            ("ref", "", "`!ref` names no object", "!ref Team/platform .id"),
            ("ref", "Team/platform", "`!ref Team/platform` names no field", "!ref Team/platform .id"),
            ("ref", "Queue///orders .id", "`Queue///orders` has an empty name", "`%2F`"),
            ("ref", "/a .id", "`/a` does not name an object", "!ref KIND/NAME .FIELD"),
            ("ref", "Team/%zz .id", "`%zz` is not percent-encoded UTF-8", "%25"),
            ("ref", "Team/%ff .id", "`%ff` is not percent-encoded UTF-8", "%25"),
            ("ref", "Team/a .id[", "is not a field path", "!ref KIND/NAME .FIELD"),
            ("env", "", "no variable is named", "!env NAME"),
            ("env", "${HOME}", "`${HOME}` is not the name of a variable", "without `$`"),
            ("env", "A B", "`A B` is not the name of a variable", "!env NAME"),
            ("file", "", "`!file` names no file", "!file PATH"),
            ("secret", "PASSWORD", "`!secret` does not say where the secret is", "!secret env:NAME"),
            ("secret", "file:", "`!secret` does not say where the secret is", "!secret file:PATH"),
            ("secret", "env:", "no variable is named", "!secret env:NAME"),
            ("null", "x", "`!null` takes no value", "alone"),
            ("Ref", "Team/a .id", "the tag `!Ref` is not known", "did you mean `!ref`?"),
            ("GetAtt", "x", "the tag `!GetAtt` is not known", "the tags are `!ref`"),
        ] {
            let problem = of_text(name, text).expect_err(message);
            assert!(problem.message.contains(message), "{name} {text}: {}", problem.message);
            assert!(problem.hint.as_deref().is_some_and(|have| have.contains(hint)), "{:?}", problem.hint);
        }
        assert!(!of_text("secret", "hunter2").expect_err("no source").to_string().contains("hunter2"));
        assert_eq!(not_a("env", "a list").message, "`!env` cannot stand on a list");
        assert_eq!(
            of_map("env", &Members::default()).expect_err("a map").message,
            "`!env` cannot stand on a map"
        );
    }
}
