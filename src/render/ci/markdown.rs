//! A comment below a pull request: the summary, then a block an object, with the difference as a diff.
//!
//! Whatever comes from files or a server stands in a fence that is longer than any in it, or in `<code>` with all that
//! means something to Markdown or HTML escaped: there it is no mention, no link and no markup.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::core::escape;
use crate::core::problem::Problem;
use crate::core::report::Action;

use super::super::problem;
use super::super::words::counted;
use super::Told;
use super::row::{Row, Standing};

/// Bytes of a comment. GitHub takes 65,536 characters, and other forges more.
const WHOLE: usize = 65_000;
/// Bytes that are kept for what was left out.
const REST: usize = 1_000;
/// Bytes of one object, so that a very large one leaves room for others.
const BLOCK: usize = 16_000;
/// Lines of a kind that stand above the objects.
const NOTES: usize = 8_000;

/// The comment.
pub fn document(told: &Told) -> String {
    let mut text = format!("### trueup {}\n\n**{}**\n", told.command, plain(&told.summary()));
    let lines = |lines: &mut dyn Iterator<Item = &str>| {
        let lines: Vec<&str> = lines.collect();
        lines.join("\n").trim_matches('\n').to_owned()
    };
    let recorded = told.recorded();
    let above = told.above.iter().chain(&told.notes).chain(&recorded);
    let notes = lines(&mut above.map(String::as_str));
    if !notes.is_empty() {
        let _ = write!(text, "\n{}", fence("", &notes, NOTES));
    }
    if !told.problems.is_empty() {
        let problems: Vec<String> = told.problems.iter().map(said).collect();
        let _ = write!(text, "\n{}", fence("", &problems.join("\n"), NOTES));
    }
    let mut rows: Vec<Row> = told.rows().into_iter().filter(|row| row.listed).collect();
    // What needs a look comes first: it is not to be what is left out.
    rows.sort_by_key(|row| !is_trouble(row));
    let mut left_out: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &rows {
        // What stands behind an object that has no room is not even written.
        let block = left_out.is_empty().then(|| block(row));
        match block.filter(|block| text.len() + block.len() <= WHOLE - REST) {
            Some(block) => text.push_str(&block),
            None => *left_out.entry(row.state).or_default() += 1,
        }
    }
    if !left_out.is_empty() {
        let number: usize = left_out.values().sum();
        let each: Vec<String> = left_out.iter().map(|(state, number)| format!("{number} {state}")).collect();
        let _ = write!(
            text,
            "\n**{} left out here, as a comment is at most 65,536 characters long:** {}.\n",
            match number {
                1 => "1 object is".to_owned(),
                _ => format!("{} are", counted(number, "object")),
            },
            each.join(", ")
        );
    }
    text
}

fn is_trouble(row: &Row) -> bool {
    let planned = matches!(row.rule, "create" | "update" | "replace" | "delete");
    row.standing == Standing::Error || (row.standing == Standing::Failure && !planned)
}

/// One object: its head, and its lines below it where there are any.
fn block(row: &Row) -> String {
    let (_, marker) = super::super::text::marker(row.entry);
    let place =
        row.origin().map(|origin| format!(" {}", code(&format!("{}:{}", origin.file, origin.at.line))));
    let since = row.since().map(|since| format!(" ({since})")).unwrap_or_default();
    let head = format!(
        "{} <b>{}</b> {}{since}{}",
        code(marker),
        code(&row.name),
        row.state,
        place.unwrap_or_default()
    );
    let lines: Vec<String> = row.lines().iter().map(|line| diff(line, row.entry.action)).collect();
    if lines.is_empty() {
        return format!("\n<p>{head}</p>\n");
    }
    let open = if is_trouble(row) { " open" } else { "" };
    format!(
        "\n<details{open}><summary>{head}</summary>\n\n{}\n</details>\n",
        fence("diff", &lines.join("\n"), BLOCK)
    )
}

/// A line with its sign in the first column, where a diff has its colours.
fn diff(line: &str, action: Action) -> String {
    if let Some(text) = line.strip_prefix("      ") {
        return match text.chars().next() {
            Some(sign @ ('+' | '-')) => format!("{sign}     {}", &text[1..]),
            Some('~') => format!("!     {}", &text[1..]),
            _ => line.to_owned(),
        };
    }
    match (line.strip_prefix("  "), action) {
        (Some(field), Action::Create) => format!("+ {field}"),
        (Some(field), _) => format!("! {field}"),
        (None, _) => line.to_owned(),
    }
}

fn said(problem: &Problem) -> String {
    problem::one(problem).to_plain().trim_end().to_owned()
}

/// Text in a fence, cut at a line where it is too long.
fn fence(language: &str, text: &str, most: usize) -> String {
    let mut body = text.to_owned();
    if text.len() > most {
        let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let whole = text[..end].rfind('\n').map_or(&text[..end], |line| &text[..line]);
        let more = text[whole.len()..].lines().filter(|line| !line.is_empty()).count();
        body = format!("{whole}\n… {}", counted(more, "more line"));
    }
    let longest = body.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{body}\n{fence}\n")
}

/// Text in `<code>`: nobody is mentioned in it, and nothing in it is a link. All punctuation is escaped, which may
/// mean something to Markdown.
fn code(text: &str) -> String {
    format!("<code>{}</code>", plain(text))
}

/// Text in which nothing means anything.
fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in escape::inline(text).chars() {
        match c {
            ' ' | ',' | '.' | ';' | '-' | '/' | ':' | '=' | '+' | '%' => shown.push(c),
            c if c.is_ascii_punctuation() => {
                let _ = write!(shown, "&#{};", u32::from(c));
            }
            c => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::sample::{applied, change, entry, plan};
    use super::super::Ci;
    use super::super::sample::{failed, hostile, told, written};
    use super::*;
    use crate::core::change::Reason;
    use crate::core::exit::Verb;
    use crate::core::report::{Outcome, Report};
    use serde_json::json;

    /// What stands in no fence and in no `<code>`: what Markdown and HTML have a say in.
    fn open(text: &str) -> String {
        let mut open = String::new();
        let mut fence: Option<&str> = None;
        for line in text.lines() {
            let ticks = line.trim_end_matches(|c| c != '`');
            match fence {
                Some(begun) if line.starts_with(begun) && line.trim_matches('`').is_empty() => fence = None,
                Some(_) => {}
                None if line.starts_with("```") => fence = Some(ticks),
                None => {
                    open.push_str(line);
                    open.push('\n');
                }
            }
        }
        assert_eq!(fence, None, "a fence is left open: {text}");
        let mut pieces = open.split("<code>");
        let first = pieces.next().unwrap_or_default().to_owned();
        pieces.fold(first, |all, piece| all + piece.split_once("</code>").expect("it ends").1)
    }

    #[test]
    fn a_plan_as_a_comment() {
        insta::assert_snapshot!(written(Ci::Markdown, &plan()), @r#"
            ### trueup plan

            **Plan: 1 to create, 1 to update, 1 refused, 1 conflict, 997 in sync. 1,001 objects seen in 6 requests.**

            <details open><summary><code>-/+</code> <b><code>Queue //orders</code></b> refused <code>manifests/queue.yaml:3</code></summary>

            ```diff
            ! durable   false → true   immutable: refused, needs --replace Queue///orders
            refused: replacing it loses its messages
            hint: --replace Queue///orders
            ```

            </details>

            <details open><summary><code>&#33;</code> <b><code>Policy //ha</code></b> conflict <code>manifests/policy.yaml:2</code></summary>

            ```diff
            conflict: `pattern` is "^ha-" at the base, "^ha\." here, "^h" there
            ```

            </details>

            <details><summary><code>&#126;</code> <b><code>Exchange //orders</code></b> to update <code>manifests/exchange.yaml:14</code></summary>

            ```diff
            ! arguments.alternate-exchange   "old" → "dead"          differs on the server
            - arguments.x-delay              60000                   closed: not declared
            + auto_delete                    false                   missing on the server
            ! tags                           ["b","a"] → ["a","b"]   order: the same elements, in another order
            - probes[name=live].path         "/x"                    null: must not be set
            ! password                       (secret, changed)       differs on the server
            PossibleOverwrite: the API offers no precondition
            hint: declare `version` if it has one
            ```

            </details>

            <details><summary><code>+</code> <b><code>Exchange //billing</code></b> to create <code>manifests/exchange.yaml:31</code></summary>

            ```diff
            + durable   true
            + teamId    (known after Team/platform is there)
            ```

            </details>
            "#);
    }

    #[test]
    fn an_apply_with_its_trouble_first() {
        insta::assert_snapshot!(told(Ci::Markdown, &applied(), &[], Verb::Apply), @r#"
            ### trueup apply

            **Applied: 1 created, 1 updated, 1 failed, 1 not effective, 1 unknown, 1 skipped, 1 in sync. 5 objects seen in 10 requests.**

            <details open><summary><code>&#33;</code> <b><code>Queue //slow</code></b> not effective <code>manifests/queue.yaml:9</code></summary>

            ```diff
            not effective: sent 5, the server stores 6
            ```

            </details>

            <details open><summary><code>&#33;</code> <b><code>Exchange //c</code></b> failed <code>manifests/exchange.yaml:1</code></summary>

            ```diff
            failed: creating it was answered 403
            hint: give the user the permission `configure`
            ```

            </details>

            <details open><summary><code>&#33;</code> <b><code>Policy //e</code></b> unknown <code>manifests/policy.yaml:1</code></summary>

            ```diff
            unknown: the listing is not complete
            ```

            </details>

            <p><code>+</code> <b><code>Queue //a</code></b> created <code>manifests/queue.yaml:1</code></p>

            <p><code>&#126;</code> <b><code>Queue //b</code></b> updated <code>manifests/queue.yaml:5</code></p>

            <details><summary><code>+</code> <b><code>Binding //d</code></b> skipped <code>manifests/binding.yaml:1</code></summary>

            ```diff
            skipped: `Exchange //c` is not settled
            ```

            </details>
            "#);
    }

    #[test]
    fn what_could_not_begin_is_told_too() {
        insta::assert_snapshot!(failed(
            Ci::Markdown,
            "plan",
            &[Problem::new("no `x` in ```y```").hint("add `x`")]
        ), @r#"
            ### trueup plan

            **&#96;trueup plan&#96; came to no result, for 1 error: exit code 65.**

            ````
            error: no `x` in ```y```
            hint: add `x`
            ````
            "#);
    }

    #[test]
    fn no_value_gets_out_of_its_place() {
        for text in [
            "```\n</details>\n# @everyone",
            "`````````` x",
            "</code></b></summary><img src=x onerror=alert(1)>",
            "[click](https://evil.example) @octo-org/team #1 GH-1",
            "| a | b |\n|---|---|",
            "<!-- --> &lt; &#64;team www.evil.example",
            "~~~\n~~~",
        ] {
            let shown = written(Ci::Markdown, &hostile(text));
            let open = open(&shown);
            for word in ["everyone", "evil", "octo", "img", "alert", "|", "[", "~~~", "<!--", "@", "`"] {
                assert!(!open.contains(word), "{word} of {text:?} in {open}");
            }
            for tag in open.split('<').skip(1) {
                let known = [
                    "details>",
                    "details open>",
                    "summary>",
                    "/summary>",
                    "/details>",
                    "b>",
                    "/b>",
                    "p>",
                    "/p>",
                ];
                assert!(known.iter().any(|known| tag.starts_with(known)), "{tag}");
            }
        }
    }

    #[test]
    fn a_comment_is_never_too_long_and_says_what_is_left_out() {
        let long = "x".repeat(50_000) + "`";
        let object = |at: usize| {
            let mut object = entry("Queue", &format!("q{at}"), 1, Action::Update, Outcome::Planned);
            let lines = |end: &str| json!((0..2_000).map(|i| format!("{i} {end}\n")).collect::<String>());
            object.changes = vec![
                change("a", Some(json!(long)), Some(json!(long.clone() + "y")), Reason::Declared),
                change("b", Some(lines("old")), Some(lines("new")), Reason::Declared),
            ];
            object
        };
        let mut objects: Vec<_> = (0..3_000).map(object).collect();
        objects.push(entry("Queue", "broken", 1, Action::None, Outcome::Unknown(Default::default())));
        let shown = written(Ci::Markdown, &Report { objects, ..Report::default() });
        assert!(shown.len() < 65_536, "{}", shown.len());
        let at = |text: &str| shown.find(text).expect(text);
        assert!(at("broken") < at("q0"), "what needs a look comes first");
        let kept = shown.matches("<details").count() - 1;
        let left = super::super::super::words::grouped(3_000 - kept as u64);
        assert!(kept > 5 && shown.contains(&format!("{left} objects are left out here")), "{kept}");
        open(&shown);
    }

    #[test]
    fn one_huge_object_is_cut_inside_its_fence() {
        let mut object = entry("Queue", "q", 1, Action::Create, Outcome::Planned);
        object.changes =
            (0..3_000).map(|i| change(&format!("f{i}"), None, Some(json!(i)), Reason::Declared)).collect();
        let shown = written(Ci::Markdown, &Report { objects: vec![object], ..Report::default() });
        assert!(shown.contains("more lines\n```\n\n</details>"), "{}", &shown[shown.len() - 300..]);
        assert!(shown.len() < BLOCK + 1_000);
    }

    proptest! {
        #[test]
        fn any_text_stays_in_its_place(text in "(?s)([`<>&\n|@\\[\\]()]|.){0,30}") {
            let shown = written(Ci::Markdown, &hostile(&text));
            let open = open(&shown);
            prop_assert!(!open.contains(['`', '[', '@', '|']), "{}", open);
            prop_assert!(shown.len() < 65_536);
        }
    }
}
