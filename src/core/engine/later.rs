//! Fields that wait: an object whose reference was put off, to break a cycle, is made without it, lets those go on
//! that need it, and comes again once what it refers to is settled.

use std::borrow::Cow;

use super::super::cycle;
use super::super::document::Ensure;
use super::super::node::{Node, Reference};
use super::super::report::{Action, Explanation, Finding, Outcome};
use super::decide::Seen;
use super::object::{Object, Phase};
use super::{Engine, Mode, Timer};

impl Engine {
    /// Who comes again after whom.
    pub(super) fn set_waiters(&mut self) {
        for at in 0..self.objects.len() {
            let object = &mut self.objects[at];
            if !object.context && object.policy.ensure == Ensure::Present {
                object.later.clone_from(&object.links.later);
            }
            for to in object.later.clone() {
                self.waiters.entry(to).or_default().push(at);
            }
        }
    }

    /// An object that is there is all that others need of it; what it lacks is decided when it comes again. Not one
    /// that is to be replaced: others would keep the id that it had.
    pub(super) fn serves_already(&self, at: usize) -> bool {
        let object = &self.objects[at];
        !object.later.is_empty() && matches!(&object.seen, Seen::Present(item) if !item.deleting)
    }

    /// A plan says of a new object what it will get later.
    pub(super) fn note_later(&mut self, at: usize, due: Action) {
        let object = &self.objects[at];
        if object.later.is_empty() || due != Action::Create || self.mode != Mode::Plan {
            return;
        }
        let mut findings = Vec::new();
        for to in &object.later {
            let named = |reference: &Reference| object.links.references.get(&reference.text) == Some(to);
            let fields = cycle::fields_without(&object.spec, &named).unwrap_or_default();
            let fields: Vec<String> = fields.iter().map(|field| format!("`{field}`")).collect();
            let other = &self.objects[*to].id;
            let message = format!("created first, then {} is set once `{other}` exists", fields.join(", "));
            findings.push(Finding { code: "SetLater", message, hint: None });
        }
        self.objects[at].findings.append(&mut findings);
    }

    /// An object was settled: it comes again itself, or those do that waited for it.
    pub(super) fn after_settled(&mut self, at: usize) {
        self.come_again(at);
        for waiter in self.waiters.get(&at).cloned().unwrap_or_default() {
            if waiter != at {
                self.come_again(waiter);
            }
        }
    }

    /// Looks at an object once more, with nothing left out, if all that it waited for is settled.
    fn come_again(&mut self, at: usize) {
        let object = &self.objects[at];
        let planned = self.mode == Mode::Plan && object.action == Action::Create;
        if object.later.is_empty() || !object.is_usable() || planned {
            return;
        }
        let later = object.later.clone();
        self.objects[at].served = true;
        if later.iter().any(|to| self.objects[*to].outcome().is_none()) {
            return;
        }
        let missing = later.iter().find(|to| **to != at && !self.is_there(**to));
        let ended = match missing {
            Some(to) => Some(self.skipped_for(*to)),
            None => self.stopped.map(|_| self.left_undone()),
        };
        let mode = self.mode;
        let object = &mut self.objects[at];
        object.later.clear();
        if let Some(outcome) = ended {
            // A run replaces it before it comes to what is missing: that is what a plan says.
            if mode == Mode::Apply || object.action != Action::Replace {
                object.phase = Phase::Settled(lacking(object, outcome));
            }
            return;
        }
        object.comes_again = true;
        object.fence = self.count;
        object.phase = Phase::Waiting;
        self.unsettled += 1;
        self.wake_at(self.now, Timer::Object(at));
    }

    /// Whether what an object refers to is there, or will be when a plan is done.
    fn is_there(&self, at: usize) -> bool {
        let object = &self.objects[at];
        object.is_usable() && (matches!(object.seen, Seen::Present(_)) || object.action == Action::Create)
    }
}

/// What was made in this run and lacks a field says so.
fn lacking(object: &Object, outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Skipped(why) if object.sets > 0 => {
            let message = format!("it was created and lacks what refers to another: {}", why.message);
            Outcome::Skipped(Explanation { message, ..why })
        }
        other => other,
    }
}

impl Object {
    /// What is wanted now: without what comes later.
    pub fn without_later<'n>(&self, spec: &'n Node) -> Cow<'n, Node> {
        let waits = |reference: &Reference| {
            let to = self.links.references.get(&reference.text);
            to.is_some_and(|to| self.later.contains(to))
        };
        match self.later.is_empty() {
            true => Cow::Borrowed(spec),
            false => Cow::Owned(cycle::without(spec, &waits)),
        }
    }
}
