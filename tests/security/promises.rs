//! Each line of the tables in `docs/security.md` names a file and a test in it: they are there.

use std::fs;
use std::path::Path;

/// A line of a table: what is promised, and the tests that show it.
struct Promise {
    said: String,
    tests: Vec<(String, String)>,
}

fn promises(text: &str) -> Vec<Promise> {
    let lines = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| what"));
    lines
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
            let words: Vec<&str> =
                cells.last().map_or("", |cell| *cell).split('`').skip(1).step_by(2).collect();
            let mut file = String::new();
            let mut tests = Vec::new();
            for word in words {
                match word.ends_with(".rs") {
                    true => file = word.to_owned(),
                    false => tests.push((file.clone(), word.to_owned())),
                }
            }
            Promise { said: cells[0].trim().to_owned(), tests }
        })
        .collect()
}

/// Whether a text has this test: a function behind an attribute that makes it one, or a law.
fn has_test(text: &str, name: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_it = |line: &str| {
        let line = line.trim_start_matches("async ").strip_prefix("fn ");
        line.and_then(|line| line.strip_prefix(name)).is_some_and(|rest| rest.starts_with('('))
    };
    lines.iter().enumerate().any(|(at, line)| {
        let above =
            lines[..at].iter().rev().take_while(|line| line.starts_with("#[") || line.starts_with("//"));
        is_it(line)
            && above.into_iter().any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"))
    })
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_promise_has_its_tests() {
    let text = fs::read_to_string(root().join("docs/security.md")).expect("the page");
    let promises = promises(&text);
    assert!(promises.len() > 40, "only {} were found", promises.len());
    let mut wrong = Vec::new();
    for Promise { said, tests } in promises {
        if tests.is_empty() {
            wrong.push(format!("no test: {said}"));
        }
        for (file, test) in tests {
            let found = fs::read_to_string(root().join(&file)).is_ok_and(|text| has_test(&text, &test));
            if !found {
                wrong.push(format!("no `{test}` in `{file}`: {said}"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_check_bites() {
    let text = "| what | test |\n|---|---|\n| a | `x.rs` `one`, `two`; `y.rs` `three` |\n| b | nothing |\n";
    let found = promises(text);
    let names = |promise: &Promise| {
        promise.tests.iter().map(|(file, test)| format!("{file} {test}")).collect::<Vec<_>>()
    };
    assert_eq!(names(&found[0]), ["x.rs one", "x.rs two", "y.rs three"]);
    assert!(names(&found[1]).is_empty());
    let text = "#[test]\nfn a_test() {}\nfn no_test() {}\n#[tokio::test]\nasync fn another() {}\n    #[test]\n    // why\n    fn a_law(x in 1) {}\n";
    let has = |name| has_test(text, name);
    assert!(has("a_test") && has("another") && has("a_law"));
    assert!(!has("no_test") && !has("a_tes") && !has("missing"));
}
