//! Cycles that are broken by a field that waits: created without it, then updated with it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::model::{Fault, Model, document, kind, reference};
use crate::core::base::{Base, Past};
use crate::core::document::{Document, Drift, Ensure};
use crate::core::exchange::FailureClass;
use crate::core::fields::Immutable;
use crate::core::graph::Graph;
use crate::core::kind::Kind;
use crate::core::node::{Node, Pos, Want};
use crate::core::path::Path;
use crate::core::report::{Action, Outcome, Report};
use crate::core::value::Value;

/// A document with a field that refers to the id of another.
fn referring(kind: &str, name: &str, field: &str, to: &str) -> Document {
    let mut document = document(kind, &[("name", name)], json!({"size": 1}));
    let node = Node::new(Pos { line: 4, column: 1 }, Want::Ref(reference(to).into()));
    let Want::Map(fields) = &mut document.spec_mut().want else { panic!("a spec is a map") };
    fields.insert(field, node);
    document
}

fn kinds() -> Vec<Kind> {
    vec![kind("Realm", true, None), kind("Flow", true, None)]
}

/// A realm that names its flow, and the flow that names its realm.
fn pair() -> (Model, [Document; 2]) {
    let documents = [referring("Realm", "r", "flow", "Flow/f"), referring("Flow", "f", "realm", "Realm/r")];
    (Model::new(kinds()), documents)
}

fn words(report: &Report) -> Vec<(&'static str, &'static str)> {
    report.objects.iter().map(|entry| (entry.action.word(), entry.result.word())).collect()
}

fn field(model: &Model, kind: &str, name: &str, field: &str) -> Value {
    model.get(kind, name).map(|value| value[field].clone()).unwrap_or_default()
}

#[test]
fn the_first_is_created_without_the_field_and_updated_with_it() {
    let (mut model, documents) = pair();
    let plan = model.plan(&documents);
    assert_eq!(words(&plan), [("create", "planned"), ("create", "planned")]);
    let told: Vec<&str> = plan.objects[0].findings.iter().map(|finding| &*finding.message).collect();
    assert_eq!(told, ["created first, then `flow` is set once `Flow f` exists"]);
    assert!(plan.objects[1].findings.is_empty());

    let report = model.apply_with(&documents, Default::default(), Some(&plan));
    assert_eq!(words(&report), [("create", "done"), ("create", "done")]);
    assert_eq!(model.writes(), ["create Realm r", "create Flow f", "update Realm r"]);
    assert_eq!(
        (field(&model, "Realm", "r", "flow"), field(&model, "Flow", "f", "realm")),
        (json!(2), json!(1))
    );

    assert_eq!(words(&model.plan(&documents)), [("none", "in-sync"), ("none", "in-sync")]);
    assert_eq!(words(&model.apply(&documents)), [("none", "in-sync"), ("none", "in-sync")]);
    assert_eq!(model.writes().len(), 3, "the second run writes nothing");
}

#[test]
fn a_run_that_ends_between_is_finished_by_the_next() {
    let (mut model, documents) = pair();
    model.put("Realm", &[("name", "r")], json!({"size": 1}));
    let plan = model.plan(&documents);
    assert_eq!(words(&plan), [("update", "planned"), ("create", "planned")]);
    let report = model.apply_with(&documents, Default::default(), Some(&plan));
    assert_eq!(words(&report), [("update", "done"), ("create", "done")]);
    assert_eq!(model.writes(), ["create Flow f", "update Realm r"]);
}

/// Whether a third object held those up that need both decided whether they went on: a plan listed the update, and
/// the run left it out.
#[test]
fn what_needs_an_object_that_comes_again_goes_on_whatever_comes_of_that() {
    for size_of_other in [1, 2] {
        let (mut realm, mut flow) =
            (referring("Realm", "r", "master", "Realm/r"), referring("Flow", "f", "realm", "Realm/r"));
        realm.policy.drift = Drift::Report;
        flow.policy.depends_on.push((reference("Flow/g"), Pos::default()));
        let other = document("Flow", &[("name", "g")], json!({"size": 2}));
        let mut model = Model::new(kinds());
        model.put("Realm", &[("name", "r")], json!({"size": 1}));
        model.put("Flow", &[("name", "f")], json!({"size": 1}));
        model.put("Flow", &[("name", "g")], json!({"size": size_of_other}));
        let documents = [realm, other, flow];
        let plan = model.plan(&documents);
        let report = model.apply(&documents);
        assert_eq!(words(&plan)[0], ("update", "refused"), "{size_of_other}");
        assert_eq!(words(&plan)[2], ("update", "planned"), "{size_of_other}");
        assert_eq!(words(&report)[2], ("update", "done"), "{size_of_other}");
    }
}

#[test]
fn an_object_may_refer_to_itself() {
    let mut model = Model::new(kinds());
    let documents = [referring("Realm", "r", "master", "Realm/r")];
    assert_eq!(words(&model.plan(&documents)), [("create", "planned")]);
    assert_eq!(words(&model.apply(&documents)), [("create", "done")]);
    assert_eq!(model.writes(), ["create Realm r", "update Realm r"]);
    assert_eq!(field(&model, "Realm", "r", "master"), json!(1));
    assert_eq!(words(&model.plan(&documents)), [("none", "in-sync")]);
}

#[test]
fn what_the_field_waits_for_fails() {
    let (mut model, documents) = pair();
    for n in 1..9 {
        model.faults.insert(("create", n), Fault::Fails(FailureClass::Status(422)));
    }
    model.faults.remove(&("create", 1));
    let report = model.apply(&documents);
    let Outcome::Skipped(why) = &report.objects[0].result else { panic!("{report:?}") };
    let lacks = "it was created and lacks what refers to another: it needs `Flow f`, which failed";
    assert_eq!((why.message.as_str(), report.objects[0].wrote), (lacks, true));
}

#[test]
fn both_can_be_deleted() {
    let (mut model, documents) = pair();
    model.apply(&documents);
    let gone = documents.map(|mut document| {
        document.policy.ensure = Ensure::Absent;
        document
    });
    assert_eq!(words(&model.apply(&gone)), [("delete", "done"), ("delete", "done")]);
}

#[test]
fn three_rings_in_one_another() {
    let mut model = Model::new(kinds());
    let mut first = referring("Realm", "a", "one", "Realm/b");
    let Want::Map(fields) = &mut first.spec_mut().want else { panic!("a spec is a map") };
    fields.insert("two", Node::new(Pos::default(), Want::Ref(reference("Realm/c").into())));
    let documents =
        [first, referring("Realm", "b", "one", "Realm/a"), referring("Realm", "c", "one", "Realm/a")];
    assert!(
        model.apply(&documents).objects.iter().all(|entry| entry.result == Outcome::Done),
        "{:?}",
        model.log
    );
    assert_eq!(model.writes().len(), 4, "{:?}", model.log);
    assert!(model.plan(&documents).objects.iter().all(|entry| entry.action == Action::None));
}

#[test]
fn what_cannot_wait_is_the_error_that_names_the_cycle() {
    let (_, documents) = pair();
    let message = "these documents need each other: Realm r (test.yaml:1:1) → Flow f (test.yaml:1:1) → Realm r (test.yaml:1:1)";
    let refused = |change: fn(&mut Kind)| {
        let mut kinds = kinds();
        kinds.iter_mut().for_each(change);
        let problems = Graph::build(&documents, &Model::new(kinds).kinds).expect_err("refused");
        assert_eq!(problems[0].message, message);
    };
    refused(|kind| kind.update = None);
    refused(|kind| {
        for field in ["flow", "realm"] {
            let path = Path::parse(field).expect("a path");
            kind.fields.at_mut(&path).immutable = Some(Immutable::Refuse);
        }
    });
    refused(|kind| {
        for field in ["flow", "realm"] {
            kind.fields.at_mut(&Path::parse(field).expect("a path")).write_only = true;
        }
    });

    let mut after = documents.clone();
    for (document, to) in after.iter_mut().zip(["Flow/f", "Realm/r"]) {
        *document.spec_mut() = Node::from_value(Pos::default(), json!({}));
        document.policy.depends_on.push((reference(to), Pos::default()));
    }
    let problems = Graph::build(&after, &Model::new(kinds()).kinds).expect_err("an order is an order");
    assert_eq!(problems[0].message, message);
}

/// What left the files was looked for only when all that waits had come: a plan said that the field is in conflict, and
/// the run deleted the object with it before it came to that (seed 45096).
#[test]
fn a_replacement_is_judged_by_all_of_the_document_before_anything_goes() {
    let fixed = |document: &mut Document, name: &str, value: Value| {
        let Want::Map(fields) = &mut document.spec_mut().want else { panic!("a spec is a map") };
        fields.insert(name.to_owned(), Node::from_value(Pos::default(), value));
    };
    let path = |text: &str| Path::parse(text).expect(text);
    for (forced, there, result, writes) in [
        (&[][..], "theirs", "conflict", &[][..]),
        (&["gone"], "theirs", "done", &["delete Realm r", "create Realm r", "update Realm r"]),
        (&[], "base", "done", &["delete Realm r", "create Realm r", "update Realm r"]),
    ] {
        let mut realm = kind("Realm", true, None);
        realm.fields.at_mut(&path("fixed")).immutable = Some(Immutable::Replace);
        let mut model = Model::new(vec![realm]);
        model.put("Realm", &[("name", "r")], json!({"size": 1, "fixed": "c", "gone": there}));
        let mut realm = referring("Realm", "r", "master", "Realm/r");
        fixed(&mut realm, "fixed", json!("a"));
        let mut past = realm.clone();
        fixed(&mut past, "gone", json!("base"));
        realm.base = Base::Present(Arc::new(Past { spec: Node::clone(&past.spec), file: "base".into() }));
        realm.policy.replace = true;
        realm.policy.forced_paths = forced.iter().map(|text| path(text)).collect();
        let documents = [realm];
        let planned = if result == "done" { "planned" } else { result };
        assert_eq!(words(&model.plan(&documents)), [("replace", planned)]);
        let report = model.apply(&documents);
        assert_eq!(words(&report), [("replace", result)], "{there}, {forced:?}: {:?}", model.log);
        assert_eq!(report.objects[0].conflicts.len(), usize::from(there == "theirs"));
        assert_eq!(model.writes(), writes, "{there}, {forced:?}");
    }
}

/// A look that does not show our own write takes nothing away that others rest on: what refers to the object said that
/// its id was not known, as it came again and a read was behind.
#[test]
fn what_a_look_does_not_show_again_is_known_all_the_same() {
    for hidden in 1..=8 {
        let realm = Kind { visible: Duration::from_secs(30), ..kind("Realm", true, None) };
        let mut model = Model::new(vec![realm, kind("Flow", true, None)]);
        model.faults.insert(("read", hidden), Fault::Hides);
        let flow = referring("Flow", "f", "realm", "Realm/r");
        let mut documents = vec![referring("Realm", "r", "master", "Realm/r"), flow];
        documents[1].policy.depends_on.push((reference("Flow/g"), Pos::default()));
        documents.push(document("Flow", &[("name", "g")], json!({"size": 1})));
        model.put("Flow", &[("name", "f")], json!({"size": 2}));
        model.put("Flow", &[("name", "g")], json!({"size": 2}));
        let report = model.apply(&documents);
        let done = [("create", "done"), ("update", "done"), ("update", "done")];
        assert_eq!(words(&report), done, "{hidden}: {report:?}\n{:?}", model.log);
        assert_eq!(field(&model, "Flow", "f", "realm"), field(&model, "Realm", "r", "master"));
        assert_eq!(model.writes().len(), 4, "{:?}", model.log);
    }
}

/// As its children went on when it was made, they are there though a look does not show it for a while: they were made
/// once more, with no look.
#[test]
fn a_child_is_looked_for_though_its_parent_is_behind() {
    for hidden in 1..=8 {
        let zone = Kind { visible: Duration::from_secs(30), ..kind("Zone", false, None) };
        let mut model = Model::new(vec![zone, kind("Record", true, Some("Zone")), kind("Flow", true, None)]);
        model.faults.insert(("read", hidden), Fault::Hides);
        model.put("Zone", &[("name", "z")], json!({"size": 1}));
        model.put("Record", &[("in", "z"), ("name", "r")], json!({"ttl": 1}));
        let mut documents = vec![referring("Zone", "z", "master", "Zone/z")];
        documents.push(document("Record", &[("in", "z"), ("name", "r")], json!({"ttl": 2})));
        for name in ["g", "h"] {
            model.put("Flow", &[("name", name)], json!({"size": 2}));
            documents.push(document("Flow", &[("name", name)], json!({"size": 1})));
        }
        documents[1].policy.depends_on.push((reference("Flow/g"), Pos::default()));
        documents[2].policy.depends_on.push((reference("Flow/h"), Pos::default()));
        let report = model.apply(&documents);
        let made = model.writes().into_iter().any(|write| write.starts_with("create Record"));
        assert!(!made, "{hidden}: {report:?}\n{:?}", model.log);
    }
}
