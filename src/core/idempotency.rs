//! Idempotency keys: names for requests, by which a server knows one that it has seen.
//!
//! A key is computed, never stored: a run that was killed and the run after it compute the same one, so what the
//! first may have sent is not done twice. It is a UUID (RFC 9562, version 8) made of the SHA-256 of
//!
//! - the request's address, whose origin is the server and which has the ids of the parents in it,
//! - the object's identity,
//! - what is wanted of it, in which [`SECRET`] stands for each secret,
//! - the generation, from 0: the next one is taken when a server goes on to answer from a memory that is of no use.
//!
//! Secrets are left out, although a hash cannot be turned round: keys stand in logs that bodies never reach, and a
//! short password could be guessed against one, as all else that went into the key may be known. The price is that
//! another password makes no other key. A server that compares what was sent says so, and gets the next generation;
//! and a create is only sent where a look has found nothing.
//!
//! [`SECRET`]: super::scrub::SECRET

use ring::digest::{Context, SHA256, digest};

use super::identity::ObjectId;
use super::mutant::planted;
use super::path::Path;
use super::value::{Value, canonical_text};

/// Where a create carries its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Idempotency {
    /// `Idempotency-Key`, say.
    Header(String),
    /// A parameter of the query (AIP-155's `request_id`).
    Query(String),
    /// A member of the body, after the operation's filter.
    Body(Path),
}

/// What a key is made of besides the request's address and the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    desired: [u8; 32],
    generation: u32,
}

impl Attempt {
    /// A create of this body, whose secrets are covered.
    pub fn new(covered: &Value, generation: u32) -> Attempt {
        let hash = digest(&SHA256, canonical_text(covered).as_bytes());
        let mut desired = [0; 32];
        desired.copy_from_slice(hash.as_ref());
        Attempt { desired, generation }
    }

    /// The key of a create of `id` at this address, without what the key itself adds to it.
    pub fn key(&self, address: &str, id: &ObjectId) -> String {
        let generation = if planted!(M20) { 0 } else { self.generation };
        let key = id.key.parts().iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
        let mut context = Context::new(&SHA256);
        let texts = [address, &id.kind.backend, &id.kind.kind, &canonical_text(&Value::Object(key))];
        for text in texts {
            // With its length in front, no text can end in the next one's beginning.
            context.update(&(text.len() as u64).to_be_bytes());
            context.update(text.as_bytes());
        }
        context.update(&self.desired);
        context.update(&generation.to_be_bytes());
        uuid(context.finish().as_ref())
    }
}

/// The first 16 bytes as a UUID of version 8: one whose bits mean what its maker wants (RFC 9562, 5.8).
fn uuid(hash: &[u8]) -> String {
    let mut text = String::with_capacity(36);
    for (at, byte) in hash.iter().take(16).enumerate() {
        let byte = match at {
            6 => byte & 0x0f | 0x80,
            8 => byte & 0x3f | 0x80,
            _ => *byte,
        };
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::json;

    use super::*;
    use crate::core::identity::{Key, KindName};

    fn id(name: &str) -> ObjectId {
        let kind = KindName { backend: "shop".into(), kind: "Team".into() };
        ObjectId { kind, key: Key::new(vec![("name".into(), json!(name))]) }
    }

    #[test]
    fn a_key_is_the_same_in_every_run() {
        let key = Attempt::new(&json!({"a": 1, "b": 2}), 0).key("https://host/teams", &id("x"));
        assert_eq!(key, Attempt::new(&json!({"b": 2, "a": 1}), 0).key("https://host/teams", &id("x")));
        assert_eq!(key.len(), 36);
        assert_eq!((&key[14..15], &key[8..9]), ("8", "-"), "{key}");
        assert!(matches!(&key[19..20], "8" | "9" | "a" | "b"), "{key}");
    }

    #[test]
    fn whatever_differs_makes_another_key() {
        let body = json!({"a": 1});
        let keys = [
            Attempt::new(&body, 0).key("https://host/teams", &id("x")),
            Attempt::new(&body, 1).key("https://host/teams", &id("x")),
            Attempt::new(&json!({"a": 2}), 0).key("https://host/teams", &id("x")),
            Attempt::new(&body, 0).key("https://other/teams", &id("x")),
            Attempt::new(&body, 0).key("https://host/teams", &id("y")),
            Attempt::new(&body, 0).key("https://host/teamsshop", &id("x")),
        ];
        assert_eq!(keys.iter().collect::<HashSet<_>>().len(), keys.len(), "{keys:?}");
    }
}
