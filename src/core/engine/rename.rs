//! Renames in place: an object that is not there under its name is looked for under the one that it had. There it
//! is updated, its name being one of the fields that differ.

use super::super::identity::Key;
use super::super::kind::Parent;
use super::super::node::{Node, Want};
use super::super::path::{Path, Step};
use super::super::report::{Action, Explanation, Finding, Outcome};
use super::super::value::Value;
use super::decide::{Decision, Seen};
use super::object::Object;
use super::{Engine, Mode};

impl Engine {
    /// An object that was seen under its old name and under its new one is one object.
    pub(super) fn know_renamed(&mut self) {
        for object in &self.objects {
            let former = object.links.former.map(|former| &self.objects[former].id);
            if let Some(former) = former.filter(|former| former.kind == object.id.kind) {
                self.seen.is_same(&former.kind, &former.key, &object.id.key);
            }
        }
    }

    /// Looks under the old name for what is not there under the new one. Whether a look is under way.
    pub(super) fn looks_back(&mut self, at: usize) -> bool {
        let object = &self.objects[at];
        // What this run has deleted is not to be looked for under another name.
        let gone = object.wanted_absent() && object.deletes > 0 && object.stands_as.is_none();
        let former = object.links.former.filter(|_| !object.context && !gone);
        let (Some(former), Seen::Absent) = (former, &object.seen) else { return false };
        if object.stands_as.is_some() {
            // It is nowhere.
            self.objects[at].stands_as = None;
            return false;
        }
        let first = object.passes <= 1;
        let former = &self.objects[former];
        let (key, seen, id) = (former.id.key.clone(), former.seen.clone(), former.server_id.clone());
        if !first {
            self.objects[at].stands_as = Some(key);
            self.observe(at);
            return true;
        }
        let (seen_by_read, name) = (former.seen_by_read, former.id.clone());
        let object = &mut self.objects[at];
        match seen {
            Seen::Present(_) => {
                object.stands_as = Some(key);
                object.server_id = id;
                object.seen_by_read = seen_by_read;
                object.seen = seen;
            }
            Seen::Absent => {}
            Seen::Unknown(why) => {
                let why = format!("whether it is still named `{name}` cannot be told: {}", why.message);
                object.seen = Seen::Unknown(Explanation::new(why));
            }
            Seen::Several(_) | Seen::NotYet => object.seen = seen,
        }
        false
    }

    /// The decision on an object that is there under its name, given what is there under the old one. Where both are,
    /// nobody can tell which of them is to be deleted either.
    pub(super) fn beside_former(&mut self, at: usize, mut decision: Decision) -> Decision {
        self.note_old_name(at, &decision);
        let object = &self.objects[at];
        let Some(former) = object.links.former else { return decision };
        let present = matches!(object.seen, Seen::Present(_)) && object.stands_as.is_none();
        let told = object.findings.iter().any(|finding| finding.code == "RenameDone");
        if !present || object.wrote_at.is_some() || told {
            return decision;
        }
        let former = &self.objects[former];
        match former.seen {
            Seen::Present(_) => {
                let why = format!("both `{}` and `{}`, which it was, are there", object.id, former.id);
                decision.settled = Some(Outcome::Conflict(
                    Explanation::new(why)
                        .hint("remove one of the two, or `trueup/was` if the other is an object of its own"),
                ));
            }
            Seen::Absent if !object.wanted_absent() => {
                let message = format!("nothing is named `{}` any more", former.id);
                let hint = Some("the annotation `trueup/was` can be removed".into());
                self.objects[at].findings.push(Finding { code: "RenameDone", message, hint });
            }
            _ => {}
        }
        decision
    }

    /// Says under which name an object goes.
    fn note_old_name(&mut self, at: usize, decision: &Decision) {
        let (object, code) = (&self.objects[at], "OldName");
        let told = object.findings.iter().any(|finding| finding.code == code);
        let Some(former) = object.links.former.filter(|_| object.stands_as.is_some() && !told) else {
            return;
        };
        if decision.action == Action::Delete && object.wanted_absent() {
            let message = format!("it is still named `{}`, and is deleted as such", self.objects[former].id);
            self.objects[at].findings.push(Finding::new(code, message));
        }
    }

    /// Below a parent that has not got its new name yet: a plan looks under the old one, and nothing is written. What
    /// is to go goes from there: its parent will never get its new name. Whether the object is settled by that.
    pub(super) fn follows_parent(&mut self, at: usize) -> bool {
        let mut parents = self.objects[at].links.parents.iter().map(|(_, parent)| &self.objects[*parent]);
        let Some(parent) = parents.find(|parent| parent.stands_as.is_some()) else { return false };
        if self.mode == Mode::Apply && !self.objects[at].wanted_absent() {
            let why = format!("its parent `{}` has not got its new name", parent.id);
            self.settle(at, Outcome::Skipped(Explanation::new(why)));
            return true;
        }
        self.objects[at].stands_as = self.key_below_former(at);
        false
    }

    /// The key of an object while its parents have their old names; `None` where none has another.
    pub(super) fn key_below_former(&self, at: usize) -> Option<Key> {
        let object = &self.objects[at];
        let mut parts = object.id.key.parts().to_vec();
        let mut moved = false;
        for (part, parent) in &object.links.parents {
            let parent = &self.objects[*parent];
            let Some(former) = parent.links.former.map(|former| &self.objects[former]) else { continue };
            let last = parent.kind.own_parts().last().map(|own| own.name.clone());
            for (name, old) in former.id.key.parts() {
                let here = if Some(name) == last.as_ref() { part } else { name };
                if let Some((_, value)) = parts.iter_mut().find(|(name, _)| name == here) {
                    moved |= value != old;
                    value.clone_from(old);
                }
            }
        }
        moved.then(|| object.kind.key_of(parts))
    }
}

impl Object {
    /// The key under which the object stands on the server, as far as is known.
    pub fn key_now(&self) -> &Key {
        self.stands_as.as_ref().unwrap_or(&self.id.key)
    }

    /// What is wanted of an object under its old name: its new one, too.
    pub fn with_new_name(&self, mut spec: Node) -> Node {
        for (path, value) in self.new_names() {
            lay(&mut spec, &path, value);
        }
        spec
    }

    /// The new value of a field that a rename changes.
    pub fn new_name(&self, field: &Path) -> Option<Value> {
        self.new_names().into_iter().find(|(path, _)| path == field).map(|(_, value)| value)
    }

    /// The places of the names that a rename changes, and what they are to be.
    fn new_names(&self) -> Vec<(Path, Value)> {
        let Some(old) = &self.stands_as else { return Vec::new() };
        let own = self.kind.parts.iter().filter(|part| part.parent == Parent::Own);
        own.filter_map(|part| {
            let (place, new) = (part.place()?, self.id.key.get(&part.name)?);
            let path = Path(place.iter().cloned().map(Step::Field).collect());
            (old.get(&part.name) != Some(new)).then(|| (path, new.clone()))
        })
        .collect()
    }
}

/// Puts a value at a place of a body, making the maps on the way.
fn lay(body: &mut Node, path: &Path, value: Value) {
    let at = body.at;
    let mut node = body;
    for step in &path.0 {
        let (Step::Field(name), Want::Map(map)) = (step, &mut node.want) else { return };
        node = map.get_or_insert_with(name, || Node::new(at, Want::Map(Default::default())));
    }
    *node = Node::from_value(at, value);
}
