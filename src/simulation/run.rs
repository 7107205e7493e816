//! One run of the program against the model server: the real engine, driven by the real driver, over the real client.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use super::api::{PASSWORD, TOKEN, connection};
use super::line::{Line, Sim, Trouble};
use super::world::{World, Written};
use crate::api::client::{Client, Options as ClientOptions};
use crate::core::document::Ensure;
use crate::core::engine::{Engine, Mode, Options};
use crate::core::exchange::{Answer, Ask, Write};
use crate::core::exit::Verb;
use crate::core::kind::Kind;
use crate::core::report::{Outcome, Report};
use crate::render::out::{Format, Out, Stream};
use crate::render::text::View;
use crate::run::drive::{self, Act, Limits, Look};

/// What a run came to.
pub struct Ended {
    pub report: Report,
    pub written: Vec<Written>,
}

/// A client as the driver wants it.
struct Way<Mode> {
    client: Client<Mode>,
    kind: Arc<Kind>,
}

impl<Mode: Send + Sync> Look for Way<Mode> {
    fn ask<'a>(&'a self, ask: &'a Ask) -> BoxFuture<'a, Answer> {
        Box::pin(self.client.ask(&self.kind, ask))
    }
}

impl Act for Way<crate::api::client::ReadWrite> {
    fn write<'a>(&'a self, write: &'a Write) -> BoxFuture<'a, Answer> {
        Box::pin(self.client.write(&self.kind, write))
    }
}

/// More time than any run needs.
const LONGEST: Duration = Duration::from_secs(3 * 3600);

/// A schedule under way, with a clock that stands while anything is to be done.
pub struct Simulation {
    runtime: Runtime,
    pub line: Line,
}

impl Simulation {
    pub fn new(sim: Sim) -> Simulation {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
        Simulation { runtime: runtime.expect("a runtime"), line: Line(Arc::new(Mutex::new(sim))) }
    }

    /// Lets time pass.
    pub fn pass(&self, time: Duration) {
        self.runtime.block_on(async { tokio::time::sleep(time).await });
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// What was broken.
    pub fn go(&self, mode: Mode, trouble: Trouble, agreed: Option<&Report>) -> Result<Ended, Vec<String>> {
        let (engine, kind, limits) = {
            let mut sim = self.line.sim();
            sim.begin(trouble);
            sim.say(|| format!("{mode:?} begins, {trouble:?}"));
            let options = Options {
                writes: 1 + sim.dice.below(4),
                seed: sim.dice.below(1 << 20) as u64,
                ..Options::default()
            };
            let scene = sim.scene.clone();
            let graph = scene.graph();
            let engine =
                Engine::new(scene.documents.clone(), graph, &scene.kinds, mode, options, &|_| true, agreed);
            let limits = Limits { abort: sim.end.clone(), ..Limits::default() };
            (engine, scene.kind.clone(), limits)
        };
        let engine = self
            .runtime
            .block_on(async { tokio::time::timeout(LONGEST, self.drive(engine, mode, kind, limits)).await });
        let mut sim = self.line.sim();
        let mut broken = std::mem::take(&mut sim.world.broken);
        let Ok(engine) = engine else {
            broken.push("the run takes too long".into());
            return Err(broken);
        };
        let crashed = sim.end.is_cancelled();
        let report = engine.report();
        if mode == Mode::Plan && !sim.world.written.is_empty() {
            broken.push(format!("a plan wrote: {:?}", sim.world.written));
        }
        judge(&mut sim, &report, crashed, &mut broken);
        if trouble.faults > 0 {
            tells_no_secret(&report, &mut broken);
        }
        let ended = Ended { report, written: std::mem::take(&mut sim.world.written) };
        if broken.is_empty() { Ok(ended) } else { Err(broken) }
    }

    async fn drive(&self, engine: Engine, mode: Mode, kind: Arc<Kind>, limits: Limits) -> Engine {
        // The client tells what prints of the secrets that it learns, as in the program.
        let secrets = OUTS.with_borrow(|outs| {
            outs[1].0.secrets().learn([TOKEN]);
            outs[0].0.secrets()
        });
        let options = ClientOptions { secrets, ..ClientOptions::default() };
        let (connection, line) = (connection(), Arc::new(self.line.clone()));
        match mode {
            Mode::Plan => {
                let client = Client::read_only(&connection, options, line).expect("a client");
                drive::observe(engine, &Way { client, kind }, &limits, &|_, _| {}).await
            }
            Mode::Apply => {
                let client = Client::read_write(&connection, options, line).expect("a client");
                drive::act(engine, &Way { client, kind }, &limits, &|_, _| {}).await
            }
        }
    }
}

impl Sim {
    fn begin(&mut self, trouble: Trouble) {
        self.world.begin_run();
        self.trouble = trouble;
        self.requests = 0;
        self.end = CancellationToken::new();
        self.was_right = vec![false; self.scene.documents.len()];
        self.note();
        let doomed = self.scene.documents.iter().enumerate();
        let doomed = doomed.filter(|(_, document)| document.policy.ensure == Ensure::Absent);
        self.world.doomed = doomed.map(|(at, _)| self.scene.name(at).to_owned()).collect();
    }
}

/// What must hold of any report.
fn judge(sim: &mut Sim, report: &Report, crashed: bool, broken: &mut Vec<String>) {
    let told = report.objects.iter().map(|entry| &entry.id);
    if !told.eq(sim.scene.documents.iter().map(|document| &document.id)) {
        broken.push("the report does not tell of the documents".into());
        return;
    }
    for (at, entry) in report.objects.iter().enumerate() {
        sim.say(|| format!("{}: {} {:?}", entry.id, entry.action.word(), entry.result));
        let settled = matches!(entry.result, Outcome::InSync | Outcome::Done);
        if settled && !sim.was_right[at] {
            broken.push(format!("{} is said to be {}, and never was", entry.id, entry.result.word()));
        }
        let unsettled =
            entry.result.explanation().is_some_and(|e| e.message.contains("before it was settled"));
        if unsettled && !crashed {
            broken.push(format!("{} was left unsettled", entry.id));
        }
    }
}

/// No canary is in what the program says, as text or as JSON.
fn tells_no_secret(report: &Report, broken: &mut Vec<String>) {
    let bare = format!("{report:?}");
    for canary in [TOKEN, PASSWORD] {
        if bare.contains(canary) {
            broken.push(format!("the report holds `{canary}`"));
        }
    }
    OUTS.with_borrow_mut(|outs| {
        for (out, said) in outs {
            let view = View { verb: Verb::Apply, objects: true, fields: true, verbose: true, elapsed: None };
            out.report(report, &view);
            let text = std::mem::take(&mut *said.0.lock().expect("no one panics while it writes"));
            let text = String::from_utf8_lossy(&text);
            if [TOKEN, PASSWORD].iter().any(|canary| text.contains(canary)) {
                broken.push(format!("the output holds a secret: {text}"));
            }
        }
    });
}

thread_local! {
    /// What the program says its results with, as text and as JSON. Made once: finding secrets fast takes long to
    /// prepare.
    static OUTS: RefCell<[(Out, Said); 2]> = RefCell::new([Format::Text, Format::Json].map(said_as));
}

fn said_as(format: Format) -> (Out, Said) {
    let said = Said::default();
    let stream = || Stream::new(said.clone(), false);
    let out = Out::new(stream(), stream(), format);
    out.secrets().learn([PASSWORD]);
    (out, said)
}

#[derive(Clone, Default)]
struct Said(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Said {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no one panics while it writes").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A schedule's server, nothing having happened yet.
pub fn sim(world: World, dice: super::dice::Dice, scene: super::scene::Scene, loud: bool) -> Sim {
    Sim {
        world,
        dice,
        scene: Arc::new(scene),
        trouble: Trouble::default(),
        requests: 0,
        was_right: Vec::new(),
        end: CancellationToken::new(),
        log: loud.then(Vec::new),
        met: Default::default(),
    }
}
