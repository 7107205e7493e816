//! Pruning while the watch runs: what the Sets claim is listed, and what no document names is deleted in a pass of its
//! own, behind the same gates as in `apply`.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use tokio::time::Instant;

use super::files::AsRead;
use super::folders::Held as HeldFolders;
use super::pass::{Ground, Halt, carry_out};
use super::ways::Held;
use crate::core::document::{Document, Flags};
use crate::core::engine::{Engine, Mode, Options};
use crate::core::exchange::Item;
use crate::core::graph::Graph;
use crate::core::graph::part::Parts;
use crate::core::identity::ObjectId;
use crate::core::kind::Kind;
use crate::core::problem::Problem;
use crate::core::prune::{self, Gates, Known, Plan, Swept};
use crate::core::report::{Entry, Explanation, Outcome, Report};
use crate::core::set::Set;
use crate::core::watch::{Condition, ConditionKind, Status, Truth};
use crate::run::sweep;

use super::desired::Desired;

/// Files that somebody puts in place one by one lack documents for a moment: nothing goes before they stood still for
/// so long.
const SETTLED: Duration = Duration::from_secs(5);
/// What did not go for a doubt, or was cut short, is looked at again so long after.
const AGAIN: Duration = Duration::from_secs(2);

/// What to do about what a folder declared that may only be away.
const CONFIRM: &str = "send SIGHUP or `POST /resync` if it is to go";

/// When the Sets are looked through next.
#[derive(Clone, Copy, Debug)]
pub struct When {
    due: Instant,
    /// Not before this, as the files changed.
    settled: Instant,
    /// Of a Set something was doubtful at the last look, so that nothing of it went.
    is_doubtful: bool,
}

impl When {
    /// Once the files that were read now are settled.
    pub fn new(now: Instant) -> When {
        When { due: now, settled: now + SETTLED, is_doubtful: false }
    }

    /// The files are other ones.
    pub fn changed(&mut self, now: Instant) {
        (self.due, self.settled) = (now, now + SETTLED);
    }

    pub fn is_due(&self, now: Instant) -> bool {
        self.due <= now && self.settled <= now
    }

    /// It begins; `is_doubtful` as [`doubts`] has it.
    pub fn began(&mut self, now: Instant, resync: Duration, is_doubtful: bool) {
        (self.due, self.is_doubtful) = (now + resync, is_doubtful);
    }

    /// It was ended before it was done.
    pub fn cut_short(&mut self, now: Instant) {
        self.due = now + AGAIN;
    }

    /// Of objects more is known than before: what was doubtful may be no more.
    pub fn turned<'c>(&mut self, now: Instant, mut conditions: impl Iterator<Item = &'c Condition>) {
        let is_known = |one: &Condition| one.kind == ConditionKind::Synced && one.truth != Truth::Unknown;
        if self.is_doubtful && conditions.any(is_known) {
            self.due = self.due.min(now + AGAIN);
        }
    }
}

/// What is to be looked through, and what may be done about it.
pub struct Job {
    pub gates: Gates,
    pub sets: Vec<Set>,
    /// Of [`doubts`].
    pub doubts: BTreeMap<usize, String>,
    /// What folders declared that may only be away.
    pub held: HeldFolders,
    /// As they were when the documents were read.
    pub files: AsRead,
    /// What is over it stays for now; `None`: no limit.
    pub most_writes: Option<usize>,
}

/// What came of it.
#[derive(Default)]
pub struct Pruned {
    /// Objects that no document names and that are left alone, and why.
    pub told: Vec<Entry>,
    /// Of those that were to be deleted.
    pub report: Report,
}

/// The Sets that can be looked through, and of the others why not, as sentences: where a backend is away, nothing can
/// be proved of what is there.
pub fn free(sets: Vec<Set>, is_away: impl Fn(&str) -> bool) -> (Vec<Set>, Vec<String>) {
    let away = |set: &Set| set.scope.iter().find(|claim| is_away(&claim.kind.backend)).cloned();
    let (mut free, mut held) = (Vec::new(), Vec::new());
    for set in sets {
        match away(&set) {
            None => free.push(set),
            Some(claim) => held.push(format!(
                "nothing of {} is deleted for now: backend `{}` is away",
                set.words(),
                claim.kind.backend
            )),
        }
    }
    (free, held)
}

/// By the place of a Set: why nothing of it is deleted. An object in its scope of which nothing certain is known may be
/// the one that a deletion would hit; and of a ReplicaSet nothing goes before all that there is to be is there.
pub fn doubts(desired: &Desired, sets: &[Set], status: &Status) -> BTreeMap<usize, String> {
    let mut doubts = BTreeMap::new();
    for object in &status.objects {
        let synced = object.condition(ConditionKind::Synced).map(|synced| synced.truth);
        let is_known = !object.holds(ConditionKind::Unknown) && synced != Some(Truth::Unknown);
        let is_synced = is_known && synced == Some(Truth::True);
        let Some(kind) = desired.kinds.get(&object.id.kind).filter(|_| !is_synced) else { continue };
        for (at, set) in sets.iter().enumerate() {
            let matters = !is_known || set.replicas().is_some();
            if matters && set.claim_of(&object.id, kind).is_some() {
                let why = if is_known { "is not in sync" } else { "is not known for certain" };
                doubts.entry(at).or_insert_with(|| format!("`{}` {why}", object.id));
            }
        }
    }
    doubts
}

/// Looks through the scope of all Sets, and deletes what may go. `None`: it was ended before it was done.
///
/// # Errors
/// Objects that are to go and cannot be linked with the documents.
pub async fn prune(ground: Ground, job: Job, seed: u64, halt: Halt) -> Option<Result<Pruned, Problem>> {
    let Job { gates, sets, doubts, held, files, most_writes } = job;
    let desired = ground.desired.clone();
    let swept = tokio::select! {
        swept = list(&sets, &ground) => swept,
        () = halt.stop.cancelled() => return None,
    };
    let Plan { doomed, told, .. } = plan(&desired, &sets, swept, &doubts, &held, &gates);
    if doomed.is_empty() {
        return Some(Ok(Pruned { told, report: Report::default() }));
    }
    // The document of one of them may have been written just now.
    if !files.holds().await {
        return None;
    }
    let due: HashSet<ObjectId> = doomed.iter().map(|document| document.id.clone()).collect();
    let (first, mut documents) = (desired.documents.len(), desired.documents.clone());
    documents.extend(doomed);
    let graph = match Graph::build(&documents, &desired.kinds) {
        Ok(graph) => graph,
        Err(problems) => {
            return Some(Err(problems.into_iter().next().expect("a graph that cannot be built says why")));
        }
    };
    let part = Parts::new(&documents, &graph).part(&documents, &graph, first..documents.len());
    let writes = matches!(ground.ways.clients, Held::ReadWrite(_));
    let mode = if writes { Mode::Apply } else { Mode::Plan };
    let options = Options {
        writes: ground.writes,
        seed,
        attempts: ground.attempts,
        most_writes,
        flags: Flags::Apply,
        unattended: true,
        ..Options::default()
    };
    let selected = |document: &Document| due.contains(&document.id);
    let engine = Engine::new(part.documents, part.graph, &desired.kinds, mode, options, &selected, None);
    let (report, _) = carry_out(engine, writes, &ground, &halt, None).await;
    Some(Ok(Pruned { told, report }))
}

async fn list(sets: &[Set], ground: &Ground) -> Vec<Swept> {
    let Desired { kinds, .. } = &*ground.desired;
    match &ground.ways.clients {
        Held::ReadOnly(clients) => sweep::list(sets, kinds, clients).await,
        Held::ReadWrite(clients) => sweep::list(sets, kinds, clients).await,
    }
}

fn plan(
    desired: &Desired,
    sets: &[Set],
    mut swept: Vec<Swept>,
    doubts: &BTreeMap<usize, String>,
    held: &HeldFolders,
    gates: &Gates,
) -> Plan {
    let Desired { documents, graph, kinds, former, .. } = desired;
    let claims = sets.iter().enumerate().flat_map(|(at, set)| set.scope.iter().map(move |_| at));
    for (found, at) in swept.iter_mut().zip(claims) {
        found.doubts.extend(doubts.get(&at).cloned());
    }
    let holds = |kind: &Kind, item: &Item| {
        let id = ObjectId { kind: kind.name.clone(), key: item.key.clone() };
        held.why(kind, &id).map_or(Ok(()), |why| Err(Explanation::new(why).hint(CONFIRM)))
    };
    let known = Known { sets, documents, graph, kinds, former, holds: &holds };
    let mut plan = prune::plan(&known, swept, gates);
    // It is to go by the files, and a guard is in the way.
    for entry in &mut plan.told {
        if let Outcome::Extra(why) = &entry.result
            && why.hint.as_deref() == Some(CONFIRM)
        {
            entry.result = Outcome::Refused(why.clone());
        }
    }
    plan
}
