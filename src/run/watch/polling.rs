//! Polls what passes list and read, and hints at what changed.
//!
//! A pass asks for a collection: from then on the collection is polled. It reads an object that no polled collection
//! shows: the object is polled by its own read. All of it goes on in one task, with few polls under way at once.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::Instant;

use super::backoffs::Backoffs;
use super::board::Board;
use super::confirmed::{Confirmed, Written};
use super::desired::{Desired, group};
use super::interests::Index;
use super::observers::{self, Hints};
use super::post::{Group, Memory, Polls, Post, What, hint, poll};
use super::ways::Ways;
use crate::api::poll::Poll;
use crate::core::exchange::{Answer, Ask, Collection, Target, Write};
use crate::core::identity::{Key, KindName, ObjectId};
use crate::core::kind::Kind;
use crate::core::watch::About;
use crate::core::watch::backoff::Asker;
use crate::core::watch::observer::{Feed, Observer};

/// So many polls are under way at once, of all backends: the limits of each hold besides.
const AT_ONCE: usize = 16;

/// How polling is to go.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    /// `--interval`: kept whatever happens.
    pub interval: Option<Duration>,
    /// The seed of all jitter.
    pub seed: u64,
}

/// The polling of all backends. Dropped, it ends.
pub struct Polling {
    orders: UnboundedSender<Order>,
    /// What was asked for already.
    seen: Mutex<Seen>,
    confirmed: Confirmed,
}

#[derive(Default)]
struct Seen {
    collections: HashSet<Collection>,
    /// With the id that the read names.
    objects: HashMap<ObjectId, Option<Arc<str>>>,
}

enum Order {
    Want(Arc<Index>, Arc<dyn Polls>),
    Post(What),
    Feed(Arc<str>, Feed),
    Wrote(Vec<Written>),
}

impl Polling {
    /// Begins with nothing to poll.
    pub fn start(pace: Pace, hints: Hints, backoffs: Backoffs, board: Board) -> Polling {
        let (orders, received) = mpsc::unbounded_channel();
        tokio::spawn(Keeper::new(pace, hints, backoffs, board).run(received));
        Polling { orders, seen: Mutex::default(), confirmed: Confirmed::default() }
    }

    /// What is wanted from now on, and by what it is reached. What is polled goes on as far as it is still wanted.
    pub fn want(&self, desired: Arc<Desired>, polls: Arc<dyn Polls>) {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Seen::default();
        let index = Arc::new(Index::new(desired));
        self.confirmed.want(index.clone());
        self.order(Order::Want(index, polls));
    }

    /// A feed of this group came up or went down.
    pub fn feed(&self, group: Arc<str>, feed: Feed) {
        self.order(Order::Feed(group, feed));
    }

    fn order(&self, order: Order) {
        // The task ends with the process, and not before.
        let _ = self.orders.send(order);
    }
}

impl observers::Observer for Polling {
    fn wanted(&self, desired: &Arc<Desired>, ways: &Arc<Ways>) {
        self.want(desired.clone(), ways.clone());
    }

    fn wrote(&self, ids: &[ObjectId]) {
        self.order(Order::Wrote(self.confirmed.take(ids)));
    }

    fn answered(&self, ask: &Ask, answer: &Answer) {
        self.confirmed.answered(ask, answer);
    }

    fn writes(&self, write: &Write) {
        self.confirmed.writes(write);
    }

    fn asked(&self, ask: &Ask) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match ask {
            Ask::List(collection, _) if !seen.collections.contains(collection) => {
                seen.collections.insert(collection.clone());
                self.order(Order::Post(What::Collection(collection.clone())));
            }
            Ask::Read(target) if seen.objects.get(&target.id) != Some(&target.server_id) => {
                seen.objects.insert(target.id.clone(), target.server_id.clone());
                // What was seen of it, and what is to be made of it, is of no use to a poll.
                let target = Target {
                    server_id: target.server_id.clone(),
                    parent_ids: target.parent_ids.clone(),
                    ..Target::new(target.id.clone())
                };
                self.order(Order::Post(What::Object(Box::new(target))));
            }
            _ => {}
        }
    }
}

type PostId = u64;

/// What the task keeps.
struct Keeper {
    pace: Pace,
    hints: Hints,
    /// Shared with the feeds.
    backoffs: Backoffs,
    /// Where it is told what is heard of backends.
    board: Board,
    wanted: Option<(Arc<Index>, Arc<dyn Polls>)>,
    posts: HashMap<PostId, Post>,
    /// Those that wait, by when they are due.
    due: BTreeSet<(Duration, PostId)>,
    collections: HashMap<(KindName, Key), PostId>,
    objects: HashMap<ObjectId, PostId>,
    groups: HashMap<Arc<str>, Group>,
    /// Counts posts, and changes of what is wanted.
    count: u64,
}

struct Ended {
    id: PostId,
    epoch: u64,
    memory: Memory,
    poll: Poll,
}

impl Keeper {
    fn new(pace: Pace, hints: Hints, backoffs: Backoffs, board: Board) -> Keeper {
        Keeper {
            pace,
            hints,
            backoffs,
            board,
            wanted: None,
            posts: HashMap::new(),
            due: BTreeSet::new(),
            collections: HashMap::new(),
            objects: HashMap::new(),
            groups: HashMap::new(),
            count: 0,
        }
    }

    async fn run(mut self, mut orders: UnboundedReceiver<Order>) {
        let mut under_way: FuturesUnordered<BoxFuture<'static, Ended>> = FuturesUnordered::new();
        loop {
            while under_way.len() < AT_ONCE
                && let Some(id) = self.next_due()
            {
                under_way.extend(self.begin(id));
            }
            let next = self.due.first().map(|(at, _)| self.backoffs.at(*at));
            let free = under_way.len() < AT_ONCE;
            tokio::select! {
                order = orders.recv() => match order {
                    Some(Order::Want(index, polls)) => self.want(index, polls),
                    Some(Order::Post(what)) => self.post(what),
                    Some(Order::Wrote(all)) => self.wrote(all),
                    Some(Order::Feed(group, feed)) => self.feed(group, feed),
                    None => return,
                },
                Some(ended) = under_way.next(), if !under_way.is_empty() => self.ended(ended),
                () = until(next), if free => {}
            }
        }
    }

    fn now(&self) -> Duration {
        self.backoffs.now()
    }

    /// Takes the first post that is due.
    fn next_due(&mut self) -> Option<PostId> {
        let now = self.now();
        self.due.first().filter(|(at, _)| *at <= now)?;
        self.due.pop_first().map(|(_, id)| id)
    }

    fn begin(&mut self, id: PostId) -> Option<BoxFuture<'static, Ended>> {
        let now = self.now();
        let (index, polls) = self.wanted.clone()?;
        self.posts.get_mut(&id)?.due = None;
        if let What::Object(target) = &self.posts.get(&id)?.what
            && self.is_covered(&index, &target.id)
        {
            self.remove(id);
            return None;
        }
        let post = self.posts.get_mut(&id)?;
        if self.hints.holds(&post.kind.name.backend) {
            post.observer.held(now, None);
            self.schedule(id);
            return None;
        }
        if let Err(until) = self.backoffs.of(&post.group, |backoff| backoff.turn(now, Asker::Polls)) {
            post.observer.held(now, Some(until));
            self.schedule(id);
            return None;
        }
        let memory = post.memory.take()?;
        self.board.polls(&post.kind.name.backend, post.observer.interval());
        let (kind, what, epoch) = (post.kind.clone(), post.what.clone(), post.epoch);
        Some(Box::pin(async move {
            let (memory, poll) = poll(polls, kind, what, memory).await;
            Ended { id, epoch, memory, poll }
        }))
    }

    fn ended(&mut self, ended: Ended) {
        let now = self.now();
        let Some(post) = self.posts.get_mut(&ended.id).filter(|post| post.epoch == ended.epoch) else {
            return;
        };
        post.polled(ended.memory);
        let claimed = self.wanted.as_ref().is_some_and(|(index, _)| index.is_claimed(&post.kind.name));
        let failed = post.failures > 0;
        let told = post.took(ended.poll, claimed);
        if told.failure.is_none() {
            self.board.heard(&post.kind.name.backend);
        }
        let group = self.groups.entry(post.group.clone()).or_insert_with(|| Group::new(self.pace.seed));
        let mut doubtful = false;
        let wait = self.backoffs.of(&post.group, |backoff| match &told.failure {
            Some(failure) => {
                let wait = group.failed(now, failure, told.wait, backoff);
                doubtful = group.is_doubtful(failure);
                Some(wait)
            }
            None => {
                group.worked(&post.group, backoff);
                told.wait
            }
        });
        // What passes could not look at either, they can now.
        if failed && told.failure.is_none() {
            self.hints.send(hint(About::Failing(post.group.clone()), None));
        }
        // Whether the server is away is for a pass to find out, and to tell.
        if doubtful {
            self.hints.send(hint(About::Group(post.group.clone()), None));
        }
        post.observer.polled(now, told.came, wait);
        told.hints.into_iter().for_each(|hint| self.hints.send(hint));
        self.schedule(ended.id);
    }

    /// What is wanted has changed: what is known is known of other wishes.
    fn want(&mut self, index: Arc<Index>, polls: Arc<dyn Polls>) {
        let all: Vec<PostId> = self.posts.keys().copied().collect();
        self.wanted = Some((index.clone(), polls));
        for id in all {
            let post = self.posts.get_mut(&id).expect("it is one of them");
            let kind = index.kind(post.what.kind()).cloned();
            match kind.zip(post.what.memory(&index)) {
                Some((kind, memory)) => self.renew(id, kind, memory),
                None => self.remove(id),
            }
        }
    }

    fn renew(&mut self, id: PostId, kind: Arc<Kind>, memory: Memory) {
        self.count += 1;
        if let Some(post) = self.posts.get_mut(&id) {
            (post.kind, post.memory, post.epoch) = (kind, Some(memory), self.count);
            post.written.clear();
            self.schedule(id);
        }
    }

    /// Polls something from now on, if any document has to do with it. What it was known by before may be no more.
    fn post(&mut self, what: What) {
        let Some((index, _)) = self.wanted.clone() else { return };
        let Some((kind, memory)) = index.kind(what.kind()).cloned().zip(what.memory(&index)) else { return };
        let (have, scope) = match &what {
            What::Collection(collection) => {
                let place = (kind.name.clone(), collection.scope.clone());
                (self.collections.get(&place).copied(), collection.scope.clone())
            }
            What::Object(target) if self.is_covered(&index, &target.id) => return,
            What::Object(target) => {
                (self.objects.get(&target.id).copied(), kind.listing_scope(&target.id.key))
            }
        };
        if let Some(id) = have {
            let post = self.posts.get_mut(&id).expect("what is found is there");
            post.what = what;
            return self.renew(id, kind, memory);
        }
        self.count += 1;
        let id = self.count;
        match &what {
            What::Collection(collection) => {
                self.collections.insert((kind.name.clone(), collection.scope.clone()), id)
            }
            What::Object(target) => self.objects.insert(target.id.clone(), id),
        };
        let group = group(&kind.name, &scope);
        let mut observer = Observer::new(self.now(), self.pace.interval, self.pace.seed ^ id);
        if let Some(group) = self.groups.get(&group) {
            observer.feeds(self.now(), group.feed);
        }
        let memory = Some(memory);
        let written = Vec::new();
        let post = Post { what, kind, group, observer, memory, written, failures: 0, epoch: id, due: None };
        self.posts.insert(id, post);
        self.schedule(id);
    }

    /// Passes have written these.
    fn wrote(&mut self, all: Vec<Written>) {
        let Some((index, _)) = self.wanted.clone() else { return };
        for (id, sight) in &all {
            let place = index.kind(&id.kind).map(|kind| (kind.name.clone(), kind.listing_scope(&id.key)));
            let listing = place.and_then(|place| self.collections.get(&place));
            for post in listing.into_iter().chain(self.objects.get(id)) {
                self.posts.get_mut(post).expect("what is found is there").wrote(&id.key, *sight);
            }
        }
    }

    /// Whether a collection that is polled shows the object.
    fn is_covered(&self, index: &Index, id: &ObjectId) -> bool {
        let Some(kind) = index.kind(&id.kind) else { return false };
        let whole = kind.list.as_ref().is_some_and(|list| !list.partial);
        whole && self.collections.contains_key(&(kind.name.clone(), kind.listing_scope(&id.key)))
    }

    fn remove(&mut self, id: PostId) {
        let Some(post) = self.posts.remove(&id) else { return };
        if let Some(at) = post.due {
            self.due.remove(&(at, id));
        }
        match &post.what {
            What::Collection(collection) => {
                self.collections.remove(&(collection.kind.clone(), collection.scope.clone()));
            }
            What::Object(target) => {
                self.objects.remove(&target.id);
            }
        }
    }

    fn feed(&mut self, name: Arc<str>, feed: Feed) {
        let now = self.now();
        let group = self.groups.entry(name.clone()).or_insert_with(|| Group::new(self.pace.seed));
        group.feed = feed;
        let posts = self.posts.iter_mut().filter(|(_, post)| post.group == name);
        let mut moved: Vec<PostId> = Vec::new();
        for (id, post) in posts {
            post.observer.feeds(now, feed);
            moved.push(*id);
        }
        moved.into_iter().for_each(|id| self.schedule(id));
    }

    /// Puts a post among those that wait, unless it is being polled.
    fn schedule(&mut self, id: PostId) {
        let Some(post) = self.posts.get_mut(&id) else { return };
        if let Some(at) = post.due.take() {
            self.due.remove(&(at, id));
        }
        post.due = post.observer.next().filter(|_| post.memory.is_some());
        self.due.extend(post.due.map(|at| (at, id)));
    }
}

/// Sleeps until a time; for ever where there is none.
async fn until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
#[path = "polling_tests.rs"]
mod tests;
