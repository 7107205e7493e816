//! Commands that must end: within a time, and with whoever waits for them. They are killed with all that they began.
//!
//! A person who waits for a command can end it. A watch reads its files on a thread that nobody can end: a command that
//! hangs there would hold up all later readings, and outlive the process.

use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

/// How often it is looked at whether a command is to end.
const PULSE: Duration = Duration::from_millis(20);
/// Commands that are killed are gone within this time.
const GONE: Duration = Duration::from_secs(1);

thread_local! {
    /// What holds for the commands of this thread.
    static BOUND: RefCell<Option<Bound>> = const { RefCell::new(None) };
}

/// What ends commands. Copies are one.
#[derive(Clone, Debug)]
pub struct Bound {
    /// Each of them.
    limit: Duration,
    /// All of them.
    stop: CancellationToken,
    running: Arc<AtomicUsize>,
}

impl Bound {
    pub fn new(limit: Duration) -> Bound {
        Bound { limit, stop: CancellationToken::new(), running: Arc::default() }
    }

    /// Does some work, on this thread, whose commands are bounded.
    pub fn around<T>(&self, work: impl FnOnce() -> T) -> T {
        /// Threads are used again, also after a panic.
        struct Reset;
        impl Drop for Reset {
            fn drop(&mut self) {
                BOUND.set(None);
            }
        }
        BOUND.set(Some(self.clone()));
        let _reset = Reset;
        work()
    }

    /// Ends the commands that run, and those that would begin.
    pub fn end(&self) {
        self.stop.cancel();
    }

    /// The same, and waits for it.
    pub async fn ended(&self) {
        self.end();
        let gone = async {
            while self.running.load(Ordering::SeqCst) > 0 {
                tokio::time::sleep(PULSE).await;
            }
        };
        // One that cannot be killed waits for a device: the process ends nevertheless.
        let _ = tokio::time::timeout(GONE, gone).await;
    }

    /// What has come of a command, as soon as it did.
    fn wait(&self, end: Instant, child: &mut Child) -> io::Result<Output> {
        let (out, err) = (reader(child.stdout.take()), reader(child.stderr.take()));
        let (stdout, stderr) = (self.receive(&out, end)?, self.receive(&err, end)?);
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Output { status, stdout, stderr });
            }
            self.check(end)?;
            thread::sleep(PULSE);
        }
    }

    fn receive(&self, bytes: &Receiver<io::Result<Vec<u8>>>, end: Instant) -> io::Result<Vec<u8>> {
        loop {
            match bytes.recv_timeout(PULSE) {
                Ok(read) => return read,
                Err(RecvTimeoutError::Timeout) => self.check(end)?,
                Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::BrokenPipe.into()),
            }
        }
    }

    /// Whether it may go on.
    fn check(&self, end: Instant) -> io::Result<()> {
        if self.stop.is_cancelled() {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "it was ended with the process"));
        }
        if Instant::now() >= end {
            let why = format!("it did not end within {} s, and was killed", self.limit.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, why));
        }
        Ok(())
    }
}

/// Runs a command to its end with this on its standard input, as far as it reads that.
///
/// # Errors
/// It cannot be run, or was ended: [`io::ErrorKind::TimedOut`] where it took too long.
pub fn output(mut command: Command, input: Vec<u8>) -> io::Result<Output> {
    let bound = BOUND.with_borrow(Clone::clone);
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Some(bound) = bound else {
        let mut child = command.spawn()?;
        feed(&mut child, input);
        return child.wait_with_output();
    };
    let end = Instant::now() + bound.limit;
    bound.running.fetch_add(1, Ordering::SeqCst);
    let output = bound.check(end).and_then(|()| {
        let mut child = in_a_group_of_its_own(&mut command).spawn()?;
        feed(&mut child, input);
        bound.wait(end, &mut child).inspect_err(|_| kill(&mut child))
    });
    bound.running.fetch_sub(1, Ordering::SeqCst);
    output
}

/// Both ends are served at once: a pipe holds less than what is asked and answered. A command that ends before it has
/// read all says why.
fn feed(child: &mut Child, input: Vec<u8>) {
    if let Some(mut stdin) = child.stdin.take() {
        thread::spawn(move || stdin.write_all(&input));
    }
}

fn reader(stream: Option<impl Read + Send + 'static>) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, bytes) = channel();
    thread::spawn(move || {
        let mut read = Vec::new();
        let done = stream.map_or(Ok(0), |mut stream| stream.read_to_end(&mut read));
        // Nobody waits for what a killed command has said.
        let _ = sender.send(done.map(|_| read));
    });
    bytes
}

#[cfg(unix)]
fn in_a_group_of_its_own(command: &mut Command) -> &mut Command {
    use std::os::unix::process::CommandExt;
    command.process_group(0)
}

#[cfg(not(unix))]
fn in_a_group_of_its_own(command: &mut Command) -> &mut Command {
    command
}

/// Kills a child with its children.
fn kill(child: &mut Child) {
    #[cfg(unix)]
    let _ = rustix::process::kill_process_group(
        rustix::process::Pid::from_child(child),
        rustix::process::Signal::KILL,
    );
    // It may be gone by now.
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(all(test, unix))]
#[path = "bounded_tests.rs"]
mod tests;
