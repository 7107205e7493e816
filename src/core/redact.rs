//! Keeps secrets out of everything that is shown: every form of every secret becomes `(redacted)`.
//!
//! This is the second wall. The first is that secrets are masked by their path, so that no change or message
//! holds one; but a server's error may repeat what was sent to it, in an encoding of its own.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::decoded;
use super::forms;
use super::value::{Map, Value, number_text};

/// What stands in place of a secret.
pub const REDACTED: &str = "(redacted)";

/// Finds secrets in one pass, however many there are. It holds them in clear: its `Debug` shows nothing.
///
/// Secrets of four characters and more are found anywhere, in the encodings of [`forms::all`] and behind any
/// mixture of escapes that [`decoded`] undoes. Shorter ones would hide half of every text, so they are hidden
/// only where they are a whole value. Those of eight and more are found in upper and lower case, as far as ASCII has
/// both. An empty one is none.
#[derive(Clone, Default)]
pub struct Redactor {
    /// One for the case as it is, one for any.
    inside: Vec<AhoCorasick>,
    whole: BTreeSet<String>,
    /// The pieces of the long ones, made when a server's words are first searched for them.
    pieces: OnceLock<Option<AhoCorasick>>,
}

/// A secret of so many characters is hidden in pieces as well.
const IN_PIECES: usize = 12;
/// The shortest piece that is hidden, in characters.
const PIECE: usize = 8;

/// Secrets of so many characters are hidden in any case: shorter ones would be found by chance.
const ANY_CASE: usize = 8;

impl Redactor {
    pub fn new<S: AsRef<str>>(secrets: impl IntoIterator<Item = S>) -> Redactor {
        Redactor::with(secrets, None)
    }

    /// For a handful of short texts: it is made much faster than one of [`Redactor::new`], and looks through a text
    /// more slowly.
    pub fn for_few_texts<S: AsRef<str>>(secrets: impl IntoIterator<Item = S>) -> Redactor {
        Redactor::with(secrets, Some(AhoCorasickKind::NoncontiguousNFA))
    }

    fn with<S: AsRef<str>>(secrets: impl IntoIterator<Item = S>, kind: Option<AhoCorasickKind>) -> Redactor {
        let mut patterns = [BTreeSet::new(), BTreeSet::new()];
        let mut whole = BTreeSet::new();
        for secret in secrets {
            let patterns = &mut patterns[usize::from(secret.as_ref().chars().count() >= ANY_CASE)];
            patterns.extend(forms::all(secret.as_ref()).into_iter().map(String::into_bytes));
            patterns.extend(forms::bytes(secret.as_ref()));
            for text in [secret.as_ref(), secret.as_ref().trim()] {
                if !text.is_empty() {
                    whole.insert(text.to_owned());
                }
            }
        }
        // All that is found is hidden, also where secrets overlap: no end of one is left over.
        let build = |(patterns, any_case): (&BTreeSet<Vec<u8>>, bool)| {
            let mut builder = AhoCorasick::builder();
            let automaton = builder.ascii_case_insensitive(any_case).kind(kind).build(patterns);
            automaton.expect("secrets are far from the automaton's limits")
        };
        let some = patterns.iter().zip([false, true]).filter(|(patterns, _)| !patterns.is_empty());
        Redactor { inside: some.map(build).collect(), whole, pieces: OnceLock::new() }
    }

    /// [`Redactor::text`] for a server's words, without any piece of a long secret either: parsers and databases
    /// quote a few characters of what they cannot use. Values are not searched for these, as they may have eight
    /// characters in common with a secret by chance. The word around a piece goes with it: it may be another secret,
    /// which would not be found any more without its middle.
    pub fn words(&self, text: &str) -> String {
        let text = self.text(text);
        let Some(pieces) = self.pieces.get_or_init(|| self.cut()) else { return text.into_owned() };
        let found = pieces.find_overlapping_iter(text.as_bytes());
        let mut spans: Vec<(usize, usize)> =
            found.map(|found| word(&text, found.start(), found.end())).collect();
        spans.sort_unstable();
        // Pieces that overlap, or follow each other, are one.
        let mut joined: Vec<(usize, usize)> = Vec::new();
        for (start, end) in spans {
            match joined.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => joined.push((start, end)),
            }
        }
        without(&text, &joined)
    }

    /// All pieces of [`PIECE`] characters. One of less than three different characters, as a line of dashes, says
    /// nothing of its secret.
    fn cut(&self) -> Option<AhoCorasick> {
        let mut pieces = BTreeSet::new();
        for secret in self.whole.iter().filter(|secret| secret.chars().count() >= IN_PIECES) {
            let chars: Vec<char> = secret.chars().collect();
            let telling = |piece: &&[char]| piece.iter().collect::<BTreeSet<_>>().len() > 2;
            pieces.extend(chars.windows(PIECE).filter(telling).map(|piece| piece.iter().collect::<String>()));
        }
        let automaton = AhoCorasick::builder().ascii_case_insensitive(true).build(&pieces);
        (!pieces.is_empty()).then(|| automaton.expect("secrets are far from the automaton's limits"))
    }

    /// Where secrets stand in these bytes.
    fn places(&self, bytes: &[u8]) -> Vec<(usize, usize)> {
        let found = self.inside.iter().flat_map(|inside| inside.find_overlapping_iter(bytes));
        found.map(|found| (found.start(), found.end())).collect()
    }

    fn is_in(&self, bytes: &[u8]) -> bool {
        self.inside.iter().any(|inside| inside.is_match(bytes))
    }

    /// A text without secrets.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.whole.contains(text) {
            return Cow::Borrowed(REDACTED);
        }
        if self.inside.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut spans = self.places(text.as_bytes());
        for layer in decoded::layers(text.as_bytes()) {
            let found = self.places(&layer.bytes).into_iter();
            spans.extend(found.map(|(start, end)| (layer.from[start], layer.from[end])));
        }
        spans.iter_mut().for_each(|span| *span = around(text, span.0, span.1));
        let packed = decoded::packed(text.as_bytes()).filter(|piece| {
            let escaped = || decoded::layers(&piece.bytes).iter().any(|layer| self.is_in(&layer.bytes));
            self.is_in(&piece.bytes) || escaped()
        });
        spans.extend(packed.map(|piece| (piece.start, piece.end)));
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        spans.sort_unstable();
        Cow::Owned(without(text, &spans))
    }

    /// A value without secrets, in its texts, its numbers and the names of its members.
    pub fn value(&self, value: &Value) -> Value {
        match value {
            _ if self.whole.is_empty() => value.clone(),
            Value::String(text) => Value::String(self.text(text).into_owned()),
            Value::Number(number) => {
                let hidden = |text: &str| self.text(text) != text;
                if hidden(number.as_str()) || hidden(&number_text(number)) {
                    Value::String(REDACTED.into())
                } else {
                    value.clone()
                }
            }
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Object(map) => {
                let members = map.iter().map(|(name, item)| (self.text(name).into_owned(), self.value(item)));
                Value::Object(members.collect::<Map<_, _>>())
            }
            Value::Null | Value::Bool(_) => value.clone(),
        }
    }
}

/// Whole characters around these bytes.
fn around(text: &str, start: usize, end: usize) -> (usize, usize) {
    let start = (0..=start).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let end = (end..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    (start, end)
}

/// The word around these bytes: up to a space, a quote or an ellipsis.
fn word(text: &str, start: usize, end: usize) -> (usize, usize) {
    let (start, end) = around(text, start, end);
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '…');
    let before = text[..start].char_indices().rev().find(|(_, c)| ends(*c));
    let start = before.map_or(0, |(at, c)| at + c.len_utf8());
    (start, text[end..].find(ends).map_or(text.len(), |at| end + at))
}

/// The text without these places, which are in order; those that overlap become one.
fn without(text: &str, spans: &[(usize, usize)]) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut from = 0;
    for (start, end) in spans {
        if *start >= from {
            shown.push_str(&text[from..*start]);
            shown.push_str(REDACTED);
        }
        from = from.max(*end);
    }
    shown.push_str(&text[from..]);
    shown
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn secrets_are_hidden_inside_texts() {
        let redactor = Redactor::new(["s3cr3t", "s3cr3t-and-longer", "p&w<1>"]);
        for (text, shown) in [
            ("no secret", "no secret"),
            ("password s3cr3t is wrong", "password (redacted) is wrong"),
            ("s3cr3t-and-longer!", "(redacted)!"),
            ("s3cr3ts3cr3t", "(redacted)(redacted)"),
            ("?pw=p%26w%3C1%3E&x", "?pw=(redacted)&x"),
            ("<td>p&amp;w&lt;1&gt;</td>", "<td>(redacted)</td>"),
        ] {
            assert_eq!(redactor.text(text), shown);
        }
    }

    #[test]
    fn basic_auth_is_hidden_at_each_alignment() {
        let redactor = Redactor::new(["hunter2!"]);
        for (header, plain) in [
            ("dTpodW50ZXIyIQ==", "u:hunter2!"),
            ("dXM6aHVudGVyMiE=", "us:hunter2!"),
            ("dXNlOmh1bnRlcjIh", "use:hunter2!"),
        ] {
            let shown = redactor.text(header).into_owned();
            assert!(shown.contains(REDACTED), "{plain}: {shown}");
        }
    }

    /// What programs print of a text that they escape in more than one way, or more than once.
    #[test]
    fn mixed_escapes_are_seen_through() {
        let redactor = Redactor::new(["p\"ä's/w&1%41", "line-one\nline-two"]);
        for text in [
            // Python's `repr`, of a text and of bytes.
            r#"'p"ä\'s/w&1%41'"#,
            r#"b'p"\xc3\xa4\'s/w&1%41'"#,
            r#"'p"\xe4\'s/w&1%41'"#,
            // JSON in JSON, and in a URL, and in a page.
            r#"{"body": "{\"key\": \"p\\\"\u00e4's\/w&1%41\"}"}"#,
            r#"?q=%7B%22key%22%3A%22p%5C%22%C3%A4's%2Fw%261%2541"#,
            r#"<td>{&quot;key&quot;: &quot;p\&quot;\u00E4&#39;s/w&amp;1%41&quot;}"#,
            r#"p\"&#xe4;'s\x2fw\u00261\045\x341"#,
            r#"it's line-one\nline-two"#,
            r#"it's line-one\x0aline-two"#,
            // All of a body, packed: `{"key": "p\"\u00e4's/w&1%41"}`.
            "eyJrZXkiOiAicFwiXHUwMGU0J3MvdyYxJTQxIn0=",
            "7b226b6579223a2022705c225c753030653427732f772631253431227d",
        ] {
            let shown = redactor.text(text).into_owned();
            assert!(shown.contains(REDACTED) && !shown.contains("w&1") && !shown.contains("two"), "{shown}");
        }
        assert_eq!(redactor.text(r"C:\path 100% & more"), r"C:\path 100% & more");
    }

    #[test]
    fn long_secrets_are_hidden_in_any_case() {
        let redactor = Redactor::new(["Hunter2-Hunter2", "s3cr3t"]);
        for (text, shown) in [
            ("HUNTER2-HUNTER2 is no token", "(redacted) is no token"),
            (r"no hunter2\x2dhunter2!", "no (redacted)!"),
            ("S3CR3T", "S3CR3T"),
        ] {
            assert_eq!(redactor.text(text), shown);
        }
    }

    /// What parsers and databases cut out of a value that they cannot use.
    #[test]
    fn pieces_of_a_long_secret_are_hidden_in_a_servers_words() {
        let redactor = Redactor::new(["CaNaRy-7f3-Zebra-Quilt-9981", "----------------", "elevenchars"]);
        for (text, shown) in [
            ("value CaNaRy-7f3-Z… is not allowed", "value (redacted)… is not allowed"),
            ("value aRy-7f3-Zebra-Quilt-9… is not allowed", "value (redacted)… is not allowed"),
            ("near \"Quilt-9981\"", "near \"(redacted)\""),
            ("CANARY-7", "(redacted)"),
            ("not <old-Zebra-Quilt-7>, `x`", "not (redacted) `x`"),
            ("pieces CaNaRy-7f3 Zebra-Quilt", "pieces (redacted) (redacted)"),
            ("CaNaRy-7f3-Zebra-Quilt-9981", "(redacted)"),
            ("Zebra-Q of seven, evenchars of eleven", "Zebra-Q of seven, evenchars of eleven"),
            ("-------------", "-------------"),
            ("", ""),
        ] {
            assert_eq!(redactor.words(text), shown);
        }
        assert_eq!(redactor.text("Quilt-9981"), "Quilt-9981", "a value keeps it");
        assert_eq!(Redactor::default().words("any"), "any");
    }

    #[test]
    fn places_that_overlap_are_one() {
        let redactor = Redactor::new(["abcdef", r"def\x67hi"]);
        assert_eq!(redactor.text(r"<abcdef\x67hi>"), "<(redacted)>");
    }

    #[test]
    fn short_secrets_are_hidden_as_whole_values_only() {
        let redactor = Redactor::new(["ab", "", "42"]);
        assert_eq!(redactor.text("a cab"), "a cab");
        assert_eq!(redactor.text("ab"), REDACTED);
        assert_eq!(redactor.text(""), "");
        assert_eq!(redactor.value(&json!({"pin": 42, "n": 421})), json!({"pin": REDACTED, "n": 421}));
    }

    #[test]
    fn values_are_hidden_at_every_depth() {
        let redactor = Redactor::new(["12345678", "token"]);
        let value = json!({"a": [{"pin": 12345678, "my-token": "x token"}], "b": true, "c": null});
        let shown = json!({"a": [{"pin": REDACTED, "my-(redacted)": "x (redacted)"}], "b": true, "c": null});
        assert_eq!(redactor.value(&value), shown);
        assert_eq!(format!("{redactor:?}"), "Redactor(..)");
    }

    proptest! {
        /// Whatever surrounds it, and in whatever form it comes.
        #[test]
        fn no_form_survives(secret in "[^ ]{4}\\PC{0,20}", before in ".{0,5}", after in ".{0,5}") {
            let redactor = Redactor::new([&secret]);
            for form in forms::all(&secret) {
                let text = format!("{before}{form}{after}");
                prop_assert!(redactor.text(&text).contains(REDACTED), "{}", text);
            }
        }
    }
}
