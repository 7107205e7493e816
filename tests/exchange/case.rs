//! One folder of `tests/cases/`: the kinds, what is desired, what the server answers, and the transcript of the
//! runs that is expected of it.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::server::{Request, Script, Server};

/// `case.yaml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct About {
    /// One sentence: what a reader learns here.
    pub teaches: String,
    /// The trouble that users of comparable tools reported: its number and where.
    pub source: Option<String>,
    /// Where what is right here differs from what that report asks for, and why.
    pub note: Option<String>,
    #[serde(default)]
    pub runs: Vec<Run>,
    /// Where it is shown instead, when it is nothing that a transcript can show: a file, and what in it.
    pub shown_by: Option<PathBuf>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Request headers that the transcript shows besides the usual ones.
    #[serde(default)]
    pub headers: Vec<String>,
    /// Texts that no output may hold.
    #[serde(default)]
    pub never: Vec<String>,
}

/// The head of the transcript.
impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = [Some(&self.teaches), self.source.as_ref(), self.note.as_ref()];
        lines.into_iter().flatten().try_for_each(|text| writeln!(f, "# {text}"))
    }
}

/// One run: a command line, or a command line with what changed before it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Run {
    Line(String),
    Changed(Changed),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Changed {
    run: String,
    /// A file of the folder that takes the place of `desired.yaml`.
    desired: Option<String>,
    /// A file of the folder that takes the place of `server.yaml`.
    server: Option<String>,
    /// A file of the folder that takes the place of `kinds.yaml`.
    backend: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Nothing is added to the command line: it is about a file that an earlier run made.
    #[serde(default)]
    alone: bool,
}

/// A case, read.
pub struct Case {
    pub folder: PathBuf,
    pub about: About,
}

impl Case {
    pub fn read(folder: &Path) -> Result<Case, String> {
        Ok(Case { folder: folder.to_owned(), about: yaml(&folder.join("case.yaml"))? })
    }

    /// Runs the case. The error says what is not as expected.
    pub fn check(&self) -> Result<(), String> {
        if let Some(path) = &self.about.shown_by {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
            return if path.exists() { Ok(()) } else { Err(format!("{} is not there", path.display())) };
        }
        let told = self.transcript()?;
        for text in &self.about.never {
            if told.lines().any(|line| !line.starts_with("    > ") && line.contains(text.as_str())) {
                return Err(format!("`{text}` is in the output:\n{told}"));
            }
        }
        let path = self.folder.join("expected.txt");
        if std::env::var_os("TRUEUP_BLESS").is_some() {
            fs::write(&path, &told).map_err(|e| e.to_string())?;
        }
        match fs::read_to_string(&path) {
            Ok(expected) if expected == told => Ok(()),
            Ok(expected) => Err(format!("expected\n{expected}--- but it is\n{told}")),
            Err(e) => Err(format!("expected.txt: {e}")),
        }
    }

    fn transcript(&self) -> Result<String, String> {
        let server = Server::start();
        let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
        self.place("desired.yaml", &scratch.path().join("desired.yaml"))?;
        if self.folder.join("base.yaml").exists() {
            fs::create_dir(scratch.path().join("base")).map_err(|e| e.to_string())?;
            self.place("base.yaml", &scratch.path().join("base/desired.yaml"))?;
        }
        if self.folder.join("accepted.yaml").exists() {
            self.place("accepted.yaml", &scratch.path().join("accepted.yaml"))?;
        }
        let describe = |kinds: &str| {
            let text = self.backend(&server.url(), kinds)?;
            fs::write(scratch.path().join("backend.yaml"), text).map_err(|e| e.to_string())
        };
        describe("kinds.yaml")?;
        server.answer_from(self.script("server.yaml")?);
        let mut told = self.about.to_string();
        for run in &self.about.runs {
            let nothing = BTreeMap::new();
            let (line, env, alone) = match run {
                Run::Line(line) => (line, &nothing, false),
                Run::Changed(changed) => {
                    if let Some(desired) = &changed.desired {
                        self.place(desired, &scratch.path().join("desired.yaml"))?;
                    }
                    if let Some(kinds) = &changed.backend {
                        describe(kinds)?;
                    }
                    if let Some(name) = &changed.server {
                        server.answer_from(self.script(name)?);
                    }
                    (&changed.run, &changed.env, changed.alone)
                }
            };
            let output = Command::new(env!("CARGO_BIN_EXE_trueup"))
                .args(line.split_whitespace())
                .args(if alone { &[][..] } else { &["-f", "desired.yaml", "-f", "backend.yaml"] })
                .current_dir(scratch.path())
                .env_clear()
                .env("TRUEUP_PARALLEL", "1") // requests in one order
                .envs(&self.about.env)
                .envs(env)
                .output()
                .map_err(|e| e.to_string())?;
            let text = |bytes| String::from_utf8(bytes).map_err(|e| e.to_string());
            let code = output.status.code().ok_or("a signal ended the run")?;
            let (out, err) = (text(output.stdout)?, text(output.stderr)?);
            let _ = write!(told, "\n$ trueup {line}\n{}{}exit {code}\n", ageless(&out), timeless(&err));
            for request in server.take() {
                self.tell(&request, &mut told);
            }
        }
        Ok(numbered(&told.replace(&server.url(), "URL")))
    }

    /// A request as the transcript shows it.
    fn tell(&self, request: &Request, told: &mut String) {
        let _ = writeln!(told, "  {}", request.line);
        let json = "application/json";
        for (name, value) in &request.headers {
            let usual = name == "if-match"
                || name == "if-none-match"
                || name == "idempotency-key"
                || name == "content-type" && value != json;
            if usual || self.about.headers.contains(name) {
                let _ = writeln!(told, "    > {name}: {value}");
            }
        }
        if !request.body.is_empty() {
            let _ = writeln!(told, "    > {}", request.body);
        }
    }

    /// The Backend document: `kinds.yaml` below `kinds`, beside what `spec.yaml` says.
    fn backend(&self, url: &str, kinds: &str) -> Result<String, String> {
        let mut text =
            format!("apiVersion: trueup/v1\nkind: Backend\nmetadata: {{name: api}}\nspec:\n  url: {url}\n");
        for (file, head, indent) in [("spec.yaml", "", "  "), (kinds, "  kinds:\n", "    ")] {
            let path = self.folder.join(file);
            if path.exists() {
                text.push_str(head);
                let body = fs::read_to_string(path).map_err(|e| e.to_string())?.replace("URL", url);
                for line in body.lines() {
                    let _ = writeln!(text, "{indent}{line}");
                }
            }
        }
        Ok(text)
    }

    fn script(&self, file: &str) -> Result<Script, String> {
        let path = self.folder.join(file);
        // A case that never asks needs no server.
        if path.exists() { yaml(&path) } else { Ok(Script::new()) }
    }

    fn place(&self, file: &str, to: &Path) -> Result<(), String> {
        fs::copy(self.folder.join(file), to).map(drop).map_err(|e| format!("{file}: {e}"))
    }
}

/// The lines of a saved plan without its times and the hash that these are part of.
fn ageless(text: &str) -> String {
    let line = |line: &str| match line {
        _ if line.starts_with("Saved plan ") => {
            format!("{}, made TIME (AGE).", line.split(", made ").next().unwrap_or(line))
        }
        _ if line.starts_with("It expires in ") => "It expires in TIME.".to_owned(),
        _ if line.starts_with("Hashes of the plan ") => {
            format!("Hashes of the plan HASH{}", line.find(',').map_or("", |at| &line[at..]))
        }
        _ => line.to_owned(),
    };
    text.lines().map(|text| line(text) + "\n").collect()
}

/// Lines of the log without what differs from run to run.
fn timeless(text: &str) -> String {
    let line = |line: &str| match line.split_once(" DEBUG ") {
        Some((_, said)) => format!("DEBUG {}", said.split(" milliseconds=").next().unwrap_or(said)),
        None => line.to_owned(),
    };
    text.lines().map(|text| line(text) + "\n").collect()
}

/// Idempotency keys by the order in which they come: the server's port is in each.
fn numbered(text: &str) -> String {
    let mut keys: Vec<String> = Vec::new();
    let number = |found: &regex_lite::Captures| {
        let at = keys.iter().position(|key| *key == found[0]).unwrap_or_else(|| {
            keys.push(found[0].to_owned());
            keys.len() - 1
        });
        format!("KEY-{}", at + 1)
    };
    key().replace_all(text, number).into_owned()
}

/// A UUID of version 8.
pub fn key() -> regex_lite::Regex {
    let pattern = "[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";
    regex_lite::Regex::new(pattern).expect("an expression")
}

fn yaml<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    serde_yaml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
}
