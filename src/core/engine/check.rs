//! The second opinion of a plan: for what is due, the server is asked what it would make of it.
//!
//! A kind's `check` is a dry run: it stores nothing. It is asked only where all that the object needs is there
//! already, as a server cannot judge what rests on something that the same run is yet to make. Without an
//! answer the plan stands as it is: the opinion is the server's to give.

use super::super::accept::{Acceptance, Reach};
use super::super::change::{Change, Shown};
use super::super::diff::compare;
use super::super::exchange::{Answer, Ask, Failure, FailureClass, Target, Write};
use super::super::kind::Op;
use super::super::report::{Action, Explanation, Finding, Outcome};
use super::super::scrub::quoted;
use super::super::veil::Veil;
use super::body::body_for;
use super::decide::Seen;
use super::object::Phase;
use super::observe::explain;
use super::stick::{acceptances, advice};
use super::{Effect, Engine, Pending};

/// The code of the finding that the server would store another value than the file has.
const WOULD_STORE: &str = "WouldStore";
/// The code of the finding that the server gave no opinion.
const NOT_CHECKED: &str = "NotChecked";

impl Engine {
    /// Asks for the server's opinion of a write that is due; false where there is none to be had.
    pub(super) fn ask_check(&mut self, at: usize, action: Action) -> bool {
        let Some(write) = self.checkable(at, action) else { return false };
        self.budget.first_attempt();
        let id = self.new_request(Pending::Check { object: at });
        self.objects[at].phase = Phase::Checking;
        self.effects.push(Effect::Ask(id, Ask::Check(write)));
        true
    }

    fn checkable(&self, at: usize, action: Action) -> Option<Write> {
        let object = &self.objects[at];
        let check: &Op = object.kind.check.as_ref()?;
        let is_there = |need: &usize| {
            let need = &self.objects[*need];
            matches!(need.seen, Seen::Present(_)) && need.action != Action::Replace && !need.wanted_absent()
        };
        if self.stopped.is_some() || !object.links.needs().iter().all(is_there) {
            return None;
        }
        let write = match action {
            Action::Create => Write::Create,
            Action::Update => Write::Update,
            _ => return None,
        };
        // What cannot be sent is told when it is due to be.
        let (body, changed) = body_for(check, object, &self.spec(at), action, self.rotates(at)).ok()?;
        Some(write(Target { changed, ..self.target(at) }, body))
    }

    /// The answer to a dry run.
    pub(super) fn checked(&mut self, at: usize, answer: Answer) {
        if self.objects[at].outcome().is_some() {
            return;
        }
        let outcome = match answer {
            Answer::Found(item) => {
                let spec = self.spec(at);
                let found = compare(&spec, &item.value, &self.objects[at].kind.fields);
                let rules = &self.objects[at].kind.fields;
                let lines = acceptances(&spec, &item.value, rules, &found.changes, Reach::Whatever);
                let names = Veil::by_names(rules);
                let would = found.changes.iter().map(|change| would_store(change, &names, &lines));
                let findings: Vec<Finding> = would.collect();
                self.objects[at].findings.extend(findings);
                Outcome::Planned
            }
            Answer::Contested(fields) => return self.held(at, &fields),
            Answer::Failed(failure) => self.judged(at, failure),
            Answer::Accepted { .. }
            | Answer::Begun { .. }
            | Answer::Progress(_)
            | Answer::Absent
            | Answer::Listed(_) => Outcome::Planned,
        };
        self.settle(at, outcome);
    }

    /// What a failed dry run says of the write: that it would be refused, or nothing.
    fn judged(&mut self, at: usize, failure: Failure) -> Outcome {
        let failure = self.without_secrets(std::iter::once(at), failure);
        let Explanation { message, hint, .. } = explain(&failure);
        if is_opinion(&failure) {
            let hint = hint.or_else(|| Some("the server was asked by a dry run: nothing was stored".into()));
            return Outcome::Failed(Explanation { message, hint, reason: None });
        }
        self.objects[at].findings.push(Finding { code: NOT_CHECKED, message, hint });
        Outcome::Planned
    }
}

/// Whether a failure is the server's judgement of the object. That the credential may not ask, that there is no
/// dry run, or that the server is busy says nothing of it.
fn is_opinion(failure: &Failure) -> bool {
    match failure.class {
        FailureClass::Status(401 | 403 | 404 | 405 | 408 | 410 | 425 | 429) => false,
        FailureClass::Status(status) => (400..500).contains(&status),
        FailureClass::Refused | FailureClass::Exists | FailureClass::KeyUsed | FailureClass::Backend => true,
        FailureClass::NotSent
        | FailureClass::Lost
        | FailureClass::Conflict
        | FailureClass::Mismatch
        | FailureClass::NotTheApi
        | FailureClass::WrongObject
        | FailureClass::Setup => false,
    }
}

fn would_store(change: &Change, names: &Veil, lines: &[Acceptance]) -> Finding {
    let side = |side: &Option<Shown>| quoted(names, &change.path, side.as_ref());
    let (ours, theirs) = (side(&change.after), side(&change.before));
    let path = &change.path;
    let line = lines.iter().find(|line| line.covers(path));
    Finding {
        code: WOULD_STORE,
        message: format!("`{path}`: {ours} is sent, the server would store {theirs}"),
        hint: line.map(|line| advice(std::slice::from_ref(change), line)),
    }
}
