//! The sweep: what is in the scope of every Set, listed whole before anything is planned, and what of it no document
//! names. What is to go becomes documents of the run, so that plan, question and deletion are those of any other.

use std::collections::HashSet;

use super::clients::Clients;
use super::drive::Look;
use super::runner::Runner;
use super::walk::{Batch, Listed, Missed, Walk};
use crate::core::exchange::Item;
use crate::core::graph::Graph;
use crate::core::identity::{Key, ObjectId};
use crate::core::kind::{Kind, Kinds, PageBy};
use crate::core::problem::Problem;
use crate::core::prune::{self, Gates, Known, Swept};
use crate::core::report::{Report, Requests};
use crate::core::set::Claim;

impl Runner {
    /// Whether there is a Set.
    pub fn has_sets(&self) -> bool {
        !self.sets.is_empty()
    }

    /// Lists what is in the scope of the Sets, and adds to the run what is to be deleted.
    ///
    /// # Errors
    /// A client that cannot be made; objects that are to go and cannot be linked with the documents.
    pub async fn sweep(&mut self, gates: &Gates) -> Result<(), Problem> {
        let clients = Clients::read_only(&self.transports, &self.kinds, &self.client)?;
        let (mut swept, mut listed) = (Vec::new(), Listed::default());
        for claim in self.sets.iter().flat_map(|set| &set.scope) {
            swept.push(self.listed(claim, &clients, &mut listed).await);
        }
        let seen = swept.iter().map(|found| found.items.len()).sum();
        let known = Known {
            sets: &self.sets,
            documents: &self.documents,
            graph: &self.graph,
            kinds: &self.kinds,
            former: &self.former,
        };
        let plan = prune::plan(&known, swept, gates);
        // What is told of an object is told once.
        let told =
            plan.doomed.iter().map(|document| &document.id).chain(plan.told.iter().map(|entry| &entry.id));
        let told: HashSet<&ObjectId> = told.collect();
        self.left.retain(|left| !told.contains(&left.id));
        if !plan.doomed.is_empty() {
            self.documents.extend(plan.doomed);
            let graph = Graph::build(&self.documents, &self.kinds);
            self.graph = graph.map_err(|problems| {
                problems.into_iter().next().expect("a graph that cannot be built says why")
            })?;
        }
        self.swept = Report { objects: plan.told, requests: clients.requests(), seen, ..Report::default() };
        Ok(())
    }

    /// A report with what the sweep has to say. The first one also has its requests.
    pub(super) fn with_swept(&mut self, mut report: Report) -> Report {
        report.objects.extend(self.swept.objects.iter().cloned());
        report.requests += std::mem::take::<Requests>(&mut self.swept.requests);
        report.seen += self.swept.seen;
        report
    }

    async fn listed(&self, claim: &Claim, clients: &impl Look, listed: &mut Listed) -> Swept {
        let Some(kind) = self.kinds.get(&claim.kind) else { return Swept::default() };
        let mut first = once(claim, &self.kinds, clients, listed).await;
        if moves_while_it_is_listed(kind) && first.doubts.is_empty() {
            let second = once(claim, &self.kinds, clients, listed).await;
            first.doubts.extend(second.doubts);
            if keys(&first.items) != keys(&second.items) {
                let name = &kind.name.kind;
                first.doubts.push(format!("two listings of every {name} showed different objects"));
            }
        }
        first
    }
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
