//! What each decision says to the user: the sentence and the next step.

use std::sync::Arc;

use serde_json::json;

use super::make::{document, key_of, kind};
use crate::core::base::{Base, Past, Side};
use crate::core::document::{Document, Drift, Ensure};
use crate::core::engine::decide::{Decision, Facts, Seen, decide};
use crate::core::exchange::Item;
use crate::core::fields::Immutable;
use crate::core::filter::Filter;
use crate::core::kind::Kind;
use crate::core::node::{Node, Pos};
use crate::core::path::Path;
use crate::core::report::{Action, DUPLICATE_FOUND, Explanation, Outcome};
use crate::core::value::Value;

/// What is decided of a team: kind, document and what is seen of it.
struct Case {
    kind: Kind,
    document: Document,
    seen: Seen,
    wrote: bool,
    may_replace: bool,
    rotate: bool,
}

/// A team that is wanted with the size 2, beside what is seen.
fn team(seen: Seen) -> Case {
    Case {
        kind: kind("Team", false, None),
        document: document("Team", &[("name", "a")], json!({"size": 2})),
        seen,
        wrote: false,
        may_replace: false,
        rotate: false,
    }
}

fn there(value: Value) -> Seen {
    Seen::Present(Item {
        key: key_of(&[("name", "a")]),
        server_id: None,
        version: None,
        value: Arc::new(value),
        deleting: false,
        ready: None,
        ambiguous: Vec::new(),
    })
}

fn going() -> Seen {
    let Seen::Present(item) = there(json!({"size": 1})) else { unreachable!("it is there") };
    Seen::Present(Item { deleting: true, ..item })
}

fn spec(value: Value) -> Node {
    Node::from_value(Pos::default(), value)
}

impl Case {
    fn but(mut self, change: impl FnOnce(&mut Case)) -> Case {
        change(&mut self);
        self
    }

    fn decided(&self) -> Decision {
        decide(&Facts {
            id: &self.document.id,
            kind: &self.kind,
            policy: &self.document.policy,
            spec: &self.document.spec,
            own: &self.document.spec,
            base: &self.document.base,
            wrote: self.wrote,
            seen: &self.seen,
            managers: &[],
            may_replace: self.may_replace,
            rotate: self.rotate,
        })
    }

    /// The action, the word of the outcome (`due` for none), its sentence and its hint.
    fn told(&self) -> [String; 4] {
        let decision = self.decided();
        let why = decision.settled.as_ref().and_then(|outcome| outcome.explanation().cloned());
        let why = why.unwrap_or_default();
        let word = decision.settled.as_ref().map_or("due", |outcome| outcome.word());
        [decision.action.word().into(), word.into(), why.message, why.hint.unwrap_or_default()]
    }
}

#[test]
fn what_is_not_known_is_said_and_never_written() {
    let unknown = Explanation::new("the server said 500").hint("try later");
    assert_eq!(team(Seen::NotYet).told(), ["none", "unknown", "it was not observed", ""]);
    assert_eq!(team(Seen::Unknown(unknown)).told(), ["none", "unknown", "the server said 500", "try later"]);
    for ensure in [Ensure::Present, Ensure::Absent, Ensure::Exists] {
        let doubt =
            team(Seen::Unknown(Explanation::new("?"))).but(|case| case.document.policy.ensure = ensure);
        assert_eq!(doubt.told()[..2], ["none", "unknown"], "{ensure:?}");
    }
}

#[test]
fn an_answer_of_another_shape_says_nothing_of_the_object() {
    let told = team(there(json!([{"size": 2}]))).told();
    let hint = "say in the backend where an answer has the object, as in `item: .[0]`";
    assert_eq!(
        told,
        ["none", "unknown", "the server answered with a list, and its document says a map", hint]
    );

    let no_name = team(there(json!("on"))).but(|case| {
        case.kind.parts.iter_mut().for_each(|part| part.on_item = None);
    });
    assert_eq!(no_name.told()[..2], ["update", "due"], "its name does not lie in the answer");
    let text = team(there(json!("on"))).but(|case| case.document.spec = spec(json!("off")).into());
    assert_eq!(text.told()[..2], ["update", "due"], "a text was wanted");
}

#[test]
fn several_objects_of_one_name_are_never_written() {
    let two = team(Seen::Several(vec![Some("7".into()), None]));
    let hint = "say which one is meant with the annotation `trueup/id`";
    assert_eq!(two.told(), ["none", "failed", "2 objects answer to `Team a`: ids 7, none", hint]);
    let why = two.decided().settled.and_then(|outcome| outcome.explanation().cloned()).expect("a reason");
    assert_eq!(why.reason, Some(DUPLICATE_FOUND));

    let nameless = team(Seen::Several(vec![None, None])).told();
    assert_eq!(nameless[2], "2 objects answer to `Team a`, and none of them has an id");
    assert_eq!(nameless[3], "check `key` of the kind in the backend: it does not tell them apart");
}

#[test]
fn what_the_server_is_deleting_is_neither_there_nor_free() {
    let taken = "the server is deleting it, and its name is still taken";
    for ensure in [Ensure::Present, Ensure::Exists] {
        let case = team(going()).but(|case| case.document.policy.ensure = ensure);
        assert_eq!(case.told(), ["none", "unknown", taken, ""], "{ensure:?}");
    }
    let held = team(going()).but(|case| case.kind.blockers = Filter::parse(r#"["backup"]"#).ok());
    assert_eq!(held.told()[2], format!("{taken}: `backup` holds it"));

    let unwanted = team(going()).but(|case| case.document.policy.ensure = Ensure::Absent);
    assert_eq!(unwanted.told(), ["delete", "unknown", "the server is deleting it, and has not finished", ""]);
}

#[test]
fn what_must_exist_is_never_made() {
    let exists = |seen| team(seen).but(|case| case.document.policy.ensure = Ensure::Exists).told();
    let hint = "it is marked `trueup/ensure: exists`: create it by hand, or let trueup manage it";
    assert_eq!(exists(Seen::Absent), ["none", "failed", "it must exist and does not", hint]);
    assert_eq!(exists(there(json!({"size": 9})))[..2], ["none", "in-sync"], "whatever it is like");
}

#[test]
fn what_an_api_cannot_do_is_refused_with_its_reason() {
    let absent = |case: &mut Case| case.document.policy.ensure = Ensure::Absent;
    let differs = || there(json!({"size": 1}));

    let no_create = team(Seen::Absent).but(|case| case.kind.create = None);
    let why = "it does not exist, and the API has no way to create a Team";
    assert_eq!(no_create.told(), ["create", "refused", why, ""]);
    let singleton = no_create.but(|case| {
        case.kind.parts.clear();
        case.kind.list = None;
    });
    assert_eq!(singleton.told()[..2], ["create", "due"], "an update makes a thing of which there is one");

    let no_delete = team(differs()).but(absent).but(|case| case.kind.delete = None);
    let hint = "leave it out: `--exclude Team/a`";
    assert_eq!(
        no_delete.told(),
        ["delete", "refused", "it stays: the API has no way to delete a Team", hint]
    );

    let fixed = team(differs()).but(|case| (case.kind.update, case.kind.delete) = (None, None));
    let why = "a Team can neither be changed nor replaced";
    assert_eq!(fixed.told(), ["replace", "refused", why, ""]);
}

#[test]
fn annotations_hold_an_action_back() {
    let differs = || team(there(json!({"size": 1})));
    let paused = differs().but(|case| case.document.policy.paused = true);
    assert_eq!(paused.told()[1..3], ["refused", "it is paused by the annotation `trueup/paused`"]);
    let in_sync = team(there(json!({"size": 2}))).but(|case| case.document.policy.paused = true);
    assert_eq!(in_sync.told()[..2], ["none", "in-sync"], "there is nothing to hold back");

    let reports = |case: &mut Case| case.document.policy.drift = Drift::Report;
    let why = "differences are only reported here, by the annotation `trueup/drift: report`";
    assert_eq!(differs().but(reports).told()[1..3], ["refused", why]);
    let pending = differs().but(reports).but(|case| case.document.base = based(json!({"size": 1})));
    assert_eq!(pending.told()[..2], ["update", "due"], "the files changed: that is no drift");
    let missing = team(Seen::Absent).but(reports);
    assert_eq!(missing.told()[1..3], ["refused", why]);

    let protected = differs().but(|case| {
        case.document.policy.ensure = Ensure::Absent;
        case.document.policy.protected = true;
    });
    assert_eq!(
        protected.told()[..3],
        ["delete", "refused", "it is protected by the annotation `trueup/prune: \"false\"`"]
    );
}

#[test]
fn an_immutable_field_is_refused_or_replaced_by_consent() {
    let immutable = |how: Immutable| {
        team(there(json!({"size": 1}))).but(|case| {
            let size = Path::parse("size").expect("a path");
            case.kind.fields.at_mut(&size).immutable = Some(how);
        })
    };
    let refused = immutable(Immutable::Refuse);
    assert_eq!(refused.told(), ["update", "refused", "`size` cannot be changed", ""]);
    assert_eq!(refused.decided().changes.len(), 1, "and the difference is shown");

    let asked = immutable(Immutable::Replace);
    let hint = "if its loss is acceptable: --replace Team/a";
    assert_eq!(asked.told(), ["replace", "refused", "it would have to be deleted and created again", hint]);
    let consent = |case: Case| case.but(|case| case.may_replace = true);
    assert_eq!(consent(asked).told()[..2], ["replace", "due"]);

    let pinned =
        consent(immutable(Immutable::Replace)).but(|case| case.document.policy.pinned_id = Some("7".into()));
    let why = "its id is pinned by the annotation `trueup/id`, and a new object would have another";
    assert_eq!(pinned.told()[1..3], ["refused", why]);
    let protected = consent(immutable(Immutable::Replace)).but(|case| case.document.policy.protected = true);
    let why = "replacing it is forbidden by the annotation `trueup/prune: \"false\"`";
    assert_eq!(protected.told()[1..3], ["refused", why]);
}

#[test]
fn a_rotation_writes_though_nothing_differs() {
    let same = || team(there(json!({"size": 2}))).but(|case| case.rotate = true);
    assert_eq!(same().told()[..2], ["update", "due"]);
    assert_eq!(same().decided().since, None);
    let new_version = same().but(|case| case.document.policy.secret_since = true);
    assert_eq!(new_version.decided().since, Some(Side::Pending), "the files say so");
    let fixed = same().but(|case| case.kind.update = None);
    assert_eq!(fixed.told()[..2], ["replace", "refused"], "what cannot be changed would be made anew");
}

fn based(value: Value) -> Base {
    Base::Present(Arc::new(Past { spec: spec(value), file: "HEAD:a.yaml".into() }))
}

#[test]
fn a_base_tells_who_made_each_difference() {
    let with = |seen: Value, base: Base| team(there(seen)).but(|case| case.document.base = base);
    let cases = [
        (json!({"size": 1}), based(json!({"size": 1})), Some(Side::Pending)),
        (json!({"size": 9}), based(json!({"size": 2})), Some(Side::Drift)),
        (json!({"size": 9}), based(json!({"size": 1})), Some(Side::Conflict)),
        (json!({"size": 9}), Base::None, None),
    ];
    for (seen, base, since) in cases {
        assert_eq!(with(seen.clone(), base).decided().since, since, "{seen}");
    }
    let missing = |base| team(Seen::Absent).but(|case| case.document.base = base).decided().since;
    assert_eq!(missing(based(json!({"size": 2}))), Some(Side::Drift), "somebody deleted it");
    assert_eq!(missing(Base::New), Some(Side::Pending));
}

#[test]
fn what_both_sides_changed_is_overwritten_by_nobody_unasked() {
    let both = team(there(json!({"size": 9}))).but(|case| case.document.base = based(json!({"size": 1})));
    let decision = both.decided();
    assert_eq!(decision.action, Action::Update);
    let Some(Outcome::Conflict(why)) = &decision.settled else { panic!("{decision:?}") };
    assert!(why.message.contains("`size`"), "{}", why.message);
    assert_eq!(decision.conflicts.len(), 1);

    let forced =
        both.but(|case| case.document.policy.forced_paths = vec![Path::parse("size").expect("a path")]);
    assert!(forced.decided().settled.is_none(), "by consent it is");
    let ours = forced.but(|case| {
        case.document.policy.forced_paths.clear();
        case.wrote = true;
    });
    assert!(ours.decided().settled.is_none(), "after our own write the base says nothing");
}
