//! What a run is told not to write: objects, paths, and whatever is over a number of writes. All of it is looked at.

use super::super::change::Change;
use super::super::give_up::{self, Given};
use super::super::path::Path;
use super::super::report::{Action, CHANGE_LIMIT, Explanation, FROZEN, Finding, HELD, Outcome, REPORTED};
use super::Engine;
use super::decide::{Decision, Seen};

impl Engine {
    /// The decision on an object, where it may only be looked at.
    pub(super) fn unless_held(&self, at: usize, decision: Decision) -> Decision {
        let object = &self.objects[at];
        if decision.settled.is_some() || object.context || !self.options.held.contains(&object.id) {
            return decision;
        }
        decision.refused(Explanation::new("it is only looked at for now").because(HELD))
    }

    /// Where an object stands whose write would be over the limit of the run. What this run has deleted to make it
    /// anew is made, whatever the limit, with what went along: else it would be lost.
    pub(super) fn over_limit(&self, at: usize) -> Option<Outcome> {
        let most = self.options.most_writes?;
        let object = &self.objects[at];
        let parents = object.links.parents.iter().map(|(_, parent)| &self.objects[*parent]);
        let lost = parents.chain([object]).any(|object| object.deletes > 0);
        let may = self.sent < most || lost;
        let why = "not written: there have been as many changes as there may be for now";
        (!may).then(|| Outcome::Refused(Explanation::new(why).because(CHANGE_LIMIT)))
    }

    /// Leaves out what differs at frozen paths: the decision that stands, where there is nothing to be given up, or
    /// nothing that can be; `None` where it was given up, and the rest is to be compared anew.
    pub(super) fn freeze(&mut self, at: usize, decision: Decision) -> Option<Decision> {
        let object = &self.objects[at];
        let frozen = self.options.frozen.get(&object.id).map_or(&[][..], Vec::as_slice);
        let reported = &object.policy.report[..];
        let is_any = !frozen.is_empty() || !reported.is_empty();
        if !is_any || !matches!(decision.action, Action::Update | Action::Replace) {
            return Some(decision);
        }
        let is_given = |path: &Path| {
            let place = give_up::place(path);
            object.contest.given.iter().any(|given| Some(&given.path) == place.as_ref())
        };
        // Once a path is left out, a difference around it is without it.
        let keeps = |path: &Path, change: &Change| {
            path.covers(&change.path) || (change.path.covers(path) && !is_given(path))
        };
        let all = || decision.changes.iter().cloned();
        let (told, rest): (Vec<Change>, Vec<Change>) =
            all().partition(|change| is_drift(change) && reported.iter().any(|path| keeps(path, change)));
        let (kept, rest): (Vec<Change>, Vec<Change>) =
            rest.into_iter().partition(|change| frozen.iter().any(|path| keeps(path, change)));
        if kept.is_empty() && told.is_empty() {
            return Some(decision);
        }
        if kept.is_empty() && rest.is_empty() && object.writes() == 0 && !self.rotates(at) {
            return Some(only_reported(decision, told));
        }
        let keeping =
            |path: &&Path| kept.iter().chain(&told).any(|change| keeps(path, change)) && !is_given(path);
        let paths: Vec<Path> = frozen.iter().chain(reported).filter(keeping).cloned().collect();
        let given = self.give_up_paths(at, &paths);
        self.note_frozen(at, kept);
        self.note_reported(at, &told);
        match given {
            Ok(()) if !paths.is_empty() => None,
            Ok(()) => Some(self.without_frozen(at, decision, rest, "it was left out, and differs still")),
            Err(why) => Some(self.without_frozen(at, decision, rest, why)),
        }
    }

    /// What is left to decide where frozen paths cannot be left out of what is sent.
    fn without_frozen(&self, at: usize, mut decision: Decision, rest: Vec<Change>, why: &str) -> Decision {
        if rest.is_empty() && !self.rotates(at) {
            decision.action = Action::None;
            decision.changes = rest;
            decision.since = None;
            decision.settled = Some(Outcome::InSync);
            return decision;
        }
        // What is applied has to name all that is ours; the server is told the same again.
        if self.objects[at].kind.is_applied() && decision.settled.is_none() {
            return decision;
        }
        decision.refused(Explanation::new(format!("not written for now: {why}")).because(FROZEN))
    }

    /// Gives up paths for this run.
    ///
    /// # Errors
    /// Why one of them cannot be left as the server has it: then none is.
    fn give_up_paths(&mut self, at: usize, paths: &[Path]) -> Result<(), &'static str> {
        let managers = self.managers_of(at);
        let (object, spec) = (&self.objects[at], self.spec(at));
        let mut given: Vec<Given> = Vec::new();
        for path in paths {
            let place = give_up::place(path).ok_or("it is the whole of the object")?;
            if !given.iter().any(|known| known.path == place) {
                given.push(object.given(place, &spec, &managers)?);
            }
        }
        self.objects[at].contest.given.extend(given);
        Ok(())
    }

    /// Tells of what differs at frozen paths: as it was seen last.
    fn note_frozen(&mut self, at: usize, kept: Vec<Change>) {
        let object = &mut self.objects[at];
        for change in kept {
            object
                .findings
                .retain(|finding| !(finding.code == FROZEN && finding.message == told(&change.path)));
            object.findings.push(Finding::new(FROZEN, told(&change.path)));
            object.observed.frozen.retain(|known| known.path != change.path);
            object.observed.frozen.push(change);
        }
    }

    /// Tells of what differs at paths that are only reported.
    fn note_reported(&mut self, at: usize, all: &[Change]) {
        let object = &mut self.objects[at];
        for change in all {
            let message = format!("`{}` differs, and is only reported, by `trueup/report`", change.path);
            object.findings.retain(|finding| finding.message != message);
            object.findings.push(Finding::new(REPORTED, message));
        }
    }

    /// What the next run is to know of what was just seen.
    pub(super) fn note_observed(&mut self, at: usize) {
        let object = &mut self.objects[at];
        object.observed.ready = match &object.seen {
            Seen::Present(item) => item.ready,
            _ => None,
        };
    }
}

/// With a base, what is pending is no drift, and goes on.
fn is_drift(change: &Change) -> bool {
    change.since.as_ref().is_none_or(|since| since.side.is_drift())
}

/// Where nothing differs but what is only told of.
fn only_reported(mut decision: Decision, told: Vec<Change>) -> Decision {
    decision.changes = told;
    let why = "what differs is only reported here, by the annotation `trueup/report`";
    decision.refused(Explanation::new(why).because(REPORTED))
}

fn told(path: &Path) -> String {
    format!("`{path}` differs, and is left as it is for now")
}
