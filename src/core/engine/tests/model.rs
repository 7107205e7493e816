//! A small server in memory that answers the engine, with faults at chosen requests and a virtual clock.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::make::key_of;
pub use super::make::{document, kind, reference};
use super::memory::Memory;
use crate::core::engine::Stop;
use crate::core::exchange::{
    Answer, Ask, Body, Failure, FailureClass, Item, Listing, Operation, Progress, Target, VersionToken,
    Wanted, Write,
};
use crate::core::identity::Key;
use crate::core::kind::{Kind, Kinds, Wait};
use crate::core::report::Explanation;
use crate::core::value::Value;

/// What goes wrong with a request.
#[derive(Clone, Debug)]
pub enum Fault {
    /// It is not done, and this is the answer.
    Fails(FailureClass),
    /// It is not done, and the server asks to wait.
    Asks(Duration),
    /// It is done, and the answer is lost.
    DoneAndLost,
    /// It is done, and this is the answer.
    DoneAndFails(FailureClass),
    /// The listing is cut.
    Incomplete,
    /// The read shows nothing.
    Hides,
    /// It is accepted, and nothing comes of it.
    Ignored,
}

/// One stored object.
#[derive(Clone, Debug)]
pub struct Stored {
    pub id: u64,
    pub value: Value,
    pub key: Key,
}

/// The server: objects by kind and key text, and what was done to it.
#[derive(Default)]
pub struct Model {
    pub kinds: Kinds,
    pub objects: BTreeMap<(Arc<str>, String), Vec<Stored>>,
    next_id: u64,
    /// The faults of the next requests of a sort: `("create", n)` is the n-th create from now, from 1.
    pub faults: BTreeMap<(&'static str, u32), Fault>,
    counts: BTreeMap<&'static str, u32>,
    /// `list Team`, `create Team a`, …: in order.
    pub log: Vec<String>,
    /// What the server makes of a value before it stores it.
    pub normalise: Option<fn(&mut Value)>,
    /// So many looks at an object after its creation say that it is not there.
    pub hidden_looks: u32,
    /// For so long after its creation an object is not to be seen.
    pub hidden_for: Duration,
    /// Only listings hide it: its own read shows it at once.
    pub lists_lag: bool,
    pub hidden_until: BTreeMap<u64, Duration>,
    /// The time: it goes on from run to run.
    pub now: Duration,
    /// What the server remembers of creates, by their keys.
    pub memory: Option<Memory>,
    hidden: BTreeMap<String, u32>,
    /// So many reads after an update show what was before it; the update is answered with 202.
    pub late_looks: u32,
    late: BTreeMap<String, (u32, Stored)>,
    /// Deleting an object deletes those whose key begins with its own.
    pub cascades: bool,
    /// A deletion only begins: the object is there as one that goes for so many looks more.
    pub lingers: Option<u32>,
    /// How long the last run took.
    pub took: Duration,
    /// Each deletion is answered with "it is not there".
    pub deaf: bool,
    /// Listings do not tell the ids.
    pub anonymous: bool,
    /// What dry runs are answered; by itself, what would be stored.
    pub opinion: Option<Answer>,
    /// What the next write is answered, undone.
    pub refusal: Option<Answer>,
    /// Whether the last dry run was to take over what others hold.
    pub forced: bool,
    /// Writes are operations that are waited for so, and these are the answers of all of them, in order; once
    /// there is none left, an operation is done.
    pub operations: Option<(Option<Wait>, VecDeque<Answer>)>,
    /// An update with another name renames the object.
    pub renames: bool,
    /// Names of objects that no write may have: one of several is refused with 422, alone with 400.
    pub poison: Vec<String>,
    /// A change by somebody else, made just before the next write.
    pub meddle: Option<fn(&mut Model)>,
    /// A second object of one name is refused.
    pub refuses_doubles: bool,
    /// The most writes that one step of the engine began.
    pub most_writes: usize,
    /// The one version of all objects, which each write moves; a write at another is refused.
    pub version: Option<u64>,
    /// Versions are weak tags: `true` where they are compared byte for byte, `false` where they never match.
    pub weak: Option<bool>,
    /// No write of what is there is taken without a version.
    pub strict: bool,
    /// Listings do not tell the versions.
    pub unversioned_lists: bool,
    /// What goes on at the server by itself, just before each look at it.
    pub at_look: Option<fn(&mut Model)>,
    /// Names of objects that listings leave out, and say nothing of it.
    pub left_out: Vec<String>,
    /// What the listings cannot read, as sentences.
    pub problems: Vec<String>,
    /// What the next look is answered with, whatever it asks.
    pub instead: Option<Answer>,
    /// The run is stopped in place of the event of this number.
    pub stop: Option<(u32, Stop)>,
    /// The bodies of all creates and updates, in order.
    pub bodies: Vec<Body>,
}

impl Model {
    pub fn new(kinds: Vec<Kind>) -> Model {
        let mut all = Kinds::default();
        kinds.into_iter().for_each(|kind| all.insert(kind));
        Model { kinds: all, ..Model::default() }
    }

    /// Puts an object on the server, as somebody else would.
    pub fn put(&mut self, kind: &str, key: &[(&str, &str)], value: Value) {
        self.next_id += 1;
        let key = key_of(key);
        let slot = self.objects.entry((kind.into(), key.to_string())).or_default();
        slot.push(Stored { id: self.next_id, value, key });
    }

    /// The value of an object.
    pub fn get(&self, kind: &str, name: &str) -> Option<&Value> {
        self.objects.get(&(kind.into(), name.into()))?.first().map(|stored| &stored.value)
    }

    /// The log's lines that change something.
    pub fn writes(&self) -> Vec<&str> {
        let asks = ["list", "read", "check", "ask "];
        let is_write = |line: &&str| !asks.iter().any(|ask| line.starts_with(ask));
        self.log.iter().map(String::as_str).filter(is_write).collect()
    }

    /// Nothing goes wrong any more, and what will be counts from now.
    pub fn forget_faults(&mut self) {
        self.faults.clear();
        self.counts.clear();
    }

    fn fault(&mut self, role: &'static str) -> Option<Fault> {
        let count = self.counts.entry(role).or_default();
        *count += 1;
        self.faults.remove(&(role, *count))
    }

    pub fn ask(&mut self, ask: &Ask) -> Answer {
        if let Some(at_look) = self.at_look {
            at_look(self);
        }
        if let Some(answer) = self.instead.take() {
            return answer;
        }
        match ask {
            Ask::List(collection, wanted) => {
                self.log
                    .push(format!("list {} {}", collection.kind.kind, collection.scope).trim_end().into());
                let fault = self.fault("list");
                if let Some(answer) = fault.as_ref().and_then(refusal) {
                    return answer;
                }
                let version = self.version().filter(|_| !self.unversioned_lists);
                let kind = self.kinds.get(&collection.kind).expect("a kind").clone();
                let stored = self.objects.iter().filter(|((kind, _), _)| *kind == collection.kind.kind);
                let scope = |s: &&Stored| {
                    let folded = |key: &Key, part: &str| kind.folded_part(key, part);
                    collection
                        .scope
                        .parts()
                        .iter()
                        .all(|(part, _)| folded(&s.key, part) == folded(&collection.scope, part))
                };
                let all: Vec<Item> = stored
                    .flat_map(|(_, s)| s)
                    .filter(scope)
                    .filter(|s| !self.left_out.contains(&s.key.to_string()))
                    .filter(|s| self.hidden_until.get(&s.id).is_none_or(|until| *until <= self.now))
                    .filter(|s| !is_hidden(&mut self.hidden, &format!("{} {}", collection.kind.kind, s.key)))
                    .map(|stored| Item {
                        server_id: item(stored).server_id.filter(|_| !self.anonymous),
                        version: version.clone(),
                        ..item(stored)
                    })
                    .collect();
                let seen = all.len();
                let (items, others): (Vec<Item>, Vec<Item>) =
                    all.into_iter().partition(|item| match wanted {
                        Wanted::All => true,
                        Wanted::Keys(keys) => keys.contains(&item.key),
                    });
                Answer::Listed(Listing {
                    items,
                    others: others.into_iter().map(|item| item.key).collect(),
                    seen,
                    incomplete: fault.map(|_| Box::new(Explanation::new("the listing was cut"))),
                    problems: self.problems.clone(),
                })
            }
            Ask::Read(target) => {
                self.log.push(format!("read {}", target.id));
                if let Some(answer) = self.fault("read").as_ref().and_then(refusal) {
                    return answer;
                }
                if is_hidden(&mut self.hidden, &target.id.to_string()) {
                    return Answer::Absent;
                }
                let late = self.late.get_mut(&target.id.to_string()).filter(|(looks, _)| *looks > 0);
                if let Some((looks, old)) = late {
                    *looks -= 1;
                    let old = old.clone();
                    return Answer::Found(item(&old));
                }
                if self.has_gone(target) {
                    return Answer::Absent;
                }
                let lags = self.lists_lag;
                let visible =
                    |s: &&Stored| lags || self.hidden_until.get(&s.id).is_none_or(|until| *until <= self.now);
                let found = self
                    .find(target)
                    .filter(visible)
                    .map(|stored| Item { version: self.version(), ..item(stored) });
                found.map_or(Answer::Absent, Answer::Found)
            }
            Ask::Check(write) => {
                self.log.push(format!("check {}", write.target().id));
                self.forced = write.target().forced;
                self.opinion.clone().unwrap_or_else(|| self.would_store(write))
            }
            Ask::Operation(target, operation) => {
                self.log.push(format!("ask {} of {}", operation.url, target.id));
                let next = self.operations.as_mut().and_then(|(_, answers)| answers.pop_front());
                next.unwrap_or(Answer::Progress(Progress::Done { server_id: None }))
            }
        }
    }

    /// What a write would leave behind.
    fn would_store(&self, write: &Write) -> Answer {
        let target = write.target();
        let (Write::Create(_, body) | Write::Update(_, body)) = write else {
            panic!("{write:?} has no dry run")
        };
        let old = self.find(target).map(|stored| &stored.value);
        let stored = Stored { id: 0, value: self.normalised(body, old), key: target.id.key.clone() };
        Answer::Found(item(&stored))
    }

    fn find(&self, target: &Target) -> Option<&Stored> {
        let slot = self.objects.get(&(target.id.kind.kind.clone(), target.id.key.to_string()))?;
        let by_id = target.server_id.as_deref();
        slot.iter().find(|s| by_id.is_none_or(|id| id == s.id.to_string()))
    }

    pub fn write(&mut self, write: &Write) -> Answer {
        if let Some(meddle) = self.meddle.take() {
            meddle(self);
        }
        let role = match &write.members()[0] {
            Write::Create(..) => "create",
            Write::Update(..) => "update",
            Write::Delete(_) => "delete",
            Write::Batch(_) => panic!("a batch in a batch"),
        };
        let names: Vec<String> = write.members().iter().map(|one| one.target().id.key.to_string()).collect();
        self.log.push(format!("{role} {} {}", write.target().id.kind.kind, names.join(" ")));
        self.bodies.extend(write.members().iter().filter_map(|one| match one {
            Write::Create(_, body) | Write::Update(_, body) => Some(body.clone()),
            _ => None,
        }));
        if names.len() > 1 && names.iter().any(|name| self.poison.contains(name)) {
            return failed(FailureClass::Status(422));
        }
        if names.iter().any(|name| self.poison.contains(name)) {
            return failed(FailureClass::Status(400));
        }
        if let Some(answer) = self.remembered(write) {
            return answer;
        }
        let fault = self.fault(role);
        if let Some(answer) = fault.as_ref().and_then(refusal) {
            self.remember(write, &answer);
            return answer;
        }
        if let Some(answer) = self.refusal.take() {
            return answer;
        }
        let answer = self.perform(write);
        self.remember(write, &answer);
        match (answer, &self.operations) {
            _ if fault.is_some() => failed(match fault {
                Some(Fault::DoneAndFails(class)) => class,
                _ => FailureClass::Lost,
            }),
            (Answer::Accepted { server_id, .. }, Some((wait, _))) => {
                let url = format!("/ops/{}", self.writes().len()).into();
                let operation = Operation { url, wait: wait.clone(), id: None, retry_after: None };
                Answer::Begun { operation, server_id }
            }
            (answer, _) => answer,
        }
    }

    fn version(&self) -> Option<VersionToken> {
        let weak = self.weak.is_some();
        self.version.map(|version| VersionToken { text: version.to_string().into(), weak })
    }

    fn perform(&mut self, write: &Write) -> Answer {
        let said = write.target().version.as_ref().filter(|said| !said.weak || write.target().tries_weak);
        if said.is_none() && self.strict && !matches!(write, Write::Create(..)) {
            return failed(FailureClass::Status(428));
        }
        if said.is_some_and(|said| Some(said) != self.version().as_ref() || self.weak == Some(false)) {
            return failed(FailureClass::Conflict);
        }
        self.version = self.version.map(|version| version + 1);
        match write {
            Write::Batch(writes) => {
                let answers: Vec<Answer> = writes.iter().map(|one| self.perform(one)).collect();
                let no = answers.into_iter().find(|answer| !matches!(answer, Answer::Accepted { .. }));
                no.unwrap_or(Answer::Accepted { server_id: None, pending: false, inside: None })
            }
            Write::Create(target, _) if self.refuses_doubles && self.find(target).is_some() => {
                failed(FailureClass::Exists)
            }
            Write::Create(target, body) => {
                let value = self.normalised(body, None);
                self.next_id += 1;
                let id = self.next_id;
                let slot = (target.id.kind.kind.clone(), target.id.key.to_string());
                let kind = self.kinds.get(&target.id.kind).expect("a kind").clone();
                let by_name = kind.readable_by_key();
                let stored = Stored { id, value, key: target.id.key.clone() };
                let slot = self.objects.entry(slot).or_default();
                if by_name {
                    slot.clear();
                }
                slot.push(stored);
                self.hidden.insert(target.id.to_string(), self.hidden_looks);
                self.hidden_until.insert(id, self.now + self.hidden_for);
                Answer::Accepted {
                    server_id: (!by_name).then(|| id.to_string().into()),
                    pending: false,
                    inside: None,
                }
            }
            Write::Update(target, body) => {
                let Some(old) = self.find(target).cloned() else { return Answer::Absent };
                let value = self.normalised(body, Some(&old.value));
                self.late.insert(target.id.to_string(), (self.late_looks, old.clone()));
                let slot = (target.id.kind.kind.clone(), target.id.key.to_string());
                for stored in self.objects.get_mut(&slot).into_iter().flatten().filter(|s| s.id == old.id) {
                    stored.value = value.clone();
                }
                if self.renames {
                    self.rename(&slot, old.id);
                }
                Answer::Accepted { server_id: None, pending: self.late_looks > 0, inside: None }
            }
            Write::Delete(_) if self.deaf => Answer::Absent,
            Write::Delete(target) if self.lingers.is_some() => {
                let slot = (target.id.kind.kind.clone(), target.id.key.to_string());
                let Some(stored) = self.objects.get_mut(&slot).and_then(|slot| slot.first_mut()) else {
                    return Answer::Absent;
                };
                stored.value["going"] = true.into();
                Answer::Accepted { server_id: None, pending: true, inside: None }
            }
            Write::Delete(target) => {
                let Some(old) = self.find(target).cloned() else { return Answer::Absent };
                let slot = (target.id.kind.kind.clone(), target.id.key.to_string());
                let left = self.objects.get_mut(&slot).expect("it is there");
                left.retain(|stored| stored.id != old.id);
                if self.cascades {
                    let below = format!("{}/", target.id.key);
                    self.objects.retain(|(_, key), _| !key.starts_with(&below));
                }
                Answer::Accepted { server_id: None, pending: false, inside: None }
            }
        }
    }

    /// Whether an object that was going is gone with this look.
    fn has_gone(&mut self, target: &Target) -> bool {
        let Some(looks) = self.lingers.filter(|_| self.find(target).is_some_and(is_going)) else {
            return false;
        };
        self.lingers = Some(looks.saturating_sub(1));
        let slot = (target.id.kind.kind.clone(), target.id.key.to_string());
        looks == 0 && self.objects.remove(&slot).is_some()
    }

    /// Moves an object to the name that its value has.
    fn rename(&mut self, slot: &(Arc<str>, String), id: u64) {
        let mut stored = self.objects.get_mut(slot).map(std::mem::take).unwrap_or_default();
        let Some(at) = stored.iter().position(|stored| stored.id == id) else { return };
        let mut one = stored.remove(at);
        self.objects.insert(slot.clone(), stored);
        let named = |(part, have): &(Arc<str>, Value)| {
            let name = one.value.get(&**part).cloned();
            (part.clone(), name.unwrap_or_else(|| have.clone()))
        };
        one.key = Key::new(one.key.parts().iter().map(named).collect());
        self.objects.entry((slot.0.clone(), one.key.to_string())).or_default().push(one);
    }

    fn normalised(&self, body: &Body, old: Option<&Value>) -> Value {
        let mut value = match body {
            Body::Object(value) => value.clone(),
            Body::Merge(patch) => {
                let mut value = old.cloned().unwrap_or_default();
                for (name, new) in patch.as_object().into_iter().flatten() {
                    value[name] = new.clone();
                }
                value
            }
            Body::JsonPatch(_) | Body::None => old.cloned().unwrap_or_default(),
        };
        if let Some(normalise) = self.normalise {
            normalise(&mut value);
        }
        value
    }
}

fn item(stored: &Stored) -> Item {
    let mut value = stored.value.clone();
    value["id"] = stored.id.into();
    if value.get("name").is_none() {
        value["name"] = stored.key.get("name").cloned().unwrap_or_default();
    }
    Item {
        key: stored.key.clone(),
        server_id: Some(stored.id.to_string().into()),
        version: None,
        value: Arc::new(value),
        deleting: is_going(stored),
        ready: stored.value.get("ready").and_then(Value::as_bool),
        ambiguous: Vec::new(),
    }
}

fn is_going(stored: &Stored) -> bool {
    stored.value["going"] == true
}

/// Whether an object is not visible yet; each look brings it nearer.
fn is_hidden(hidden: &mut BTreeMap<String, u32>, name: &str) -> bool {
    let looks = hidden.get_mut(name).filter(|looks| **looks > 0);
    looks.map(|looks| *looks -= 1).is_some()
}

/// The answer to what was not done.
fn refusal(fault: &Fault) -> Option<Answer> {
    match (fault, failed(FailureClass::Status(429))) {
        (Fault::Fails(class), _) => Some(failed(*class)),
        (Fault::Hides, _) => Some(Answer::Absent),
        (Fault::Ignored, _) => Some(Answer::Accepted { server_id: None, pending: false, inside: None }),
        (Fault::Asks(wait), Answer::Failed(failure)) => {
            Some(Answer::Failed(Failure { retry_after: Some(*wait), ..failure }))
        }
        _ => None,
    }
}

pub fn failed(class: FailureClass) -> Answer {
    Answer::Failed(Failure {
        class,
        message: format!("the server said {class:?}"),
        hint: None,
        retry_after: None,
    })
}
