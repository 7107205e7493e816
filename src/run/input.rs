//! Loads the input: files to documents, backends to kinds and connections, everything linked and checked.
//! All that is wrong is said in one run.

mod needed;
mod reach;
mod registry;

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::base::Source as Base;
use super::lease::{self, LeaseObject};
use super::record::Record;
use crate::api::exposed;
use crate::backend::connection::Connection;
use crate::backend::{language, preset};
use crate::core::base::{Base as Laid, Past};
use crate::core::document::Document;
use crate::core::graph::Graph;
use crate::core::kind::Kinds;
use crate::core::mutant::planted;
use crate::core::needed::Added;
use crate::core::problem::Problem;
use crate::core::prune::Former;
use crate::core::raw::{RawDocument, Source};
use crate::core::rename;
use crate::core::secrets::password_in;
use crate::core::set::Set;
use crate::core::taint::taint;
use crate::core::unique;
use crate::manifest::{self, Outsides, Selection};
use registry::{Registry, backend_name};

pub use reach::Reach;

/// What is to be loaded.
#[derive(Debug, Default)]
pub struct Sources {
    /// Files, folders, or `-`.
    pub files: Vec<PathBuf>,
    /// The only source of Backend documents, when not empty.
    pub backends: Vec<PathBuf>,
    /// Variables that documents may name; empty: all.
    pub allow_env: Vec<String>,
    pub selection: Selection,
    /// Whether what the chosen documents need is left out: what is to go takes along nothing that it needs.
    pub alone: bool,
    /// Documents that were read before, of a saved plan; then `files` only say below what files may be read.
    pub read: Option<manifest::Loaded>,
    /// Whether the documents are kept as they are written.
    pub keep: bool,
    /// `--base`: a revision, or a folder.
    pub base: Option<String>,
    /// What a saved plan says of the base.
    pub saved: Option<SavedSide>,
    /// `--record`: the ref that is to be moved.
    pub record: Option<String>,
    /// `--lease`
    pub lease: Option<String>,
}

/// What a saved plan says of the base; secrets are not looked up.
#[derive(Debug, Default)]
pub struct SavedSide {
    /// Of each selected document, and whether its `trueup/secret-version` is not what it was there.
    pub documents: Vec<(Laid, bool)>,
    pub former: Former,
}

/// A loaded and linked input.
#[derive(Debug)]
pub struct Input {
    pub documents: Vec<Document>,
    pub graph: Graph,
    pub kinds: Kinds,
    /// Of the backends that are to be reached.
    pub connections: Vec<Connection>,
    /// The Backend documents as they are written.
    pub backends: Vec<RawDocument>,
    /// The other documents as they are written, where they were to be kept.
    pub manifests: Vec<RawDocument>,
    pub sets: Vec<Set>,
    /// What ReplicaSets claim.
    pub replicas: Vec<Set>,
    /// The Sets as they are written, where documents were to be kept.
    pub written_sets: Vec<RawDocument>,
    pub selection: Selection,
    /// What nobody chose, and takes part as something chosen needs it.
    pub added: Vec<Added>,
    pub warnings: Vec<Problem>,
    /// What the base has and the files have no longer.
    pub former: Former,
    /// The ref that is to be moved once all is settled.
    pub record: Option<Record>,
    pub lease: Option<LeaseObject>,
}

/// What loading came to. The secrets are told even when it failed, so that no message shows one.
pub struct Loaded {
    pub input: Result<Input, Vec<Problem>>,
    pub secrets: Vec<String>,
    /// The files that documents and backends name, there or not.
    pub named: BTreeSet<PathBuf>,
}

/// Loads. `env` looks up a variable.
pub fn load(mut sources: Sources, reach: Reach, env: &dyn Fn(&str) -> Option<OsString>) -> Loaded {
    let read = sources.read.take().unwrap_or_else(|| manifest::load(&sources.files));
    let mut loader = Loader::new(&sources, read, env);
    let mut input = loader.load(reach, sources);
    if let Ok(input) = &mut input {
        let warning = |file: &PathBuf| exposed::warning(file, "which holds a secret");
        input.warnings.extend(loader.secret_files().iter().filter_map(warning));
    }
    let (secrets, named) = (loader.secrets(), loader.named());
    Loaded { input, secrets, named }
}

struct Loader<'e> {
    outsides: Outsides<'e>,
    /// For backends that are trusted more than the documents: `--backends`.
    trusted: Option<Outsides<'e>>,
    manifests: Vec<RawDocument>,
    backends: Vec<RawDocument>,
    sets: Vec<RawDocument>,
    problems: Vec<Problem>,
    texts: HashMap<Arc<str>, Arc<Source>>,
    files: Vec<Arc<Source>>,
    env: &'e dyn Fn(&str) -> Option<OsString>,
    /// Secrets that only the base names, and passwords in the addresses of backends.
    earlier: BTreeSet<String>,
    /// Users' names in the clear, as the backends have them.
    names: BTreeSet<String>,
}

impl<'e> Loader<'e> {
    fn new(
        sources: &Sources,
        mut loaded: manifest::Loaded,
        env: &'e dyn Fn(&str) -> Option<OsString>,
    ) -> Loader<'e> {
        let mut outsides = Outsides::new(env, &sources.files);
        if !sources.allow_env.is_empty() {
            outsides = outsides.allow_env(&sources.allow_env);
        }
        let mut trusted = None;
        let mut passwords = BTreeSet::new();
        if !sources.backends.is_empty() {
            trusted = Some(Outsides::new(env, &sources.backends));
            outsides = outsides.secrets_below_roots();
            let own = manifest::load(&sources.backends);
            loaded.problems.extend(own.problems);
            let ignored = std::mem::replace(&mut loaded.backends, own.backends);
            passwords.extend(ignored.iter().filter_map(password_in_url));
            loaded.problems.extend(ignored.iter().map(ignored_backend));
        }
        passwords.extend(loaded.backends.iter().filter_map(password_in_url));
        let mut texts = HashMap::new();
        for raw in loaded.manifests.iter().chain(&loaded.backends).chain(&loaded.sets) {
            texts.entry(raw.source.file.clone()).or_insert_with(|| raw.source.clone());
        }
        Loader {
            outsides,
            trusted,
            manifests: loaded.manifests,
            backends: loaded.backends,
            sets: loaded.sets,
            problems: loaded.problems,
            texts,
            files: loaded.sources,
            env,
            earlier: passwords,
            names: BTreeSet::new(),
        }
    }

    fn load(&mut self, reach: Reach, mut sources: Sources) -> Result<Input, Vec<Problem>> {
        let registry = self.registry();
        let raws = std::mem::take(&mut self.manifests);
        let manifests = if sources.keep { raws.clone() } else { Vec::new() };
        let built = manifest::documents(raws, &registry, &mut self.outsides);
        let mut documents = built.documents;
        self.problems.extend(built.problems);
        self.problems.extend(built.unchecked.iter().map(|(backend, count)| unchecked(backend, *count)));
        let graph = Graph::build(&documents, &registry.kinds.borrow()).unwrap_or_else(|problems| {
            // What is named may be among what could not be judged.
            if built.unchecked.is_empty() {
                self.problems.extend(problems);
            }
            Graph::default()
        });
        let added = match sources.alone {
            true => Vec::new(),
            false => needed::add(&mut sources.selection, &mut documents, &graph),
        };
        let former = match &sources.saved {
            None => self.lay_base(&sources, &mut documents, &registry),
            Some(side) => self.lay_saved(&sources, side, &mut documents),
        };
        let record = sources.record.as_ref().and_then(|name| self.record(name, &sources.files));
        let written_sets = if sources.keep { self.sets.clone() } else { Vec::new() };
        let sets = self.sets(&mut documents, &registry);
        let replicas = built.replicas;
        let mut used: BTreeSet<Arc<str>> = documents.iter().map(|d| d.id.kind.backend.clone()).collect();
        let claims = sets.iter().chain(&replicas).flat_map(|set| &set.scope);
        used.extend(claims.map(|claim| claim.kind.backend.clone()));
        let lease = sources.lease.as_ref().map(|name| lease::find(name, &registry)).transpose();
        let lease = lease.unwrap_or_else(|problem| {
            self.problems.push(problem);
            None
        });
        used.extend(lease.iter().map(|lease| lease.id.kind.backend.clone()));
        let mut kinds = registry.kinds.into_inner();
        let backends = self.backends.clone();
        let connections = self.connections(&|backend| reach.takes(backend, &used, &kinds));
        kinds.sites = connections.iter().map(|one| (one.name.clone(), one.site())).collect();
        taint(&mut documents, &graph, &kinds);
        self.problems.extend(unique::doubles(&documents, &kinds));
        let (warnings, errors): (Vec<Problem>, Vec<Problem>) = std::mem::take(&mut self.problems)
            .into_iter()
            .map(|p| self.excerpted(p))
            .partition(|p| p.warning);
        if !errors.is_empty() && !planted!(M24) {
            return Err(in_order(warnings.into_iter().chain(errors).collect()));
        }
        if documents.is_empty() && sets.is_empty() && replicas.is_empty() && reach == Reach::Used {
            return Err(vec![no_documents()]);
        }
        let selection = sources.selection;
        Ok(Input {
            documents,
            graph,
            kinds,
            connections,
            backends,
            manifests,
            sets,
            replicas,
            written_sets,
            selection,
            added,
            warnings,
            former,
            record,
            lease,
        })
    }

    /// Gives the documents their base; what left them.
    fn lay_base(&mut self, sources: &Sources, documents: &mut [Document], registry: &Registry) -> Former {
        let base = sources.base.as_deref().map(|base| Base::open(base, &sources.files)).transpose();
        let base = match base {
            Ok(Some(base)) => base,
            Ok(None) => return Former::default(),
            Err(problem) => {
                self.problems.push(problem);
                return Former::default();
            }
        };
        let read = |file: &str, path: &str| base.text(file, path);
        let mut outsides = Outsides::new(self.env, &sources.files).earlier(&read);
        if !sources.allow_env.is_empty() {
            outsides = outsides.allow_env(&sources.allow_env);
        }
        if !sources.backends.is_empty() {
            outsides = outsides.secrets_below_roots();
        }
        let former = |document: &Document| {
            let kind = registry.kinds.borrow().get(&document.id.kind).cloned()?;
            rename::former(document, document.policy.was.as_ref()?, &kind).ok()
        };
        let mut build = |raws| manifest::documents(raws, registry, &mut outsides);
        let (found, problems) = base.lay(documents, &former, &mut build);
        self.earlier.extend(outsides.secrets().map(str::to_owned));
        self.problems.extend(problems);
        found
    }

    /// Gives the documents of a saved plan the base that came with it.
    fn lay_saved(&mut self, sources: &Sources, side: &SavedSide, documents: &mut [Document]) -> Former {
        let mut outsides = Outsides::new(self.env, &[]);
        if !sources.allow_env.is_empty() {
            outsides = outsides.allow_env(&sources.allow_env);
        }
        let selected = documents.iter_mut().filter(|document| sources.selection.takes(document));
        for (document, (base, secret_since)) in selected.zip(&side.documents) {
            document.policy.secret_since = *secret_since;
            document.base = match base {
                Laid::Present(past) => {
                    let mut past = Past::clone(past);
                    outsides.fill_variables(&mut past.spec);
                    Laid::Present(Arc::new(past))
                }
                other => other.clone(),
            };
        }
        self.earlier.extend(outsides.secrets().map(str::to_owned));
        side.former.clone()
    }

    /// Prepares to record what is applied.
    fn record(&mut self, name: &str, files: &[PathBuf]) -> Option<Record> {
        let record = Record::new(name, files, &self.files, self.outsides.files());
        self.problems.extend(record.as_ref().ok().and_then(|record| record.warning.clone()));
        record.map_err(|problem| self.problems.push(problem)).ok()
    }

    /// The Sets, with the documents that they claim told of them.
    fn sets(&mut self, documents: &mut [Document], registry: &Registry) -> Vec<Set> {
        let (sets, problems) =
            manifest::set::sets(std::mem::take(&mut self.sets), registry, &mut self.outsides);
        self.problems.extend(problems);
        self.problems.extend(manifest::set::join(documents, &sets, registry));
        sets
    }

    /// The kinds of all backends.
    fn registry(&mut self) -> Registry {
        let unread = self.problems.iter().any(|problem| !problem.warning);
        let (registry, problems) = Registry::read(&self.backends, unread);
        self.problems.extend(problems);
        registry
    }

    /// How the backends that are wanted are reached. What is known of the others is checked all the same.
    fn connections(&mut self, wanted: &dyn Fn(&str) -> bool) -> Vec<Connection> {
        let mut connections = Vec::new();
        for raw in std::mem::take(&mut self.backends) {
            // What has no name, and a preset that does not exist, was said when the kinds were read.
            let (Some(name), Ok(mut whole)) = (backend_name(&raw), preset::apply(&raw)) else { continue };
            let outsides = self.trusted.as_mut().unwrap_or(&mut self.outsides);
            let missing = outsides.fill(&mut whole.root, &raw.source);
            // Of an address from the environment as well.
            self.earlier.extend(password_in_url(&whole));
            let folder = Path::new(&*raw.source.file).parent().unwrap_or(Path::new(""));
            if wanted(&name) && missing.is_empty() {
                match language::connection(&whole, folder) {
                    Ok(connection) => {
                        self.names.extend(connection.username().map(str::to_owned));
                        connections.push(connection);
                    }
                    Err(problems) => self.add_new(problems),
                }
                continue;
            }
            if wanted(&name) {
                self.problems.extend(missing);
            }
            self.add_new(language::check_connection(&whole, folder));
        }
        connections
    }

    /// Adds problems that have not been said: kinds and connections are read from the same lines.
    fn add_new(&mut self, problems: Vec<Problem>) {
        for problem in problems {
            if !self.problems.contains(&problem) {
                self.problems.push(problem);
            }
        }
    }

    /// The texts of all secrets. A password that is the user's name is told by the name already, and hiding it
    /// would hide the user.
    fn secrets(&self) -> Vec<String> {
        let trusted = self.trusted.iter().flat_map(Outsides::secrets);
        let all = self.outsides.secrets().chain(trusted).chain(self.earlier.iter().map(String::as_str));
        all.filter(|secret| !self.names.contains(*secret)).map(str::to_owned).collect()
    }

    /// The files that values come from.
    fn named(&self) -> BTreeSet<PathBuf> {
        let trusted = self.trusted.iter().flat_map(Outsides::named);
        self.outsides.named().iter().chain(trusted).cloned().collect()
    }

    /// The files that secrets come from.
    fn secret_files(&self) -> BTreeSet<PathBuf> {
        let trusted = self.trusted.iter().flat_map(Outsides::secret_files);
        self.outsides.secret_files().iter().chain(trusted).cloned().collect()
    }

    /// The problem with the line that it points at.
    fn excerpted(&self, mut problem: Problem) -> Problem {
        if let (Some(origin), None) = (&problem.origin, &problem.excerpt) {
            let source = self.texts.get(&origin.file).cloned();
            source.iter().for_each(|source| source.show(&mut problem));
        }
        problem
    }
}

/// By file and place, as a person goes through them; first what has no place.
fn in_order(mut problems: Vec<Problem>) -> Vec<Problem> {
    let place = |problem: &Problem| problem.origin.as_ref().map(|origin| (origin.file.clone(), origin.at));
    problems.sort_by_cached_key(place);
    problems
}

/// Documents that name a backend which is wrong itself.
fn unchecked(backend: &str, count: usize) -> Problem {
    let were = if count == 1 { "1 document was".to_owned() } else { format!("{count} documents were") };
    let message = format!("{were} not checked: the backend `{backend}` cannot be read whole");
    Problem::new(message).warning()
}

fn no_documents() -> Problem {
    Problem::new("no documents in what `-f` names: there are only backends")
        .hint("add the manifests: a document begins with `apiVersion: BACKEND` and `kind: KIND`")
}

/// The password that stands in the address of a backend: it is refused there, and not shown.
fn password_in_url(raw: &RawDocument) -> Option<String> {
    let url = raw.root.get("spec")?.get("url")?.as_str()?;
    password_in(url).map(str::to_owned)
}

fn ignored_backend(raw: &RawDocument) -> Problem {
    let name = backend_name(raw).unwrap_or_default();
    Problem::new(format!("the backend `{name}` is ignored: `--backends` names the only ones"))
        .at(raw.origin())
        .warning()
}
