//! Base64 and Basic credentials, which are all that needs it.

/// What stands behind `Basic ` (RFC 7617, 2).
pub fn basic(username: &str, password: &str) -> String {
    base64(format!("{username}:{password}").as_bytes())
}

/// RFC 4648, section 4, with padding.
fn base64(bytes: &[u8]) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_all_lengths() {
        for (plain, want) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("\u{3ff}\u{3ff}", "z7/Pvw==")]
        {
            assert_eq!(base64(plain.as_bytes()), want);
        }
        assert_eq!(basic("guest", "gäst"), "Z3Vlc3Q6Z8Okc3Q=");
    }
}
