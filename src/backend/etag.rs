//! Version tokens out of ETags (RFC 9110, 8.8.3), and which of them can guard a write.

use crate::core::exchange::VersionToken;

/// What proxies put at the end of a tag when they compress: the origin does not know such a tag.
const PROXY_SUFFIXES: [&str; 3] = ["-gzip\"", ";gzip\"", "-br\""];

/// The token of an `ETag` header; `None` for what is no tag. Such a header is taken for none.
///
/// A space inside is let through: servers exist that send it, and take it back.
pub fn token(header: &str) -> Option<VersionToken> {
    let header = header.trim();
    let opaque = header.strip_prefix("W/").unwrap_or(header);
    let inner = opaque.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains(|c: char| c == '"' || c.is_control()) {
        return None;
    }
    let touched = PROXY_SUFFIXES.iter().any(|suffix| opaque.ends_with(suffix));
    Some(VersionToken { text: header.into(), weak: header.len() != opaque.len() || touched })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags() {
        for (header, weak) in [
            (r#""abc""#, Some(false)),
            (r#" "" "#, Some(false)),
            (r#""/config/apps 2ddd4a""#, Some(false)),
            (r#"W/"abc""#, Some(true)),
            (r#""abc-gzip""#, Some(true)),
            (r#""abc--gzip""#, Some(true)),
            (r#""abc;gzip""#, Some(true)),
            ("abc", None),
            (r#""a", "b""#, None),
            ("\"a\r\nX: y\"", None),
            (r#"""#, None),
            (r#"w/"abc""#, None),
            ("*", None),
            ("", None),
        ] {
            assert_eq!(token(header).map(|token| token.weak), weak, "{header}");
        }
        assert_eq!(token(r#"W/"a""#).map(|token| token.text), Some(r#"W/"a""#.into()));
    }
}
