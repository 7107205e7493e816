//! A post: one collection, or one object, that is polled.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;

use super::interests::Index;
use super::ways::{Held, Ways};
use crate::api::poll::{Poll, Polled};
use crate::backend::known::{Changes, Known, KnownObject};
use crate::core::engine::random::Random;
use crate::core::exchange::{Collection, Failure, FailureClass, LONGEST_PATIENCE, Target};
use crate::core::identity::{Key, KindName, ObjectId};
use crate::core::kind::Kind;
use crate::core::watch::backoff::{Backoff, Waits};
use crate::core::watch::observer::{Came, Feed, Observer};
use crate::core::watch::owned::Sight;
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
        polls(self).poll(kind, collection, known)
    }

    fn poll_object<'a>(
        &'a self,
        kind: &'a Arc<Kind>,
        target: &'a Target,
        known: &'a mut KnownObject,
    ) -> BoxFuture<'a, Poll> {
        polls(self).poll_object(kind, target, known)
    }
}

/// The clients, whatever they may do besides.
fn polls(ways: &Ways) -> &dyn Polls {
    match &ways.clients {
        Held::ReadOnly(clients) => clients,
        Held::ReadWrite(clients) => clients,
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
    /// What was written while a poll is under way.
    pub written: Vec<(Key, Option<Sight>)>,
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
    /// Polls in a row that failed.
    failures: u32,
    pub feed: Feed,
}

impl Group {
    pub fn new(seed: u64) -> Group {
        Group { random: Random::new(seed), failures: 0, feed: Feed::None }
    }

    /// How long to wait after a failure.
    pub fn failed(
        &mut self,
        now: Duration,
        failure: &Failure,
        asked: Option<Duration>,
        backoff: &mut Backoff,
    ) -> Duration {
        if self.failures == 0 {
            tracing::warn!(reason = %failure.message, "a poll failed");
        }
        self.failures += 1;
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
        wait.max(asked.unwrap_or_default().min(LONGEST_PATIENCE))
    }

    pub fn worked(&mut self, name: &str, backoff: &mut Backoff) {
        if backoff.is_down() {
            tracing::info!(group = %name, "polls work again");
        }
        self.failures = 0;
        backoff.worked();
    }

    /// Whether it failed just so often that what is known of its objects is doubtful. A server that asks to be left
    /// alone says nothing of them.
    pub fn is_doubtful(&self, failure: &Failure) -> bool {
        self.failures == DOUBT && failure.retry_after.is_none()
    }
}

/// So many polls in a row that failed make what is known of their objects doubtful.
const DOUBT: u32 = 3;

/// More changes in one poll than this are a crowd.
const CROWD: usize = 256;

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

impl Memory {
    fn wrote(&mut self, key: &Key, sight: Option<Sight>) {
        match self {
            Memory::Collection(known) => known.wrote(key, sight),
            Memory::Object(known) => known.wrote(sight),
        }
    }
}

impl Post {
    /// A pass has written this object, and saw it so after that.
    pub fn wrote(&mut self, key: &Key, sight: Option<Sight>) {
        // Where listings do not show objects whole, they show another sight than a read.
        let is_part = || self.kind.list.as_ref().is_some_and(|list| list.partial);
        let sight = sight.filter(|_| matches!(self.what, What::Object(_)) || !is_part());
        match &mut self.memory {
            Some(memory) => memory.wrote(key, sight),
            None => self.written.push((key.clone(), sight)),
        }
    }

    /// A poll is over. What it saw of objects that were written meanwhile may be of before.
    pub fn polled(&mut self, mut memory: Memory) {
        let written = std::mem::take(&mut self.written);
        written.iter().for_each(|(key, sight)| memory.wrote(key, *sight));
        self.memory = Some(memory);
    }

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

    /// A hint for each object. Of many objects that are all as they are wanted by now, none: that is what our own
    /// writes look like from here, and a pass has seen them already. Of other crowds, one for all of the group.
    fn hints(&self, changes: &Changes) -> Vec<Hint> {
        if changes.keys.len() > CROWD {
            let any = changes.level < changes.keys.len();
            return any.then(|| hint(About::Group(self.group.clone()), None)).into_iter().collect();
        }
        let about =
            |key: &_| About::Object(ObjectId { kind: self.kind.name.clone(), key: Clone::clone(key) });
        changes.keys.iter().map(|(key, digest)| hint(about(key), Some(*digest))).collect()
    }
}

/// A hint of a poll.
pub fn hint(about: About, observed: Option<crate::core::digest::Digest>) -> Hint {
    Hint { about, origin: Origin::Poll, observed }
}
