//! What left the file: paths that our field manager alone set, and that are sent no longer.
//!
//! A server that applies takes such fields away with the next write, so a plan that did not show them would not
//! be the whole of what happens; and without them nothing would ever take them away.

use super::super::change::{Change, Reason, Shown};
use super::super::exchange::Item;
use super::super::fields::FieldRules;
use super::super::filter::Vars;
use super::super::kind::Send;
use super::super::managers::{self, Manager};
use super::super::overlay::{Form, overlay};
use super::super::path::Path;
use super::super::report::Finding;
use super::super::value::{Map, Value};
use super::super::veil::Veil;
use super::Engine;
use super::decide::{Facts, Seen};

/// The code of the finding that the field managers cannot be told.
const NO_MANAGERS: &str = "NoManagers";

impl Engine {
    /// Who set which field of an object, as just seen.
    pub(super) fn managers_of(&mut self, at: usize) -> Vec<Manager> {
        let object = &mut self.objects[at];
        let (Some(filter), Seen::Present(item)) = (&object.kind.managers, &object.seen) else {
            return Vec::new();
        };
        object.findings.retain(|finding| finding.code != NO_MANAGERS);
        Manager::of(filter, &item.value).unwrap_or_else(|error| {
            let message = format!("who set its fields cannot be told: {error}");
            let hint = Some("the fault is in `managers` of the backend's document".into());
            object.findings.push(Finding { code: NO_MANAGERS, message, hint });
            Vec::new()
        })
    }
}

/// What has to go of an observed object, beside what is to change anyway.
pub fn left(facts: &Facts, item: &Item, changes: &[Change]) -> Vec<Change> {
    let kind = facts.kind;
    let Some(update) = kind.update.as_ref().filter(|op| op.send == Send::Ours) else { return Vec::new() };
    if facts.managers.is_empty() {
        return Vec::new();
    }
    // What cannot be sent yet says nothing of what is not sent.
    let nothing = Value::Object(Map::new());
    let Ok(sent) = overlay(facts.spec, &nothing, &kind.fields, Form::Full) else { return Vec::new() };
    let mut gone = managers::left(facts.managers, &kind.us, &sent);
    if let Some(filter) = update.body.as_ref().filter(|_| !gone.is_empty()) {
        // Some of it may be sent in another form.
        let Ok(Some(sent)) = filter.one(&sent, &Vars::default()) else { return Vec::new() };
        let still = managers::left(facts.managers, &kind.us, &sent);
        gone.retain(|path| still.contains(path));
    }
    let mut veil = Veil::of(facts.spec);
    veil.join(&Veil::of_rules(&kind.fields));
    let known =
        |path: &Path| changes.iter().any(|change| change.path.covers(path) || path.covers(&change.path));
    let due = gone.into_iter().filter(|path| !known(path) && is_compared(&kind.fields, path));
    due.filter_map(|path| Some(removal(path, path.get(&item.value)?, veil.at(path)))).collect()
}

fn is_compared(rules: &FieldRules, path: &Path) -> bool {
    (0..=path.0.len()).all(|length| !rules.at(&Path(path.0[..length].to_vec())).here.not_compared())
}

fn removal(path: &Path, value: &Value, veil: &Veil) -> Change {
    let before = if veil.hides(value) { Shown::Secret } else { Shown::Value(veil.cover(value)) };
    Change {
        path: path.clone(),
        before: Some(before),
        after: None,
        reason: Reason::Left,
        at: None,
        set_by: Vec::new(),
        since: None,
    }
}
