//! What is wrong with the input: where, the line itself with a mark under the place, and what to do.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::core::escape;
use crate::core::problem::Problem;

use super::json::{self, Position, SCHEMA_VERSION};
use super::paint::{Line, Style, Text};
use super::words::counted;

/// Columns between two stops of a tab.
const TAB: usize = 4;
/// The widest excerpt; of a longer line the part around the place is shown.
const WIDEST: usize = 100;
/// Columns shown before the place in a line that is cut.
const BEFORE: usize = 60;

/// All problems, and a count of them.
pub fn text(problems: &[Problem]) -> Text {
    let mut text = Text::new();
    for problem in problems {
        text.append(one(problem));
    }
    let warnings = problems.iter().filter(|problem| problem.warning).count();
    let errors = problems.len() - warnings;
    let count = |style, number, noun| (number > 0).then(|| Line::new().with(style, &counted(number, noun)));
    match (count(Style::Bad, errors, "error"), count(Style::Change, warnings, "warning")) {
        (Some(mut errors), Some(warnings)) => {
            errors.push(Style::Plain, ", ");
            errors.append(warnings);
            text.push(errors.with(Style::Plain, "."));
        }
        (Some(line), None) | (None, Some(line)) => text.push(line.with(Style::Plain, ".")),
        (None, None) => {}
    }
    text
}

/// One problem, without the count.
pub fn one(problem: &Problem) -> Text {
    let (style, word) = if problem.warning { (Style::Change, "warning") } else { (Style::Bad, "error") };
    let mut head = Line::new().with(style, word).with(Style::Plain, ": ");
    if let Some(origin) = &problem.origin {
        head.push(Style::Aid, &origin.to_string());
        head.push(Style::Plain, ": ");
    }
    head.push(Style::Strong, &problem.message);
    let mut text = Text { lines: vec![head] };
    if let (Some(origin), Some(excerpt)) = (&problem.origin, &problem.excerpt) {
        let number = origin.at.line.to_string();
        let margin = " ".repeat(number.len());
        let (shown, mark) = excerpt_of(excerpt, problem.column.unwrap_or(origin.at.column));
        text.push(Line::new().with(Style::Dim, &format!("{margin} |")));
        text.push(Line::new().with(Style::Dim, &format!("{number} | ")).with(Style::Plain, &shown));
        let under = Line::new().with(Style::Dim, &format!("{margin} | "));
        text.push(under.with(Style::Plain, &" ".repeat(mark)).with(style, "^"));
    }
    if let Some(hint) = &problem.hint {
        text.push(Line::new().with(Style::Aid, "hint").with(Style::Plain, &format!(": {hint}")));
    }
    text
}

/// The line as it is shown, and the column (from 0) under which the mark of character `column` (from 1)
/// stands. Tabs become spaces, wide characters take two columns, and escapes as many as they have letters.
fn excerpt_of(line: &str, column: u32) -> (String, usize) {
    let target = (column as usize).saturating_sub(1);
    let mut cells: Vec<(String, usize)> = Vec::new();
    let mut start = 0;
    let mut mark = None;
    for (i, c) in line.chars().enumerate() {
        if i == target {
            mark = Some(start);
        }
        // A line that is far longer than what is shown is not looked at to its end.
        if mark.is_some_and(|mark| start > mark + WIDEST) {
            break;
        }
        let shown = match c {
            '\t' => " ".repeat(TAB - start % TAB),
            c => escape::inline(c.encode_utf8(&mut [0; 4])).into_owned(),
        };
        let width = if shown.chars().count() == 1 { c.width().unwrap_or(0) } else { shown.width() };
        cells.push((shown, start));
        start += width;
    }
    let mark = mark.unwrap_or(start);
    if start <= WIDEST {
        return (cells.into_iter().map(|(shown, _)| shown).collect(), mark);
    }
    let from = mark.saturating_sub(BEFORE);
    let first = cells.iter().position(|(_, start)| *start >= from).unwrap_or(0);
    let left = cells.get(first).map_or(0, |(_, start)| *start);
    let mut shown = if first > 0 { String::from("…") } else { String::new() };
    let dots = usize::from(first > 0);
    let inside = cells[first..].iter().take_while(|(_, start)| *start < left + WIDEST);
    shown.extend(inside.map(|(shown, _)| shown.as_str()));
    if start > left + WIDEST {
        shown.push('…');
    }
    (shown, mark - left + dots)
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'p> {
    schema_version: u32,
    command: &'p str,
    summary: Summary,
    problems: Vec<Row<'p>>,
}

#[derive(serde::Serialize)]
struct Summary {
    errors: usize,
    warnings: usize,
}

#[derive(serde::Serialize)]
struct Row<'p> {
    level: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<Position<'p>>,
    message: &'p str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'p str>,
}

/// A row that stands alone.
#[derive(serde::Serialize)]
struct Typed<'p> {
    r#type: &'static str,
    #[serde(flatten)]
    row: Row<'p>,
}

/// All problems as one JSON document.
pub fn document(problems: &[Problem], command: &str) -> String {
    let warnings = problems.iter().filter(|problem| problem.warning).count();
    let summary = Summary { errors: problems.len() - warnings, warnings };
    let problems = problems.iter().map(row).collect();
    json::pretty(&Document { schema_version: SCHEMA_VERSION, command, summary, problems })
}

/// All problems as JSON, one a line, each with its type as in a report.
pub fn lines(problems: &[Problem]) -> String {
    let line = |problem| json::line(&Typed { r#type: "problem", row: row(problem) });
    problems.iter().map(line).collect()
}

fn row(problem: &Problem) -> Row<'_> {
    Row {
        level: if problem.warning { "warning" } else { "error" },
        position: problem.origin.as_ref().map(Position::of),
        message: &problem.message,
        hint: problem.hint.as_deref(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::node::{Origin, Pos};
    use proptest::prelude::*;

    fn problem(line: u32, column: u32, excerpt: &str) -> Problem {
        let at = Origin { file: "manifests/a.yaml".into(), at: Pos { line, column } };
        let mut problem = Problem::new("duplicate key `name`").at(at).hint("remove one of the two");
        problem.excerpt = Some(excerpt.into());
        problem
    }

    #[test]
    fn all_problems_and_a_count() {
        let bare = Problem::new("no documents in `manifests/`").warning();
        insta::assert_snapshot!(text(&[problem(103, 5, "    name: b"), bare]).to_plain(), @"
            error: manifests/a.yaml:103:5: duplicate key `name`
                |
            103 |     name: b
                |     ^
            hint: remove one of the two
            warning: no documents in `manifests/`
            1 error, 1 warning.
            ");
        assert_eq!(text(&[]).to_plain(), "");
    }

    #[test]
    fn a_problem_in_colour() {
        let coloured = one(&problem(3, 5, "    name: b")).write(true, str::to_owned);
        insta::assert_snapshot!(coloured.replace('\u{1b}', "␛"), @"
            ␛[31merror␛[0m: ␛[36mmanifests/a.yaml:3:5␛[0m: ␛[1mduplicate key `name`␛[0m
            ␛[2m  |␛[0m
            ␛[2m3 | ␛[0m    name: b
            ␛[2m  | ␛[0m    ␛[31m^␛[0m
            ␛[36mhint␛[0m: remove one of the two
            ");
    }

    #[test]
    fn the_mark_stands_under_the_place() {
        for (line, column, shown, mark) in [
            ("a: b", 1, "a: b", 0),
            ("a: b", 4, "a: b", 3),
            ("a: b", 9, "a: b", 4),
            ("\ta: b", 2, "    a: b", 4),
            ("ab\tc", 4, "ab  c", 4),
            ("日本: x", 5, "日本: x", 6),
            ("\u{1b}[2J x", 6, "\\u{1b}[2J x", 10),
            ("e\u{301}: x", 5, "e\u{301}: x", 3),
            ("", 1, "", 0),
        ] {
            assert_eq!(excerpt_of(line, column), (shown.to_owned(), mark), "{line:?} at {column}");
        }
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let line = format!("{}HERE{}", "a".repeat(5_000), "b".repeat(5_000));
        let (shown, mark) = excerpt_of(&line, 5_001);
        assert!(shown.starts_with("…aaa") && shown.ends_with("bbb…"), "{shown}");
        assert_eq!(shown.chars().skip(mark).take(4).collect::<String>(), "HERE");
        assert!(shown.width() <= WIDEST + 2);
    }

    #[test]
    fn problems_as_json() {
        insta::assert_snapshot!(document(&[problem(3, 5, "    name: b")], "validate"), @r#"
            {
              "schemaVersion": 1,
              "command": "validate",
              "summary": {
                "errors": 1,
                "warnings": 0
              },
              "problems": [
                {
                  "level": "error",
                  "position": {
                    "file": "manifests/a.yaml",
                    "line": 3,
                    "column": 5
                  },
                  "message": "duplicate key `name`",
                  "hint": "remove one of the two"
                }
              ]
            }
            "#);
        insta::assert_snapshot!(lines(&[Problem::new("a").warning()]), @r#"{"type":"problem","level":"warning","message":"a"}"#);
    }

    proptest! {
        #[test]
        fn any_line_and_place_can_be_shown(line in "(?s).{0,300}", column in 0u32..400) {
            let (shown, mark) = excerpt_of(&line, column);
            prop_assert!(mark <= shown.width().max(shown.chars().count()) + 1);
        }
    }
}
