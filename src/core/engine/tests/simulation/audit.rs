//! The invariants, checked on each request and each answer as it passes.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use super::makes::Profile;
use super::scene::{Declared, Scene, declared};
use crate::core::document::Ensure;
use crate::core::engine::failure::{AfterWrite, after_write};
use crate::core::engine::{Mode, RequestId};
use crate::core::exchange::{Answer, Ask, Collection, FailureClass, Item, Listing, Target, Write};
use crate::core::identity::ObjectId;
use crate::core::kind::Serial;
use crate::core::report::{Action, Report};

/// What an observation showed of an object.
#[derive(Clone, Debug, PartialEq)]
enum Shown {
    Absent,
    Present(String),
    Several,
}

#[derive(Clone, Debug)]
struct Look {
    asked: u64,
    told: u64,
    shown: Shown,
    /// By a read of the object alone.
    by_read: bool,
}

/// What passed about one object.
#[derive(Default)]
struct Trail {
    looks: Vec<Look>,
    /// When the answer to the last write came.
    fence: u64,
    writing: bool,
    sets: u32,
    deletes: u32,
    /// Writes whose answers left it open.
    perhaps: u32,
    writes: Vec<Action>,
    attempts: u32,
}

/// More requests than any object needs in a run: two writes, a deletion, five rounds each of races and of outages.
const ATTEMPTS: u32 = 20;

pub struct Audit {
    scene: Rc<Scene>,
    mode: Mode,
    most: usize,
    trails: Vec<Trail>,
    at: HashMap<ObjectId, usize>,
    /// What the confirmed plan would destroy.
    agreed: Option<HashSet<ObjectId>>,
    asks: BTreeMap<RequestId, (u64, Ask)>,
    writes: BTreeMap<RequestId, Write>,
    /// Writes that were refused at their version.
    pub conflicts: u32,
    clock: u64,
    stopped: bool,
    pub broken: Vec<String>,
}

fn action(write: &Write) -> Action {
    match write {
        Write::Create(..) => Action::Create,
        Write::Update(..) => Action::Update,
        Write::Delete(_) => Action::Delete,
        Write::Batch(writes) => action(&writes[0]),
    }
}

impl Audit {
    pub fn new(scene: Rc<Scene>, mode: Mode, most: usize, agreed: Option<&Report>) -> Audit {
        let destroys = |report: &Report| {
            let entries = report.objects.iter();
            let doomed = entries.filter(|e| matches!(e.action, Action::Delete | Action::Replace));
            doomed.map(|entry| entry.id.clone()).collect()
        };
        Audit {
            mode,
            most,
            trails: scene.documents.iter().map(|_| Trail::default()).collect(),
            at: scene.documents.iter().enumerate().map(|(at, d)| (d.id.clone(), at)).collect(),
            agreed: agreed.map(destroys),
            asks: BTreeMap::new(),
            writes: BTreeMap::new(),
            conflicts: 0,
            clock: 0,
            stopped: false,
            broken: Vec::new(),
            scene,
        }
    }

    fn broke(&mut self, what: String) {
        self.broken.push(what);
    }

    pub fn stopped(&mut self) {
        self.stopped = true;
    }

    /// The writes that were sent, by document, but for those that were refused at their version, or for a name that
    /// is still taken.
    pub fn written(&self, at: usize) -> &[Action] {
        &self.trails[at].writes
    }

    /// Whether a write of an object was accepted, and whether one perhaps was.
    pub fn was_accepted(&self, at: usize) -> (bool, bool) {
        let trail = &self.trails[at];
        let surely = trail.sets + trail.deletes > 0;
        (surely, surely || trail.perhaps > 0)
    }

    /// Whether what was written was looked at after it; true for what was not written.
    pub fn was_read_back(&self, at: usize) -> bool {
        let trail = &self.trails[at];
        trail.fence == 0 || trail.looks.iter().any(|look| look.asked > trail.fence)
    }

    pub fn asked(&mut self, id: RequestId, ask: &Ask) {
        self.clock += 1;
        if let (Ask::Check(write), Mode::Apply) = (ask, self.mode) {
            self.broke(format!("{}: a dry run beside the writes", write.target().id));
        }
        self.asks.insert(id, (self.clock, ask.clone()));
    }

    pub fn wrote(&mut self, id: RequestId, write: &Write) {
        self.clock += 1;
        if self.writes.len() >= self.most {
            self.broke(format!("{}: more writes are under way than may be", write.target().id));
        }
        self.is_one_batch(write);
        write.members().iter().for_each(|one| self.wrote_one(one));
        self.writes.insert(id, write.clone());
    }

    /// What goes together is of one sort, below one parent, within the kind's number.
    fn is_one_batch(&mut self, write: &Write) {
        let members = write.members();
        if members.len() == 1 {
            return;
        }
        let at = self.at[&write.target().id];
        let kind = self.scene.kind(at);
        let most = kind.op_for(action(write)).and_then(|op| op.batch).unwrap_or(1);
        let alike = |one: &Write| {
            let (id, first) = (&one.target().id, &write.target().id);
            action(one) == action(write) && id.kind == first.kind && id.key.get("in") == first.key.get("in")
        };
        let names: HashSet<&ObjectId> = members.iter().map(|one| &one.target().id).collect();
        if members.len() > most || !members.iter().all(alike) || names.len() < members.len() {
            self.broke(format!("{} objects of {} do not belong together", members.len(), kind.name.kind));
        }
    }

    fn wrote_one(&mut self, write: &Write) {
        let object = write.target().id.clone();
        let at = self.at[&object];
        let action = action(write);
        let mut broken = Vec::new();
        let mut hold = |holds: bool, what: &str| {
            if !holds {
                broken.push(format!("{} {object}: {what}", action.word()));
            }
        };
        hold(self.mode == Mode::Apply, "I15: a plan writes");
        hold(!self.stopped, "X2: a write begins after the end was asked for");
        hold(self.scene.selected[at], "an object that was not selected is written");
        hold(self.lane_is_free(at), "I11: two writes of one lane are under way");
        let trail = &self.trails[at];
        hold(!trail.writing, "I11: two writes of one object are under way");
        hold(trail.sets < 2 || action == Action::Delete, "I3: a third write that sets values");
        hold(trail.deletes < 1 || action != Action::Delete, "I3: a second deletion");
        hold(self.is_known(at, write), "I8, I10: it rests on no observation made after the last write");
        if action == Action::Delete {
            let agreed = self.agreed.as_ref().is_none_or(|agreed| agreed.contains(&object));
            hold(agreed, "I5: it is outside what was confirmed");
            hold(
                self.was_read_live(at, write.target()),
                "I9: no live read after the decision shows the same id",
            );
            hold(self.is_needed_by_none(at), "I5: what needs it is still there");
            hold(!self.scene.documents[at].policy.protected, "I5: it is protected");
        } else {
            hold(self.has_what_it_needs(at), "I8: what it needs was not seen");
        }
        hold(!self.scene.documents[at].policy.paused, "it is paused");
        self.broken.extend(broken);
        let trail = &mut self.trails[at];
        trail.writing = true;
        trail.writes.push(action);
        trail.attempts += 1;
        if trail.attempts > ATTEMPTS {
            self.broke(format!("I3: {object} is written over and over"));
        }
    }

    fn lane_is_free(&self, at: usize) -> bool {
        let kind = self.scene.kind(at);
        let mut busy = self.writes.values().map(|write| &write.target().id).filter(|id| id.kind == kind.name);
        let own = &self.scene.documents[at].id.key;
        match &kind.serial {
            Serial::No => true,
            Serial::Backend => busy.next().is_none(),
            Serial::Part(part) => !busy.any(|id| id.key.get(part) == own.get(part)),
        }
    }

    fn is_known(&self, at: usize, write: &Write) -> bool {
        let trail = &self.trails[at];
        trail.looks.iter().filter(|look| look.asked > trail.fence).any(|look| match write {
            Write::Create(..) => look.shown == Shown::Absent,
            _ => matches!(look.shown, Shown::Present(_)),
        })
    }

    fn was_read_live(&self, at: usize, target: &Target) -> bool {
        let trail = &self.trails[at];
        let present = |look: &&Look| matches!(look.shown, Shown::Present(_));
        let Some(decided) = trail.looks.iter().find(present) else { return false };
        let live = trail.looks.iter().filter(|look| look.asked > trail.fence && look.asked > decided.told);
        // The look on which the decision rests has shown the same object.
        let shows = |live: &Look| {
            let decided = trail.looks.iter().any(|look| look.told < live.asked && look.shown == live.shown);
            decided && matches!(&live.shown, Shown::Present(id) if target.server_id.as_deref() == Some(id))
        };
        // A read is of the object alone, so the last counts. A listing may have been asked for another object while
        // the deletion waited for its turn, and may lag: one that the decision waited for has to show it.
        match live.clone().filter(|look| look.by_read).max_by_key(|look| look.asked) {
            Some(last) => shows(last),
            None => live.into_iter().any(shows),
        }
    }

    /// What is to go and needs the object was last seen to be absent, or was never seen.
    fn is_needed_by_none(&self, at: usize) -> bool {
        let nodes = self.scene.graph.nodes.iter().zip(&self.scene.documents).enumerate();
        let holders = nodes.filter(|(_, (node, document))| {
            document.policy.ensure == Ensure::Absent && node.needs().contains(&at)
        });
        let gone = |holder: usize| {
            let trail = &self.trails[holder];
            let absent = |look: &Look| look.shown == Shown::Absent && look.asked > trail.fence;
            trail.looks.is_empty() || trail.looks.iter().any(absent)
        };
        self.scene.documents[at].policy.ensure != Ensure::Absent
            || holders.filter(|(holder, _)| self.scene.selected[*holder]).all(|(holder, _)| gone(holder))
    }

    fn has_what_it_needs(&self, at: usize) -> bool {
        let seen = |need: &usize| {
            self.trails[*need].looks.iter().any(|look| matches!(look.shown, Shown::Present(_)))
        };
        let depends = self.scene.graph.nodes[at].needs();
        let referred = declared(&self.scene.documents[at]).any(|(_, want)| matches!(want, Declared::IdOf(_)));
        depends.iter().all(seen) || (!referred && depends.is_empty())
    }

    pub fn answered(&mut self, id: RequestId, answer: &Answer) {
        self.clock += 1;
        if let Some(write) = self.writes.remove(&id) {
            return write.members().iter().for_each(|one| self.write_answered(one, answer));
        }
        let Some((asked, ask)) = self.asks.remove(&id) else {
            return self.broke(format!("an answer to no request: {id}"));
        };
        match (&ask, answer) {
            (Ask::Read(target), Answer::Found(item)) => self.look(&target.id, asked, present(item), true),
            (Ask::Read(target), Answer::Absent) => self.look(&target.id, asked, Shown::Absent, true),
            (Ask::List(collection, _), Answer::Listed(listing)) => self.listed(collection, asked, listing),
            (Ask::List(collection, _), Answer::Failed(failure))
                if failure.class == FailureClass::Status(404) =>
            {
                self.nothing_there(collection, asked);
            }
            _ => {}
        }
    }

    /// Some APIs have no list of nothing: of what is to go, and whose id names nothing, that is a look.
    fn nothing_there(&mut self, collection: &Collection, asked: u64) {
        for at in 0..self.trails.len() {
            let document = &self.scene.documents[at];
            if is_in(collection, &document.id) && document.policy.ensure == Ensure::Absent {
                let id = document.id.clone();
                self.look(&id, asked, Shown::Absent, false);
            }
        }
    }

    fn write_answered(&mut self, write: &Write, answer: &Answer) {
        let clock = self.clock;
        let at = self.at[&write.target().id];
        let profile = self.scene.manners[at].profile;
        let trail = &mut self.trails[at];
        trail.writing = false;
        trail.fence = clock;
        if matches!(answer, Answer::Failed(failure) if failure.class == FailureClass::Conflict) {
            trail.writes.pop();
            self.conflicts += 1;
        }
        // The name of what this run has deleted is still taken, which no plan can know.
        let is_taken = matches!(answer, Answer::Failed(failure) if failure.class == FailureClass::Exists);
        if is_taken && trail.deletes > 0 && profile == Profile::P9 {
            trail.writes.pop();
        }
        if let Answer::Failed(failure) = answer {
            trail.perhaps += u32::from(after_write(failure) == AfterWrite::Uncertain);
        }
        if matches!(answer, Answer::Accepted { .. } | Answer::Begun { .. }) {
            match write {
                Write::Delete(_) => trail.deletes += 1,
                _ => trail.sets += 1,
            }
        }
    }

    fn look(&mut self, id: &ObjectId, asked: u64, shown: Shown, by_read: bool) {
        let told = self.clock;
        if let Some(at) = self.at.get(id) {
            self.trails[*at].looks.push(Look { asked, told, shown, by_read });
        }
    }

    fn listed(&mut self, collection: &Collection, asked: u64, listing: &Listing) {
        let mut shown: HashMap<&crate::core::identity::Key, Shown> = HashMap::new();
        for item in &listing.items {
            let several = shown.contains_key(&item.key);
            shown.insert(&item.key, if several { Shown::Several } else { present(item) });
        }
        let whole = listing.incomplete.is_none() && listing.problems.is_empty();
        for at in 0..self.trails.len() {
            let id = self.scene.documents[at].id.clone();
            if !is_in(collection, &id) {
                continue;
            }
            match shown.get(&id.key) {
                Some(shown) => self.look(&id, asked, shown.clone(), false),
                None if whole && !listing.others.contains(&id.key) => {
                    self.look(&id, asked, Shown::Absent, false)
                }
                None => {}
            }
        }
    }
}

fn is_in(collection: &Collection, id: &ObjectId) -> bool {
    id.kind == collection.kind
        && collection.scope.parts().iter().all(|(part, value)| id.key.get(part) == Some(value))
}

fn present(item: &Item) -> Shown {
    Shown::Present(item.server_id.as_deref().unwrap_or_default().to_owned())
}
