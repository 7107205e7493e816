//! HTML and XML that cannot be broken out of: markup is text of the program itself, and all else is escaped on its way
//! in.

use std::fmt::Write as _;

use crate::core::escape;

/// A piece of a page, or of an XML document.
#[derive(Default)]
pub struct Markup(String);

impl Markup {
    /// Markup that stands in the program's source.
    pub fn raw(&mut self, markup: &'static str) -> &mut Markup {
        self.0.push_str(markup);
        self
    }

    /// Text, for the content of an element or for an attribute in double quotes. What acts on a terminal or on a
    /// reader is shown as `\u{..}`: a name that reads backwards is none in a browser either. What XML cannot hold at all
    /// is shown so as well.
    pub fn text(&mut self, text: &str) -> &mut Markup {
        for c in escape::inline(text).chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                '\u{fffe}' | '\u{ffff}' => {
                    let _ = write!(self.0, "\\u{{{:x}}}", u32::from(c));
                }
                c => self.0.push(c),
            }
        }
        self
    }

    pub fn number(&mut self, number: impl Into<u64>) -> &mut Markup {
        let _ = write!(self.0, "{}", number.into());
        self
    }

    pub fn into_text(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_is_no_markup() {
        let mut html = Markup::default();
        html.raw("<b title=\"")
            .text("\" onload='x'")
            .raw("\">")
            .text("<script>&\u{202e}\u{1b}[2J")
            .raw("</b>");
        assert_eq!(
            html.into_text(),
            "<b title=\"&quot; onload=&#39;x&#39;\">&lt;script&gt;&amp;\\u{202e}\\u{1b}[2J</b>"
        );
    }

    proptest! {
        #[test]
        fn no_text_opens_an_element_or_closes_an_attribute(text in any::<String>()) {
            let mut html = Markup::default();
            html.text(&text);
            let shown = html.into_text();
            prop_assert!(!shown.contains(['<', '>', '"', '\'']));
            prop_assert!(!shown.chars().any(escape::is_unsafe));
            let beyond_xml = ['\u{fffe}', '\u{ffff}'];
            prop_assert!(!shown.contains(beyond_xml));
        }
    }
}
