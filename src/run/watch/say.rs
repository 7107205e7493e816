//! What the log is told: a line for each condition that turns and each pass that writes, and none while nothing
//! happens.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::desired::Desired;
use crate::core::identity::ObjectId;
use crate::core::problem::Problem;
use crate::core::report::{Action, Entry, Outcome, Report};
use crate::core::secrets::Secrets;
use crate::core::set::OWN;
use crate::core::tally::Tally;
use crate::core::watch::{Condition, ConditionKind, Pass, PassId, Refused, Truth};
use crate::manifest::replicas;
use crate::render::out::Out;
use crate::render::watch::log::{self, Event, Form, Level};

/// So many lines of one sort are told of one event; the rest is counted.
const ALIKE: usize = 20;
/// So many objects are named in one line.
const NAMED: usize = 3;
/// So many paths of each.
const PATHS: usize = 8;

/// Tells the log.
pub struct Teller<'o> {
    out: &'o mut Out,
    form: Form,
    /// Only what is wrong is told.
    quiet: bool,
    /// Of which it was told that they are not as they should be: what is well again is only told of these.
    troubled: HashSet<(ObjectId, ConditionKind)>,
    /// What was told of the files last.
    problems: Vec<Problem>,
    /// What was told of objects that no document names.
    extra: BTreeMap<ObjectId, String>,
    /// What a guard keeps from being pruned, as it was found last.
    refused: Refused,
    /// What is not done for now, and why: sentences.
    held: BTreeMap<Hold, Vec<String>>,
}

/// What is not done for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hold {
    /// A backend is not asked, as it wants it so.
    Patience,
    /// What no document names is not deleted.
    Pruning,
    /// What a folder declared is not deleted, as it may only be away.
    Folders,
    /// What no document names is not deleted beside a pass, and one takes long.
    Passes,
}

impl<'o> Teller<'o> {
    pub fn new(out: &'o mut Out, form: Form, quiet: bool) -> Teller<'o> {
        let (troubled, problems, extra) = (HashSet::new(), Vec::new(), BTreeMap::new());
        let (refused, held) = (Refused::default(), BTreeMap::new());
        Teller { out, form, quiet, troubled, problems, extra, refused, held }
    }

    /// What is kept out of the log.
    pub fn secrets(&self) -> Secrets {
        self.out.secrets()
    }

    pub fn say(&mut self, event: &Event) {
        if !self.quiet || event.level != Level::Info {
            let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
            self.out.log(event, self.form, wall);
        }
    }

    /// Conditions have turned, all by one event.
    pub fn turned(&mut self, all: &[(ObjectId, Condition)], desired: &Desired) {
        let mut alike: BTreeMap<(ConditionKind, Truth, &str), usize> = BTreeMap::new();
        for (id, condition) in all {
            let about = (id.clone(), condition.kind);
            let news = match is_trouble(condition) {
                true => {
                    self.troubled.insert(about);
                    true
                }
                false => self.troubled.remove(&about),
            };
            let count = alike.entry((condition.kind, condition.truth, condition.reason)).or_default();
            *count += usize::from(news);
            if news && *count <= ALIKE {
                let place = desired.places([id]).first().map(|at| &desired.documents[*at].origin);
                self.say(&log::turned(id, place, condition));
            }
        }
        for ((kind, truth, reason), count) in alike.into_iter().filter(|(_, count)| *count > ALIKE) {
            let event = Event::info("and more objects alike")
                .with("condition", kind.word())
                .with("status", truth.word())
                .with("reason", reason);
            self.say(&event.with("objects", count - ALIKE));
        }
    }

    /// Forgets what was told of objects that are wanted no longer.
    pub fn keep_to(&mut self, desired: &Desired) {
        self.troubled.retain(|(id, _)| !desired.places([id]).is_empty());
        // What was found of other files says nothing of these.
        self.refused = Refused::default();
        self.held.remove(&Hold::Pruning);
    }

    /// A pass has ended.
    pub fn ended(&mut self, id: PassId, report: &Report, stuck: bool) {
        if stuck {
            self.say(&Event::error("pass made no progress").with("pass", id));
        }
        if let Some(event) = wrote("pass has written", report) {
            self.say(&event.with("pass", id));
        }
    }

    /// The files are no good. What was told before is not told again.
    pub fn invalid(&mut self, problems: &[Problem]) {
        if self.problems == problems {
            return;
        }
        self.problems = problems.to_vec();
        problems.iter().take(ALIKE).for_each(|problem| self.say(&log::invalid(problem)));
        if problems.len() > ALIKE {
            self.say(&Event::error("files are not valid").with("more", problems.len() - ALIKE));
        }
    }

    /// The files are good.
    pub fn loaded(&mut self, desired: &Desired, warnings: &[Problem]) {
        if self.problems != warnings {
            self.problems = warnings.to_vec();
            warnings.iter().for_each(|problem| self.warned("files have a warning", problem));
        }
        self.say(&log::loaded(desired.subjects.len()));
    }

    /// What is to stand in the status of what is not pruned.
    pub fn refused(&self) -> &Refused {
        &self.refused
    }

    /// What is to stand in the status of what is not done.
    pub fn warnings(&self) -> Vec<String> {
        self.held.values().flatten().cloned().collect()
    }

    /// All that is not done for now for one reason; true where that is another thing than before.
    pub fn held(&mut self, hold: Hold, held: Vec<String>) -> bool {
        let before = self.held.insert(hold, held.clone()).unwrap_or_default();
        let message = match hold {
            Hold::Patience => "backend asks for patience",
            Hold::Pruning | Hold::Folders | Hold::Passes => "pruning is held",
        };
        for sentence in held.iter().filter(|sentence| !before.contains(sentence)) {
            self.say(&Event::warn(message).with("detail", sentence.as_str()));
        }
        held != before
    }

    /// There is no lease: once it is told what a second instance beside this one could do twice.
    pub fn without_lease(&mut self, desired: &Desired) {
        let kinds = desired.doubling();
        let Some(first) = kinds.first() else { return };
        let more = match kinds.len() - 1 {
            0 => String::new(),
            1 => " and another kind".into(),
            more => format!(" and {more} other kinds"),
        };
        let message = format!(
            "a second watch over the same files could create objects twice: nothing in `{first}`{more} keeps a create from \
             being done again"
        );
        let hint = "run one, or all with `--lease`; or say `idempotency` or `exists` in the backend if the server knows \
                    creates by a key or keeps names unique";
        self.say(&Event::info("there is no lease").with("detail", message).with("hint", hint));
    }

    pub fn warned(&mut self, message: &'static str, problem: &Problem) {
        let mut event = Event::warn(message).with("detail", problem.message.as_str());
        if let Some(hint) = &problem.hint {
            event = event.with("hint", hint.as_str());
        }
        if let Some(origin) = &problem.origin {
            event = event.with("at", origin.to_string());
        }
        self.say(&event);
    }

    /// What no document names was looked through: `told` is left alone, `report` says what became of the rest.
    pub fn swept(&mut self, told: &[Entry], report: &Report) {
        if let Some(event) = wrote("pruning has deleted", report) {
            self.say(&event);
        }
        let all = || told.iter().chain(&report.objects);
        self.refused = Refused::of(all(), |_| false);
        let mut extra = BTreeMap::new();
        for entry in all().filter(|entry| entry.result != Outcome::Done) {
            let why = match entry.result.explanation() {
                Some(why) => why.message.clone(),
                None => format!("to {} it is due, and this watch does not write", entry.action.word()),
            };
            extra.insert(entry.id.clone(), why);
        }
        let news = |(id, why): &(&ObjectId, &String)| self.extra.get(*id) != Some(*why);
        let lines: Vec<Event> = extra.iter().filter(news).map(|(id, why)| unnamed(id, why)).collect();
        lines.iter().take(ALIKE).for_each(|event| self.say(event));
        if lines.len() > ALIKE {
            self.say(&Event::warn("object is in no document").with("more", lines.len() - ALIKE));
        }
        self.extra = extra;
    }
}

/// Whether a condition says that something is not as it should be.
fn is_trouble(condition: &Condition) -> bool {
    match condition.kind {
        ConditionKind::Synced | ConditionKind::Ready => condition.truth == Truth::False,
        _ => condition.truth == Truth::True,
    }
}

fn unnamed(id: &ObjectId, why: &str) -> Event {
    // What has too many members is no object of a backend, and in a document.
    if *id.kind.backend == *OWN && *id.kind.kind == *replicas::KIND {
        let event = Event::warn("ReplicaSet is not scaled down").with("name", id.key.to_string());
        return event.with("detail", why);
    }
    Event::warn("object is in no document")
        .with("backend", &*id.kind.backend)
        .with("kind", &*id.kind.kind)
        .with("name", id.key.to_string())
        .with("detail", why)
}

/// What was written, with the first names; `None` where nothing was.
fn wrote(message: &'static str, report: &Report) -> Option<Event> {
    let written: Vec<&Entry> = report.objects.iter().filter(|entry| entry.wrote).collect();
    let first = written.first()?;
    let done = Tally::of(report).done;
    let counts = [
        ("created", done.create),
        ("updated", done.update),
        ("replaced", done.replace),
        ("deleted", done.delete),
        ("unconfirmed", written.len() - done.total()),
    ];
    let names: Vec<String> = written.iter().take(NAMED).map(|entry| entry.id.to_string()).collect();
    let dots = if written.len() > NAMED { ", …" } else { "" };
    let event = Event::info(message).with("backend", &*first.id.kind.backend);
    let event = counts
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .fold(event, |event, (name, count)| event.with(name, count));
    let changed: Vec<String> = written.iter().take(NAMED).filter_map(|entry| changed(entry)).collect();
    let event = event.with("objects", format!("{}{dots}", names.join(", ")));
    Some(match changed.is_empty() {
        true => event,
        false => event.with("changed", changed.join("; ")),
    })
}

/// The first paths at which an object was changed in place.
fn changed(entry: &Entry) -> Option<String> {
    let mut paths =
        entry.changes.iter().filter(|_| entry.action == Action::Update).map(|change| &change.path);
    let named: Vec<String> = paths.by_ref().take(PATHS).map(ToString::to_string).collect();
    let dots = if paths.next().is_some() { ", …" } else { "" };
    (!named.is_empty()).then(|| format!("{}: {}{dots}", entry.id, named.join(", ")))
}

/// Why each object of a pass is looked at, as far as it is one reason.
pub fn cause(pass: &Pass) -> Option<&'static str> {
    let (_, first) = pass.objects.first()?;
    pass.objects.iter().all(|(_, origin)| origin == first).then(|| first.word())
}
