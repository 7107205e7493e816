//! What the end of a parent means for its children that have documents: they go with it.
//!
//! Servers delete what is below an object along with it (a queue's bindings, a zone's records). So a plan says
//! it of the children too, and a child that is tied to its place keeps its parents, selected or not: the rule is that of
//! [`super::super::family`]. Nothing is asked for here; what the server has besides is looked for in `below.rs`.

use super::super::document::{Drift, Ensure};
use super::super::family::Tie;
use super::super::report::{Action, Finding, Outcome};
use super::decide::{Decision, Seen};
use super::object::Phase;
use super::{Engine, Mode};

impl Engine {
    /// The decision on an object, given what becomes of its parents and children.
    pub(super) fn in_family(&mut self, at: usize, decision: Decision) -> Decision {
        if let Some(parent) = self.swept_by(at) {
            return self.goes_with(at, parent, decision);
        }
        if self.went_with_parent(at) {
            return Decision { action: Action::Delete, settled: Some(Outcome::Done), ..decision };
        }
        let decision = self.with_children_told(at, decision);
        if decision.settled.is_some() {
            return decision;
        }
        let destroys = matches!(decision.action, Action::Delete | Action::Replace);
        match self.tied_below(at, decision.action).filter(|_| destroys) {
            Some((child, tie)) => decision.refused(tie.keeps(&self.objects[child].id)),
            None => decision,
        }
    }

    /// A refusal to replace says what else would be lost.
    fn with_children_told(&self, at: usize, mut decision: Decision) -> Decision {
        if let (Action::Replace, Some(Outcome::Refused(why))) = (decision.action, &mut decision.settled) {
            let children = self.children[at].iter().filter(|child| self.objects[**child].origin.is_some());
            let children = children.count();
            if children > 0 {
                let objects = if children == 1 { "object" } else { "objects" };
                why.message +=
                    &format!(", with the {children} {objects} of these files in it, and all others");
            }
        }
        decision
    }

    /// A parent that this plan replaces; or deletes, where its child cannot be deleted alone. An apply has done
    /// so by now, and looks what is there.
    pub(super) fn swept_by(&self, at: usize) -> Option<usize> {
        let with_parent = self.objects[at].with_parent;
        let swept = |parent: &usize| {
            let parent = &self.objects[*parent];
            let sweeps = match parent.action {
                Action::Replace => true,
                Action::Delete => with_parent,
                _ => false,
            };
            sweeps && matches!(parent.phase, Phase::Settled(Outcome::Planned))
        };
        let parents = self.objects[at].links.parents.iter().map(|(_, parent)| *parent);
        parents.filter(|_| self.mode == Mode::Plan).find(swept)
    }

    fn goes_with(&mut self, at: usize, parent: usize, decision: Decision) -> Decision {
        let object = &self.objects[at];
        let (action, what) = match object.policy.ensure {
            Ensure::Present if matches!(decision.settled, None | Some(Outcome::InSync)) => {
                (Action::Replace, "replaced, and is created again")
            }
            Ensure::Absent => (Action::Delete, "deleted"),
            _ => return decision,
        };
        if object.context || !matches!(object.seen, Seen::Present(_)) {
            return decision;
        }
        let message = format!("it goes with `{}`, which is {what}", self.objects[parent].id);
        self.objects[at].findings.push(Finding { code: "GoesWithParent", message, hint: None });
        Decision { action, settled: None, ..decision }
    }

    /// Whether the deletion that was agreed to has been done along with a parent's.
    fn went_with_parent(&self, at: usize) -> bool {
        let object = &self.objects[at];
        let agreed = object.agreed.as_ref().is_some_and(|agreed| agreed.action == Action::Delete);
        object.with_parent && agreed && matches!(object.seen, Seen::Absent)
    }

    /// Whether an object that was to be made came with a parent that this run has made: servers fill what they
    /// make (a zone with its first records), and nobody else has had a hand in that.
    pub(super) fn came_with_parent(&self, at: usize) -> bool {
        let makes = |action| matches!(action, Action::Create | Action::Replace);
        let object = &self.objects[at];
        let mut parents = object.links.parents.iter().map(|(_, parent)| &self.objects[*parent]);
        object.agreed.as_ref().is_some_and(|agreed| makes(agreed.action))
            && parents.any(|parent| {
                // An earlier run over the same plan has made the parent: of what is below it, only what nobody can
                // make is known to have come with it.
                let before = parent.outcome() == Some(&Outcome::Applied)
                    && parent.applied().is_some_and(makes)
                    && object.comes_with_parent();
                before || parent.sets > 0 && makes(parent.action)
            })
    }

    /// Whether an object that is to go is left to the deletion of a parent, having none of its own.
    pub(super) fn goes_with_parent(&self, at: usize) -> bool {
        let object = &self.objects[at];
        let mut parents = object.links.parents.iter().map(|(_, parent)| &self.objects[*parent]);
        object.wanted_absent()
            && object.kind.delete.is_none()
            && parents.any(|parent| parent.wanted_absent() && !parent.context)
    }

    /// An object below this one that is tied to its place, and by what.
    fn tied_below(&self, at: usize, action: Action) -> Option<(usize, Tie)> {
        self.children[at].iter().find_map(|&child| {
            let tie = self.tie(at, child, action).map(|tie| (child, tie));
            tie.or_else(|| self.tied_below(child, action))
        })
    }

    /// What keeps what is above `child` from this action, as far as the documents say; `above` is right above it.
    fn tie(&self, above: usize, child: usize, action: Action) -> Option<Tie> {
        let object = &self.objects[child];
        object.origin.as_ref()?;
        let policy = &object.policy;
        // Its own deletion is refused, and the parent waits for that: a watch goes on with it once the child goes.
        if self.options.unattended && action == Action::Delete && object.goes_first() && !object.context {
            return None;
        }
        if policy.protected {
            return Some(Tie::Protected);
        }
        if policy.paused {
            return Some(Tie::Paused);
        }
        if policy.ensure == Ensure::Exists {
            return Some(Tie::Exists);
        }
        if self.options.held.contains(&object.id) {
            return Some(Tie::Held);
        }
        if action != Action::Replace {
            return None;
        }
        if policy.drift == Drift::Report {
            return Some(Tie::OnlyReported);
        }
        if object.wanted_absent() {
            return None;
        }
        if let Some(id) = &policy.pinned_id {
            return Some(Tie::Pinned(id.clone()));
        }
        let by_update = object.kind.is_singleton() && object.kind.update.is_some();
        if object.kind.create.is_none() && !by_update && !object.comes_with_parent() {
            return Some(Tie::NotMade);
        }
        let above = &self.objects[above];
        above.origin.is_none().then(|| Tie::Orphaned(above.id.clone()))
    }

    /// Whether `child` is below `parent`.
    pub(super) fn is_parent(&self, parent: usize, child: usize) -> bool {
        self.objects[child].links.parents.iter().any(|(_, at)| *at == parent)
    }
}
