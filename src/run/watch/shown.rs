//! The last snapshot of a running watch, shared by all that show it. To publish one is cheap: nothing is rendered
//! until somebody asks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::watch::{Receiver, Sender};
use tokio::time::Instant;

use crate::core::secrets::Secrets;
use crate::core::watch::{Snapshot, snapshot};
use crate::render::watch::{Document, metrics};

use super::process;

/// Copies are one: the loop publishes, all others look.
#[derive(Clone)]
pub struct Shown(Arc<Inner>);

struct Inner {
    /// Zero of the loop's time.
    start: Instant,
    latest: Sender<Arc<Snapshot>>,
    /// When the loop last gave a sign of life, in milliseconds of its time.
    alive: AtomicU64,
    secrets: Secrets,
}

impl Shown {
    /// `start` is zero of the loop's time. `secrets` are kept out of all that is shown.
    pub fn new(start: Instant, secrets: Secrets) -> Shown {
        let first = Snapshot { zero: snapshot::zero(None, wall(), start.elapsed()), ..Snapshot::default() };
        let (latest, _) = tokio::sync::watch::channel(Arc::new(first));
        let inner = Inner { start, latest, alive: AtomicU64::new(0), secrets };
        let shown = Shown(Arc::new(inner));
        shown.alive();
        shown
    }

    /// Puts a snapshot in place of the last one, and is a sign of life. `zero` is filled in here.
    pub fn publish(&self, mut snapshot: Snapshot) {
        self.alive();
        let earlier = self.latest().zero;
        snapshot.zero = snapshot::zero(Some(earlier), wall(), self.now());
        self.0.latest.send_replace(Arc::new(snapshot));
    }

    /// The loop goes on, whether or not there is anything new. To be called every few seconds.
    pub fn alive(&self) {
        let now = u64::try_from(self.now().as_millis()).unwrap_or(u64::MAX);
        self.0.alive.store(now, Ordering::Relaxed);
    }

    /// How long the loop has given no sign of life.
    pub fn silence(&self) -> Duration {
        self.now().saturating_sub(Duration::from_millis(self.0.alive.load(Ordering::Relaxed)))
    }

    /// The time of the loop.
    pub fn now(&self) -> Duration {
        self.0.start.elapsed()
    }

    pub fn latest(&self) -> Arc<Snapshot> {
        self.0.latest.borrow().clone()
    }

    /// Tells of each snapshot that comes.
    pub fn subscribe(&self) -> Receiver<Arc<Snapshot>> {
        self.0.latest.subscribe()
    }

    /// The status document, as of now. Takes tens of milliseconds where there are very many objects.
    pub fn document(&self) -> Document {
        self.document_of(&self.latest())
    }

    /// The status document of this snapshot, as of now.
    pub fn document_of(&self, snapshot: &Snapshot) -> Document {
        let now = self.now();
        Document::of(snapshot, now, now.saturating_sub(self.silence()), &self.0.secrets.redactor())
    }

    /// The metrics, as of now.
    pub fn metrics(&self) -> String {
        let redactor = self.0.secrets.redactor();
        metrics::metrics(&self.latest(), self.now(), &process::look(), &redactor)
    }
}

/// The wall clock, since 1970.
#[cfg(not(test))]
fn wall() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The same for tests: it goes with their virtual time, which would look like a wall clock that is set.
#[cfg(test)]
fn wall() -> Duration {
    static BEGAN: std::sync::OnceLock<(std::time::Instant, Duration)> = std::sync::OnceLock::new();
    let begin = || {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        (std::time::Instant::now(), wall)
    };
    let (began, wall) = BEGAN.get_or_init(begin);
    wall.saturating_add(Instant::now().into_std().saturating_duration_since(*began))
}
