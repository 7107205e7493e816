//! The one task that everything passes through: it waits for what happens, steps the loop, and does what that says.

mod folders;
mod passes;
mod pruning;
mod reading;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::LocalBoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::sync::Notify;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::apart::Apart;
use super::board::Board;
use super::desired::Desired;
use super::files::{AsRead, News, Watched};
use super::findings::Findings;
use super::folders::Folders;
use super::lead::{self, Lead, Share};
use super::loading::{self, Loading};
use super::observers::{Hinted, hints};
use super::outlook::observers;
use super::pass::{GRACE, Ground, Halt};
use super::prune::{self, Pruned};
use super::say::{Hold, Teller};
use super::showing::Showing;
use super::systemd::Manager;
use super::ways::Ways;
use super::wishes::Wishes;
use super::{NotBegun, Settings};
use passes::{End, Passes};
use reading::Slow;

use crate::core::exit::Exit;
use crate::core::problem::Problem;
use crate::core::report::Requests;
use crate::core::watch::{About, Effect, Event, Hint, Loop, Origin, Role, Snapshot, snapshot};
use crate::render::out::Out;
use crate::render::watch::log;
use crate::run::drive::Limits;

/// How often the loop gives a sign of life, and what changed is shown.
const TICK: Duration = Duration::from_secs(1);
/// Without a sign of life for so long, the process was stopped, or slept with its machine.
const HELD_UP: Duration = Duration::from_secs(5);
/// Then the network is given so long to tell what it has to: a connection that a server closed meanwhile is not asked.
const AIR: Duration = Duration::from_millis(200);
/// Writes under way at once, to each backend, where nothing else is said.
const WRITES: usize = 64;

/// The loop of the core, and all that it needs.
pub struct Driver<'o> {
    settings: Settings,
    teller: Teller<'o>,
    began: Instant,
    machine: Loop,
    ground: Ground,
    /// Whether the files are good.
    state: snapshot::Desired,
    files: Watched,
    /// What they looked like when they were read last.
    as_read: AsRead,
    hinted: Hinted,
    /// This instance among others, where it was told of a lease.
    lead: Option<Lead>,
    manager: Manager,
    showing: Showing,
    /// Where the feeds stand.
    board: Board,
    /// Requests that were sent when they were shown last.
    sent: Requests,
    /// Something changed since it was shown.
    dirty: bool,
    passes: Passes,
    loading: JoinSet<Loading>,
    slow: Slow,
    apart: Apart,
    /// The files changed while they were read.
    load_again: bool,
    /// A person waits for everything to be looked at, once the files are read.
    person: bool,
    wishes: Wishes,
    findings: Findings,
    folders: Folders,
    /// The loop was told what is wanted: not before it is known who writes.
    begun: bool,
    /// One at most.
    pruning: FuturesUnordered<LocalBoxFuture<'static, Option<Result<Pruned, Problem>>>>,
    prune_when: prune::When,
    /// Ends the pruning that is under way.
    prune_halt: Halt,
    halt: Halt,
    wake: Option<Instant>,
    /// When the files are read again, whatever is heard of them.
    read_at: Instant,
    /// The end of the patience with what is under way, once it is to end.
    patience: Option<Instant>,
    /// When it ticked last, by a clock that goes on while the machine sleeps.
    ticked: Duration,
}

/// What the driver waits for.
enum Happened {
    Abort,
    Stop,
    Impatient,
    Tick,
    Ended(End),
    Loaded(Box<Result<Loading, JoinError>>),
    Pruned(Option<Result<Pruned, Problem>>),
    Hinted(Vec<Hint>),
    Files(News),
    Told(log::Event),
    /// Who writes may have changed.
    Turned,
    /// A person wants everything to be looked at.
    Rung,
    /// One who wanted so waited for long enough.
    Person,
    Reread,
    Woke,
}

impl<'o> Driver<'o> {
    /// Reads the files and opens the ways.
    ///
    /// # Errors
    /// As [`super::watch`].
    pub async fn begin(mut settings: Settings, out: &'o mut Out) -> Result<Driver<'o>, NotBegun> {
        let mut teller = Teller::new(out, settings.form, settings.quiet);
        settings.count_earlier_changes(&mut teller);
        let files = Watched::new(settings.source.roots());
        let (source, bound) = (settings.source.clone(), settings.bound.clone());
        let loading = loading::begin(source, files.roots(), None, Folders::default(), bound);
        let Loading { loaded, look, .. } = done(loading.await);
        teller.secrets().learn(&loaded.secrets);
        let as_read = AsRead { roots: files.roots(), named: loaded.named, look };
        files.read(&as_read);
        let read = loaded.read?;
        let ways = Ways::open(&settings.opening, read.connections, &read.desired.kinds, None)?;
        teller.loaded(&read.desired, &read.warnings);
        if read.lease.is_none() && !settings.machine.dry_run {
            teller.without_lease(&read.desired);
        }
        ways.exposed().iter().for_each(|problem| teller.warned("credential is exposed", problem));
        let (hints, hinted) = hints();
        let (now, secrets, dry_run) = (Instant::now(), teller.secrets(), settings.machine.dry_run);
        let mut showing =
            Showing::begin(&settings.places, now, secrets, dry_run, &hints, &read.desired).await?;
        let board = Board::new(now);
        let mut ground = Ground {
            desired: Arc::new(read.desired),
            ways: Arc::new(ways),
            observers: Arc::new(observers(&settings, hints, &board)),
            share: Share::default(),
            writes: settings.opening.parallel.unwrap_or(WRITES),
            attempts: Some(1),
        };
        let lead = read.lease.map(|lease| {
            let seed = settings.machine.seed;
            Lead::start(&settings.sharing, lease, ground.ways.clone(), showing.name(), seed)
        });
        if let Some(lead) = &lead {
            ground.share = lead.share();
            showing.turn(ground.share.role());
        }
        ground.observers.wanted(&ground.desired, &ground.ways);
        Ok(Driver {
            lead,
            teller,
            began: now,
            machine: Loop::new(settings.machine.clone()),
            ground,
            state: snapshot::Desired { valid: true, loads: 1, ..snapshot::Desired::default() },
            files,
            as_read,
            hinted,
            manager: Manager::new(),
            showing,
            board,
            dirty: true,
            passes: Passes::new(),
            loading: JoinSet::new(),
            slow: Slow::default(),
            apart: Apart::default(),
            load_again: false,
            person: false,
            wishes: Wishes::default(),
            findings: Findings::default(),
            folders: Folders::default(),
            begun: false,
            pruning: FuturesUnordered::new(),
            prune_when: prune::When::new(now),
            sent: Requests::default(),
            prune_halt: Halt::default(),
            halt: Halt::default(),
            wake: None,
            read_at: now + settings.machine.resync,
            patience: None,
            ticked: lead::clock(),
            settings,
        })
    }

    /// Goes on until it is enough.
    pub async fn run(mut self, resyncs: &Notify, limits: &Limits) -> Exit {
        let end = limits.timeout.map(|timeout| self.began + timeout);
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        if self.lead.is_none() {
            self.begin_wanting();
        }
        loop {
            let stopping = self.patience.is_some();
            if stopping && self.passes.is_empty() && self.pruning.is_empty() {
                return self.over(Exit::Success, &limits.abort).await;
            }
            let happened = tokio::select! {
                biased;
                () = limits.abort.cancelled() => Happened::Abort,
                () = limits.stop.cancelled(), if !stopping => Happened::Stop,
                () = until(end), if !stopping => Happened::Stop,
                () = until(self.patience) => Happened::Impatient,
                _ = tick.tick() => Happened::Tick,
                end = self.passes.next(), if !self.passes.is_empty() => Happened::Ended(end),
                Some(loaded) = self.loading.join_next(), if !stopping => Happened::Loaded(Box::new(loaded)),
                Some(pruned) = self.pruning.next(), if !self.pruning.is_empty() => Happened::Pruned(pruned),
                () = resyncs.notified(), if !stopping => Happened::Rung,
                () = until(self.wishes.due()), if !stopping => Happened::Person,
                news = self.files.next(), if !stopping => Happened::Files(news),
                event = self.showing.event() => Happened::Told(event),
                () = turned(self.lead.as_ref()) => Happened::Turned,
                () = until(self.wake) => Happened::Woke,
                () = sleep_until(self.read_at), if !stopping && self.may_reread() => Happened::Reread,
                hints = self.hinted.next(), if !stopping => Happened::Hinted(hints),
            };
            if matches!(happened, Happened::Tick) && self.was_held_up() {
                sleep(AIR).await;
            }
            if let Some(exit) = self.take(happened) {
                return self.over(exit, &limits.abort).await;
            }
            self.prune_if_due();
        }
    }

    /// Takes what happened; the exit where that is the end.
    fn take(&mut self, happened: Happened) -> Option<Exit> {
        match happened {
            Happened::Abort => return Some(Exit::Interrupted),
            Happened::Impatient => {
                self.teller.say(&log::Event::error("what was under way did not end in time"));
                return Some(Exit::Failed);
            }
            Happened::Stop => self.stop(),
            Happened::Tick => self.tick(),
            Happened::Told(event) => self.teller.say(&event),
            Happened::Turned => self.turned(),
            Happened::Ended(end) => self.ended(end),
            Happened::Loaded(loading) => self.loaded(done(*loading)),
            Happened::Pruned(pruned) => self.pruned(pruned),
            // At the beginning everything is looked at.
            Happened::Hinted(hints) if self.begun => {
                self.agree_if_asked(&hints);
                self.step(Event::Hints(hints));
            }
            Happened::Hinted(_) => {}
            Happened::Files(News::Changed) | Happened::Reread => self.load(),
            Happened::Files(News::Blind(problem)) => self.teller.warned("files are not watched", &problem),
            Happened::Rung => {
                if self.wishes.came(Instant::now()) {
                    self.look_at_all();
                }
            }
            Happened::Person => {
                self.wishes.take(Instant::now());
                self.look_at_all();
            }
            Happened::Woke => {
                self.wake = None;
                self.step(Event::Woke);
            }
        }
        None
    }

    /// What is wanted is looked at from now on.
    fn begin_wanting(&mut self) {
        self.begun = true;
        self.step(Event::Desired(self.ground.desired.subjects.clone()));
    }

    fn step(&mut self, event: Event) {
        self.dirty = true;
        event.wishes().for_each(|about| self.ground.ways.ask_anyway(about));
        let mut turned = Vec::new();
        for effect in self.machine.step(self.began.elapsed(), event) {
            match effect {
                Effect::Pass(pass) => self.start(pass),
                Effect::Collect(pass) => self.passes.ask(pass),
                Effect::WakeAt(at) => self.wake = Some(self.began + at),
                Effect::Turned(id, condition) => turned.push((id, condition)),
                Effect::Left(backend, why) => self.teller.say(&log::left(&backend, &why)),
                Effect::Back(backend) => self.teller.say(&log::back(&backend)),
                Effect::Warned(what) => self.teller.say(&log::warned(&what)),
            }
        }
        self.prune_when.turned(Instant::now(), turned.iter().map(|(_, condition)| condition));
        self.teller.turned(&turned, &self.ground.desired);
        let targets = self.ground.desired.targets().iter();
        self.hinted.hold(targets.filter(|target| self.machine.holds(target)).cloned().collect());
        if self.machine.has_seen_all() && self.manager.ready() {
            let objects = self.ground.desired.subjects.len();
            self.teller.say(&log::Event::info("all objects were looked at").with("objects", objects));
        }
    }

    fn may_reread(&self) -> bool {
        Apart::may_read(Instant::now(), self.read_at, self.passes.len())
    }

    /// Nothing new begins; what is under way has its time to end.
    fn stop(&mut self) {
        self.manager.stopping();
        self.apart = Apart::default();
        self.teller.say(&log::Event::info("stopping").with("passes", self.passes.len()));
        self.patience = Some(Instant::now() + GRACE);
        self.step(Event::Drain);
        self.halt.stop.cancel();
        self.settings.bound.end();
    }

    /// Who writes may have changed: what is this instance's now is looked at anew, whatever was seen before.
    fn turned(&mut self) {
        let trouble = self.lead.as_ref().and_then(Lead::trouble);
        if let Some(trouble) = trouble.filter(|_| self.patience.is_none()) {
            self.teller
                .say(&log::Event::warn("the lease cannot be kept").with("detail", trouble.message.as_str()));
        }
        let (role, holder) = (self.ground.share.role(), self.ground.share.holder());
        let begins = !self.begun && self.lead.as_ref().is_some_and(Lead::is_known);
        if self.showing.turn(role) || begins {
            self.teller.say(&log::turned_role(role, &holder));
        }
        if begins && self.patience.is_none() {
            self.begin_wanting();
        } else if self.begun && role == Role::Leader && self.patience.is_none() {
            self.step(Event::Hint(Hint { about: About::All, origin: Origin::Resync, observed: None }));
        }
        self.dirty = true;
    }

    async fn over(mut self, exit: Exit, abort: &CancellationToken) -> Exit {
        self.halt.abort.cancel();
        self.settings.bound.ended().await;
        self.show();
        let leaves = async {
            if let Some(lead) = self.lead.take() {
                lead.leave().await;
            }
            self.showing.end().await;
        };
        // The lease may be at a server that hangs: it runs out by itself.
        let exit = tokio::select! {
            () = leaves => exit,
            () = abort.cancelled() => Exit::Interrupted,
        };
        self.teller.say(&log::Event::info("stopped"));
        exit
    }

    /// Whether this tick comes long after the last one.
    fn was_held_up(&mut self) -> bool {
        let now = lead::clock();
        let gap = now.saturating_sub(std::mem::replace(&mut self.ticked, now));
        if gap >= HELD_UP {
            self.teller.say(&log::Event::info("process was held up").with("seconds", gap.as_secs()));
        }
        gap >= HELD_UP
    }

    /// The loop goes on: whoever waits for a sign of it is given one.
    fn tick(&mut self) {
        self.manager.beat();
        self.showing.alive();
        self.mind_the_reading();
        self.apart.overdue(Instant::now()).into_iter().for_each(|pass| self.start(pass));
        self.board.lines().iter().for_each(|line| self.teller.say(line));
        self.dirty |= self.board.has_changed() || self.ground.ways.requests() != self.sent;
        self.dirty |= self.teller.held(Hold::Patience, self.ground.ways.closed());
        if std::mem::take(&mut self.dirty) {
            self.show();
        }
    }

    fn show(&mut self) {
        if self.showing.is_of_use() {
            let (desired, status) = (self.state.clone(), self.machine.status());
            let status = status.with_refused(self.teller.refused()).with_warnings(self.teller.warnings());
            let own = self.slow.warning().into_iter().chain(self.findings.of_kinds()).collect();
            let status = status.with_warnings(own);
            let seen_all = self.machine.has_seen_all();
            self.sent = self.ground.ways.requests();
            let requests = self.sent;
            let (feeds, silent) = (self.board.shown(), self.board.silent());
            let (findings, changes) = (self.findings.of_objects(), self.machine.changes());
            let rest = Snapshot::default();
            self.showing.publish(Snapshot {
                desired,
                status,
                seen_all,
                requests,
                feeds,
                silent,
                findings,
                changes,
                ..rest
            });
        }
    }

    /// This is wanted from now on.
    fn want(&mut self, desired: Desired, ways: Ways, warnings: &[Problem]) {
        let before = std::mem::replace(&mut self.ground.desired, Arc::new(desired));
        let old_ways = std::mem::replace(&mut self.ground.ways, Arc::new(ways));
        let desired = self.ground.desired.clone();
        self.ground.observers.wanted(&desired, &self.ground.ways);
        self.showing.want(&desired);
        let mut elsewhere = self.ground.ways.other_than(&old_ways);
        elsewhere.extend(desired.redefined(&before));
        let changed =
            desired.subjects != before.subjects || !elsewhere.is_empty() || desired.sets_differ(&before);
        let was_valid = self.state.valid;
        if changed || !was_valid {
            self.teller.loaded(&desired, warnings);
            let since = if was_valid { self.state.since } else { self.began.elapsed() };
            let (loads, failures) = (self.state.loads + 1, self.state.failures);
            self.dirty = true;
            self.state = snapshot::Desired { valid: true, problems: Vec::new(), since, loads, failures };
        }
        if changed {
            self.teller.keep_to(&desired);
            self.findings.keep_to(&desired);
            self.prune_when.changed(Instant::now());
            desired.moved(&before).for_each(|backend| self.machine.moved(backend));
            if self.begun {
                self.step(Event::Desired(desired.subjects.clone()));
            }
            let hint = |name| Hint { about: About::Target(name), origin: Origin::Files, observed: None };
            elsewhere.sort();
            elsewhere.dedup();
            self.step(Event::Hints(elsewhere.into_iter().map(hint).collect()));
        }
    }
}

/// Waits until who writes has changed; for ever where there are no others.
async fn turned(lead: Option<&Lead>) {
    match lead {
        Some(lead) => lead.turned().await,
        None => std::future::pending().await,
    }
}

/// What a task came to. One that panicked is a fault of this program, and ends it.
fn done<T>(task: Result<T, JoinError>) -> T {
    task.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

/// Sleeps until a time; for ever where there is none.
async fn until(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}
