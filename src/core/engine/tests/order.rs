//! Parents, references and `depends-on`: the order of creation and of deletion.

use serde_json::json;

use super::model::{Fault, Model, document, kind};
use crate::core::document::{Document, Ensure};
use crate::core::exchange::FailureClass;
use crate::core::node::{Node, Pos, Reference, Want};
use crate::core::path::Path;
use crate::core::report::Outcome;
use crate::core::value::Value;

fn family() -> (Model, Vec<Document>) {
    let model = Model::new(vec![kind("Zone", false, None), kind("Record", false, Some("Zone"))]);
    let documents = vec![
        document("Record", &[("in", "z"), ("name", "r")], json!({"ttl": 5})),
        document("Zone", &[("name", "z")], json!({})),
    ];
    (model, documents)
}

/// A document whose `team` is the id that the server makes for `Team a`.
fn with_reference() -> (Model, Vec<Document>) {
    let model = Model::new(vec![kind("Team", true, None), kind("Repo", false, None)]);
    let reference = Reference {
        backend: None,
        kind: "Team".into(),
        parts: vec![("".into(), Value::from("a"))],
        field: Path::parse("id").expect("a path"),
        text: "Team/a .id".into(),
        secrets: Default::default(),
    };
    let mut repo = document("Repo", &[("name", "r")], json!({}));
    let Want::Map(map) = &mut repo.spec_mut().want else { panic!("a map") };
    map.insert("team", Node::new(Pos { line: 9, column: 9 }, Want::Ref(reference.into())));
    (model, vec![repo, document("Team", &[("name", "a")], json!({}))])
}

#[test]
fn a_child_of_an_absent_parent_is_absent_with_no_request() {
    let (mut model, documents) = family();
    let plan = model.plan(&documents);
    assert_eq!(model.log, ["read Zone z"]);
    assert!(plan.objects.iter().all(|entry| entry.result == Outcome::Planned));

    let report = model.apply(&documents);
    assert!(report.objects.iter().all(|entry| entry.result == Outcome::Done), "{report:?}");
    assert_eq!(model.writes(), ["create Zone z", "create Record z/r"]);
}

#[test]
fn a_parent_that_stands_in_no_document_is_looked_at_and_never_made() {
    let (mut model, mut documents) = family();
    documents.pop();
    let report = model.apply(&documents);
    let Outcome::Failed(why) = &report.objects[0].result else { panic!("{report:?}") };
    assert_eq!(why.message, "its parent `Zone z` does not exist");
    assert!(model.writes().is_empty());

    model.put("Zone", &[("name", "z")], json!({}));
    assert_eq!(model.apply(&documents).objects[0].result, Outcome::Done);
    assert_eq!(model.writes(), ["create Record z/r"]);
}

#[test]
fn deletion_goes_from_the_leaves_to_the_root() {
    let (mut model, mut documents) = family();
    model.apply(&documents);
    documents.iter_mut().for_each(|document| document.policy.ensure = Ensure::Absent);
    let before = model.writes().len();
    let report = model.apply(&documents);
    assert!(report.objects.iter().all(|entry| entry.result == Outcome::Done), "{report:?}");
    assert_eq!(model.writes()[before..], ["delete Record z/r", "delete Zone z"]);
}

#[test]
fn a_parent_stays_while_its_child_cannot_be_deleted() {
    let (mut model, mut documents) = family();
    model.apply(&documents);
    documents.iter_mut().for_each(|document| document.policy.ensure = Ensure::Absent);
    model.faults.insert(("delete", 1), Fault::Fails(FailureClass::Status(403)));
    let report = model.apply(&documents);
    assert_eq!(report.objects[0].result.word(), "failed");
    assert_eq!(report.objects[1].result.word(), "skipped");
    assert!(model.get("Zone", "z").is_some());
}

#[test]
fn a_reference_is_symbolic_in_the_plan_and_the_servers_id_in_the_write() {
    let (mut model, documents) = with_reference();
    let plan = model.plan(&documents);
    assert!(plan.objects.iter().all(|entry| entry.result == Outcome::Planned));

    let report = model.apply_with(&documents, Default::default(), Some(&plan));
    assert!(report.objects.iter().all(|entry| entry.result == Outcome::Done), "{report:?}");
    assert_eq!(model.writes(), ["create Team a", "create Repo r"]);
    assert_eq!(model.get("Repo", "r").map(|repo| repo["team"].clone()), Some(json!(1)));
    assert!(model.plan(&documents).objects.iter().all(|entry| entry.result == Outcome::InSync));
}

#[test]
fn what_needs_a_failed_object_is_skipped_and_says_why() {
    let (mut model, documents) = with_reference();
    model.faults.insert(("create", 1), Fault::Fails(FailureClass::Status(403)));
    let report = model.apply(&documents);
    let Outcome::Skipped(why) = &report.objects[0].result else { panic!("{report:?}") };
    assert_eq!(why.message, "it needs `Team a`, which failed");
    assert_eq!(model.writes(), ["create Team a"]);
}

#[test]
fn a_long_chain_that_is_skipped_needs_no_deep_stack_and_no_long_story() {
    let mut model = Model::new(vec![kind("Team", false, None)]);
    let name = |i: usize| format!("t{i}");
    let mut documents: Vec<Document> =
        (0..5_000).map(|i| document("Team", &[("name", &name(i))], json!({}))).collect();
    for (i, document) in documents.iter_mut().enumerate().skip(1) {
        let before = name(i - 1);
        let reference = Reference {
            backend: None,
            kind: "Team".into(),
            parts: vec![("".into(), Value::from(before.as_str()))],
            field: Path::root(),
            text: format!("Team/{before}").into(),
            secrets: Default::default(),
        };
        document.policy.depends_on.push((reference, Pos::default()));
    }
    model.faults.insert(("create", 1), Fault::Fails(FailureClass::Status(403)));
    let report = model.apply(&documents);
    let Outcome::Skipped(why) = &report.objects[4_999].result else { panic!("it is skipped") };
    assert!(why.message.starts_with("it needs `Team t0`, which failed"), "{}", why.message);
}

#[test]
fn a_plan_deletes_no_parent_whose_child_is_protected() {
    let (mut model, mut documents) = family();
    model.apply(&documents);
    documents.iter_mut().for_each(|document| document.policy.ensure = Ensure::Absent);
    documents[0].policy.protected = true;
    for report in [model.plan(&documents), model.apply(&documents)] {
        assert_eq!(report.objects[0].result.word(), "refused");
        assert_eq!(report.objects[1].result.word(), "refused");
        let why = report.objects[1].result.explanation().expect("a reason");
        assert!(why.message.ends_with("is protected by `trueup/prune: \"false\"`"), "{}", why.message);
    }
    assert!(model.get("Zone", "z").is_some());
}
