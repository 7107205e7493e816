//! One side of a change, short enough for a line.

use crate::core::change::Shown;
use crate::core::value::Value;

use super::words::counted;

/// The most characters of a value that stand on a line whole.
pub const LONGEST: usize = 60;

/// How many characters of a longer value are shown.
const HEAD: usize = 40;

/// A side of a change in words. `both` is whether the other side is there too.
pub fn side(shown: &Shown, both: bool) -> String {
    match shown {
        Shown::Value(value) => brief(value),
        Shown::Secret if both => "(secret, changed)".into(),
        Shown::Secret => "(secret)".into(),
        Shown::Later(text) => format!("(known after {} is there)", object_of(text)),
    }
}

/// The object that a reference as written names: `Team/platform` of `Team/platform .id`.
fn object_of(reference: &str) -> &str {
    match reference.split_once(' ') {
        Some((object, field)) if field.trim_start().starts_with(['.', '[']) => object,
        _ => reference,
    }
}

/// Compact JSON; of a long value the beginning, its size, and a hash that tells two such values apart.
pub fn brief(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().nth(LONGEST).is_none() {
        return text;
    }
    let head: String = text.chars().take(HEAD).collect();
    let (close, size) = match value {
        Value::String(text) => ("\"", counted(text.chars().count(), "character")),
        Value::Array(items) => ("]", counted(items.len(), "item")),
        Value::Object(map) => ("}", counted(map.len(), "field")),
        _ => ("", counted(text.len(), "digit")),
    };
    format!("{head}…{close} ({size}, #{:08x})", hash(text.as_bytes()))
}

/// FNV-1a, folded to 32 bits: not for safety, only to see at a glance that two values differ.
fn hash(bytes: &[u8]) -> u32 {
    let wide = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (wide ^ (wide >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn short_values_stand_whole() {
        for (value, text) in [
            (json!("old"), r#""old""#),
            (json!(60000), "60000"),
            (json!(false), "false"),
            (json!(null), "null"),
            (json!(""), r#""""#),
            (json!([1, "b", {}]), r#"[1,"b",{}]"#),
            (json!("a\nb"), r#""a\nb""#),
        ] {
            assert_eq!(brief(&value), text);
        }
        let digits: Value = serde_json::from_str("1.10000000000000000000001").expect("a number");
        assert_eq!(brief(&digits), "1.10000000000000000000001");
    }

    #[test]
    fn long_values_say_how_long_and_which() {
        insta::assert_snapshot!(
            brief(&json!("x".repeat(10_000_000))),
            @r#""xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…" (10,000,000 characters, #f1dd0940)"#
        );
        let (a, b) = (json!(vec!["x"; 50]), json!(vec!["x"; 51]));
        insta::assert_snapshot!(brief(&a), @r#"["x","x","x","x","x","x","x","x","x","x"…] (50 items, #0a7b72c9)"#);
        assert_ne!(brief(&a), brief(&b));
        let many: Value =
            (0..1000).map(|i| (format!("key{i:04}"), json!(i))).collect::<serde_json::Map<_, _>>().into();
        insta::assert_snapshot!(brief(&many), @r#"{"key0000":0,"key0001":1,"key0002":2,"ke…} (1,000 fields, #118a910a)"#);
    }

    #[test]
    fn what_has_no_value_yet_says_so() {
        assert_eq!(side(&Shown::Secret, true), "(secret, changed)");
        assert_eq!(side(&Shown::Secret, false), "(secret)");
        let later = |text: &str| side(&Shown::Later(text.into()), false);
        assert_eq!(later("Team/platform .id"), "(known after Team/platform is there)");
        assert_eq!(later("{kind: Team, name: a}"), "(known after {kind: Team, name: a} is there)");
    }
}
