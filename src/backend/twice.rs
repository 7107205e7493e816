//! JSON in which a member stands twice.
//!
//! RFC 8259 (section 4) leaves open what such a text means, and its readers differ: most take the last one, some the
//! first. Here the last one counts. Where the first one would have made another value, that is made as well, so that
//! whoever judges an answer can tell whether the two are the same object, and where they differ. A text without such
//! members is read once, and no slower than by the library's own reader.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::core::path::{Path, Step};
use crate::core::value::{Map, Number, Value, equal};

/// What a text says.
#[derive(Debug)]
pub struct Reading {
    /// Of a member that stands twice the last one counts.
    pub value: Value,
    /// The value if the first one counted, where that is another one.
    pub first: Option<Value>,
}

/// So many paths are told of one object, at most.
const MOST: usize = 4;

/// Reads a JSON text.
///
/// # Errors
/// A text that is not JSON, or that nests too deep.
pub fn read(json: &str) -> serde_json::Result<Reading> {
    let met = Cell::new(false);
    let value = tree(json, Tree { first_counts: false, met: &met })?;
    let first = met.get().then(|| tree(json, Tree { first_counts: true, met: &met })).transpose()?;
    Ok(Reading { first: first.filter(|first| !equal(first, &value)), value })
}

/// Where two readings of one text differ; the first few places.
pub fn differing(first: &Value, last: &Value) -> Vec<Path> {
    let mut found = Vec::new();
    walk(first, last, &Path::root(), &mut found);
    found.truncate(MOST);
    found
}

/// The first place where two readings of one text differ.
pub fn place(first: &Value, last: &Value) -> String {
    differing(first, last).first().map(Path::to_string).unwrap_or_default()
}

fn walk(first: &Value, last: &Value, at: &Path, found: &mut Vec<Path>) {
    if found.len() >= MOST {
        return;
    }
    match (first, last) {
        (Value::Object(first), Value::Object(last)) => {
            for (name, value) in first {
                match last.get(name) {
                    Some(other) => walk(value, other, &at.field(name), found),
                    None => found.push(at.field(name)),
                }
            }
            let more = last.keys().filter(|name| !first.contains_key(*name));
            found.extend(more.map(|name| at.field(name)));
        }
        (Value::Array(first), Value::Array(last)) if first.len() == last.len() => {
            for (i, (first, last)) in first.iter().zip(last).enumerate() {
                walk(first, last, &at.with(Step::Index(i)), found);
            }
        }
        _ if equal(first, last) => {}
        _ => found.push(at.clone()),
    }
}

fn tree(json: &str, of: Tree) -> serde_json::Result<Value> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let value = of.deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Makes a value, as the library's own reader does.
#[derive(Clone, Copy)]
struct Tree<'t> {
    first_counts: bool,
    /// Whether a member was met that stands twice.
    met: &'t Cell<bool>,
}

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<Value, D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut out = Vec::new();
        while let Some(element) = list.next_element_seed(self)? {
            out.push(element);
        }
        Ok(Value::Array(out))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut out = Map::new();
        while let Some(name) = map.next_key_seed(Name)? {
            if name.is_none() && out.is_empty() {
                let digits: String = map.next_value()?;
                return digits.parse::<Number>().map(Value::Number).map_err(A::Error::custom);
            }
            let name = name.unwrap_or_else(|| NUMBER.to_owned());
            let value = map.next_value_seed(self)?;
            if self.first_counts {
                out.entry(name).or_insert(value);
            } else if out.insert(name, value).is_some() {
                self.met.set(true);
            }
        }
        Ok(Value::Object(out))
    }
}

/// The name of a member; `None` for the one by which the library hands out a number that no integer type holds.
struct Name;

/// What the library calls it (`serde_json`, feature `arbitrary_precision`).
const NUMBER: &str = "$serde_json::private::Number";

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, name: D) -> Result<Option<String>, D::Error> {
        name.deserialize_str(self)
    }
}

impl Visitor<'_> for Name {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member's name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Option<String>, E> {
        Ok((name != NUMBER).then(|| name.to_owned()))
    }

    fn visit_string<E>(self, name: String) -> Result<Option<String>, E> {
        Ok((name != NUMBER).then_some(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(json: &str) -> String {
        let Reading { value, first } = read(json).expect("JSON");
        let Some(first) = first else { return value.to_string() };
        let paths: Vec<String> = differing(&first, &value).iter().map(Path::to_string).collect();
        format!("{value} or {first}: {}", paths.join(", "))
    }

    #[test]
    fn the_last_counts_and_the_first_is_told() {
        for (json, want) in [
            (r#"{"a":1,"b":[{"c":null}]}"#, r#"{"a":1,"b":[{"c":null}]}"#),
            (r#"{"a":1,"a":2}"#, r#"{"a":2} or {"a":1}: a"#),
            (r#"{"a":1,"a":2,"a":3}"#, r#"{"a":3} or {"a":1}: a"#),
            (r#"{"a":1,"\u0061":2}"#, r#"{"a":2} or {"a":1}: a"#),
            (r#"{"a":1,"a":1.0,"b":2}"#, r#"{"a":1.0,"b":2}"#),
            (
                r#"[{"a":{"x":1,"y":2},"a":{"x":1,"z":3}}]"#,
                r#"[{"a":{"x":1,"z":3}}] or [{"a":{"x":1,"y":2}}]: [0].a.y, [0].a.z"#,
            ),
            (r#"{"a":[1],"a":[1,2]}"#, r#"{"a":[1,2]} or {"a":[1]}: a"#),
            (r#"{"a":[1,{"b":0,"b":1}]}"#, r#"{"a":[1,{"b":1}]} or {"a":[1,{"b":0}]}: a[1].b"#),
            (
                r#"{"a":{"a":1,"b":2,"c":3,"d":4,"e":5},"a":0,"b":1,"b":{"a":1}}"#,
                r#"{"a":0,"b":{"a":1}} or {"a":{"a":1,"b":2,"c":3,"d":4,"e":5},"b":1}: a, b"#,
            ),
        ] {
            assert_eq!(shown(json), want, "{json}");
        }
    }

    #[test]
    fn few_places_are_told() {
        let map = |n: u8| (0..9).map(|i| format!("\"m{i}\":{n}")).collect::<Vec<_>>().join(",");
        let Reading { value, first } = read(&format!("{{{},{}}}", map(1), map(2))).expect("JSON");
        assert_eq!(differing(&first.expect("it differs"), &value).len(), MOST);
    }

    #[test]
    fn what_is_not_json_is_an_error() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for text in ["", "{", "[1,]", "{\"a\":1}x", "tru", "01", "\"\\x\"", "nul", &deep] {
            let said = read(text).expect_err(text).to_string();
            assert_eq!(said, serde_json::from_str::<Value>(text).expect_err(text).to_string(), "{text}");
        }
    }

    proptest::proptest! {
        /// It reads what the library's own reader reads, digit by digit.
        #[test]
        fn it_is_the_librarys_value(
            json in r#"(\[|\{"a":)(-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,9})?([eE][+-]?[0-9]{1,4})?|"x\\u00e9\\n"|true|null|\{"b":\[1, 2.50\],"":"é"\})(\]|,"b":\[\]\}|\}| )"#,
        ) {
            let own = serde_json::from_str::<Value>(&json);
            let ours = read(&json);
            proptest::prop_assert_eq!(own.is_ok(), ours.is_ok());
            if let (Ok(own), Ok(ours)) = (own, ours) {
                proptest::prop_assert_eq!(own.to_string(), ours.value.to_string());
                proptest::prop_assert!(ours.first.is_none());
            }
        }
    }
}
