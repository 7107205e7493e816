//! Writes that do not stick: what was sent, what the server made of it, and the line for the backend that takes it.

use super::super::accept::{Acceptance, Reach, acceptance};
use super::super::change::{Change, Shown};
use super::super::fields::FieldRules;
use super::super::kind::Kind;
use super::super::node::Node;
use super::super::report::{Action, Explanation, Outcome};
use super::super::scrub::quoted;
use super::super::value::Value;
use super::super::veil::Veil;
use super::Engine;
use super::decide::{Decision, Seen};

/// So many lines are looked for at most: comparing a large object over and over takes its time.
const MOST_LINES: usize = 20;

impl Engine {
    /// Where an object stands whose values do not hold: two writes at most set them in a run, and one where nothing
    /// but a creation sets any.
    pub(super) fn not_effective(&mut self, at: usize, decision: &Decision) -> Option<Outcome> {
        let object = &self.objects[at];
        let kind: &Kind = &object.kind;
        let by_creation = kind.update.is_none() || decision.action == Action::Replace;
        let changes = matches!(decision.action, Action::Update | Action::Replace);
        if !changes || !(object.sets >= 2 || (object.sets == 1 && by_creation)) {
            return None;
        }
        let lines = self.acceptances(at, &decision.changes, Reach::Whatever);
        let names = Veil::by_names(&self.objects[at].kind.fields);
        let outcome = outcome(&decision.changes, &names, lines.first());
        if self.options.suggest {
            self.objects[at].accepted = lines;
        }
        Some(outcome)
    }

    /// Has the report of a plan say with which lines of the backend its differences would be none: those of mere
    /// spelling.
    pub(super) fn suggest(&mut self, at: usize, decision: &Decision) {
        if self.options.suggest && matches!(decision.action, Action::Update | Action::Replace) {
            self.objects[at].accepted = self.acceptances(at, &decision.changes, Reach::Spelling);
        }
    }

    fn acceptances(&self, at: usize, changes: &[Change], reach: Reach) -> Vec<Acceptance> {
        let object = &self.objects[at];
        let Seen::Present(item) = &object.seen else { return Vec::new() };
        acceptances(&self.spec(at), &item.value, &object.kind.fields, changes, reach)
    }
}

/// The lines for the backend with which the first of these changes are none.
pub(super) fn acceptances(
    spec: &Node,
    observed: &Value,
    rules: &FieldRules,
    changes: &[Change],
    reach: Reach,
) -> Vec<Acceptance> {
    let mut rules = rules.clone();
    let mut lines: Vec<Acceptance> = Vec::new();
    for change in changes.iter().take(MOST_LINES) {
        if lines.iter().any(|line| line.covers(&change.path)) {
            continue;
        }
        if let Some(line) = acceptance(spec, observed, &rules, change, reach) {
            line.add_to(&mut rules);
            lines.push(line);
        }
    }
    lines
}

/// What was sent, and what the server stores.
fn outcome(changes: &[Change], names: &Veil, line: Option<&Acceptance>) -> Outcome {
    let Some(change) = changes.first() else {
        return Outcome::NotEffective(Explanation::new("the server keeps another value"));
    };
    let side = |side: &Option<Shown>| quoted(names, &change.path, side.as_ref());
    let (sent, stored) = (side(&change.after), side(&change.before));
    let more = match changes.len() {
        1 => String::new(),
        n => format!(", and {} more like it", n - 1),
    };
    let why = Explanation::new(format!("`{}`: sent {sent}, the server stores {stored}{more}", change.path));
    Outcome::NotEffective(match line {
        Some(line) => why.hint(advice(changes, line)),
        None => why,
    })
}

/// What to do with a line that takes what the server makes of these values.
pub(super) fn advice(changes: &[Change], line: &Acceptance) -> String {
    let words = match changes.iter().all(|change| change.before.is_none()) {
        true => "the server ignores the field: leave it out, or say so in the backend",
        false if line.is_of_spelling() => "if the server's form is as good, say so in the backend",
        false => "if the server may keep a value of its own, say so in the backend",
    };
    let price = if line.is_ignored() { "; then nobody keeps it" } else { "" };
    format!("{words}: `fields: {{{}}}`{price}", line.line())
}
