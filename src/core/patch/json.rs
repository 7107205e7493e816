//! RFC 6902: the operations between two values.
//!
//! Whatever is replaced or removed is tested first, and whatever is touched at an index is known by more than
//! its index, so that the patch fails where the document is not the one that was looked at. Lists are edited
//! from their end, so that the indices of the operations that follow stay what they are.

use std::collections::HashMap;
use std::ops::Range;

use super::Operation;
use super::operation::escaped;
use crate::core::align::align;
use crate::core::value::{Map, Value, canonical_text, equal};

/// The members by which an element of a list is known.
const USUAL_KEYS: [&str; 3] = ["name", "key", "id"];

/// A JSON Patch that leads from one value to the other and fails where `from` is not what is there: each value
/// that it replaces or removes, and each element that it counts on, is tested.
pub fn json_patch(from: &Value, to: &Value) -> Vec<Operation> {
    let mut patch = Patch::default();
    patch.value("", from, to);
    patch.0
}

#[derive(Default)]
struct Patch(Vec<Operation>);

impl Patch {
    fn test(&mut self, pointer: &str, value: &Value) {
        self.0.push(Operation::Test { pointer: pointer.into(), value: value.clone() });
    }

    fn value(&mut self, pointer: &str, from: &Value, to: &Value) {
        match (from, to) {
            (from, to) if equal(from, to) => {}
            (Value::Object(from), Value::Object(to)) => self.map(pointer, from, to),
            (Value::Array(old), Value::Array(new)) => self.list(pointer, old, new, (from, to)),
            (from, to) => self.replace(pointer, from, to),
        }
    }

    fn replace(&mut self, pointer: &str, from: &Value, to: &Value) {
        self.test(pointer, from);
        self.0.push(Operation::Replace { pointer: pointer.into(), value: to.clone() });
    }

    fn remove(&mut self, pointer: String, from: &Value) {
        self.test(&pointer, from);
        self.0.push(Operation::Remove { pointer });
    }

    fn map(&mut self, pointer: &str, from: &Map<String, Value>, to: &Map<String, Value>) {
        for (name, old) in from {
            let pointer = format!("{pointer}/{}", escaped(name));
            match to.get(name) {
                Some(new) => self.value(&pointer, old, new),
                None => self.remove(pointer, old),
            }
        }
        for (name, new) in to.iter().filter(|(name, _)| !from.contains_key(*name)) {
            let pointer = format!("{pointer}/{}", escaped(name));
            self.0.push(Operation::Add { pointer, value: new.clone() });
        }
    }

    fn list(&mut self, pointer: &str, from: &[Value], to: &[Value], whole: (&Value, &Value)) {
        let same = |i: usize, j: usize| are_one(&from[i], &to[j]);
        let mut pairs = align(from.len(), to.len(), same, |a, b| unrivalled(from, a, to, b));
        if pairs.is_empty() {
            return self.replace(pointer, whole.0, whole.1);
        }
        pairs.push((from.len(), to.len()));
        // From the end: each pair, then the gap in front of it.
        for at in (0..pairs.len()).rev() {
            let (end_i, end_j) = pairs[at];
            if end_i < from.len() {
                self.element(pointer, end_i, &from[end_i], &to[end_j]);
            }
            let (i, j) = at.checked_sub(1).map_or((0, 0), |at| (pairs[at].0 + 1, pairs[at].1 + 1));
            self.gap(pointer, (from, i..end_i), (to, j..end_j));
        }
    }

    /// A stretch without common elements: some are replaced, and the rest removed or inserted behind them.
    fn gap(&mut self, pointer: &str, (from, a): (&[Value], Range<usize>), (to, b): (&[Value], Range<usize>)) {
        let both = a.len().min(b.len());
        for i in (a.start + both..a.end).rev() {
            self.remove(format!("{pointer}/{i}"), &from[i]);
        }
        self.insert(pointer, a.start + both, from, &to[b.start + both..b.end]);
        for k in (0..both).rev() {
            self.replace(&format!("{pointer}/{}", a.start + k), &from[a.start + k], &to[b.start + k]);
        }
    }

    /// New elements in front of the one at `at`, which is tested; at the end of the list they are appended.
    fn insert(&mut self, pointer: &str, at: usize, from: &[Value], new: &[Value]) {
        let add = |to: String| move |new: &Value| Operation::Add { pointer: to.clone(), value: new.clone() };
        match from.get(at) {
            _ if new.is_empty() => {}
            // Edited or not, this element is still the one that it was.
            Some(next) => {
                self.guard(&format!("{pointer}/{at}"), next);
                self.0.extend(new.iter().rev().map(add(format!("{pointer}/{at}"))));
            }
            None => self.0.extend(new.iter().map(add(format!("{pointer}/-")))),
        }
    }

    /// An element that stays and may have changed inside.
    fn element(&mut self, pointer: &str, at: usize, from: &Value, to: &Value) {
        if !equal(from, to) {
            let pointer = format!("{pointer}/{at}");
            self.guard(&pointer, from);
            self.value(&pointer, from, to);
        }
    }

    /// Tests that an element is the one that was meant: by its key, or as a whole.
    fn guard(&mut self, pointer: &str, element: &Value) {
        match key(element) {
            Some((name, key)) => self.test(&format!("{pointer}/{name}"), key),
            None => self.test(pointer, element),
        }
    }
}

/// The member by which an element is known, where it has one.
fn key(element: &Value) -> Option<(&'static str, &Value)> {
    let member = |name| Some((name, element.get(name).filter(|key| key.is_string() || key.is_number())?));
    USUAL_KEYS.into_iter().find_map(member)
}

/// Whether two elements are one, changed or not: by key where they have one, else as a whole.
fn are_one(a: &Value, b: &Value) -> bool {
    match (key(a), key(b)) {
        (Some((name, a)), Some((other, b))) => name == other && equal(a, b),
        (None, None) => equal(a, b),
        _ => false,
    }
}

/// Pairs of elements that are one and have no rival on either side.
fn unrivalled(from: &[Value], a: Range<usize>, to: &[Value], b: Range<usize>) -> Vec<(usize, usize)> {
    let text = |element: &Value| match key(element) {
        Some((name, key)) => format!("{name}={}", canonical_text(key)),
        None => canonical_text(element),
    };
    let mut places: HashMap<String, (Vec<usize>, Vec<usize>)> = HashMap::new();
    for i in a {
        places.entry(text(&from[i])).or_default().0.push(i);
    }
    for j in b {
        if let Some(place) = places.get_mut(&text(&to[j])) {
            place.1.push(j);
        }
    }
    let single = |(i, j): (Vec<usize>, Vec<usize>)| match (i.as_slice(), j.as_slice()) {
        ([i], [j]) => Some((*i, *j)),
        _ => None,
    };
    let mut pairs: Vec<_> = places.into_values().filter_map(single).collect();
    pairs.sort_unstable();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::patch::apply_json;

    fn json(text: &str) -> Value {
        serde_json::from_str(text).expect(text)
    }

    /// The operations in short: `?` test, `=` replace, `+` add, `-` remove.
    fn short(from: &str, to: &str) -> String {
        let (from, to) = (json(from), json(to));
        let patch = json_patch(&from, &to);
        let landed = apply_json(&from, &patch).unwrap_or_else(|e| panic!("{e}: {patch:?}"));
        assert!(equal(&landed, &to), "{from} to {to} by {patch:?} came to {landed}");
        let one = |operation: &Operation| match operation {
            Operation::Test { pointer, value } => format!("?{pointer} {value}"),
            Operation::Add { pointer, value } => format!("+{pointer} {value}"),
            Operation::Replace { pointer, value } => format!("={pointer} {value}"),
            Operation::Remove { pointer } => format!("-{pointer}"),
        };
        patch.iter().map(one).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn maps_are_patched_member_by_member() {
        for (from, to, patch) in [
            (r#"{"a":1}"#, r#"{"a":1.0}"#, ""),
            (r#"{"a":1}"#, r#"{"a":2}"#, "?/a 1; =/a 2"),
            (r#"{"a":1,"b":2}"#, r#"{"b":2}"#, "?/a 1; -/a"),
            (r#"{}"#, r#"{"a/b~":null}"#, "+/a~1b~0 null"),
            (r#"{"a":{"b":1}}"#, r#"{"a":{"b":2,"c":3}}"#, "?/a/b 1; =/a/b 2; +/a/c 3"),
            (r#"{"a":{"b":1}}"#, r#"{"a":[]}"#, r#"?/a {"b":1}; =/a []"#),
        ] {
            assert_eq!(short(from, to), patch);
        }
    }

    #[test]
    fn lists_are_patched_from_their_end() {
        for (from, to, patch) in [
            ("[1,2,3]", "[1,3]", "?/1 2; -/1"),
            ("[1,2,3]", "[1,2,3,4,5]", "+/- 4; +/- 5"),
            ("[1,4]", "[1,2,3,4]", "?/1 4; +/1 3; +/1 2"),
            ("[1,2,3,4]", "[1,9,3]", "?/3 4; -/3; ?/1 2; =/1 9"),
            ("[1]", "[2,3]", "? [1]; = [2,3]"),
            ("[]", "[1]", "? []; = [1]"),
        ] {
            assert_eq!(short(from, to), patch);
        }
    }

    #[test]
    fn keyed_elements_are_guarded_by_their_key() {
        let from = r#"[{"name":"a","v":1},{"name":"b","v":1},{"name":"c"}]"#;
        let to = r#"[{"name":"n"},{"name":"a","v":1},{"name":"b","v":2}]"#;
        assert_eq!(
            short(from, to),
            r#"?/2 {"name":"c"}; -/2; ?/1/name "b"; ?/1/v 1; =/1/v 2; ?/0/name "a"; +/0 {"name":"n"}"#
        );
    }

    /// Too many for a table of all pairs: what has no rival is paired first, and what has one by what stands around it.
    #[test]
    fn long_lists_are_patched_where_they_differ() {
        let plain = |n: usize| format!("\"{n}\"");
        let keyed = |n: usize| format!("{{\"name\":\"{n}\",\"v\":1}}");
        let list = |items: &[String]| format!("[{}]", items.join(","));
        for element in [&plain as &dyn Fn(usize) -> String, &keyed] {
            let mut from: Vec<String> = (0..300).map(element).collect();
            let mut to = from.clone();
            // Rivals: the same twice, on both sides.
            from.splice(150..150, [element(7000), element(7000)]);
            to.splice(150..150, [element(7000), element(7000)]);
            to.insert(0, element(8000));
            to.insert(100, element(8001));
            to.remove(200);
            to.push(element(8002));
            let patch = short(&list(&from), &list(&to));
            let changes: Vec<&str> = patch.split("; ").filter(|one| !one.starts_with('?')).collect();
            let begins = |(change, with): (&&str, &&str)| change.starts_with(with);
            let want = ["+/- ", "-/198", "+/99 ", "+/0 "];
            assert!(changes.len() == want.len() && changes.iter().zip(&want).all(begins), "{changes:?}");
        }
    }
}
