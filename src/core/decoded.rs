//! Texts as those read them who undo escapes: a secret that was escaped character by character, in whatever
//! mixture of ways, is found in what is left.
//!
//! Encoders have habits, and [`forms`](super::forms) lists them; but a debugger's `repr`, an error inside a JSON
//! text inside a page, or a log that escapes once more mix them freely. So escapes of all kinds are undone at
//! once, layer by layer, and each byte knows where it comes from.

/// So many escapes inside one another are undone.
pub const LAYERS: usize = 3;

/// The bytes of a text with one layer of escapes undone, and where each of them begins in the text.
pub struct Decoded {
    pub bytes: Vec<u8>,
    /// One for each byte, and one more for the end.
    pub from: Vec<usize>,
}

impl Decoded {
    /// A text as it is.
    fn plain(text: &[u8]) -> Decoded {
        Decoded { bytes: text.into(), from: (0..=text.len()).collect() }
    }

    /// The next layer; `None` where there is nothing to undo.
    fn next(&self) -> Option<Decoded> {
        let mut next = Decoded { bytes: Vec::new(), from: Vec::new() };
        let (mut at, mut changed) = (0, false);
        while at < self.bytes.len() {
            let rest = &self.bytes[at..];
            match escape(rest) {
                Some((text, length)) => {
                    next.bytes.extend_from_slice(&text);
                    next.from.extend(text.iter().map(|_| self.from[at]));
                    at += length;
                    changed = true;
                }
                None => {
                    next.bytes.push(rest[0]);
                    next.from.push(self.from[at]);
                    at += 1;
                }
            }
        }
        next.from.push(*self.from.last()?);
        changed.then_some(next)
    }
}

/// Whether a text may have an escape in it.
fn may_hold_escapes(text: &[u8]) -> bool {
    text.iter().any(|byte| matches!(byte, b'\\' | b'%' | b'&'))
}

/// A text with one, two, … layers of escapes undone; the text itself is none of them.
pub fn layers(text: &[u8]) -> Vec<Decoded> {
    let mut layers: Vec<Decoded> = Vec::new();
    if !may_hold_escapes(text) {
        return layers;
    }
    let mut layer = Decoded::plain(text).next();
    while let Some(decoded) = layer.filter(|_| layers.len() < LAYERS) {
        layer = decoded.next();
        layers.push(decoded);
    }
    layers
}

/// The shortest piece of a text that is taken for base64 or hexadecimal.
const SHORTEST_PACKED: usize = 16;

/// A piece of a text that may be base64 or hexadecimal, and a reading of it.
pub struct Packed {
    pub start: usize,
    pub end: usize,
    pub bytes: Vec<u8>,
}

/// All readings of all pieces: what is packed whole, as a dump of a request, holds its secrets escaped as they
/// were in there.
pub fn packed(text: &[u8]) -> impl Iterator<Item = Packed> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
    let mut at = 0;
    let runs = std::iter::from_fn(move || {
        let start = at + text.get(at..)?.iter().position(is_part)?;
        at = text[start..].iter().position(|byte| !is_part(byte)).map_or(text.len(), |length| start + length);
        Some((start, at))
    });
    runs.filter(|(start, end)| end - start >= SHORTEST_PACKED).flat_map(|(start, end)| {
        let run = &text[start..end];
        // What stands before it without a gap shifts it.
        let readings = (0..4).map(|skip| base64(&run[skip..])).chain((0..2).map(|skip| dump(&run[skip..])));
        readings.flatten().map(move |bytes| Packed { start, end, bytes })
    })
}

/// Base64 of either alphabet, as far as it goes without its end.
fn base64(run: &[u8]) -> Option<Vec<u8>> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        _ => 63,
    };
    let mut bytes = Vec::with_capacity(run.len() * 3 / 4);
    for chunk in run.chunks(4).filter(|chunk| chunk.len() > 1) {
        let bits =
            chunk.iter().fold(0, |bits, byte| bits << 6 | u32::from(value(*byte))) << (6 * (4 - chunk.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..chunk.len()]);
    }
    Some(bytes)
}

fn dump(run: &[u8]) -> Option<Vec<u8>> {
    run.chunks_exact(2).map(|pair| u8::try_from(hex(pair)?).ok()).collect()
}

/// What the escape stands for with which these bytes begin, and how long it is.
fn escape(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    match bytes[0] {
        b'\\' => backslash(bytes),
        b'%' => Some((vec![u8::try_from(hex(bytes.get(1..3)?)?).ok()?], 3)),
        b'&' => entity(bytes),
        _ => None,
    }
}

/// JSON, JavaScript, Python, C, Rust and shells.
fn backslash(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let one = |byte: u8| Some((vec![byte], 2));
    match *bytes.get(1)? {
        b'n' => one(b'\n'),
        b'r' => one(b'\r'),
        b't' => one(b'\t'),
        b'b' => one(8),
        b'f' => one(12),
        b'v' => one(11),
        b'a' => one(7),
        b'e' => one(27),
        b'x' => Some((vec![u8::try_from(hex(bytes.get(2..4)?)?).ok()?], 4)),
        b'u' if bytes.get(2) == Some(&b'{') => {
            let end = bytes.iter().take(12).position(|byte| *byte == b'}')?;
            Some((utf8(hex(&bytes[3..end])?)?, end + 1))
        }
        b'u' => {
            let first = hex(bytes.get(2..6)?)?;
            let second = bytes.get(6..8).filter(|next| *next == b"\\u").and_then(|_| hex(bytes.get(8..12)?));
            match (first, second) {
                (0xd800..=0xdbff, Some(low @ 0xdc00..=0xdfff)) => {
                    Some((utf8(0x1_0000 + ((first - 0xd800) << 10) + (low - 0xdc00))?, 12))
                }
                _ => Some((utf8(first)?, 6)),
            }
        }
        b'U' => Some((utf8(hex(bytes.get(2..10)?)?)?, 10)),
        b'0'..=b'7' => {
            let digits = bytes[1..].iter().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
            let value = bytes[1..=digits].iter().fold(0, |value, byte| value * 8 + u32::from(byte - b'0'));
            Some((vec![u8::try_from(value).ok()?], digits + 1))
        }
        // `\"`, `\\`, `\/`, and whatever a shell escapes so.
        other if other.is_ascii_punctuation() || other == b' ' => one(other),
        _ => None,
    }
}

/// HTML and XML: by number, and the names that encoders use for what is special in these.
fn entity(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    const NAMED: [(&[u8], u8); 5] =
        [(b"amp", b'&'), (b"lt", b'<'), (b"gt", b'>'), (b"quot", b'"'), (b"apos", b'\'')];
    let end = bytes.iter().take(12).position(|byte| *byte == b';')?;
    let name = &bytes[1..end];
    let text = match name {
        [b'#', b'x' | b'X', digits @ ..] => utf8(hex(digits)?)?,
        [b'#', digits @ ..] => utf8(std::str::from_utf8(digits).ok()?.parse().ok()?)?,
        name => vec![NAMED.iter().find(|(known, _)| *known == name)?.1],
    };
    Some((text, end + 1))
}

fn hex(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn utf8(number: u32) -> Option<Vec<u8>> {
    Some(char::from_u32(number)?.to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        layers(text.as_bytes())
            .iter()
            .map(|layer| String::from_utf8_lossy(&layer.bytes).into_owned())
            .collect()
    }

    #[test]
    fn each_escape_is_undone() {
        for (text, plain) in [
            (r#"a\"b\\c\/d\n\t"#, "a\"b\\c/d\n\t"),
            (r"\x41\101\u0042\u{43}\U00000044", "AABCD"),
            (r"\ud83d\ude00", "😀"),
            ("%41%c3%A4", "Aä"),
            ("&lt;&#60;&#x3c;&quot;&apos;&#39;&amp;", "<<<\"''&"),
            (r"it\'s\ me", "it's me"),
        ] {
            assert_eq!(all(text)[0], plain, "{text}");
        }
    }

    #[test]
    fn what_is_no_escape_stays() {
        for text in
            [r"C:\", "100%", "%zz", "a & b", "&unknown;", r"\q", r"\u12", r"\ud83d", "&#x110000;", r"\777"]
        {
            assert!(all(text).is_empty(), "{text}: {:?}", all(text));
        }
    }

    #[test]
    fn escapes_of_escapes_are_undone_a_few_times() {
        assert_eq!(all(r"%255cu0041"), [r"%5cu0041", r"\u0041", "A"]);
        assert_eq!(all(&"\\".repeat(64)).len(), LAYERS);
    }

    #[test]
    fn pieces_are_unpacked_wherever_they_begin() {
        let readings = |text: &str| {
            let all = packed(text.as_bytes()).map(|piece| String::from_utf8_lossy(&piece.bytes).into_owned());
            all.collect::<Vec<_>>()
        };
        for text in [
            "got eyJrZXkiOiAicGFcInNzIn0=",
            "eyJrZXkiOiAicGFcInNzIn0",
            "got:xeyJrZXkiOiAicGFcInNzIn0",
            "7b226b6579223a202270615c227373227d",
            "(x7b226b6579223a202270615C227373227D)",
        ] {
            let found = readings(text);
            assert!(found.iter().any(|text| text.contains(r#"{"key": "pa\"ss"}"#)), "{text}: {found:?}");
        }
        assert!(readings("short texts are no such thing").is_empty());
    }

    #[test]
    fn each_byte_knows_its_place() {
        let layers = layers(r"ä%41\u0042!".as_bytes());
        assert_eq!(layers[0].from, [0, 1, 2, 5, 11, 12]);
    }
}
