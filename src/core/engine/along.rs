//! What goes along with an object that is due to go, as far as it was seen: whether that keeps the object, and how it is
//! told of.
//!
//! The rule is that of [`super::super::family`]. What no document names keeps what nobody asked for by name; else it is
//! counted and named, and what was not named when the run was agreed to keeps its parent, too.

use super::super::family::{Tie, stays_for};
use super::super::identity::KindName;
use super::super::report::{Action, Explanation, Finding, NOT_TOLD, Outcome, TAKES_ALONG};
use super::Engine;
use super::below::Below;
use super::decide::Decision;
use super::object::Object;
use super::owner::{PRUNED, SURPLUS};

/// So many objects a finding names; of more the number is told.
const NAMED: usize = 5;

impl Engine {
    /// The decision on an object that is due to go, given what was seen below it.
    pub(super) fn beside_what_is_below(&mut self, at: usize, decision: Decision) -> Decision {
        let due = matches!(decision.action, Action::Delete | Action::Replace) && decision.settled.is_none();
        let Some(below) = self.objects[at].below.take().filter(|below| due && below.done) else {
            return decision;
        };
        let replaces = decision.action == Action::Replace;
        let outcome =
            self.kept_by(at, &below).or_else(|| self.not_made_again(at, &below).filter(|_| replaces));
        let object = &mut self.objects[at];
        object.findings.retain(|finding| ![TAKES_ALONG, NOT_TOLD].contains(&finding.code));
        if outcome.is_none() {
            object.findings.extend(takes_along(&below));
            object.observed.along.clone_from(&below.unnamed);
        }
        object.below = Some(below);
        match outcome {
            None => decision,
            Some(outcome @ Outcome::Extra(_)) => {
                // What was due to go is left alone.
                let object = &mut self.objects[at];
                (object.action, object.since) = (Action::None, None);
                object.changes.clear();
                object.findings.retain(|finding| ![PRUNED, SURPLUS].contains(&finding.code));
                Decision { action: Action::None, changes: Vec::new(), settled: Some(outcome), ..decision }
            }
            outcome => Decision { settled: outcome, ..decision },
        }
    }

    /// Why an object does not go; `None` where nothing below it keeps it.
    fn kept_by(&self, at: usize, below: &Below) -> Option<Outcome> {
        let object = &self.objects[at];
        if let Some((child, tie)) = &below.tied {
            return Some(Outcome::Refused(tie.keeps(child)));
        }
        if let Some(child) = self.not_selected_and_untold(at, below) {
            return Some(Outcome::Refused(Tie::NotSelected.keeps(&child.id)));
        }
        if let Some(why) = &below.doubt {
            let message = format!("what is below it, and would go with it, is not known: {}", why.message);
            return Some(Outcome::Unknown(Explanation { message, ..why.clone() }));
        }
        if object.policy.pruned.is_some() {
            let untold = below.untold.first().map(|(kind, why)| untold(kind, why));
            let why = below.keeper.as_ref().map(stays_for).or_else(|| untold.map(Explanation::new))?;
            let was_due = object.agreed.as_ref().is_some_and(|agreed| agreed.action == Action::Delete);
            return Some(if was_due { Outcome::Refused(why) } else { Outcome::Extra(why) });
        }
        if self.options.unattended {
            let named = below.unnamed.first().map(|child| {
                format!("`{child}`, which no document names, would go with it, and nobody is asked here")
            });
            let why = named.or_else(|| below.untold.first().map(|(kind, why)| untold(kind, why)))?;
            return Some(Outcome::Refused(Explanation::new(why).hint(
                "`trueup apply` shows what would go along, and asks; or give it a document, or delete it first",
            )));
        }
        let agreed = object.agreed.as_ref()?;
        let new = below.unnamed.iter().find(|child| !agreed.along.contains(child))?;
        let why = format!("`{new}` would go with it, and was not part of what was confirmed");
        Some(Outcome::Refused(Explanation::new(why).hint("look at a new plan and confirm it")))
    }

    /// A child that was not selected, and of which nobody can tell whether it is there.
    fn not_selected_and_untold(&self, at: usize, below: &Below) -> Option<&Object> {
        let mut next = self.children[at].clone();
        while let Some(child) = next.pop() {
            let object = &self.objects[child];
            let is_untold = below.untold.iter().any(|(kind, _)| *kind == object.id.kind);
            if object.is_left_out() && is_untold {
                return Some(object);
            }
            next.extend(&self.children[child]);
        }
        None
    }
}

/// What a plan says of what would be lost besides.
fn takes_along(below: &Below) -> Vec<Finding> {
    let mut found = Vec::new();
    let all = below.unnamed.len();
    if all > 0 {
        let names: Vec<String> = below.unnamed.iter().take(NAMED).map(|id| format!("`{id}`")).collect();
        let more = if all > NAMED { format!(" and {} more", all - NAMED) } else { String::new() };
        let what = if all == 1 { "1 object goes".into() } else { format!("{all} objects go") };
        let message =
            format!("{what} with it that no document names, with all below: {}{more}", names.join(", "));
        found.push(Finding::new(TAKES_ALONG, message));
    }
    found.extend(below.untold.iter().map(|(kind, why)| Finding::new(NOT_TOLD, untold(kind, why))));
    found
}

fn untold(kind: &KindName, why: &str) -> String {
    format!("whether a {} is below it, and would go with it, cannot be told: {why}", kind.kind)
}
