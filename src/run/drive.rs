//! Runs the engine: performs its effects, keeps its clock, and hands it what happened.
//!
//! Whether a run may write is a matter of type: [`observe`] takes something that can only [`Look`], and a
//! write that the engine would hand out there has nowhere to go.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::core::engine::{Effect, Engine, Event, RequestId, Stop};
use crate::core::exchange::{Answer, Ask, Failure, FailureClass, Write};
use crate::core::identity::ObjectId;
use crate::core::report::Entry;

/// Something that can ask.
pub trait Look: Sync {
    fn ask<'a>(&'a self, ask: &'a Ask) -> BoxFuture<'a, Answer>;
}

/// Something that can write as well.
pub trait Act: Look {
    fn write<'a>(&'a self, write: &'a Write) -> BoxFuture<'a, Answer>;
}

/// What ends a run early.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// The first signal: what is under way is finished.
    pub stop: CancellationToken,
    /// The second signal: nothing is waited for.
    pub abort: CancellationToken,
    /// The time for the whole run.
    pub timeout: Option<Duration>,
}

/// Takes from a run that goes on what it is done with.
#[derive(Clone)]
pub struct Parts {
    /// Somebody asks for it.
    pub wanted: Arc<Notify>,
    /// Is given it, each time that it is asked for, also where that is nothing; and what is otherwise than it is to be
    /// and not done.
    pub give: Arc<dyn Fn(Vec<Entry>, Vec<ObjectId>) + Send + Sync>,
}

/// Is told how far a run is: settled objects, and all.
pub type Tell<'t> = &'t (dyn Fn(usize, usize) + Sync);

/// Runs to the end without the means to write.
pub async fn observe(engine: Engine, look: &impl Look, limits: &Limits, tell: Tell<'_>) -> Engine {
    observe_in_parts(engine, look, limits, tell, None).await
}

/// [`observe`], which gives what it is done with when it is asked for it.
pub async fn observe_in_parts(
    engine: Engine,
    look: &impl Look,
    limits: &Limits,
    tell: Tell<'_>,
    parts: Option<&Parts>,
) -> Engine {
    run(engine, look, None, limits, tell, parts).await
}

/// Runs to the end, writing what is due.
pub async fn act(engine: Engine, act: &impl Act, limits: &Limits, tell: Tell<'_>) -> Engine {
    act_in_parts(engine, act, limits, tell, None).await
}

/// [`act`], which gives what it is done with when it is asked for it.
pub async fn act_in_parts(
    engine: Engine,
    act: &impl Act,
    limits: &Limits,
    tell: Tell<'_>,
    parts: Option<&Parts>,
) -> Engine {
    run(engine, act, Some(act), limits, tell, parts).await
}

async fn run(
    mut engine: Engine,
    look: &dyn Look,
    act: Option<&dyn Act>,
    limits: &Limits,
    tell: Tell<'_>,
    parts: Option<&Parts>,
) -> Engine {
    let began = Instant::now();
    let end = limits.timeout.map(|timeout| began + timeout);
    let mut answers = FuturesUnordered::new();
    let mut wake = None;
    let mut stopped = false;
    let mut event = Event::Start;
    loop {
        for effect in engine.step(began.elapsed(), event) {
            match effect {
                Effect::Ask(id, ask) => answers.push(perform(id, Work::Ask(ask), look, act)),
                Effect::Write(id, write) => answers.push(perform(id, Work::Write(write), look, act)),
                Effect::WakeAt(at) => wake = Some(began + at),
            }
        }
        let (settled, all) = engine.progress();
        tell(settled, all);
        if engine.is_done() {
            return engine;
        }
        event = tokio::select! {
            biased;
            () = limits.abort.cancelled() => return engine,
            () = limits.stop.cancelled(), if !stopped => { stopped = true; Event::Stop(Stop::Signal) }
            () = until(end), if !stopped => { stopped = true; Event::Stop(Stop::Timeout) }
            Some((id, answer)) = answers.next(), if !answers.is_empty() => Event::Answered(id, answer),
            () = wanted(parts) => {
                parts.iter().for_each(|parts| (parts.give)(engine.take_done(), engine.at_work()));
                Event::Woke
            }
            () = until(wake) => { wake = None; Event::Woke }
        };
    }
}

/// Waits until somebody asks for parts; for ever where nobody does.
async fn wanted(parts: Option<&Parts>) {
    match parts {
        Some(parts) => parts.wanted.notified().await,
        None => std::future::pending().await,
    }
}

/// Sleeps until a time; for ever where there is none.
async fn until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

enum Work {
    Ask(Ask),
    Write(Write),
}

async fn perform(id: RequestId, work: Work, look: &dyn Look, act: Option<&dyn Act>) -> (RequestId, Answer) {
    let answer = match (work, act) {
        (Work::Ask(ask), _) => look.ask(&ask).await,
        (Work::Write(write), Some(act)) => act.write(&write).await,
        (Work::Write(_), None) => Answer::Failed(Failure {
            class: FailureClass::Backend,
            message: "this command never writes".into(),
            hint: None,
            retry_after: None,
        }),
    };
    (id, answer)
}
