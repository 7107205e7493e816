//! What end-to-end tests share: the real binary in a folder of its own, and what it reports as rows of words.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

/// A folder of manifests, and an environment in which the program is run on it.
pub struct Project {
    folder: TempDir,
    env: BTreeMap<String, String>,
}

impl Project {
    pub fn new() -> Project {
        Project { folder: tempfile::tempdir().expect("a folder"), env: BTreeMap::new() }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file, in place of an earlier one of its name.
    pub fn file(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).expect("written");
    }

    pub fn set(&mut self, name: &str, value: &str) {
        self.env.insert(name.into(), value.into());
    }

    pub fn unset(&mut self, name: &str) {
        self.env.remove(name);
    }

    /// Runs a command line on the folder, its words split at spaces, and checks the exit code.
    pub fn run(&self, line: &str, code: i32) -> Run {
        let words: Vec<&str> = line.split(' ').collect();
        self.run_words(&words, code)
    }

    /// The program with these words, on the folder and in the environment.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
        command.args(words).args(["-f", "."]).current_dir(self.path());
        command.env_clear().envs(&self.env).env("PATH", "");
        command
    }

    /// [`Project::run`], for words with spaces in them.
    pub fn run_words(&self, words: &[&str], code: i32) -> Run {
        let output = self.command(words).output().expect("the binary runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        let run = Run { line: words.join(" "), stdout: text(output.stdout), stderr: text(output.stderr) };
        assert_eq!(output.status.code(), Some(code), "{}", run.whole());
        run
    }

    /// Runs a verb with JSON output.
    pub fn json(&self, line: &str, code: i32) -> Report {
        let run = self.run(&format!("{line} --output json"), code);
        Report(serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}", run.whole())))
    }
}

/// What a run printed.
pub struct Run {
    line: String,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    pub fn whole(&self) -> String {
        format!("trueup {}\n{}{}", self.line, self.stdout, self.stderr)
    }
}

/// A JSON report.
pub struct Report(pub Value);

impl Report {
    /// `update done Queue //orders`: every object that is shown, in order of the text.
    pub fn rows(&self) -> Vec<String> {
        let mut rows: Vec<String> = self.objects().map(row).collect();
        rows.sort();
        rows
    }

    pub fn objects(&self) -> impl Iterator<Item = &Value> {
        self.0["objects"].as_array().into_iter().flatten()
    }

    /// The object whose row ends in `name`.
    pub fn object(&self, name: &str) -> &Value {
        let found = self.objects().find(|object| row(object).ends_with(name));
        found.unwrap_or_else(|| panic!("no {name} in {:#}", self.0))
    }

    /// The paths of an object's changes.
    pub fn paths(&self, name: &str) -> Vec<&str> {
        let changes = self.object(name)["changes"].as_array().expect("changes");
        changes.iter().filter_map(|change| change["path"].as_str()).collect()
    }

    /// Requests of a role.
    pub fn requests(&self, role: &str) -> u64 {
        self.0["summary"]["requests"][role].as_u64().expect("a number")
    }

    /// Requests that may change something.
    pub fn writes(&self) -> u64 {
        ["create", "update", "delete"].iter().map(|role| self.requests(role)).sum()
    }
}

fn row(object: &Value) -> String {
    let identity = &object["identity"];
    let key = identity["key"].as_object().expect("a key");
    let key: Vec<String> = key.values().map(plain).collect();
    let word = |value: &Value| plain(value);
    let (action, result, kind) = (word(&object["action"]), word(&object["result"]), word(&identity["kind"]));
    format!("{action} {result} {kind} {}", key.join("/"))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
