//! Runs the folders of `tests/cases/`: a story of kinds, files and a server's answers needs no code. Their
//! README says what is in a folder. `TRUEUP_BLESS=1 cargo test --test cases` writes what came out in the place
//! of what was expected; `TRUEUP_CASE=part-of-a-name` runs some of them.

#[path = "exchange/case.rs"]
mod case;
#[path = "exchange/server.rs"]
mod server;

use std::fs;
use std::path::{Path, PathBuf};

use case::Case;

#[test]
fn cases() {
    let only = std::env::var("TRUEUP_CASE").unwrap_or_default();
    let mut folders = folders();
    assert!(!folders.is_empty(), "the cases were not found");
    folders.retain(|folder| folder.to_string_lossy().contains(&only));
    let mut wrong = Vec::new();
    for folder in folders {
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        if let Err(text) = Case::read(&folder).and_then(|case| case.check()) {
            wrong.push(format!("{name}: {text}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n\n"));
}

/// An example in the documentation is a case's own file: `<!-- case: NAME -->` stands above it.
#[test]
fn the_examples_of_the_documentation_are_cases() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut wrong = Vec::new();
    for path in pages(&root.join("docs")) {
        let text = fs::read_to_string(&path).expect("the page");
        let page = path.strip_prefix(root).expect("a page of the project").display();
        for example in text.split("<!-- case: ").skip(1) {
            let (name, rest) = example.split_once(" -->\n").expect("a comment ends");
            let fence = rest.trim_start().strip_prefix("```yaml\n").and_then(|rest| rest.split_once("```"));
            let Some((shown, _)) = fence else {
                wrong.push(format!("{page}: no YAML stands below `case: {name}`"));
                continue;
            };
            let folder = root.join("tests/cases").join(name);
            let files = ["kinds.yaml", "spec.yaml", "desired.yaml"];
            if !files.iter().any(|file| fs::read_to_string(folder.join(file)).is_ok_and(|text| text == shown))
            {
                wrong.push(format!("{page}: the example `{name}` is no file of that case:\n{shown}"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n\n"));
}

/// The pages of a folder, and of those below it.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder of documentation");
    let mut pages = Vec::new();
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            pages.extend(self::pages(&path));
        } else if path.extension().is_some_and(|ending| ending == "md") {
            pages.push(path);
        }
    }
    pages
}

fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let entries = fs::read_dir(root).expect("the folder of cases");
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    folders
}
