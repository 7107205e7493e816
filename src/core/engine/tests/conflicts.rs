//! Conflicts: races on others' fields and on ours, what others hold, and the ways out.

use serde_json::json;

use super::model::{Fault, Model, document, kind};
use crate::core::conflict::{Cause, Conflict, Resolution};
use crate::core::document::{Document, OnConflict};
use crate::core::engine::Options;
use crate::core::exchange::{Answer, FailureClass};
use crate::core::filter::Filter;
use crate::core::kind::{Kind, Send, Version};
use crate::core::managers::Contested;
use crate::core::path::Path;
use crate::core::report::{Entry, Report};
use crate::core::value::Value;

/// A kind with versions.
fn versioned() -> Kind {
    let mut team = kind("Team", false, None);
    team.version = Version::OnItem(Filter::parse(".version").expect("a filter"));
    team
}

/// A kind whose server keeps account of who set what, in `setBy`.
fn applied() -> Kind {
    let mut flag = kind("Team", false, None);
    for op in [&mut flag.create, &mut flag.update].into_iter().flatten() {
        op.send = Send::Ours;
    }
    flag.managers = Some(
        Filter::parse(".setBy // {} | to_entries | map({name: .value, paths: [.key]})").expect("a filter"),
    );
    flag.conflict = Some(Filter::parse(".held").expect("a filter"));
    flag
}

fn team(spec: Value) -> Document {
    document("Team", &[("name", "a")], spec)
}

fn with(spec: Value, on_conflict: OnConflict, forced: &[&str]) -> [Document; 1] {
    let mut document = team(spec);
    document.policy.on_conflict = on_conflict;
    document.policy.forced_paths = forced.iter().map(|path| Path::parse(path).expect(path)).collect();
    [document]
}

fn contested(paths: &[&str]) -> Answer {
    let field = |path: &&str| Contested { path: format!(".{path}"), by: "console".into() };
    Answer::Contested(paths.iter().map(field).collect())
}

fn only(report: &Report) -> &Entry {
    assert_eq!(report.objects.len(), 1);
    &report.objects[0]
}

/// What is told of conflicts: path, cause, what becomes of it.
fn told(entry: &Entry) -> Vec<(&str, Cause, Resolution)> {
    entry.conflicts.iter().map(|one| (&*one.named, one.cause, one.resolution)).collect()
}

fn has(entry: &Entry, code: &str) -> bool {
    entry.findings.iter().any(|finding| finding.code == code)
}

#[test]
fn a_race_on_fields_of_others_is_run_again_and_keeps_theirs() {
    let mut model = Model::new(vec![versioned()]);
    model.version = Some(1);
    model.put("Team", &[("name", "a")], json!({"size": 7}));
    let documents = [team(json!({"size": 2}))];
    let plan = model.plan(&documents);
    model.meddle = Some(|model| {
        model.version = Some(5);
        model.objects.values_mut().for_each(|slot| slot[0].value["note"] = json!("theirs"));
    });
    let report = model.apply_with(&documents, Options::default(), Some(&plan));
    assert_eq!(only(&report).result.word(), "done");
    assert!(only(&report).conflicts.is_empty());
    assert_eq!(model.get("Team", "a").expect("it is there")["note"], "theirs");
    assert_eq!(model.writes().len(), 2);
}

#[test]
fn a_race_on_our_field_is_a_conflict_with_all_sides() {
    for plans in [true, false] {
        let mut model = Model::new(vec![versioned()]);
        model.version = Some(1);
        model.put("Team", &[("name", "a")], json!({"size": 7}));
        let documents = [team(json!({"size": 2}))];
        let plan = model.plan(&documents);
        model.meddle = Some(|model| {
            model.version = Some(5);
            model.objects.values_mut().for_each(|slot| slot[0].value["size"] = json!(9));
        });
        // Without a plan it rests on the look before.
        let report = model.apply_with(&documents, Options::default(), plans.then_some(&plan));
        let entry = only(&report);
        assert_eq!(entry.result.word(), "conflict", "planned: {plans}");
        assert_eq!(told(entry), [("size", Cause::Moved, Resolution::Reported)]);
        let Conflict { base, ours, theirs, .. } = &entry.conflicts[0];
        let sides = [base, ours, theirs].map(|side| format!("{side:?}"));
        assert!(sides[0].contains('7') && sides[1].contains('2') && sides[2].contains('9'), "{sides:?}");
        assert_eq!(model.get("Team", "a").expect("it is there")["size"], 9, "theirs stays");
    }
}

#[test]
fn a_field_that_was_in_sync_and_moved_is_a_conflict_too() {
    let mut model = Model::new(vec![versioned()]);
    model.put("Team", &[("name", "a")], json!({"size": 7, "tier": "x"}));
    let documents = [team(json!({"size": 2, "tier": "x"}))];
    let plan = model.plan(&documents);
    model.objects.values_mut().for_each(|slot| slot[0].value["tier"] = json!("y"));
    let report = model.apply_with(&documents, Options::default(), Some(&plan));
    assert_eq!(told(only(&report)), [("tier", Cause::Moved, Resolution::Reported)]);
    assert_eq!(only(&report).conflicts[0].base, only(&report).conflicts[0].ours);
    assert!(model.writes().is_empty());
}

#[test]
fn the_own_write_whose_answer_was_lost_is_no_conflict() {
    let mut model = Model::new(vec![versioned()]);
    model.version = Some(1);
    model.put("Team", &[("name", "a")], json!({"size": 7}));
    let documents = [team(json!({"size": 2}))];
    let plan = model.plan(&documents);
    model.late_looks = 1;
    model.faults.insert(("update", 1), Fault::DoneAndLost);
    model.faults.insert(("update", 2), Fault::Fails(FailureClass::Conflict));
    let report = model.apply_with(&documents, Options::default(), Some(&plan));
    assert_eq!(only(&report).result.word(), "done", "{:?}", model.log);
    assert!(only(&report).conflicts.is_empty());
}

#[test]
fn a_race_that_never_ends_is_told_by_name() {
    let mut model = Model::new(vec![versioned()]);
    model.put("Team", &[("name", "a")], json!({"size": 7}));
    for n in 1..=9 {
        model.faults.insert(("update", n), Fault::Fails(FailureClass::Conflict));
    }
    let report = model.apply(&[team(json!({"size": 2}))]);
    assert_eq!(only(&report).result.word(), "conflict");
    assert!(has(only(&report), "Contended"));
    assert_eq!(model.writes().len(), 6, "the first, and five rounds");
    let looks = model.log.iter().filter(|line| !line.starts_with("update")).count();
    assert!(looks >= 6, "each from a new look: {:?}", model.log);
}

#[test]
fn what_moved_is_overwritten_only_where_all_of_it_is_named() {
    for (forced, result, size) in
        [(&["size", "tier"][..], "done", 2), (&["size"], "conflict", 9), (&[], "conflict", 9)]
    {
        let mut model = Model::new(vec![versioned()]);
        model.put("Team", &[("name", "a")], json!({"size": 7, "tier": "x"}));
        let documents = with(json!({"size": 2, "tier": "z"}), OnConflict::Report, forced);
        let plan = model.plan(&documents);
        model.objects.values_mut().for_each(|slot| slot[0].value = json!({"size": 9, "tier": "y"}));
        let report = model.apply_with(&documents, Options::default(), Some(&plan));
        assert_eq!(only(&report).result.word(), result, "{forced:?}");
        assert_eq!(model.get("Team", "a").expect("it is there")["size"], size, "{forced:?}");
        let why = only(&report).result.explanation().map(|why| why.message.clone()).unwrap_or_default();
        assert_eq!(why.contains("does not name `tier`"), forced == ["size"], "{why}");
        let forced = only(&report).conflicts.iter().all(|one| one.resolution == Resolution::Forced);
        assert_eq!(forced, result == "done");
    }
}

#[test]
fn what_moved_is_given_up_and_the_rest_goes_on() {
    let mut model = Model::new(vec![versioned()]);
    model.put("Team", &[("name", "a")], json!({"size": 7, "tier": "x", "note": "n"}));
    let documents = with(json!({"size": 2, "tier": "z"}), OnConflict::Ignore, &[]);
    let plan = model.plan(&documents);
    model.objects.values_mut().for_each(|slot| slot[0].value["size"] = json!(9));
    let report = model.apply_with(&documents, Options::default(), Some(&plan));
    assert_eq!(only(&report).result.word(), "done");
    assert_eq!(told(only(&report)), [("size", Cause::Moved, Resolution::GivenUp)]);
    assert!(has(only(&report), "GivenUp"));
    let value = model.get("Team", "a").expect("it is there");
    assert_eq!((&value["size"], &value["tier"], &value["note"]), (&json!(9), &json!("z"), &json!("n")));
    assert_eq!(model.writes().len(), 1);
}

#[test]
fn what_is_given_up_whole_leaves_nothing_to_write() {
    let mut model = Model::new(vec![versioned()]);
    model.put("Team", &[("name", "a")], json!({"hosts": ["a"]}));
    let documents = with(json!({"hosts": ["a", "b"]}), OnConflict::Ignore, &[]);
    let plan = model.plan(&documents);
    model.objects.values_mut().for_each(|slot| slot[0].value["hosts"] = json!(["c"]));
    let report = model.apply_with(&documents, Options::default(), Some(&plan));
    assert_eq!(only(&report).result.word(), "in-sync");
    assert!(has(only(&report), "GivenUp"));
    assert!(model.writes().is_empty(), "{:?}", model.log);
}

#[test]
fn what_others_hold_is_taken_over_only_where_all_of_it_is_named() {
    for (forced, held, result, writes) in [
        (&["on"][..], &["on"][..], "done", 2),
        (&["on"], &["on", "share"], "conflict", 1),
        (&[], &["on"], "conflict", 1),
    ] {
        let mut model = Model::new(vec![applied()]);
        model.put("Team", &[("name", "a")], json!({"on": false, "share": 1}));
        let documents = with(json!({"on": true, "share": 2}), OnConflict::Report, forced);
        model.refusal = Some(contested(held));
        let report = model.apply(&documents);
        assert_eq!(only(&report).result.word(), result, "{forced:?} of {held:?}");
        assert_eq!(model.writes().len(), writes, "{forced:?} of {held:?}");
        assert_eq!(only(&report).conflicts.len(), held.len());
        assert_eq!(model.get("Team", "a").expect("it is there")["on"], result == "done");
    }
}

#[test]
fn what_another_takes_meanwhile_is_not_taken_over() {
    let mut model = Model::new(vec![applied()]);
    model.put("Team", &[("name", "a")], json!({"on": false, "share": 1, "setBy": {"on": "console"}}));
    let documents = with(json!({"on": true, "share": 2}), OnConflict::Report, &["on"]);
    model.refusal = Some(contested(&["on"]));
    // Beside the refusal somebody takes the other field.
    model.meddle = Some(|model| {
        model.objects.values_mut().for_each(|slot| slot[0].value["setBy"]["share"] = json!("ops"))
    });
    let report = model.apply(&documents);
    assert_eq!(only(&report).result.word(), "conflict");
    assert_eq!(model.writes().len(), 1, "the refused one");
    let why = only(&report).result.explanation().map(|why| why.message.clone()).unwrap_or_default();
    assert!(why.contains("held by `ops`") && why.contains("does not name `share`"), "{why}");
}

#[test]
fn what_others_hold_is_left_out_of_what_is_applied() {
    for known in [true, false] {
        let mut model = Model::new(vec![applied()]);
        let set_by = if known { json!({"on": "console", "share": "me"}) } else { json!({}) };
        model.put("Team", &[("name", "a")], json!({"on": false, "share": 1, "setBy": set_by}));
        if !known {
            model.refusal = Some(contested(&["on"]));
        }
        let documents = with(json!({"on": true, "share": 2}), OnConflict::Ignore, &[]);
        let report = model.apply(&documents);
        assert_eq!(only(&report).result.word(), "done", "known: {known}");
        assert_eq!(told(only(&report)), [("on", Cause::Held, Resolution::GivenUp)]);
        let sent = model.get("Team", "a").expect("it is there");
        assert_eq!((sent.get("on"), &sent["share"]), (None, &json!(2)), "what is applied does not name it");
        assert_eq!(model.writes().len(), if known { 1 } else { 2 });
    }
}

#[test]
fn what_leaving_out_would_take_away_is_not_given_up() {
    let mut model = Model::new(vec![applied()]);
    model.put("Team", &[("name", "a")], json!({"on": false, "setBy": {"on": "me"}}));
    model.refusal = Some(contested(&["on"]));
    let report = model.apply(&with(json!({"on": true}), OnConflict::Ignore, &[]));
    assert_eq!(only(&report).result.word(), "conflict");
    let why = only(&report).result.explanation().map(|why| why.message.clone()).unwrap_or_default();
    assert!(why.contains("cannot be given up: the server would take away"), "{why}");
    assert_eq!(model.writes().len(), 1);
}

#[test]
fn a_server_that_goes_on_refusing_is_not_asked_for_ever() {
    let mut model = Model::new(vec![applied()]);
    model.put("Team", &[("name", "a")], json!({"on": false}));
    let documents = with(json!({"on": true}), OnConflict::Report, &["on"]);
    model.opinion = Some(contested(&["on"]));
    model.kinds = {
        let mut flag = applied();
        flag.check = flag.update.clone();
        Model::new(vec![flag]).kinds
    };
    let report = model.plan(&documents);
    assert_eq!(only(&report).result.word(), "conflict");
    assert_eq!(model.log.iter().filter(|line| line.starts_with("check")).count(), 2, "{:?}", model.log);
    let hint = only(&report).result.explanation().and_then(|why| why.hint.clone()).unwrap_or_default();
    assert!(hint.contains("needs `forced`"), "{hint}");
}
