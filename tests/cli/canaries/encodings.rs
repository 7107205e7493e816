//! Ways in which programs repeat a text, and a search for what is left of a secret in any of them. Made without
//! the program's own tables, which it is to test.

use std::fmt::Write as _;

use aho_corasick::AhoCorasick;

/// A way in which a server repeats what it was sent.
pub type Encode = fn(&str) -> String;

/// As the text of a JSON member `message`, unless it says otherwise.
pub const ALL: [(&str, Encode); 12] = [
    ("plain", |text| message(text)),
    ("text", |text| text.to_owned()),
    ("json in json", |text| message(&message(text))),
    ("json in ascii", |text| format!("{{\"message\": \"{}\"}}", ascii(text))),
    ("html", |text| message(&html(text))),
    ("repr", |text| message(&repr(text))),
    ("repr of bytes", |text| message(&repr_of_bytes(text))),
    ("repr of a repr", |text| message(&repr(&repr(text)))),
    ("percent", |text| message(&percent(text))),
    ("percent of json", |text| message(&percent(&message(text)))),
    ("base64", |text| message(&base64(text.as_bytes(), STANDARD))),
    ("hex", |text| message(&hex(text.as_bytes()))),
];

pub const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn message(text: &str) -> String {
    serde_json::json!({ "message": text }).to_string()
}

/// All but letters and digits by number.
fn ascii(text: &str) -> String {
    let unit = |unit: u16| match char::from_u32(unit.into()).filter(char::is_ascii_alphanumeric) {
        Some(c) => c.to_string(),
        None => format!("\\u{unit:04X}"),
    };
    text.encode_utf16().map(unit).collect()
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;").replace('\'', "&#x27;")
}

/// Python's, of a text that has both quotes.
fn repr(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n").replace('\r', "\\r");
    format!("'{text}'")
}

fn repr_of_bytes(text: &str) -> String {
    let mut out = String::from("b'");
    for byte in text.bytes() {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b'\'' => out.push_str("\\'"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b' '..=b'~' => out.push(char::from(byte)),
            byte => drop(write!(out, "\\x{byte:02x}")),
        }
    }
    out + "'"
}

fn percent(text: &str) -> String {
    let one = |byte: u8| match byte {
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02x}"),
    };
    text.bytes().map(one).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn base64(bytes: &[u8], alphabet: &[u8; 64]) -> String {
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | u32::from(chunk.get(at).copied().unwrap_or(0)));
        (0..=chunk.len()).for_each(|at| out.push(alphabet[(bits >> (18 - 6 * at) & 63) as usize].into()));
    }
    out
}

/// Finds any piece of secrets, in clear or encoded.
pub struct Search {
    pieces: Vec<String>,
    search: AhoCorasick,
}

/// So many characters of a secret are a piece of it that must not be seen.
const PIECE: usize = 9;

impl Search {
    pub fn new<'s>(secrets: impl IntoIterator<Item = &'s String>) -> Search {
        let mut pieces = Vec::new();
        for secret in secrets {
            // Letters and digits are themselves in most encodings.
            secret
                .split(|c: char| !c.is_ascii_alphanumeric())
                .for_each(|run| windows(run, PIECE, &mut pieces));
            for before in 0..3 {
                let shifted = [&b"\0\0"[..before], secret.as_bytes()].concat();
                for alphabet in [STANDARD, URL_SAFE] {
                    // Without the ends, which other bytes have a part in.
                    let whole = base64(&shifted, alphabet);
                    windows(&whole[4..whole.len() - 4], 12, &mut pieces);
                }
            }
            windows(&hex(secret.as_bytes()), 2 * PIECE, &mut pieces);
        }
        let search = AhoCorasick::builder().ascii_case_insensitive(false).build(&pieces).expect("few pieces");
        Search { pieces, search }
    }

    /// The first piece that stands in the text.
    pub fn found(&self, text: &str) -> Option<&str> {
        self.search.find(text).map(|found| self.pieces[found.pattern().as_usize()].as_str())
    }
}

fn windows(text: &str, length: usize, pieces: &mut Vec<String>) {
    let windows = text.as_bytes().windows(length).map(|window| String::from_utf8_lossy(window).into_owned());
    pieces.extend(windows);
}

#[test]
fn the_search_finds_each_encoding() {
    let secret = super::canary("found", super::BODY);
    let search = Search::new([&secret]);
    for (name, encode) in ALL {
        for before in ["", "a", "ab"] {
            let text = encode(&format!("{before}{secret} and more"));
            assert!(search.found(&text).is_some(), "{name}: {text}");
        }
    }
    assert!(search.found(&secret[3..14]).is_some());
    assert!(search.found("nothing of the sort").is_none());
}
