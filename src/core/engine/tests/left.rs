//! What left the files where the server keeps account of who set what.

use serde_json::{Value, json};

use super::model::{Model, document, kind, reference};
use crate::core::change::{Reason, Shown};
use crate::core::document::Document;
use crate::core::filter::Filter;
use crate::core::kind::{Kind, Send};
use crate::core::node::{Node, Pos, Want};
use crate::core::path::Path;
use crate::core::report::Report;

/// A kind whose server keeps account of who set what, in `setBy`.
fn applied() -> Kind {
    let mut team = kind("Team", false, None);
    for op in [&mut team.create, &mut team.update].into_iter().flatten() {
        op.send = Send::Ours;
    }
    team.managers = Filter::parse(".setBy // {} | to_entries | map({name: .value, paths: [.key]})").ok();
    team
}

fn planned(kind: Kind, observed: Value, documents: &[Document]) -> Report {
    let mut model = Model::new(vec![kind, super::model::kind("Other", false, None)]);
    model.put("Team", &[("name", "a")], observed);
    model.plan(documents)
}

fn team(spec: Value) -> [Document; 1] {
    [document("Team", &[("name", "a")], spec)]
}

/// The paths that leave, with what is shown of them.
fn leaving(report: &Report) -> Vec<(String, Option<Shown>)> {
    let left = report.objects[0].changes.iter().filter(|change| change.reason == Reason::Left);
    left.map(|change| (change.path.to_string(), change.before.clone())).collect()
}

fn shown(path: &str, value: Value) -> (String, Option<Shown>) {
    (path.into(), Some(Shown::Value(value)))
}

#[test]
fn what_we_alone_set_and_send_no_longer_leaves() {
    let observed = json!({"size": 1, "tier": "x", "note": "hers", "setBy":
        {"size": "me", "tier": "me", "note": "console"}});
    let report = planned(applied(), observed.clone(), &team(json!({"size": 1})));
    assert_eq!(leaving(&report), [shown("tier", json!("x"))], "what another set stays");
    assert_eq!(report.objects[0].action.word(), "update");

    let report = planned(applied(), observed, &team(json!({"size": 1, "tier": null})));
    assert_eq!(leaving(&report), [], "what is to change anyway is told once");
    assert_eq!(report.objects[0].changes.len(), 1);
}

#[test]
fn what_is_gone_already_or_never_compared_does_not_leave() {
    let set_by = json!({"size": "me", "gone": "me", "stats": "me"});
    let observed = json!({"size": 1, "stats": 5, "setBy": set_by});
    let mut quiet = applied();
    quiet.fields.at_mut(&Path::parse("stats").expect("a path")).ignore = true;
    let report = planned(quiet, observed, &team(json!({"size": 1})));
    assert_eq!(report.objects[0].result.word(), "in-sync");
}

#[test]
fn a_secret_that_leaves_is_not_shown() {
    let mut hiding = applied();
    hiding.fields.at_mut(&Path::parse("token").expect("a path")).secret = true;
    let observed = json!({"size": 1, "token": "canary", "setBy": {"size": "me", "token": "me"}});
    let report = planned(hiding, observed, &team(json!({"size": 1})));
    assert_eq!(leaving(&report), [("token".into(), Some(Shown::Secret))]);
}

#[test]
fn what_is_sent_in_another_form_does_not_leave() {
    let observed = json!({"size": 1, "extent": 1, "tier": "x", "setBy":
        {"size": "me", "extent": "me", "tier": "me"}});
    let with_body = |filter: &str| {
        let mut team = applied();
        team.update.as_mut().expect("an update").body = Filter::parse(filter).ok();
        team
    };
    let report = planned(with_body(". + {extent: .size}"), observed.clone(), &team(json!({"size": 1})));
    assert_eq!(leaving(&report), [shown("tier", json!("x"))]);
    for untold in ["error(\"no\")", "empty"] {
        let report = planned(with_body(untold), observed.clone(), &team(json!({"size": 1})));
        assert_eq!(leaving(&report), [], "`{untold}` says nothing of what is sent");
    }
}

#[test]
fn while_a_value_is_not_known_nothing_leaves() {
    let other = document("Other", &[("name", "o")], json!({"size": 1}));
    let mut waits = document("Team", &[("name", "a")], json!({}));
    let Want::Map(map) = &mut waits.spec_mut().want else { panic!("a map") };
    let to = Want::Ref(Box::new(reference("Other/o")));
    map.insert("other", Node::new(Pos { line: 3, column: 1 }, to));
    let observed = json!({"other": 4, "tier": "x", "setBy": {"tier": "me", "other": "me"}});
    let report = planned(applied(), observed, &[waits, other]);
    assert_eq!(leaving(&report), [], "what cannot be sent yet says nothing of what is not sent");
}

#[test]
fn managers_that_cannot_be_told_are_said_once() {
    let mut broken = applied();
    broken.managers = Filter::parse("error(\"none\")").ok();
    let mut model = Model::new(vec![broken]);
    model.put("Team", &[("name", "a")], json!({"size": 1}));
    let report = model.apply(&team(json!({"size": 2})));
    let findings: Vec<_> = report.objects[0].findings.iter().filter(|f| f.code == "NoManagers").collect();
    assert_eq!(findings.len(), 1, "though it was looked at twice");
    assert!(findings[0].message.starts_with("who set its fields cannot be told: "), "{findings:?}");
    assert_eq!(findings[0].hint.as_deref(), Some("the fault is in `managers` of the backend's document"));
    assert_eq!(report.objects[0].result.word(), "done", "it is no reason not to write");
}
