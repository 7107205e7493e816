//! JSON values with exact numbers.
//!
//! A value is `serde_json`'s, with every digit of a number kept as written. Its own `==` compares those
//! digits as text, so nothing in the core may use it on values: [`equal`] is the equality of the tool.

use std::cmp::Ordering;

pub use serde_json::{Map, Number, Value};

use super::mutant::planted;

/// Whether two values are equal: maps without order, lists in order, numbers by their exact decimal value
/// (`1`, `1.0` and `1e0` are one number; nothing passes through a float).
pub fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => number_equal(a, b),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((ka, a), (kb, b))| ka == kb && equal(a, b))
        }
        (a, b) => a == b,
    }
}

/// Whether two numbers are the same decimal value.
pub fn number_equal(a: &Number, b: &Number) -> bool {
    let (a, b) = (a.as_str(), b.as_str());
    let same = || Decimal::of(a).is_some_and(|a| Decimal::of(b).is_some_and(|b| a == b));
    a == b || (!planted!(M18) && same())
}

/// The text of a number in its one canonical spelling: no exponent while it stays short, no trailing zero.
pub fn number_text(number: &Number) -> String {
    Decimal::of(number.as_str()).map_or_else(|| number.as_str().to_owned(), |decimal| decimal.to_string())
}

/// A copy in which every number has its canonical spelling, so that equal values have equal text.
pub fn canonical(value: &Value) -> Value {
    match value {
        Value::Number(n) => number_text(n).parse().map_or_else(|_| value.clone(), Value::Number),
        Value::Array(items) => items.iter().map(canonical).collect(),
        Value::Object(map) => Value::Object(map.iter().map(|(k, v)| (k.clone(), canonical(v))).collect()),
        other => other.clone(),
    }
}

/// Compact JSON of the canonical form: equal values, and only they, have equal text.
pub fn canonical_text(value: &Value) -> String {
    canonical(value).to_string()
}

/// A total order for stable output; equal values compare as equal.
pub fn compare(a: &Value, b: &Value) -> Ordering {
    canonical_text(a).cmp(&canonical_text(b))
}

/// A scalar as it stands in a name or a path: strings bare, numbers in full, everything else as JSON.
pub fn plain_text(value: &Value) -> String {
    match value {
        Value::String(s) => s.clone(),
        Value::Number(n) => number_text(n),
        other => canonical_text(other),
    }
}

/// The JSON type of a value, as messages name it.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

/// A decimal number taken apart: sign, significant digits without zeros at either end, power of ten.
#[derive(PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    /// The power of ten of the last digit.
    exponent: i64,
}

impl Decimal {
    /// `None` where the exponent is beyond `i64`: such a number is equal to its own text alone.
    fn of(text: &str) -> Option<Decimal> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, power) = match rest.find(['e', 'E']) {
            Some(at) => (&rest[..at], rest[at + 1..].parse::<i64>().ok()),
            None => (rest, Some(0)),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let significant = all.trim_start_matches('0');
        let digits = significant.trim_end_matches('0');
        if digits.is_empty() {
            return Some(Decimal { negative: false, digits: "0".into(), exponent: 0 });
        }
        let dropped = (significant.len() - digits.len()) as i64;
        let exponent = power?.checked_sub(fraction.len() as i64)?.checked_add(dropped)?;
        // So that it can be negated.
        (exponent != i64::MIN).then(|| Decimal { negative, digits: digits.into(), exponent })
    }
}

/// Beyond this many zeros a number is written with an exponent, so that `1e999999999` stays small.
const LONGEST_RUN_OF_ZEROS: i64 = 40;

impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.negative {
            f.write_str("-")?;
        }
        let len = self.digits.len() as i64;
        match self.exponent {
            e if (0..=LONGEST_RUN_OF_ZEROS).contains(&e) => {
                write!(f, "{}{}", self.digits, "0".repeat(e as usize))
            }
            e if e < 0 && -e < len => {
                let (whole, fraction) = self.digits.split_at((len + e) as usize);
                write!(f, "{whole}.{fraction}")
            }
            e if e < 0 && -e - len <= LONGEST_RUN_OF_ZEROS => {
                write!(f, "0.{}{}", "0".repeat((-e - len) as usize), self.digits)
            }
            e => write!(f, "{}e{e}", self.digits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        serde_json::from_str(text).expect("a JSON text")
    }

    #[test]
    fn numbers_are_equal_by_value() {
        for (a, b) in [
            ("1", "1.0"),
            ("1", "1e0"),
            ("100", "1e2"),
            ("-0", "0"),
            ("0.10", "1e-1"),
            ("10e999999998", "1e999999999"),
            ("0e99999999999999999999", "0"),
            ("1e-9223372036854775808", "1e-9223372036854775808"),
            ("18446744073709551616", "18446744073709551616.0"),
        ] {
            assert!(equal(&value(a), &value(b)), "{a} = {b}");
            assert_eq!(canonical_text(&value(a)), canonical_text(&value(b)));
        }
    }

    #[test]
    fn numbers_keep_every_digit() {
        for (a, b) in [
            ("9007199254740993", "9007199254740992"),
            ("18446744073709551616", "18446744073709551617"),
            ("0.1", "0.10000000000000000001"),
            ("1", "-1"),
            ("1", "10"),
            ("1", "1e999999999"),
            ("1e999999999", "1e-999999999"),
            ("1e99999999999999999999", "1e99999999999999999998"),
            ("1e99999999999999999999", "1e-99999999999999999999"),
        ] {
            assert!(!equal(&value(a), &value(b)), "{a} /= {b}");
        }
        assert_eq!(plain_text(&value("5350200")), "5350200");
        assert_eq!(plain_text(&value("5.3502e6")), "5350200");
        assert_eq!(plain_text(&value("1e-3")), "0.001");
        assert_eq!(plain_text(&value("12.50")), "12.5");
        assert_eq!(plain_text(&value("1e999999999999")), "1e999999999999");
    }

    #[test]
    fn other_types_differ() {
        assert!(!equal(&value("1"), &value("\"1\"")));
        assert!(!equal(&value("null"), &value("false")));
        assert!(equal(&value(r#"{"a":[1,{"b":2.0}]}"#), &value(r#"{"a":[1.0,{"b":2}]}"#)));
        assert!(!equal(&value(r#"{"a":1}"#), &value(r#"{"b":1}"#)));
    }
}
