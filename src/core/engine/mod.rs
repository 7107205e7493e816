//! The engine: the pass as a state machine that performs nothing.
//!
//! It is given an [`Event`] and the time, and answers with [`Effect`]s: requests to send, and when to be woken.
//! Every object goes the same way, level-triggered and without memory of what started it:
//!
//! ```text
//! blocked → observing → decided ─┬─ settled
//!              ↑                 └─ queued → writing ─┐
//!              └────────── waiting ←──────────────────┘   a write counts only once it was read back
//! ```
//!
//! `observe` asks, `decide` compares, `act` guards, `send` writes, `settle` ends an object and frees those that wait for it.

mod act;
mod along;
mod another;
pub mod backoff;
mod base;
mod below;
pub(crate) mod body;
mod breaker;
mod changed;
mod check;
mod collections;
mod contest;
mod create;
pub mod decide;
mod done;
pub mod failure;
mod family;
mod guard;
mod heirs;
mod hidden;
mod hold;
mod later;
mod left;
mod look;
mod look_first;
mod object;
mod observe;
mod operation;
mod owner;
pub mod pledge;
mod prune;
mod queue;
mod ramp;
pub mod random;
mod ready;
mod remake;
mod rename;
mod renew;
mod scout;
mod send;
mod settle;
mod setup;
mod stick;
mod successor;
mod unfinished;
mod unique;
mod written;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::base::Base;
use super::census::Census;
use super::document::{Document, Flags};
use super::exchange::{Answer, Ask, Body, Item, Write};
use super::family::Offspring;
use super::graph::Graph;
use super::identity::{Key, KindName, ObjectId};
use super::kind::{Kind, Kinds};
use super::node::{Node, Reference};
use super::path::Path;
use super::prune::Pruned;
use super::report::{Action, Outcome, Report};
use super::unfinished::Unfinished;
use super::unique::Held;
use super::value::Value;
use backoff::Budget;
use below::Looks;
use collections::Collections;
use decide::Seen;
use guard::Guards;
use object::{Object, Phase};
use prune::Pruning;
use ramp::Ramp;
use random::Random;
use unique::Uniques;

/// What the engine is to do with what it finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Observe and compare; every due action is reported, none is done.
    Plan,
    /// Do it, and read it back.
    Apply,
}

/// What a run may do, and the seed of its jitter.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Objects that may be deleted and created again, as `Kind/part/part`.
    pub replace: BTreeSet<String>,
    /// Objects whose write-only values are to be sent again, as `Kind/part/part`.
    pub rotate: BTreeSet<String>,
    /// Writes under way at once, for each backend.
    pub writes: usize,
    pub seed: u64,
    /// Whether the report is to say what a backend could say for what differs to be as good.
    pub suggest: bool,
    /// Whether what was seen of each object is kept to the end of the run: for explaining it.
    pub keep: bool,
    /// How often a listing, a read or a write is tried, at most. `None`: as often as suits a run that ends by itself.
    /// With 1, whoever makes the next run has the patience. Visibility is waited for all the same, and so is the end
    /// of an operation, and a race on a version is run again.
    pub attempts: Option<u32>,
    /// What differs at these paths and below is not written, and is nothing to do; the rest of the object is.
    pub frozen: BTreeMap<ObjectId, Vec<Path>>,
    /// Objects that are looked at, and never written.
    pub held: BTreeSet<ObjectId>,
    /// After so many writes, of one object each, the rest is refused.
    pub most_writes: Option<usize>,
    /// Where the flags are given that hints name.
    pub flags: Flags,
    /// Nobody sees a plan of this run before it is done: nothing goes that would take along what no document names.
    pub unattended: bool,
    /// What the run before left open.
    pub open: BTreeMap<ObjectId, Unfinished>,
    /// So long it waits for what the server finishes or shows later, and leaves the rest of that to the next run.
    /// `None`: as long as the kind says.
    pub waits: Option<Duration>,
    /// Values that only one object may have, and live objects in no document that have them and stay.
    pub taken: Vec<(Held, ObjectId)>,
}

/// One object as a run saw it.
#[derive(Clone, Debug)]
pub struct Specimen {
    pub kind: Arc<Kind>,
    /// The desired body, references resolved as far as they are known.
    pub spec: Node,
    pub observed: Option<Item>,
    /// What references name that stands in the clear, of objects that are left as they are.
    pub references: Vec<(Arc<str>, Value)>,
    /// What the base has of it.
    pub base: Base,
    /// Whether `trueup/secret-version` is not what it was there.
    pub secret_since: bool,
    /// Why it is to go, where no document says so.
    pub pruned: Option<Arc<Pruned>>,
    /// The texts of its secrets, which may stand elsewhere in it as well.
    pub secrets: Vec<String>,
}

/// A number that ties an answer to its request.
pub type RequestId = u64;

/// Something that happened.
#[derive(Debug)]
pub enum Event {
    Start,
    Answered(RequestId, Answer),
    /// The time that was asked for has come.
    Woke,
    /// No new write: end what is under way, and report.
    Stop(Stop),
}

/// Why a run is ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A signal.
    Signal,
    /// The time for the whole run is over.
    Timeout,
}

/// Something to be done.
#[derive(Debug)]
pub enum Effect {
    Ask(RequestId, Ask),
    Write(RequestId, Write),
    /// Send [`Event::Woke`] at this time, which replaces an earlier wish.
    WakeAt(Duration),
}

/// What an answer belongs to.
#[derive(Debug)]
enum Pending {
    List { collection: usize, asked: u64 },
    Read { object: usize, asked: u64 },
    Write { objects: Vec<usize> },
    Check { object: usize },
    Operation { object: usize },
    Look { look: usize, asked: u64 },
}

/// What a timer wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    Object(usize),
    Collection(usize),
    /// What is below objects that are to go.
    Look(usize),
    /// Writes of a collection that may stand still.
    Still(usize),
    /// Writes that a breaker holds.
    Writes,
}

/// The state machine of one run.
pub struct Engine {
    mode: Mode,
    options: Options,
    objects: Vec<Object>,
    collections: Collections,
    /// The keys of a kind that anyone wants whole.
    wanted: HashMap<KindName, Arc<HashSet<Key>>>,
    dependants: Vec<Vec<usize>>,
    /// Those right below an object, selected or not.
    children: Vec<Vec<usize>>,
    offspring: Offspring,
    looks: Looks,
    /// By object: those that have a field to be set once it is settled.
    waiters: HashMap<usize, Vec<usize>>,
    ramps: BTreeMap<Arc<str>, Ramp>,
    pending: HashMap<RequestId, Pending>,
    timers: BinaryHeap<Reverse<(Duration, Timer)>>,
    /// Objects whose gates have opened.
    open: VecDeque<usize>,
    /// Collections that have someone to serve.
    dirty: BTreeSet<usize>,
    effects: Vec<Effect>,
    budget: Budget,
    random: Random,
    now: Duration,
    /// Counts requests and answers: the order of observations and writes.
    count: u64,
    seen: Census,
    /// Writes that were sent, of one object each.
    sent: usize,
    unsettled: usize,
    /// What ends, in order; the first is being ended.
    ending: VecDeque<(usize, Outcome)>,
    stopped: Option<Stop>,
    pruning: Pruning,
    guards: Guards,
    uniques: Uniques,
}

impl Engine {
    /// A run over `documents`, linked by `graph`. Those that `selected` refuses are only looked at, and only as
    /// far as selected ones need them. `agreed` is the report of the plan that was confirmed.
    pub fn new(
        documents: Vec<Document>,
        graph: Graph,
        kinds: &Kinds,
        mode: Mode,
        options: Options,
        selected: &dyn Fn(&Document) -> bool,
        agreed: Option<&Report>,
    ) -> Engine {
        let mut objects = Vec::with_capacity(graph.nodes.len());
        let mut documents = documents.into_iter();
        for links in graph.nodes {
            let kind = kinds.get(&links.id.kind).expect("documents are made from their kinds").clone();
            objects.push(match documents.next() {
                Some(document) => {
                    let context = !selected(&document);
                    let mut object = Object::of_document(document, kind, links);
                    object.context = context;
                    object.policy.flags = options.flags;
                    object
                }
                None => Object::context(kind, links),
            });
        }
        let scouts = scout::scouts(&mut objects);
        let random = Random::new(options.seed);
        let mut engine = Engine {
            mode,
            options,
            dependants: vec![Vec::new(); objects.len()],
            children: vec![Vec::new(); objects.len()],
            offspring: Offspring::of(kinds),
            looks: Looks::default(),
            objects,
            waiters: HashMap::new(),
            collections: Collections::default(),
            wanted: HashMap::new(),
            ramps: BTreeMap::new(),
            pending: HashMap::new(),
            timers: BinaryHeap::new(),
            open: VecDeque::new(),
            dirty: BTreeSet::new(),
            effects: Vec::new(),
            budget: Budget::default(),
            random,
            now: Duration::ZERO,
            count: 0,
            seen: Census::default(),
            sent: 0,
            unsettled: 0,
            ending: VecDeque::new(),
            stopped: None,
            pruning: Pruning::default(),
            guards: Guards::default(),
            uniques: Uniques::with(scouts),
        };
        engine.know_renamed();
        engine.know_unique();
        engine.inherit();
        engine.set_waiters();
        engine.set_children();
        engine.leave_out_the_unneeded();
        engine.set_gates();
        engine.set_wanted();
        if let Some(report) = agreed {
            engine.agree(report);
        }
        engine
    }

    /// Takes an event at the time `now`, counted from the start of the run.
    pub fn step(&mut self, now: Duration, event: Event) -> Vec<Effect> {
        self.now = self.now.max(now);
        match event {
            Event::Start => self.start(),
            Event::Answered(id, answer) => self.answered(id, answer),
            Event::Woke => {}
            Event::Stop(why) => self.interrupt(why),
        }
        self.fire_timers();
        self.pump();
        if let Some(Reverse((at, _))) = self.timers.peek() {
            self.effects.push(Effect::WakeAt(*at));
        }
        std::mem::take(&mut self.effects)
    }

    /// Whether every object is settled and no write is under way.
    pub fn is_done(&self) -> bool {
        self.unsettled == 0 && !self.pending.values().any(|pending| matches!(pending, Pending::Write { .. }))
    }

    /// Settled objects and all objects.
    pub fn progress(&self) -> (usize, usize) {
        (self.objects.len() - self.unsettled, self.objects.len())
    }

    /// What the run came to. Objects that are not settled say so. Requests are counted at the edge.
    pub fn report(self) -> Report {
        let now = self.now;
        let own = |at: usize| if self.shows(at) { self.own_secrets(at) } else { Vec::new() };
        let own: Vec<Vec<String>> = (0..self.objects.len()).map(own).collect();
        let reported = self.objects.into_iter().zip(own);
        let reported = reported.filter(|(object, _)| !(object.context || object.is_given));
        let entry = |(mut object, own): (Object, _)| hidden::without(settle::entry(&mut object, now), own);
        Report {
            objects: reported.map(entry).collect(),
            seen: self.seen,
            interrupted: self.stopped == Some(Stop::Signal),
            ..Report::default()
        }
    }

    /// What the run knows of each object of the report, in its order: for explaining it.
    pub fn specimens(&self) -> Vec<Specimen> {
        let reported = self.objects.iter().enumerate().filter(|(_, object)| !object.context);
        let specimen = |(at, object): (usize, &Object)| Specimen {
            kind: object.kind.clone(),
            spec: self.spec(at).into_owned(),
            observed: match &object.seen {
                Seen::Present(item) => Some(item.clone()),
                _ => None,
            },
            references: self.settled_references(at),
            base: object.base.clone(),
            secret_since: object.policy.secret_since,
            pruned: object.policy.pruned.clone(),
            secrets: self.own_secrets(at),
        };
        reported.map(specimen).collect()
    }

    /// References by what they name, where that is no secret and nothing is due to it.
    fn settled_references(&self, at: usize) -> Vec<(Arc<str>, Value)> {
        let mut found = Vec::new();
        let object = &self.objects[at];
        object.spec.each_ref(&mut |reference, _| {
            let named = object.links.references.get(&reference.text).map(|named| &self.objects[*named]);
            let stays = named.is_some_and(|named| named.action == Action::None);
            let value = self.look(at, reference).filter(|_| stays && reference.secrets.is_empty());
            found.extend(value.map(|value| (reference.text.clone(), value)));
        });
        found
    }

    fn start(&mut self) {
        for at in 0..self.objects.len() {
            self.open_if_free(at);
        }
    }

    fn answered(&mut self, id: RequestId, answer: Answer) {
        self.count += 1;
        match self.pending.remove(&id) {
            Some(Pending::List { collection, asked }) => self.listed(collection, asked, answer),
            Some(Pending::Read { object, asked }) => self.read(object, asked, answer),
            Some(Pending::Write { objects }) => self.written(objects, answer),
            Some(Pending::Check { object }) => self.checked(object, answer),
            Some(Pending::Operation { object }) => self.followed(object, answer),
            Some(Pending::Look { look, asked }) => self.looked(look, asked, answer),
            None => {}
        }
    }

    fn fire_timers(&mut self) {
        while let Some(Reverse((at, timer))) = self.timers.peek().copied() {
            if at > self.now {
                break;
            }
            self.timers.pop();
            match timer {
                Timer::Object(object) => {
                    if matches!(self.objects[object].phase, Phase::Waiting) {
                        self.look_again(object);
                    }
                }
                Timer::Collection(collection) => {
                    self.dirty.insert(collection);
                }
                Timer::Look(look) => self.send_look(look),
                Timer::Still(collection) => self.look_whether_still(collection),
                // Writes are started after every event.
                Timer::Writes => {}
            }
        }
    }

    /// Does everything that can be done now.
    fn pump(&mut self) {
        loop {
            while let Some(object) = self.open.pop_front() {
                self.begin(object);
            }
            while let Some(collection) = self.dirty.pop_first() {
                self.serve(collection);
            }
            self.ready_put_off().into_iter().for_each(|object| self.decide(object));
            self.settle_spared();
            self.start_writes();
            let idle = self.open.is_empty() && self.dirty.is_empty();
            if idle && !self.begin_pruning() && !self.spare_no_longer() {
                return;
            }
        }
    }

    fn wake_at(&mut self, at: Duration, timer: Timer) {
        self.timers.push(Reverse((at, timer)));
    }

    fn new_request(&mut self, pending: Pending) -> RequestId {
        self.count += 1;
        self.pending.insert(self.count, pending);
        self.count
    }

    /// The value that a reference names, as far as its object is known.
    fn look(&self, object: usize, reference: &Reference) -> Option<Value> {
        let named = *self.objects[object].links.references.get(&reference.text)?;
        let named = &self.objects[named];
        let item = named.known()?;
        if let Some(name) = named.new_name(&reference.field) {
            return Some(name);
        }
        // What a plan replaces will have other values than it has now.
        if named.action == Action::Replace && named.outcome() == Some(&Outcome::Planned) && !named.context {
            return None;
        }
        if let Some(value) = reference.field.get(&item.value) {
            return Some(value.clone());
        }
        let is_id = reference.field.to_string() == "id";
        named.server_id.as_deref().filter(|_| is_id).map(Value::from)
    }
}

#[cfg(test)]
pub(crate) mod tests;
