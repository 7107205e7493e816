//! One redactor, one escaper, one builder of paths: nothing goes around them.

use super::sources::{Source, program};

/// A word of the source, and the files that may name it.
struct Choke {
    words: &'static [&'static str],
    files: &'static [&'static str],
    why: &'static str,
}

const CHOKES: [Choke; 9] = [
    Choke {
        words: &["print!", "println!", "eprint!", "eprintln!", "dbg!", ".print()", "write_stdout"],
        files: &[],
        why: "what is said goes through `render::out`",
    },
    Choke {
        // To be handed to `Out`, to one of its guards, or to be asked whether it is a terminal.
        words: &["io::stdout", "io::stderr", "Stdout", "Stderr"],
        files: &["cli/mod.rs", "cli/panics.rs", "cli/start.rs", "cli/apply.rs"],
        why: "streams are handed to `render::out` in one place",
    },
    Choke { words: &["/dev/tty"], files: &["cli/confirm.rs"], why: "one question is asked in the terminal" },
    Choke {
        words: &[".verbatim("],
        files: &["cli/completions.rs", "cli/export.rs", "cli/validate.rs"],
        why: "text that is not looked at is the program's own, or was made safe",
    },
    Choke {
        words: &[
            "Url::parse",
            ".set_path(",
            ".set_query(",
            "path_segments_mut",
            "query_pairs_mut",
            "set_host",
        ],
        files: &[
            "backend/base.rs",
            // These look at what is given, and send nothing.
            "backend/language/connection.rs",
            "backend/language/token.rs",
            "backend/operation.rs",
        ],
        why: "addresses are made by `backend::path` and `backend::base`",
    },
    Choke {
        words: &["HttpRequest {"],
        files: &["backend/wire.rs", "backend/request.rs", "backend/token.rs"],
        why: "requests are built where their paths are",
    },
    Choke {
        words: &["reqwest::"],
        files: &["api/http.rs", "api/tls.rs"],
        why: "there is one way to a socket",
    },
    Choke {
        words: &["Command::new"],
        files: &["api/exec.rs", "run/git.rs"],
        why: "commands are run by the allow-list; `git` reads the base",
    },
    Choke {
        words: &["kubeconfig", "KUBECONFIG", ".kube/", "danger_accept", "SSLKEYLOGFILE"],
        files: &[],
        why: "there is no other source of credentials, and no way to switch verification off",
    },
];

/// `{:?}` shows what its value holds, whatever that is: in these files it is of the program's own words, or is
/// compared or hashed and not shown. What an assertion says goes into a panic, which leaves it out.
const DEBUG: [&str; 3] = ["core/diff/pair/signature.rs", "core/engine/written.rs", "run/saved/draft.rs"];

fn around(source: &Source) -> Vec<String> {
    let mut wrong = Vec::new();
    for (at, line) in source.text.lines().enumerate() {
        for choke in CHOKES.iter().filter(|choke| !choke.files.contains(&&*source.name)) {
            for word in choke.words.iter().filter(|word| names(line, word)) {
                wrong.push(format!("src/{}:{}: `{word}`: {}", source.name, at + 1, choke.why));
            }
        }
        if line.contains(":?}") && !line.contains("assert") && !DEBUG.contains(&&*source.name) {
            wrong.push(format!("src/{}:{}: `{{:?}}` shows whatever the value holds", source.name, at + 1));
        }
    }
    wrong
}

/// Whether the word stands there and is no end of a longer one.
fn names(line: &str, word: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let begins_word = word.starts_with(is_word);
    let before = |at: usize| line[..at].chars().next_back().is_some_and(is_word);
    line.match_indices(word).any(|(at, _)| !(begins_word && before(at)))
}

#[track_caller]
fn none(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn nothing_goes_around_the_choke_points() {
    none(&program().iter().flat_map(around).collect::<Vec<_>>());
}

/// A list of exceptions that nobody needs hides the next one.
#[test]
fn every_exception_is_needed() {
    let sources = program();
    for choke in &CHOKES {
        for file in choke.files {
            let source = sources
                .iter()
                .find(|source| source.name == *file)
                .unwrap_or_else(|| panic!("{file} is gone"));
            let used = source.text.lines().any(|line| choke.words.iter().any(|word| names(line, word)));
            assert!(used, "{file} needs none of {:?}", choke.words);
        }
    }
}

/// The functions of a text, each with its lines up to the next one of its sort.
fn functions(text: &str) -> Vec<&str> {
    let starts: Vec<usize> = text.match_indices("\n    pub fn ").map(|(at, _)| at + 1).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| &text[*start..end]).collect()
}

/// Functions of the way out that write what no redactor has looked at.
fn unredacted(text: &str) -> Vec<String> {
    let (_, out) = text.split_once("\nimpl Out {").expect("the way out");
    let out = &out[..out.find("\n}\n").unwrap_or(out.len())];
    let writes = |body: &&str| body.contains(".write(&") || body.contains(".write(text)");
    let looks = |body: &str| body.contains("redactor") || body.contains("exported::");
    let name = |body: &str| {
        body.trim_start().trim_start_matches("pub fn ").split('(').next().unwrap_or("").to_owned()
    };
    functions(out).into_iter().filter(writes).filter(|body| !looks(body)).map(name).collect()
}

#[test]
fn all_that_goes_out_passes_the_redactor() {
    let out = program().into_iter().find(|source| source.name == "render/out.rs").expect("the way out");
    // Its text is the caller's promise, and its callers are named above.
    assert_eq!(unredacted(&out.text), ["verbatim"]);
    assert!(out.text.contains("\nstruct ") || !out.text.contains("pub sink"), "the sink is nobody else's");
}

/// A span, of which all text for people is made, comes out of the escaper.
#[test]
fn all_text_for_people_passes_the_escaper() {
    let made: Vec<String> = program().iter().flat_map(spans).collect();
    // The second one is of a span that was made: its text is looked at once more, by the redactor.
    assert_eq!(made, ["render/paint.rs: escaped", "render/paint.rs: seen"]);
}

fn spans(source: &Source) -> Vec<String> {
    let made = source
        .text
        .lines()
        .filter(|line| names(line, "Span {") && !line.contains("struct ") && !line.contains("impl "));
    let how = |line: &str| match line {
        line if line.contains("escape::inline(") => "escaped",
        line if line.contains("see(&span.text)") => "seen",
        _ => "not escaped",
    };
    made.map(|line| format!("{}: {}", source.name, how(line))).collect()
}

#[test]
fn the_guards_bite() {
    let source = |name: &str, text: &str| Source { name: name.into(), text: text.into() };
    for (name, text, count) in [
        ("run/x.rs", "println!(\"{x}\");", 1),
        ("run/x.rs", "eprintln!(\"{x}\");", 1),
        ("run/x.rs", "error.print();", 1),
        ("run/x.rs", "let out = io::stdout();", 1),
        ("cli/mod.rs", "let out = io::stdout();", 0),
        ("cli/get.rs", "out.verbatim(&text);", 1),
        ("api/x.rs", "let url = Url::parse(&format!(\"{base}/{name}\"));", 1),
        ("api/x.rs", "url.path_segments_mut().push(name);", 1),
        ("run/x.rs", "let request = HttpRequest { url, ..other };", 1),
        ("run/x.rs", "reqwest::get(url)", 1),
        ("run/x.rs", "Command::new(\"sh\")", 1),
        ("api/tls.rs", "builder.danger_accept_invalid_certs(true)", 1),
        ("render/x.rs", "format!(\"{value:?}\")", 1),
        ("render/x.rs", "format!(\"{:?}\", value)", 1),
        ("render/x.rs", "format!(\"{value}\")", 0),
        ("render/x.rs", "imprint!(x)", 0),
    ] {
        assert_eq!(around(&source(name, text)).len(), count, "{name}: {text}");
    }
    let out = "\nimpl Out {\n    pub fn bad(&self) {\n        self.stdout.write(&text);\n    }\n    pub fn good(&self) {\n        let redactor = 1;\n        self.stdout.write(&text);\n    }\n}\n";
    assert_eq!(unredacted(out), ["bad"]);
    assert_eq!(spans(&source("x.rs", "Span { style, text: text.into() }")), ["x.rs: not escaped"]);
}
