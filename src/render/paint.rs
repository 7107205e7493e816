//! Text with meaning: lines of spans, each with what it means and not how it looks.
//!
//! A span can only be made through the escaper, so whatever is built of spans is safe for a terminal. Colour
//! is put on at the very end, in one place, and never says what the words do not say as well.

use colored::{ColoredString, Colorize};
use unicode_width::UnicodeWidthStr;

use crate::core::escape;

/// What a span means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    #[default]
    Plain,
    /// The thing that a line is about.
    Strong,
    /// Comes into being, or went well: green.
    Good,
    /// Changes: yellow.
    Change,
    /// Goes away, or went wrong: red.
    Bad,
    /// Where to look and what to do: cyan.
    Aid,
    /// Beside the point.
    Dim,
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    style: Style,
    text: String,
}

/// One line, without its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    spans: Vec<Span>,
}

/// Lines, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    pub lines: Vec<Line>,
}

impl Line {
    pub fn new() -> Line {
        Line::default()
    }

    /// A line of one plain span.
    pub fn plain(text: &str) -> Line {
        Line::new().with(Style::Plain, text)
    }

    /// The line with a span at its end.
    pub fn with(mut self, style: Style, text: &str) -> Line {
        self.push(style, text);
        self
    }

    /// Puts a span at the end; what could act on a terminal is escaped.
    pub fn push(&mut self, style: Style, text: &str) {
        if !text.is_empty() {
            self.spans.push(Span { style, text: escape::inline(text).into_owned() });
        }
    }

    /// Puts another line's spans at the end.
    pub fn append(&mut self, other: Line) {
        self.spans.extend(other.spans);
    }

    /// Fills with spaces up to a column; a line that reaches it already gets `gap` spaces at least.
    pub fn pad(&mut self, column: usize, gap: usize) {
        let spaces = column.saturating_sub(self.width()).max(gap);
        self.push(Style::Plain, &" ".repeat(spaces));
    }

    /// What it is made of, each with what it means.
    pub fn spans(&self) -> impl Iterator<Item = (Style, &str)> {
        self.spans.iter().map(|span| (span.style, span.text.as_str()))
    }

    /// Columns on a terminal.
    pub fn width(&self) -> usize {
        self.spans.iter().map(|span| span.text.width()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The line as text, each span seen by `see` before it is painted; no spaces at the end.
    pub fn write(&self, colour: bool, see: impl Fn(&str) -> String) -> String {
        let seen: Vec<Span> =
            self.spans.iter().map(|span| Span { style: span.style, text: see(&span.text) }).collect();
        let used = seen.iter().rposition(|span| !span.text.trim_end_matches(' ').is_empty());
        let Some(last) = used else { return String::new() };
        let mut text = String::new();
        for (i, span) in seen[..=last].iter().enumerate() {
            let bare = if i == last { span.text.trim_end_matches(' ') } else { &span.text };
            text.push_str(&if colour { paint(span.style, bare) } else { bare.to_owned() });
        }
        text
    }
}

/// Spans with the escapes of their colour around them.
fn paint(style: Style, text: &str) -> String {
    // The decision is made per stream by whoever calls; `colored` would look at standard output again.
    colored::control::set_override(true);
    let painted: ColoredString = match style {
        Style::Plain => return text.to_owned(),
        Style::Strong => text.bold(),
        Style::Good => text.green(),
        Style::Change => text.yellow(),
        Style::Bad => text.red(),
        Style::Aid => text.cyan(),
        Style::Dim => text.dimmed(),
    };
    painted.to_string()
}

impl Text {
    pub fn new() -> Text {
        Text::default()
    }

    pub fn push(&mut self, line: Line) {
        self.lines.push(line);
    }

    pub fn append(&mut self, other: Text) {
        self.lines.extend(other.lines);
    }

    /// Every line with its end, each span seen by `see` before it is painted.
    pub fn write(&self, colour: bool, see: impl Fn(&str) -> String) -> String {
        self.lines.iter().map(|line| line.write(colour, &see) + "\n").collect()
    }

    /// Without colour.
    pub fn to_plain(&self) -> String {
        self.write(false, str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_escaped_and_padded_by_columns() {
        let mut line = Line::plain("日本\u{1b}[31m");
        line.pad(16, 2);
        line.push(Style::Dim, "x");
        let text = Text { lines: vec![line] };
        assert_eq!(text.to_plain(), "日本\\u{1b}[31m  x\n");
        let mut short = Line::plain("日本");
        short.pad(6, 2);
        short.push(Style::Plain, "x ");
        assert_eq!(short.write(false, str::to_owned), "日本  x");
    }

    #[test]
    fn colour_is_put_around_the_words() {
        let line = Line::new().with(Style::Good, "+").with(Style::Plain, " a ").with(Style::Bad, "b  ");
        assert_eq!(line.write(true, str::to_owned), "\u{1b}[32m+\u{1b}[0m a \u{1b}[31mb\u{1b}[0m");
        assert_eq!(line.write(false, str::to_owned), "+ a b");
    }
}
