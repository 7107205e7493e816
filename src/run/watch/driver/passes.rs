//! The passes under way: how they begin, what they give back while they go on, and how they end.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::Notify;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::super::pass::{self, Ended, Ground, Halt};
use super::super::say::cause;
use super::{Driver, done};
use crate::core::watch::{Event, Pass, PassId};

/// What came of a pass.
pub(super) enum End {
    /// It is done with some, and goes on.
    Part(Ended),
    Whole(Ended),
}

/// The passes under way.
pub(super) struct Passes {
    tasks: JoinSet<Ended>,
    /// By what each is asked for what it is done with.
    wanted: HashMap<PassId, Arc<Notify>>,
    parts: (UnboundedSender<Ended>, UnboundedReceiver<Ended>),
}

impl Passes {
    pub(super) fn new() -> Passes {
        // A pass gives a part when it is asked for it, once a second at most.
        Passes { tasks: JoinSet::new(), wanted: HashMap::new(), parts: mpsc::unbounded_channel() }
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    fn begin(&mut self, pass: Pass, ground: Ground, halt: Halt) {
        let (wanted, parts) = (self.wanted(pass.id), self.parts.0.clone());
        let give = move |part| {
            // Nobody takes it at the end of the process alone.
            let _ = parts.send(part);
        };
        self.tasks.spawn(pass::run(pass, ground, fastrand::u64(..), halt, wanted, give));
    }

    /// Asks a pass for what it is done with. One that has not begun yet answers when it has.
    pub(super) fn ask(&mut self, pass: PassId) {
        self.wanted(pass).notify_one();
    }

    fn wanted(&mut self, pass: PassId) -> Arc<Notify> {
        self.wanted.entry(pass).or_default().clone()
    }

    /// What comes next of any of them; for ever where there is none.
    pub(super) async fn next(&mut self) -> End {
        tokio::select! {
            biased;
            // What a pass has given before its end is taken before that.
            Some(part) = self.parts.1.recv() => End::Part(part),
            Some(ended) = self.tasks.join_next() => {
                let ended = done(ended);
                self.wanted.remove(&ended.id);
                End::Whole(ended)
            }
            else => std::future::pending().await,
        }
    }
}

impl Driver<'_> {
    pub(super) fn start(&mut self, pass: Pass) {
        let Some(pass) = self.apart.hold(Instant::now(), pass) else { return };
        tracing::debug!(pass = pass.id, objects = pass.objects.len(), cause = cause(&pass), "a pass begins");
        self.passes.begin(pass, self.ground.clone(), self.halt.clone());
    }

    pub(super) fn ended(&mut self, end: End) {
        let (End::Part(ended) | End::Whole(ended)) = &end;
        self.teller.ended(ended.id, &ended.report, ended.stuck);
        self.findings.take(&ended.report).iter().for_each(|line| self.teller.say(line));
        let written = ended.seen.iter().filter(|seen| seen.writes > 0).map(|seen| seen.id.clone());
        let written: Vec<_> = written.collect();
        if !written.is_empty() {
            self.ground.observers.wrote(&written);
        }
        match end {
            End::Part(part) => {
                self.step(Event::Settled(part.id, part.seen));
                self.step(Event::AtWork(part.id, part.at_work));
            }
            End::Whole(ended) => self.step(Event::Ended(ended.id, ended.seen)),
        }
    }
}
