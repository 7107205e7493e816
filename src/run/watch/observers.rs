//! Those who look out for changes, and the way by which they say so.
//!
//! Nothing here is needed for the end state: a hint that is lost, doubled or late costs a look, or a resync.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc::{self, Receiver, Sender};

use super::desired::Desired;
use super::ways::Ways;
use crate::core::exchange::{Answer, Ask, Write};
use crate::core::identity::ObjectId;
use crate::core::watch::{About, Hint, Origin};

/// Hints that wait to be taken. What does not fit any more is one wish to look at everything.
const WAITING: usize = 1024;

/// Something that looks out for changes: it polls, follows a feed, or listens. Its work goes on in tasks of its own;
/// it says what it finds by the [`Hints`] that it was made with.
pub trait Observer: Send + Sync {
    /// The desired set is this one from now on, and its backends are reached so.
    fn wanted(&self, desired: &Arc<Desired>, ways: &Arc<Ways>);

    /// A pass asks this: what passes list and read is what there is to look at. Called often, and not to wait in.
    fn asked(&self, ask: &Ask);

    /// A pass was answered this. As [`Observer::asked`].
    fn answered(&self, ask: &Ask, answer: &Answer) {
        let _ = (ask, answer);
    }

    /// A write of a pass was accepted. As [`Observer::asked`].
    fn writes(&self, write: &Write) {
        let _ = write;
    }

    /// A pass has ended that wrote these: what was seen of them before is of the past.
    fn wrote(&self, ids: &[ObjectId]) {
        let _ = ids;
    }
}

impl<O: Observer + ?Sized> Observer for Arc<O> {
    fn wanted(&self, desired: &Arc<Desired>, ways: &Arc<Ways>) {
        (**self).wanted(desired, ways);
    }

    fn asked(&self, ask: &Ask) {
        (**self).asked(ask);
    }

    fn answered(&self, ask: &Ask, answer: &Answer) {
        (**self).answered(ask, answer);
    }

    fn writes(&self, write: &Write) {
        (**self).writes(write);
    }

    fn wrote(&self, ids: &[ObjectId]) {
        (**self).wrote(ids);
    }
}

/// All observers.
#[derive(Default)]
pub struct Observers {
    all: Vec<Box<dyn Observer>>,
}

impl Observers {
    pub fn add(&mut self, observer: impl Observer + 'static) {
        self.all.push(Box::new(observer));
    }

    pub fn wanted(&self, desired: &Arc<Desired>, ways: &Arc<Ways>) {
        self.all.iter().for_each(|observer| observer.wanted(desired, ways));
    }

    pub fn asked(&self, ask: &Ask) {
        self.all.iter().for_each(|observer| observer.asked(ask));
    }

    pub fn answered(&self, ask: &Ask, answer: &Answer) {
        self.all.iter().for_each(|observer| observer.answered(ask, answer));
    }

    pub fn writes(&self, write: &Write) {
        self.all.iter().for_each(|observer| observer.writes(write));
    }

    pub fn wrote(&self, ids: &[ObjectId]) {
        self.all.iter().for_each(|observer| observer.wrote(ids));
    }
}

/// The way for hints into the loop. Its copies are one.
#[derive(Clone)]
pub struct Hints {
    sender: Sender<Hint>,
    shared: Arc<Shared>,
}

/// The other end of [`Hints`].
pub struct Hinted {
    receiver: Receiver<Hint>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// A hint did not fit.
    overflowed: AtomicBool,
    /// Backends to which nothing but probes is to be sent.
    held: Mutex<BTreeSet<Arc<str>>>,
}

/// A new way for hints, with its two ends.
pub fn hints() -> (Hints, Hinted) {
    let (sender, receiver) = mpsc::channel(WAITING);
    let shared = Arc::<Shared>::default();
    (Hints { sender, shared: shared.clone() }, Hinted { receiver, shared })
}

impl Hints {
    /// Hands a hint over, without waiting. Where there is no room for it, everything is looked at instead.
    pub fn send(&self, hint: Hint) {
        if self.sender.try_send(hint).is_err() {
            self.shared.overflowed.store(true, Ordering::Release);
        }
    }

    /// The way itself, for those who wait until there is room.
    pub fn sender(&self) -> Sender<Hint> {
        self.sender.clone()
    }

    /// Whether a backend is not to be asked for now: its breaker is open, and probes are the loop's business.
    pub fn holds(&self, target: &str) -> bool {
        self.shared.held.lock().unwrap_or_else(PoisonError::into_inner).contains(target)
    }
}

impl Hinted {
    /// The hints that have come, at least one. Never ends.
    pub async fn next(&mut self) -> Vec<Hint> {
        let mut all = Vec::new();
        if self.receiver.recv_many(&mut all, WAITING).await == 0 {
            return std::future::pending().await;
        }
        // Looked at after the queue was emptied: what did not fit came while it was full.
        if self.shared.overflowed.swap(false, Ordering::AcqRel) {
            all = vec![Hint { about: About::All, origin: Origin::Poll, observed: None }];
        }
        all
    }

    /// Says which backends are not to be asked for now.
    pub fn hold(&self, targets: BTreeSet<Arc<str>>) {
        *self.shared.held.lock().unwrap_or_else(PoisonError::into_inner) = targets;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(target: &str) -> Hint {
        Hint { about: About::Target(target.into()), origin: Origin::Feed, observed: None }
    }

    #[tokio::test]
    async fn a_flood_is_one_wish_to_look_at_everything() {
        let (hints, mut hinted) = hints();
        hints.send(of("a"));
        hints.send(of("b"));
        assert_eq!(hinted.next().await, [of("a"), of("b")]);
        (0..=WAITING).for_each(|_| hints.send(of("a")));
        let all = hinted.next().await;
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].about, About::All);
        hints.send(of("c"));
        assert_eq!(hinted.next().await, [of("c")], "a flood ends");
    }

    #[test]
    fn a_backend_that_is_not_to_be_asked() {
        let (hints, hinted) = hints();
        assert!(!hints.holds("a"));
        hinted.hold(["a".into()].into());
        assert!(hints.holds("a") && !hints.holds("b"));
        hinted.hold(BTreeSet::new());
        assert!(!hints.holds("a"));
    }
}
