//! The one escaper of text that came from a server or a file, before a person sees it.
//!
//! A terminal takes more than letters: control sequences move the cursor and set the clipboard, bidirectional
//! marks reorder what is read, and invisible characters make two names look like one (kubectl CVE-2021-25743).
//! Whatever could do that is shown as `\u{..}`, and in JSON as `\uXXXX`, which leaves the value as it is.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A text for the middle of a line: line ends and tabs are shown as `\n` and `\t`.
pub fn inline(text: &str) -> Cow<'_, str> {
    escape(text, true)
}

/// A text of several lines: line ends and tabs stay.
pub fn block(text: &str) -> Cow<'_, str> {
    escape(text, false)
}

/// A JSON text, indented or not, of the same value: what could act on a terminal stands in its strings alone.
pub fn json(text: String) -> String {
    let must_go = |c: char| is_unsafe(c) && c != '\n';
    let Some(first) = text.find(must_go) else { return text };
    let mut shown = String::with_capacity(text.len() + 16);
    shown.push_str(&text[..first]);
    for c in text[first..].chars() {
        if must_go(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
    }
    shown
}

fn escape(text: &str, one_line: bool) -> Cow<'_, str> {
    let must_go = |c: char| is_unsafe(c) && (one_line || !matches!(c, '\n' | '\t'));
    let Some(first) = text.find(must_go) else { return Cow::Borrowed(text) };
    let mut shown = String::with_capacity(text.len() + 16);
    shown.push_str(&text[..first]);
    for c in text[first..].chars() {
        match c {
            '\n' if one_line => shown.push_str("\\n"),
            '\t' if one_line => shown.push_str("\\t"),
            c if must_go(c) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
            }
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Whether a character does something to a terminal, or to a reader, other than being seen.
pub fn is_unsafe(c: char) -> bool {
    // C0, DEL and C1.
    c.is_control()
        || matches!(c,
            // Soft hyphen, Arabic letter mark, Mongolian vowel separator, byte order mark: invisible.
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}'
            // Zero-width characters, and the two bidirectional marks beside them.
            | '\u{200b}'..='\u{200f}'
            // Line and paragraph separators; bidirectional embeddings and overrides.
            | '\u{2028}'..='\u{202e}'
            // Word joiner, invisible operators, bidirectional isolates, deprecated format characters.
            | '\u{2060}'..='\u{206f}'
            // Interlinear annotation.
            | '\u{fff9}'..='\u{fffb}'
            // Tags: a whole invisible alphabet.
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_acts_on_a_terminal_is_shown() {
        for (text, shown) in [
            ("plain text, ünïcödé, 日本", "plain text, ünïcödé, 日本"),
            ("\u{1b}[2J", "\\u{1b}[2J"),
            ("\u{1b}]52;c;AAAA\u{7}", "\\u{1b}]52;c;AAAA\\u{7}"),
            ("a\rb", "a\\u{d}b"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("user\u{202e}nimda", "user\\u{202e}nimda"),
            ("ad\u{200b}min", "ad\\u{200b}min"),
            ("a\u{2028}b\u{2029}c", "a\\u{2028}b\\u{2029}c"),
            ("\u{7f}\u{0}", "\\u{7f}\\u{0}"),
            ("a\nb\tc", "a\\nb\\tc"),
        ] {
            assert_eq!(inline(text), shown);
        }
        assert_eq!(block("a\nb\tc\r\u{1b}"), "a\nb\tc\\u{d}\\u{1b}");
    }

    #[test]
    fn harmless_text_is_not_copied() {
        assert!(matches!(inline("orders"), Cow::Borrowed("orders")));
        assert!(matches!(block("a\n\tb"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn nothing_unsafe_is_left(text in any::<String>()) {
            prop_assert!(!inline(&text).chars().any(is_unsafe));
            prop_assert!(!block(&text).chars().any(|c| is_unsafe(c) && c != '\n' && c != '\t'));
        }

        #[test]
        fn json_keeps_its_value_and_holds_nothing_unsafe(text in any::<String>(), name in any::<String>()) {
            let value = serde_json::json!({ name: [text, "\u{9b}\u{7f}\u{202e}\u{2028}\u{e0041}"] });
            for printed in [value.to_string(), serde_json::to_string_pretty(&value).expect("JSON")] {
                let safe = json(printed);
                prop_assert!(!safe.chars().any(|c| is_unsafe(c) && c != '\n'), "{}", safe);
                prop_assert_eq!(&serde_json::from_str::<serde_json::Value>(&safe).expect("JSON"), &value);
            }
        }

        #[test]
        fn escaping_twice_changes_nothing(text in any::<String>()) {
            let once = inline(&text).into_owned();
            prop_assert_eq!(inline(&once), once.as_str());
        }
    }
}
