//! A plan that was saved: what it says of each object, and whether that still holds.
//!
//! What was confirmed in this run may be a moment old; what was saved may be a day old, and was read by somebody
//! else. So nothing but the plan's own acts is done, and what moved since is refused, object by object. Knows
//! nothing of files: a plan comes in as values.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::change::{Change, Shown};
use super::super::managers::side;
use super::super::path::Path;
use super::super::report::{Action, Explanation, Outcome};
use super::super::value::{Value, equal};
use super::Engine;
use super::decide::Decision;
use super::object::Agreed;

/// What a saved plan says of one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Pledge {
    pub action: Action,
    /// What it changes, with the observed values that it rests on.
    pub changes: Vec<Change>,
    /// The server's id of the object that was seen.
    pub server_id: Option<Arc<str>>,
    /// What references named, as they are written, of objects that the plan leaves as they are.
    pub references: Vec<(Arc<str>, Value)>,
    /// Why nothing at all may be done to it.
    pub refused: Option<Explanation>,
}

/// Of a [`Pledge`], what is asked beside the action and the values that it rests on.
#[derive(Clone, Debug)]
pub struct Saved {
    server_id: Option<Arc<str>>,
    references: Vec<(Arc<str>, Value)>,
    refused: Option<Explanation>,
}

impl Saved {
    /// Whether the plan allows to do anything to the object.
    pub fn allows(&self) -> bool {
        self.refused.is_none()
    }
}

impl Engine {
    /// Does what a saved plan says and nothing else. One pledge for each object of the report, in its order.
    pub fn hold_to(&mut self, pledges: Vec<Pledge>) {
        let reported = self.objects.iter_mut().filter(|object| !object.context);
        for (object, pledge) in reported.zip(pledges) {
            let Pledge { action, changes, server_id, references, refused } = pledge;
            let saved = Some(Box::new(Saved { server_id, references, refused }));
            object.agreed = Some(Agreed { saved, ..Agreed::to(action, &changes) });
        }
    }

    /// Whether something changed under our hands since the run was agreed to; `None` when nothing did.
    pub(super) fn moved(&self, at: usize, decision: &Decision) -> Option<Outcome> {
        let object = &self.objects[at];
        let agreed = object.agreed.as_ref()?;
        if let Some(why) = agreed.saved.as_ref().and_then(|saved| saved.refused.clone()) {
            return Some(Outcome::Refused(why));
        }
        if decision.action == Action::Update && self.came_with_parent(at) {
            return None;
        }
        match &agreed.saved {
            Some(saved) => self.is_stale(at, agreed, saved, decision).map(Outcome::Refused),
            None => object.moved(decision.action),
        }
    }

    /// What no longer holds of a saved plan.
    fn is_stale(
        &self,
        at: usize,
        agreed: &Agreed,
        saved: &Saved,
        decision: &Decision,
    ) -> Option<Explanation> {
        let destroys = matches!(decision.action, Action::Delete | Action::Replace);
        let updates = (agreed.action, decision.action) == (Action::Update, Action::Update);
        let same = saved.server_id.is_none() || saved.server_id == self.objects[at].server_id;
        if (destroys || updates) && !same {
            return Some(stale("another object has its name since the plan was made"));
        }
        let why = self.moved_reference(at, saved);
        let why = why.or_else(|| existence(agreed.action, decision.action).map(str::to_owned));
        let why = why.or_else(|| {
            let compares = matches!(decision.action, Action::Update | Action::Replace);
            let moved = moved_value(&agreed.before, &decision.changes, self.names_what_is_new(at));
            moved.filter(|_| compares)
        });
        let why = why.or_else(|| {
            let more = destroys && agreed.action != decision.action;
            more.then(|| format!("to {} it is no part of the plan", decision.action.word()))
        });
        why.map(|why| stale(&why))
    }

    /// A reference that names another value than it did.
    fn moved_reference(&self, at: usize, saved: &Saved) -> Option<String> {
        let mut named = Vec::new();
        self.objects[at].spec.each_ref(&mut |reference, _| named.push(reference));
        saved.references.iter().find_map(|(text, then)| {
            let reference = named.iter().find(|reference| reference.text == *text)?;
            let now = self.look(at, reference).filter(|now| !equal(now, then))?;
            let (then, now) = (Shown::Value(then.clone()), Shown::Value(now));
            Some(told(&format!("what `{text}` names"), Some(&then), Some(&now)))
        })
    }
}

/// What the existence of an object says of a plan that was to do `planned`, now that `due` is due.
fn existence(planned: Action, due: Action) -> Option<&'static str> {
    match (planned, due) {
        (Action::Create, Action::Update | Action::Replace | Action::Delete)
        | (Action::None, Action::Delete) => Some("it has come into being since the plan was made"),
        (Action::None | Action::Update | Action::Delete, Action::Create) => {
            Some("it was deleted since the plan was made")
        }
        _ => None,
    }
}

/// A value that is not what the plan rests on. As in [`super::object::Object::moved`], what stands nowhere says
/// nothing where something that is named was not there then. A value that was hidden is not known.
fn moved_value(
    before: &HashMap<Path, Vec<Option<Shown>>>,
    changes: &[Change],
    named_later: bool,
) -> Option<String> {
    let known = |change: &&Change| {
        let then = before.get(&change.path);
        then.is_some_and(|then| then.iter().any(|then| same(then.as_ref(), change.before.as_ref())))
            || (named_later && change.before.is_none())
    };
    let change = changes.iter().find(|change| !known(change))?;
    Some(match before.get(&change.path).and_then(|then| then.first()) {
        Some(then) => told(&format!("`{}`", change.path), then.as_ref(), change.before.as_ref()),
        None => format!("`{}` has changed on the server since the plan was made", change.path),
    })
}

fn same(then: Option<&Shown>, now: Option<&Shown>) -> bool {
    match (then, now) {
        (Some(Shown::Value(then)), Some(Shown::Value(now))) => equal(then, now),
        (Some(Shown::Secret), Some(_)) => true,
        (then, now) => then == now,
    }
}

fn told(what: &str, then: Option<&Shown>, now: Option<&Shown>) -> String {
    format!("{what} has changed since the plan was made: it was {}, and is {}", side(then), side(now))
}

fn stale(why: &str) -> Explanation {
    Explanation::new(why).hint("make a new plan")
}
