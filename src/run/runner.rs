//! One invocation's work: a loaded input, open ways to its backends, and the runs over them.

use std::collections::BTreeSet;

use super::clients::{Clients, Transports, Unopened};
use super::drive::{self, Limits, Tell};
use super::force;
use super::input::Input;
use super::record::Record;
use super::watch::desired;
use crate::api::client::Options as ClientOptions;
use crate::core::document::{Document, Ensure, Flags};
use crate::core::engine::pledge::Pledge;
use crate::core::engine::{Engine, Mode, Options, Specimen};
use crate::core::exit::Exit;
use crate::core::graph::Graph;
use crate::core::identity::ObjectId;
use crate::core::kind::Kinds;
use crate::core::needed::Added;
use crate::core::problem::Problem;
use crate::core::prune::Former;
use crate::core::report::{LeftFiles, Report, Requests};
use crate::core::secrets::Secrets;
use crate::core::set::Set;
use crate::core::unique::Held;
use crate::core::watch::Subject;
use crate::manifest::Selection;

/// Writes under way at once, where nothing else is said; the client's own limits stay below it.
const WRITES: usize = 64;

/// What a run may do besides what the documents say.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// Requests at once, to each backend.
    pub parallel: Option<usize>,
    /// Objects that may be deleted and created again, as `Kind/part/part`.
    pub replace: BTreeSet<String>,
    /// Objects whose write-only values are sent again, as `Kind/part/part`.
    pub rotate: BTreeSet<String>,
    /// Paths at which theirs may be overwritten, as `Kind/part/part:path`.
    pub force_conflicts: BTreeSet<String>,
    /// Whether lines for the backend are suggested.
    pub suggest: bool,
    /// Whether anything may be written: then stores of the built-in server are made where there are none.
    pub may_write: bool,
    /// The value of `TRUEUP_ALLOW_EXEC`.
    pub allow_exec: Option<String>,
    /// The seed of all jitter.
    pub seed: u64,
}

/// A loaded input with open ways to its backends.
pub struct Runner {
    pub(super) documents: Vec<Document>,
    pub(super) graph: Graph,
    pub(super) kinds: Kinds,
    pub(super) sets: Vec<Set>,
    /// What ReplicaSets claim.
    pub(super) replicas: Vec<Set>,
    /// What a sweep has to say besides what becomes of the documents.
    pub(super) swept: Report,
    /// What is left alone by it, and has values that only one object may have.
    pub(super) taken: Vec<(Held, ObjectId)>,
    pub(super) selection: Selection,
    /// What a base says of what is in no document.
    pub(super) former: Former,
    pub(super) left: Vec<LeftFiles>,
    /// What nobody chose, and takes part as something chosen needs it.
    added: Vec<Added>,
    record: Option<Record>,
    pub(super) transports: Transports,
    pub(super) client: ClientOptions,
    pub(super) choices: Choices,
}

impl Runner {
    /// # Errors
    /// Backends that cannot be opened; flags that name no document.
    pub fn open(mut input: Input, secrets: Secrets, choices: Choices) -> Result<Runner, Unopened> {
        let mut documents = input.documents;
        let mut problems = unknown_names(&documents, &choices);
        problems.extend(force::set(&mut documents, &mut input.former.left, &choices.force_conflicts));
        if !problems.is_empty() {
            return Err(Unopened::new(Exit::BadInput, problems));
        }
        let left = input.former.left.iter().filter(|document| input.selection.takes(document));
        let left =
            left.map(|document| LeftFiles { id: document.id.clone(), origin: document.origin.clone() });
        let left = left.collect();
        // Of one of which nothing was chosen, nothing is looked for, whatever others need of it.
        let selected = |set: &Set| {
            let of_it = |document: &&Document| {
                document.policy.replica.as_ref().is_some_and(|replica| replica.of == set.name)
            };
            let mut members = documents.iter().filter(of_it).peekable();
            members.peek().is_none() || members.any(|document| input.selection.chooses(document))
        };
        let mut replicas = input.replicas;
        replicas.retain(selected);
        let transports = Transports::open(input.connections, choices.parallel, choices.may_write)?;
        let client =
            ClientOptions { allow_exec: choices.allow_exec.clone(), secrets, ..ClientOptions::default() };
        Ok(Runner {
            documents,
            graph: input.graph,
            kinds: input.kinds,
            sets: input.sets,
            replicas,
            swept: Report::default(),
            taken: Vec::new(),
            selection: input.selection,
            former: input.former,
            left,
            added: input.added,
            record: input.record,
            transports,
            client,
            choices,
        })
    }

    /// The documents that are chosen, as the loop of `watch` knows them; `salt` as for [`crate::core::watch::wish`].
    pub fn subjects(&self, salt: u128) -> Vec<Subject> {
        desired::subjects(&self.documents, &self.kinds, &self.selection, salt)
    }

    /// Turns every document into the wish that its object be gone; those that must merely exist are left.
    pub fn wish_all_gone(&mut self) {
        let managed = self.documents.iter_mut().filter(|d| d.policy.ensure != Ensure::Exists);
        managed.for_each(|document| document.policy.ensure = Ensure::Absent);
    }

    /// One pass that cannot write.
    ///
    /// # Errors
    /// A client that cannot be made.
    pub async fn plan(&mut self, limits: &Limits, tell: Tell<'_>) -> Result<Report, Problem> {
        let (documents, graph) = (self.documents.clone(), self.graph.clone());
        self.plan_of(documents, graph, limits, tell).await
    }

    /// [`Runner::plan`] for a runner that is needed no longer: nothing is copied.
    ///
    /// # Errors
    /// A client that cannot be made.
    pub async fn plan_once(&mut self, limits: &Limits, tell: Tell<'_>) -> Result<Report, Problem> {
        let (documents, graph) = (std::mem::take(&mut self.documents), std::mem::take(&mut self.graph));
        self.plan_of(documents, graph, limits, tell).await
    }

    /// [`Runner::plan_once`] for the documents that `takes` says, with what was seen of each object.
    ///
    /// # Errors
    /// A client that cannot be made.
    pub async fn explain_once(
        &mut self,
        takes: &dyn Fn(&Document) -> bool,
        limits: &Limits,
        tell: Tell<'_>,
    ) -> Result<(Report, Vec<Specimen>), Problem> {
        let (documents, graph) = (std::mem::take(&mut self.documents), std::mem::take(&mut self.graph));
        let clients = Clients::read_only(&self.transports, &self.kinds, &self.client)?;
        let options = Options { keep: true, ..self.options() };
        let engine = Engine::new(documents, graph, &self.kinds, Mode::Plan, options, takes, None);
        let engine = drive::observe(engine, &clients, limits, tell).await;
        let specimens = engine.specimens();
        Ok((Report { requests: clients.requests(), ..engine.report() }, specimens))
    }

    /// [`Runner::plan_once`] with what was seen of each object of the report.
    ///
    /// # Errors
    /// A client that cannot be made.
    pub async fn plan_kept(
        &mut self,
        limits: &Limits,
        tell: Tell<'_>,
    ) -> Result<(Report, Vec<Specimen>), Problem> {
        let selection = self.selection.clone();
        let (report, specimens) =
            self.explain_once(&|document| selection.takes(document), limits, tell).await?;
        let report = Report { left: self.left.clone(), added: self.added.clone(), ..report };
        Ok((self.with_swept(report), specimens))
    }

    async fn plan_of(
        &mut self,
        documents: Vec<Document>,
        graph: Graph,
        limits: &Limits,
        tell: Tell<'_>,
    ) -> Result<Report, Problem> {
        let clients = Clients::read_only(&self.transports, &self.kinds, &self.client)?;
        let engine = self.engine(documents, graph, Mode::Plan, None);
        let engine = drive::observe(engine, &clients, limits, tell).await;
        let report = self.told(clients.requests(), engine.report());
        Ok(self.with_swept(report))
    }

    /// A report with what else is to be told of the files.
    fn told(&self, requests: Requests, report: Report) -> Report {
        Report { requests, left: self.left.clone(), added: self.added.clone(), ..report }
    }

    /// The ref that is to be moved once all is settled.
    pub fn record(&self) -> Option<&Record> {
        self.record.as_ref()
    }

    /// Does what `agreed` plans, and nothing destructive beside it; reads everything back. The runner is needed
    /// no longer.
    ///
    /// # Errors
    /// A client that cannot be made.
    pub async fn apply_once(
        &mut self,
        agreed: &Report,
        limits: &Limits,
        tell: Tell<'_>,
    ) -> Result<Report, Problem> {
        let clients = Clients::read_write(&self.transports, &self.kinds, &self.client)?;
        let (documents, graph) = (std::mem::take(&mut self.documents), std::mem::take(&mut self.graph));
        let engine = self.engine(documents, graph, Mode::Apply, Some(agreed));
        let engine = drive::act(engine, &clients, limits, tell).await;
        let mut report = engine.report();
        report.requests = clients.requests();
        let mut report = self.with_swept(report);
        let mut requests = agreed.requests;
        requests += report.requests;
        report.requests = requests;
        report.left = self.left.clone();
        report.added = self.added.clone();
        Ok(report)
    }

    /// Does what is due, without a plan before it, and reads everything back; `most_writes` of it at most. The runner
    /// is needed no longer.
    ///
    /// # Errors
    /// A client that cannot be made.
    pub async fn pass_once(
        &mut self,
        most_writes: Option<usize>,
        limits: &Limits,
        tell: Tell<'_>,
    ) -> Result<Report, Problem> {
        let clients = Clients::read_write(&self.transports, &self.kinds, &self.client)?;
        let (documents, graph) = (std::mem::take(&mut self.documents), std::mem::take(&mut self.graph));
        let selected = |document: &Document| self.selection.takes(document);
        let options = Options { most_writes, flags: Flags::Apply, unattended: true, ..self.options() };
        let engine = Engine::new(documents, graph, &self.kinds, Mode::Apply, options, &selected, None);
        let engine = drive::act(engine, &clients, limits, tell).await;
        let report = self.told(clients.requests(), engine.report());
        Ok(self.with_swept(report))
    }

    /// Does what a saved plan says and nothing else: a pledge for each selected document, in their order. `left` is
    /// what the plan tells of the base. The runner is needed no longer.
    ///
    /// # Errors
    /// A client that cannot be made.
    pub async fn apply_saved(
        &mut self,
        pledges: Vec<Pledge>,
        left: Vec<LeftFiles>,
        limits: &Limits,
        tell: Tell<'_>,
    ) -> Result<Report, Problem> {
        let clients = Clients::read_write(&self.transports, &self.kinds, &self.client)?;
        let (documents, graph) = (std::mem::take(&mut self.documents), std::mem::take(&mut self.graph));
        let mut engine = self.engine(documents, graph, Mode::Apply, None);
        engine.hold_to(pledges);
        let engine = drive::act(engine, &clients, limits, tell).await;
        let requests = clients.requests();
        let report = Report { requests, left, added: self.added.clone(), ..engine.report() };
        Ok(self.with_swept(report))
    }

    fn options(&self) -> Options {
        Options {
            replace: self.choices.replace.clone(),
            rotate: self.choices.rotate.clone(),
            suggest: self.choices.suggest,
            writes: self.choices.parallel.unwrap_or(WRITES),
            seed: self.choices.seed,
            keep: false,
            taken: self.taken.clone(),
            ..Options::default()
        }
    }

    fn engine(&self, documents: Vec<Document>, graph: Graph, mode: Mode, agreed: Option<&Report>) -> Engine {
        let selected = |document: &Document| self.selection.takes(document);
        Engine::new(documents, graph, &self.kinds, mode, self.options(), &selected, agreed)
    }

    pub(super) fn parts(&self) -> (&Transports, &Kinds, &ClientOptions, &[Document]) {
        (&self.transports, &self.kinds, &self.client, &self.documents)
    }
}

/// `--replace` and `--rotate` with names that no document has: a slip there must not go unseen.
fn unknown_names(documents: &[Document], choices: &Choices) -> Vec<Problem> {
    let wanted = choices.replace.iter().map(|name| ("--replace", name));
    let wanted = wanted.chain(choices.rotate.iter().map(|name| ("--rotate", name)));
    let mut wanted: Vec<(&str, &String)> = wanted.collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let known: BTreeSet<String> = documents.iter().map(|document| document.id.slashed()).collect();
    wanted.retain(|(_, name)| !known.contains(*name));
    let problem = |(flag, name): (&str, &String)| {
        Problem::new(format!("`{flag} {name}` names no document"))
            .hint("names are written `Kind/part/part`, as a plan's hints show them")
    };
    wanted.into_iter().map(problem).collect()
}
