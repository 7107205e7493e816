//! What the replacement or the deletion of a parent means for its children.

use serde_json::json;

use super::model::{Model, document, kind};
use crate::core::document::{Document, Drift, Ensure};
use crate::core::engine::Options;
use crate::core::filter::Filter;
use crate::core::kind::Read;
use crate::core::report::{Entry, Outcome, Report};

/// Two zones that cannot be changed, each with a record. One listing shows the records of both, and deleting
/// a zone deletes its records.
fn zones() -> (Model, Vec<Document>) {
    let (mut zone, mut record) = (kind("Zone", false, None), kind("Record", false, Some("Zone")));
    zone.update = None;
    record.read = Read::FromList;
    record.parts[0].on_item = Some(Filter::parse(".in").expect("a path"));
    let mut model = Model::new(vec![zone, record]);
    model.cascades = true;
    let mut documents = Vec::new();
    for name in ["a", "b"] {
        documents.push(document("Zone", &[("name", name)], json!({"type": "old"})));
        documents.push(document("Record", &[("in", name), ("name", "r")], json!({"ttl": 5})));
    }
    (model, documents)
}

/// The zones exist, and the files want another type of `b`.
fn with_a_change() -> (Model, Vec<Document>) {
    let (mut model, mut documents) = zones();
    assert!(model.apply(&documents).objects.iter().all(|entry| entry.result == Outcome::Done));
    model.log.clear();
    documents[2] = document("Zone", &[("name", "b")], json!({"type": "new"}));
    (model, documents)
}

fn consent() -> Options {
    Options { replace: ["Zone/b".to_owned()].into(), ..Options::default() }
}

fn words(report: &Report) -> Vec<String> {
    let word = |entry: &Entry| format!("{} {}", entry.action.word(), entry.result.word());
    report.objects.iter().map(word).collect()
}

#[test]
fn children_of_a_replaced_parent_go_with_it_and_are_created_again() {
    let (mut model, documents) = with_a_change();
    let plan = model.plan_with(&documents, consent());
    assert_eq!(words(&plan), ["none in-sync", "none in-sync", "replace planned", "replace planned"]);
    let [finding] = &plan.objects[3].findings[..] else { panic!("{plan:?}") };
    assert_eq!(finding.code, "GoesWithParent");
    assert_eq!(finding.message, "it goes with `Zone b`, which is replaced, and is created again");

    let report = model.apply_with(&documents, consent(), Some(&plan));
    assert_eq!(words(&report), ["none in-sync", "none in-sync", "replace done", "replace done"]);
    assert_eq!(model.writes(), ["delete Zone b", "create Zone b", "create Record b/r"]);
    assert_eq!(words(&model.plan(&documents)), ["none in-sync"; 4]);
}

#[test]
fn a_child_that_would_not_be_made_again_keeps_its_parent_from_being_replaced() {
    let (mut model, mut documents) = with_a_change();
    documents[3].policy.drift = Drift::Report;
    let report = model.apply_with(&documents, consent(), None);
    let Outcome::Refused(why) = &report.objects[2].result else { panic!("{report:?}") };
    assert_eq!(
        why.message,
        "`Record b/r` would go with it, and would not be created again, by `trueup/drift: report`"
    );
    assert!(model.writes().is_empty());
}

/// Somebody puts a record into the zone `b`.
fn fill(model: &mut Model) {
    model.put("Record", &[("in", "b"), ("name", "r")], json!({"ttl": 9}));
}

#[test]
fn what_a_new_parent_brings_along_is_made_as_declared() {
    for replaced in [false, true] {
        let (mut model, documents) = if replaced { with_a_change() } else { zones() };
        let plan = model.plan_with(&documents, consent());
        // A server that fills what it makes: with the creation, which comes after the deletion of the old zone.
        model.meddle = Some(if replaced { |model| model.meddle = Some(fill) } else { fill });
        let report = model.apply_with(&documents, consent(), Some(&plan));
        assert_eq!(report.objects[3].result, Outcome::Done, "{report:?}");
        assert_eq!(model.get("Record", "b/r").expect("a record")["ttl"], 5);
        assert_eq!(words(&model.plan(&documents)), ["none in-sync"; 4]);
    }
}

#[test]
fn what_others_put_into_a_parent_that_was_there_is_a_conflict() {
    let (mut model, documents) = zones();
    model.put("Zone", &[("name", "b")], json!({"type": "old"}));
    let plan = model.plan(&documents);
    model.meddle = Some(fill);
    let report = model.apply_with(&documents, Options::default(), Some(&plan));
    assert_eq!(report.objects[3].result.word(), "conflict");
    assert_eq!(model.get("Record", "b/r").expect("a record")["ttl"], 9);
}

#[test]
fn children_that_outlive_their_parent_are_left_alone() {
    let (mut model, documents) = with_a_change();
    model.cascades = false;
    let plan = model.plan_with(&documents, consent());
    let report = model.apply_with(&documents, consent(), Some(&plan));
    assert_eq!(words(&report), ["none in-sync", "none in-sync", "replace done", "none in-sync"]);
    assert_eq!(model.writes(), ["delete Zone b", "create Zone b"]);
}

#[test]
fn a_protected_child_protects_its_parent() {
    let (mut model, mut documents) = with_a_change();
    documents[3].policy.protected = true;
    let plan = model.plan_with(&documents, consent());
    assert_eq!(words(&plan)[2..], ["replace refused", "none in-sync"]);
    let why = plan.objects[2].result.explanation().expect("a reason");
    assert_eq!(why.message, "`Record b/r` would go with it, and is protected by `trueup/prune: \"false\"`");
    let report = model.apply_with(&documents, consent(), Some(&plan));
    assert_eq!(words(&report)[2..], ["replace refused", "none in-sync"]);
    assert!(model.writes().is_empty());
}

#[test]
fn what_cannot_be_deleted_alone_goes_with_its_parent() {
    let (mut zone, mut record) = (kind("Zone", false, None), kind("Record", false, Some("Zone")));
    (zone.update, record.delete) = (None, None);
    let (mut model, mut documents) = zones();
    model.kinds.insert(zone);
    model.kinds.insert(record);
    model.apply(&documents);
    model.log.clear();
    documents.iter_mut().skip(1).for_each(|document| document.policy.ensure = Ensure::Absent);
    let plan = model.plan(&documents);
    assert_eq!(words(&plan), ["none in-sync", "delete refused", "delete planned", "delete planned"]);
    assert_eq!(plan.objects[3].findings[0].message, "it goes with `Zone b`, which is deleted");

    let report = model.apply_with(&documents, Options::default(), Some(&plan));
    assert_eq!(words(&report), ["none in-sync", "delete refused", "delete done", "delete done"]);
    assert_eq!(model.writes(), ["delete Zone b"]);
    assert_eq!(words(&model.plan(&documents))[2..], ["none in-sync", "none in-sync"]);
}

#[test]
fn a_refused_parent_that_is_there_does_not_hold_its_children_back() {
    let (mut model, mut documents) = with_a_change();
    documents.push(document("Record", &[("in", "b"), ("name", "s")], json!({"ttl": 6})));
    let plan = model.plan(&documents);
    assert_eq!(words(&plan)[2..], ["replace refused", "none in-sync", "create planned"]);
    let report = model.apply_with(&documents, Options::default(), Some(&plan));
    assert_eq!(words(&report)[2..], ["replace refused", "none in-sync", "create done"]);
}
