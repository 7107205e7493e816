//! A post: one collection, or one object, that is polled.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;

use super::interests::Index;
use super::ways::{Held, Ways};
use crate::api::poll::{Poll, Polled};
use crate::backend::known::{Changes, Known, KnownObject};
use crate::core::engine::random::Random;
use crate::core::exchange::{Collection, Failure, FailureClass, Target};
use crate::core::identity::{KindName, ObjectId};
use crate::core::kind::Kind;
use crate::core::watch::backoff::{Backoff, Waits};
use crate::core::watch::observer::{Came, Feed, Observer};
use crate::core::watch::{About, Hint, Origin};
use crate::run::clients::Clients;

/// Something that can poll.
pub trait Polls: Send + Sync {
    fn poll<'a>(
        &'a self,
        kind: &'a Arc<Kind>,
        collection: &'a Collection,
        known: &'a mut Known,
    ) -> BoxFuture<'a, Poll>;

    fn poll_object<'a>(
        &'a self,
        kind: &'a Arc<Kind>,
        target: &'a Target,
        known: &'a mut KnownObject,
    ) -> BoxFuture<'a, Poll>;
}

impl<Mode: Send + Sync> Polls for Clients<Mode> {
    fn poll<'a>(
        &'a self,
        kind: &'a Arc<Kind>,
        collection: &'a Collection,
        known: &'a mut Known,
    ) -> BoxFuture<'a, Poll> {
        Box::pin(async move {
            match self.client(&kind.name.backend) {
                Some(client) => client.poll(kind, collection, known).await,
                None => unreached(kind),
            }
        })
    }

    fn poll_object<'a>(
        &'a self,
        kind: &'a Arc<Kind>,
        target: &'a Target,
        known: &'a mut KnownObject,
    ) -> BoxFuture<'a, Poll> {
        Box::pin(async move {
            match self.client(&kind.name.backend) {
                Some(client) => client.poll_object(kind, target, known).await,
                None => unreached(kind),
            }
        })
    }
}

impl Polls for Ways {
    fn poll<'a>(
        &'a self,
        kind: &'a Arc<Kind>,
        collection: &'a Collection,
        known: &'a mut Known,
    ) -> BoxFuture<'a, Poll> {
        match &self.clients {
            Held::ReadOnly(clients) => Polls::poll(clients, kind, collection, known),
            Held::ReadWrite(clients) => Polls::poll(clients, kind, collection, known),
        }
    }

    fn poll_object<'a>(
        &'a self,
        kind: &'a Arc<Kind>,
        target: &'a Target,
        known: &'a mut KnownObject,
    ) -> BoxFuture<'a, Poll> {
        match &self.clients {
            Held::ReadOnly(clients) => clients.poll_object(kind, target, known),
            Held::ReadWrite(clients) => clients.poll_object(kind, target, known),
        }
    }
}

fn unreached(kind: &Kind) -> Poll {
    let failure = Failure {
        class: FailureClass::Backend,
        message: format!("there is no connection to the backend `{}`", kind.name.backend),
        hint: None,
        retry_after: None,
    };
    Poll { polled: Polled::Failed(failure), wait: None }
}

/// What is polled.
#[derive(Clone)]
pub enum What {
    Collection(Collection),
    Object(Box<Target>),
}

/// What is known of it. It goes along with a poll, and comes back with what came of it.
pub enum Memory {
    Collection(Box<Known>),
    Object(Box<KnownObject>),
}

pub struct Post {
    pub what: What,
    pub kind: Arc<Kind>,
    /// By which its failures are waited out, together with others.
    pub group: Arc<str>,
    pub observer: Observer,
    /// `None` while a poll is under way.
    pub memory: Option<Memory>,
    /// Polls in a row that failed.
    pub failures: u32,
    /// When it is to be polled next, while it waits.
    pub due: Option<Duration>,
    /// Another one than a poll that is under way began with: what is wanted has changed meanwhile.
    pub epoch: u64,
}

impl What {
    pub fn kind(&self) -> &KindName {
        match self {
            What::Collection(collection) => &collection.kind,
            What::Object(target) => &target.id.kind,
        }
    }

    /// What it looks for, by what the documents want now; `None` where that is nothing.
    pub fn memory(&self, index: &Index) -> Option<Memory> {
        match self {
            What::Collection(collection) => {
                let interests = index.of(collection);
                let any = !interests.is_empty() || index.is_claimed(&collection.kind);
                any.then(|| Memory::Collection(Box::new(Known::new(Arc::new(interests)))))
            }
            What::Object(target) => {
                Some(Memory::Object(Box::new(KnownObject::new(index.object(&target.id)?))))
            }
        }
    }
}

/// What is asked about together, and fails together: its waits are shared with its feed.
pub struct Group {
    random: Random,
    /// A failure was told, and nothing has worked since.
    failing: bool,
    pub feed: Feed,
}

impl Group {
    pub fn new(seed: u64) -> Group {
        Group { random: Random::new(seed), failing: false, feed: Feed::None }
    }

    /// How long to wait after a failure.
    pub fn failed(
        &mut self,
        now: Duration,
        failure: &Failure,
        asked: Option<Duration>,
        backoff: &mut Backoff,
    ) -> Duration {
        if !self.failing {
            tracing::warn!(reason = %failure.message, "a poll failed");
        }
        self.failing = true;
        // What is refused, or is not there, is no sign of a server in trouble.
        let answered = match failure.class {
            FailureClass::Status(408 | 429) => false,
            FailureClass::Status(status) => (400..500).contains(&status),
            _ => false,
        };
        let wait = if answered {
            backoff.fail(now, &mut self.random)
        } else {
            backoff.failed(now, &mut self.random)
        };
        wait.max(asked.unwrap_or_default())
    }

    pub fn worked(&mut self, name: &str, backoff: &mut Backoff) {
        self.failing = false;
        if backoff.is_down() {
            tracing::info!(group = %name, "polls work again");
        }
        backoff.worked();
    }
}

/// Polls once.
pub async fn poll(polls: Arc<dyn Polls>, kind: Arc<Kind>, what: What, memory: Memory) -> (Memory, Poll) {
    match (&what, memory) {
        (What::Collection(collection), Memory::Collection(mut known)) => {
            let poll = polls.poll(&kind, collection, &mut known).await;
            (Memory::Collection(known), poll)
        }
        (What::Object(target), Memory::Object(mut known)) => {
            let poll = polls.poll_object(&kind, target, &mut known).await;
            (Memory::Object(known), poll)
        }
        (_, memory) => (memory, unreached(&kind)),
    }
}

/// What came of a poll.
pub struct Told {
    pub came: Came,
    pub hints: Vec<Hint>,
    pub failure: Option<Failure>,
    pub wait: Option<Duration>,
}

impl Post {
    /// Takes what a poll told. Elements that no document names are of interest where they are `claimed`.
    pub fn took(&mut self, poll: Poll, claimed: bool) -> Told {
        let (changes, failure) = match poll.polled {
            Polled::Same => (None, None),
            Polled::Changed(changes) => (Some(changes), None),
            Polled::Partly(changes, failure) => (changes, Some(failure)),
            Polled::Failed(failure) => (None, Some(failure)),
        };
        let changes = changes.unwrap_or_default();
        let mut hints = self.hints(&changes);
        // Its parent is gone, say.
        let vanished = |failure: &Failure| matches!(failure.class, FailureClass::Status(404 | 410));
        let vanishes = self.failures == 0 && failure.as_ref().is_some_and(vanished);
        if vanishes || (claimed && changes.strangers > 0) {
            hints.push(hint(About::Group(self.group.clone()), None));
        }
        let came = match (&failure, changes.keys.is_empty()) {
            (Some(_), _) => Came::Failed,
            (None, true) => Came::Equal,
            (None, false) => Came::Changed,
        };
        self.failures = if failure.is_some() { self.failures + 1 } else { 0 };
        Told { came, hints, failure, wait: poll.wait }
    }

    fn hints(&self, changes: &Changes) -> Vec<Hint> {
        let about =
            |key: &_| About::Object(ObjectId { kind: self.kind.name.clone(), key: Clone::clone(key) });
        changes.keys.iter().map(|(key, digest)| hint(about(key), Some(*digest))).collect()
    }
}

fn hint(about: About, observed: Option<crate::core::digest::Digest>) -> Hint {
    Hint { about, origin: Origin::Poll, observed }
}
