//! `trueup export`: live objects as manifests whose plan is empty, by a client that cannot write.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::asked::{self, Asked};
use super::folder::Folder;
use super::options::{Consents, Export};
use super::start;
use crate::core::exchange::Item;
use crate::core::exit::Exit;
use crate::core::identity::{Key, KindName, ObjectId};
use crate::core::kind::Kind;
use crate::core::mark;
use crate::core::problem::Problem;
use crate::core::redact::Redactor;
use crate::core::scrub::SECRET;
use crate::core::set::Set;
use crate::core::value::Value;
use crate::core::veil::Veil;
use crate::manifest::Selection;
use crate::manifest::exported::{self, Exported, Unfit};
use crate::render::exported::Export as Told;
use crate::render::out::{Format, Out};
use crate::run::input::Reach;
use crate::run::live::id_of;
use crate::run::walk::{Batch, Missed, Unlisted};

pub fn export(options: &Export, out: &mut Out) -> Exit {
    run(options, out).unwrap_or_else(|exit| exit)
}

fn run(options: &Export, out: &mut Out) -> Result<Exit, Exit> {
    let asked = Asked::all(&options.objects);
    let names = asked.iter().map(|one| one.kind.clone()).collect();
    let loaded = start::load("export", &options.sources, Reach::Kinds(names), out)?;
    asked::check(&asked, &loaded.input.kinds, out)?;
    let selection = loaded.input.selection.clone();
    let kinds = loaded.input.kinds.clone();
    let sets = loaded.input.sets.clone();
    let reached: Vec<Arc<str>> = loaded.input.connections.iter().map(|c| c.name.clone()).collect();
    let runner = start::open("export", loaded, options.effort, &Consents::default(), out)?;
    let wants = |name: &KindName| reached.contains(&name.backend) && asked::wants(&asked, name);
    let exported: Vec<KindName> = kinds.iter().map(|kind| kind.name.clone()).filter(&wants).collect();
    let sink = Sink::open(options.folder.as_deref(), &exported, out)?;
    start::block_on(start::one_thread(), options.effort, out, async |limits, out| {
        let mut job = Job::new(&asked, &selection, &sets, sink, out);
        let visited = start::in_time(runner.visit(&wants, true, &mut |batch| job.take(batch)), limits).await;
        match visited {
            Ok(Ok(missed)) => job.end(missed, exported.iter()),
            Ok(Err(problem)) => job.abandon(&problem),
            Err(ended) => {
                job.sink.abandon();
                ended.told(job.out)
            }
        }
    })
}

/// An object without its name, which must not be told.
fn nameless(id: &ObjectId) -> ObjectId {
    let parts = id.key.parts().iter().map(|(name, _)| (name.clone(), SECRET.into()));
    ObjectId { kind: id.kind.clone(), key: Key::new(parts.collect()) }
}

/// Where documents go.
enum Sink {
    /// Standard output as YAML, document by document; whether one was written.
    Yaml(bool),
    /// Standard output as one JSON text, at the end.
    Json,
    /// Standard output, a line a document.
    Ndjson,
    Folder(Folder),
}

impl Sink {
    fn open(folder: Option<&Path>, kinds: &[KindName], out: &mut Out) -> Result<Sink, Exit> {
        match (folder, out.format()) {
            (Some(path), _) => {
                Folder::open(path, kinds).map(Sink::Folder).map_err(|problem| start::failed(&problem, out))
            }
            (None, Format::Text | Format::Ci(_)) => Ok(Sink::Yaml(false)),
            (None, Format::Json) => Ok(Sink::Json),
            (None, Format::Ndjson) => Ok(Sink::Ndjson),
        }
    }

    fn abandon(&mut self) {
        if let Sink::Folder(folder) = self {
            folder.abandon();
        }
    }
}

/// An export under way.
struct Job<'j> {
    asked: &'j [Asked],
    selection: &'j Selection,
    /// Their owners' marks are added to what is managed, so no document states them.
    sets: &'j [Set],
    sink: Sink,
    out: &'j mut Out,
    told: Told,
    /// The kind that is being exported, and its keys so far.
    seen: (Option<KindName>, HashSet<Key>),
    /// What was asked for by name and is there, by its place among what was asked for.
    found: HashSet<usize>,
    failed: bool,
    /// What the system said to a write; nothing is written after it.
    broken: Option<Problem>,
}

impl<'j> Job<'j> {
    fn new(
        asked: &'j [Asked],
        selection: &'j Selection,
        sets: &'j [Set],
        sink: Sink,
        out: &'j mut Out,
    ) -> Job<'j> {
        Job {
            asked,
            selection,
            sets,
            sink,
            out,
            told: Told::default(),
            seen: (None, HashSet::new()),
            found: HashSet::new(),
            failed: false,
            broken: None,
        }
    }

    /// Takes the objects of a collection.
    fn take(&mut self, batch: Batch) {
        let Batch { kind, veils, items } = batch;
        if self.seen.0.as_ref() != Some(&kind.name) {
            self.seen = (Some(kind.name.clone()), HashSet::new());
        }
        let mut count: HashMap<Key, usize> = HashMap::new();
        for item in &items {
            *count.entry(item.key.clone()).or_default() += 1;
        }
        for item in items {
            let id = id_of(kind, &item);
            if !self.is_asked(&id) {
                continue;
            }
            let several = count.get(&item.key).is_some_and(|count| *count > 1);
            if several || !self.seen.1.insert(item.key.clone()) {
                self.leave_out(id, "another object has the same name".into(), true);
                continue;
            }
            self.object(kind, &item, id, &veils.over(&item));
        }
    }

    fn is_asked(&mut self, id: &ObjectId) -> bool {
        let slashed = id.slashed();
        let hits = self.asked.iter().enumerate().filter(|(_, one)| one.takes(&slashed));
        self.found.extend(hits.map(|(at, _)| at));
        asked::takes(self.asked, &slashed)
    }

    fn object(&mut self, kind: &Kind, item: &Item, id: ObjectId, veils: &[&Veil]) {
        let redactor = self.out.secrets().redactor();
        // What stands in the place of a secret may stand beside it as well, in a copy of another tool's.
        let names = Veil::by_names(&kind.fields);
        let all: Vec<&Veil> = veils.iter().copied().chain([&names]).collect();
        let own = Redactor::new(Veil::telling(&all, &item.value));
        let tells = |value: &Value| redactor.value(value) != *value || own.value(value) != *value;
        let unmarked = self.unmarked(kind, item, &id);
        match exported::of(kind, unmarked.as_ref().unwrap_or(item), &all, &tells) {
            Ok(document) => {
                if self.selection.takes_object(&document.id, &document.labels()) {
                    self.write(&document);
                }
            }
            Err(unfit) => {
                if self.selection.takes_object(&id, &Default::default()) {
                    let id = if unfit == Unfit::SecretName { nameless(&id) } else { id };
                    self.leave_out(id, unfit.to_string(), unfit.is_failure());
                }
            }
        }
    }

    /// An object of a Set without its mark, where that is one element of a list among others.
    fn unmarked(&self, kind: &Kind, item: &Item, id: &ObjectId) -> Option<Item> {
        let set = self.sets.iter().find(|set| set.claim_of(id, kind).is_some())?;
        let value = mark::without(kind.owner.as_ref()?, set.owner.as_deref()?, &item.value)?;
        Some(Item { value: Arc::new(value), ..item.clone() })
    }

    fn leave_out(&mut self, id: ObjectId, why: String, is_failure: bool) {
        self.failed |= is_failure;
        self.told.left_out.push((id, why));
    }

    fn write(&mut self, document: &Exported) {
        if self.broken.is_some() {
            return;
        }
        self.told.documents += 1;
        match &mut self.sink {
            Sink::Yaml(begun) => {
                let line = if std::mem::replace(begun, true) { "---\n" } else { "" };
                self.out.verbatim(&format!("{line}{}", document.yaml()));
            }
            Sink::Json => self.told.json.push(document.json()),
            Sink::Ndjson => self.out.verbatim(&crate::render::exported::line(&document.json())),
            Sink::Folder(folder) => self.broken = folder.add(&document.id.kind, &document.yaml()).err(),
        }
    }

    /// Says what cannot go on, and takes away what is half done.
    fn abandon(mut self, problem: &Problem) -> Exit {
        self.sink.abandon();
        start::failed(problem, self.out)
    }

    /// Tells what was done and what was not.
    fn end<'k>(mut self, missed: Missed, wanted: impl Iterator<Item = &'k KindName>) -> Exit {
        if let Sink::Folder(folder) = &mut self.sink {
            let broken = self.broken.take().or_else(|| folder.close().err());
            if let Some(problem) = broken {
                return self.abandon(&problem);
            }
            // What was not looked for says nothing of a file.
            let whole = self.selection.is_everything() && !self.asked.iter().any(Asked::names_objects);
            for stale in folder.stale(wanted.filter(|_| whole)) {
                let message = format!("`{}` is from before: there are no such objects now", stale.display());
                self.out.error(&Problem::new(message).hint("remove it").warning());
            }
            let files = folder.files.iter().map(|(path, count)| (path.display().to_string(), *count));
            self.told.files = Some(files.collect());
        }
        self.told.requests = missed.requests.total();
        self.out.exported(std::mem::take(&mut self.told));
        asked::failures(&missed.failures, self.out);
        let unlisted = self.unlisted(&missed);
        let found = std::mem::take(&mut self.found);
        let asked = self.asked;
        let place = |one: &Asked| asked.iter().position(|other| std::ptr::eq(one, other));
        let missing = asked::missing(asked, |one| place(one).is_some_and(|at| found.contains(&at)), self.out);
        let failed = self.failed || unlisted || !missed.failures.is_empty();
        if failed { Exit::Failed } else { missing }
    }

    /// Says which kinds could not be looked through; whether one of them was asked for.
    fn unlisted(&mut self, missed: &Missed) -> bool {
        let mut asked_for = false;
        for Unlisted { kind, why, hint } in &missed.unlisted {
            let is_asked = self.asked.iter().any(|one| *one.kind == *kind.kind);
            let problem = Problem {
                hint: hint.clone(),
                ..Problem::new(format!("no {} is exported: {why}", kind.kind))
            };
            self.out.error(&if is_asked { problem } else { problem.warning() });
            asked_for |= is_asked;
        }
        asked_for
    }
}
