//! A scratch folder, the binary run inside it, and what came of it.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// No run takes this long; one that does hangs.
const LONGEST: Duration = Duration::from_secs(60);

/// A folder of its own, in which the binary runs, so that all paths in its output are relative.
pub struct Scratch(tempfile::TempDir);

impl Scratch {
    pub fn new() -> Scratch {
        Scratch(tempfile::tempdir().expect("a scratch folder"))
    }

    /// With one file.
    pub fn with(name: &str, text: impl AsRef<[u8]>) -> Scratch {
        let scratch = Scratch::new();
        scratch.write(name, text);
        scratch
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, and the folders above it.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("the folder can be made");
        fs::write(&path, text).expect("the file can be written");
        // Nobody else's, as files of secrets are to be: others are warned of.
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("it is ours");
    }

    /// The command line, words separated by spaces.
    pub fn trueup(&self, line: &str) -> Run {
        self.trueup_of(line.split_whitespace())
    }

    pub fn trueup_of<'w>(&self, words: impl IntoIterator<Item = &'w str>) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
        command.args(words).current_dir(self.0.path()).env_clear();
        Run { command, stdin: Vec::new(), folder: self.0.path().to_owned() }
    }
}

/// A command line that is about to run, with an empty environment and no terminal.
pub struct Run {
    command: Command,
    stdin: Vec<u8>,
    folder: PathBuf,
}

impl Run {
    pub fn env(mut self, name: &str, value: &str) -> Run {
        self.command.env(name, value);
        self
    }

    /// Runs in a folder below the scratch folder.
    pub fn inside(mut self, folder: &str) -> Run {
        self.command.current_dir(self.folder.join(folder));
        self
    }

    pub fn stdin(mut self, text: &str) -> Run {
        self.stdin = text.into();
        self
    }

    /// Starts it, for tests that do something to it while it runs.
    pub fn start(mut self) -> Running {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().expect("the binary starts");
        let mut stdin = child.stdin.take().expect("it is a pipe");
        // A run that does not read its input may end before it was written.
        let _ = stdin.write_all(&self.stdin);
        Running { child }
    }

    /// Runs it to its end.
    pub fn done(self) -> Done {
        self.start().done()
    }
}

/// A started command. It is killed with the value.
pub struct Running {
    pub child: Child,
}

impl Running {
    /// Sends a signal by its name, as `kill` does.
    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status().expect("`kill` runs");
        assert!(sent.success(), "the signal {name} was not sent");
    }

    /// Waits for its end; both streams are read meanwhile.
    pub fn done(mut self) -> Done {
        let out = self.child.stdout.take().map(drain);
        let err = self.child.stderr.take().map(drain);
        let status = self.wait();
        let text = |stream: Option<thread::JoinHandle<String>>| {
            stream.map_or(String::new(), |stream| stream.join().expect("the stream was read"))
        };
        Done { status, out: text(out), err: text(err) }
    }

    fn wait(&mut self) -> ExitStatus {
        let end = Instant::now() + LONGEST;
        loop {
            if let Some(status) = self.child.try_wait().expect("the process can be waited for") {
                return status;
            }
            assert!(Instant::now() < end, "the binary hangs");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn drain(mut stream: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("the stream can be read");
        String::from_utf8(bytes).expect("all output is UTF-8")
    })
}

/// What came of a run.
pub struct Done {
    pub status: ExitStatus,
    pub out: String,
    pub err: String,
}

impl Done {
    /// The exit code; a process that a signal ended has none.
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or(-1)
    }

    /// Everything at once, for a snapshot: the exit code and both streams, with ports made equal.
    pub fn told(&self) -> String {
        let mut text = format!("exit {}\n{}", self.code(), self.out);
        if !self.err.is_empty() {
            text.push_str("--- stderr\n");
            text.push_str(&self.err);
        }
        without_ports(&text)
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error} in {}", self.told()))
    }

    /// The run must have ended so.
    pub fn expect(self, code: i32) -> Done {
        assert_eq!(self.code(), code, "{}", self.told());
        self
    }
}

/// `127.0.0.1:34567` becomes `127.0.0.1:PORT`.
fn without_ports(text: &str) -> String {
    let mut parts = text.split("127.0.0.1:");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str("127.0.0.1:PORT");
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    out
}

/// Copies a folder with all that is below it.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder can be made");
    for entry in fs::read_dir(from).expect("the folder can be read") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).expect("the file can be copied");
            #[cfg(unix)]
            fs::set_permissions(&target, std::os::unix::fs::PermissionsExt::from_mode(0o600))
                .expect("it is ours");
        }
    }
}
