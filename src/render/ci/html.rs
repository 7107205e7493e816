//! One page with all of a run: without a script, asking for nothing from anywhere, in light and in dark.

use super::super::markup::Markup;
use super::super::paint::{Style, Text};
use super::super::{problem, text};
use super::Told;
use super::row::{Level, Row, Standing};

/// The style, which stands in the page.
const STYLE: &str = include_str!("page.css");

/// The page.
pub fn document(told: &Told) -> String {
    let summary = told.summary();
    let mut page = Markup::default();
    page.raw("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    // A page that is kept as an artifact of a job is shown from wherever that is.
    page.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">");
    page.raw("<title>trueup ").text(told.command).raw("</title><style>").raw(STYLE);
    page.raw("</style></head><body><main><h1>trueup ").text(told.command).raw("</h1>\n<p>");
    page.text(&summary).raw("</p>\n");
    if let Some(recorded) = told.recorded() {
        page.raw("<p>").text(&recorded).raw("</p>\n");
    }
    let notes: Vec<&String> = told.above.iter().chain(&told.notes).collect();
    if !notes.is_empty() {
        page.raw("<div class=\"one is-warn\"><pre>");
        notes.iter().for_each(|note| {
            page.text(note).raw("\n");
        });
        page.raw("</pre></div>\n");
    }
    for said in told.problems {
        let tone = if said.warning { " is-warn\"><pre>" } else { " is-bad\"><pre>" };
        page.raw("<div class=\"one").raw(tone);
        lines(&mut page, &problem::one(said), 0);
        page.raw("</pre></div>\n");
    }
    told.rows().iter().filter(|row| row.listed).for_each(|row| object(&mut page, row));
    page.raw("</main></body></html>\n");
    page.into_text()
}

fn object(page: &mut Markup, row: &Row) {
    let details = row.text();
    let (open, close) = match details.lines.is_empty() {
        true => ("<div class=\"one", "</div>\n"),
        false => ("<details open class=\"one", "</details>\n"),
    };
    page.raw(open).raw(tone(row)).raw("\">");
    page.raw(if details.lines.is_empty() { "<span>" } else { "<summary>" });
    let (style, marker) = text::marker(row.entry);
    page.raw("<span class=\"state ").raw(class(style)).raw("\">").text(row.state);
    if let Some(since) = row.since() {
        page.raw(" – ").text(since);
    }
    page.raw("</span><code class=\"").raw(class(style)).raw("\">").text(marker).raw("</code> ");
    page.raw("<strong>").text(&row.name).raw("</strong>");
    if let Some(origin) = row.origin() {
        page.raw(" <span class=\"dim\">").text(&origin.file).raw(":").number(origin.at.line).raw("</span>");
    }
    if details.lines.is_empty() {
        page.raw("</span>");
    } else {
        page.raw("</summary><pre>");
        lines(page, &details, 4);
        page.raw("</pre>");
    }
    page.raw(close);
}

/// Lines with the meaning of their words, without the first columns, which are empty.
fn lines(page: &mut Markup, text: &Text, skipped: usize) {
    for line in &text.lines {
        let mut skip = skipped;
        for (style, words) in line.spans() {
            let words = match skip {
                0 => words,
                _ => {
                    let empty = words.len() - words.trim_start_matches(' ').len();
                    let cut = empty.min(skip);
                    skip = if empty == words.len() { skip - cut } else { 0 };
                    &words[cut..]
                }
            };
            match style {
                Style::Plain => page.text(words),
                style => page.raw("<span class=\"").raw(class(style)).raw("\">").text(words).raw("</span>"),
            };
        }
        page.raw("\n");
    }
}

fn class(style: Style) -> &'static str {
    match style {
        Style::Plain => "plain",
        Style::Strong => "strong",
        Style::Good => "good",
        Style::Change => "change",
        Style::Bad => "bad",
        Style::Aid => "aid",
        Style::Dim => "dim",
    }
}

fn tone(row: &Row) -> &'static str {
    match (row.standing, row.level) {
        (Standing::Well, _) => " is-good",
        (Standing::Failure | Standing::Error, Level::Error) => " is-bad",
        _ => " is-warn",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::sample::{applied, plan};
    use super::super::Ci;
    use super::super::sample::{failed, hostile, told, written};
    use crate::core::exit::Verb;
    use crate::core::problem::Problem;

    /// The page without its style and its head, one element a line.
    fn body(page: &str) -> String {
        page.split_once("<main>").expect("a body").1.replace('<', "\n<")
    }

    /// What a reader of the page sees.
    fn words(page: &str) -> String {
        let body = page.split_once("<main>").expect("a body").1;
        let bare: String =
            body.split('<').filter_map(|piece| piece.split_once('>')).map(|(_, text)| text).collect();
        let marks = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
        marks.into_iter().fold(bare, |text, (mark, c)| text.replace(mark, c))
    }

    #[test]
    fn all_that_text_says_is_on_the_page() {
        for (report, verb) in [(plan(), Verb::Plan), (applied(), Verb::Apply)] {
            let page = told(Ci::Html, &report, &[Problem::new("by the way").warning()], verb);
            let said = words(&page);
            for row in super::super::row::all(&report, &super::super::sample::VIEW) {
                assert_eq!(said.contains(&row.name), row.listed, "{}", row.name);
                for line in row.lines().iter().filter(|_| row.listed) {
                    assert!(said.contains(line), "{line} in {said}");
                }
            }
            assert!(page.contains("by the way"));
        }
    }

    #[test]
    fn a_page_of_what_could_not_begin() {
        let page = failed(Ci::Html, "plan", &[Problem::new("no file `<x>`").hint("add it")]);
        insta::assert_snapshot!(body(&page), @r#"

            <h1>trueup plan
            </h1>

            <p>`trueup plan` came to no result, for 1 error: exit code 65.
            </p>

            <div class="one is-bad">
            <pre>
            <span class="bad">error
            </span>: 
            <span class="strong">no file `&lt;x&gt;`
            </span>

            <span class="aid">hint
            </span>: add it

            </pre>
            </div>

            </main>
            </body>
            </html>
            "#);
    }

    #[test]
    fn the_page_fetches_and_runs_nothing() {
        let page = written(Ci::Html, &plan());
        for word in ["<script", "http://", "https://", "url(", "@import", "javascript:", "onload"] {
            assert!(!page.contains(word), "{word}");
        }
    }

    /// Elements that are opened and closed by the page itself, in this order.
    fn elements(page: &str) -> Vec<String> {
        let names = page.split('<').skip(1).map(|tag| tag.split([' ', '>']).next().unwrap_or_default());
        names.map(str::to_owned).collect()
    }

    proptest! {
        #[test]
        fn no_text_becomes_an_element(text in "(?s)([<>&\"'/=\n]|script|.){0,30}") {
            let page = written(Ci::Html, &hostile(&text));
            let known = ["!doctype", "html", "head", "meta", "title", "style", "body", "main", "h1", "p", "pre", "div",
                "details", "summary", "span", "strong", "code"];
            let mut open: Vec<String> = Vec::new();
            for element in elements(&page) {
                let name = element.trim_start_matches('/');
                prop_assert!(known.contains(&name), "{}", element);
                match element.starts_with('/') {
                    true => prop_assert_eq!(open.pop(), Some(name.to_owned())),
                    false if ["meta", "!doctype"].contains(&name) => {}
                    false => open.push(name.to_owned()),
                }
            }
            prop_assert!(open.is_empty());
        }
    }
}
