//! What the end of a parent means for its children: they go with it.
//!
//! Servers delete what is below an object along with it (a queue's bindings, a zone's records). So a plan says
//! it of the children too, and a protected child protects its parents.

use super::super::document::Ensure;
use super::super::report::{Action, Explanation, Finding, Outcome};
use super::decide::{Decision, Seen};
use super::object::{Object, Phase};
use super::{Engine, Mode};

impl Engine {
    /// The decision on an object, given what becomes of its parents and children.
    pub(super) fn in_family(&mut self, at: usize, decision: Decision) -> Decision {
        let destroys = matches!(decision.action, Action::Replace | Action::Delete);
        if destroys && decision.settled.is_none() {
            return match self.protected_below(at) {
                Some(child) => decision.refused(protected(child)),
                None => decision,
            };
        }
        match self.replaced_parent(at) {
            Some(parent) => self.goes_with(at, parent, decision),
            None => decision,
        }
    }

    /// A parent that this plan replaces. An apply has replaced it by now, and looks whether the child is there.
    fn replaced_parent(&self, at: usize) -> Option<usize> {
        let replaced = |parent: &usize| {
            let parent = &self.objects[*parent];
            parent.action == Action::Replace && matches!(parent.phase, Phase::Settled(Outcome::Planned))
        };
        let parents = self.objects[at].links.parents.iter().map(|(_, parent)| *parent);
        parents.filter(|_| self.mode == Mode::Plan).find(replaced)
    }

    fn goes_with(&mut self, at: usize, parent: usize, decision: Decision) -> Decision {
        let stays = matches!(decision.settled, None | Some(Outcome::InSync));
        let object = &self.objects[at];
        let wanted = object.policy.ensure == Ensure::Present && !object.context;
        if !stays || !wanted || !matches!(object.seen, Seen::Present(_)) {
            return decision;
        }
        let parent = &self.objects[parent].id;
        let message = format!("it goes with `{parent}`, which is replaced, and is created again");
        self.objects[at].findings.push(Finding { code: "GoesWithParent", message, hint: None });
        Decision { action: Action::Replace, settled: None, ..decision }
    }

    /// A protected object that would go with this one.
    fn protected_below(&self, at: usize) -> Option<&Object> {
        let children = self.dependants[at].iter().copied().filter(|child| self.is_parent(at, *child));
        let protected = |child: usize| {
            let object = &self.objects[child];
            let here = object.policy.protected && object.policy.ensure == Ensure::Present;
            if here { Some(object) } else { self.protected_below(child) }
        };
        children.into_iter().find_map(protected)
    }

    /// Whether `child` is below `parent`.
    pub(super) fn is_parent(&self, parent: usize, child: usize) -> bool {
        self.objects[child].links.parents.iter().any(|(_, at)| *at == parent)
    }
}

fn protected(child: &Object) -> Explanation {
    Explanation::new(format!(
        "`{}` would go with it, and is protected by `trueup/prune: \"false\"`",
        child.id
    ))
}
