//! The desired set: what the files say, loaded, linked and ready for passes over any part of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use super::NotBegun;
use crate::backend::connection::Connection;
use crate::core::digest::Digest;
use crate::core::document::Document;
use crate::core::exit::Exit;
use crate::core::graph::Graph;
use crate::core::graph::part::Parts;
use crate::core::identity::{Key, KindName, ObjectId};
use crate::core::kind::Kinds;
use crate::core::problem::Problem;
use crate::core::prune::Former;
use crate::core::set::{Claim, Set};
use crate::core::value::plain_text;
use crate::core::watch::oscillation::stable::differences;
use crate::core::watch::{Subject, content, wish};
use crate::manifest::{self, Chosen, Selection};
use crate::run::input::{self, Input, Reach};
use crate::run::lease::LeaseObject;

/// Where the desired set is read from, again and again.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Files, folders, or `-`.
    pub files: Vec<PathBuf>,
    /// The only source of Backend documents, when not empty.
    pub backends: Vec<PathBuf>,
    /// Variables that documents may name; empty: all.
    pub allow_env: Vec<String>,
    pub selection: Selection,
    /// `--base`: a revision, or a folder. A revision that moves is found anew at each load.
    pub base: Option<String>,
    /// What standard input said, which is read once; `None` where `-` is not among the files.
    pub stdin: Option<Arc<[u8]>>,
    /// `--lease`
    pub lease: Option<String>,
    /// One number for the life of the process, for [`wish`].
    pub salt: u128,
}

/// What loading came to.
pub struct Loaded {
    /// A set that can be worked with, or all that is wrong.
    pub read: Result<Read, NotBegun>,
    /// To be kept out of all output, also where the set is wrong.
    pub secrets: Vec<String>,
    /// The files that documents and backends name, there or not: a change of one of them is a change of the set.
    pub named: BTreeSet<PathBuf>,
}

/// A valid desired set, and how its backends are reached.
pub struct Read {
    pub desired: Desired,
    pub connections: Vec<Connection>,
    pub lease: Option<LeaseObject>,
    pub warnings: Vec<Problem>,
}

/// A valid desired set.
pub struct Desired {
    pub documents: Vec<Document>,
    pub graph: Graph,
    pub kinds: Kinds,
    sets: Vec<Set>,
    /// What ReplicaSets claim.
    replicas: Vec<Set>,
    pub former: Former,
    /// The documents that were chosen, in their order.
    pub subjects: Vec<Subject>,
    /// Of what each backend is said to be: where it is another one, the same wish may mean something else.
    backends: BTreeMap<Arc<str>, Digest>,
    backend_files: Vec<Arc<str>>,
    /// Makes the part of the documents that a pass is about.
    pub parts: Parts,
    targets: BTreeSet<Arc<str>>,
    places: HashMap<ObjectId, usize>,
}

impl Source {
    /// The paths that it is read from.
    pub fn roots(&self) -> Vec<PathBuf> {
        let base = self.base.as_ref().map(PathBuf::from).filter(|base| base.is_dir());
        self.files.iter().chain(&self.backends).cloned().chain(base).collect()
    }

    /// Loads the whole set. Where that is not what was read before, which `before` has, it is loaded a second time:
    /// what differs then cannot be kept level with.
    pub fn load(&self, before: &[Subject]) -> Loaded {
        let Loaded { read, secrets, named } = self.load_once();
        let first = match read {
            // Of the first one only the wishes are kept: two sets at once are twice the memory.
            Ok(read) if read.desired.subjects != before => read.desired.subjects,
            read => return Loaded { read, secrets, named },
        };
        let mut last = self.load_once();
        last.secrets.extend(secrets);
        last.named.extend(named);
        if let Ok(read) = &last.read {
            let mut problems = unstable(&first, &read.desired.subjects);
            if !problems.is_empty() {
                // Of the first one nothing is there to tell what differs.
                let again = self.load_once();
                last.secrets.extend(again.secrets);
                if let Ok(again) = again.read {
                    name_paths(&read.desired.documents, &again.desired.documents, &mut problems);
                }
                last.read = Err(wrong(problems.into_values().collect()));
            }
        }
        last
    }

    /// Loads the whole set, and does not ask whether it is the same each time.
    pub fn load_once(&self) -> Loaded {
        let text = self.stdin.as_ref();
        let sources = input::Sources {
            files: self.files.clone(),
            backends: self.backends.clone(),
            allow_env: self.allow_env.clone(),
            selection: self.selection.clone(),
            base: self.base.clone(),
            lease: self.lease.clone(),
            read: text.map(|bytes| manifest::load_with(&self.files, &mut &bytes[..])),
            ..input::Sources::default()
        };
        let input::Loaded { input, secrets, named } =
            input::load(sources, Reach::Used, &|name| std::env::var_os(name));
        let read = input.map_err(wrong).and_then(|input| self.read(input));
        Loaded { read, secrets, named }
    }

    fn read(&self, input: Input) -> Result<Read, NotBegun> {
        let mut warnings = input.warnings;
        match input.selection.of(&input.documents) {
            Chosen::Some(more) => warnings.extend(more),
            Chosen::None(problem) => return Err(NotBegun { exit: Exit::Usage, problems: vec![problem] }),
        }
        let mut subjects = subjects(&input.documents, &input.kinds, &input.selection, self.salt);
        let places = input.documents.iter().enumerate().map(|(at, document)| (document.id.clone(), at));
        let places: HashMap<ObjectId, usize> = places.collect();
        for subject in &mut subjects {
            let needs =
                places.get(&subject.id).map(|at| input.graph.nodes[*at].follows()).unwrap_or_default();
            subject.needs = needs.into_iter().map(|at| input.graph.nodes[at].id.clone()).collect();
        }
        let backends = input.backends.iter().filter_map(|raw| {
            let name = raw.root.get("metadata")?.get("name")?.as_str()?;
            Some((Arc::from(name), content(&raw.root, self.salt)))
        });
        let desired = Desired {
            targets: subjects.iter().map(|subject| subject.target().clone()).collect(),
            subjects,
            parts: Parts::new(&input.documents, &input.graph),
            places,
            documents: input.documents,
            graph: input.graph,
            kinds: input.kinds,
            sets: input.sets,
            replicas: input.replicas,
            former: input.former,
            backends: backends.collect(),
            backend_files: input.backends.iter().map(|raw| raw.origin().file).collect(),
        };
        Ok(Read { desired, connections: input.connections, lease: input.lease, warnings })
    }
}

impl Desired {
    /// The places of these objects among the documents, as far as they are there.
    pub fn places<'i>(&self, ids: impl IntoIterator<Item = &'i ObjectId>) -> Vec<usize> {
        ids.into_iter().filter_map(|id| self.places.get(id).copied()).collect()
    }

    /// The backends of all documents, by name.
    pub fn targets(&self) -> &BTreeSet<Arc<str>> {
        &self.targets
    }

    /// What is looked through: what ReplicaSets claim, and where that is asked for, Sets.
    pub fn claimed(&self, prunes: bool) -> Vec<Set> {
        let sets = self.sets.iter().filter(|_| prunes);
        sets.chain(&self.replicas).cloned().collect()
    }

    /// The files of Sets and ReplicaSets, and of Backend documents.
    pub fn other_files(&self) -> impl Iterator<Item = &str> {
        let sets = self.sets.iter().chain(&self.replicas).map(|set| &*set.origin.file);
        sets.chain(self.backend_files.iter().map(|file| &**file))
    }

    /// All that Sets and ReplicaSets claim.
    pub fn claims(&self) -> impl Iterator<Item = &Claim> {
        self.sets.iter().chain(&self.replicas).flat_map(|set| &set.scope)
    }

    /// Whether [`Desired::claimed`] is nothing.
    pub fn claims_nothing(&self, prunes: bool) -> bool {
        self.replicas.is_empty() && (!prunes || self.sets.is_empty())
    }

    /// Whether the Sets claim otherwise than in `before`.
    pub fn sets_differ(&self, before: &Desired) -> bool {
        self.sets != before.sets || self.replicas != before.replicas
    }

    /// The kinds, as `BACKEND/KIND`, of which two processes that create the same object at once may make two: nothing in
    /// the request, the address or the backend's words keeps a server from it.
    pub fn doubling(&self) -> Vec<String> {
        let names: BTreeSet<&KindName> = self.subjects.iter().map(|subject| &subject.id.kind).collect();
        let kinds = names.into_iter().filter_map(|name| self.kinds.get(name));
        let doubles =
            kinds.filter(|kind| kind.creates_can_double() && !kind.knows_creates() && kind.exists.is_none());
        doubles.map(|kind| format!("{}/{}", kind.name.backend, kind.name.kind)).collect()
    }

    /// The backends that were somewhere else in `before`.
    pub fn moved<'d>(&'d self, before: &'d Desired) -> impl Iterator<Item = &'d Arc<str>> {
        let was = &before.kinds.sites;
        let sites = self.kinds.sites.iter();
        sites.filter(|(name, site)| was.get(*name).is_some_and(|old| old != *site)).map(|(name, _)| name)
    }

    /// The backends that are said to be otherwise than in `before`.
    pub fn redefined(&self, before: &Desired) -> Vec<Arc<str>> {
        let other = |(name, digest): &(&Arc<str>, &Digest)| before.backends.get(*name) != Some(*digest);
        self.backends.iter().filter(other).map(|(name, _)| name.clone()).collect()
    }
}

fn wrong(problems: Vec<Problem>) -> NotBegun {
    NotBegun { exit: Exit::BadInput, problems }
}

/// The documents that are chosen, as the loop knows them.
pub fn subjects(documents: &[Document], kinds: &Kinds, selection: &Selection, salt: u128) -> Vec<Subject> {
    let subject = |document: &Document| Subject {
        id: document.id.clone(),
        group: group_of(&document.id, kinds),
        desired: wish(document, salt),
        origin: document.origin.clone(),
        needs: Arc::from([]),
    };
    let mut subjects: Vec<Subject> =
        documents.iter().filter(|document| selection.takes(document)).map(subject).collect();
    // They are kept.
    subjects.shrink_to_fit();
    subjects
}

/// What is asked about together: the objects of a kind that one listing serves, by a name of their own.
pub fn group_of(id: &ObjectId, kinds: &Kinds) -> Arc<str> {
    match kinds.get(&id.kind) {
        Some(kind) => group(&id.kind, &kind.listing_scope(&id.key)),
        None => group(&id.kind, &Key::new(Vec::new())),
    }
}

/// The name of a group: `backend/Kind`, and what its listing names of the key.
pub fn group(kind: &KindName, scope: &Key) -> Arc<str> {
    let mut name = format!("{}/{}", kind.backend, kind.kind);
    for (_, value) in scope.parts() {
        name.push('/');
        // A slash in a value must not make it look like two.
        name.push_str(&plain_text(value).replace('%', "%25").replace('/', "%2F"));
    }
    name.into()
}

/// Documents that two loads of the same files want otherwise.
fn unstable(first: &[Subject], second: &[Subject]) -> BTreeMap<ObjectId, Problem> {
    let wishes: HashMap<&ObjectId, &Subject> = second.iter().map(|one| (&one.id, one)).collect();
    let other = |one: &&Subject| wishes.get(&one.id).is_none_or(|again| again.desired != one.desired);
    let told = |one: &Subject| (one.id.clone(), not_stable(one));
    let mut problems: BTreeMap<_, _> = first.iter().filter(other).map(told).collect();
    if first.len() < second.len() || !problems.is_empty() {
        let known: BTreeSet<&ObjectId> = first.iter().map(|one| &one.id).collect();
        problems.extend(second.iter().filter(|one| !known.contains(&one.id)).map(told));
    }
    problems
}

/// Tells on which paths the documents of two loads differ, as far as they do.
fn name_paths(first: &[Document], second: &[Document], problems: &mut BTreeMap<ObjectId, Problem>) {
    for unstable in differences(first, second) {
        let problem = unstable.problem();
        problems.entry(unstable.id).and_modify(|untold| *untold = problem);
    }
}

fn not_stable(subject: &Subject) -> Problem {
    let message =
        format!("`{}` is wanted otherwise each time the files are read (DesiredNotStable)", subject.id);
    Problem::new(message)
        .at(subject.origin.clone())
        .hint("its value comes from something that changes by itself: a pipe, or a file that is rewritten")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::node::{Origin, Pos};

    fn subject(name: &str, desired: u128) -> Subject {
        let kind = KindName { backend: "b".into(), kind: "K".into() };
        Subject {
            id: ObjectId { kind, key: Key::new(vec![("name".into(), name.into())]) },
            group: "b/K".into(),
            desired: Digest(desired),
            origin: Origin { file: "a.yaml".into(), at: Pos { line: 7, column: 1 } },
            needs: Arc::from([]),
        }
    }

    #[test]
    fn what_is_wanted_otherwise_each_time_is_told_by_name() {
        let first = [subject("a", 1), subject("b", 2)];
        assert_eq!(unstable(&first, &first), BTreeMap::new());
        let told = |second: &[Subject]| -> Vec<String> {
            unstable(&first, second).values().map(ToString::to_string).collect()
        };
        let other = told(&[subject("a", 1), subject("b", 3)]);
        assert_eq!(
            other,
            ["a.yaml:7:1: `K b` is wanted otherwise each time the files are read (DesiredNotStable)"]
        );
        assert_eq!(told(&[subject("a", 1)]).len(), 1, "one is gone");
        assert_eq!(told(&[subject("a", 1), subject("b", 2), subject("c", 3)]).len(), 1, "one more");
        assert_eq!(told(&[subject("a", 1), subject("c", 3)]).len(), 2, "one in the place of another");
    }

    #[test]
    fn what_differs_each_time_is_told_with_its_paths() {
        let folder = tempfile::tempdir().expect("a folder");
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("it is ours");
        write(
            "backend.yaml",
            "apiVersion: trueup/v1\nkind: Backend\nmetadata: {name: demo}\nspec: {url: \"http://127.0.0.1:1\", kinds: {Team: \
             {key: {name: .name}, read: \"GET /{name}\", create: \"PUT /{name}\"}}}\n",
        );
        let source = Source { files: vec![folder.path().to_owned()], ..Source::default() };
        let load = |size: u32| {
            let team = "apiVersion: demo\nkind: Team\nmetadata: {name: red}\n";
            write("a.yaml", &format!("{team}spec: {{kept: 1, size: {{of: {size}}}}}\n"));
            source.load(&[]).read.expect("the files are good").desired
        };
        let (one, two) = (load(1), load(2));
        let mut problems = unstable(&one.subjects, &two.subjects);
        name_paths(&one.documents, &two.documents, &mut problems);
        let told: Vec<&str> = problems.values().map(|problem| &*problem.message).collect();
        let want = "`Team red`: `size.of` differs between two loads of the same files (DesiredNotStable)";
        assert_eq!(told, [want]);
    }

    #[test]
    fn a_group_is_what_one_listing_serves() {
        let kind = KindName { backend: "b".into(), kind: "K".into() };
        let key = Key::new(vec![("vhost".into(), "/".into()), ("team".into(), "a%b".into())]);
        assert_eq!(&*group(&kind, &key), "b/K/%2F/a%25b", "a slash in a value is no other group");
        assert_eq!(&*group(&kind, &Key::new(Vec::new())), "b/K");
    }
}
