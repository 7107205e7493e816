//! Guards the shape of the code: the purity of the core, the direction of dependencies, the size of files.
//!
//! The rules are those of `ARCHITECTURE.md`. They read the source as text, so each has a test that it bites.

use std::fs;
use std::path::{Path, PathBuf};

/// What a pure layer must not name: files, sockets, clock, environment, randomness, processes, threads, async.
const IMPURE: [&str; 14] = [
    "std::fs",
    "std::net",
    "std::env",
    "std::io",
    "std::process",
    "std::thread",
    "std::os",
    "SystemTime",
    "Instant",
    "tokio",
    "reqwest",
    "fastrand",
    "async fn",
    ".await",
];

const PURE: [&str; 2] = ["core", "backend"];

/// What may use all and is used by none: the command line, and the simulation, which is there in tests alone.
const ABOVE: [&str; 2] = ["cli", "simulation"];

/// Each layer and the layers that it may use besides itself. `cli` and `main.rs` may use all.
const LAYERS: [(&str, &[&str]); 7] = [
    ("core", &[]),
    ("backend", &["core"]),
    ("manifest", &["core"]),
    ("render", &["core"]),
    ("api", &["core", "backend"]),
    ("server", &["core"]),
    ("run", &["core", "backend", "manifest", "render", "api", "server"]),
];

const LONGEST_FILE: usize = 500;

struct Source {
    /// Below `src`, with `/`.
    name: String,
    text: String,
}

/// The Rust files below `src/<folder>`; none when there is no such folder.
fn sources(folder: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    collect(&root.join(folder), &root, &mut found);
    found
}

fn collect(folder: &Path, root: &Path, found: &mut Vec<Source>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, root, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root).expect("it is below the root");
            let name = name.to_string_lossy().replace('\\', "/");
            found.push(Source { name, text: fs::read_to_string(&path).expect("a source file") });
        }
    }
}

/// The lines of code with their numbers, without comments that fill a line.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// Whether `word` stands in the line and is not part of a longer word.
fn names(line: &str, word: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back().is_some_and(is_word);
        let after = line[at + word.len()..].chars().next().is_some_and(is_word);
        !after && (!before || word.starts_with('.'))
    })
}

fn impurities(source: &Source) -> Vec<String> {
    let mut wrong = Vec::new();
    for (at, line) in code(&source.text) {
        for word in IMPURE.iter().filter(|word| names(line, word)) {
            wrong.push(format!("src/{}:{at}: `{word}` in a pure layer", source.name));
        }
        // `use std::{fs, …}` names them without the prefix.
        if line.contains("std::{") {
            for word in IMPURE.iter().filter_map(|word| word.strip_prefix("std::")) {
                if names(line, word) {
                    wrong.push(format!("src/{}:{at}: `std::{word}` in a pure layer", source.name));
                }
            }
        }
    }
    wrong
}

/// The layers that a text names by `crate::layer` or `crate::{layer::…, …}`, with where.
fn layers_named(text: &str) -> Vec<(usize, &str)> {
    let mut named = Vec::new();
    for (at, prefix) in text.match_indices("crate::") {
        let rest = &text[at + prefix.len()..];
        let Some(group) = rest.strip_prefix('{') else {
            named.extend(first_word(rest).map(|name| (at, name)));
            continue;
        };
        let mut depth = 1;
        let end = group.find(|c: char| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth == 0
        });
        let mut depth = 0;
        let between = |c: char| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            c == ',' && depth == 0
        };
        let members = group[..end.unwrap_or(group.len())].split(between);
        named.extend(members.filter_map(first_word).map(|name| (at, name)));
    }
    named
}

fn first_word(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    (end > 0).then_some(&text[..end])
}

/// How many modules below the root a file's own module is. `x_tests.rs` holds the module `tests` of `x.rs`.
fn depth(name: &str) -> usize {
    let name = name.trim_end_matches(".rs");
    let steps = name.split('/').filter(|step| *step != "mod").count();
    steps + usize::from(name.ends_with("_tests"))
}

fn strays(source: &Source, layer: &str, may_use: &[&str]) -> Vec<String> {
    let mut wrong = Vec::new();
    let text: String = code(&source.text).map(|(_, line)| format!("{line}\n")).collect();
    for (at, other) in layers_named(&text) {
        let known = LAYERS.iter().any(|(name, _)| *name == other) || ABOVE.contains(&other);
        if known && other != layer && !may_use.contains(&other) {
            let line = text[at..].lines().next().unwrap_or_default();
            wrong.push(format!("src/{}: `{layer}` must not use `{other}`: `{line}`", source.name));
        }
    }
    let mut below = 0;
    for (at, line) in code(&source.text) {
        below += usize::from(line.trim_end().ends_with("mod tests {"));
        if line.contains(&"super::".repeat(depth(&source.name) + below)) {
            wrong.push(format!("src/{}:{at}: a path that leaves `{layer}` by `super`", source.name));
        }
    }
    wrong
}

#[track_caller]
fn none(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn pure_layers_name_nothing_impure() {
    let files: Vec<Source> = PURE.iter().flat_map(|layer| sources(layer)).collect();
    assert!(files.len() > 20, "the sources were not found");
    none(&files.iter().flat_map(impurities).collect::<Vec<_>>());
}

#[test]
fn layers_use_only_what_is_below_them() {
    let wrong = LAYERS.iter().flat_map(|(layer, may_use)| {
        sources(layer).into_iter().flat_map(move |source| strays(&source, layer, may_use))
    });
    none(&wrong.collect::<Vec<_>>());
}

#[test]
fn no_file_is_too_long_to_read() {
    let long = |source: &Source| source.text.lines().count() > LONGEST_FILE;
    let wrong = sources("").into_iter().filter(long).map(|source| format!("src/{} is too long", source.name));
    none(&wrong.collect::<Vec<_>>());
}

#[test]
fn unsafe_code_is_forbidden() {
    let root = sources("").into_iter().find(|source| source.name == "lib.rs").expect("a library");
    assert!(code(&root.text).any(|(_, line)| line == "#![forbid(unsafe_code)]"));
}

#[test]
fn the_guards_bite() {
    let source = |text: &str| Source { name: "core/diff/walk.rs".into(), text: text.into() };
    for (text, count) in [
        ("use std::fs;", 1),
        ("use std::{fmt, env};", 1),
        ("let now = Instant::now();", 1),
        ("let x = answer.await;", 1),
        ("let x = answer.awaits; // InstantNoodles", 0),
        ("// std::fs is for others", 0),
        ("use std::fmt;", 0),
    ] {
        assert_eq!(impurities(&source(text)).len(), count, "{text}");
    }
    for (text, count) in [
        ("use crate::backend::wire;", 1),
        ("use crate::{core::value::Value, api::{http, auth}, run};", 2),
        ("use crate::{\n    core::value,\n    run::{drive, x},\n};", 1),
        ("use crate::core::value::Value;", 0),
        ("use super::super::super::run;", 1),
        ("use super::super::value;", 0),
        ("mod tests {\n    use super::super::super::value;", 0),
        ("mod tests {\n    use super::super::super::super::run;", 1),
    ] {
        assert_eq!(strays(&source(text), "core", &[]).len(), count, "{text}");
    }
}
