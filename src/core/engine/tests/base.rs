//! A field that left the files, and a server that somebody changes: it goes only while it still has the base's value.

use std::sync::Arc;

use serde_json::{Value, json};

use super::model::{Model, document, kind};
use crate::core::base::{Base, Past};
use crate::core::change::{Change, Reason, Shown};
use crate::core::document::Document;
use crate::core::engine::Options;
use crate::core::engine::pledge::Pledge;
use crate::core::fields::Immutable;
use crate::core::kind::{Kind, Read};
use crate::core::mutant::{self, Mutant};
use crate::core::node::{Node, Pos};
use crate::core::path::Path;
use crate::core::report::{Action, Report};

/// A team whose field `gone` left the files, and what the server has of it.
fn team(live: Value) -> (Model, [Document; 1]) {
    let mut model = Model::new(vec![kind("Team", false, None)]);
    model.put("Team", &[("name", "a")], live);
    let spec = Node::from_value(Pos::default(), json!({"size": 1, "gone": 1}));
    let past = Past { spec, file: "HEAD:a.yaml".into() };
    let base = Base::Present(Arc::new(past));
    (model, [Document { base, ..document("Team", &[("name", "a")], json!({"size": 1})) }])
}

fn word(report: &Report) -> &'static str {
    report.objects[0].result.word()
}

fn gone(model: &Model) -> Option<Value> {
    model.get("Team", "a").and_then(|value| value.get("gone").cloned())
}

#[test]
fn what_is_still_the_bases_goes() {
    let (mut model, documents) = team(json!({"size": 1, "gone": 1, "theirs": 1}));
    assert_eq!(word(&model.plan(&documents)), "planned");
    assert_eq!((word(&model.apply(&documents)), gone(&model)), ("done", None));
    assert_eq!(word(&model.apply(&documents)), "in-sync");
    assert_eq!(model.writes().len(), 1);
}

/// Changed before the plan, between plan and apply, and between a saved plan and its apply.
#[test]
fn what_somebody_changed_stays() {
    let (mut model, documents) = team(json!({"size": 1, "gone": 7}));
    assert_eq!((word(&model.plan(&documents)), word(&model.apply(&documents))), ("conflict", "conflict"));
    let (mut before, _) = team(json!({"size": 1, "gone": 1}));
    let plan = before.plan(&documents);
    assert_eq!(word(&plan), "planned");
    assert_eq!(word(&model.apply_with(&documents, Options::default(), Some(&plan))), "conflict");
    let change = Change {
        path: Path::parse("gone").expect("a path"),
        before: Some(Shown::Value(json!(1))),
        after: None,
        reason: Reason::Left,
        at: None,
        set_by: Vec::new(),
        since: None,
    };
    let pledge = Pledge {
        action: Action::Update,
        changes: vec![change],
        server_id: None,
        references: Vec::new(),
        along: Vec::new(),
        refused: None,
        moved: None,
    };
    assert_eq!(word(&model.apply_saved(&documents, vec![pledge], Options::default())), "conflict");
    assert_eq!((gone(&model), model.writes().len()), (Some(json!(7)), 0));
}

/// A replacement has deleted the object, and somebody makes another of its name: that this run has written says
/// nothing of what the other has.
#[test]
fn what_another_made_during_a_replacement_is_held_against_the_base() {
    let changed = |model: &mut Model| {
        model.put("Team", &[("name", "a")], json!({"size": 1, "fixed": 1, "gone": 7}));
    };
    let without = |model: &mut Model| model.put("Team", &[("name", "a")], json!({"size": 1, "fixed": 1}));
    for (rival, outcome) in [(changed as fn(&mut Model), "conflict"), (without, "done")] {
        let (mut model, documents) = team(json!({"size": 1, "fixed": 2, "gone": 1}));
        let mut team = Kind { read: Read::FromList, ..kind("Team", false, None) };
        team.fields.at_mut(&Path::parse("fixed").expect("a path")).immutable = Some(Immutable::Replace);
        model.kinds.insert(team);
        let [Document { base, .. }] = documents;
        let document = document("Team", &[("name", "a")], json!({"size": 1, "fixed": 1}));
        let consent = Options { replace: ["Team/a".to_owned()].into(), ..Options::default() };
        model.meddle = Some(rival);
        let report = model.apply_with(&[Document { base, ..document }], consent, None);
        assert_eq!((word(&report), model.writes()), (outcome, vec!["delete Team a"]), "{report:?}");
    }
}

/// The fault that the tests above are there for.
#[test]
fn a_removal_without_a_look_at_the_value_is_found() {
    let _planted = mutant::plant(Mutant::M28);
    let (mut model, documents) = team(json!({"size": 1, "gone": 7}));
    assert_eq!((word(&model.apply(&documents)), gone(&model)), ("done", None));
}
