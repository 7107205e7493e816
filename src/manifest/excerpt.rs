//! Puts the line of the file under each problem, in one pass over each file however many problems there are.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::core::excerpt::Excerpt;
use crate::core::problem::Problem;
use crate::core::raw::Source;

/// The longest excerpt, in characters; a file may be one line of megabytes. What is shown of it is cut when its
/// secrets are out, as half a secret is found by nobody: so it is much more than that.
const LONGEST: usize = 16_000;
/// Of a place further on nothing is shown: what stands around it would end at the cut.
const LAST_COLUMN: u32 = 8_000;

/// Fills in the excerpts that are missing.
pub fn add(problems: &mut [Problem], sources: &[Arc<Source>]) {
    let mut wanted: BTreeMap<(Arc<str>, u32), Vec<usize>> = BTreeMap::new();
    for (i, problem) in problems.iter().enumerate() {
        let near = problem.origin.as_ref().filter(|origin| origin.at.column <= LAST_COLUMN);
        if let (Some(origin), None) = (near, &problem.excerpt) {
            wanted.entry((origin.file.clone(), origin.at.line)).or_default().push(i);
        }
    }
    for source in sources {
        let lines = (source.file.clone(), 0)..=(source.file.clone(), u32::MAX);
        let mut lines = wanted.range(lines).peekable();
        if lines.peek().is_none() {
            continue;
        }
        let all: Vec<&str> = source.text.lines().map(cut).collect();
        for ((_, line), indexes) in lines {
            let Some(excerpt) = (*line as usize).checked_sub(1).and_then(|at| Excerpt::of(&all, at)) else {
                continue;
            };
            let excerpt = {
                let text = shown(&excerpt.text);
                excerpt.with(text)
            };
            indexes.iter().for_each(|i| problems[*i].show(&excerpt));
        }
    }
}

/// The line without a byte order mark, and no longer than is looked at.
fn cut(line: &str) -> &str {
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    match line.char_indices().nth(LONGEST + 1) {
        Some((end, _)) => &line[..end],
        None => line,
    }
}

/// The line as it may be shown: cut, and without a secret that stands where only its source should
/// (`!secret hunter2`).
fn shown(line: &str) -> String {
    if let Some((before, after)) = line.split_once("!secret ") {
        let source = after.trim_start();
        if !source.starts_with("env:") && !source.starts_with("file:") {
            return format!("{before}!secret …");
        }
    }
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::node::{Origin, Pos};

    #[test]
    fn each_problem_gets_its_line() {
        let source = |file: &str, text: &str| Arc::new(Source { file: file.into(), text: text.into() });
        let sources = [
            source("a", "\u{feff}one\r\ntwo\n"),
            source("b", &"x".repeat(LONGEST + 100)),
            source("c", "p: !secret hunter2"),
        ];
        let at = |file: &str, line| {
            Problem::new("x").at(Origin { file: file.into(), at: Pos { line, column: 1 } })
        };
        let mut far = at("b", 1);
        far.origin.as_mut().expect("it has a place").at.column = LAST_COLUMN + 1;
        let mut problems = vec![
            at("a", 2),
            at("a", 1),
            at("b", 1),
            at("a", 2),
            at("a", 9),
            at("c", 1),
            Problem::new("y"),
            far,
        ];
        add(&mut problems, &sources);
        let excerpts: Vec<Option<&str>> = problems.iter().map(|p| p.excerpt.as_deref()).collect();
        let cut = format!("{}…", "x".repeat(LONGEST));
        let want = [
            Some("two"),
            Some("one"),
            Some(cut.as_str()),
            Some("two"),
            None,
            Some("p: !secret …"),
            None,
            None,
        ];
        assert_eq!(excerpts, want);
    }
}
