//! A plan that was saved: what it says of each object, and whether that still holds.
//!
//! What was confirmed in this run may be a moment old; what was saved may be a day old, and was read by somebody
//! else. So nothing but the plan's own acts is done, and what moved since is refused, object by object. Knows
//! nothing of files: a plan comes in as values.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::base::Left;
use super::super::change::{Change, Shown};
use super::super::cycle;
use super::super::document::Flags;
use super::super::identity::ObjectId;
use super::super::node::{Node, Reference, Want};
use super::super::path::Path;
use super::super::report::{Action, Explanation, Finding, Outcome};
use super::super::scrub::quoted;
use super::super::value::{Value, equal};
use super::super::veil::Veil;
use super::Engine;
use super::decide::Decision;
use super::object::Agreed;

/// The code of the finding that a rotation of a saved plan is done again.
const SENT_AGAIN: &str = "SentAgain";

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
    /// What is in no document, and goes along with it.
    pub along: Vec<ObjectId>,
    /// Why nothing at all may be done to it.
    pub refused: Option<Explanation>,
    /// What of it has moved, as far as that is known before the run: then it is not done, unless it was already.
    pub moved: Option<Explanation>,
}

/// Of a [`Pledge`], what is asked beside the action and the values that it rests on.
#[derive(Clone, Debug)]
pub struct Saved {
    server_id: Option<Arc<str>>,
    references: Vec<(Arc<str>, Value)>,
    refused: Option<Explanation>,
    moved: Option<Explanation>,
}

impl Saved {
    /// Why nothing is done to the object.
    fn stays(&self) -> Option<Explanation> {
        self.refused.clone().or_else(|| self.moved.clone())
    }

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
            let Pledge { action, changes, server_id, references, along, refused, moved } = pledge;
            object.policy.flags = Flags::NewPlan;
            let saved = Some(Box::new(Saved { server_id, references, refused, moved }));
            let along = along.into_iter().collect();
            object.agreed = Some(Agreed { saved, along, ..Agreed::to(action, &changes) });
        }
    }

    /// Whether something changed under our hands since the run was agreed to; `None` when nothing did.
    pub(super) fn moved(&self, at: usize, decision: &Decision) -> Option<Outcome> {
        let object = &self.objects[at];
        let agreed = object.agreed.as_ref()?;
        if let Some(why) = agreed.saved.as_ref().and_then(|saved| saved.stays()) {
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
        if self.lacks_what_was_put_off(at, agreed, decision) {
            return None;
        }
        let why = self.moved_reference(at, saved);
        let why = why.or_else(|| existence(agreed.action, decision.action).map(str::to_owned));
        let why = why.or_else(|| {
            let compares = matches!(decision.action, Action::Update | Action::Replace);
            let names = Veil::by_names(&self.objects[at].kind.fields);
            let moved = moved_value(&agreed.before, &decision.changes, self.names_what_is_new(at), &names);
            moved.filter(|_| compares)
        });
        let why = why.or_else(|| {
            let other = matches!(agreed.action, Action::None | Action::Delete);
            let more = (destroys || other) && agreed.action != decision.action;
            more.then(|| format!("to {} it is no part of the plan", decision.action.word()))
        });
        why.map(|why| stale(&why))
    }

    /// Whether it was made, and then the run was ended: all that is missing is what comes after others are made. Who
    /// made it is not known; nothing of it is overwritten.
    fn lacks_what_was_put_off(&self, at: usize, agreed: &Agreed, decision: &Decision) -> bool {
        let object = &self.objects[at];
        let makes = matches!(agreed.action, Action::Create | Action::Replace);
        if !makes || decision.action != Action::Update || object.links.later.is_empty() {
            return false;
        }
        let put_off = |reference: &Reference| {
            object.links.references.get(&reference.text).is_some_and(|to| object.links.later.contains(to))
        };
        let fields = cycle::fields_without(&object.spec, &put_off).unwrap_or_default();
        let is_put_off = |change: &Change| {
            let part_of = |field: &Path| field.covers(&change.path) || change.path.covers(field);
            change.before.is_none() && fields.iter().any(part_of)
        };
        decision.changes.iter().all(is_put_off)
    }

    /// The decision on an object, given what a saved plan says of it.
    pub(super) fn as_planned(&self, at: usize, decision: Decision) -> Decision {
        if let Some(why) = self.untold_by_now(at) {
            return decision.refused(why);
        }
        let saved = self.objects[at].agreed.as_ref().and_then(|agreed| agreed.saved.as_ref());
        match saved.and_then(|saved| saved.stays()) {
            Some(why) if matches!(decision.settled, Some(Outcome::Conflict(_))) => decision.refused(why),
            _ => decision,
        }
    }

    /// What a saved plan takes away, and of which nobody can tell any more whether it still is the base's: then it is
    /// not done, and must not count as done.
    fn untold_by_now(&self, at: usize) -> Option<Explanation> {
        let object = &self.objects[at];
        let agreed = object.agreed.as_ref().filter(|agreed| agreed.saved.is_some() && object.sets == 0)?;
        object.base.spec()?;
        let Left { untold, .. } = object.left(&self.resolved(at))?;
        let planned = |path: &&Path| agreed.before.keys().any(|then| then.covers(path) || path.covers(then));
        let path = untold.iter().find(planned)?;
        let why =
            format!("`{path}` was to be removed, and here nobody can tell whether it still is the base's");
        Some(Explanation::new(why).hint("set the variable of the secret that stood there, or write `null`"))
    }

    /// Says of a rotation that it is done each time.
    pub(super) fn note_sent_again(&mut self, at: usize) {
        let rotates = self.rotates(at);
        let object = &mut self.objects[at];
        let saved = object.agreed.as_ref().is_some_and(|agreed| agreed.saved.is_some());
        if saved && rotates && object.findings.iter().all(|finding| finding.code != SENT_AGAIN) {
            let message = "its hidden values are sent each time the plan is applied: whether they were before, no read shows";
            object.findings.push(Finding::new(SENT_AGAIN, message));
        }
    }

    /// A reference that names another value than it did.
    fn moved_reference(&self, at: usize, saved: &Saved) -> Option<String> {
        let mut named = Vec::new();
        self.objects[at].spec.each_ref(&mut |reference, _| named.push(reference));
        saved.references.iter().find_map(|(text, then)| {
            let reference = named.iter().find(|reference| reference.text == *text)?;
            let now = self.look(at, reference).filter(|now| !equal(now, then))?;
            let what = format!("what `{text}` names");
            if self.is_secret_by_name(at, reference, &now) {
                return Some(has_changed(&what));
            }
            let (then, now) = (Shown::Value(then.clone()), Shown::Value(now));
            let names = self.names_behind(at, reference);
            Some(told(&what, (&names, &reference.field), Some(&then), Some(&now)))
        })
    }

    /// What is called like a secret in the object that a reference names.
    fn names_behind(&self, at: usize, reference: &Reference) -> Veil {
        let named = self.objects[at].links.references.get(&reference.text);
        named.map_or_else(Veil::default, |named| Veil::by_names(&self.objects[*named].kind.fields))
    }

    /// Whether a value goes into a field that is called like a secret.
    fn is_secret_by_name(&self, at: usize, reference: &Reference, value: &Value) -> bool {
        let object = &self.objects[at];
        hides(&Veil::by_names(&object.kind.fields), &object.spec, reference, value)
    }
}

/// Whether a veil lies over a place where a reference stands.
fn hides(veil: &Veil, node: &Node, reference: &Reference, value: &Value) -> bool {
    match &node.want {
        Want::Ref(here) => here.text == reference.text && (veil.hides(value) || veil.cover(value) != *value),
        Want::List(items) => items.iter().any(|item| hides(veil.each(), item, reference, value)),
        Want::Map(map) => map.iter().any(|(name, item)| hides(veil.field(name), item, reference, value)),
        Want::Unset | Want::Json(_) | Want::Secret(_) | Want::Outside(_) => false,
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
    names: &Veil,
) -> Option<String> {
    let known = |change: &&Change| {
        let then = before.get(&change.path);
        then.is_some_and(|then| then.iter().any(|then| same(then.as_ref(), change.before.as_ref())))
            || (named_later && change.before.is_none())
    };
    let change = changes.iter().find(|change| !known(change))?;
    Some(match before.get(&change.path).and_then(|then| then.first()) {
        Some(then) => {
            let place = (names, &change.path);
            told(&format!("`{}`", change.path), place, then.as_ref(), change.before.as_ref())
        }
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

fn told(what: &str, (names, path): (&Veil, &Path), then: Option<&Shown>, now: Option<&Shown>) -> String {
    let is_secret =
        |side: Option<&Shown>| quoted(names, path, side) == quoted(names, path, Some(&Shown::Secret));
    if is_secret(then) && is_secret(now) {
        return has_changed(what);
    }
    let (then, now) = (quoted(names, path, then), quoted(names, path, now));
    format!("{}: it was {then}, and is {now}", has_changed(what))
}

fn has_changed(what: &str) -> String {
    format!("{what} has changed since the plan was made")
}

fn stale(why: &str) -> Explanation {
    Explanation::new(why).hint("make a new plan")
}
