//! From what is due to passes.

use std::collections::BTreeMap;
use std::time::Duration;

use super::super::digest::Digest;
use super::super::identity::ObjectId;
use super::control::{Effect, Loop};
use super::hint::{Class, Origin};
use super::object::Standing;
use super::pass::Pass;
use super::release::LONG;

/// A line about idle passes is logged at most this often.
const QUIET: Duration = Duration::from_secs(60);

/// Writes of one object in a pass, at most: a replacement deletes and creates.
pub const WRITES: usize = 2;

/// A pass that is under way.
#[derive(Clone, Debug)]
pub struct Under {
    pub started: Duration,
    pub members: Vec<Member>,
    /// The backend it is for; `None` where a person waits for all.
    pub target: Option<usize>,
    /// It asks whether its backend is back.
    pub is_probe: bool,
    /// Writes of the hour that are kept for it.
    pub reserved: usize,
    /// It may write so many, for the sake of the hour; `Some(0)`: none.
    pub most: Option<usize>,
    /// It wrote so many of those that it has given back.
    pub written: usize,
    /// When it is asked what it is done with; `None` while it is being asked.
    pub ask: Option<Duration>,
}

/// An object of a pass, as it was at its start.
#[derive(Clone, Debug)]
pub struct Member {
    pub id: ObjectId,
    pub desired: Digest,
    pub origin: Origin,
    pub was_in_sync: bool,
    /// It is only looked at.
    pub is_held: bool,
    /// When the detector lets all of it be written again.
    pub thaws: Option<Duration>,
}

/// Whose turn it is.
enum Turn {
    /// All that is due of a class of one backend.
    Class(usize, Class),
    /// All for which a person waits.
    User,
    /// One object of a backend that is away.
    Probe(usize, usize),
}

impl Loop {
    /// Begins passes while there may be more.
    pub(super) fn begin_all(&mut self) {
        while self.passes.len() < self.settings.passes.max(1) {
            match self.whose_turn() {
                Some(Turn::Class(target, class)) => {
                    let objects = self.queue.due(target, class).map(|(_, at)| at).collect();
                    self.begin(objects, Some(target), false);
                }
                Some(Turn::User) => self.begin(self.waited_for(), None, false),
                Some(Turn::Probe(target, at)) => self.begin(vec![at], Some(target), true),
                None => break,
            }
        }
    }

    fn whose_turn(&self) -> Option<Turn> {
        let mut probes = (0..self.targets.len()).filter_map(|target| self.probe(target));
        if let Some(probe) = probes.next() {
            return Some(probe);
        }
        // A backend that hangs does not take all passes from the others.
        let most = match self.targets_used {
            0 | 1 => self.settings.passes.max(1),
            _ => self.settings.passes.div_ceil(2).max(1),
        };
        let may = |target: usize, class: Class| {
            let target = &self.targets[target];
            target.open.is_none() && (class == Class::User || target.passes < most)
        };
        match self.queue.first(self.now, may)? {
            (_, Class::User) => Some(Turn::User),
            (target, class) => Some(Turn::Class(target, class)),
        }
    }

    /// A probe that may start now: of the group that was probed least often.
    fn probe(&self, target: usize) -> Option<Turn> {
        let open = self.targets[target].open.as_ref().filter(|open| open.admits(self.now))?;
        let tried = |at: &usize| open.tried(&self.objects[*at].subject.group);
        self.queue.all_due(target).min_by_key(tried).map(|at| Turn::Probe(target, at))
    }

    /// All for which a person waits, of the backends that are not away, in the order in which they became due.
    fn waited_for(&self) -> Vec<usize> {
        let open = (0..self.targets.len()).filter(|target| self.targets[*target].open.is_none());
        let mut due: Vec<_> = open.flat_map(|target| self.queue.due(target, Class::User)).collect();
        due.sort_unstable();
        due.into_iter().map(|(_, at)| at).collect()
    }

    fn begin(&mut self, objects: Vec<usize>, target: Option<usize>, is_probe: bool) {
        self.last_pass += 1;
        let (id, now) = (self.last_pass, self.now);
        let left = if self.settings.dry_run { None } else { self.hour.left(now) };
        let most = left.map(|left| left.min(objects.len() * WRITES));
        let writes = !self.settings.dry_run && most != Some(0);
        let reserved = most.unwrap_or_default();
        self.hour.reserve(reserved);
        if let Some(target) = target {
            self.targets[target].passes += 1;
            let group = &self.objects[objects[0]].subject.group;
            if let Some(open) = self.targets[target].open.as_mut().filter(|_| is_probe) {
                open.started(id, group);
            }
        }
        let mut pass = Pass {
            id,
            objects: Vec::with_capacity(objects.len()),
            writes,
            most_writes: most.filter(|_| writes),
            frozen: BTreeMap::new(),
            held: Vec::new(),
            open: BTreeMap::new(),
        };
        let members = objects.into_iter().map(|at| self.join(at, &mut pass)).collect();
        self.tell_of_idle_ones();
        let (written, ask) = (0, Some(now + LONG));
        let under = Under { started: now, members, target, is_probe, reserved, most, written, ask };
        self.passes.insert(id, under);
        self.effects.push(Effect::Pass(pass));
    }

    /// Takes an object out of the queue and into a pass.
    fn join(&mut self, at: usize, pass: &mut Pass) -> Member {
        let now = self.now;
        let entry = self.queue.remove(at).expect("what is due is in the queue");
        let object = &mut self.objects[at];
        let id = object.subject.id.clone();
        (object.running, object.is_stale) = (Some(pass.id), false);
        object.pace.started(now);
        match object.pace.is_idle(now) {
            true => self.idle_is_new |= self.idle.insert(at),
            false => drop(self.idle.remove(&at)),
        }
        self.counters.waited.add(now.saturating_sub(entry.ready));
        match entry.class {
            Class::Retry => self.counters.retries += 1,
            _ => self.budget.first_attempt(),
        }
        // A pass that writes nothing is no probe of a freeze.
        let freeze = if pass.writes { self.detector.freeze(now, &id) } else { Default::default() };
        if freeze.whole {
            pass.held.push(id.clone());
        }
        if !freeze.paths.is_empty() {
            pass.frozen.insert(id.clone(), freeze.paths);
        }
        if let Some(left) = self.open.get(&id) {
            pass.open.insert(id.clone(), left.as_of(now));
        }
        pass.objects.push((id.clone(), entry.origin));
        Member {
            id,
            desired: object.subject.desired,
            origin: entry.origin,
            was_in_sync: object.standing == Standing::InSync,
            is_held: freeze.whole,
            thaws: freeze.until,
        }
    }

    /// Logs one line, if there are new ones that are looked at again and again for nothing.
    fn tell_of_idle_ones(&mut self) {
        if self.idle_is_new && self.idle_told.is_none_or(|told| self.now >= told + QUIET) {
            self.idle_told = Some(self.now);
            self.effects.extend(self.idle_warning().map(Effect::Warned));
        }
        self.idle_is_new = false;
    }
}
