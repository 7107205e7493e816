//! Equality by meaning: what a comparer makes of a value, one file for each.
//!
//! A comparer folds a value to a normal form, and two values are the same when their normal forms are equal.
//! What a comparer does not understand stays as it is, so garbage compares as text. Nothing here decides what
//! is sent: that is always the user's own value.

mod cidr;
mod duration;
mod quantity;
pub(crate) mod timestamp;
mod url;

use super::fields::Comparer;
use super::filter::Vars;
use super::value::{Value, equal};

/// Whether `a` and `b` are the same in the eyes of the comparer.
pub fn same(comparer: Option<&Comparer>, a: &Value, b: &Value) -> bool {
    equal(a, b) || comparer.is_some_and(|comparer| equal(&fold(comparer, a), &fold(comparer, b)))
}

/// The normal form of a value. The comparers of lists (`set`, `ordered`, `key=`) leave it alone: they say how
/// elements find each other, not what an element is. So does a filter that fails or gives nothing.
pub fn fold(comparer: &Comparer, value: &Value) -> Value {
    normal(comparer, value).unwrap_or_else(|| value.clone())
}

/// Whether the comparer makes sense of a value, which it would else leave as it is: those of lists want a list.
pub fn understands(comparer: &Comparer, value: &Value) -> bool {
    match comparer {
        Comparer::Set | Comparer::Ordered | Comparer::KeyedBy(_) => value.is_array(),
        other => normal(other, value).is_some(),
    }
}

fn normal(comparer: &Comparer, value: &Value) -> Option<Value> {
    match comparer {
        Comparer::Set | Comparer::Ordered | Comparer::KeyedBy(_) => None,
        Comparer::Quantity => quantity::normal(value),
        Comparer::Duration => text(value).and_then(duration::normal),
        Comparer::Timestamp => text(value).and_then(timestamp::normal),
        Comparer::Cidr => text(value).and_then(cidr::normal),
        Comparer::Url => text(value).and_then(url::normal),
        Comparer::Filter(filter) => filter.one(value, &Vars::default()).ok().flatten(),
    }
}

/// An RFC 3339 time in UTC, as the comparer `timestamp` writes it; `None` for another text.
pub fn utc(text: &str) -> Option<Value> {
    timestamp::normal(text.trim())
}

fn text(value: &Value) -> Option<&str> {
    value.as_str().map(str::trim)
}

/// Table tests of the comparers: every pair of a row is the same, or none is.
#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.into()))
    }

    #[track_caller]
    pub(super) fn check(comparer: &Comparer, equal: &[&[&str]], different: &[(&str, &str)]) {
        for row in equal {
            for pair in row.windows(2) {
                assert!(same(Some(comparer), &value(pair[0]), &value(pair[1])), "{} = {}", pair[0], pair[1]);
            }
        }
        for (a, b) in different {
            assert!(!same(Some(comparer), &value(a), &value(b)), "{a} /= {b}");
        }
        for text in equal.iter().copied().flatten() {
            let once = fold(comparer, &value(text));
            assert!(super::equal(&once, &fold(comparer, &once)), "the normal form of {text} is its own");
        }
    }

    #[test]
    fn without_a_comparer_values_are_equal_as_they_stand() {
        assert!(same(None, &value("1"), &value("1.0")));
        assert!(!same(None, &value("1"), &value("\"1\"")));
        assert!(!same(Some(&Comparer::Set), &value("[1,2]"), &value("[2,1]")));
    }
}
