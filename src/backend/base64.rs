//! Base64, for Basic credentials and for pins.

/// What stands behind `Basic ` (RFC 7617, 2).
pub fn basic(username: &str, password: &str) -> String {
    base64(format!("{username}:{password}").as_bytes())
}

/// RFC 4648, section 4, with padding.
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize];
            out.push(if at <= chunk.len() { digit as char } else { '=' });
        }
    }
    out
}

/// Text of this program's own making or of a person's, read back. All that is not canonical is refused: two spellings
/// of one pin would look like two.
pub fn decoded(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for chunk in text.trim_end_matches('=').as_bytes().chunks(4) {
        let mut bits = 0_u32;
        for at in 0..4 {
            bits = bits << 6 | u32::from(chunk.get(at).map_or(Some(0), |byte| digit(*byte))?);
        }
        bytes.extend(bits.to_be_bytes()[1..].iter().take(chunk.len() * 3 / 4));
    }
    (base64(&bytes) == text).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_all_lengths() {
        for (plain, want) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("\u{3ff}\u{3ff}", "z7/Pvw==")]
        {
            assert_eq!(base64(plain.as_bytes()), want);
            assert_eq!(decoded(want).as_deref(), Some(plain.as_bytes()));
        }
        for text in ["Zg", "Zg=", "Zg===", "Zh==", "Z", "Zm9v=", "Zm 9v", "Zm9v\n", "Zm-v", "=", "Zm=v"] {
            assert_eq!(decoded(text), None, "{text}");
        }
        assert_eq!(basic("guest", "gäst"), "Z3Vlc3Q6Z8Okc3Q=");
    }
}
