//! The loop itself: what happens is taken in, and what is due is begun.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use super::super::digest::Digest;
use super::super::engine::backoff::{BASE, Budget};
use super::super::engine::random::Random;
use super::super::identity::ObjectId;
use super::super::mutant::planted;
use super::begin::Under;
use super::hint::{About, Class, Hint, Origin};
use super::hour::Hour;
use super::needs::Needing;
use super::object::{Object, Standing};
use super::open::Left;
use super::oscillation::Detector;
use super::pass::{Pass, PassId, Seen};
use super::queue::{Entry, Queue};
use super::resync::Groups;
use super::settings::Settings;
use super::status::{Condition, Counters};
use super::subject::Subject;
use super::target::Target;

/// Something that happened.
#[derive(Debug)]
pub enum Event {
    /// The desired set, whole: at the start, and whenever the files have changed and are valid. In the order of the
    /// documents.
    Desired(Vec<Subject>),
    Hint(Hint),
    /// Several at once, as one look at a collection finds them: their objects go in one pass.
    Hints(Vec<Hint>),
    /// A pass goes on, and is done with these: the answer to [`Effect::Collect`].
    Settled(PassId, Vec<Seen>),
    /// A pass goes on, and has found these otherwise than they are to be.
    AtWork(PassId, Vec<ObjectId>),
    /// A pass has ended. An object of the pass that is not among these was not settled.
    Ended(PassId, Vec<Seen>),
    /// The time that was asked for has come.
    Woke,
    /// No new pass: what is under way ends.
    Drain,
}

impl Event {
    /// What a person wants to be looked at, whatever stands in the way.
    pub fn wishes(&self) -> impl Iterator<Item = &About> {
        let hints = match self {
            Event::Hint(hint) => std::slice::from_ref(hint),
            Event::Hints(hints) => hints,
            _ => &[],
        };
        hints.iter().filter(|hint| hint.origin == Origin::Person).map(|hint| &hint.about)
    }
}

/// Something to be done.
#[derive(Debug, PartialEq)]
pub enum Effect {
    Pass(Pass),
    /// A pass takes long: send in [`Event::Settled`] what it is done with, also where that is nothing. Where it ends
    /// before, nothing is sent.
    Collect(PassId),
    /// Send [`Event::Woke`] at this time, which replaces an earlier wish.
    WakeAt(Duration),
    /// A condition's truth or reason is another one: for the log.
    Turned(ObjectId, Condition),
    /// A backend is away for this reason, and nothing but probes is sent to it: for the log.
    Left(Arc<str>, String),
    /// A backend that was away has answered: for the log.
    Back(Arc<str>),
    /// Something that is wrong with the loop as a whole, for the log.
    Warned(String),
}

/// The loop.
pub struct Loop {
    pub(super) settings: Settings,
    pub(super) detector: Detector,
    pub(super) random: Random,
    /// The time of the last step.
    pub(super) now: Duration,
    /// In the order of the documents; the place is the number of the object.
    pub(super) objects: Vec<Object>,
    pub(super) at: HashMap<ObjectId, usize>,
    /// Those that wait for another object.
    pub(super) blocked: BTreeSet<usize>,
    /// Those that are looked at again and again for nothing.
    pub(super) idle: BTreeSet<usize>,
    pub(super) idle_is_new: bool,
    /// When a line was logged about those.
    pub(super) idle_told: Option<Duration>,
    /// Objects for which no pass has ended since they were last wanted otherwise; `None` before anything was wanted.
    pub(super) unseen: Option<usize>,
    /// Backends that were met; the place is the number of the backend.
    pub(super) targets: Vec<Target>,
    /// How many of them anything is wanted of.
    pub(super) targets_used: usize,
    pub(super) target_at: BTreeMap<Arc<str>, usize>,
    pub(super) groups: Groups,
    /// Who is to be looked at when another one changes.
    pub(super) needing: Needing,
    pub(super) queue: Queue,
    pub(super) passes: BTreeMap<PassId, Under>,
    pub(super) last_pass: PassId,
    pub(super) budget: Budget,
    pub(super) hour: Hour,
    /// What passes left open, of objects that are wanted or were so lately.
    pub(super) open: BTreeMap<ObjectId, Left>,
    pub(super) flood: Option<String>,
    pub(super) counters: Counters,
    pub(super) effects: Vec<Effect>,
    /// The time of the last wish to be woken that was not fulfilled yet.
    asked: Option<Duration>,
    pub(super) drains: bool,
}

impl Loop {
    pub fn new(settings: Settings) -> Loop {
        Loop {
            random: Random::new(settings.seed),
            hour: Hour::new(settings.changes_an_hour, &settings.earlier_changes),
            settings,
            detector: Detector::default(),
            now: Duration::ZERO,
            objects: Vec::new(),
            at: HashMap::new(),
            blocked: BTreeSet::new(),
            idle: BTreeSet::new(),
            idle_is_new: false,
            idle_told: None,
            unseen: None,
            targets: Vec::new(),
            targets_used: 0,
            target_at: BTreeMap::new(),
            groups: Groups::default(),
            needing: Needing::new(),
            queue: Queue::default(),
            passes: BTreeMap::new(),
            last_pass: 0,
            budget: Budget::default(),
            open: BTreeMap::new(),
            flood: None,
            counters: Counters::default(),
            effects: Vec::new(),
            asked: None,
            drains: false,
        }
    }

    /// Takes an event at the time `now`, counted from the start of the loop by a clock that only goes forward.
    pub fn step(&mut self, now: Duration, event: Event) -> Vec<Effect> {
        self.now = self.now.max(now);
        match event {
            Event::Desired(subjects) => self.want(subjects),
            Event::Hint(hint) => self.hint(&hint),
            Event::Hints(hints) => hints.iter().for_each(|hint| self.hint(hint)),
            Event::Settled(pass, seen) => self.give_back(pass, &seen),
            Event::AtWork(pass, ids) => self.is_at_work(pass, &ids),
            Event::Ended(pass, seen) => self.end(pass, &seen),
            Event::Woke => self.asked = None,
            Event::Drain => self.drains = true,
        }
        if !self.drains {
            self.resync();
            self.queue.promote(self.now);
            self.begin_all();
            self.collect();
            self.ask_to_be_woken();
        }
        std::mem::take(&mut self.effects)
    }

    /// Whether nothing but probes is to be sent to a backend.
    pub fn holds(&self, target: &str) -> bool {
        self.target_at.get(target).is_some_and(|at| self.targets[*at].open.is_some())
    }

    /// Whether no pass is under way.
    pub fn is_idle(&self) -> bool {
        self.passes.is_empty()
    }

    /// Whether a pass has ended for every object since it was last wanted otherwise.
    pub fn has_seen_all(&self) -> bool {
        self.unseen == Some(0)
    }

    /// Entries in the queue and behind it.
    #[cfg(test)]
    pub(super) fn entries(&self) -> usize {
        self.queue.len() + self.objects.iter().filter(|object| object.again.is_some()).count()
    }

    fn hint(&mut self, hint: &Hint) {
        *self.counters.hints.entry(hint.origin).or_default() += 1;
        let members = match &hint.about {
            About::Object(id) => self.at.get(id).copied().into_iter().collect(),
            About::Group(name) => self.groups.members(name).unwrap_or_default().to_vec(),
            About::Target(name) => {
                let is_of = |at: &usize| self.objects[*at].subject.target() == name;
                (0..self.objects.len()).filter(is_of).collect()
            }
            About::All => (0..self.objects.len()).collect::<Vec<_>>(),
            About::Failing(name) => return self.bring_what_fails(name),
        };
        if members.is_empty() {
            self.counters.foreign += 1;
        }
        if hint.origin == Origin::Person {
            members.iter().for_each(|at| self.targets[self.objects[*at].target].hurry(self.now));
        }
        let is_news = members.into_iter().filter(|at| self.trigger(*at, hint.origin, hint.observed));
        let is_news: Vec<usize> = is_news.collect();
        // What is asked of all is asked of those that need them as well.
        if hint.origin.class() == Class::Event && hint.about != About::All {
            self.hint_needing(&is_news);
        }
    }

    /// Something asks for a pass of an object; false if it tells of the same as the hint before it.
    pub(super) fn trigger(&mut self, at: usize, origin: Origin, observed: Option<Digest>) -> bool {
        let object = &mut self.objects[at];
        let changed = observed.is_some_and(|digest| object.observed.replace(digest) != Some(digest));
        self.ask(at, origin, changed);
        changed || observed.is_none()
    }

    /// An object is to be another one than when it was looked at.
    pub(super) fn trigger_changed(&mut self, at: usize, origin: Origin) {
        self.ask(at, origin, true);
    }

    fn ask(&mut self, at: usize, origin: Origin, changed: bool) {
        let (now, class) = (self.now, origin.class());
        let object = &mut self.objects[at];
        object.pace.told(origin);
        let mut entry = Entry { changed, ..Entry::new(now, origin) };
        if class == Class::Event {
            entry.ready = object.pace.hinted(now);
            if object.running.is_none() {
                entry.ready = self.not_past_the_backoff(at, entry);
            }
        }
        self.enqueue(at, entry);
    }

    /// The objects of a group can be looked at again: what fails is tried soon, however long it was to wait.
    fn bring_what_fails(&mut self, group: &str) {
        for at in self.groups.members(group).unwrap_or_default().to_vec() {
            let object = &self.objects[at];
            if object.failures.is_failing {
                let ready = object.ended.map_or(self.now, |ended| self.now.max(ended + BASE));
                self.enqueue(at, Entry { changed: true, ..Entry::new(ready, Origin::Poll) });
            }
        }
    }

    /// When an event leads to a pass of an object that may be failing: only a change of what was observed brings the
    /// next attempt forward, and by no more than to the shortest backoff.
    pub(super) fn not_past_the_backoff(&self, at: usize, entry: Entry) -> Duration {
        let object = &self.objects[at];
        if !object.failures.is_failing || planted!(M15) {
            return entry.ready;
        }
        if entry.changed {
            return object.ended.map_or(entry.ready, |ended| entry.ready.max(ended + BASE));
        }
        let scheduled = self.queue.get(at).map(|entry| entry.ready);
        scheduled.or_else(|| self.groups.next_of(&object.subject.group)).unwrap_or(entry.ready)
    }

    /// Puts an object into the queue, not before it may be looked at again; while it is in a pass, for afterwards.
    pub(super) fn enqueue(&mut self, at: usize, mut entry: Entry) {
        let object = &mut self.objects[at];
        let is_new = match (object.running, &mut object.again) {
            (None, _) => {
                entry.ready = entry.ready.max(object.earliest(self.now, entry.class));
                self.queue.put(at, object.target, entry)
            }
            (Some(_), Some(again)) => {
                again.merge(entry);
                false
            }
            (Some(_), again @ None) => {
                *again = Some(entry);
                true
            }
        };
        self.counters.adds += u64::from(is_new);
    }

    /// Brings every group whose moment has come.
    fn resync(&mut self) {
        let (now, interval) = (self.now, self.settings.resync);
        while let Some(members) = self.groups.take_due(now, interval, &mut self.random) {
            for at in members {
                let object = &self.objects[at];
                let is_remembered = planted!(M21) && object.standing == Standing::InSync;
                // A pass that is under way looks as well.
                if object.running.is_none() && !is_remembered {
                    self.trigger(at, Origin::Resync, None);
                }
            }
        }
    }

    fn ask_to_be_woken(&mut self) {
        let probes = (0..self.targets.len()).filter_map(|target| {
            let open = self.targets[target].open.as_ref()?;
            let next = open.next().filter(|next| *next > self.now)?;
            self.queue.all_due(target).next().map(|_| next)
        });
        let next = probes.chain(self.queue.next()).chain(self.groups.next()).chain(self.next_collect()).min();
        if let Some(next) = next.filter(|_| next != self.asked) {
            self.asked = Some(next);
            self.effects.push(Effect::WakeAt(next));
        }
    }
}
