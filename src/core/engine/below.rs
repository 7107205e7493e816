//! Looking below an object that is to go: a server deletes along with it what is there, in a document or not.
//!
//! It is looked once something is to go, and again before each deletion; objects that go at one time share a listing.
//! What that means for the object is told in `along.rs`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::super::exchange::{
    Answer, Ask, Collection, Failure, FailureClass, Item, ParentIds, Target, Wanted,
};
use super::super::family::{Known, Tie, Way, can_keep};
use super::super::identity::{KindName, ObjectId};
use super::super::kind::Kind;
use super::super::prune::{is_builtin, is_protected};
use super::super::report::{Action, Explanation};
use super::super::unique::Held;
use super::decide::Seen;
use super::object::Phase;
use super::observe::{explain, unusable};
use super::{Effect, Engine, Mode, Pending, Timer};

/// What collections below objects that are to go have shown, and who waits for them.
#[derive(Debug, Default)]
pub struct Looks {
    all: Vec<Look>,
    index: HashMap<Collection, usize>,
    /// The objects of the run by their names, those before a rename among them, and by the ids that they pin; made once
    /// something is to go.
    named: Option<(HashMap<ObjectId, usize>, ByPin)>,
}

/// Objects by their kind and the id that they pin.
type ByPin = HashMap<(KindName, Arc<str>), usize>;

/// What a collection has shown.
type Shown = Result<Arc<[Live]>, Explanation>;

/// One collection.
#[derive(Debug)]
struct Look {
    name: Collection,
    kind: Arc<Kind>,
    /// There is one object of the kind or none, and this is its name.
    one: Option<ObjectId>,
    asking: bool,
    waiting: Vec<usize>,
    failures: u32,
    /// What was told last, and when that was asked.
    told: Option<(u64, Shown)>,
}

/// An object that stands on the server.
#[derive(Clone, Debug)]
struct Live {
    id: ObjectId,
    server_id: Option<Arc<str>>,
    /// The server made it for itself, or deletes it already: it holds nobody, and nobody misses it.
    nobodys: bool,
    /// It bears the annotation that protects it.
    protected: bool,
    can_keep: bool,
    /// As it was shown, where that is all of it.
    whole: Option<Item>,
    /// The values that it has and no other may have.
    held: Vec<Held>,
}

/// What is below one object.
#[derive(Debug, Default)]
pub struct Below {
    /// Only what was asked after this counts.
    since: u64,
    todo: Vec<Task>,
    /// Objects of the run that were gone into.
    entered: HashSet<usize>,
    /// In no document.
    pub(super) unnamed: Vec<ObjectId>,
    /// One of these that keeps what nobody asked for by name.
    pub(super) keeper: Option<ObjectId>,
    /// One that something ties to its place.
    pub(super) tied: Option<(ObjectId, Tie)>,
    /// Kinds of which nobody can tell what is there, and why.
    pub(super) untold: Vec<(KindName, String)>,
    /// Why what is there is not known.
    pub(super) doubt: Option<Explanation>,
    /// Objects with documents that are there, each as it was shown, where that is all of it.
    pub(super) there: Vec<(usize, Option<Item>)>,
    /// An object beside it, in no document, that has a value which it is to take, and the place of that among the kind's.
    pub(super) rival: Option<(ObjectId, usize)>,
    /// Why nobody can tell whether there is one.
    pub(super) doubt_beside: Option<Explanation>,
    /// How many objects with documents go by the one deletion.
    named: usize,
    pub(super) done: bool,
}

/// A look that an object waits for.
#[derive(Clone, Debug)]
struct Task {
    kind: Arc<Kind>,
    known: Known,
    /// The kind of the object that they are below.
    above: KindName,
    look: usize,
    /// The look shows objects of this kind, each with a collection: its name is the value of the part.
    each: Option<(Arc<str>, Arc<Kind>)>,
    /// The look shows what stands beside the object, and nothing that is below it.
    beside: bool,
}

impl Below {
    /// How many objects go by the one deletion, besides the object itself.
    pub fn along(&self) -> usize {
        self.named + self.unnamed.len()
    }
}

impl Engine {
    /// Looks below an object that is due to go, unless that was done; whether it is being looked.
    pub(super) fn looks_below(&mut self, at: usize) -> bool {
        let object = &self.objects[at];
        let is_parent = !self.offspring.below(&object.id.kind).is_empty();
        let takes = self.takes_a_value(at);
        if object.below.is_some() || !(is_parent || takes) || !matches!(object.seen, Seen::Present(_)) {
            return false;
        }
        let id = ObjectId { kind: object.id.kind.clone(), key: object.key_now().clone() };
        let ids = self.parent_ids(object.links.parents.iter());
        let server_id = object.server_id.clone();
        let mut below = Below { since: object.seen_at, ..Below::default() };
        self.name_all();
        self.enter(&mut below, &id, server_id.as_ref(), &ids);
        if takes {
            below.todo.push(self.beside(at));
        }
        self.objects[at].phase = Phase::LookingBelow;
        self.objects[at].below = Some(Box::new(below));
        self.look_on(at);
        true
    }

    /// Whether an object that is made again is to have a value that only one may have, and that it has not now.
    fn takes_a_value(&self, at: usize) -> bool {
        let object = &self.objects[at];
        let (Some(_), Seen::Present(item)) = (&object.kind.list, &object.seen) else { return false };
        if object.wanted_absent() || object.kind.unique.is_empty() {
            return false;
        }
        let has = Held::by(&object.id, &object.kind, &item.value);
        Held::wanted(&object.id, &object.kind, &self.spec(at)).iter().any(|wanted| !has.contains(wanted))
    }

    /// The look at what stands beside an object.
    fn beside(&mut self, at: usize) -> Task {
        let collection = self.collection_of(at);
        let kind = self.objects[at].kind.clone();
        let look = self.looks.at(self.collections.all[collection].name.clone(), &kind, None);
        Task { above: kind.name.clone(), kind, known: Known::default(), look, each: None, beside: true }
    }

    fn name_all(&mut self) {
        if self.looks.named.is_some() {
            return;
        }
        let mut names: HashMap<ObjectId, usize> =
            self.objects.iter().enumerate().map(|(at, object)| (object.id.clone(), at)).collect();
        let mut ids = HashMap::new();
        for (at, object) in self.objects.iter().enumerate() {
            if let Some(former) = object.links.former {
                names.insert(self.objects[former].id.clone(), at);
            }
            ids.extend(object.policy.pinned_id.clone().map(|id| ((object.id.kind.clone(), id), at)));
        }
        self.looks.named = Some((names, ids));
    }

    /// Everything right below an object is to be looked at.
    fn enter(&mut self, below: &mut Below, id: &ObjectId, server_id: Option<&Arc<str>>, ids: &ParentIds) {
        let children = self.offspring.below(&id.kind).to_vec();
        let Some(parent) = self.offspring.kind(&id.kind).cloned() else { return };
        for (kind, part) in children {
            let known = Known::below(&kind, &part, &parent, id, server_id, ids);
            self.find(below, kind, id.kind.clone(), known);
        }
    }

    fn find(&mut self, below: &mut Below, kind: Arc<Kind>, above: KindName, known: Known) {
        let (look, each) = match self.offspring.way(&kind, &above, &known) {
            Way::List(name) => (self.looks.at(name, &kind, None), None),
            Way::Read(name, id) => (self.looks.at(name, &kind, Some(id)), None),
            Way::Each { part, kind: other, list } => (self.looks.at(list, &other, None), Some((part, other))),
            Way::Further => return,
            Way::Untold(why) => {
                if below.untold.iter().all(|(name, _)| *name != kind.name) {
                    below.untold.push((kind.name.clone(), why));
                }
                return;
            }
        };
        below.todo.push(Task { kind, known, above, look, each, beside: false });
    }

    /// Goes on with what was shown; once nothing is left to be looked at, with the object.
    fn look_on(&mut self, at: usize) {
        if !matches!(self.objects[at].phase, Phase::LookingBelow) {
            return;
        }
        let Some(mut below) = self.objects[at].below.take() else { return };
        let mut later = Vec::new();
        while let Some(task) = below.todo.pop() {
            match self.looks.all[task.look].told_after(below.since) {
                Some(told) => self.take_in(at, &mut below, &task, told),
                None => later.push(task),
            }
        }
        below.done = later.is_empty();
        let wanted: Vec<usize> = later.iter().map(|task| task.look).collect();
        below.todo = later;
        let done = below.done;
        self.objects[at].below = Some(below);
        for look in wanted {
            self.ask_below(look, at);
        }
        if done {
            self.decide(at);
        }
    }

    fn take_in(&mut self, at: usize, below: &mut Below, task: &Task, told: Result<Arc<[Live]>, Explanation>) {
        let live = match told {
            Ok(live) => live,
            Err(why) if task.beside => {
                below.doubt_beside.get_or_insert(why);
                return;
            }
            Err(why) => {
                below.doubt.get_or_insert(why);
                return;
            }
        };
        if task.beside {
            below.rival = self.rival(at, &live);
            return;
        }
        if let Some((part, other)) = &task.each {
            for one in live.iter() {
                let known = task.known.with(&task.kind, part, other, &one.id, one.server_id.as_ref());
                self.find(below, task.kind.clone(), task.above.clone(), known);
            }
            return;
        }
        for one in live.iter().filter(|one| task.known.fits(&task.kind, &one.id.key)) {
            self.weigh(at, below, one, &task.known.ids);
        }
    }

    /// An object in no document that has a value which this one is to take. What documents name is known without a look.
    fn rival(&self, at: usize, live: &[Live]) -> Option<(ObjectId, usize)> {
        let object = &self.objects[at];
        let wanted = Held::wanted(&object.id, &object.kind, &self.spec(at));
        let is_other = |one: &&Live| {
            let same_id = one.server_id.is_some() && one.server_id == object.server_id;
            let named = self.named(one).is_some_and(|named| self.objects[named].origin.is_some());
            !named && !same_id && one.id.key != *object.key_now()
        };
        let has = |one: &Live| one.held.iter().find(|held| wanted.contains(held)).map(|held| held.field);
        live.iter().filter(is_other).find_map(|one| has(one).map(|field| (one.id.clone(), field)))
    }

    /// The object of the run that a live one is.
    fn named(&self, one: &Live) -> Option<usize> {
        let (names, pinned) = self.looks.named.as_ref()?;
        let by_id = one.server_id.clone().and_then(|id| pinned.get(&(one.id.kind.clone(), id)));
        names.get(&one.id).or(by_id).copied()
    }

    /// What one object below means for the one above.
    fn weigh(&mut self, at: usize, below: &mut Below, one: &Live, ids: &ParentIds) {
        let named = self.named(one);
        let Some(child) = named.filter(|child| self.objects[*child].origin.is_some()) else {
            if !one.nobodys && !below.unnamed.contains(&one.id) {
                if one.protected {
                    below.tied.get_or_insert((one.id.clone(), Tie::Protected));
                }
                if one.can_keep {
                    below.keeper.get_or_insert(one.id.clone());
                }
                below.unnamed.push(one.id.clone());
            }
            // A document may stand below it.
            if named.is_some_and(|child| below.entered.insert(child)) {
                self.enter(below, &one.id, one.server_id.as_ref(), ids);
            }
            return;
        };
        let object = &self.objects[child];
        if object.context {
            below.tied.get_or_insert((object.id.clone(), Tie::NotSelected));
        }
        if child != at && below.there.iter().all(|(known, _)| *known != child) {
            below.there.push((child, one.whole.clone()));
        }
        // What goes by a deletion of its own is looked below by itself.
        let goes_first = self.objects[at].wanted_absent() && object.goes_first();
        if child != at && !goes_first && below.entered.insert(child) {
            below.named += 1;
            self.enter(below, &one.id, one.server_id.as_ref(), ids);
        }
    }

    fn ask_below(&mut self, look: usize, at: usize) {
        let this = &mut self.looks.all[look];
        if !this.waiting.contains(&at) {
            this.waiting.push(at);
        }
        if this.asking {
            return;
        }
        this.asking = true;
        self.budget.first_attempt();
        self.send_look(look);
    }

    /// Asks for a collection, or again.
    pub(super) fn send_look(&mut self, look: usize) {
        let id = self.new_request(Pending::Look { look, asked: 0 });
        self.pending.insert(id, Pending::Look { look, asked: id });
        let Look { name, one, .. } = &self.looks.all[look];
        let ask = match one {
            Some(id) => Ask::Read(Target { parent_ids: name.parent_ids.clone(), ..Target::new(id.clone()) }),
            None => Ask::List(name.clone(), Wanted::All),
        };
        self.effects.push(Effect::Ask(id, ask));
    }

    /// The answer.
    pub(super) fn looked(&mut self, look: usize, asked: u64, answer: Answer) {
        let this = &self.looks.all[look];
        let told = match answer {
            Answer::Listed(listing) => {
                let doubt = listing.incomplete.map(|why| *why);
                match doubt.or_else(|| listing.problems.into_iter().next().map(Explanation::new)) {
                    Some(why) => Err(why),
                    None => Ok(listing.items.into_iter().map(|item| this.live(item)).collect()),
                }
            }
            Answer::Found(item) => Ok([this.live(item)].into()),
            Answer::Absent => Ok([].into()),
            // Some APIs have no list of nothing (Vault, Consul).
            Answer::Failed(failure) if is_missing(&failure) && this.kind.readable_by_key() => Ok([].into()),
            answer => {
                let failure = if let Answer::Failed(failure) = answer { failure } else { unusable() };
                self.looks.all[look].failures += 1;
                if let Some(wait) = self.retry_after(&failure, self.looks.all[look].failures) {
                    return self.wake_at(self.now + wait, Timer::Look(look));
                }
                Err(explain(&failure))
            }
        };
        let this = &mut self.looks.all[look];
        (this.asking, this.failures, this.told) = (false, 0, Some((asked, told)));
        for at in std::mem::take(&mut this.waiting) {
            self.look_on(at);
        }
    }

    /// Whether a plan has to look below an object before it promises that it goes.
    pub(super) fn plan_looks_below(&mut self, at: usize, action: Action) -> bool {
        self.mode == Mode::Plan && matches!(action, Action::Delete | Action::Replace) && self.looks_below(at)
    }
}

impl Looks {
    fn at(&mut self, name: Collection, kind: &Arc<Kind>, one: Option<ObjectId>) -> usize {
        *self.index.entry(name.clone()).or_insert_with(|| {
            let (waiting, kind) = (Vec::new(), kind.clone());
            self.all.push(Look { name, kind, one, asking: false, waiting, failures: 0, told: None });
            self.all.len() - 1
        })
    }
}

impl Look {
    fn told_after(&self, since: u64) -> Option<Result<Arc<[Live]>, Explanation>> {
        self.told.as_ref().filter(|(asked, _)| *asked > since).map(|(_, told)| told.clone())
    }

    fn live(&self, item: Item) -> Live {
        let kind = &self.kind;
        let id = ObjectId { kind: kind.name.clone(), key: item.key.clone() };
        let partial = self.one.is_none() && kind.list.as_ref().is_some_and(|list| list.partial);
        Live {
            nobodys: item.deleting || is_builtin(kind, &item) == Ok(true),
            protected: is_protected(kind, &item),
            can_keep: can_keep(kind, &item),
            held: Held::by(self.one.as_ref().unwrap_or(&id), kind, &item.value),
            server_id: item.server_id.clone(),
            id: self.one.clone().unwrap_or(id),
            whole: (!partial).then_some(item),
        }
    }
}

fn is_missing(failure: &Failure) -> bool {
    matches!(failure.class, FailureClass::Status(404 | 410))
}
