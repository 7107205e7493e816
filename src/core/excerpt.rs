//! The line of a file under an error, without what is called like a secret in it.
//!
//! An error may be that the text cannot be read at all, so this goes by the text alone: by the name before each colon,
//! whatever quotes and brackets say. What is hidden is rather too much than too little. What stands behind `!secret`,
//! `!env` and `!ref` says where a value comes from, and is shown.

use super::byname::{self, Hint};

/// What stands in place of a value.
const HIDDEN: &str = "(secret)";
/// So far back the name is looked for whose value a line goes on with.
const MOST_LINES: usize = 1_000;
/// The longest name that is looked at, and as much of a value as tells what it is, in characters.
const NAME: usize = 200;
/// Tags whose text is no value.
const SOURCES: [&str; 3] = ["!secret", "!env", "!ref"];

/// A line as it may be shown.
#[derive(Debug, PartialEq, Eq)]
pub struct Excerpt {
    pub text: String,
    /// What is hidden: its first character (from 0) and the one behind it, in the line as it was.
    hidden: Vec<(usize, usize)>,
}

impl Excerpt {
    /// The line with the number `at` (from 0) of all lines of a file.
    pub fn of(lines: &[&str], at: usize) -> Option<Excerpt> {
        let line = lines.get(at)?;
        let chars: Vec<char> = line.chars().collect();
        let hidden = match goes_on(lines, at) {
            true => vec![(indent(line), chars.len())],
            false => values(&chars),
        };
        let mut text = String::new();
        let mut done = 0;
        for (from, to) in &hidden {
            text.extend(&chars[done..*from]);
            text.push_str(HIDDEN);
            done = *to;
        }
        text.extend(&chars[done..]);
        Some(Excerpt { text, hidden })
    }

    /// The same with another text for the line, as far as its columns are the same.
    pub fn with(self, text: String) -> Excerpt {
        Excerpt { text, ..self }
    }

    /// Where the character of a column (from 1) is now; of one that is hidden, where that begins.
    pub fn column(&self, column: u32) -> u32 {
        let at = (column as usize).saturating_sub(1);
        let (mut cut, mut put) = (0, 0);
        for (from, to) in self.hidden.iter().take_while(|(from, _)| *from <= at) {
            if at < *to {
                return u32::try_from(from - cut + put + 1).unwrap_or(u32::MAX);
            }
            cut += to - from;
            put += HIDDEN.len();
        }
        u32::try_from(at + put - cut + 1).unwrap_or(u32::MAX)
    }
}

/// Where the values stand in a line whose names say that they are secrets.
fn values(line: &[char]) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    let mut depth = 0_usize;
    let mut at = 0;
    while at < line.len() {
        match line[at] {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            ':' if is_secret(name_before(&line[..at])) => {
                let from = at + 1 + line[at + 1..].iter().take_while(|c| c.is_whitespace()).count();
                if let Some(to) = end_of_value(line, from, depth > 0) {
                    found.push((from, to));
                    at = to;
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

fn is_secret(name: String) -> bool {
    byname::hint(&name) != Hint::None
}

/// The name that ends here: without its quotes, and without what stands before it.
fn name_before(line: &[char]) -> String {
    let text: String = line[line.len().saturating_sub(NAME)..].iter().collect();
    let text = text.trim_end().trim_end_matches(['"', '\'']);
    let begin = text.rfind(['{', ',', '[', '"', '\'', ':']).map_or(0, |at| at + 1);
    text[begin..].to_owned()
}

/// Where the value ends that begins at `from`; `None` where none stands there that is to be hidden.
fn end_of_value(line: &[char], from: usize, in_flow: bool) -> Option<usize> {
    let rest: String = line[from..].iter().take(NAME).collect();
    let word = rest.split([' ', '\t', ',', '}', ']']).next().unwrap_or_default();
    if rest.is_empty() || rest.starts_with('#') || SOURCES.contains(&word) || opens_block(&rest) {
        return None;
    }
    match line[from] {
        '{' => None,
        '[' => Some(from + closing(&line[from..])),
        quote @ ('"' | '\'') => {
            let end = from + 1 + end_of_quote(&line[from + 1..], quote);
            // What is wrong may be the quote itself.
            Some(end_of_plain(line, end, in_flow))
        }
        _ => Some(end_of_plain(line, from, in_flow)),
    }
}

/// A block's head: its text is in the lines that follow.
fn opens_block(value: &str) -> bool {
    value.starts_with(['|', '>']) && value.trim_end().chars().count() <= 3
}

fn end_of_plain(line: &[char], from: usize, in_flow: bool) -> usize {
    let ends = |c: &char| in_flow && matches!(c, ',' | '}' | ']');
    let end = line[from..].iter().position(ends).map_or(line.len(), |length| from + length);
    let spaces = line[from..end].iter().rev().take_while(|c| c.is_whitespace()).count();
    end - spaces
}

/// What is in quotes, with the closing one; to the end where there is none.
fn end_of_quote(line: &[char], quote: char) -> usize {
    let mut at = 0;
    while at < line.len() {
        match line[at] {
            '\\' if quote == '"' => at += 1,
            c if c == quote && quote == '\'' && line.get(at + 1) == Some(&quote) => at += 1,
            c if c == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    line.len()
}

/// What is in brackets, with the closing one; to the end where there is none.
fn closing(line: &[char]) -> usize {
    let mut depth = 0_usize;
    for (at, c) in line.iter().enumerate() {
        match c {
            '[' => depth += 1,
            ']' if depth == 1 => return at + 1,
            ']' => depth -= 1,
            _ => {}
        }
    }
    line.len()
}

fn indent(line: &str) -> usize {
    line.chars().take_while(|c| c.is_whitespace()).count()
}

/// Whether a line goes on with a value whose name, on a line above, says that it is a secret.
fn goes_on(lines: &[&str], at: usize) -> bool {
    let line = lines[at].trim();
    let is_member = line.strip_prefix("- ").unwrap_or(line).contains(':');
    let mut depth = match line.starts_with('-') {
        // The elements of a list may stand below its name.
        true => indent(lines[at]) + 1,
        false => indent(lines[at]),
    };
    let above = lines[..at].iter().rev().take(MOST_LINES).filter(|line| !line.trim().is_empty());
    for (i, before) in above.enumerate() {
        let is_above = indent(before) < depth;
        if !is_above && i > 0 {
            continue;
        }
        depth = depth.min(indent(before));
        match left_open(before) {
            Some(Open::Text) => return true,
            // With names of its own it is a map, and these decide.
            Some(Open::Anything) if is_above || i == 0 => return !is_member,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    false
}

/// What a line leaves to the next ones.
enum Open {
    Anything,
    Text,
}

/// What the last name of a line leaves open, if that says that it is a secret.
fn left_open(line: &str) -> Option<Open> {
    let chars: Vec<char> = line.trim_end().chars().collect();
    if chars.iter().find(|c| !c.is_whitespace()) == Some(&'?') {
        return is_secret(name_before(&chars)).then_some(Open::Text);
    }
    // A value that ends with its line may go on below it.
    if values(&chars).last().is_some_and(|(_, to)| *to == chars.len()) {
        let closed = chars.last().is_some_and(|c| matches!(c, '"' | '\'' | ']' | '}'));
        return (!closed).then_some(Open::Anything);
    }
    let last = chars.iter().enumerate().rev().filter(|(_, c)| **c == ':').map(|(at, _)| at);
    let at = last.into_iter().find(|at| is_secret(name_before(&chars[..*at])))?;
    let rest: String = chars[at + 1..].iter().collect();
    let rest = rest.trim();
    let bare = rest.is_empty() || rest.starts_with('#');
    if opens_block(rest) { Some(Open::Text) } else { bare.then_some(Open::Anything) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, number: usize) -> String {
        let lines: Vec<&str> = text.lines().collect();
        Excerpt::of(&lines, number - 1).expect("a line").text
    }

    #[test]
    fn what_follows_a_name_that_says_secret_is_hidden() {
        for (line, want) in [
            ("spec: {password: hunter2, n: 0123}", "spec: {password: (secret), n: 0123}"),
            ("spec: {n: 0123, password: hunter2}", "spec: {n: 0123, password: (secret)}"),
            ("{password: h1, password: h2}", "{password: (secret), password: (secret)}"),
            (r#"{"password":"h,u}n\"ter2","n":0123}"#, r#"{"password":(secret),"n":0123}"#),
            ("{'api_key': 'it''s, me', n: 1}", "{'api_key': (secret), n: 1}"),
            ("  password: hunter2, and more # no", "  password: (secret)"),
            (r#"  password: "hunter2"#, "  password: (secret)"),
            (r#"  password: "hun"ter2"#, "  password: (secret)"),
            (r#"{n: "broken, password: hunter2}"#, r#"{n: "broken, password: (secret)}"#),
            ("- token: hunter2", "- token: (secret)"),
            ("{tokens: [a, [b, c]], n: 1}", "{tokens: (secret), n: 1}"),
            ("tokens: [a, b", "tokens: (secret)"),
            ("{password:hunter2}", "{password:(secret)}"),
            ("password: !!str hunter2", "password: (secret)"),
            ("password: &a hunter2", "password: (secret)"),
            ("db password: hunter2", "db password: (secret)"),
            // What is none.
            ("{name: x, n: 0123}", "{name: x, n: 0123}"),
            ("password: !secret env:PW", "password: !secret env:PW"),
            ("{token: !ref Team/a .token, n: 1}", "{token: !ref Team/a .token, n: 1}"),
            ("secret: {name: n, token: t}", "secret: {name: n, token: (secret)}"),
            ("password:", "password:"),
            ("password: |", "password: |"),
            ("password:   # of the admin", "password:   # of the admin"),
            ("token_ttl: 5", "token_ttl: 5"),
        ] {
            assert_eq!(shown(line, 1), want);
        }
    }

    #[test]
    fn a_value_that_goes_on_below_its_name_is_hidden() {
        for (text, number, want) in [
            ("password:\n  hunter2", 2, "  (secret)"),
            ("password: |\n  one\n\n  two: x", 4, "  (secret)"),
            ("private_key: >-\n  one\nn: 1", 3, "n: 1"),
            ("password: \"one\n  two\"", 2, "  (secret)"),
            ("{password:\nhunter2}", 2, "(secret)"),
            ("tokens:\n- hunter2", 2, "(secret)"),
            ("tokens:\n  - a\n  - hunter2", 3, "  (secret)"),
            ("? password\n: hunter2", 2, "(secret)"),
            ("secret:\n  name: n\n  value: v", 3, "  value: v"),
            ("password: one\nn: 0123", 2, "n: 0123"),
            ("a:\n  password: one\n  n: 0123", 3, "  n: 0123"),
            ("a:\n  token: \"one\"\n  n: 0123", 3, "  n: 0123"),
            ("tokens: [a]\nn", 2, "n"),
        ] {
            assert_eq!(shown(text, number), want, "{text}");
        }
    }

    #[test]
    fn a_mark_stands_under_the_character_that_it_stood_under() {
        let line = "{password: ab, n: 0123, token: abcdefghijkl, m: 0}";
        let excerpt = Excerpt::of(&[line], 0).expect("a line");
        let chars: Vec<char> = excerpt.text.chars().collect();
        for (i, c) in line.chars().enumerate().filter(|(i, _)| !(11..13).contains(i) && !(31..43).contains(i))
        {
            let column = excerpt.column(i as u32 + 1) as usize;
            assert_eq!(chars[column - 1], c, "{i}");
        }
        assert_eq!(excerpt.column(13), 12);
        assert_eq!(Excerpt::of(&["a: 1"], 0).expect("a line").column(4), 4);
    }
}
