//! The reference has every word of the language, each in the table of its own, and no other: `<!-- words: NAME -->`
//! stands above such a table, whose first column has the words.

use std::collections::BTreeSet;

use super::{auth, connection, kind, listing, operation, template, token, watch, words};
use crate::backend::preset;
use crate::core::filter::VARIABLES;

const PAGES: [&str; 9] = [
    include_str!("../../../docs/backend.md"),
    include_str!("../../../docs/backend/answers.md"),
    include_str!("../../../docs/backend/credentials.md"),
    include_str!("../../../docs/backend/feeds.md"),
    include_str!("../../../docs/backend/fields.md"),
    include_str!("../../../docs/backend/filters.md"),
    include_str!("../../../docs/backend/identity.md"),
    include_str!("../../../docs/backend/listings.md"),
    include_str!("../../../docs/backend/operations.md"),
];

/// Filters of our own that are not in the prelude's file.
const NATIVE: [&str; 5] = ["quantity", "duration", "timestamp", "cidr", "url"];

/// Helpers of the prelude, and jq's own in a bounded form.
const UNSAID: [&str; 4] = ["character", "getpath", "setpath", "delpaths"];

#[test]
fn every_word_is_in_the_reference() {
    let fields: Vec<&str> = words::PLAIN.into_iter().chain(words::WITH_VALUE).collect();
    let send: Vec<&str> = operation::SEND.iter().map(|(word, _)| *word).collect();
    let ways: Vec<&str> = listing::PAGE_BY.iter().map(|(word, _)| *word).collect();
    let placeholders: Vec<&str> = template::WORDS.iter().map(|(word, _)| *word).chain(["part"]).collect();
    let functions: Vec<&str> = prelude().into_iter().chain(NATIVE).collect();
    let feeds: Vec<&str> = watch::WATCH_BY.iter().map(|(word, _)| *word).chain([watch::WEBHOOK]).collect();
    let tables: [(&str, &[&str]); 20] = [
        ("backend", &super::SPEC),
        ("limits", &connection::LIMITS),
        ("tls", &connection::TLS),
        ("auth", &auth::WAYS),
        ("oauth2", &token::OAUTH2),
        ("login", &token::LOGIN),
        ("kind", &kind::MEMBERS),
        ("operation", &operation::OPERATION),
        ("wait", &operation::WAIT),
        ("idempotency", &operation::IDEMPOTENCY),
        ("send", &send),
        ("placeholders", &placeholders),
        ("list", &listing::LISTING),
        ("page", &listing::PAGE),
        ("page-by", &ways),
        ("watch", &watch::WATCH),
        ("watch-by", &feeds),
        ("fields", &fields),
        ("variables", &VARIABLES),
        ("functions", &functions),
    ];
    for (name, words) in tables {
        let accepted: BTreeSet<String> = words.iter().map(|&word| word.to_owned()).collect();
        assert_eq!(
            table(name),
            accepted,
            "the table `{name}` of the reference, and what the language accepts"
        );
    }
    let named = PAGES.iter().flat_map(|page| page.split("<!-- words: ").skip(1));
    assert_eq!(named.count(), tables.len(), "a table of words that nothing checks");
}

#[test]
fn every_preset_is_in_the_reference() {
    for name in preset::names() {
        assert!(PAGES[0].contains(&format!("| [`{name}`](../manifests/backends/{name}.yaml) |")), "{name}");
    }
}

/// The words in the first column of a table.
fn table(name: &str) -> BTreeSet<String> {
    let mark = format!("<!-- words: {name} -->\n");
    let below = PAGES.iter().find_map(|page| page.split_once(&mark));
    let (_, below) = below.unwrap_or_else(|| panic!("no page has a table `{name}`"));
    let rows = below.lines().take_while(|line| line.starts_with('|')).skip(2);
    let first = rows.filter_map(|row| row.split('|').nth(1));
    first.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(word).collect()
}

/// `mask=REGEX`, `{id}` and `$key` without what stands around the word.
fn word(span: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let start = span.trim_start_matches(|c| !is_word(c));
    start.split(|c| !is_word(c)).next().unwrap_or_default().to_owned()
}

fn prelude() -> Vec<&'static str> {
    let definitions = include_str!("../../core/filter/prelude.jq").lines();
    let names = definitions.filter_map(|line| line.strip_prefix("def ")?.split([':', '(']).next());
    names.filter(|name| !UNSAID.contains(name)).collect()
}
