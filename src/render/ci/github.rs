//! Workflow commands of GitHub Actions: an annotation an object, then the summary as a plain line.
//!
//! The runner takes a line for a command that begins with `::`, after any space, or has `##[` anywhere. All that is not
//! ours is escaped as GitHub's own toolkit does it, and stays on its line.

use crate::core::escape;
use crate::core::node::Origin;

use super::Told;
use super::row::{self, Level};

/// The longest message, in characters: the runner cuts longer ones, at a place of its own.
const LONGEST: usize = 4_000;

/// All commands, and the summary.
pub fn lines(told: &Told) -> String {
    let mut text = String::new();
    for problem in told.problems {
        let title = if problem.warning { "warning" } else { "error" };
        let title = format!("trueup {}: {title}", told.command);
        text.push_str(&command(
            told,
            row::level(problem),
            problem.origin.as_ref(),
            &title,
            &row::said(problem),
        ));
    }
    for row in told.rows() {
        let (origin, name) = (row.origin(), &row.name);
        if row.listed && row.standing != row::Standing::Well {
            let mut lines = row.lines();
            lines.splice(0..0, row.since().map(str::to_owned));
            let message = if lines.is_empty() { row.state.to_owned() } else { lines.join("\n") };
            let title = format!("{name}: {}", row.state);
            text.push_str(&command(told, row.level, origin, &title, &message));
            continue;
        }
        for finding in row.findings() {
            let title = format!("{name}: {}", finding.code);
            let hint = finding.hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
            let message = format!("{}{hint}", finding.message);
            text.push_str(&command(told, Level::Warning, origin, &title, &message));
        }
    }
    for aside in told.asides() {
        let title = format!("{}: {}", aside.id, aside.rule);
        text.push_str(&command(told, Level::Note, aside.origin, &title, &aside.lines.join("\n")));
    }
    for note in told.above.iter().chain(&told.brief).filter(|note| !note.trim().is_empty()) {
        text.push_str(&command(told, Level::Note, None, &format!("trueup {}", told.command), note.trim()));
    }
    text.push_str(&harmless(&told.summary()));
    text.push('\n');
    if let Some(recorded) = told.recorded() {
        text.push_str(&harmless(&recorded));
        text.push('\n');
    }
    text
}

fn command(told: &Told, level: Level, origin: Option<&Origin>, title: &str, message: &str) -> String {
    let word = match level {
        Level::Note => "notice",
        Level::Warning => "warning",
        Level::Error => "error",
    };
    let mut properties = Vec::new();
    if let Some((file, at)) = origin.and_then(|origin| Some((told.places.of(&origin.file)?, origin.at))) {
        properties.push(format!("file={}", property(&file)));
        properties.push(format!("line={}", at.line));
        properties.push(format!("col={}", at.column));
    }
    properties.push(format!("title={}", property(title)));
    format!("::{word} {}::{}\n", properties.join(","), data(&cut(message)))
}

/// The first part of a long message.
fn cut(message: &str) -> String {
    if message.chars().nth(LONGEST).is_none() {
        return message.to_owned();
    }
    let head: String = message.chars().take(LONGEST).collect();
    let whole = head.rfind('\n').map_or(&*head, |end| &head[..end]);
    let more = message[whole.len()..].lines().filter(|line| !line.is_empty()).count();
    format!("{whole}\n… and {}", super::super::words::counted(more, "more line"))
}

/// A message, as the toolkit escapes it: `%` and line ends. What else acts on a terminal is shown.
fn data(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| escape::inline(line).replace('%', "%25")).collect();
    lines.join("%0A")
}

/// A property, as the toolkit escapes it.
fn property(text: &str) -> String {
    data(&escape::inline(text)).replace(':', "%3A").replace(',', "%2C")
}

/// Text that the runner shows and does not take for commands: a backslash stands in the way of both marks.
pub fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let start = line.len() - line.trim_start().len();
        if line[start..].starts_with("::") {
            shown.push_str(&line[..start]);
            shown.push('\\');
            shown.push_str(&line[start..].replace("##[", "##\\["));
        } else {
            shown.push_str(&line.replace("##[", "##\\["));
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Ci;
    use super::super::sample::{hostile, written};
    use super::*;

    /// What the runner would take for a command.
    fn is_command(line: &str) -> bool {
        line.trim_start().starts_with("::") || line.contains("##[")
    }

    #[test]
    fn a_plan_as_annotations() {
        insta::assert_snapshot!(written(Ci::Github, &super::super::super::sample::plan()), @r#"
            ::notice file=infra/manifests/exchange.yaml,line=14,col=1,title=Exchange //orders%3A to update::  arguments.alternate-exchange   "old" → "dead"          differs on the server%0A- arguments.x-delay              60000                   closed: not declared%0A+ auto_delete                    false                   missing on the server%0A  tags                           ["b","a"] → ["a","b"]   order: the same elements, in another order%0A- probes[name=live].path         "/x"                    null: must not be set%0A  password                       (secret, changed)       differs on the server%0APossibleOverwrite: the API offers no precondition%0Ahint: declare `version` if it has one
            ::error file=infra/manifests/queue.yaml,line=3,col=1,title=Queue //orders%3A refused::  durable   false → true   immutable: refused, needs --replace Queue///orders%0Arefused: replacing it loses its messages%0Ahint: --replace Queue///orders
            ::notice file=infra/manifests/exchange.yaml,line=31,col=1,title=Exchange //billing%3A to create::  durable   true%0A  teamId    (known after Team/platform is there)
            ::error file=infra/manifests/policy.yaml,line=2,col=1,title=Policy //ha%3A conflict::conflict: `pattern` is "^ha-" at the base, "^ha\." here, "^h" there
            Plan: 1 to create, 1 to update, 1 refused, 1 conflict, 997 in sync. 1,001 objects seen in 6 requests.
            "#);
    }

    #[test]
    fn nothing_starts_a_command_of_its_own() {
        for text in [
            "::error::x",
            "a\n::stop-commands::x",
            "\r\n::set-output name=a::b",
            "##[error]x",
            "a,line=1:: b%0A",
        ] {
            let said = written(Ci::Github, &hostile(text));
            for line in said.lines().filter(|line| is_command(line)) {
                let known = ["::error ", "::warning ", "::notice "].iter().any(|word| line.starts_with(word));
                assert!(known, "{line}");
                let (properties, message) = line[2..].split_once("::").expect(line);
                let (_, properties) = properties.split_once(' ').expect(line);
                for property in properties.split(',') {
                    let (name, value) = property.split_once('=').expect(line);
                    assert!(["file", "line", "col", "title"].contains(&name), "{line}");
                    assert!(!value.contains(':'), "{line}");
                }
                let marks = message.replace("%25", "").replace("%0A", "").replace("%0D", "");
                assert!(!marks.contains('%'), "{line}");
            }
            assert!(!said.contains('\r'), "{said}");
        }
    }

    #[test]
    fn the_toolkit_escapes_so() {
        assert_eq!(data("100%\r\n\t::x"), "100%25\\u{d}%0A\\t::x");
        assert_eq!(property("a:b,c%\n"), "a%3Ab%2Cc%25\\n");
    }

    #[test]
    fn long_messages_are_cut_at_a_line() {
        let lines: Vec<String> = (0..1_000).map(|i| format!("field{i}   1 → 2")).collect();
        let shown = cut(&lines.join("\n"));
        assert!(shown.chars().count() <= LONGEST + 30);
        let kept = shown.lines().count() - 1;
        assert!(shown.ends_with(&format!("\n… and {} more lines", 1_000 - kept)), "{shown}");
    }

    proptest! {
        #[test]
        fn harmless_text_holds_no_command(text in "(?s)([ :#\\[a\n]|.){0,40}") {
            prop_assert!(!harmless(&text).split('\n').any(is_command));
        }
    }
}
