//! The sweep: what is in the scope of every Set, listed whole before anything is planned, and what of it no document
//! names; and what ReplicaSets have too much. What is to go becomes documents of the run, so that plan, question and deletion are those of any other.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::clients::Clients;
use super::drive::Look;
use super::runner::Runner;
use super::walk::{Batch, Listed, Missed, Walk};
use crate::core::census::Census;
use crate::core::document::Document;
use crate::core::exchange::Item;
use crate::core::graph::Graph;
use crate::core::identity::{Key, ObjectId};
use crate::core::kind::{Kind, Kinds, PageBy};
use crate::core::problem::Problem;
use crate::core::prune::{self, Gates, Holds, Known, Plan, Swept};
use crate::core::report::{Entry, Explanation, Report, Requests};
use crate::core::set::{Claim, Limits, Set};
use crate::core::suggest;

/// What is looked through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Through {
    /// What Sets and ReplicaSets claim.
    All,
    /// What ReplicaSets claim: they say themselves how many objects there are to be.
    Replicas,
}

impl Runner {
    /// Whether there is a ReplicaSet.
    pub fn has_replicas(&self) -> bool {
        !self.replicas.is_empty()
    }

    /// Whether there is a Set.
    pub fn has_sets(&self) -> bool {
        !self.sets.is_empty()
    }

    /// A limit for a kind that no Set and no ReplicaSet claims: a slip there must not go unseen.
    pub fn unknown_limit(&self, limits: &Limits) -> Option<Problem> {
        let claims = self.sets.iter().chain(&self.replicas).flat_map(|set| &set.scope);
        let kinds: BTreeSet<&str> = claims.map(|claim| &*claim.kind.kind).collect();
        let unknown = limits.kinds.keys().find(|kind| !kinds.contains(&***kind))?;
        let problem = Problem::new(format!("`--max-deletes {unknown}=…` is about a kind that no set claims"));
        Some(problem.hint(suggest::hint(unknown, "the kinds are", kinds)))
    }

    /// Lists what is in the scope of the Sets, and adds to the run what is to be deleted. `holds` has the last word on
    /// each object that may go.
    ///
    /// # Errors
    /// A client that cannot be made; objects that are to go and cannot be linked with the documents.
    pub async fn sweep(&mut self, what: Through, gates: &Gates, holds: Holds<'_>) -> Result<(), Problem> {
        let Plan { doomed, told, taken } = self.look_through(what, gates, holds).await?;
        self.taken = taken;
        self.swept.objects = told;
        self.add(doomed)
    }

    /// Lists what is in the scope of the Sets, and adds to the run all that a saved plan `deletes`, in its order; of
    /// what cannot go, or not any more, why. What is too much besides, and what the plan does not delete, stays.
    ///
    /// # Errors
    /// As [`Runner::sweep`].
    pub async fn sweep_planned(
        &mut self,
        what: Through,
        gates: &Gates,
        holds: Holds<'_>,
        deletes: Vec<Document>,
    ) -> Result<Vec<Option<Explanation>>, Problem> {
        let Plan { doomed, mut told, taken } = self.look_through(what, gates, holds).await?;
        self.taken = taken;
        let mut doomed: HashMap<ObjectId, Document> =
            doomed.into_iter().map(|document| (document.id.clone(), document)).collect();
        let mut refusals = Vec::with_capacity(deletes.len());
        let mut documents = Vec::with_capacity(deletes.len());
        for planned in deletes {
            let found = doomed.remove(&planned.id);
            refusals.push(found.is_none().then(|| {
                let of_it = told.iter().find(|entry| entry.id == planned.id);
                let why = of_it.and_then(|entry| entry.result.explanation().cloned());
                why.unwrap_or_else(|| Explanation::new("no listing shows it"))
            }));
            let (origin, base) = (planned.origin.clone(), planned.base.clone());
            documents.push(Document { origin, base, ..found.unwrap_or(planned) });
        }
        told.retain(|entry| !documents.iter().any(|document| document.id == entry.id));
        self.swept.objects = told;
        self.add(documents)?;
        Ok(refusals)
    }

    /// Tells of what a saved plan tells, as far as nothing else was said of it since.
    pub fn tell(&mut self, told: impl IntoIterator<Item = Entry>) {
        let more = told.into_iter().filter(|entry| !self.swept.objects.iter().any(|one| one.id == entry.id));
        let more: Vec<Entry> = more.collect();
        self.swept.objects.splice(0..0, more);
    }

    async fn look_through(
        &mut self,
        what: Through,
        gates: &Gates,
        holds: Holds<'_>,
    ) -> Result<Plan, Problem> {
        let sets = self.sets.iter().filter(|_| what == Through::All);
        let sets: Vec<Set> = sets.chain(&self.replicas).cloned().collect();
        let clients = Clients::read_only(&self.transports, &self.kinds, &self.client)?;
        let Runner { documents, graph, kinds, former, .. } = &*self;
        let swept = list(&sets, kinds, &clients).await;
        let mut seen = Census::default();
        let claims = sets.iter().flat_map(|set| &set.scope);
        for (claim, found) in claims.zip(&swept) {
            seen.saw_all(&claim.kind, found.items.iter().map(|item| &item.key));
        }
        let plan = prune::plan(&Known { sets: &sets, documents, graph, kinds, former, holds }, swept, gates);
        self.swept = Report { requests: clients.requests(), seen, ..Report::default() };
        // What is told of an object is told once.
        let told =
            plan.doomed.iter().map(|document| &document.id).chain(plan.told.iter().map(|entry| &entry.id));
        let told: HashSet<&ObjectId> = told.collect();
        self.left.retain(|left| !told.contains(&left.id));
        Ok(plan)
    }

    /// Adds documents to the run.
    fn add(&mut self, documents: Vec<Document>) -> Result<(), Problem> {
        if documents.is_empty() {
            return Ok(());
        }
        self.documents.extend(documents);
        let graph = Graph::build(&self.documents, &self.kinds);
        self.graph = graph.map_err(|problems| {
            problems.into_iter().next().expect("a graph that cannot be built says why")
        })?;
        Ok(())
    }

    /// A report with what the sweep has to say. The first one also has its requests.
    pub(super) fn with_swept(&mut self, mut report: Report) -> Report {
        report.objects.extend(self.swept.objects.iter().cloned());
        report.requests += std::mem::take::<Requests>(&mut self.swept.requests);
        report.seen.join(&self.swept.seen);
        report
    }
}

/// What listings show in the scope of each claim of each Set, in their order.
pub(super) async fn list(sets: &[Set], kinds: &Kinds, clients: &impl Look) -> Vec<Swept> {
    let (mut swept, mut known) = (Vec::new(), Listed::default());
    for claim in sets.iter().flat_map(|set| &set.scope) {
        swept.push(listed(claim, kinds, clients, &mut known).await);
    }
    swept
}

async fn listed(claim: &Claim, kinds: &Kinds, clients: &impl Look, known: &mut Listed) -> Swept {
    let Some(kind) = kinds.get(&claim.kind) else { return Swept::default() };
    let mut first = once(claim, kinds, clients, known).await;
    if moves_while_it_is_listed(kind) && first.doubts.is_empty() {
        let second = once(claim, kinds, clients, known).await;
        first.doubts.extend(second.doubts);
        if keys(&first.items) != keys(&second.items) {
            let name = &kind.name.kind;
            first.doubts.push(format!("two listings of every {name} showed different objects"));
        }
    }
    first
}

/// What one listing of a claim shows; objects that a listing shows in part are read. `listed` is what the claims before
/// it have listed whole: the parents are those of all.
async fn once(claim: &Claim, kinds: &Kinds, clients: &impl Look, listed: &mut Listed) -> Swept {
    let mut items = Vec::new();
    let mut take = |batch: Batch| items.extend(batch.items);
    let walk = Walk::new(clients, kinds, &[], true, &mut take).within(&claim.kind, &claim.within);
    let mut walk = walk.knowing(&claim.kind, std::mem::take(listed));
    walk.all(&|name| *name == claim.kind).await;
    let (whole, Missed { failures, unlisted, .. }) = walk.into_listed();
    if failures.is_empty() && unlisted.is_empty() {
        *listed = whole;
    }
    let mut doubts: Vec<String> = failures.into_iter().map(|failure| failure.message).collect();
    doubts
        .extend(unlisted.into_iter().map(|one| format!("a {} cannot be listed: {}", one.kind.kind, one.why)));
    Swept { items, doubts }
}

/// Whether objects can slip from one page to another that was read before: pages that are counted.
fn moves_while_it_is_listed(kind: &Kind) -> bool {
    let page = kind.list.as_ref().and_then(|list| list.page.as_ref());
    page.is_some_and(|page| matches!(page.by, PageBy::Page | PageBy::Offset))
}

fn keys(items: &[Item]) -> HashSet<&Key> {
    items.iter().map(|item| &item.key).collect()
}
