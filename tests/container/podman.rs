//! Containers of the image, by the script that builds it.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The image, where there is one.
pub struct Image {
    name: String,
}

impl Image {
    pub fn from_env() -> Option<Image> {
        match std::env::var("TRUEUP_TEST_CONTAINER") {
            Ok(name) if !name.is_empty() => Some(Image { name }),
            _ => {
                eprintln!(
                    "skipped: TRUEUP_TEST_CONTAINER is not set; `tests/servers/container.sh start` prints its value"
                );
                None
            }
        }
    }

    /// What podman itself says; it must succeed. `IMAGE` stands for the image.
    pub fn podman(&self, words: &[&str]) -> String {
        let words = words.iter().map(|word| if *word == "IMAGE" { &*self.name } else { word });
        let done = script("podman").args(words).output().expect("the script runs");
        assert!(done.status.success(), "{}", said(&done));
        String::from_utf8(done.stdout).expect("UTF-8")
    }

    /// Whether podman does it.
    pub fn tries(&self, words: &[&str]) -> bool {
        script("podman").args(words).output().expect("the script runs").status.success()
    }

    fn command(&self, flags: &[String], words: &[&str]) -> Command {
        let mut command = script("run");
        command.args(flags).arg(&self.name).args(words);
        command
    }

    /// Runs the program to its end, and checks the exit code.
    pub fn run(&self, flags: &[String], words: &[&str], code: i32) -> String {
        let done = self.command(flags, words).output().expect("the script runs");
        assert_eq!(done.status.code(), Some(code), "{words:?}: {}", said(&done));
        said(&done)
    }

    /// Starts the program, as a container of this name.
    pub fn start(&self, name: &str, flags: &[String], words: &[&str]) -> Running<'_> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{name}-{}-{count}", std::process::id());
        let flags = [&["--name".into(), name.clone()], flags].concat();
        let mut command = self.command(&flags, words);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the script runs");
        Running { image: self, name, child: Some(child) }
    }
}

/// A container that runs.
pub struct Running<'i> {
    image: &'i Image,
    pub name: String,
    child: Option<Child>,
}

impl Running<'_> {
    /// Waits until something holds of it; where it ends, says what it said.
    pub fn until(&mut self, what: &str, mut holds: impl FnMut() -> bool) {
        let began = Instant::now();
        while !holds() {
            let child = self.child.as_mut().expect("it runs");
            if began.elapsed() > Duration::from_secs(60) || child.try_wait().expect("a child").is_some() {
                let _ = child.kill();
                let done = self.child.take().expect("it runs").wait_with_output().expect("it ends");
                panic!("it is not so that {what}: {}", said(&done));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Sends it the signal by which it is to end, and gives its exit code and what it said.
    pub fn stop(mut self) -> (Option<i32>, String) {
        self.image.podman(&["kill", "--signal", "TERM", &self.name]);
        let done = self.child.take().expect("it runs").wait_with_output().expect("it ends");
        (done.status.code(), said(&done))
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = script("podman").args(["rm", "--force", "--time", "1", &self.name]).output();
            let _ = child.wait();
        }
    }
}

fn script(word: &str) -> Command {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers/container.sh");
    let mut command = Command::new(path);
    command.arg(word);
    command
}

fn said(done: &Output) -> String {
    (String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr)).into_owned()
}
