//! Acting: from a due action, past the guards, to its place in the queue of writes.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;

use super::super::exchange::Item;
use super::super::mutant::planted;
use super::super::node::Node;
use super::super::report::{Action, CREATE_UNCERTAIN, Explanation, Outcome};
use super::backoff;
use super::decide::{Decision, Seen};
use super::object::{Object, Phase};
use super::observe::version_needs_read;
use super::{Engine, Mode};

/// How long a deletion may take to show, where the kind says nothing longer.
const GONE_WITHIN: Duration = Duration::from_secs(30);
/// How long a deletion is waited for that the server shows to be under way.
const FINISHED_GOING_WITHIN: Duration = Duration::from_secs(5 * 60);

impl Engine {
    /// Compares what is wanted with what was just seen, and does the next thing.
    pub(super) fn decide(&mut self, at: usize) {
        if self.is_awaited(at) {
            return;
        }
        self.judge_guard(at);
        let decision = self.decision(at);
        self.recognise_own_write(at, decision.settled == Some(Outcome::InSync));
        if self.waits_for_the_server(at, decision.action)
            || (decision.action == Action::Create && self.is_claimed(at))
        {
            return;
        }
        if self.serves_already(at) && decision.action != Action::Replace {
            return self.settle(at, Outcome::InSync);
        }
        let decision = self.in_family(at, decision);
        let decision = self.beside_what_is_below(at, decision);
        let decision = self.beside_former(at, decision);
        let decision = self.while_it_can_be_missed(at, decision);
        let decision = self.unless_it_cannot_be_made(at, decision);
        let decision = self.as_planned(at, decision);
        let decision = self.unless_held(at, decision);
        self.take_note(at, &decision);
        self.note_later(at, decision.action);
        if let Some(outcome) = decision.settled {
            let outcome = match outcome {
                Outcome::Unknown(why) => self.objects[at].perhaps_created(why),
                outcome => outcome,
            };
            return self.settle(at, outcome);
        }
        if self.objects[at].context {
            return self.settle(at, Outcome::Planned);
        }
        if self.waits_for_a_value(at, &decision) || self.waits_for_what_goes_along(at, &decision) {
            return;
        }
        if self.mode == Mode::Plan {
            self.suggest(at, &decision);
            return self.promise(at, decision.action);
        }
        self.act_on(at, decision);
    }

    pub(super) fn is_named(&self, at: usize, names: &BTreeSet<String>) -> bool {
        !names.is_empty() && names.contains(&self.objects[at].id.slashed())
    }

    /// Whether what is hidden is still to be sent again. A creation that was agreed to has sent it, in whichever run;
    /// of an update that cannot be known, and the same value sent again is the same value.
    pub(super) fn rotates(&self, at: usize) -> bool {
        let object = &self.objects[at];
        let by_creation = object.agreed.as_ref().is_some_and(|agreed| agreed.action == Action::Create);
        let since = object.policy.secret_since && object.kind.fields.any_hidden();
        object.sets == 0 && !by_creation && (since || self.is_named(at, &self.options.rotate))
    }

    /// A plan promises what the run would do: no deletion of what something that stays still needs.
    fn promise(&mut self, at: usize, action: Action) {
        if self.plan_looks_below(at, action) {
            return;
        }
        let object = &mut self.objects[at];
        if object.wanted_absent() && object.holders > 0 {
            object.phase = Phase::Held;
            return;
        }
        let is_spared = object.wanted_absent() && self.is_spared(at);
        if !is_spared && !self.ask_check(at, action) {
            self.settle(at, Outcome::Planned);
        }
    }

    /// What is wanted of an object: its document, without what left it since the base, and what is given up.
    pub(super) fn spec(&self, at: usize) -> Cow<'_, Node> {
        let spec = self.resolved(at);
        let spec = match self.objects[at].left(&spec) {
            Some(left) => Cow::Owned(left.spec),
            None => spec,
        };
        self.objects[at].without_given(spec)
    }

    /// What the document of an object says, with what its references name; copied only where there are any.
    pub(super) fn resolved(&self, at: usize) -> Cow<'_, Node> {
        let object = &self.objects[at];
        if object.links.references.is_empty() && object.stands_as.is_none() {
            return object.with_mark(Cow::Borrowed(&object.spec));
        }
        let spec = object.without_later(&object.spec);
        let spec = spec.resolve(&|reference| self.look(at, reference));
        object.with_mark(Cow::Owned(object.with_new_name(spec)))
    }

    /// A write whose answer was lost, and whose effect is there: it was ours.
    fn recognise_own_write(&mut self, at: usize, in_sync: bool) {
        let object = &mut self.objects[at];
        let Some((action, _)) = &object.doubt else { return };
        let done = match action {
            Action::Create => matches!(object.seen, Seen::Present(_)),
            // What goes, goes: a later look that does not say so is behind, and no reason to ask for it once more.
            Action::Delete | Action::Replace => match &object.seen {
                Seen::Absent => true,
                Seen::Present(item) => item.deleting || object.has_successor(),
                _ => false,
            },
            _ => in_sync,
        };
        if !done {
            return;
        }
        match action {
            Action::Delete | Action::Replace => {
                object.deletes += 1;
                (object.written, object.was_set) = (None, false);
            }
            _ => (object.sets, object.was_set) = (object.sets + 1, true),
        }
        object.doubt = None;
        object.agreed = None;
        object.last_failure = None;
    }

    /// Keeps what is due for the report: the action before anything was written, and what is left to change.
    fn take_note(&mut self, at: usize, decision: &Decision) {
        self.note_conflicts(at, decision);
        let object = &mut self.objects[at];
        object.note_not_compared(&decision.not_compared);
        object.note_ambiguous();
        object.note_untold();
        object.note_ownership(decision.action);
        object.note_risk(decision.action);
        object.note_rotation();
        let nothing_done = object.sets == 0 && object.deletes == 0 && object.wrote_at.is_none();
        if object.action == Action::None || (nothing_done && decision.action != Action::None) {
            let went_with_parent =
                object.agreed.as_ref().is_some_and(|agreed| agreed.action == Action::Replace);
            let again = decision.action == Action::Create && went_with_parent;
            object.action = if again { Action::Replace } else { decision.action };
            object.changes = decision.changes.clone();
            object.since = decision.since;
        } else if !decision.changes.is_empty() && object.sets > 0 {
            object.changes = decision.changes.clone();
        }
    }

    /// After our own write, what is not visible yet, or not gone yet, is looked at again for a while.
    fn waits_for_the_server(&mut self, at: usize, due: Action) -> bool {
        let object = &self.objects[at];
        if object.wrote_at.is_none() {
            return false;
        }
        let (patience, waiting) = match (&object.seen, due) {
            (Seen::Absent, Action::Create) => object.patience_for_new(self.options.waits.is_some()),
            (Seen::Present(_), _) if object.has_successor() => return false,
            (Seen::Present(item), Action::Delete | Action::Replace) if object.sets == 0 => {
                (patience_with_deletion(object, item), object.deletes > 0 || item.deleting)
            }
            (Seen::Present(item), _) if item.deleting => (FINISHED_GOING_WITHIN, object.deletes > 0),
            (Seen::Present(_), Action::Update) => {
                let old_name = object.stands_as.is_some() && object.sets > 0;
                (object.patience(), object.pending || old_name)
            }
            _ => return false,
        };
        let over = object.since_write(self.now) >= Some(patience) || self.stopped.is_some();
        let is_new = matches!(object.seen, Seen::Absent) && due == Action::Create;
        // An uncertain create gets two looks even where nothing is said of visibility.
        if !waiting || (over && !(object.uncertain() && object.looks < 2)) {
            return is_new && self.asks_for_itself(at);
        }
        if is_new && object.is_gone_for_good(self.now) {
            return false;
        }
        if !over && is_new && self.leaves_hidden(at) {
            return true;
        }
        self.objects[at].looks += 1;
        if !self.objects[at].wanted_absent() {
            self.objects[at].stands_as = None;
        }
        self.wait(at, backoff::visibility_delay(self.objects[at].looks));
        true
    }

    /// The guards between a due action and its write.
    fn act_on(&mut self, at: usize, decision: Decision) {
        let object = &self.objects[at];
        if let (Some(_), Some((action, heard))) = (self.stopped, &object.doubt) {
            let why = format!(
                "the run ended before it was known whether its {} was done: {}",
                noun(*action),
                heard.message
            );
            let reason = (*action == Action::Create).then_some(CREATE_UNCERTAIN);
            let why = Explanation { reason, ..Explanation::new(why).hint("run the command again") };
            return self.settle(at, Outcome::Unknown(why));
        }
        if let Some(outcome) = self.is_succeeded(at) {
            self.objects[at].changes = decision.changes;
            return self.settle(at, outcome);
        }
        if let Some(why) = self.objects[at].last_failure.take() {
            let object = &self.objects[at];
            let outcome = if object.uncertain() { object.perhaps_created(why) } else { Outcome::Failed(why) };
            return self.settle(at, outcome);
        }
        let may_go_on = self.stopped.is_none() && decision.action == Action::Create;
        if may_go_on && self.objects[at].was_remembered() {
            return self.enqueue(at, Action::Create);
        }
        if self.is_told_by_listing_alone(at, decision.action) {
            self.objects[at].own_read = true;
            return self.observe(at);
        }
        if decision.action == Action::Create && self.objects[at].is_gone_for_good(self.now) {
            self.objects[at].is_given_up();
        }
        let spent = self.not_effective(at, &decision).or_else(|| spent(&self.objects[at], &decision));
        if let Some(outcome) = spent {
            return self.settle(at, outcome);
        }
        // What a plan left alone for what is below it is left alone still, and not refused for want of consent.
        let object = &self.objects[at];
        let left = object.agreed.as_ref().is_some_and(|agreed| agreed.action == Action::None);
        if left && object.policy.pruned.is_some() && self.looks_below(at) {
            return;
        }
        if let Some(outcome) = self.moved(at, &decision) {
            self.objects[at].changes = decision.changes;
            return self.settle(at, outcome);
        }
        if self.is_in_the_way(at, &decision) {
            return;
        }
        if self.stopped.is_some() {
            return self.settle(at, self.left_undone());
        }
        if let Some(outcome) = self.over_limit(at) {
            return self.settle(at, outcome);
        }
        let object = &self.objects[at];
        match decision.action {
            Action::Delete | Action::Replace => self.destroy(at),
            Action::Create if self.is_missed_by_listing_alone(at) => self.look_first(at),
            Action::Update
                if (version_needs_read(&object.kind) || self.seeks_version(at))
                    && !object.seen_by_read
                    && self.is_readable(at) =>
            {
                // The precondition is in the answer to the object's own read, where it can be read by itself.
                self.objects[at].own_read = true;
                self.observe(at);
            }
            Action::Update => {
                self.note_sent_again(at);
                self.enqueue(at, decision.action);
            }
            _ => self.enqueue(at, decision.action),
        }
    }

    /// Whether only a listing says that an accepted write did not hold. Listings lag where reads do not, so the
    /// object's own read decides.
    fn is_told_by_listing_alone(&self, at: usize, due: Action) -> bool {
        let object = &self.objects[at];
        let wrote = object.sets > 0 || object.deletes > 0;
        let can_tell = due != Action::Create || object.kind.readable_by_key();
        wrote && can_tell && !object.seen_by_read && self.is_readable(at)
    }

    /// Whether it refers to an object that was to be made when the run was agreed to.
    pub(super) fn names_what_is_new(&self, at: usize) -> bool {
        let makes = |action: Action| matches!(action, Action::Create | Action::Replace);
        let mut named = self.objects[at].links.references.values().map(|named| &self.objects[*named]);
        named.any(|named| {
            makes(named.action) || named.agreed.as_ref().is_some_and(|agreed| makes(agreed.action))
        })
    }

    /// Deleting: after all that needs the object is gone, and after a live read made since the decision.
    fn destroy(&mut self, at: usize) {
        let waits = self.waits_its_turn(at);
        let object = &mut self.objects[at];
        if object.wanted_absent() && (object.holders > 0 || waits) {
            object.phase = Phase::Held;
            return;
        }
        if object.wanted_absent() && self.is_spared(at) {
            return;
        }
        if self.looks_below(at) {
            return;
        }
        let object = &mut self.objects[at];
        let action = if object.wanted_absent() { Action::Delete } else { Action::Replace };
        if planted!(M8) {
            return self.enqueue(at, action);
        }
        match &object.doomed {
            Some((id, _)) if !object.is_unseen_since_doomed() => {
                if *id != object.server_id && !planted!(M7) {
                    let why = "another object has taken its name since the decision to delete it";
                    return self.settle(at, Outcome::Conflict(Explanation::new(why)));
                }
                self.enqueue(at, action);
            }
            _ => {
                object.doomed = Some((object.server_id.clone(), self.count));
                if self.is_read_in_turn(at, action) {
                    return self.enqueue(at, action);
                }
                let object = &mut self.objects[at];
                object.fence = self.count;
                object.own_read = true;
                self.observe(at);
            }
        }
    }
}

/// For how long after its deletion an object may still be shown.
fn patience_with_deletion(object: &Object, item: &Item) -> Duration {
    match item.deleting {
        true => FINISHED_GOING_WITHIN,
        // The answer has said that it was not deleted.
        false if object.last_failure.is_some() => object.kind.visible,
        false => GONE_WITHIN.max(object.patience()),
    }
}

fn noun(action: Action) -> &'static str {
    match action {
        Action::Create => "creation",
        Action::Delete | Action::Replace => "deletion",
        Action::Update | Action::None => "change",
    }
}

/// One creation is made in a run, and one deletion: what does not show then does not show.
fn spent(object: &Object, decision: &Decision) -> Option<Outcome> {
    match decision.action {
        Action::Create if object.sets > 0 && object.action == Action::Update => Some(Outcome::Unknown(
            Explanation::new("the server accepted its change and does not show it any more"),
        )),
        Action::Create if object.sets > 0 => Some(Outcome::Unknown(
            Explanation::new("the server accepted its creation and does not show it")
                .hint("if the API takes longer, say so in the backend: `visible: DURATION`")
                .because(CREATE_UNCERTAIN),
        )),
        Action::Delete | Action::Replace if object.deletes > 0 => Some(Outcome::Failed(
            Explanation::new("the server accepted its deletion and still shows it")
                .hint("if it is on its way, say in the backend how that shows: `deleting: FILTER`"),
        )),
        _ => None,
    }
}
