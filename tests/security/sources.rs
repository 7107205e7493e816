//! The program's own source, without its tests.

use std::fs;
use std::path::{Path, PathBuf};

pub struct Source {
    /// Below `src`, with `/`.
    pub name: String,
    pub text: String,
}

/// All files that are part of the program.
pub fn program() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    collect(&root, &root, &mut found);
    assert!(found.len() > 100, "the sources were not found");
    found
}

fn collect(folder: &Path, root: &Path, found: &mut Vec<Source>) {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        let name = path.strip_prefix(root).expect("it is below").to_string_lossy().replace('\\', "/");
        let is_test = name.starts_with("simulation/")
            || name.ends_with("tests")
            || name.ends_with("tests.rs")
            || name.ends_with("testing.rs");
        if is_test {
            continue;
        }
        if path.is_dir() {
            collect(&path, root, found);
        } else if name.ends_with(".rs") {
            let text = without_tests(&fs::read_to_string(&path).expect("a source file"));
            found.push(Source { name, text });
        }
    }
}

/// The lines of the program, tests and comments emptied so that the others keep their numbers.
pub fn without_tests(text: &str) -> String {
    let mut tests = false;
    let mut out = String::new();
    for line in text.lines() {
        tests |= line == "#[cfg(test)]";
        if !tests && !line.trim_start().starts_with("//") {
            out.push_str(line);
        }
        // A module of tests ends with its brace; what follows is the program again.
        tests &= line != "}" && !(line.starts_with("mod ") && line.ends_with(';'));
        out.push('\n');
    }
    out
}

#[test]
fn tests_are_no_part_of_the_program() {
    let text = "use a;\n#[cfg(test)]\nmod tests {\n    b();\n}\nfn c() {}\n#[cfg(test)]\n#[path = \"x\"]\nmod x;\nfn d() {}\n";
    let kept: Vec<String> =
        without_tests(text).lines().filter(|line| !line.is_empty()).map(Into::into).collect();
    assert_eq!(kept, ["use a;", "fn c() {}", "fn d() {}"]);
}
