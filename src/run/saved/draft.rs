//! Makes a saved plan: what was loaded is kept before the run, what was found is added after it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::json;

use super::former::SavedFormer;
use super::object::{SavedAdded, SavedLeft};
use super::pruned::{Looks, SavedPruned};
use super::secrets::{self, Body};
use super::{Flags, HOLDS, SavedObject, SavedPlan, seal};
use crate::backend::connection::{Address, Connection};
use crate::core::document::Document;
use crate::core::engine::Specimen;
use crate::core::identity::KindName;
use crate::core::kind::Kinds;
use crate::core::problem::Problem;
use crate::core::prune::Former;
use crate::core::raw::RawDocument;
use crate::core::redact::Redactor;
use crate::core::report::{Entry, Report};
use crate::core::veil::Veil;
use crate::manifest::kept::{Kept, form};
use crate::manifest::replicas;
use crate::run::input::Input;

/// A plan before its run.
pub struct Draft {
    flags: Flags,
    targets: BTreeMap<String, String>,
    documents: Vec<Kept>,
    backends: Vec<Kept>,
    sets: Vec<Kept>,
    /// What the base has beside the documents.
    former: Former,
    /// By object: the hash of what is wanted.
    desired: Vec<String>,
}

impl Draft {
    /// Of an input that was loaded with its documents kept.
    ///
    /// # Errors
    /// Secrets that stand in the clear.
    pub fn of(input: &Input, flags: Flags) -> Result<Draft, Vec<Problem>> {
        let mut used: BTreeSet<&Arc<str>> =
            input.graph.nodes.iter().map(|node| &node.id.kind.backend).collect();
        used.extend(
            input
                .sets
                .iter()
                .chain(&input.replicas)
                .flat_map(|set| &set.scope)
                .map(|claim| &claim.kind.backend),
        );
        let name = |raw: &&RawDocument| {
            let name = raw.root.get("metadata").and_then(|node| node.get("name")?.as_str());
            name.is_some_and(|name| used.iter().any(|used| ***used == *name))
        };
        let backends: Vec<&RawDocument> = input.backends.iter().filter(name).collect();
        let templates = input.manifests.iter().map(|raw| match replicas::is_one(raw) {
            true => replicas::template(raw).unwrap_or_else(|| raw.clone()),
            false => raw.clone(),
        });
        let templates: Vec<RawDocument> = templates.collect();
        let bodies = templates.iter().map(|raw| body(raw, &input.kinds));
        let problems = secrets::in_clear(bodies, backends.iter().copied());
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Draft {
            flags,
            targets: targets(&input.connections),
            documents: input.manifests.iter().map(Kept::of).collect(),
            backends: backends.into_iter().map(Kept::of).collect(),
            sets: input.written_sets.iter().map(Kept::of).collect(),
            former: input.former.clone(),
            desired: desired(input),
        })
    }

    /// The plan that a run came to, with what it saw of each object of its report, and what those look like that no
    /// document names.
    pub fn finish(
        self,
        report: &Report,
        specimens: &[Specimen],
        looks: &Looks,
        redactor: &Redactor,
    ) -> SavedPlan {
        let now = SystemTime::now();
        let time = |time| humantime::format_rfc3339_seconds(time).to_string();
        let (planned, told) = report.objects.split_at(specimens.len().min(report.objects.len()));
        let mut desired = self.desired.into_iter();
        let deletes = specimens.iter().any(|specimen| specimen.pruned.is_some());
        let object = |(entry, specimen): (&Entry, &Specimen)| {
            let pruned = specimen.pruned.as_deref();
            let pruned = pruned.map(|pruned| SavedPruned::of(pruned, &looks.of(&entry.id)));
            let desired = match &pruned {
                Some(pruned) => pruned.desired(&entry.id),
                None => desired.next().unwrap_or_default(),
            };
            SavedObject::of(entry, Some(specimen), desired, pruned, redactor)
        };
        SavedPlan {
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            made: time(now),
            expires: time(now + HOLDS),
            targets: self.targets,
            flags: self.flags,
            documents: self.documents,
            backends: self.backends,
            sets: self.sets,
            objects: planned.iter().zip(specimens).map(object).collect(),
            told: told
                .iter()
                .map(|entry| SavedObject::of(entry, None, String::new(), None, redactor))
                .collect(),
            former: deletes.then(|| SavedFormer::of(&self.former, redactor)),
            left: report.left.iter().map(|left| SavedLeft::of(left, redactor)).collect(),
            added: report.added.iter().map(|added| SavedAdded::of(added, redactor)).collect(),
            seen: report.seen.count(),
            requests: [report.requests.list, report.requests.read, report.requests.login],
        }
    }
}

/// Where backends are, by their names. A store of the built-in server is one wherever it is named from.
pub fn targets(connections: &[Connection]) -> BTreeMap<String, String> {
    let place = |address: &Address| match address {
        Address::Http(url) => url.clone(),
        Address::Embedded(path) => {
            let whole = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            format!("embedded:{}", whole.display())
        }
    };
    connections.iter().map(|one| (one.name.to_string(), place(&one.address))).collect()
}

/// Of each selected document, the hash of what is wanted: with what variables and files say, and without secrets.
pub fn desired(input: &Input) -> Vec<String> {
    let selected = input.documents.iter().filter(|document| input.selection.takes(document));
    let veils: BTreeMap<_, _> =
        input.kinds.iter().map(|kind| (kind.name.clone(), Veil::of_rules(&kind.fields))).collect();
    let hash = |document: &Document| {
        let body = form(&document.spec);
        let body = veils.get(&document.id.kind).map_or(body.clone(), |veil| veil.cover(&body));
        let policy = &document.policy;
        let shown = format!(
            "{:?}",
            (policy.ensure, &policy.pinned_id, policy.protected, policy.replace, policy.drift, policy.paused)
        );
        let secret = (policy.secret_version.as_deref(), policy.secret_since);
        let owner = policy.member.as_ref().map(|member| (&*member.set, member.owner.as_deref()));
        seal::hash(&json!([*document.id.kind.backend, document.id.slashed(), shown, secret, owner, body]))
    };
    selected.map(hash).collect()
}

fn body<'d>(raw: &'d RawDocument, kinds: &Kinds) -> Body<'d> {
    let (version, word) = (raw.text("apiVersion").unwrap_or_default(), raw.text("kind").unwrap_or_default());
    let verbatim = kinds.of_document(version, word);
    let spec = raw.root.get("spec").filter(|_| verbatim.is_none());
    let kind = verbatim.or_else(|| kinds.get(&KindName { backend: version.into(), kind: word.into() }));
    let veil = kind.map(|kind| Veil::of_rules(&kind.fields));
    Body { raw, node: spec.unwrap_or(&raw.root), veil: veil.unwrap_or_default() }
}
