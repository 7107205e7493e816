//! What is deleted to be created again: all that its creation takes is there before the deletion goes out.
//!
//! That holds for the object itself, and for what goes along with it and is created again: its secrets, its references,
//! what it needs, the form of its body, and that its own change is not refused. What a plan cannot know yet, since
//! another object of the same run is to bring it, is known when it comes to the deletion: that waits for it.

use std::collections::{BTreeSet, HashSet};

use super::super::exchange::Item;
use super::super::family::Tie;
use super::super::identity::ObjectId;
use super::super::node::Reference;
use super::super::report::{Action, Explanation, Outcome};
use super::super::value::Value;
use super::below::Below;
use super::body::new_body;
use super::decide::{Decision, Seen};
use super::object::Phase;
use super::{Engine, Mode};

impl Engine {
    /// The decision on an object, where what its replacement would have to send is not there.
    pub(super) fn unless_it_cannot_be_made(&self, at: usize, decision: Decision) -> Decision {
        let object = &self.objects[at];
        let begun = object.deletes > 0 || object.doubt.is_some();
        if decision.action != Action::Replace || decision.settled.is_some() || begun {
            return decision;
        }
        match self.unmade(at) {
            Some(why) => {
                let message = format!("once deleted, it could not be created again: {}", why.message);
                decision.refused(Explanation { message, ..why })
            }
            None => decision,
        }
    }

    /// Why an object cannot be created as its document says; of what others bring in this run, nothing is said.
    fn unmade(&self, at: usize) -> Option<Explanation> {
        let spec = self.spec(at);
        let brought = |reference: &Reference| self.may_come(at, reference).then(|| Value::from(""));
        new_body(&self.objects[at], &spec.resolve(&brought)).err().map(|why| why.explanation())
    }

    /// Whether a value that is not known now may be by the time that it is sent.
    fn may_come(&self, at: usize, reference: &Reference) -> bool {
        let Some(named) = self.objects[at].links.references.get(&reference.text) else { return false };
        let named = &self.objects[*named];
        match named.outcome() {
            None => true,
            Some(Outcome::Planned) => {
                self.mode == Mode::Plan && !named.context && named.action != Action::None
            }
            Some(_) => false,
        }
    }

    /// Whether a replacement waits for what its children need to be created again, as far as that does not wait for it.
    pub(super) fn waits_for_what_goes_along(&mut self, at: usize, decision: &Decision) -> bool {
        if decision.action != Action::Replace || self.children[at].is_empty() {
            return false;
        }
        let below = self.documents_below(at);
        let remade = below.iter().map(|child| &self.objects[*child]);
        let remade = remade.filter(|child| !child.context && !child.wanted_absent());
        let needed: BTreeSet<usize> = remade.flat_map(|child| child.links.needs()).collect();
        let is_open = |need: &usize| *need != at && self.objects[*need].outcome().is_none();
        let open = needed.into_iter().filter(|need| is_open(need) && !below.contains(need));
        let open: Vec<usize> = open.filter(|need| !self.awaits(*need, at)).collect();
        if open.is_empty() {
            return false;
        }
        open.iter().for_each(|need| self.dependants[*need].push(at));
        let object = &mut self.objects[at];
        object.unsettled_needs += open.len();
        object.needed_below.extend(open);
        object.phase = Phase::Blocked;
        true
    }

    /// All below an object that documents name.
    fn documents_below(&self, at: usize) -> HashSet<usize> {
        let (mut next, mut found) = (self.children[at].clone(), HashSet::new());
        while let Some(child) = next.pop() {
            if found.insert(child) {
                next.extend(&self.children[child]);
            }
        }
        found.retain(|child| self.objects[*child].origin.is_some());
        found
    }

    /// Why an object is not replaced, where it or what goes along with it would not be as it was meant to be.
    pub(super) fn not_made_again(&mut self, at: usize, below: &Below) -> Option<Outcome> {
        if let Some((other, field)) = &below.rival {
            let path = &self.objects[at].kind.unique[*field];
            let why = format!("`{other}`, which no document names, has the same `{path}`, and stays");
            return Some(Outcome::Refused(Explanation::new(why)));
        }
        if let Some(why) = &below.doubt_beside {
            let message =
                format!("whether another object has what is unique of it is not known: {}", why.message);
            return Some(Outcome::Unknown(Explanation { message, ..why.clone() }));
        }
        let (child, tie) = self.lost_child(at, below)?;
        Some(Outcome::Refused(tie.keeps(&child)))
    }

    /// A child that would not be made again, or whose own change is not to be made.
    fn lost_child(&mut self, at: usize, below: &Below) -> Option<(ObjectId, Tie)> {
        let documents = self.documents_below(at);
        let mut there = below.there.clone();
        let is_untold = |child: &&usize| {
            let kind = &self.objects[**child].id.kind;
            below.untold.iter().any(|(untold, _)| untold == kind)
        };
        let mut untold: Vec<usize> = documents.iter().filter(is_untold).copied().collect();
        untold.sort_unstable();
        there.extend(untold.into_iter().map(|child| (child, None)));
        there.into_iter().filter(|(child, _)| documents.contains(child)).find_map(|(child, item)| {
            let tie = self.loss(at, child, item, &documents)?;
            Some((self.objects[child].id.clone(), tie))
        })
    }

    fn loss(&mut self, at: usize, child: usize, item: Option<Item>, family: &HashSet<usize>) -> Option<Tie> {
        if self.objects[child].context {
            return None;
        }
        if !self.objects[child].wanted_absent() {
            let is_missing = |need: &usize| {
                let settled = self.objects[*need].outcome().is_some();
                *need != at && !family.contains(need) && settled && !self.serves(child, *need)
            };
            if let Some(need) = self.objects[child].links.needs().into_iter().find(is_missing) {
                let first = self.objects[need].in_vain.unwrap_or(need);
                return self.skipped_for(first).explanation().cloned().map(Tie::Needs);
            }
            if let Some(why) = self.unmade(child) {
                return Some(Tie::Unmade(why));
            }
        }
        let before = std::mem::replace(&mut self.objects[child].seen, Seen::Present(item?));
        let decision = self.compared(child);
        self.objects[child].seen = before;
        match decision.settled {
            Some(Outcome::Refused(why)) => Some(Tie::Refused(why)),
            Some(Outcome::Conflict(_)) => Some(Tie::InConflict),
            _ => None,
        }
    }
}
