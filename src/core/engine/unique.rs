//! Values that only one object of a kind may have: what frees one goes before what takes it.
//!
//! An object that is to take such a value waits for the one that has it, where that one is to go or to give it up; and
//! says what is in its way where that one keeps it, rather than run into the server's refusal. Only what a run looks at
//! is known: an object in no document and no Set is the server's to tell of.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::super::document::Ensure;
use super::super::identity::{KindName, ObjectId};
use super::super::path::Path;
use super::super::report::{Action, Explanation, Finding, Outcome};
use super::super::unique::{Held, scope};
use super::body::body;
use super::decide::{Decision, Seen};
use super::object::{Object, Phase};
use super::settle::SELECT_IT;
use super::{Engine, Mode};

/// The code of the finding that another object goes, or changes, before this one.
const FREED_FIRST: &str = "FreedFirst";

/// Who has which value, and who waits for whom.
#[derive(Debug, Default)]
pub struct Uniques {
    holders: HashMap<Held, Vec<usize>>,
    pub(super) held: HashMap<usize, Vec<Held>>,
    /// Who is to have which value, by the documents.
    pub(super) takers: HashMap<Held, Vec<usize>>,
    /// By the object under its old name: the one that it is.
    renamed: HashMap<usize, usize>,
    /// By the look at an object before its turn: that object.
    pub(super) scouts: HashMap<usize, usize>,
    /// What objects in no document have, which stay.
    taken: HashMap<Held, ObjectId>,
    /// By object: the one that has what it is to take, and what that is.
    pub(super) waits: HashMap<usize, (usize, Held)>,
    /// Deletions that wait to see what comes of those that are to have the values.
    pub(super) spared: BTreeSet<usize>,
    /// Of these, those that wait no longer, whatever comes.
    pub(super) let_go: HashSet<usize>,
    /// Something was settled, or waits, since the deletions were looked at.
    pub(super) stirred: bool,
    /// Objects that were put off once, until the others of their kind are seen.
    put_off: HashSet<usize>,
    /// Those of them whose turn is to come, in order.
    due: Vec<usize>,
}

impl Uniques {
    /// Nothing is known yet; `scouts` by their places, with the objects that they look at.
    pub fn with(scouts: HashMap<usize, usize>) -> Uniques {
        Uniques { scouts, ..Uniques::default() }
    }
}

/// What becomes of the object that has a value.
enum Holder {
    /// It has let it go, or a plan says that it will.
    Frees,
    /// It will, if it comes to that.
    MayFree,
    Keeps,
}

impl Engine {
    /// Knows what the documents say of unique values; and what a sweep has seen: of objects that are to go last, and of
    /// those that are left alone.
    pub(super) fn know_unique(&mut self) {
        for (at, object) in self.objects.iter().enumerate().filter(|(_, object)| !object.context) {
            if let Some(former) = object.links.former {
                self.uniques.renamed.insert(former, at);
            }
            if object.kind.unique.is_empty() || object.wanted_absent() {
                continue;
            }
            for held in Held::wanted(&object.id, &object.kind, &object.spec) {
                self.uniques.takers.entry(held).or_default().push(at);
            }
        }
        self.uniques.taken = std::mem::take(&mut self.options.taken).into_iter().collect();
        for at in 0..self.objects.len() {
            let Some(pruned) = &self.objects[at].policy.pruned else { continue };
            if !pruned.unique.is_empty() {
                self.hold(at, pruned.unique.clone());
            }
        }
    }

    /// Takes note of the values that an object was just seen with.
    pub(super) fn note_unique(&mut self, at: usize) {
        let object = &self.objects[at];
        if object.kind.unique.is_empty() {
            return;
        }
        let held = match &object.seen {
            Seen::Present(item) => Held::by(&object.id, &object.kind, &item.value),
            Seen::Absent => Vec::new(),
            // It may have what it had.
            _ => return,
        };
        self.hold(at, held);
    }

    fn hold(&mut self, at: usize, held: Vec<Held>) {
        for before in self.uniques.held.insert(at, held.clone()).unwrap_or_default() {
            if let Some(holders) = self.uniques.holders.get_mut(&before) {
                holders.retain(|holder| *holder != at);
            }
        }
        for one in held {
            self.uniques.holders.entry(one).or_default().push(at);
        }
    }

    /// Whether the write that is due waits for another object, or is not made for its sake.
    pub(super) fn waits_for_a_value(&mut self, at: usize, decision: &Decision) -> bool {
        let object = &self.objects[at];
        let takes = matches!(decision.action, Action::Create | Action::Update | Action::Replace);
        if object.kind.unique.is_empty() || !takes || object.sets > 0 {
            return false;
        }
        // What is below a parent that is replaced goes first, with all that has any of these values.
        if self.swept_by(at).is_some() {
            return false;
        }
        let former = object.links.former;
        let wanted = Held::wanted(&object.id, &object.kind, &self.spec(at));
        if let Some((holder, held)) = self.uniques.waits.remove(&at)
            && matches!(self.holder(holder, &held), Holder::Frees)
        {
            self.note_freed(at, holder, &held);
        }
        if wanted.is_empty() {
            return false;
        }
        if self.uniques.put_off.insert(at) {
            // What is asked about the others may not be told to them yet.
            self.uniques.due.push(at);
            return true;
        }
        for held in wanted {
            let is_itself = |id: &ObjectId| former.is_some_and(|former| self.objects[former].id == *id);
            if let Some(id) = self.uniques.taken.get(&held).filter(|id| !is_itself(id)) {
                let path = &self.objects[at].kind.unique[held.field];
                let why = format!("`{id}`, which no document names, has the same `{path}`, and stays");
                self.settle(at, Outcome::Skipped(Explanation::new(why)));
                return true;
            }
            let others = self.uniques.holders.get(&held).into_iter().flatten();
            let mut others = others.map(|holder| self.as_written(*holder));
            let Some(holder) = others.find(|holder| *holder != at) else { continue };
            match self.holder(holder, &held) {
                Holder::Frees => self.note_freed(at, holder, &held),
                Holder::MayFree if self.awaits(holder, at) => {
                    let why = self.in_the_way(at, holder, &held, "waits for this one in turn");
                    let hint =
                        "no order of writes gives both what they want: give one of them another value first";
                    self.settle(at, Outcome::Refused(why.hint(hint)));
                    return true;
                }
                Holder::MayFree => {
                    if let Some(outcome) = self.is_known_to_fail(at, decision) {
                        self.settle(at, outcome);
                        return true;
                    }
                    self.uniques.stirred = true;
                    self.uniques.waits.insert(at, (holder, held));
                    self.dependants[holder].push(at);
                    let object = &mut self.objects[at];
                    object.unsettled_needs += 1;
                    object.phase = Phase::Blocked;
                    return true;
                }
                Holder::Keeps => {
                    let why = self.in_the_way(at, holder, &held, self.what_became_of(holder));
                    self.settle(at, Outcome::Skipped(why));
                    return true;
                }
            }
        }
        false
    }

    /// The object that is written where another one is only looked at: under its old name, or early.
    fn as_written(&self, at: usize) -> usize {
        if let Some(&object) = self.uniques.scouts.get(&at) {
            return object;
        }
        // Where both names are there, they are two.
        let is_another = |object: &Object| {
            matches!(object.seen, Seen::Present(_)) && object.stands_as.is_none() && object.sets == 0
        };
        let renamed = self.uniques.renamed.get(&at).copied();
        renamed.filter(|renamed| !is_another(&self.objects[*renamed])).unwrap_or(at)
    }

    /// What is known of a write before anything is done for its sake: where its object stands without it.
    fn is_known_to_fail(&self, at: usize, decision: &Decision) -> Option<Outcome> {
        if self.mode == Mode::Plan {
            // A plan needs no secrets.
            return None;
        }
        if let Some(outcome) = self.moved(at, decision).or_else(|| self.over_limit(at)) {
            return Some(outcome);
        }
        let makes = matches!(decision.action, Action::Create | Action::Replace);
        let action = if makes { Action::Create } else { Action::Update };
        let body = body(&self.objects[at], &self.spec(at), action, self.rotates(at));
        body.err().map(super::body::Unsendable::outcome)
    }

    /// The objects that were put off, as far as all others of their kinds that are being looked at were seen by now. One
    /// that is not looked at yet may wait for these in turn, and is not waited for.
    pub(super) fn ready_put_off(&mut self) -> Vec<usize> {
        // What is to be looked at by now is not yet said to be.
        if self.uniques.due.is_empty() || !self.open.is_empty() {
            return Vec::new();
        }
        let unseen = self.objects.iter().filter(|object| {
            let looked_at = matches!(object.phase, Phase::Observing | Phase::Waiting);
            looked_at && matches!(object.seen, Seen::NotYet) && !object.kind.unique.is_empty()
        });
        let unseen: HashSet<&KindName> = unseen.map(|object| &object.id.kind).collect();
        let is_ready = |at: &usize| !unseen.contains(&self.objects[*at].id.kind);
        let due: Vec<usize> = std::mem::take(&mut self.uniques.due);
        let (ready, later): (Vec<usize>, Vec<usize>) = due.into_iter().partition(is_ready);
        self.uniques.due = later;
        ready.into_iter().filter(|at| self.objects[*at].outcome().is_none()).collect()
    }

    /// Whether an object has waited in a plan, where nothing has changed since it was seen.
    pub(super) fn goes_on_as_seen(&self, at: usize) -> bool {
        let waited = self.uniques.waits.contains_key(&at) || !self.objects[at].needed_below.is_empty();
        self.mode == Mode::Plan && waited
    }

    /// What becomes of the value of another object.
    fn holder(&self, holder: usize, held: &Held) -> Holder {
        let object = &self.objects[holder];
        if self.swept_by(holder).is_some() {
            return Holder::Frees;
        }
        let gives_up = || {
            let wanted = Held::wanted(&object.id, &object.kind, &self.spec(holder));
            wanted.iter().any(|wanted| wanted.field == held.field && wanted != held)
        };
        let path = &object.kind.unique[held.field];
        let goes = object.wanted_absent() || (!self.leaves_alone(holder, path) && gives_up());
        if object.context || !goes {
            return Holder::Keeps;
        }
        match object.outcome() {
            None => Holder::MayFree,
            Some(Outcome::InSync | Outcome::Planned | Outcome::Done | Outcome::Applied) => Holder::Frees,
            Some(_) => Holder::Keeps,
        }
    }

    /// Whether a field of an object is left as the server has it.
    pub(super) fn leaves_alone(&self, at: usize, path: &Path) -> bool {
        let object = &self.objects[at];
        if object.contest.given.iter().any(|given| given.path.covers(path)) {
            return true;
        }
        // Once it was compared, it is known what was left alone: with a base, what is pending is not.
        let compared = object.action != Action::None || object.outcome().is_some();
        let frozen = self.options.frozen.get(&object.id).into_iter().flatten();
        !compared && frozen.chain(&object.policy.report).any(|left| left.covers(path))
    }

    pub(super) fn what_became_of(&self, holder: usize) -> &'static str {
        let object = &self.objects[holder];
        match object.outcome() {
            _ if object.is_left_out() => "is not selected",
            Some(Outcome::Refused(_)) => "was refused",
            Some(Outcome::Conflict(_)) => "is in conflict",
            Some(Outcome::Failed(_)) => "failed",
            Some(Outcome::Unknown(_)) => "is unknown",
            Some(Outcome::NotEffective(_)) => "is not as it was sent",
            Some(Outcome::Skipped(_)) => "was skipped",
            _ => "keeps it",
        }
    }

    fn in_the_way(&self, at: usize, holder: usize, held: &Held, what: &str) -> Explanation {
        let path = &self.objects[at].kind.unique[held.field];
        let why =
            Explanation::new(format!("`{}` has the same `{path}`, and {what}", self.objects[holder].id));
        if self.objects[holder].is_left_out() { why.hint(SELECT_IT) } else { why }
    }

    fn note_freed(&mut self, at: usize, holder: usize, held: &Held) {
        if self.swept_by(holder).is_some() {
            return;
        }
        let goes = if self.objects[holder].wanted_absent() { "is deleted" } else { "gives it up" };
        let path = &self.objects[at].kind.unique[held.field];
        let message = format!("`{}`, which has the same `{path}`, {goes} first", self.objects[holder].id);
        let finding = Finding::new(FREED_FIRST, message);
        if !self.objects[at].findings.contains(&finding) {
            self.objects[at].findings.push(finding);
        }
    }

    /// Whether an object waits for another, itself or through others: for its value, or as it needs it.
    pub(super) fn awaits(&self, at: usize, other: usize) -> bool {
        let (mut next, mut seen) = (vec![at], HashSet::new());
        while let Some(one) = next.pop() {
            if one == other {
                return true;
            }
            if self.objects[one].outcome().is_some() || !seen.insert(one) {
                continue;
            }
            next.extend(self.uniques.waits.get(&one).map(|(holder, _)| *holder));
            next.extend(&self.objects[one].needed_below);
            // What is to go waits for what needs it, and for nothing that it needs.
            if !self.objects[one].wanted_absent() {
                next.extend(self.objects[one].links.needs());
            }
        }
        false
    }

    /// What is only looked at, as it may have what others are to take: documents that were not selected, and scouts.
    pub(super) fn may_have_what_is_taken(&self) -> Vec<usize> {
        let place = |at: &usize| {
            let object = &self.objects[*at];
            (object.id.kind.clone(), scope(&object.id, &object.kind))
        };
        let takers = (0..self.objects.len()).filter(|at| {
            let object = &self.objects[*at];
            let takes =
                !object.kind.unique.is_empty() && !object.context && object.policy.ensure == Ensure::Present;
            takes && !Held::wanted(&object.id, &object.kind, &object.spec).is_empty()
        });
        let places: HashSet<(KindName, String)> = takers.map(|at| place(&at)).collect();
        if places.is_empty() {
            return Vec::new();
        }
        let left_out = (0..self.objects.len()).filter(|at| self.objects[*at].is_left_out());
        let left_out = left_out.filter(|at| places.contains(&place(at)));
        left_out.chain(self.uniques.scouts.keys().copied()).collect()
    }

    /// Objects that wait for a value of something that is to go last, and what waits for these.
    pub(super) fn behind_pruned(&self) -> usize {
        if self.uniques.waits.is_empty() {
            return 0;
        }
        let is_open = |at: usize| self.objects[at].outcome().is_none();
        let waits = |(at, (holder, _)): (&usize, &(usize, Held))| {
            (self.objects[*holder].policy.pruned.is_some() && is_open(*holder)).then_some(*at)
        };
        let mut next: Vec<usize> = self.uniques.waits.iter().filter_map(waits).collect();
        let mut seen = HashSet::new();
        while let Some(at) = next.pop() {
            let stands =
                matches!(self.objects[at].phase, Phase::Blocked) && self.objects[at].policy.pruned.is_none();
            if is_open(at) && stands && seen.insert(at) {
                next.extend(&self.dependants[at]);
            }
        }
        let spared = self.uniques.spared.iter().filter(|at| {
            let is_behind = |heir: &usize| seen.contains(heir);
            self.objects[**at].policy.pruned.is_none()
                && is_open(**at)
                && self.heirs(**at).iter().any(is_behind)
        });
        let spared = spared.count();
        seen.len() + spared
    }
}
