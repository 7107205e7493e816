//! The decision: what one object needs, from what is wanted and what was last seen. Pure, and without memory.

use std::sync::Arc;

use super::super::base::{self, Base, Side, Sides};
use super::super::change::{Change, Reason};
use super::super::conflict::{self, Conflict};
use super::super::diff::compare_since;
use super::super::document::{Drift, Ensure, Flags, OnConflict, Policy};
use super::super::exchange::Item;
use super::super::fields::Immutable;
use super::super::filter::Filter;
use super::super::identity::ObjectId;
use super::super::kind::{Kind, Part};
use super::super::managers::{Manager, name_setters};
use super::super::mark::{self, Borne};
use super::super::mutant::planted;
use super::super::node::{Node, Want};
use super::super::path::Path;
use super::super::report::{Action, DUPLICATE_FOUND, Explanation, Outcome};
use super::super::value::{Value, type_name};
use super::left::left;

/// What is known of an object's existence. Only a complete listing or a direct 404 or 410 proves absence;
/// whatever is not proved forbids every write.
#[derive(Clone, Debug, Default)]
pub enum Seen {
    #[default]
    NotYet,
    Absent,
    Present(Item),
    Unknown(Explanation),
    /// More than one object answers to the key: the ids, of those that have one.
    Several(Vec<Option<String>>),
}

/// What the decision rests on.
pub struct Facts<'f> {
    pub id: &'f ObjectId,
    pub kind: &'f Kind,
    pub policy: &'f Policy,
    /// The desired body, references resolved as far as they are known.
    pub spec: &'f Node,
    /// The body as the document states it, references as they are written.
    pub own: &'f Node,
    pub base: &'f Base,
    /// This run has set values of the object: what differs now is no matter of the base. A deletion sets none: what is
    /// there after it is as it was, or another's.
    pub wrote: bool,
    pub seen: &'f Seen,
    /// Who set which field of what was seen, where the server tells.
    pub managers: &'f [Manager],
    /// Consent to delete and create this object again.
    pub may_replace: bool,
    /// Write although nothing differs: for values that cannot be read back.
    pub rotate: bool,
}

/// What the object needs.
#[derive(Debug)]
pub struct Decision {
    pub action: Action,
    pub changes: Vec<Change>,
    /// Who made the difference, where there is a base.
    pub since: Option<Side>,
    /// `None`: the action is due. Else where the object stands without it.
    pub settled: Option<Outcome>,
    /// What was not compared, its secret not being there: the path, and where the secret comes from.
    pub not_compared: Vec<(Path, Arc<str>)>,
    /// What both sides changed since the base.
    pub conflicts: Vec<Conflict>,
}

impl Decision {
    fn due(action: Action, changes: Vec<Change>) -> Decision {
        let sides = changes.iter().filter_map(|change| change.since.as_ref().map(|since| since.side));
        let since = sides.reduce(Side::with);
        Decision { action, changes, since, settled: None, not_compared: Vec::new(), conflicts: Vec::new() }
    }

    fn settled(outcome: Outcome) -> Decision {
        Decision { settled: Some(outcome), ..Decision::due(Action::None, Vec::new()) }
    }

    pub(super) fn refused(mut self, explanation: Explanation) -> Decision {
        self.settled = Some(Outcome::Refused(explanation));
        self
    }
}

/// Decides.
pub fn decide(facts: &Facts) -> Decision {
    if let Seen::Present(item) = facts.seen
        && let Some(why) = other_shape(facts, &item.value)
    {
        return Decision::settled(Outcome::Unknown(why));
    }
    let decision = match (facts.policy.ensure, facts.seen) {
        (_, Seen::NotYet) => Decision::settled(Outcome::Unknown(Explanation::new("it was not observed"))),
        (_, Seen::Unknown(why)) => Decision::settled(Outcome::Unknown(why.clone())),
        (_, Seen::Several(ids)) => Decision::settled(several(facts.id, ids)),
        (Ensure::Present, Seen::Absent) => create(facts),
        (Ensure::Present, Seen::Present(item)) => update(facts, item),
        (Ensure::Absent, Seen::Absent) => Decision::settled(Outcome::InSync),
        (Ensure::Absent, Seen::Present(item)) => delete(facts, item),
        (Ensure::Exists, Seen::Present(item)) if item.deleting => Decision::settled(going(facts, item)),
        (Ensure::Exists, Seen::Present(_)) => Decision::settled(Outcome::InSync),
        (Ensure::Exists, Seen::Absent) => Decision::settled(Outcome::Failed(
            Explanation::new("it must exist and does not")
                .hint("it is marked `trueup/ensure: exists`: create it by hand, or let trueup manage it"),
        )),
    };
    held_back(facts, decision)
}

/// Annotations that hold an action back.
fn held_back(facts: &Facts, decision: Decision) -> Decision {
    if decision.settled.is_some() {
        return decision;
    }
    if facts.policy.paused {
        return decision.refused(Explanation::new("it is paused by the annotation `trueup/paused`"));
    }
    if facts.policy.drift != Drift::Report {
        return decision;
    }
    // With a base, what is pending is no drift, and goes on.
    if decision.since.is_none_or(Side::is_drift) {
        let why = match facts.kind.drift {
            Drift::Report => "differences are only reported here, by `drift: report` of the kind",
            Drift::Heal => "differences are only reported here, by the annotation `trueup/drift: report`",
        };
        return decision.refused(Explanation::new(why));
    }
    if decision.action == Action::Replace {
        // Were the run to end between the deletion and the creation, the next would take what is missing for drift.
        let why = "it would be deleted and created again, and by the annotation `trueup/drift: report` what is \
                   missing is only reported: a run that ends in between would leave it missing";
        let hint = "take the annotation away for this change";
        return decision.refused(Explanation::new(why).hint(hint));
    }
    decision
}

/// A list or a text is no object whose name lies in one of its members: the read's answer has it elsewhere, if at
/// all, and nothing is known of the object.
fn other_shape(facts: &Facts, value: &Value) -> Option<Explanation> {
    let named =
        |part: &Part| part.on_item.as_ref().and_then(Filter::plain).is_some_and(|path| !path.is_empty());
    let is_map = matches!(facts.spec.want, Want::Map(_));
    if value.is_object() || !is_map || !facts.kind.own_parts().any(named) {
        return None;
    }
    let what = format!("the server answered with {}, and its document says a map", type_name(value));
    Some(Explanation::new(what).hint("say in the backend where an answer has the object, as in `item: .[0]`"))
}

fn several(id: &ObjectId, ids: &[Option<String>]) -> Outcome {
    let told: Vec<&str> = ids.iter().map(|id| id.as_deref().unwrap_or("none")).collect();
    let what = format!("{} objects answer to `{id}`", ids.len());
    let why = match ids.iter().any(Option::is_some) {
        true => Explanation::new(format!("{what}: ids {}", told.join(", ")))
            .hint("say which one is meant with the annotation `trueup/id`"),
        false => Explanation::new(format!("{what}, and none of them has an id"))
            .hint("check `key` of the kind in the backend: it does not tell them apart"),
    };
    Outcome::Failed(why.because(DUPLICATE_FOUND))
}

/// Neither present nor absent: it takes no write, and its name is not free.
fn going(facts: &Facts, item: &Item) -> Outcome {
    let going = "the server is deleting it, and its name is still taken";
    let holders = facts.kind.held_by(&item.value);
    Outcome::Unknown(Explanation::new(holders.map_or(going.into(), |holders| format!("{going}: {holders}"))))
}

fn create(facts: &Facts) -> Decision {
    if let Some(id) = &facts.policy.pinned_id {
        let why = format!("it is pinned to the id `{id}`, and no object has that id");
        let hint = "correct the annotation `trueup/id`, or take it away: then a new object is created";
        return Decision::settled(Outcome::Failed(Explanation::new(why).hint(hint)));
    }
    let since = facts.base.of_missing();
    let decision = Decision { since, ..Decision::due(Action::Create, Vec::new()) };
    let by_update = facts.kind.is_singleton() && facts.kind.update.is_some();
    if facts.kind.create.is_none() && !by_update {
        let why = format!("it does not exist, and the API has no way to create a {}", facts.kind.name.kind);
        return decision.refused(Explanation::new(why));
    }
    decision
}

fn delete(facts: &Facts, item: &Item) -> Decision {
    let since = facts.base.of_unwanted();
    let mut decision = Decision { since, ..Decision::due(Action::Delete, Vec::new()) };
    if item.deleting {
        decision.settled = Some(Outcome::Unknown(facts.kind.being_deleted(&item.value)));
        return decision;
    }
    if let Some(outcome) = facts.policy.pruned.as_ref().and_then(|pruned| pruned.stays(facts.kind, item)) {
        decision.settled = Some(outcome);
        return decision;
    }
    if facts.policy.protected {
        let why = Explanation::new("it is protected by the annotation `trueup/prune: \"false\"`");
        return decision.refused(why);
    }
    if let Some(why) = of_another(facts, item) {
        return decision.refused(why);
    }
    if facts.kind.delete.is_none() {
        let why = format!("it stays: the API has no way to delete a {}", facts.kind.name.kind);
        let hint = format!("leave it out: `--exclude {}`", facts.id.slashed());
        return decision.refused(Explanation::new(why).hint(hint));
    }
    unless_changed(facts, item, decision)
}

/// Why an object that bears the mark of another owner is not ours to delete.
fn of_another(facts: &Facts, item: &Item) -> Option<Explanation> {
    let owner = facts.policy.member.as_ref()?.owner.as_deref()?;
    let path = facts.kind.owner.as_ref()?;
    match mark::borne(path, owner, &item.value) {
        Borne::Theirs(other) if facts.policy.on_conflict != OnConflict::Force => {
            let why = format!("`{}` says that it is `{other}`'s", mark::field(path));
            Some(Explanation::new(why).hint("if it may go all the same: `trueup/on-conflict: force`"))
        }
        _ => None,
    }
}

/// What others changed since the base of an object that is to go does not go unasked: it may be another object by
/// now, or somebody may need it.
fn unless_changed(facts: &Facts, item: &Item, mut decision: Decision) -> Decision {
    let Some(base) = facts.base.spec() else { return decision };
    let changes = base::changed(base, facts.own, &item.value, &facts.kind.fields);
    if changes.is_empty() || planted!(Unasked) {
        return decision;
    }
    decision.since = Some(Side::Conflict);
    let conflicts = changes.iter().filter_map(Conflict::since_base).collect();
    decision.conflicts = conflict::resolved(facts.policy, conflicts);
    if conflict::stand(&decision.conflicts) {
        let why = conflict::of_deletion(facts.id, facts.policy, &decision.conflicts);
        decision.settled = Some(Outcome::Conflict(why));
    }
    decision
}

fn update(facts: &Facts, item: &Item) -> Decision {
    if item.deleting {
        return Decision::settled(going(facts, item));
    }
    let rules = &facts.kind.fields;
    let mut compared = compare_since(facts.spec, facts.base.spec(), &item.value, rules);
    let left = left(facts, item, &compared.changes);
    compared.changes.extend(left);
    name_setters(&mut compared.changes, facts.managers);
    if !matches!(facts.base, Base::None) {
        let sides = Sides { base: facts.base.spec(), ours: facts.own, theirs: &item.value, rules };
        base::tell(&mut compared.changes, facts.spec, &sides);
    }
    let decision = Decision { not_compared: compared.not_compared, ..update_for(facts, compared.changes) };
    unless_in_conflict(facts, decision)
}

/// What both sides changed since the base is overwritten by nobody unasked. After our own write, what differs is
/// what the server made of it.
fn unless_in_conflict(facts: &Facts, mut decision: Decision) -> Decision {
    let settled = decision.settled.is_some() || facts.wrote || planted!(M28);
    if decision.since != Some(Side::Conflict) || settled {
        return decision;
    }
    let conflicts = decision.changes.iter().filter_map(Conflict::since_base).collect();
    decision.conflicts = conflict::resolved(facts.policy, conflicts);
    if conflict::stand(&decision.conflicts) {
        let why = conflict::explanation(facts.id, facts.policy, &decision.conflicts, None);
        decision.settled = Some(Outcome::Conflict(why));
    }
    decision
}

fn update_for(facts: &Facts, mut changes: Vec<Change>) -> Decision {
    if changes.is_empty() && !facts.rotate {
        return Decision::settled(Outcome::InSync);
    }
    if changes.is_empty() {
        let since = facts.policy.secret_since.then_some(Side::Pending);
        let decision = match facts.kind.update {
            Some(_) => Decision::due(Action::Update, changes),
            None => replace(facts, changes),
        };
        return Decision { since, ..decision };
    }
    if facts.kind.update.is_none() {
        changes.iter_mut().for_each(|change| change.reason = Reason::Immutable(Immutable::Replace));
    }
    let refuses = |change: &&Change| change.reason == Reason::Immutable(Immutable::Refuse);
    if let Some(change) = changes.iter().find(refuses) {
        let why = Explanation::new(format!("`{}` cannot be changed", change.path));
        return Decision::due(Action::Update, changes).refused(why);
    }
    if changes.iter().any(|change| matches!(change.reason, Reason::Immutable(_))) {
        return replace(facts, changes);
    }
    Decision::due(Action::Update, changes)
}

fn replace(facts: &Facts, changes: Vec<Change>) -> Decision {
    let decision = Decision::due(Action::Replace, changes);
    if facts.kind.create.is_none() || facts.kind.delete.is_none() {
        let why = format!("a {} can neither be changed nor replaced", facts.kind.name.kind);
        return decision.refused(Explanation::new(why));
    }
    if facts.policy.pinned_id.is_some() {
        let why = "its id is pinned by the annotation `trueup/id`, and a new object would have another";
        return decision.refused(Explanation::new(why));
    }
    if facts.policy.protected {
        let why = "replacing it is forbidden by the annotation `trueup/prune: \"false\"`";
        return decision.refused(Explanation::new(why));
    }
    if let Seen::Present(item) = facts.seen
        && let Some(why) = of_another(facts, item)
    {
        return decision.refused(why);
    }
    if !facts.may_replace {
        let why = unconsented(facts, &decision.changes);
        return decision.refused(why);
    }
    decision
}

/// What is said of an object that nobody allows to be replaced. A watch shows no difference beside it.
fn unconsented(facts: &Facts, changes: &[Change]) -> Explanation {
    const NAMED: usize = 8;
    let mut why = "it would have to be deleted and created again".to_owned();
    let flag = format!("--replace {}", facts.id.slashed());
    if let Some(needing) = &facts.policy.added_for {
        why.push_str(&format!(", and it is only here because `{needing}` needs it"));
        let leave = format!("to leave it as it is: `--exclude {}`", facts.id.slashed());
        return Explanation::new(why).hint(format!("if its loss is acceptable: `{flag}`; {leave}"));
    }
    if facts.policy.flags != Flags::Apply {
        return Explanation::new(why).hint(format!("if its loss is acceptable: {flag}"));
    }
    let fixed = changes.iter().filter(|change| matches!(change.reason, Reason::Immutable(_)));
    let mut named: Vec<String> = fixed.map(|change| format!("`{}`", change.path)).collect();
    let more = named.len().saturating_sub(NAMED);
    named.truncate(NAMED);
    if !named.is_empty() {
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        why.push_str(&format!(": {}{more} cannot be changed in place", named.join(", ")));
    }
    Explanation::new(why).hint(format!(
        "if its loss is acceptable: `trueup apply {flag}`, or `trueup/replace: \"true\"` in its document"
    ))
}
