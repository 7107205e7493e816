//! The forms in which one secret can stand in a text: as it is, and as encoders of other programs write it.
//!
//! A server's error repeats a password as JSON, a log line holds it in an URL, a header holds it in base64
//! behind a user name. The lists below are those encoders' habits; nothing here searches.

use std::collections::BTreeSet;

use super::decoded;
use super::escape;
use super::value::Value;

/// Below this many characters a secret is too common a text to be searched for inside others.
pub const SHORTEST: usize = 4;

/// A line of a secret of many lines is searched for by itself from this length on: what shows a text line
/// by line must not show a private key so.
const SHORTEST_LINE: usize = 8;

/// Every form of a secret that is worth searching for; none for one of fewer than [`SHORTEST`] characters.
pub fn all(secret: &str) -> BTreeSet<String> {
    let mut forms = BTreeSet::new();
    // A secret that was read from a file often ends in a line end that its users cut off.
    for text in [secret, secret.trim()] {
        if text.trim().chars().count() >= SHORTEST {
            forms.insert(text.to_owned());
            json(text, &mut forms);
            html(text, &mut forms);
            percent(text, &mut forms);
            base64(text.as_bytes(), &mut forms);
            base32(text.as_bytes(), &mut forms);
            hex(text.as_bytes(), &mut forms);
            doubled(text, &mut forms);
            forms.insert(escape::inline(text).into_owned());
            forms.insert(text.escape_debug().to_string());
        }
    }
    let lines: Vec<&str> = secret.lines().map(str::trim).collect();
    if lines.len() > 1 {
        for line in lines.into_iter().filter(|line| line.chars().count() >= SHORTEST_LINE) {
            forms.insert(line.to_owned());
            json(line, &mut forms);
            html(line, &mut forms);
            percent(line, &mut forms);
        }
    }
    forms
}

/// What is left of a secret when its escapes are undone although it has none, and its bytes in Latin-1: what a
/// text is searched for once its own escapes are undone.
pub fn bytes(secret: &str) -> BTreeSet<Vec<u8>> {
    let mut found = BTreeSet::new();
    for text in [secret, secret.trim()].into_iter().filter(|text| text.trim().chars().count() >= SHORTEST) {
        let layers = decoded::layers(text.as_bytes()).into_iter().map(|layer| layer.bytes);
        for bytes in std::iter::once(text.as_bytes().to_vec()).chain(layers) {
            let text = String::from_utf8_lossy(&bytes);
            found.extend(text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect::<Option<Vec<u8>>>());
            found.insert(bytes);
        }
    }
    found.retain(|bytes| bytes.len() >= SHORTEST);
    found
}

/// In hexadecimal, as dumps show it.
fn hex(bytes: &[u8], forms: &mut BTreeSet<String>) {
    let lower: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    forms.insert(lower.to_uppercase());
    forms.insert(lower);
}

/// With quotes doubled, as in SQL and CSV, or as shells write them.
fn doubled(text: &str, forms: &mut BTreeSet<String>) {
    forms.insert(text.replace('\'', "''"));
    forms.insert(text.replace('"', "\"\""));
    forms.insert(text.replace('\'', r"'\''"));
    forms.insert(text.replace('\'', "'\"'\"'"));
}

/// Inside a JSON string: plain, with `/` escaped, for HTML (as Go does), in ASCII (as Python does).
fn json(text: &str, forms: &mut BTreeSet<String>) {
    let quoted = Value::String(text.to_owned()).to_string();
    let plain = quoted[1..quoted.len() - 1].to_owned();
    forms.insert(plain.replace('/', "\\/"));
    let mut for_html = String::new();
    let (mut lower, mut upper) = (String::new(), String::new());
    for c in plain.chars() {
        match c {
            '<' | '>' | '&' => for_html.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => for_html.push(c),
        }
        if c.is_ascii() {
            lower.push(c);
            upper.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                lower.push_str(&format!("\\u{unit:04x}"));
                upper.push_str(&format!("\\u{unit:04X}"));
            }
        }
    }
    forms.extend([plain, for_html, lower, upper]);
}

/// As text of an HTML page; encoders differ in how they write the two quotes.
fn html(text: &str, forms: &mut BTreeSet<String>) {
    let base = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    for double in ["\"", "&quot;", "&#34;"] {
        for single in ["'", "&#39;", "&#x27;", "&apos;"] {
            forms.insert(base.replace('"', double).replace('\'', single));
        }
    }
}

/// What this program leaves bare in the value of a query, besides letters, digits and `-._~`.
pub const BARE_IN_QUERY: &[u8] = b",:/@";

/// In a URL: what stays bare differs with the part of the URL and with the encoder.
fn percent(text: &str, forms: &mut BTreeSet<String>) {
    const UNRESERVED: &[u8] = b"-._~";
    const COMPONENT: &[u8] = b"-._~!'()*";
    const FORM: &[u8] = b"-._*";
    const SEGMENT: &[u8] = b"-._~!$&'()*+,;=:@";
    const QUERY: &[u8] = b"-._~!$&'()*+,;=:@/?";
    // Python's `quote`, and JavaScript's `encodeURI`.
    const QUOTE: &[u8] = b"-._~/";
    const URI: &[u8] = b"-._~!$&'()*+,;=:@/?#";
    let ours = [UNRESERVED, BARE_IN_QUERY].concat();
    for bare in [UNRESERVED, COMPONENT, FORM, SEGMENT, QUERY, QUOTE, URI, &ours] {
        for upper in [true, false] {
            let encoded: String = text
                .bytes()
                .map(|b| match b {
                    b if b.is_ascii_alphanumeric() || bare.contains(&b) => char::from(b).to_string(),
                    b if upper => format!("%{b:02X}"),
                    b => format!("%{b:02x}"),
                })
                .collect();
            forms.insert(encoded.replace("%20", "+"));
            forms.insert(encoded);
        }
    }
}

/// In base64 of either alphabet: whole, and the characters that are the secret's alone when it stands at any
/// of the three alignments inside a longer text (`user:password`, say).
fn base64(bytes: &[u8], forms: &mut BTreeSet<String>) {
    const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for alphabet in [STANDARD, URL_SAFE] {
        let whole = encode(bytes, alphabet);
        let padding = "=".repeat((4 - whole.len() % 4) % 4);
        forms.insert(format!("{whole}{padding}"));
        forms.insert(whole);
        for before in 0..3 {
            let mut shifted = vec![0; before];
            shifted.extend_from_slice(bytes);
            let first = (before * 8).div_ceil(6);
            let end = shifted.len() * 8 / 6;
            forms.insert(encode(&shifted, alphabet)[first..end].to_owned());
        }
    }
}

/// Base32 (RFC 4648, section 6), behind any text: without what its neighbours have a part in.
fn base32(bytes: &[u8], forms: &mut BTreeSet<String>) {
    const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    for before in 0..5 {
        let mut shifted = vec![0; before];
        shifted.extend_from_slice(bytes);
        let bit = |at: usize| shifted[at / 8] >> (7 - at % 8) & 1;
        let whole = (before * 8).div_ceil(5)..shifted.len() * 8 / 5;
        let digit = |at: usize| (at * 5..at * 5 + 5).fold(0, |bits, at| bits << 1 | bit(at));
        let text: String = whole.map(|at| char::from(ALPHABET[usize::from(digit(at))])).collect();
        if text.len() >= SHORTEST_LINE {
            forms.insert(text.to_lowercase());
            forms.insert(text);
        }
    }
}

/// RFC 4648, sections 4 and 5, without padding.
fn encode(bytes: &[u8], alphabet: &[u8; 64]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0u32, |bits, b| bits << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
        for i in 0..=chunk.len() {
            text.push(char::from(alphabet[(bits >> (18 - 6 * i) & 63) as usize]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_rfc() {
        let standard = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        for (plain, encoded) in [
            ("", ""),
            ("f", "Zg"),
            ("fo", "Zm8"),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg"),
            ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(plain.as_bytes(), standard), encoded);
        }
    }

    #[test]
    fn base32_is_that_of_the_rfc_behind_any_text() {
        let forms = all("foobarfoo");
        // Behind nothing, `x`, `xx`, …; the last digit is shared with what follows.
        for text in
            ["MZXW6YTBOJTG63Y=", "PBTG633CMFZGM33P", "PB4GM33PMJQXEZTPN4======", "PB4HQZTPN5RGC4TGN5XQ===="]
        {
            assert!(forms.iter().any(|form| text.contains(form.as_str())), "{text}: {forms:?}");
        }
        assert!(forms.contains("mzxw6ytbojtg63"));
    }

    #[test]
    fn each_encoder_is_known() {
        let forms = all("pä ss/\"<'&+");
        for form in [
            "pä ss/\"<'&+",
            r#"pä ss/\"<'&+"#,
            r#"pä ss\/\"<'&+"#,
            r#"p\u00e4 ss/\"<'&+"#,
            r#"p\u00E4 ss/\"<'&+"#,
            r#"pä ss/\"\u003c'\u0026+"#,
            "pä ss/&quot;&lt;&#39;&amp;+",
            "pä ss/&#34;&lt;&#x27;&amp;+",
            "p%C3%A4%20ss%2F%22%3C%27%26%2B",
            "p%c3%a4+ss%2f%22%3c%27%26%2b",
            "p%C3%A4%20ss/%22%3C'&+",
            "p%C3%A4%20ss/%22%3C%27%26%2B",
            "cMOkIHNzLyI8JyYr",
            "70c3a42073732f223c27262b",
            "70C3A42073732F223C27262B",
            "pä ss/\"<''&+",
            "pä ss/\"\"<'&+",
            "pä ss/\"<'\\''&+",
        ] {
            assert!(forms.contains(form), "{form}");
        }
    }

    #[test]
    fn short_secrets_have_no_forms_and_long_ones_have_their_lines() {
        assert!(all("abc").is_empty());
        assert!(all(" a\n").is_empty());
        assert!(all("pass \"w/1\nsecond").contains(r#"pass \"w/1"#));
        let forms = all("-----BEGIN KEY-----\nMIIEvQIBADAN\nend\n");
        assert!(forms.contains("MIIEvQIBADAN"));
        assert!(!forms.contains("end"));
        assert!(forms.contains("-----BEGIN KEY-----\nMIIEvQIBADAN\nend"));
    }
}
