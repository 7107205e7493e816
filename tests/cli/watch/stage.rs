//! A server, a folder, and a watch over both.

use std::io::{BufRead, BufReader};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::servers::{Served, backend};
use crate::support::{Running, Scratch};

/// Nothing that must become so takes so long.
const PATIENCE: Duration = Duration::from_secs(40);

/// What is waited for, in words; they are only asked for when it does not come.
pub trait What {
    fn what(&self) -> String;
}

impl What for &str {
    fn what(&self) -> String {
        (*self).to_owned()
    }
}

impl<F: Fn() -> String> What for &F {
    fn what(&self) -> String {
        self()
    }
}

/// Waits until something is so.
pub fn until(what: impl What, is: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is() {
        assert!(Instant::now() < end, "it never came to this: {}", what.what());
        thread::sleep(Duration::from_millis(10));
    }
}

/// Teams of these names, all of one description.
pub fn teams(names: &[&str], description: &str) -> String {
    let team = |name: &&str| {
        format!(
            "---\napiVersion: demo\nkind: Team\nmetadata: {{name: {name}}}\nspec: {{description: {description}}}\n"
        )
    };
    names.iter().map(team).collect()
}

/// A folder with a backend for a server that runs, and two teams in `m/a.yaml`.
pub fn two_teams() -> (Scratch, Served) {
    let scratch = Scratch::new();
    let served = Served::start(&scratch, "rules: []");
    scratch.write("backend.yaml", backend(&served.url(), ""));
    scratch.write("m/a.yaml", teams(&["blue", "red"], "one"));
    (scratch, served)
}

/// A watch over `m` and `backend.yaml`.
pub struct Watching {
    pub running: Running,
    lines: Arc<Mutex<Vec<String>>>,
    reader: Option<JoinHandle<()>>,
}

impl Watching {
    pub fn start(scratch: &Scratch, flags: &str) -> Watching {
        Watching::of(scratch.trueup(&format!("watch -f m -f backend.yaml --log ndjson {flags}")).start())
    }

    /// A watch that was started otherwise.
    pub fn of(mut running: Running) -> Watching {
        let stdout = running.child.stdout.take().expect("it is a pipe");
        let lines = Arc::<Mutex<Vec<String>>>::default();
        let into = lines.clone();
        let reader = thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                into.lock().expect("no test panics with it").push(line);
            }
        });
        Watching { running, lines, reader: Some(reader) }
    }

    /// [`Watching::start`], and every object was looked at.
    pub fn started(scratch: &Scratch, flags: &str) -> Watching {
        let watching = Watching::start(scratch, flags);
        watching.until_said("all objects were looked at", 1);
        watching
    }

    pub fn text(&self) -> String {
        self.lines.lock().expect("no test panics with it").join("\n")
    }

    /// The lines with this message.
    pub fn said(&self, message: &str) -> Vec<Value> {
        let lines = self.lines.lock().expect("no test panics with it");
        let parsed = lines.iter().map(|line| {
            serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error} in {line}"))
        });
        parsed.filter(|line| line["message"] == message).collect()
    }

    /// Waits for so many lines with this message; the last of them.
    pub fn until_said(&self, message: &str, times: usize) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let said = self.said(message);
            if said.len() >= times {
                return said[times - 1].clone();
            }
            assert!(Instant::now() < end, "`{message}` was said {} times:\n{}", said.len(), self.text());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// A person asks for everything to be looked at now.
    pub fn hangup(&self) {
        self.running.signal("HUP");
    }

    /// Ends it, and waits for its end: the exit code, the log, and the standard error.
    pub fn ends(self, signal: &str, code: i32) -> String {
        self.running.signal(signal);
        self.ended(code)
    }

    /// Waits for its end: the log.
    pub fn ended(mut self, code: i32) -> String {
        let lines = self.lines.clone();
        let reader = self.reader.take().expect("it is taken once");
        let done = self.running.done();
        reader.join().expect("the log was read");
        let text = lines.lock().expect("no test panics with it").join("\n");
        assert_eq!(done.code(), code, "{text}\n{}", done.err);
        text
    }
}

/// The ids of objects by their names.
pub fn id(served: &Served, collection: &str, name: &str) -> String {
    let page: Value = serde_json::from_str(&served.call("GET", collection, "")).expect("a page");
    let item = page["items"].as_array().into_iter().flatten().find(|item| item["name"] == name);
    item.map(|item| item["id"].to_string()).unwrap_or_else(|| panic!("no `{name}` in {page}"))
}

/// The descriptions of all teams, by name.
pub fn descriptions(served: &Served) -> Vec<String> {
    let page: Value = serde_json::from_str(&served.call("GET", "/teams", "")).expect("a page");
    let told = |item: &Value| {
        let text = |member: &str| item[member].as_str().unwrap_or("?").to_owned();
        format!("{}={}", text("name"), text("description"))
    };
    let mut all: Vec<String> = page["items"].as_array().into_iter().flatten().map(told).collect();
    all.sort();
    all
}
