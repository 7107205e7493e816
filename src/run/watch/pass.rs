//! One pass: an ordinary run of the engine over the objects that are due, and what they need.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::desired::Desired;
use super::lead::Share;
use super::observers::Observers;
use super::ways::{Held, Ways};
use crate::core::document::{Document, Flags};
use crate::core::engine::{Engine, Mode, Options};
use crate::core::exchange::{Answer, Ask, Write};
use crate::core::identity::ObjectId;
use crate::core::report::{Explanation, Outcome, Report};
use crate::core::watch::{Pass, PassId, Retry, Seen, Verdict};
use crate::run::drive::{self, Act, Limits, Look, Parts};

/// A pass in which nothing is settled and nothing listed for so long is ended: what hangs must not hold the rest.
const STUCK: Duration = Duration::from_secs(60);
/// How often it is looked at whether a pass gets on.
const PULSE: Duration = Duration::from_secs(5);
/// What the server finishes or shows later is waited for so long; then it is left to the next pass, as what else is in
/// this one waits for its end.
const WAITS: Duration = Duration::from_secs(10);
/// Writes that are under way may take so long to end.
pub const GRACE: Duration = Duration::from_secs(30);

/// What a pass runs on.
#[derive(Clone)]
pub struct Ground {
    pub desired: Arc<Desired>,
    pub ways: Arc<Ways>,
    pub observers: Arc<Observers>,
    /// Which objects are this instance's to write.
    pub share: Share,
    /// Writes under way at once, for each backend.
    pub writes: usize,
    /// How often a request is tried in one pass; `None`: as often as in a run of its own.
    pub attempts: Option<u32>,
}

/// How a pass is ended from outside.
#[derive(Clone, Debug, Default)]
pub struct Halt {
    /// What is under way ends, and nothing new begins.
    pub stop: CancellationToken,
    /// Nothing is waited for.
    pub abort: CancellationToken,
}

/// What came of a pass, or of what it was done with before its end.
pub struct Ended {
    pub id: PassId,
    pub seen: Vec<Seen>,
    /// What it goes on with and has found otherwise than it is to be.
    pub at_work: Vec<ObjectId>,
    pub report: Report,
    /// It made no progress, and was ended.
    pub stuck: bool,
}

/// Runs a pass to its end; what it is done with before is asked for by `wanted`, and handed to `give`.
pub async fn run(
    pass: Pass,
    ground: Ground,
    seed: u64,
    halt: Halt,
    wanted: Arc<Notify>,
    give: impl Fn(Ended) + Send + Sync + 'static,
) -> Ended {
    let Ground { desired, .. } = &ground;
    let due = desired.places(pass.objects.iter().map(|(id, _)| id));
    let part = desired.parts.part(&desired.documents, &desired.graph, due);
    let writes = pass.writes && matches!(ground.ways.clients, Held::ReadWrite(_));
    let others = pass.objects.iter().map(|(id, _)| id).filter(|id| !ground.share.has(id)).cloned();
    let others: Vec<ObjectId> = others.collect();
    let writes = writes && others.len() < pass.objects.len();
    let options = Options {
        writes: ground.writes,
        seed,
        attempts: ground.attempts,
        frozen: pass.frozen,
        held: pass.held.into_iter().chain(others).collect(),
        most_writes: pass.most_writes,
        flags: Flags::Apply,
        unattended: true,
        open: pass.open,
        waits: Some(WAITS),
        ..Options::default()
    };
    let mode = if writes { Mode::Apply } else { Mode::Plan };
    let selected = |document: &Document| part.due.contains(&document.id);
    let engine = Engine::new(part.documents, part.graph, &desired.kinds, mode, options, &selected, None);
    let asked: HashSet<ObjectId> = pass.objects.into_iter().map(|(id, _)| id).collect();
    let asked = Arc::new(asked);
    let give = {
        let (asked, id) = (asked.clone(), pass.id);
        move |objects, at_work: Vec<ObjectId>| {
            let part = Ended::new(id, &asked, Report { objects, ..Report::default() }, false);
            let at_work = at_work.into_iter().filter(|id| asked.contains(id)).collect();
            give(Ended { at_work, ..part });
        }
    };
    let parts = Parts { wanted, give: Arc::new(give) };
    let (report, stuck) = carry_out(engine, writes, &ground, &halt, Some(&parts)).await;
    Ended::new(pass.id, &asked, report, stuck)
}

impl Ended {
    /// By its report; the objects that were `asked` for count.
    fn new(id: PassId, asked: &HashSet<ObjectId>, report: Report, stuck: bool) -> Ended {
        let entries = report.objects.iter().filter(|entry| asked.contains(&entry.id));
        let seen = entries.filter_map(|entry| match (&entry.result, stuck) {
            // The run's own end says nothing of the object.
            (Outcome::Skipped(_), true) => {
                let why = Explanation::new(format!("its pass made no progress for {} s", STUCK.as_secs()));
                Some(Seen { verdict: Verdict::Unknown(why, HANGS), ..Seen::of(entry) })
            }
            (Outcome::Skipped(_), false) if report.interrupted => None,
            _ => Some(Seen::of(entry)),
        });
        Ended { id, seen: seen.collect(), at_work: Vec::new(), stuck, report }
    }
}

/// What hangs is the server or the network.
const HANGS: Retry = Retry::Soon { fault: true, after: None };

/// Drives an engine by the clients that there are; and whether it had to be ended, as it made no progress.
pub async fn carry_out(
    engine: Engine,
    writes: bool,
    ground: &Ground,
    halt: &Halt,
    parts: Option<&Parts>,
) -> (Report, bool) {
    let limits = Limits { stop: halt.stop.child_token(), abort: halt.abort.child_token(), timeout: None };
    let pulse = Pulse::default();
    let tell = |settled: usize, _| pulse.settled.store(settled, Ordering::Relaxed);
    let (observers, share, ways) = (&ground.observers, &ground.share, &*ground.ways);
    let pulse = &pulse;
    let run = async {
        match &ground.ways.clients {
            Held::ReadWrite(clients) => {
                let told = Told { clients, observers, pulse, share, ways };
                match writes {
                    true => drive::act_in_parts(engine, &told, &limits, &tell, parts).await,
                    false => drive::observe_in_parts(engine, &told, &limits, &tell, parts).await,
                }
            }
            Held::ReadOnly(clients) => {
                let told = Told { clients, observers, pulse, share, ways };
                drive::observe_in_parts(engine, &told, &limits, &tell, parts).await
            }
        }
    };
    let mut stuck = false;
    let watched = async {
        stuck = pulse.stops(&|| ground.ways.requests().list, &limits.stop).await;
        sleep(GRACE).await;
        limits.abort.cancel();
        std::future::pending().await
    };
    let engine = tokio::select! {
        engine = run => engine,
        never = watched => never,
    };
    (engine.report(), stuck)
}

/// Whether a pass gets on.
#[derive(Default)]
struct Pulse {
    settled: AtomicUsize,
    /// Listings under way: each page of one is progress.
    listing: AtomicUsize,
    /// Counts answers, those to writes among them.
    answers: AtomicU64,
}

impl Pulse {
    /// Waits until there was no progress for too long, then ends the run by `stop`; or until something else does.
    /// Whether it was this. `pages` counts those that were listed by anybody.
    async fn stops(&self, pages: &(dyn Fn() -> u64 + Sync), stop: &CancellationToken) -> bool {
        let mut last = self.beat(pages, None);
        let mut since = Instant::now();
        loop {
            tokio::select! {
                () = stop.cancelled() => return false,
                () = sleep_until(Instant::now() + PULSE) => {}
            }
            let beat = self.beat(pages, Some(last));
            if beat != last {
                (last, since) = (beat, Instant::now());
            } else if since.elapsed() >= STUCK {
                stop.cancel();
                return true;
            }
        }
    }

    /// A number that is another one where something got on. Pages count only while this pass lists: the clients are
    /// those of all passes.
    fn beat(&self, pages: &(dyn Fn() -> u64 + Sync), last: Option<(usize, u64, u64)>) -> (usize, u64, u64) {
        let lists = self.listing.load(Ordering::Relaxed) > 0;
        let pages = match last {
            Some((_, _, pages)) if !lists => pages,
            _ => pages(),
        };
        (self.settled.load(Ordering::Relaxed), self.answers.load(Ordering::Relaxed), pages)
    }
}

/// Clients whose questions observers are told of.
struct Told<'c, C> {
    clients: &'c C,
    observers: &'c Observers,
    pulse: &'c Pulse,
    share: &'c Share,
    ways: &'c Ways,
}

impl<C: Look> Look for Told<'_, C> {
    fn ask<'a>(&'a self, ask: &'a Ask) -> BoxFuture<'a, Answer> {
        self.observers.asked(ask);
        Box::pin(async move {
            let lists = usize::from(matches!(ask, Ask::List(..)));
            self.pulse.listing.fetch_add(lists, Ordering::Relaxed);
            let answer = self.clients.ask(ask).await;
            self.pulse.listing.fetch_sub(lists, Ordering::Relaxed);
            self.ways.remember(ask.kind(), &answer);
            self.observers.answered(ask, &answer);
            // An operation has a limit of its own: asking for it gets on.
            self.pulse.answers.fetch_add(1, Ordering::Relaxed);
            answer
        })
    }
}

impl<C: Act> Act for Told<'_, C> {
    fn write<'a>(&'a self, write: &'a Write) -> BoxFuture<'a, Answer> {
        // A pass may be under way when the lease is lost.
        if let Some(other) = write.members().iter().find(|one| !self.share.has(&one.target().id)) {
            return Box::pin(std::future::ready(Answer::Failed(self.share.refusal(&other.target().id))));
        }
        Box::pin(async move {
            let answer = self.clients.write(write).await;
            if matches!(answer, Answer::Accepted { .. } | Answer::Begun { .. }) {
                self.observers.writes(write);
            }
            self.pulse.answers.fetch_add(1, Ordering::Relaxed);
            answer
        })
    }
}

#[cfg(test)]
#[path = "pass_tests.rs"]
mod tests;
