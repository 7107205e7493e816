//! A running watch.

use std::path::PathBuf;
use std::process::Child;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::support::Project;

/// A running `trueup watch`.
pub struct Watching {
    pub child: Child,
    log: PathBuf,
}

impl Watching {
    /// Starts it on a project's folder.
    pub fn start(project: &Project, flags: &[&str]) -> Watching {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let path = project.path().join(format!("watch-{}.log", COUNT.fetch_add(1, Ordering::Relaxed)));
        let log = std::fs::File::create(&path).expect("a file");
        let mut command = project.command(&[&["watch"], flags].concat());
        command.stdout(log.try_clone().expect("a handle")).stderr(log);
        Watching { child: command.spawn().expect("the binary runs"), log: path }
    }

    /// Waits until something holds of the server.
    pub fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let began = Instant::now();
        while !holds() {
            if began.elapsed() > Duration::from_secs(60) {
                let log = std::fs::read_to_string(&self.log).unwrap_or_default();
                panic!("a minute has gone by, and it is not so that {what}:\n{log}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
