//! The one writer: a thread that decides writes in order and commits them in groups.
//!
//! While one group is on its way to the disk the next one gathers, so that many writers share one wait. Readers
//! see a group only after it is durable; a write is answered only then. The thread decides on a copy of the
//! index of its own (the items are shared), so that a group that could not be written leaves no trace.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, RwLock};
use std::thread::{self, JoinHandle};

use tokio::sync::oneshot;

use super::disk::Disk;
use super::feed::{Event, Feed};
use super::index::Index;
use super::refusal::Refusal;
use super::write::{Done, Write};

/// Enough to share a wait among all that a busy server has open, small enough to keep answers prompt.
const LARGEST_GROUP: usize = 256;

/// A write that is durable, with its place in the order of all writes of this process.
#[derive(Clone, Debug)]
pub struct Committed {
    pub number: u64,
    pub done: Done,
}

struct Job {
    write: Write,
    reply: oneshot::Sender<Result<Committed, Refusal>>,
}

/// The way to the thread. Dropping it waits until what is queued is written and the file is closed.
pub struct Committer {
    queue: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Committer {
    /// Starts the thread; `published` is what readers see, and `feed` what followers are told.
    pub fn start(disk: Disk, published: Arc<RwLock<Index>>, feed: Arc<Feed>) -> Committer {
        let (queue, jobs) = channel();
        let working = published.read().expect("no reader or writer of the index panics").clone();
        let worker = Worker { disk, jobs, working, published, feed, number: 0 };
        let thread = thread::Builder::new().name("store".into()).spawn(move || worker.run());
        Committer { queue: Some(queue), thread: Some(thread.expect("the system can start a thread")) }
    }

    /// Waits for a write to be decided and, if it was accepted, durable.
    pub async fn write(&self, write: Write) -> Result<Committed, Refusal> {
        let (reply, answer) = oneshot::channel();
        let queue = self.queue.as_ref().expect("the queue is open until the drop");
        let stopped = || Refusal::Disk("its writer has stopped".into());
        queue.send(Job { write, reply }).map_err(|_| stopped())?;
        answer.await.unwrap_or_else(|_| Err(stopped()))
    }
}

impl Drop for Committer {
    fn drop(&mut self) {
        self.queue.take();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported where it happened; a second one here would hide it.
            let _ = thread.join();
        }
    }
}

struct Worker {
    disk: Disk,
    jobs: Receiver<Job>,
    working: Index,
    published: Arc<RwLock<Index>>,
    feed: Arc<Feed>,
    number: u64,
}

impl Worker {
    fn run(mut self) {
        while let Ok(first) = self.jobs.recv() {
            let mut group = vec![first];
            group.extend(self.jobs.try_iter().take(LARGEST_GROUP - 1));
            self.commit(group);
        }
    }

    fn commit(&mut self, group: Vec<Job>) {
        let mut changes = Vec::new();
        let mut answers = Vec::with_capacity(group.len());
        for Job { write, reply } in group {
            let result = self.working.perform(write, &mut changes);
            self.number += 1;
            answers.push((reply, result.map(|done| Committed { number: self.number, done })));
        }
        if !changes.is_empty() {
            match self.disk.save(&changes, self.working.clock()) {
                Ok(()) => {
                    let mut published =
                        self.published.write().expect("no reader or writer of the index panics");
                    let events = changes.iter().filter_map(|change| {
                        let event = Event::of(change, &published);
                        published.apply(change);
                        event
                    });
                    // Before the index is free again: whoever lists then finds its place in the feed.
                    self.feed.publish(events.collect::<Vec<_>>());
                    drop(published);
                    self.disk.tidy(&self.working);
                }
                Err(error) => {
                    self.working =
                        self.published.read().expect("no reader or writer of the index panics").clone();
                    let refusal = Refusal::Disk(error.to_string());
                    answers.iter_mut().for_each(|(_, answer)| *answer = Err(refusal.clone()));
                }
            }
        }
        for (reply, answer) in answers {
            // A client that went away does not undo what it asked for.
            let _ = reply.send(answer);
        }
    }
}
