//! The address of a collection or an item: its path, in one canonical spelling.
//!
//! Segments alternate: `/teams` is a collection, `/teams/7` an item, `/teams/7/members` a collection again.
//! Each segment is kept percent-encoded, so that no name can change the shape of a path, and so that the
//! address is also the URL's path.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// A canonical path; the root is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(Arc<str>);

impl Key {
    /// The path above all collections.
    pub fn root() -> Key {
        Key::default()
    }

    /// A key as the store keeps it; `None` for a text that this module has not made.
    pub(super) fn stored(text: &str) -> Option<Key> {
        let mut segments = text.strip_prefix('/')?.split('/');
        let canonical = |segment: &str| decode(segment).is_some_and(|name| encode(&name) == segment);
        segments.all(canonical).then(|| Key(text.into()))
    }

    /// The address one segment further; `segment` is the decoded text.
    pub fn child(&self, segment: &str) -> Key {
        Key(format!("{}/{}", self.0, encode(segment)).into())
    }

    /// The address one segment up; the root's is the root.
    pub fn parent(&self) -> Key {
        self.0.rfind('/').map_or_else(Key::root, |at| Key(self.0[..at].into()))
    }

    /// The last segment, decoded.
    pub fn segment(&self) -> String {
        let last = self.0.rsplit('/').next().unwrap_or_default();
        decode(last).expect("a key holds only segments that were encoded here")
    }

    /// How many segments.
    pub fn depth(&self) -> usize {
        self.0.matches('/').count()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Percent-encodes all but the unreserved characters of RFC 3986 section 2.3.
pub fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(byte as char);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// Undoes percent-encoding, once; `None` for a broken escape or for bytes that are not UTF-8.
pub fn decode(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let high = char::from(bytes.next()?).to_digit(16)?;
            let low = char::from(bytes.next()?).to_digit(16)?;
            out.push((high * 16 + low) as u8);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_survives_whatever_it_holds() {
        for name in ["a", "a/b", "100%", "%2F", "ünï", "a b", "a+b", "?x=1#f", "a;b,c", "~-._"] {
            let key = Key::root().child("things").child(name);
            assert_eq!(key.segment(), name);
            assert_eq!(key.depth(), 2);
            assert_eq!(key.parent().as_str(), "/things");
        }
        assert_eq!(Key::root().child("spaces").child("a/b").as_str(), "/spaces/a%2Fb");
        assert_eq!(Key::root().child("a").parent(), Key::root());
        assert!(Key::stored("/spaces/a%2Fb").is_some());
        for text in ["", "spaces", "/a%2fb", "/a b", "/%zz"] {
            assert_eq!(Key::stored(text), None, "{text}");
        }
    }

    #[test]
    fn broken_escapes_are_refused() {
        for text in ["%", "%2", "%zz", "%ff", "a%c3"] {
            assert_eq!(decode(text), None, "{text}");
        }
        assert_eq!(decode("%252F").as_deref(), Some("%2F"));
    }
}
