//! Objects beside their base: what left the files, and what of it cannot be told.

use std::sync::Arc;

use serde_json::{Value, json};

use super::model::{Model, document, kind};
use crate::core::base::{Base, Past, Side};
use crate::core::change::Reason;
use crate::core::document::{Document, Ensure};
use crate::core::kind::{Kind, Send};
use crate::core::node::{Node, Pos, Secret, Want};
use crate::core::path::Path;
use crate::core::report::{Entry, Report};

fn patched() -> Kind {
    let mut team = kind("Team", false, None);
    team.update.as_mut().expect("an update").send = Send::Merge;
    team
}

/// The document, and what it said at the base.
fn since(base: Node, now: Value) -> [Document; 1] {
    let mut team = document("Team", &[("name", "a")], now);
    team.base = Base::Present(Arc::new(Past { spec: base, file: "HEAD:a.yaml".into() }));
    [team]
}

fn node(value: Value) -> Node {
    Node::from_value(Pos::default(), value)
}

fn applied(kind: Kind, observed: Value, documents: &[Document]) -> (Model, Report) {
    let mut model = Model::new(vec![kind]);
    model.put("Team", &[("name", "a")], observed);
    let report = model.apply(documents);
    (model, report)
}

fn finding<'e>(entry: &'e Entry, code: &str) -> Option<&'e str> {
    entry.findings.iter().find(|finding| finding.code == code).map(|finding| &*finding.message)
}

#[test]
fn a_field_that_left_the_files_leaves_the_server() {
    let base = node(json!({"size": 1, "tier": "x"}));
    let observed = json!({"size": 1, "tier": "x", "note": "theirs"});
    let (model, report) = applied(patched(), observed, &since(base, json!({"size": 1})));
    let entry = &report.objects[0];
    assert_eq!((entry.action.word(), entry.result.word()), ("update", "done"));
    assert_eq!(entry.changes[0].reason, Reason::Left);
    assert_eq!(entry.since, Some(Side::Pending));
    let now = model.get("Team", "a").expect("it is there");
    assert_eq!((&now["tier"], &now["note"]), (&Value::Null, &json!("theirs")));
}

#[test]
fn a_field_that_left_and_was_changed_there_is_a_conflict() {
    let base = node(json!({"size": 1, "tier": "x"}));
    let (model, report) =
        applied(patched(), json!({"size": 1, "tier": "hers"}), &since(base, json!({"size": 1})));
    assert_eq!(report.objects[0].result.word(), "conflict");
    assert!(model.writes().is_empty());
    assert_eq!(model.get("Team", "a").expect("it is there")["tier"], "hers");
}

#[test]
fn what_cannot_be_told_to_be_the_bases_stays_and_is_named() {
    let mut base = node(json!({"size": 1}));
    let Want::Map(map) = &mut base.want else { panic!("a map") };
    map.insert("token", Node::new(Pos::default(), Want::Secret(Secret::new("env:TOKEN", None))));
    let documents = since(base, json!({"size": 2}));
    let (model, report) = applied(patched(), json!({"size": 1, "token": "t"}), &documents);
    let entry = &report.objects[0];
    assert_eq!(entry.result.word(), "done");
    assert_eq!(
        finding(entry, "NotRemoved"),
        Some("`token` left the file and stays: whether it still is the base's cannot be told")
    );
    let said = entry.findings.iter().filter(|finding| finding.code == "NotRemoved");
    let hints: Vec<_> = said.map(|finding| finding.hint.as_deref()).collect();
    assert_eq!(hints, [Some("write `null` to take it away")], "once, though it was looked at twice");
    assert_eq!(model.get("Team", "a").expect("it is there")["token"], "t");
}

#[test]
fn what_is_to_go_or_is_applied_needs_no_account_of_its_fields() {
    let base = || node(json!({"size": 1, "tier": "x"}));
    let mut gone = since(base(), json!({"size": 1}));
    gone[0].policy.ensure = Ensure::Absent;
    let (model, _) = applied(patched(), json!({"size": 1, "tier": "x"}), &gone);
    assert_eq!(model.writes(), ["delete Team a"]);

    let mut ours = kind("Team", false, None);
    ours.update.as_mut().expect("an update").send = Send::Ours;
    ours.managers = crate::core::filter::Filter::parse("[]").ok();
    let (model, report) = applied(ours, json!({"size": 1, "tier": "x"}), &since(base(), json!({"size": 1})));
    assert_eq!(report.objects[0].result.word(), "in-sync", "the server knows better who set it");
    assert!(model.writes().is_empty());
}

#[test]
fn another_secret_version_sends_what_cannot_be_read_back() {
    let mut hiding = patched();
    hiding.fields.at_mut(&Path::parse("token").expect("a path")).write_only = true;
    let mut documents = since(node(json!({"size": 1, "token": "t"})), json!({"size": 1, "token": "t"}));
    documents[0].policy.secret_since = true;
    let (model, report) = applied(hiding, json!({"size": 1}), &documents);
    let entry = &report.objects[0];
    assert_eq!((entry.action.word(), entry.since), ("update", Some(Side::Pending)));
    let told =
        "`trueup/secret-version` is not what it was at the base: what cannot be read back is sent again";
    assert_eq!(entry.findings.iter().filter(|finding| finding.message == told).count(), 1);
    assert_eq!(model.get("Team", "a").expect("it is there")["token"], "t");
}
