//! A digest of 128 bits: enough to tell "the same as before" apart from "another", and of no use to learn a value.

use std::fmt;

use ring::digest::{SHA256, digest};

use super::value::{Value, canonical_text};

/// The first half of a SHA-256. Two values with one digest are taken for equal: the chance of a wrong match among
/// 2^40 values is below 2^-48.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(pub u128);

impl Digest {
    pub fn of_bytes(bytes: &[u8]) -> Digest {
        let whole = digest(&SHA256, bytes);
        let mut half = [0; 16];
        half.copy_from_slice(&whole.as_ref()[..16]);
        Digest(u128::from_be_bytes(half))
    }

    /// Of a value as it compares: the order of members and the spelling of numbers make no difference.
    pub fn of_value(value: &Value) -> Digest {
        Digest::of_bytes(canonical_text(value).as_bytes())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equal_values_have_one_digest_and_others_another() {
        assert_eq!(
            Digest::of_value(&json!({"a": 1, "b": 2})),
            Digest::of_value(&json!({"b": 2, "a": 1})),
            "order of members"
        );
        assert_ne!(Digest::of_value(&json!([1, 2])), Digest::of_value(&json!([2, 1])));
        assert_eq!(Digest::of_bytes(b"abc").0 >> 96, 0xba78_16bf, "SHA-256 of `abc` begins so");
    }
}
