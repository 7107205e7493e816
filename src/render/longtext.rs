//! Long texts side by side: lines with context for texts of many lines, marked words for one long line.
//!
//! A changed line in a text of hundreds shows that line; equal parts are left out (terraform #16845). What
//! would take too long to compare is not compared: the caller then shows both sides cut.

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use super::paint::{Line, Style};
use super::value::LONGEST;
use super::words::{counted, grouped};

/// Equal lines shown around a difference.
const CONTEXT: usize = 2;
/// Lines of difference shown of one text; the rest is counted.
const MOST_LINES: usize = 40;
/// Characters shown of one line of a text.
const LONGEST_LINE: usize = 120;
/// Equal characters shown around a difference within a line.
const NEAR: usize = 16;
/// The longest line of marked words; beyond it two cut values are easier to read.
const LONGEST_MARKED: usize = 160;
/// The product of both sides' differing parts up to which they are compared: well under a second.
const MOST_WORK: usize = 4_000_000;
/// The longest line that is taken apart into words.
const MOST_BYTES: usize = 1 << 20;

/// Whether a pair of texts is better shown line by line.
pub fn is_block(before: &str, after: &str) -> bool {
    let long = |text: &str| text.contains('\n') && (text.chars().nth(LONGEST).is_some());
    let tall = |text: &str| text.split('\n').count() > 3;
    [before, after].into_iter().any(|text| long(text) || tall(text))
}

/// The difference of two texts of many lines: a heading, and the lines below it.
pub struct Block {
    pub heading: String,
    pub lines: Vec<Line>,
}

/// `None` when the texts are too far apart to compare.
pub fn block(before: &str, after: &str) -> Option<Block> {
    let old: Vec<&str> = before.split('\n').collect();
    let new: Vec<&str> = after.split('\n').collect();
    let ops = compare(&old, &new)?;
    let (mut removed, mut added) = (0, 0);
    for op in ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
        removed += op.old_range().len();
        added += op.new_range().len();
    }
    let mut lines = Vec::new();
    for hunk in group_diff_ops(ops, CONTEXT) {
        let first = hunk.first().map_or(0, |op| op.new_range().start);
        lines.push(Line::new().with(Style::Dim, &format!("@@ line {} @@", grouped(first as u64 + 1))));
        hunk.iter().for_each(|op| hunk_lines(op, &old, &new, &mut lines));
    }
    let more = lines.len().saturating_sub(MOST_LINES);
    if more > 0 {
        lines.truncate(MOST_LINES);
        lines.push(Line::new().with(Style::Dim, &format!("… {}", counted(more, "more line"))));
    }
    let heading = format!("{}: {removed} removed, {added} added", counted(new.len(), "line"));
    Some(Block { heading, lines })
}

fn hunk_lines(op: &DiffOp, old: &[&str], new: &[&str], lines: &mut Vec<Line>) {
    let (old, new) = (&old[op.old_range()], &new[op.new_range()]);
    if matches!(op, DiffOp::Equal { .. }) {
        lines.extend(new.iter().map(|text| Line::plain("  ").with(Style::Dim, &cut(text))));
        return;
    }
    if let ([before], [after]) = (old, new)
        && before.chars().count().max(after.chars().count()) > LONGEST_LINE
        && let Some(marked) = words(before, after)
    {
        let mut line = Line::new().with(Style::Change, "~ ");
        line.append(marked);
        lines.push(line);
        return;
    }
    lines.extend(old.iter().map(|text| Line::new().with(Style::Bad, &format!("- {}", cut(text)))));
    lines.extend(new.iter().map(|text| Line::new().with(Style::Good, &format!("+ {}", cut(text)))));
}

/// A line of a text, its end left out when it is long.
fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST_LINE) {
        Some((at, _)) => format!("{}… ({})", &text[..at], counted(text.chars().count(), "character")),
        None => text.to_owned(),
    }
}

/// Two long lines as one, with `[-gone-]` and `{+new+}`. `None` when they have too little in common.
pub fn words(before: &str, after: &str) -> Option<Line> {
    if before.len().max(after.len()) > MOST_BYTES {
        return None;
    }
    let (old, new) = (tokens(before), tokens(after));
    let ops = compare(&old, &new)?;
    let (first, last) = (0, ops.len().checked_sub(1)?);
    let mut line = Line::new();
    for (i, op) in ops.iter().enumerate() {
        let (gone, came) = (old[op.old_range()].concat(), new[op.new_range()].concat());
        if matches!(op, DiffOp::Equal { .. }) {
            line.push(Style::Plain, &elided(&came, i != first, i != last));
            continue;
        }
        if !gone.is_empty() {
            line.push(Style::Bad, &format!("[-{gone}-]"));
        }
        if !came.is_empty() {
            line.push(Style::Good, &format!("{{+{came}+}}"));
        }
    }
    (line.width() <= LONGEST_MARKED).then_some(line)
}

/// An equal part, with only what is near a difference: at its head, at its end, or both.
fn elided(text: &str, head: bool, end: bool) -> String {
    let chars: Vec<char> = text.chars().collect();
    let near = NEAR * (usize::from(head) + usize::from(end));
    if chars.len() <= near + 1 {
        return text.to_owned();
    }
    let before: String = chars[..if head { NEAR } else { 0 }].iter().collect();
    let after: String = chars[chars.len() - if end { NEAR } else { 0 }..].iter().collect();
    format!("{before}…{after}")
}

/// Runs of letters and digits, and every other character by itself.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut in_word = false;
    for (at, c) in text.char_indices() {
        let word = c.is_alphanumeric();
        if at > start && !(word && in_word) {
            tokens.push(&text[start..at]);
            start = at;
        }
        in_word = word;
    }
    if start < text.len() {
        tokens.push(&text[start..]);
    }
    tokens
}

/// Myers' difference, unless what is left without the common ends is too much work.
fn compare(old: &[&str], new: &[&str]) -> Option<Vec<DiffOp>> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let work = (old_rest.len() - tail).saturating_mul(new_rest.len() - tail);
    (work <= MOST_WORK).then(|| capture_diff_slices(Algorithm::Myers, old, new))
}

#[cfg(test)]
mod tests {
    use super::super::paint::Text;
    use super::*;

    fn shown(block: Block) -> String {
        format!("{}\n{}", block.heading, Text { lines: block.lines }.to_plain())
    }

    fn numbered(change: impl Fn(usize) -> Option<String>) -> String {
        (1..=300).map(|i| change(i).unwrap_or_else(|| format!("line {i}"))).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn one_line_of_many_is_shown_with_its_neighbours() {
        let before = numbered(|_| None);
        let after = numbered(|i| (i == 150).then(|| "new".into()));
        insta::assert_snapshot!(shown(block(&before, &after).expect("comparable")), @"
            300 lines: 1 removed, 1 added
            @@ line 148 @@
              line 148
              line 149
            - line 150
            + new
              line 151
              line 152
            ");
    }

    #[test]
    fn a_line_end_at_the_end_is_a_difference() {
        insta::assert_snapshot!(shown(block("a\nb\nc\n", "a\nb\r\nc").expect("comparable")), @r"
            3 lines: 2 removed, 1 added
            @@ line 1 @@
              a
            - b
            + b\u{d}
              c
            -
            ");
    }

    #[test]
    fn a_long_line_among_many_has_its_words_marked() {
        let long = |word: &str| format!("{} {word} {}", "left ".repeat(30), "right ".repeat(30));
        let before = numbered(|i| (i == 2).then(|| long("old")));
        let after = numbered(|i| (i == 2).then(|| long("new")));
        insta::assert_snapshot!(shown(block(&before, &after).expect("comparable")), @"
            300 lines: 1 removed, 1 added
            @@ line 1 @@
              line 1
            ~ …left left left  [-old-]{+new+} right right rig…
              line 3
              line 4
            ");
    }

    #[test]
    fn many_differences_are_counted() {
        let before = numbered(|_| None);
        let after = numbered(|i| Some(format!("other {i}")));
        let block = block(&before, &after).expect("comparable");
        assert_eq!(block.lines.len(), MOST_LINES + 1);
        let last = Text { lines: block.lines[MOST_LINES..].to_vec() }.to_plain();
        assert_eq!(last, "… 561 more lines\n");
    }

    #[test]
    fn words_are_marked_within_a_line() {
        let marked = |a: &str, b: &str| words(a, b).map(|line| line.write(false, str::to_owned));
        let text = |word: &str| format!("the quick brown fox {word} over the lazy dog and goes on and on");
        insta::assert_snapshot!(marked(&text("jumps"), &text("leaps")).expect("alike"), @"…quick brown fox [-jumps-]{+leaps+} over the lazy d…");
        let long = |word: &str| format!("{word}{}", "=".repeat(10_000));
        assert!(marked(&long("a"), &"b".repeat(10_000)).is_none());
        assert!(marked("", "").is_none());
        insta::assert_snapshot!(marked(&long("a"), &long("b")).expect("alike"), @"[-a-]{+b+}================…");
    }

    #[test]
    fn huge_texts_are_not_compared() {
        let lines = |word: &str| (0..100_000).map(|i| format!("{word} {i}\n")).collect::<String>();
        assert!(block(&lines("a"), &lines("b")).is_none());
        assert!(block(&lines("a"), &(lines("a") + "end")).is_some());
    }
}
