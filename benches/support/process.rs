//! The binary as a child process: how long it took, what it printed, how much memory it had.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often the memory of a child is looked at. The kernel keeps the high-water mark, so that only what grows
/// in the last moment is missed.
const LOOK: Duration = Duration::from_millis(5);

/// One run of the binary.
pub struct Run {
    pub success: bool,
    pub stdout: String,
    pub time: Duration,
    /// The most resident memory; 0 where `/proc` does not tell.
    pub peak_kib: u64,
}

/// Runs the binary to its end.
pub fn run(folder: &Path, arguments: &[&str]) -> Run {
    let began = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_trueup"))
        .args(arguments)
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("the binary starts");
    let stdout = child.stdout.take().expect("it is piped");
    let status_file = format!("/proc/{}/status", child.id());
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let peak = scope.spawn(|| {
            let mut peak = 0;
            while !ended.load(Ordering::Relaxed) {
                peak = high_water(&status_file).unwrap_or(peak);
                std::thread::park_timeout(LOOK);
            }
            peak
        });
        let stdout = std::io::read_to_string(stdout).expect("it prints text");
        let status = child.wait().expect("it is ours");
        let time = began.elapsed();
        ended.store(true, Ordering::Relaxed);
        peak.thread().unpark();
        Run { success: status.success(), stdout, time, peak_kib: peak.join().expect("it does not panic") }
    })
}

fn high_water(status_file: &str) -> Option<u64> {
    let status = std::fs::read_to_string(status_file).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// The built-in server on a port of its own; ended when dropped.
pub struct Server {
    child: Child,
    pub url: String,
}

impl Server {
    /// A server with an empty store called `name` in `folder`.
    pub fn start(folder: &Path, name: &str) -> Server {
        let mut child = Command::new(env!("CARGO_BIN_EXE_trueup"))
            .args(["serve", "--listen", "127.0.0.1:0", "--no-sync", "--store"])
            .arg(folder.join(name))
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("it is piped")).read_line(&mut line).expect("a line");
        let url = line.split_whitespace().find(|word| word.starts_with("http")).expect("an address");
        Server { url: url.trim_end_matches('/').to_owned(), child }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
