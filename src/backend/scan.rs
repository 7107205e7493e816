//! Reads a few fields of a JSON text without building a tree of the rest.
//!
//! A listing of 10,000 objects is asked mostly for keys. What this gives are slices of the answer's own text,
//! with every digit of a number as the server wrote it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Why nothing is picked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unpicked {
    NotJson,
    /// This member is on the way to what is asked for, and stands twice, with different values.
    Twice(String),
}

impl From<serde_json::Error> for Unpicked {
    fn from(_: serde_json::Error) -> Unpicked {
        Unpicked::NotJson
    }
}

/// The values at plain paths, one for each path; `None` where the path is not there.
///
/// # Errors
/// A text that is not JSON, or of which nobody can say what it has at one of the paths.
pub fn pick<'j>(json: &'j str, paths: &[&[String]]) -> Result<Vec<Option<&'j str>>, Unpicked> {
    let heads: Vec<&str> = paths.iter().filter_map(|path| path.first()).map(String::as_str).collect();
    let found = if heads.is_empty() { Found::default() } else { found(json, &heads)? };
    if let Some(name) = found.twice {
        return Err(Unpicked::Twice(heads[name].to_owned()));
    }
    let mut found = found.values.into_iter();
    let one = |path: &&[String]| {
        let Some((_, below)) = path.split_first() else { return Ok(Some(json)) };
        match found.next().expect("one for each path that has a head") {
            Some(value) if below.is_empty() => Ok(Some(value)),
            Some(value) => Ok(pick(value, &[below])?.pop().flatten()),
            None => Ok(None),
        }
    };
    paths.iter().map(one).collect()
}

/// The values of a map's members by name, one for each name; all `None` for what is no map. Of a member that stands
/// twice the last one counts, as in a tree.
///
/// # Errors
/// A text that is not JSON.
pub fn members<'j>(json: &'j str, names: &[&str]) -> serde_json::Result<Vec<Option<&'j str>>> {
    found(json, names).map(|found| found.values)
}

/// The members of a map whose names are wanted, in their order, each as often as it stands there; none for what is
/// no map.
///
/// # Errors
/// A text that is not JSON.
pub fn chosen<'j>(
    json: &'j str,
    wanted: &dyn Fn(&str) -> bool,
) -> serde_json::Result<Vec<(String, &'j str)>> {
    if !json.trim_start().starts_with('{') {
        return Ok(Vec::new());
    }
    serde_json::Deserializer::from_str(json).deserialize_map(Chosen(wanted))
}

struct Chosen<'n>(&'n dyn Fn(&str) -> bool);

impl<'de> Visitor<'de> for Chosen<'_> {
    type Value = Vec<(String, &'de str)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut chosen = Vec::new();
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            if (self.0)(&name) {
                chosen.push((name.into_owned(), map.next_value::<&'de RawValue>()?.get()));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(chosen)
    }
}

/// The members that were asked for.
#[derive(Default)]
struct Found<'j> {
    values: Vec<Option<&'j str>>,
    /// The first of the names that stands twice, with different texts.
    twice: Option<usize>,
}

fn found<'j>(json: &'j str, names: &[&str]) -> serde_json::Result<Found<'j>> {
    if !json.trim_start().starts_with('{') {
        serde_json::from_str::<IgnoredAny>(json)?;
        return Ok(Found { values: vec![None; names.len()], twice: None });
    }
    let mut reader = serde_json::Deserializer::from_str(json);
    let found = reader.deserialize_map(Members { names })?;
    reader.end()?;
    Ok(found)
}

/// Where the elements of a list stand in `whole`, of which `list` is a part; `None` for what is no list.
///
/// # Errors
/// A text that is not JSON.
pub fn elements(whole: &str, list: &str) -> serde_json::Result<Option<Vec<Range<usize>>>> {
    if !list.trim_start().starts_with('[') {
        serde_json::from_str::<IgnoredAny>(list)?;
        return Ok(None);
    }
    let elements: Vec<&RawValue> = serde_json::from_str(list)?;
    let begin = whole.as_ptr() as usize;
    let place = |element: &&RawValue| {
        let start = element.get().as_ptr() as usize - begin;
        start..start + element.get().len()
    };
    Ok(Some(elements.iter().map(place).collect()))
}

struct Members<'n> {
    names: &'n [&'n str],
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = Found<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = vec![None; self.names.len()];
        let mut twice = None;
        while let Some(first) = map.next_key_seed(NameAmong { names: self.names })? {
            let Some(first) = first else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let value = map.next_value::<&'de RawValue>()?.get();
            if found[first].is_some_and(|before| before != value) {
                twice.get_or_insert(first);
            }
            // A name may be asked for more than once.
            for (at, slot) in found.iter_mut().enumerate().skip(first) {
                if self.names[at] == self.names[first] {
                    *slot = Some(value);
                }
            }
        }
        Ok(Found { values: found, twice })
    }
}

/// Which of the names a member has, by its first place among them.
struct NameAmong<'n> {
    names: &'n [&'n str],
}

impl<'de> DeserializeSeed<'de> for NameAmong<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, name: D) -> Result<Self::Value, D::Error> {
        name.deserialize_str(self)
    }
}

impl Visitor<'_> for NameAmong<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member's name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.names.iter().position(|have| *have == name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::value::Value;

    fn path(text: &str) -> Vec<String> {
        text.split('.').filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }

    #[test]
    fn fields_are_picked_as_written() {
        let json =
            r#" {"a": {"b": 1.50, "c": [1, 2]}, "n": 18446744073709551616, "x\u0079": "z", "a2": null} "#;
        for (paths, want) in [
            (vec!["a.b"], vec![Some("1.50")]),
            (vec!["n", "a.c", "a.b"], vec![Some("18446744073709551616"), Some("[1, 2]"), Some("1.50")]),
            (vec!["a2", "no", "a.no", "n.a"], vec![Some("null"), None, None, None]),
            (vec!["xy"], vec![Some("\"z\"")]),
            (vec!["n", "n"], vec![Some("18446744073709551616"); 2]),
            (vec![""], vec![Some(json)]),
        ] {
            let paths: Vec<Vec<String>> = paths.into_iter().map(path).collect();
            let paths: Vec<&[String]> = paths.iter().map(Vec::as_slice).collect();
            assert_eq!(pick(json, &paths).expect("JSON"), want);
        }
        assert_eq!(members("\"text\"", &["a"]).expect("JSON"), [None]);
        assert_eq!(members("17", &["a"]).expect("JSON"), [None]);
        assert_eq!(members(r#"{"a":1,"a":2}"#, &["a"]).expect("JSON"), [Some("2")]);
    }

    #[test]
    fn what_stands_twice_on_the_way_is_not_picked() {
        let twice = |name: &str| Err(Unpicked::Twice(name.into()));
        for (json, want) in [
            (r#"{"a":{"b":1},"a":{"b":2}}"#, twice("a")),
            (r#"{"a":{"b":1,"b":2}}"#, twice("b")),
            (r#"{"a":{"b":1,"c":1,"c":2},"d":1,"d":2}"#, Ok(vec![Some("1")])),
            (r#"{"a":{"b":1,"b":1}}"#, Ok(vec![Some("1")])),
        ] {
            assert_eq!(pick(json, &[&path("a.b")]), want, "{json}");
        }
    }

    #[test]
    fn what_is_not_json_is_an_error() {
        for text in ["", "{", r#"{"a":1"#, r#"{"a":1}}"#, r#"{"b":tru}"#, "<html>", "[1,"] {
            assert!(members(text, &["a"]).is_err(), "{text}");
            assert!(elements(text, text).is_err(), "{text}");
        }
    }

    #[test]
    fn elements_are_places_in_the_whole() {
        let whole = r#"{"items": [ {"a":1},2 , "x"]}"#;
        let list = members(whole, &["items"]).expect("JSON")[0].expect("a list");
        let places = elements(whole, list).expect("JSON").expect("a list");
        let texts: Vec<&str> = places.into_iter().map(|place| &whole[place]).collect();
        assert_eq!(texts, [r#"{"a":1}"#, "2", r#""x""#]);
        assert_eq!(elements("{}", "{}").expect("JSON"), None);
        assert_eq!(elements("[]", "[]").expect("JSON"), Some(vec![]));
    }

    proptest::proptest! {
        /// The fast path and the tree agree.
        #[test]
        fn a_picked_field_is_the_trees(
            json in r#"\{("(a|b|\\u0061)":(1|"x"|\{"b":2\}|\[3\]|null))?(,"(a|b)":(4|\{"b":\{\}\}))?\}"#,
        ) {
            let tree: serde_json::Result<Value> = serde_json::from_str(&json);
            let paths = [path("a"), path("a.b"), path("b")];
            let picked = pick(&json, &[&paths[0], &paths[1], &paths[2]]);
            proptest::prop_assert_eq!(tree.is_err(), picked == Err(Unpicked::NotJson));
            let (Ok(tree), Ok(picked)) = (tree, picked) else { return Ok(()) };
            for (pointer, text) in ["/a", "/a/b", "/b"].into_iter().zip(picked) {
                let value = text.map(|text| serde_json::from_str::<Value>(text).expect("JSON"));
                proptest::prop_assert_eq!(tree.pointer(pointer), value.as_ref());
            }
        }
    }
}
