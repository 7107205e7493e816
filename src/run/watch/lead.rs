//! Keeps a lease: looks at it, takes or renews it, and tells who may act.
//!
//! What decides is in [`crate::core::watch::lease`]; here are the requests and the clock.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::core::engine::body::sent;
use crate::core::exchange::{Answer, Ask, Failure, FailureClass, Item, Target, Write};
use crate::core::identity::ObjectId;
use crate::core::lease::{Record, Stamps};
use crate::core::node::{Node, Pos};
use crate::core::report::Action;
use crate::core::watch::lease::{Claim, Leases, Looked, Times};
use crate::core::watch::{Role, shard};
use crate::run::drive::Act;
use crate::run::lease::LeaseObject;

/// What `--lease` and its companions say.
#[derive(Clone, Debug)]
pub struct Sharing {
    /// How long a lease is good.
    pub duration: Duration,
    /// So many instances share the objects; `None`: one has them all.
    pub shards: Option<usize>,
}

/// By what a lease is reached.
pub trait Reach: Act + Send {}

impl<T: Act + Send> Reach for T {}

/// This instance among others.
pub struct Lead {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    leases: Mutex<Leases>,
    /// Where the lease is, which may be reached otherwise once the files are read anew.
    place: Mutex<(LeaseObject, Arc<dyn Reach>)>,
    stamps: Mutex<Stamps>,
    times: Times,
    shards: bool,
    /// That the lease cannot be kept was said, and it was not held since.
    troubled: AtomicBool,
    /// Why it cannot, until that is said.
    trouble: Mutex<Option<Failure>>,
    /// Whether this instance holds a lease was found out once.
    known: AtomicBool,
    /// Somebody was told that the lease is not held.
    lacked: AtomicBool,
    /// Who acts has changed.
    turned: Notify,
    stop: CancellationToken,
}

impl Lead {
    /// Begins to look, and to take the lease when it is free.
    pub fn start(sharing: &Sharing, lease: LeaseObject, ways: Arc<dyn Reach>, name: &str, seed: u64) -> Lead {
        let times = Times::of(sharing.duration);
        // A process that starts again under the same number is another one.
        let me = format!("{name}/{seed:016x}");
        let shared = Arc::new(Shared {
            leases: Mutex::new(Leases::new(me.into(), sharing.shards.unwrap_or(1), times, seed)),
            place: Mutex::new((lease, ways)),
            stamps: Mutex::default(),
            times,
            shards: sharing.shards.is_some(),
            troubled: AtomicBool::new(false),
            trouble: Mutex::default(),
            known: AtomicBool::new(false),
            lacked: AtomicBool::new(false),
            turned: Notify::new(),
            stop: CancellationToken::new(),
        });
        let task = tokio::spawn(keep(shared.clone()));
        Lead { shared, task }
    }

    /// The lease is reached so from now on.
    pub fn reach(&self, lease: LeaseObject, ways: Arc<dyn Reach>) {
        *lock(&self.shared.place) = (lease, ways);
    }

    /// What others are told of who may act.
    pub fn share(&self) -> Share {
        Share { shared: Some(self.shared.clone()), is_for_all: false }
    }

    /// Why the lease cannot be kept, where that is news.
    pub fn trouble(&self) -> Option<Failure> {
        lock(&self.shared.trouble).take()
    }

    /// Whether it was found out by now who acts: before that, nothing that is seen says what is to come of it.
    pub fn is_known(&self) -> bool {
        self.shared.known.load(Ordering::Relaxed)
    }

    /// Waits until who acts has changed, or there is trouble to be told of.
    pub async fn turned(&self) {
        self.shared.turned.notified().await;
    }

    /// Gives the lease up, so that another need not wait for it to run out.
    pub async fn leave(self) {
        self.shared.stop.cancel();
        // It ends by itself, or with the process.
        let _ = timeout(self.shared.times.retry * 2, self.task).await;
    }
}

/// Which objects this instance may write.
#[derive(Clone, Default)]
pub struct Share {
    /// `None`: there are no others.
    shared: Option<Arc<Shared>>,
    /// For what is done once for all: whoever does that writes any object, and only it.
    is_for_all: bool,
}

impl Share {
    /// Whether it may write this object now.
    pub fn has(&self, id: &ObjectId) -> bool {
        let Some(shared) = &self.shared else { return true };
        if self.is_for_all {
            return self.is_first();
        }
        let (now, leases) = (clock(), lock(&shared.leases));
        let Some(mine) = leases.acts(now) else {
            shared.lacked.store(true, Ordering::Relaxed);
            return false;
        };
        !shared.shards || shard::owner(id, leases.live(now)) == Some(mine)
    }

    /// The same for what is done once for all: no object belongs to a shard there.
    pub fn for_all(&self) -> Share {
        Share { is_for_all: true, ..self.clone() }
    }

    /// Whether it does what is done once for all: it holds the lease, or the first of them.
    pub fn is_first(&self) -> bool {
        let Some(shared) = &self.shared else { return true };
        let (now, leases) = (clock(), lock(&shared.leases));
        leases.acts(now).is_some_and(|mine| leases.live(now).first() == Some(&mine))
    }

    /// What it is to others.
    pub fn role(&self) -> Role {
        match &self.shared {
            None => Role::Alone,
            Some(shared) if lock(&shared.leases).acts(clock()).is_some() => Role::Leader,
            Some(_) => Role::Follower,
        }
    }

    /// Who holds the lease, as far as is known.
    pub fn holder(&self) -> String {
        let Some(shared) = &self.shared else { return String::new() };
        let leases = lock(&shared.leases);
        let slot = leases.holds(clock()).unwrap_or(0);
        leases.holder(slot).unwrap_or_default().to_owned()
    }

    /// What is said of a write that is not this instance's to make.
    pub fn refusal(&self, id: &ObjectId) -> Failure {
        Failure {
            class: FailureClass::Refused,
            message: format!("writing {id}: another instance holds the lease by now"),
            hint: None,
            retry_after: None,
        }
    }
}

/// Looks and renews until it is told to stop.
async fn keep(shared: Arc<Shared>) {
    let mut told = None;
    loop {
        let slots = lock(&shared.leases).slots();
        for slot in 0..slots {
            if shared.stop.is_cancelled() {
                break;
            }
            // What hangs is as good as lost.
            let _ = timeout(shared.times.retry * 2, shared.look(slot)).await;
        }
        let next = shared.rest(&mut told);
        // What was claimed in this round is read back at once, and what was is not yet known to others.
        let settles = lock(&shared.leases).settles(clock()).is_some();
        if !next.is_zero() && !settles && !shared.known.swap(true, Ordering::Relaxed) {
            shared.turned.notify_one();
        }
        tokio::select! {
            () = shared.stop.cancelled() => return shared.leave().await,
            () = sleep(next) => {}
        }
    }
}

impl Shared {
    /// Tells of a turn, and says how long to wait for the next round.
    fn rest(&self, told: &mut Option<(bool, Vec<usize>, Option<String>)>) -> Duration {
        let now = clock();
        let mut leases = lock(&self.leases);
        leases.looked_at_all(now);
        if leases.holds(now).is_some() {
            self.troubled.store(false, Ordering::Relaxed);
        }
        let acts = leases.acts(now);
        let state =
            (acts.is_some(), leases.live(now).into_iter().collect(), leases.holder(0).map(str::to_owned));
        // A process that was held up may have lost the lease and have it again between two looks: what a pass left
        // alone meanwhile is to be looked at.
        let lacked = acts.is_some() && self.lacked.swap(false, Ordering::Relaxed);
        if told.as_ref() != Some(&state) || lacked {
            *told = Some(state);
            self.turned.notify_one();
        }
        let next = leases.next().saturating_sub(now);
        // That it may act no more is told in time, too.
        let until = leases.until().filter(|_| acts.is_some());
        let turns = until.or(leases.settles(now)).map(|at| at.saturating_sub(now) + Duration::from_millis(1));
        turns.map_or(next, |turns| next.min(turns))
    }

    fn target(&self, slot: usize) -> (LeaseObject, Arc<dyn Reach>, Target) {
        let (lease, ways) = lock(&self.place).clone();
        let id = if self.shards { lease.numbered(slot) } else { lease.id.clone() };
        (lease, ways, Target::new(id))
    }

    /// One look at a lease, and the write that follows from it.
    async fn look(&self, slot: usize) {
        let (lease, ways, target) = self.target(slot);
        let fields = lease.kind.as_lease().expect("it was found to be one");
        let asked = clock();
        let answer = ways.ask(&Ask::Read(target.clone())).await;
        let (looked, item) = match answer {
            Answer::Found(item) => (Looked::Found(fields.record(&item.value)), Some(item)),
            Answer::Absent => (Looked::Nothing, None),
            Answer::Failed(failure) => {
                self.trouble(&failure);
                (Looked::Unknown, None)
            }
            _ => (Looked::Unknown, None),
        };
        let stamp = self.stamp();
        let claim = lock(&self.leases).looked(slot, asked, clock(), looked, &stamp);
        let Some(claim) = claim else { return };
        if !self.write(&lease, &ways, target, item, &claim).await {
            lock(&self.leases).refused(slot, clock());
        }
    }

    /// Writes under the condition that the object is as it was seen; whether it may have been taken.
    async fn write(
        &self,
        lease: &LeaseObject,
        ways: &Arc<dyn Reach>,
        target: Target,
        seen: Option<Item>,
        claim: &Claim,
    ) -> bool {
        let kind = &lease.kind;
        let Ok(fields) = kind.as_lease() else { return false };
        let object = Node::from_value(Pos::default(), fields.object(kind, &target.id, &claim.record));
        let (op, action) = match claim.creates {
            true => (&kind.create, Action::Create),
            false => (&kind.update, Action::Update),
        };
        let Some(op) = op else { return false };
        let nothing = serde_json::Value::Null;
        let observed = seen.as_ref().map_or(&nothing, |item| &*item.value);
        let Ok(body) = sent(op.send, &object, observed, &kind.fields, action) else { return false };
        let target = Target {
            version: seen.as_ref().and_then(|item| item.version.clone()),
            server_id: seen.as_ref().and_then(|item| item.server_id.clone()),
            observed: seen.as_ref().map(|item| item.value.clone()),
            ..target
        };
        let write = match claim.creates {
            true => Write::Create(target, body),
            false => Write::Update(target, body),
        };
        match ways.write(&write).await {
            Answer::Accepted { inside: None, .. } | Answer::Begun { .. } => true,
            // Whether it came to pass is seen at the next look.
            Answer::Failed(failure) => {
                let raced = matches!(
                    failure.class,
                    FailureClass::Conflict | FailureClass::Exists | FailureClass::Status(409 | 412)
                );
                if !raced {
                    self.trouble(&failure);
                }
                failure.class == FailureClass::Lost
            }
            _ => false,
        }
    }

    /// Says why the lease cannot be kept, and not again each time.
    fn trouble(&self, failure: &Failure) {
        if !self.troubled.swap(true, Ordering::Relaxed) {
            *lock(&self.trouble) = Some(failure.clone());
            self.turned.notify_one();
        }
    }

    async fn leave(&self) {
        let stamp = self.stamp();
        let left = lock(&self.leases).leave(clock(), &stamp);
        self.turned.notify_one();
        let Some((slot, claim)) = left else { return };
        let (lease, ways, target) = self.target(slot);
        let Answer::Found(item) = ways.ask(&Ask::Read(target.clone())).await else { return };
        let Ok(fields) = lease.kind.as_lease() else { return };
        let Record { holder, .. } = fields.record(&item.value);
        if lock(&self.leases).is_me(&holder) {
            self.write(&lease, &ways, target, Some(item), &claim).await;
        }
    }

    fn stamp(&self) -> String {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let stamp = lock(&self.stamps).next(wall);
        humantime::format_rfc3339_micros(UNIX_EPOCH + stamp).to_string()
    }
}

/// A clock that nobody sets, and that goes on while the machine sleeps where the system has such a one: the holder of
/// a lease must not wake up and believe that no time has passed.
#[cfg(target_os = "linux")]
pub fn clock() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    time.try_into().unwrap_or_default()
}

#[cfg(not(target_os = "linux"))]
pub fn clock() -> Duration {
    static BEGAN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    BEGAN.get_or_init(std::time::Instant::now).elapsed()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "lead_tests.rs"]
mod tests;
