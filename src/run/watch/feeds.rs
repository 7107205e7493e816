//! Follows the change feeds that kinds declare, and hints at what they say.
//!
//! There is one task for each feed: of a kind, and of each scope that its request names. It connects when
//! [`core::watch::stream`](crate::core::watch::stream) says so, and gives up what that gives up. Which objects are
//! wanted is looked up when an event comes, so that a busy server wakes nobody for what no document names.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::mpsc::{self, Receiver};
use tokio::task::JoinHandle;
use tokio::time::{sleep, sleep_until};

use super::backoffs::Backoffs;
use super::board::Board;
use super::desired::Desired;
use super::observers::{Hints, Observer};
use super::standing::{Alive, Announce, Place, Standing};
use super::ways::{Held, Ways};
use crate::api::client::Client;
use crate::api::feed::{Ended, Feed};
use crate::backend::feed::Batch;
use crate::core::exchange::{Ask, Collection, Failure, FailureClass, ParentIds};
use crate::core::feed::WatchBy;
use crate::core::identity::ObjectId;
use crate::core::kind::Kind;
use crate::core::watch::stream::{Changed, Effect, End, Event, Policy, State, Stream, Told};
use crate::core::watch::{About, Hint, Origin};

/// Feeds of one backend, at most: each holds a connection. What has none is polled, and found by resyncs.
const MOST: usize = 32;
/// How often is looked whether a backend may be asked again.
const HELD: Duration = Duration::from_secs(1);
/// Failures in a row after which a poll's position is not trusted any more.
const TRUSTED_POLLS: u32 = 2;

/// Opens feeds: the client of a backend, whatever it may do besides.
pub trait Opens: Send + Sync {
    /// # Errors
    /// Why there is no feed.
    fn open<'a>(
        &'a self,
        kind: &'a Arc<Kind>,
        collection: &'a Collection,
        position: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Feed, Ended>>;
}

impl<Mode: Send + Sync> Opens for Client<Mode> {
    fn open<'a>(
        &'a self,
        kind: &'a Arc<Kind>,
        collection: &'a Collection,
        position: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Feed, Ended>> {
        Box::pin(self.feed(kind, collection, position))
    }
}

/// All feeds. Dropped, they end.
pub struct Feeds {
    hints: Hints,
    /// Shared with the polls.
    backoffs: Backoffs,
    board: Board,
    standing: Arc<Standing>,
    state: Mutex<All>,
}

#[derive(Default)]
struct All {
    before: Option<(Arc<Desired>, Arc<Ways>)>,
    running: HashMap<Place, Running>,
    /// Feeds whose request names server ids of parents: they begin once a pass has found these.
    unknown: HashMap<Place, BTreeSet<Arc<str>>>,
}

struct Running {
    ground: Arc<Mutex<Ground>>,
    task: JoinHandle<()>,
}

/// What a feed serves. It changes with the files, and the feed goes on.
struct Ground {
    desired: Arc<Desired>,
    groups: BTreeSet<Arc<str>>,
    /// It is followed no longer, and has nothing more to say.
    ended: bool,
}

impl Feeds {
    /// Follows nothing yet. `announce` is told of each group whether feeds tell what happens to it.
    pub fn new(hints: Hints, backoffs: Backoffs, board: Board, announce: Announce) -> Feeds {
        Feeds { hints, backoffs, board, standing: Arc::new(Standing::new(announce)), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, All> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to follow, where the backend can be reached.
    fn begin(
        &self,
        all: &mut All,
        collection: Collection,
        groups: BTreeSet<Arc<str>>,
        desired: &Arc<Desired>,
        ways: &Ways,
    ) {
        let Some(kind) = desired.kinds.get(&collection.kind).cloned() else { return };
        let backend = &kind.name.backend;
        let client: Option<Arc<dyn Opens>> = match &ways.clients {
            Held::ReadOnly(clients) => clients.client(backend).map(|client| Arc::new(client.clone()) as _),
            Held::ReadWrite(clients) => clients.client(backend).map(|client| Arc::new(client.clone()) as _),
        };
        let Some(client) = client else { return };
        let place = (collection.kind.clone(), collection.scope.clone());
        let ground = Arc::new(Mutex::new(Ground { desired: desired.clone(), groups, ended: false }));
        let follower = Follower {
            client,
            kind,
            collection,
            ground: ground.clone(),
            hints: self.hints.clone(),
            backoffs: self.backoffs.clone(),
            board: self.board.clone(),
            standing: self.standing.clone(),
            told: Alive::No,
            heard: false,
        };
        self.board.begins(&place);
        let task = tokio::spawn(follower.run());
        all.running.insert(place, Running { ground, task });
    }
}

impl Observer for Feeds {
    fn wanted(&self, desired: &Arc<Desired>, ways: &Arc<Ways>) {
        let mut all = self.state();
        let mut other: BTreeSet<Arc<str>> = BTreeSet::new();
        if let Some((old, way)) = &all.before {
            other.extend(desired.redefined(old));
            other.extend(ways.other_than(way));
        }
        let mut wanted = places(desired);
        self.standing.wanted(groups(&wanted));
        limit(&mut wanted);
        all.running.retain(|place, running| {
            let groups = wanted.get(place).filter(|_| !other.contains(&place.0.backend));
            let stays = groups.is_some() && !running.task.is_finished();
            match groups.filter(|_| stays) {
                Some(groups) => {
                    let mut ground = running.ground.lock().unwrap_or_else(PoisonError::into_inner);
                    (ground.desired, ground.groups) = (desired.clone(), groups.clone());
                }
                None => running.end(place, self),
            }
            stays
        });
        wanted.retain(|place, _| !all.running.contains_key(place));
        all.unknown.clear();
        for ((name, scope), groups) in wanted {
            match desired.kinds.get(&name) {
                Some(kind) if needs_ids(kind) => drop(all.unknown.insert((name, scope), groups)),
                _ => {
                    let collection = Collection { kind: name, scope, parent_ids: ParentIds::default() };
                    self.begin(&mut all, collection, groups, desired, ways);
                }
            }
        }
        all.before = Some((desired.clone(), ways.clone()));
    }

    fn asked(&self, ask: &Ask) {
        let Ask::List(listed, _) = ask else { return };
        let mut all = self.state();
        if all.unknown.is_empty() {
            return;
        }
        let Some((desired, ways)) = all.before.clone() else { return };
        let Some(watch) = desired.kinds.get(&listed.kind).and_then(|kind| kind.watch.as_ref()) else {
            return;
        };
        let place = (listed.kind.clone(), watch.scope(&listed.scope));
        if let Some(groups) = all.unknown.remove(&place) {
            let collection = Collection { scope: place.1, ..listed.clone() };
            self.begin(&mut all, collection, groups, &desired, &ways);
        }
    }
}

impl Drop for Feeds {
    fn drop(&mut self) {
        self.state().running.iter().for_each(|(place, running)| running.end(place, self));
    }
}

impl Running {
    fn end(&self, place: &Place, of: &Feeds) {
        self.task.abort();
        self.ground.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
        of.standing.set(place, Alive::No);
        of.board.ends(place);
    }
}

/// The feeds that there could be for what is wanted, with the groups that each serves.
fn places(desired: &Desired) -> BTreeMap<Place, BTreeSet<Arc<str>>> {
    let mut all: BTreeMap<Place, BTreeSet<Arc<str>>> = BTreeMap::new();
    for subject in &desired.subjects {
        let Some(kind) = desired.kinds.get(&subject.id.kind) else { continue };
        let Some(watch) = &kind.watch else { continue };
        let place = (kind.name.clone(), watch.scope(&subject.id.key));
        all.entry(place).or_default().insert(subject.group.clone());
    }
    all
}

/// The same from the side of the groups.
fn groups(places: &BTreeMap<Place, BTreeSet<Arc<str>>>) -> BTreeMap<Arc<str>, BTreeSet<Place>> {
    let mut all: BTreeMap<Arc<str>, BTreeSet<Place>> = BTreeMap::new();
    for (place, groups) in places {
        for group in groups {
            all.entry(group.clone()).or_default().insert(place.clone());
        }
    }
    all
}

/// Leaves so many feeds of each backend, the first by their names.
fn limit(places: &mut BTreeMap<Place, BTreeSet<Arc<str>>>) {
    let mut counts: BTreeMap<Arc<str>, usize> = BTreeMap::new();
    places.retain(|(kind, _), _| {
        let count = counts.entry(kind.backend.clone()).or_default();
        *count += 1;
        *count <= MOST
    });
    for (backend, count) in counts.into_iter().filter(|(_, count)| *count > MOST) {
        tracing::info!(%backend, feeds = MOST, more = count - MOST, "not all feeds are followed; the rest is polled");
    }
}

/// Whether the feed's request names ids that only the server knows.
fn needs_ids(kind: &Kind) -> bool {
    let Some(watch) = &kind.watch else { return false };
    kind.parts.iter().any(|part| watch.op.says_id_of(&part.name))
}

/// One feed, followed.
struct Follower {
    client: Arc<dyn Opens>,
    kind: Arc<Kind>,
    collection: Collection,
    ground: Arc<Mutex<Ground>>,
    hints: Hints,
    backoffs: Backoffs,
    board: Board,
    standing: Arc<Standing>,
    /// What was announced last.
    told: Alive,
    /// Whether this connection has said anything.
    heard: bool,
}

/// What comes from a connection.
enum Heard {
    Opened,
    Batch(Batch),
    Ended(Ended),
}

/// A connection, whose task ends with it.
struct Connection {
    heard: Receiver<Heard>,
    task: JoinHandle<()>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Follower {
    async fn run(mut self) {
        let Some(watch) = &self.kind.watch else { return };
        let policy = Policy {
            silence: watch.silence(),
            replay: watch.replay,
            trusted: if watch.by == WatchBy::Poll { TRUSTED_POLLS } else { 0 },
        };
        let alive = if watch.replay { Alive::Replays } else { Alive::Lossy };
        let mut machine = Stream::new(policy, fastrand::u64(..));
        let mut connection: Option<Connection> = None;
        loop {
            let event = tokio::select! {
                heard = hear(&mut connection) => self.understand(heard),
                () = sleep_until(self.backoffs.at(machine.wake())) => Event::Woke,
            };
            if event == Event::Woke
                && matches!(machine.state(), State::Waiting { .. })
                && self.hints.holds(&self.kind.name.backend)
            {
                sleep(HELD).await;
                continue;
            }
            let effects = self.step(&mut machine, event);
            if !machine.is_open() && !matches!(machine.state(), State::Connecting { .. }) {
                connection = None;
            }
            for effect in effects {
                match effect {
                    Effect::Connect { position } => connection = Some(self.connect(position)),
                    Effect::Close => connection = None,
                    Effect::Relist => self.relist(),
                    Effect::Hint(changed) => self.hint(changed),
                }
            }
            if let State::Waiting { until } = machine.state() {
                let next = self.backoffs.at(*until);
                self.show(|board, place| board.next(place, next));
            }
            self.announce(if machine.is_open() { alive } else { Alive::No });
        }
    }

    fn step(&self, machine: &mut Stream, event: Event) -> Vec<Effect> {
        let (now, groups) = (self.backoffs.now(), self.ground().groups.clone());
        let mut waits = self.backoffs.several(groups);
        let mut effects = machine.step(now, event, &mut waits);
        if effects.contains(&Effect::Relist) {
            // The loop looks, tries again, and tells of what fails.
            effects.extend(machine.step(now, Event::Listed(true), &mut waits));
        }
        effects
    }

    fn connect(&self, position: Option<Arc<str>>) -> Connection {
        // A feed that is not taken is not read on: what waits here is bounded.
        let (sender, heard) = mpsc::channel(4);
        let (client, kind, collection) = (self.client.clone(), self.kind.clone(), self.collection.clone());
        let task = tokio::spawn(async move {
            let opened = client.open(&kind, &collection, position.as_deref()).await;
            let ended = match opened {
                Err(ended) => ended,
                Ok(mut feed) => {
                    let mut next = Heard::Opened;
                    loop {
                        if sender.send(next).await.is_err() {
                            return;
                        }
                        match feed.next().await {
                            Ok(batch) => next = Heard::Batch(batch),
                            Err(ended) => break ended,
                        }
                    }
                }
            };
            let _ = sender.send(Heard::Ended(ended)).await;
        });
        Connection { heard, task }
    }

    fn understand(&mut self, heard: Heard) -> Event {
        match heard {
            Heard::Opened => {
                self.heard = false;
                Event::Opened
            }
            Heard::Batch(batch) => {
                self.heard = true;
                // What says that its history is gone is as good as ended.
                let gone = batch.told.gone.then(|| self.silent(true));
                self.show(|board, place| {
                    match &gone {
                        Some(failure) => board.down(place, failure),
                        None => board.up(place),
                    }
                    let events = batch.told.changed.len() as u64 + batch.ignored;
                    board.counted(place, events, batch.ignored);
                });
                if batch.told == Told::default() { Event::Bytes } else { Event::Told(batch.told) }
            }
            Heard::Ended(Ended { end, failure }) => {
                // What ends well begins again in a second, and nobody is told.
                let silent = || self.silent(end == End::Gone);
                if let Some(failure) = failure.or_else(|| (!self.heard).then(silent)) {
                    self.show(|board, place| board.down(place, &failure));
                }
                Event::Ended(end)
            }
        }
    }

    fn silent(&self, gone: bool) -> Failure {
        let why = if gone { "its history is gone" } else { "it ends before it has said anything" };
        let message = format!("the change feed of `{}`: {why}", self.kind.name.kind);
        Failure { class: FailureClass::Backend, message, hint: None, retry_after: None }
    }

    /// Tells where it stands, while it is followed.
    fn show(&self, show: impl FnOnce(&Board, &Place)) {
        let ground = self.ground();
        if !ground.ended {
            show(&self.board, &(self.collection.kind.clone(), self.collection.scope.clone()));
        }
    }

    fn relist(&self) {
        for group in &self.ground().groups {
            self.hints.send(Hint {
                about: About::Group(group.clone()),
                origin: Origin::Feed,
                observed: None,
            });
        }
    }

    fn hint(&self, changed: Changed) {
        let Changed::Key(key) = changed else { return self.relist() };
        let id = ObjectId { kind: self.kind.name.clone(), key };
        if !self.ground().desired.places([&id]).is_empty() {
            self.hints.send(Hint { about: About::Object(id), origin: Origin::Feed, observed: None });
        }
    }

    fn announce(&mut self, alive: Alive) {
        if self.told != alive {
            self.told = alive;
            let place = (self.collection.kind.clone(), self.collection.scope.clone());
            let ground = self.ground();
            if !ground.ended {
                self.standing.set(&place, alive);
            }
        }
    }

    fn ground(&self) -> MutexGuard<'_, Ground> {
        self.ground.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What comes next from the connection; nothing where there is none.
async fn hear(connection: &mut Option<Connection>) -> Heard {
    let heard = match connection {
        Some(connection) => connection.heard.recv().await,
        None => None,
    };
    match heard {
        Some(heard) => heard,
        // Its last word was taken already.
        None => std::future::pending().await,
    }
}

#[cfg(test)]
#[path = "feeds_tests.rs"]
mod tests;
