//! Paths into a value, in the one syntax that is used everywhere: `spec.containers[name=web].image`,
//! `arguments["x-max-length"]`, `probes[*].type`.

use std::fmt;

use super::value::{Value, equal, plain_text};

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    /// A member of a map.
    Field(String),
    /// An element of a list, by its position.
    Index(usize),
    /// The element of a list whose member `name` has this value (its text, as names are written).
    Keyed(String, String),
    /// Every element of a list, or every member of a map: only in patterns.
    Each,
}

/// A path from the root of a document's body; empty for the root itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path(pub Vec<Step>);

/// Why a text is no path, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a field path: {problem} at character {at}")]
pub struct PathError {
    pub text: String,
    pub problem: &'static str,
    /// 1-based.
    pub at: usize,
}

impl Path {
    /// The root.
    pub fn root() -> Path {
        Path::default()
    }

    /// A path one field deeper.
    pub fn field(&self, name: &str) -> Path {
        self.with(Step::Field(name.into()))
    }

    /// A path one step deeper.
    pub fn with(&self, step: Step) -> Path {
        let mut steps = Vec::with_capacity(self.0.len() + 1);
        steps.extend_from_slice(&self.0);
        steps.push(step);
        Path(steps)
    }

    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads the written form. A leading `.` is allowed, so that jq users may write `.spec.image`.
    pub fn parse(text: &str) -> Result<Path, PathError> {
        Reader { text, chars: text.char_indices().collect(), at: 0 }.path()
    }

    /// Whether this path, as a pattern, stands for `other` or for something above it.
    pub fn covers(&self, other: &Path) -> bool {
        self.0.len() <= other.0.len() && self.0.iter().zip(&other.0).all(|(p, s)| *p == Step::Each || p == s)
    }

    /// The value at this path, where there is exactly one.
    pub fn get<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(value, |value, step| match (step, value) {
            (Step::Field(name), Value::Object(map)) => map.get(name),
            (Step::Index(i), Value::Array(items)) => items.get(*i),
            (Step::Keyed(name, want), Value::Array(items)) => {
                items.iter().find(|item| item.get(name).is_some_and(|v| plain_text(v) == *want))
            }
            _ => None,
        })
    }

    /// Lays `new` at this path, making the maps on the way. False where something that is no map is in the
    /// way, or the path has steps into lists.
    pub fn lay(&self, root: &mut Value, new: Value) -> bool {
        let mut value = root;
        for step in &self.0 {
            let Step::Field(name) = step else { return false };
            if value.is_null() {
                *value = Value::Object(Default::default());
            }
            let Value::Object(map) = value else { return false };
            value = map.entry(name.clone()).or_insert(Value::Null);
        }
        if value.is_null() || equal(value, &new) {
            *value = new;
            true
        } else {
            false
        }
    }
}

/// A field name that needs no quotes.
fn is_bare(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '@' | '$' | ':'))
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str(".");
        }
        for (i, step) in self.0.iter().enumerate() {
            match step {
                Step::Field(name) if is_bare(name) && i == 0 => f.write_str(name)?,
                Step::Field(name) if is_bare(name) => write!(f, ".{name}")?,
                Step::Field(name) => write!(f, "[{}]", Value::String(name.clone()))?,
                Step::Index(at) => write!(f, "[{at}]")?,
                Step::Keyed(name, value) if is_bare(value) => write!(f, "[{name}={value}]")?,
                Step::Keyed(name, value) => write!(f, "[{name}={}]", Value::String(value.clone()))?,
                Step::Each => f.write_str("[*]")?,
            }
        }
        Ok(())
    }
}

struct Reader<'t> {
    text: &'t str,
    chars: Vec<(usize, char)>,
    at: usize,
}

impl Reader<'_> {
    fn fail<T>(&self, problem: &'static str) -> Result<T, PathError> {
        Err(PathError { text: self.text.into(), problem, at: self.at + 1 })
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).map(|(_, c)| *c)
    }

    fn take(&mut self, want: char) -> bool {
        let hit = self.peek() == Some(want);
        self.at += usize::from(hit);
        hit
    }

    fn path(mut self) -> Result<Path, PathError> {
        let mut steps = Vec::new();
        if self.text.is_empty() {
            return self.fail("it is empty");
        }
        if self.take('.') && self.peek().is_none() {
            return Ok(Path::root());
        }
        while self.peek().is_some() {
            if self.take('[') {
                steps.push(self.selector()?);
            } else {
                if !steps.is_empty() && !self.take('.') {
                    return self.fail("a `.` or `[` is missing");
                }
                steps.push(Step::Field(self.word(&['.', '[', ']', '='])?));
            }
        }
        Ok(Path(steps))
    }

    fn selector(&mut self) -> Result<Step, PathError> {
        let step = if self.take('*') {
            Step::Each
        } else if self.peek() == Some('"') {
            Step::Field(self.quoted()?)
        } else {
            let word = self.word(&[']', '[', '='])?;
            if self.take('=') {
                let value = if self.peek() == Some('"') { self.quoted()? } else { self.word(&[']', '['])? };
                Step::Keyed(word, value)
            } else {
                match word.parse() {
                    Ok(index) => Step::Index(index),
                    Err(_) => return self.fail("a selector is a number, `*`, \"text\" or name=value"),
                }
            }
        };
        if self.take(']') { Ok(step) } else { self.fail("a `]` is missing") }
    }

    fn word(&mut self, stops: &[char]) -> Result<String, PathError> {
        let start = self.at;
        while self.peek().is_some_and(|c| !stops.contains(&c)) {
            self.at += 1;
        }
        if start == self.at {
            return self.fail("a name is missing");
        }
        Ok(self.chars[start..self.at].iter().map(|(_, c)| c).collect())
    }

    fn quoted(&mut self) -> Result<String, PathError> {
        let start = self.at;
        self.at += 1;
        while let Some(c) = self.peek() {
            self.at += 1;
            match c {
                // What it escapes may be missing.
                '\\' => self.at = (self.at + 1).min(self.chars.len()),
                '"' => {
                    let text: String = self.chars[start..self.at].iter().map(|(_, c)| c).collect();
                    return serde_json::from_str(&text).or_else(|_| self.fail("the text is not JSON"));
                }
                _ => {}
            }
        }
        self.fail("a closing `\"` is missing")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_forms_round_trip() {
        for text in [
            ".",
            "durable",
            "spec.containers[name=web].image",
            r#"arguments["x.max length"]"#,
            "probes[*].type",
            "a[0][1].b",
            r#"records[content="10.0.0.1"]"#,
            "metadata.annotations.app/name",
        ] {
            let path = Path::parse(text).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(path.to_string(), text);
            assert_eq!(Path::parse(&path.to_string()).as_ref(), Ok(&path));
        }
        assert_eq!(Path::parse(".spec.image"), Path::parse("spec.image"));
        assert_eq!(Path::parse(r#"a["b"]"#), Path::parse("a.b"));
    }

    #[test]
    fn wrong_forms_say_where() {
        for (text, at) in
            [("", 1), ("a..b", 3), ("a[", 3), ("a[x]", 4), ("a[0", 4), ("a[\"x", 5), ("a[\"\\", 5), ("a]", 2)]
        {
            let error = Path::parse(text).expect_err(text);
            assert_eq!(error.at, at, "{error}");
        }
    }

    #[test]
    fn patterns_cover_what_is_below_them() {
        let path = |t: &str| Path::parse(t).expect(t);
        assert!(path("a[*].b").covers(&path("a[name=x].b.c")));
        assert!(path("a[*].b").covers(&path("a[3].b")));
        assert!(!path("a[*].b").covers(&path("a[3].c")));
        assert!(!path("a.b").covers(&path("a")));
    }
}
