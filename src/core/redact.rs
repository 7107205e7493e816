//! Keeps secrets out of everything that is shown: every form of every secret becomes `(redacted)`.
//!
//! This is the second wall. The first is that secrets are masked by their path, so that no change or message
//! holds one; but a server's error may repeat what was sent to it, in an encoding of its own.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use aho_corasick::{AhoCorasick, MatchKind};

use super::forms;
use super::value::{Map, Value, number_text};

/// What stands in place of a secret.
pub const REDACTED: &str = "(redacted)";

/// Finds secrets in one pass, however many there are. It holds them in clear: its `Debug` shows nothing.
///
/// Secrets of four characters and more are found anywhere, in the encodings of [`forms::all`]. Shorter ones
/// would hide half of every text, so they are hidden only where they are a whole value. An empty one is none.
#[derive(Clone, Default)]
pub struct Redactor {
    inside: Option<AhoCorasick>,
    whole: BTreeSet<String>,
}

impl Redactor {
    pub fn new<S: AsRef<str>>(secrets: impl IntoIterator<Item = S>) -> Redactor {
        let mut patterns = BTreeSet::new();
        let mut whole = BTreeSet::new();
        for secret in secrets {
            patterns.extend(forms::all(secret.as_ref()));
            for text in [secret.as_ref(), secret.as_ref().trim()] {
                if !text.is_empty() {
                    whole.insert(text.to_owned());
                }
            }
        }
        // Of two secrets that begin alike the longer one is taken, so that no end of it is left over.
        let inside = (!patterns.is_empty()).then(|| {
            let mut search = AhoCorasick::builder();
            search.match_kind(MatchKind::LeftmostLongest);
            search.build(&patterns).expect("secrets are far from the automaton's limits")
        });
        Redactor { inside, whole }
    }

    /// A text without secrets.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.whole.contains(text) {
            return Cow::Borrowed(REDACTED);
        }
        let Some(inside) = &self.inside else { return Cow::Borrowed(text) };
        let mut shown = String::new();
        let mut from = 0;
        for found in inside.find_iter(text) {
            shown.push_str(&text[from..found.start()]);
            shown.push_str(REDACTED);
            from = found.end();
        }
        if from == 0 {
            return Cow::Borrowed(text);
        }
        shown.push_str(&text[from..]);
        Cow::Owned(shown)
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
