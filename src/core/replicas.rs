//! Replicas: objects alike, of which a document says how many there are to be. Their names are a base and a number,
//! `web-0` to `web-2`; every object with such a name is the document's, those with higher numbers are its surplus.
//!
//! As names are fixed, a creation whose answer is lost is found again by its name: there is never one too many.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::sync::Arc;

use super::identity::Key;
use super::kind::Kind;
use super::value::Value;

/// So many replicas one document may ask for. A slip of the keys, `1e9` or a pasted id, must not fill a server.
pub const MOST: usize = 10_000;

/// So many members of one document are made, or deleted, before those that come next (`engine.md`, section 10).
pub const AT_ONCE: usize = 500;

/// The largest batch of surplus; the first has one, each next one twice as many.
const LARGEST_BATCH: usize = 64;

/// What a `kind: ReplicaSet` says of the names of its objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replicas {
    /// The part of the key that holds base and number.
    pub part: Arc<str>,
    pub base: Arc<str>,
    /// How many there are to be.
    pub wanted: usize,
    /// Why no surplus is deleted, as the template says it.
    pub kept: Option<&'static str>,
    /// Of the template, for `-l`.
    pub labels: BTreeMap<String, String>,
}

/// A member's place in its document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replica {
    /// The document, as reports name it.
    pub of: Arc<str>,
    pub number: usize,
}

/// A number in a name, in plain decimal and of any size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number(Arc<str>);

impl Ord for Number {
    fn cmp(&self, other: &Number) -> Ordering {
        (self.0.len(), &self.0).cmp(&(other.0.len(), &other.0))
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Replicas {
    /// The name of a member.
    pub fn name(&self, number: usize) -> String {
        format!("{}-{number}", self.base)
    }

    /// The number of an object whose name is one of these; `kind` compares names as its server does.
    pub fn number(&self, key: &Key, kind: &Kind) -> Option<Number> {
        let Some(Value::String(name)) = key.get(&self.part) else { return None };
        let (_, digits) = name.rsplit_once('-')?;
        let is_plain = digits.bytes().all(|digit| digit.is_ascii_digit())
            && !digits.is_empty()
            && (digits == "0" || !digits.starts_with('0'));
        let own = || kind.same_part(key, &self.part, &Value::String(format!("{}-{digits}", self.base)));
        (is_plain && own()).then(|| Number(digits.into()))
    }
}

/// The batch of what stands at this place of a row, and its place among the others: 1, 2, 4, … up to the largest.
pub fn batch(mut place: usize) -> Reverse<usize> {
    let (mut number, mut size) = (0, 1);
    while place >= size {
        place -= size;
        size = (size * 2).min(LARGEST_BATCH);
        number += 1;
    }
    Reverse(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::engine::tests::make;

    fn number(name: &str) -> Option<Number> {
        let replicas = Replicas {
            part: "name".into(),
            base: "web".into(),
            wanted: 3,
            kept: None,
            labels: BTreeMap::new(),
        };
        replicas.number(&make::key_of(&[("name", name)]), &make::kind("App", false, None))
    }

    #[test]
    fn only_plain_numbers_behind_the_base_are_members() {
        for name in ["web-0", "web-7", "web-10", "web-98765432109876543210987654321"] {
            assert!(number(name).is_some(), "{name}");
        }
        for name in
            ["web", "web-", "web-01", "web-00", "web--1", "web-1-0", "web-x", "web-1x", "Web-1", "web-٣"]
        {
            assert_eq!(number(name), None, "{name}");
        }
    }

    #[test]
    fn numbers_are_in_the_order_of_numbers() {
        let mut names = ["web-9", "web-10", "web-100000000000000000000", "web-2", "web-99999999999999999999"];
        names.sort_by_key(|name| number(name));
        assert_eq!(
            names,
            ["web-2", "web-9", "web-10", "web-99999999999999999999", "web-100000000000000000000"]
        );
    }

    #[test]
    fn batches_double_and_end_at_the_largest() {
        let mut sizes = BTreeMap::<usize, usize>::new();
        (0..300).for_each(|place| *sizes.entry(batch(place).0).or_default() += 1);
        assert_eq!(sizes.into_values().collect::<Vec<_>>(), [1, 2, 4, 8, 16, 32, 64, 64, 64, 45]);
    }
}
