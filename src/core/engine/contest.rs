//! Fields in conflict: forced where the user names them all, given up where the document says so, else reported.
//!
//! What moved since the run was agreed to is found here, beside what the base and a server's field managers tell.

use std::borrow::Cow;

use super::super::base::find;
use super::super::change::Change;
use super::super::conflict::{self, Conflict, Resolution};
use super::super::document::OnConflict;
use super::super::give_up::{self, Given};
use super::super::kind::Send;
use super::super::managers::{Contested, Manager};
use super::super::node::Node;
use super::super::path::Path;
use super::super::report::{Action, Outcome};
use super::decide::{Decision, Facts, decide};
use super::object::{Agreed, Object};
use super::{Engine, Mode};

/// What the conflicts of an object have come to in a run.
#[derive(Debug, Default)]
pub struct Contest {
    /// All that were found, each once.
    pub conflicts: Vec<Conflict>,
    pub(super) given: Vec<Given>,
    /// What was to change when a write was refused for what others hold, all of which may be taken over.
    takes_over: Option<Vec<Change>>,
}

impl Contest {
    fn note(&mut self, conflicts: Vec<Conflict>) {
        for conflict in conflicts {
            self.conflicts.retain(|known| !known.is_same(&conflict));
            self.conflicts.push(conflict);
        }
    }
}

impl Object {
    /// What is wanted, without what is given up.
    pub fn without_given<'n>(&self, spec: Cow<'n, Node>) -> Cow<'n, Node> {
        match self.observed() {
            Some(observed) if !self.contest.given.is_empty() => {
                Cow::Owned(give_up::without(&spec, &self.contest.given, observed))
            }
            _ => spec,
        }
    }

    /// Whether fields that other managers hold are to be taken over.
    pub fn takes_over(&self) -> bool {
        self.policy.on_conflict == OnConflict::Force || self.contest.takes_over.is_some()
    }

    /// What a run without a plan rests on, once a write of it was refused: what was seen before.
    pub fn agree_to_last_look(&mut self, action: Action) {
        self.agreed.get_or_insert_with(|| Agreed::to(action, &self.changes));
    }

    /// What others have set of what is to change, by the server's account.
    fn held_by_others<'c>(&self, changes: &'c [Change]) -> impl Iterator<Item = &'c Change> {
        let us = self.kind.us.clone();
        changes.iter().filter(move |change| change.set_by.iter().any(|name| *name != us))
    }
}

impl Engine {
    /// What an object needs. A replacement is judged by all that the document says, as all of the object would go: what
    /// waits for another object is left out of what is sent, and what left the files is looked for with it only.
    pub(super) fn decision(&mut self, at: usize) -> Decision {
        let decision = self.decision_of_now(at);
        if decision.action != Action::Replace || self.objects[at].later.is_empty() {
            return decision;
        }
        let later = std::mem::take(&mut self.objects[at].later);
        let whole = self.decision_of_now(at);
        self.objects[at].later = later;
        match whole.settled {
            Some(_) => whole,
            None => Decision { conflicts: whole.conflicts, ..decision },
        }
    }

    /// What an object needs, once what is in conflict was given up, where its document says so.
    fn decision_of_now(&mut self, at: usize) -> Decision {
        loop {
            let mut decision = self.compared(at);
            if decision.action == Action::Delete {
                // There is no field of an object that goes to be given up.
                return decision;
            }
            decision = match self.freeze(at, decision) {
                Some(decision) => decision,
                None => continue,
            };
            let stand = conflict::stand(&decision.conflicts);
            let conflicts = if stand { decision.conflicts.clone() } else { self.foreseen(at, &decision) };
            if conflicts.is_empty() {
                return decision;
            }
            match self.give_up(at, &conflicts) {
                Ok(true) => {}
                Ok(false) => return decision,
                Err(why) => {
                    if stand {
                        let object = &self.objects[at];
                        let told = conflict::explanation(&object.id, &object.policy, &conflicts, Some(why));
                        decision.settled = Some(Outcome::Conflict(told));
                    }
                    return decision;
                }
            }
        }
    }

    /// What is wanted beside what was just seen.
    pub(super) fn compared(&mut self, at: usize) -> Decision {
        let managers = self.managers_of(at);
        let object = &self.objects[at];
        let spec = self.spec(at);
        let own = object.own_spec();
        decide(&Facts {
            id: &object.id,
            kind: &object.kind,
            policy: &object.policy,
            spec: &spec,
            own: &own,
            base: &object.base,
            wrote: object.sets > 0,
            seen: &object.seen,
            managers: &managers,
            may_replace: object.policy.lets_replace() || self.is_named(at, &self.options.replace),
            rotate: self.rotates(at),
        })
    }

    /// What a server would refuse, by its own account of who set what.
    fn foreseen(&self, at: usize, decision: &Decision) -> Vec<Conflict> {
        let object = &self.objects[at];
        let applied = object.kind.is_applied() && object.kind.conflict.is_some();
        let ignores = object.policy.on_conflict == OnConflict::Ignore;
        if !applied || !ignores || decision.action != Action::Update {
            return Vec::new();
        }
        object.held_by_others(&decision.changes).map(Conflict::held).collect()
    }

    /// Keeps for the report what is in conflict, and what of it will be forced.
    pub(super) fn note_conflicts(&mut self, at: usize, decision: &Decision) {
        let object = &mut self.objects[at];
        object.contest.note(decision.conflicts.clone());
        let forced = !object.policy.forced_paths.is_empty() && object.kind.is_applied();
        if self.mode == Mode::Plan && forced && decision.action == Action::Update {
            let held = object.held_by_others(&decision.changes).map(Conflict::held).collect();
            let held = conflict::resolved(&object.policy, held);
            if !conflict::stand(&held) {
                object.contest.note(held);
            }
        }
    }

    /// Deals with what moved under our hands since the run was agreed to; true where the decision is not to be
    /// acted on.
    pub(super) fn is_in_the_way(&mut self, at: usize, decision: &Decision) -> bool {
        let mut conflicts = self.moved_fields(at, decision);
        conflicts.extend(self.newly_held(at, decision));
        if conflicts.is_empty() {
            return false;
        }
        let object = &mut self.objects[at];
        let conflicts = conflict::resolved(&object.policy, conflicts);
        if !conflict::stand(&conflicts) {
            object.contest.note(conflicts);
            return false;
        }
        match self.give_up(at, &conflicts) {
            Ok(true) => self.decide(at),
            given => {
                self.objects[at].changes.clone_from(&decision.changes);
                self.settle_in_conflict(at, conflicts, given.err());
            }
        }
        true
    }

    /// Owned paths that are not as they were when the run was agreed to. A saved plan is judged by itself. Where
    /// something that the object refers to was not there then, what an element of a list is paired by may have been
    /// known to nobody, so what stands nowhere now says nothing of others.
    fn moved_fields(&self, at: usize, decision: &Decision) -> Vec<Conflict> {
        let object = &self.objects[at];
        let agreed = object.agreed.as_ref().filter(|agreed| agreed.saved.is_none());
        let Some(agreed) = agreed.filter(|agreed| agreed.action != Action::Create) else { return Vec::new() };
        if decision.action != Action::Update || self.came_with_parent(at) {
            return Vec::new();
        }
        let named_later = self.names_what_is_new(at);
        let moved = decision.changes.iter().filter_map(|change| {
            let before = agreed.before.get(&change.path);
            let known = before.is_some_and(|before| before.contains(&change.before));
            if known || (named_later && change.before.is_none()) {
                return None;
            }
            // What was in sync then was as it is wanted.
            let before = before.and_then(|before| before.first().cloned());
            Some(Conflict::moved(change, before.unwrap_or_else(|| change.after.clone())))
        });
        moved.collect()
    }

    /// What others have taken since a write was refused, and nobody has said may be taken over.
    fn newly_held(&self, at: usize, decision: &Decision) -> Vec<Conflict> {
        let object = &self.objects[at];
        let Some(then) = &object.contest.takes_over else { return Vec::new() };
        let is_new = |change: &&Change| {
            let known = |one: &Change| one.path == change.path && one.set_by == change.set_by;
            !object.policy.forces(Some(&change.path)) && !then.iter().any(known)
        };
        object.held_by_others(&decision.changes).filter(is_new).map(Conflict::held).collect()
    }

    /// A write, or its dry run, was refused for what other managers hold. It is looked at again, to be taken over
    /// or to go on without; or that is the end of it.
    pub(super) fn held(&mut self, at: usize, fields: &[Contested]) {
        let object = &mut self.objects[at];
        let mut conflicts: Vec<Conflict> = Vec::new();
        for field in fields {
            let conflict = Conflict::refused(field, &object.changes);
            if !conflicts.iter().any(|known| known.is_same(&conflict)) {
                conflicts.push(conflict);
            }
        }
        if object.takes_over() {
            object.contest.note(conflicts.clone());
            let why = conflict::explanation(&object.id, &object.policy, &conflicts, None);
            let hint = "to take a field over, the operation in the backend needs `forced`: what says so to the server";
            return self.settle(at, Outcome::Conflict(why.hint(hint)));
        }
        let conflicts = conflict::resolved(&object.policy, conflicts);
        if !conflict::stand(&conflicts) {
            object.contest.takes_over = Some(object.changes.clone());
            object.contest.note(conflicts);
            return self.observe(at);
        }
        match self.give_up(at, &conflicts) {
            Ok(true) => self.observe(at),
            given => self.settle_in_conflict(at, conflicts, given.err()),
        }
    }

    fn settle_in_conflict(&mut self, at: usize, conflicts: Vec<Conflict>, stays: Option<&str>) {
        let object = &mut self.objects[at];
        let why = conflict::explanation(&object.id, &object.policy, &conflicts, stays);
        object.contest.note(conflicts);
        self.settle(at, Outcome::Conflict(why));
    }

    /// Gives fields up for this run; false where the document does not say so.
    ///
    /// # Errors
    /// Why one of them cannot be left as the server has it: then none is.
    fn give_up(&mut self, at: usize, conflicts: &[Conflict]) -> Result<bool, &'static str> {
        if self.objects[at].policy.on_conflict != OnConflict::Ignore {
            return Ok(false);
        }
        let managers = self.managers_of(at);
        let (object, spec) = (&self.objects[at], self.spec(at));
        let mut given = Vec::new();
        let mut findings = Vec::new();
        for conflict in conflicts.iter().filter(|one| one.resolution == Resolution::Reported) {
            let path = conflict.path.as_ref().ok_or("the server's name for it is none of its paths")?;
            let place = give_up::place(path).ok_or("it is the whole of the object")?;
            let one = object.given(place, &spec, &managers)?;
            if object.contest.given.contains(&one) {
                return Err("it was left out, and is refused still");
            }
            let whole = (one.path.0.len() < path.0.len()).then_some(&one.path);
            let owned = managers.iter().any(|one| *one.name == *object.kind.us && one.sets(path));
            findings.push(conflict::given_up(&object.id, conflict, whole, owned));
            given.push(one);
        }
        let object = &mut self.objects[at];
        object.contest.given.extend(given);
        object.findings.extend(findings);
        let given_up = |conflict: &Conflict| Conflict { resolution: Resolution::GivenUp, ..conflict.clone() };
        object.contest.note(conflicts.iter().map(given_up).collect());
        Ok(true)
    }
}

impl Object {
    /// How a place is given up.
    ///
    /// # Errors
    /// Why it would not stay as the server has it.
    pub(super) fn given(&self, path: Path, spec: &Node, managers: &[Manager]) -> Result<Given, &'static str> {
        let rules = &self.kind.fields;
        if self.kind.is_applied() {
            let mut setters = managers.iter().filter(|manager| manager.sets(&path)).peekable();
            let alone = setters.peek().is_some() && setters.all(|manager| *manager.name == *self.kind.us);
            let declared = find(spec, &path.0).is_some();
            return match !declared || give_up::is_closed(&path, rules) || alone {
                true => Err("the server would take away what is no longer applied"),
                false => Ok(Given { path, theirs: false }),
            };
        }
        let whole = self.kind.update.as_ref().is_some_and(|update| update.send == Send::Ours);
        let given = Given::of(path, spec, rules, whole);
        if given.theirs && give_up::is_hidden(&given.path, rules) {
            return Err("what the server has there is hidden, and would have to be sent back");
        }
        Ok(given)
    }
}
