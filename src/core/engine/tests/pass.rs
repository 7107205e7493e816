//! A pass without faults: observe, compare, act, observe again.

use serde_json::json;

use super::model::{Model, document, kind};
use crate::core::document::Ensure;
use crate::core::engine::Options;
use crate::core::fields::Comparer;
use crate::core::kind::{Kind, Read, Version};
use crate::core::path::Path;
use crate::core::report::{Action, Outcome, Report};

fn words(report: &Report) -> Vec<(&'static str, &'static str)> {
    report.objects.iter().map(|entry| (entry.action.word(), entry.result.word())).collect()
}

#[test]
fn creates_and_reads_back_and_the_second_run_writes_nothing() {
    for server_ids in [false, true] {
        let mut model = Model::new(vec![kind("Team", server_ids, None)]);
        let documents = [document("Team", &[("name", "a")], json!({"size": 1}))];
        assert_eq!(words(&model.plan(&documents)), [("create", "planned")]);
        assert!(model.writes().is_empty(), "a plan never writes");

        assert_eq!(words(&model.apply(&documents)), [("create", "done")]);
        assert_eq!(model.writes(), ["create Team a"]);
        assert!(
            model.log.last().is_some_and(|last| !last.starts_with("create")),
            "read back: {:?}",
            model.log
        );

        assert_eq!(words(&model.apply(&documents)), [("none", "in-sync")]);
        assert_eq!(model.writes().len(), 1);
    }
}

#[test]
fn updates_only_what_differs_and_keeps_what_nobody_declared() {
    let mut model = Model::new(vec![kind("Team", true, None)]);
    model.put("Team", &[("name", "a")], json!({"size": 1, "theirs": "kept"}));
    let documents = [document("Team", &[("name", "a")], json!({"size": 2}))];
    let plan = model.plan(&documents);
    assert_eq!(plan.objects[0].changes.len(), 1);
    assert_eq!(words(&model.apply_with(&documents, Options::default(), Some(&plan))), [("update", "done")]);
    assert_eq!(model.get("Team", "a").map(|v| v["theirs"].clone()), Some(json!("kept")));
    assert_eq!(words(&model.plan(&documents)), [("none", "in-sync")]);
}

#[test]
fn what_has_no_read_of_its_own_is_deleted_after_a_fresh_listing() {
    let mut team = kind("Team", true, None);
    team.read = Read::FromList;
    let mut model = Model::new(vec![team]);
    model.put("Team", &[("name", "a")], json!({}));
    let mut gone = document("Team", &[("name", "a")], json!({}));
    gone.policy.ensure = Ensure::Absent;
    let documents = [gone];
    assert_eq!(words(&model.apply(&documents)), [("delete", "done")]);
    assert_eq!(model.log, ["list Team", "list Team", "delete Team a", "list Team"]);
}

#[test]
fn deletes_after_a_live_read_and_absence_is_success() {
    let mut model = Model::new(vec![kind("Team", false, None)]);
    model.put("Team", &[("name", "a")], json!({}));
    let mut gone = document("Team", &[("name", "a")], json!({}));
    gone.policy.ensure = Ensure::Absent;
    let documents = [gone];
    assert_eq!(words(&model.apply(&documents)), [("delete", "done")]);
    let delete = model.log.iter().position(|line| line.starts_with("delete")).expect("deleted");
    assert_eq!(model.log[delete - 1], "read Team a", "a live read comes just before");
    assert_eq!(words(&model.apply(&documents)), [("none", "in-sync")]);
}

#[test]
fn many_objects_take_one_listing_and_confirm_by_one() {
    let mut model = Model::new(vec![kind("Team", false, None)]);
    let documents: Vec<_> =
        (0..50).map(|i| document("Team", &[("name", &format!("t{i}"))], json!({"n": i}))).collect();
    let report = model.apply(&documents);
    assert!(report.objects.iter().all(|entry| entry.result == Outcome::Done));
    let count = |word: &str| model.log.iter().filter(|line| line.starts_with(word)).count();
    // A PUT replaces what a listing leaves out: each is looked for by its name.
    assert_eq!((count("list"), count("read"), model.writes().len()), (2, 50, 50));
    let mut model = Model::new(vec![Kind { version: Version::ETag, ..kind("Team", false, None) }]);
    assert!(model.apply(&documents).objects.iter().all(|entry| entry.result == Outcome::Done));
    assert_eq!(model.log.iter().filter(|line| line.starts_with("read")).count(), 0, "the PUT itself says so");
}

#[test]
fn a_deletion_is_not_lost_among_the_writes_of_its_listing() {
    let mut model = Model::new(vec![kind("Team", false, None)]);
    model.put("Team", &[("name", "z")], json!({}));
    let mut documents: Vec<_> =
        (0..9).map(|i| document("Team", &[("name", &format!("t{i}"))], json!({"n": i}))).collect();
    documents.push(document("Team", &[("name", "z")], json!({})));
    documents[9].policy.ensure = Ensure::Absent;
    let report = model.apply(&documents);
    assert!(report.objects.iter().all(|entry| entry.result == Outcome::Done), "{:?}", words(&report));
    assert_eq!(model.writes().len(), 10);
}

#[test]
fn what_only_a_listing_shows_is_deleted_after_a_fresh_listing() {
    let mut rule = kind("Rule", true, None);
    rule.read = Read::FromList;
    let mut model = Model::new(vec![rule]);
    model.put("Rule", &[("name", "a")], json!({}));
    let mut gone = document("Rule", &[("name", "a")], json!({}));
    gone.policy.ensure = Ensure::Absent;
    assert_eq!(words(&model.apply(&[gone])), [("delete", "done")]);
    assert_eq!(model.log, ["list Rule", "list Rule", "delete Rule a", "list Rule"]);
}

#[test]
fn a_value_that_does_not_stick_is_written_twice_and_named() {
    let mut model = Model::new(vec![kind("Team", false, None)]);
    model.normalise = Some(|value| value["name"] = json!("lower"));
    let documents = [document("Team", &[("name", "a")], json!({"name": "UPPER"}))];
    let report = model.apply(&documents);
    let Outcome::NotEffective(why) = &report.objects[0].result else { panic!("{:?}", report.objects[0]) };
    assert!(why.message.contains(r#"sent "UPPER", the server stores "lower""#), "{}", why.message);
    assert_eq!(model.writes(), ["create Team a", "update Team a"]);
}

#[test]
fn two_objects_of_one_name_are_an_error_that_names_their_ids() {
    let mut model = Model::new(vec![kind("Team", true, None)]);
    model.put("Team", &[("name", "a")], json!({}));
    model.put("Team", &[("name", "a")], json!({}));
    let mut documents = [document("Team", &[("name", "a")], json!({"size": 2}))];
    let report = model.apply(&documents);
    let Outcome::Failed(why) = &report.objects[0].result else { panic!("{:?}", report.objects[0]) };
    assert_eq!(why.message, "2 objects answer to `Team a`: ids 1, 2");
    assert!(model.writes().is_empty());

    documents[0].policy.pinned_id = Some("2".into());
    assert_eq!(words(&model.apply(&documents)), [("update", "done")]);
}

#[test]
fn a_pinned_object_that_is_gone_is_not_made_anew() {
    let mut model = Model::new(vec![kind("Team", true, None)]);
    let mut documents = [document("Team", &[("name", "a")], json!({"size": 2}))];
    documents[0].policy.pinned_id = Some("7".into());
    let report = model.apply(&documents);
    let Outcome::Failed(why) = &report.objects[0].result else { panic!("{:?}", report.objects[0]) };
    assert_eq!(why.message, "it is pinned to the id `7`, and no object has that id");
    assert!(model.writes().is_empty(), "its id would be another, and each run would make one more");
}

#[test]
fn a_kind_without_update_is_replaced_only_by_consent() {
    let mut fixed = kind("Queue", false, None);
    fixed.update = None;
    let mut model = Model::new(vec![fixed]);
    model.put("Queue", &[("name", "q")], json!({"durable": false}));
    let documents = [document("Queue", &[("name", "q")], json!({"durable": true}))];
    let refused = model.apply(&documents);
    assert_eq!(words(&refused), [("replace", "refused")]);
    assert!(model.writes().is_empty());
    let hint = refused.objects[0].result.explanation().and_then(|e| e.hint.clone());
    assert_eq!(hint.as_deref(), Some("if its loss is acceptable: --replace Queue/q"));

    let consent = Options { replace: ["Queue/q".to_owned()].into(), ..Options::default() };
    let report = model.apply_with(&documents, consent, None);
    assert_eq!(words(&report), [("replace", "done")]);
    assert_eq!(model.writes(), ["delete Queue q", "create Queue q"]);
}

#[test]
fn what_moved_between_plan_and_write_is_a_conflict_and_not_overwritten() {
    let mut model = Model::new(vec![kind("Team", false, None)]);
    model.put("Team", &[("name", "a")], json!({"size": 1}));
    let documents = [document("Team", &[("name", "a")], json!({"size": 2}))];
    let plan = model.plan(&documents);
    model.objects.values_mut().for_each(|slot| slot[0].value["size"] = json!(9));
    let report = model.apply_with(&documents, Options::default(), Some(&plan));
    assert_eq!(words(&report), [("update", "conflict")]);
    assert!(model.writes().is_empty());
}

#[test]
fn an_element_that_goes_and_one_that_comes_at_its_place_are_no_conflict() {
    let mut team = kind("Team", false, None);
    team.fields.at_mut(&Path::parse("hosts").expect("a path")).compare = Some(Comparer::Set);
    let mut model = Model::new(vec![team]);
    model.put("Team", &[("name", "a")], json!({"hosts": ["a", "b"]}));
    let documents = [document("Team", &[("name", "a")], json!({"hosts": ["a", "x"]}))];
    let plan = model.plan(&documents);
    assert_eq!(plan.objects[0].changes.len(), 2);
    assert_eq!(words(&model.apply_with(&documents, Options::default(), Some(&plan))), [("update", "done")]);
}

#[test]
fn an_unplanned_deletion_or_change_of_presence_is_not_done() {
    let mut model = Model::new(vec![kind("Team", false, None)]);
    let documents = [document("Team", &[("name", "a")], json!({"size": 2}))];
    let plan = model.plan(&documents);
    model.put("Team", &[("name", "a")], json!({"size": 1}));
    let report = model.apply_with(&documents, Options::default(), Some(&plan));
    assert_eq!(report.objects[0].result.word(), "conflict", "it came into being");
    assert_eq!(report.objects[0].action, Action::Update);
    assert!(model.writes().is_empty());
}
