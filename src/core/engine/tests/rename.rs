//! Renames in place: under which name an object is looked for, and what is written where.

use serde_json::json;

use super::model::{Fault, Model, document, kind};
use crate::core::document::{Document, Policy, Was};
use crate::core::exchange::FailureClass;
use crate::core::graph::Graph;
use crate::core::kind::Version;
use crate::core::node::Pos;
use crate::core::report::{Action, Entry, Outcome, Report};

fn was(mut document: Document, old: &str) -> Document {
    let was = Was { parts: vec![(None, old.into())], at: Pos { line: 3, column: 1 } };
    document.policy = Policy { was: Some(was), ..document.policy };
    document
}

/// `new`, which was `old`, and its server.
fn renamed(server_ids: bool) -> (Model, [Document; 1]) {
    let mut model = Model::new(vec![kind("Team", server_ids, None)]);
    model.renames = true;
    (model, [was(document("Team", &[("name", "new")], json!({"size": 1})), "old")])
}

fn one(report: &Report) -> &Entry {
    assert_eq!(report.objects.len(), 1);
    &report.objects[0]
}

fn lines(entry: &Entry) -> Vec<String> {
    entry
        .changes
        .iter()
        .map(|change| format!("{} {:?} {:?}", change.path, change.before, change.after))
        .collect()
}

#[test]
fn the_old_object_gets_the_new_name_and_the_next_run_writes_nothing() {
    for server_ids in [false, true] {
        let (mut model, documents) = renamed(server_ids);
        model.put("Team", &[("name", "old")], json!({"size": 7, "theirs": "kept"}));
        let plan = model.plan(&documents);
        assert_eq!((one(&plan).action, &one(&plan).result), (Action::Update, &Outcome::Planned));
        let name =
            lines(one(&plan)).into_iter().find(|line| line.starts_with("name")).expect("the name changes");
        assert_eq!(name, r#"name Some(Value(String("old"))) Some(Value(String("new")))"#);

        let report = model.apply_with(&documents, Default::default(), Some(&plan));
        assert_eq!((one(&report).action, &one(&report).result), (Action::Update, &Outcome::Done));
        assert_eq!(model.writes(), ["update Team old"], "no delete, no create");
        let new = model.get("Team", "new").expect("it has its new name");
        assert_eq!((new["size"].clone(), new["theirs"].clone()), (json!(1), json!("kept")));

        let again = model.apply(&documents);
        assert_eq!(one(&again).result, Outcome::InSync);
        assert_eq!(one(&again).findings[0].code, "RenameDone");
        assert_eq!(model.writes().len(), 1);
    }
}

#[test]
fn what_is_there_under_neither_name_is_created() {
    for server_ids in [false, true] {
        let (mut model, documents) = renamed(server_ids);
        assert_eq!(one(&model.plan(&documents)).action, Action::Create);
        assert_eq!(one(&model.apply(&documents)).result, Outcome::Done);
        assert_eq!(model.writes(), ["create Team new"]);
    }
}

#[test]
fn what_is_to_go_goes_under_its_old_name() {
    for (server_ids, theirs) in [(false, "old"), (true, "old"), (false, "new"), (true, "new")] {
        let (mut model, documents) = renamed(server_ids);
        model.put("Team", &[("name", theirs)], json!({"size": 7}));
        let plan = model.delete(&documents, None);
        assert_eq!((one(&plan).action, &one(&plan).result), (Action::Delete, &Outcome::Planned));
        let report = model.delete(&documents, Some(&plan));
        assert_eq!(one(&report).result, Outcome::Done, "{:?}", model.log);
        assert_eq!(one(&report).findings.iter().any(|one| one.code == "OldName"), theirs == "old");
        assert_eq!(model.writes(), [format!("delete Team {theirs}")]);
        assert_eq!(one(&model.delete(&documents, None)).result, Outcome::InSync);
    }
    // A deletion that takes its time is waited for under that name, and one that does not happen is told.
    for (lingers, word) in [(30, "done"), (u32::MAX, "unknown")] {
        let (mut model, documents) = renamed(true);
        model.put("Team", &[("name", "old")], json!({}));
        let plan = model.delete(&documents, None);
        model.lingers = Some(lingers);
        assert_eq!(one(&model.delete(&documents, Some(&plan))).result.word(), word, "{:?}", model.log);
    }
    // Of two nobody can tell which is meant.
    let (mut model, documents) = renamed(true);
    model.put("Team", &[("name", "old")], json!({}));
    model.put("Team", &[("name", "new")], json!({}));
    assert_eq!(one(&model.delete(&documents, None)).result.word(), "conflict");
}

#[test]
fn both_names_are_a_conflict() {
    let (mut model, documents) = renamed(true);
    model.put("Team", &[("name", "old")], json!({}));
    model.put("Team", &[("name", "new")], json!({}));
    let Outcome::Conflict(why) = &one(&model.apply(&documents)).result.clone() else { panic!("no conflict") };
    assert_eq!(why.message, "both `Team new` and `Team old`, which it was, are there");
    assert!(model.writes().is_empty());
}

#[test]
fn a_lost_answer_or_a_race_leads_to_another_look_under_both_names() {
    for fault in [
        Fault::DoneAndLost,
        Fault::Fails(FailureClass::Lost),
        Fault::Fails(FailureClass::Conflict),
        Fault::Fails(FailureClass::Status(404)),
        Fault::Fails(FailureClass::Status(429)),
    ] {
        for server_ids in [false, true] {
            let (mut model, documents) = renamed(server_ids);
            model.put("Team", &[("name", "old")], json!({"size": 7}));
            model.faults.insert(("update", 1), fault.clone());
            assert_eq!(one(&model.apply(&documents)).result, Outcome::Done, "{fault:?}: {:?}", model.log);
            assert!(model.get("Team", "new").is_some());
            let writes = if matches!(fault, Fault::DoneAndLost) { 1 } else { 2 };
            assert_eq!(model.writes().len(), writes, "{fault:?}: {:?}", model.log);
        }
    }
}

#[test]
fn a_server_that_keeps_the_old_name_is_told_of() {
    let (mut model, documents) = renamed(false);
    model.renames = false;
    model.normalise = Some(|value| drop(value.as_object_mut().and_then(|map| map.remove("name"))));
    model.put("Team", &[("name", "old")], json!({"size": 1}));
    let report = model.apply(&documents);
    let Outcome::NotEffective(why) = &one(&report).result else { panic!("{report:?}") };
    assert_eq!(why.message, r#"`name`: sent "new", the server stores "old""#);
    assert!(model.get("Team", "new").is_none(), "it is not created beside the old one");
}

#[test]
fn children_follow_their_parent() {
    let (mut model, documents) = renamed(false);
    model.kinds.insert(kind("Member", false, Some("Team")));
    model.put("Team", &[("name", "old")], json!({"size": 1}));
    model.put("Member", &[("in", "old"), ("name", "m")], json!({"size": 1}));
    let [team] = documents;
    let documents = [team, document("Member", &[("in", "new"), ("name", "m")], json!({"size": 1}))];
    let plan = model.plan(&documents);
    assert_eq!(plan.objects[1].result, Outcome::InSync, "a plan looks below the old name: {:?}", model.log);
}

#[test]
fn children_go_below_the_old_name_of_their_parent() {
    for server_ids in [false, true] {
        let (mut model, documents) = renamed(server_ids);
        model.kinds.insert(kind("Member", server_ids, Some("Team")));
        model.put("Team", &[("name", "old")], json!({"size": 1}));
        model.put("Member", &[("in", "old"), ("name", "m")], json!({"size": 1}));
        let [team] = documents;
        let documents = [team, document("Member", &[("in", "new"), ("name", "m")], json!({"size": 1}))];
        let plan = model.delete(&documents, None);
        assert!(plan.objects.iter().all(|entry| entry.result == Outcome::Planned), "{:?}", model.log);
        let report = model.delete(&documents, Some(&plan));
        let results: Vec<&Outcome> = report.objects.iter().map(|entry| &entry.result).collect();
        assert_eq!(results, [&Outcome::Done, &Outcome::Done], "{:?}", model.log);
        assert_eq!(model.writes(), ["delete Member old/m", "delete Team old"]);
        let again = model.delete(&documents, None);
        assert!(again.objects.iter().all(|entry| entry.result == Outcome::InSync), "{:?}", model.log);
    }
}

#[test]
fn a_rename_that_contradicts_other_documents_is_refused() {
    let (model, [team]) = renamed(false);
    let other = document("Team", &[("name", "old")], json!({}));
    let twice = was(document("Team", &[("name", "newer")], json!({})), "old");
    for (second, message) in [
        (other, "`Team old`, which it was, has a document of its own (test.yaml:1:1)"),
        (twice, "`Team old` is renamed twice: the other document is test.yaml:1:1"),
    ] {
        let problems = Graph::build(&[team.clone(), second], &model.kinds).expect_err("refused");
        assert_eq!(problems[0].message, message);
    }
}

#[test]
fn a_kind_without_a_way_says_why() {
    let (_, [team]) = renamed(false);
    let mut fixed = kind("Team", false, None);
    fixed.update = None;
    let mut empty = kind("Team", false, None);
    empty.parts[0].on_item = Some(crate::core::filter::Filter::parse(".meta | .name").expect("a filter"));
    let mut upsert = kind("Team", false, None);
    upsert.update.as_mut().expect("an update").path.0.truncate(1);
    for (kind, why) in [
        (fixed, "the API has no update for it"),
        (empty, "its `name` has no plain place in its body"),
        (upsert, "its update finds it by the new name alone"),
    ] {
        let kinds = Model::new(vec![kind]).kinds;
        let problems = Graph::build(std::slice::from_ref(&team), &kinds).expect_err("refused");
        assert_eq!(problems[0].message, format!("a `Team` cannot be renamed: {why}"));
    }
}

/// Every pair of faults in the first requests: the object is renamed and nothing else is made, now or by the next
/// run.
#[test]
fn no_fault_makes_a_second_object() {
    let faults = [
        Fault::DoneAndLost,
        Fault::Fails(FailureClass::Lost),
        Fault::Fails(FailureClass::NotSent),
        Fault::Fails(FailureClass::Conflict),
        Fault::Fails(FailureClass::Status(404)),
        Fault::Fails(FailureClass::Status(403)),
        Fault::Incomplete,
    ];
    let places: Vec<(&'static str, u32)> =
        ["list", "read", "update"].into_iter().flat_map(|role| (1..4).map(move |n| (role, n))).collect();
    let others = [Fault::DoneAndLost, Fault::Fails(FailureClass::Status(404))];
    let pairs = (0..places.len()).flat_map(|one| (one..places.len()).map(move |other| (one, other)));
    let pairs = pairs.map(|(one, other)| (places[one], places[other]));
    for ((first, second), (server_ids, tagged)) in pairs
        .flat_map(|pair| [(false, false), (false, true), (true, false), (true, true)].map(|how| (pair, how)))
    {
        for (one, other) in faults.iter().flat_map(|one| others.iter().map(move |other| (one, other))) {
            let (mut model, documents) = renamed(server_ids);
            if tagged {
                let mut kind = kind("Team", server_ids, None);
                kind.version = Version::ETag;
                model.kinds.insert(kind);
            }
            model.put("Team", &[("name", "old")], json!({"size": 7, "theirs": "kept"}));
            model.faults.extend([(first, one.clone()), (second, other.clone())]);
            model.apply(&documents);
            model.faults.clear();
            let told = one_of(&model.apply(&documents));
            let case =
                format!("{first:?} {one:?}, {second:?} {other:?}, {server_ids} {tagged}: {:?}", model.log);
            assert!(matches!(told, Outcome::Done | Outcome::InSync), "{told:?} {case}");
            let stored: Vec<String> = model
                .objects
                .values()
                .flatten()
                .map(|one| format!("{} {}", one.key, one.value["theirs"]))
                .collect();
            assert_eq!(stored, [r#"new "kept""#], "{case}");
            assert!(model.writes().iter().all(|line| line.starts_with("update")), "{case}");
        }
    }
}

fn one_of(report: &Report) -> Outcome {
    one(report).result.clone()
}
