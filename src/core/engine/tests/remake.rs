//! What is deleted to be created again: nothing is deleted whose creation, or that of what goes along, lacks something.

use std::sync::Arc;

use serde_json::{Value, json};

use super::make::kind_name;
use super::model::{Fault, Model, document, kind, reference};
use crate::core::base::{Base, Past};
use crate::core::document::{Document, Drift, Ensure};
use crate::core::engine::{Engine, Mode, Options};
use crate::core::exchange::FailureClass;
use crate::core::fields::Immutable;
use crate::core::graph::Graph;
use crate::core::kind::{Kind, Read};
use crate::core::node::{Node, Pos, Secret, Want};
use crate::core::path::Path;
use crate::core::report::{Entry, Outcome, Report};

/// A zone that cannot be changed, of another type than its document says, with the record `r`; and teams.
fn server() -> Model {
    let zone = Kind { update: None, ..kind("Zone", false, None) };
    let mut record = Kind { read: Read::FromList, ..kind("Record", false, Some("Zone")) };
    record.fields.at_mut(&at("size")).immutable = Some(Immutable::Replace);
    let mut model = Model::new(vec![zone, record, kind("Team", false, None)]);
    model.cascades = true;
    model.put("Zone", &[("name", "z")], json!({"type": "old"}));
    model.put("Record", &[("in", "z"), ("name", "r")], json!({"ttl": 5, "size": 1}));
    model.log.clear();
    model
}

fn at(path: &str) -> Path {
    Path::parse(path).expect("a path")
}

fn zone() -> Document {
    document("Zone", &[("name", "z")], json!({"type": "new"}))
}

fn record(spec: Value) -> Document {
    document("Record", &[("in", "z"), ("name", "r")], spec)
}

fn team(spec: Value) -> Document {
    document("Team", &[("name", "t")], spec)
}

/// The document, with one field more.
fn with(document: Document, name: &str, want: Want) -> Document {
    let mut spec: Node = (*document.spec).clone();
    let Want::Map(map) = &mut spec.want else { panic!("a map") };
    map.insert(name, Node::new(Pos::default(), want));
    Document { spec: spec.into(), ..document }
}

fn no_secret() -> Want {
    Want::Secret(Secret::new("env:NOPE", None))
}

/// The field of the team `t`.
fn of_team(field: &str) -> Want {
    let text = format!("Team/t .{field}").into();
    Want::Ref(Box::new(crate::core::node::Reference { field: at(field), text, ..reference("Team/t") }))
}

fn consent() -> Options {
    Options { replace: ["Zone/z".to_owned()].into(), ..Options::default() }
}

fn told(report: &Report) -> Vec<String> {
    let line = |entry: &Entry| {
        let why = entry.result.explanation().map(|why| format!(": {}", why.message)).unwrap_or_default();
        format!("{} {} {}{why}", entry.action.word(), entry.id.slashed(), entry.result.word())
    };
    report.objects.iter().map(line).collect()
}

/// Plans, and applies without a plan and with it: what is said of the first document is said by all three, and nothing is
/// deleted.
fn stays(make: impl Fn() -> Model, documents: &[Document], why: &str) {
    let plan = make().plan_with(documents, consent());
    assert_eq!(told(&plan)[0], format!("replace Zone/z refused: {why}"));
    for agreed in [None, Some(&plan)] {
        let mut model = make();
        let report = model.apply_with(documents, consent(), agreed);
        assert_eq!(told(&report)[0], format!("replace Zone/z refused: {why}"), "{:?}", told(&report));
        assert!(!model.writes().iter().any(|write| write.starts_with("delete")), "{:?}", model.writes());
    }
}

#[test]
fn what_has_to_be_sent_is_there_before_the_deletion() {
    let never = "once deleted, it could not be created again: ";
    let secret = with(zone(), "key", no_secret());
    stays(server, &[secret], &format!("{never}the secret `env:NOPE` is not set"));
    let there = || {
        let mut model = server();
        model.put("Team", &[("name", "t")], json!({"size": 1}));
        model
    };
    let named = [with(zone(), "of", of_team("none")), team(json!({"size": 1}))];
    stays(there, &named, &format!("{never}`Team/t .none` is not known yet"));
}

#[test]
fn what_another_brings_in_the_same_run_is_waited_for() {
    let documents =
        [with(zone(), "of", of_team("size")), record(json!({"ttl": 5})), team(json!({"size": 3}))];
    let mut model = server();
    let plan = model.plan_with(&documents, consent());
    assert_eq!(
        told(&plan),
        ["replace Zone/z planned", "replace Record/z/r planned", "create Team/t planned"]
    );
    let report = model.apply_with(&documents, consent(), Some(&plan));
    assert!(report.objects.iter().all(|entry| entry.result == Outcome::Done), "{:?}", told(&report));
    assert_eq!(model.writes(), ["create Team t", "delete Zone z", "create Zone z", "create Record z/r"]);

    // A plan cannot tell that the field will not be there; the deletion can.
    let documents = [with(zone(), "of", of_team("none")), team(json!({"size": 3}))];
    let mut model = server();
    let plan = model.plan_with(&documents, consent());
    assert_eq!(told(&plan)[0], "replace Zone/z planned");
    let report = model.apply_with(&documents, consent(), Some(&plan));
    let why = "once deleted, it could not be created again: `Team/t .none` is not known yet";
    assert_eq!(told(&report)[0], format!("replace Zone/z refused: {why}"));
    assert_eq!(model.writes(), ["create Team t"]);
}

#[test]
fn a_child_that_could_not_be_created_again_keeps_its_parent() {
    let never = "`Record z/r` would go with it, and could not be created again: ";
    let secret = with(record(json!({"ttl": 5})), "key", no_secret());
    stays(server, &[zone(), secret], &format!("{never}the secret `env:NOPE` is not set"));

    let mut paused = team(json!({"size": 1}));
    paused.policy.paused = true;
    let child = with(record(json!({"ttl": 5})), "of", of_team("size"));
    let why = format!("{never}it needs `Team t`, which was refused");
    for documents in [[zone(), child.clone(), paused.clone()], [zone(), paused, child]] {
        stays(server, &documents, &why);
    }
}

#[test]
fn a_child_whose_need_fails_meanwhile_keeps_its_parent() {
    let documents =
        [zone(), with(record(json!({"ttl": 5})), "of", of_team("size")), team(json!({"size": 1}))];
    let mut model = server();
    let plan = model.plan_with(&documents, consent());
    assert_eq!(told(&plan)[0], "replace Zone/z planned");
    model.faults.insert(("create", 1), Fault::Fails(FailureClass::Status(422)));
    let report = model.apply_with(&documents, consent(), Some(&plan));
    let why =
        "`Record z/r` would go with it, and could not be created again: it needs `Team t`, which failed";
    assert_eq!(told(&report)[0], format!("replace Zone/z refused: {why}"));
    assert_eq!(model.writes(), ["create Team t"]);
}

#[test]
fn a_child_that_is_not_there_keeps_nothing() {
    let mut model = server();
    model.objects.remove(&("Record".into(), "z/r".into()));
    let documents = [zone(), with(record(json!({"ttl": 5})), "key", no_secret())];
    let report = model.apply_with(&documents, consent(), None);
    assert_eq!(told(&report)[0], "replace Zone/z done");
    assert_eq!(model.writes(), ["delete Zone z", "create Zone z"]);
}

/// Children of two zones that need each other: neither replacement can wait for the other.
#[test]
fn replacements_whose_children_need_each_other_do_not_wait_for_ever() {
    let mut model = server();
    model.put("Zone", &[("name", "y")], json!({"type": "old"}));
    let other = |name: &str| document("Record", &[("in", "y"), ("name", name)], json!({"ttl": 1}));
    for (zone, name) in [("y", "r"), ("y", "s"), ("z", "s")] {
        model.put("Record", &[("in", zone), ("name", name)], json!({"ttl": 1}));
    }
    let after = |zone: &str, name: &str| {
        let mut needed = reference("Record/r");
        needed.parts = [("in", zone), ("name", name)].map(|(part, value)| (part.into(), value.into())).into();
        needed.field = at("ttl");
        needed.text = format!("Record/{zone}/{name} .ttl").into();
        Want::Ref(Box::new(needed))
    };
    let documents = [
        zone(),
        document("Zone", &[("name", "y")], json!({"type": "new"})),
        with(record(json!({"ttl": 5})), "of", after("y", "s")),
        other("s"),
        with(other("r"), "of", after("z", "s")),
        document("Record", &[("in", "z"), ("name", "s")], json!({"ttl": 1})),
    ];
    let both =
        || Options { replace: ["Zone/z".to_owned(), "Zone/y".to_owned()].into(), ..Options::default() };
    let plan = model.plan_with(&documents, both());
    assert!(plan.objects.iter().all(|entry| entry.result == Outcome::Planned), "{:?}", told(&plan));
    let report = model.apply_with(&documents, both(), Some(&plan));
    assert!(report.objects.iter().all(|entry| entry.result == Outcome::Done), "{:?}", told(&report));
}

#[test]
fn what_is_not_done_to_a_child_is_not_done_by_way_of_its_parent() {
    let mut told_only = record(json!({"ttl": 1}));
    told_only.policy.report = vec![at("ttl")];
    let why = "`Record z/r` would go with it, and has fields that are only reported, by `trueup/report`";
    stays(server, &[zone(), told_only], why);

    let other_size = record(json!({"ttl": 5, "size": 9}));
    let why = "`Record z/r` would go with it, and its own change is refused: it would have to be deleted and created \
               again";
    stays(server, &[zone(), other_size.clone()], why);
    let mut model = server();
    let both = Options { replace: ["Zone/z".to_owned(), "Record/z/r".to_owned()].into(), ..consent() };
    let report = model.apply_with(&[zone(), other_size], both, None);
    assert!(report.objects.iter().all(|entry| entry.result == Outcome::Done), "{:?}", told(&report));

    let mut in_conflict = record(json!({"ttl": 7}));
    let base = Node::from_value(Pos::default(), json!({"ttl": 6}));
    in_conflict.base = Base::Present(Arc::new(Past { spec: base, file: "base".into() }));
    let why = "`Record z/r` would go with it, and is in conflict: what others changed of it would be lost";
    stays(server, &[zone(), in_conflict], why);

    let mut reported = record(json!({"ttl": 5}));
    reported.policy.drift = Drift::Report;
    let why = "`Record z/r` would go with it, and would not be created again, by `trueup/drift: report`";
    stays(server, &[zone(), reported], why);
}

#[test]
fn what_an_object_in_no_document_has_is_not_taken_from_it() {
    let make = || {
        let mut model = server();
        let unique = vec![at("type")];
        let zone = Kind { update: None, unique, ..kind("Zone", false, None) };
        model.kinds.insert(zone);
        model.put("Zone", &[("name", "u")], json!({"type": "new"}));
        model
    };
    let why = "`Zone u`, which no document names, has the same `type`, and stays";
    stays(make, &[zone(), record(json!({"ttl": 5}))], why);
    // A document says of it that it gives the value up.
    let mut gone = document("Zone", &[("name", "u")], json!({}));
    gone.policy.ensure = Ensure::Absent;
    let mut model = make();
    let report = model.apply_with(&[zone(), gone], consent(), None);
    assert!(report.objects.iter().all(|entry| entry.result == Outcome::Done), "{:?}", told(&report));
}

#[test]
fn a_parent_that_is_not_selected_takes_nothing_along() {
    let mut replaced = zone();
    replaced.policy.replace = true;
    let documents = [replaced, record(json!({"ttl": 5, "size": 1}))];
    let only = |document: &Document| document.id.kind == kind_name("Record");
    let mut model = server();
    for plan in [true, false] {
        let graph = Graph::build(&documents, &model.kinds).expect("the documents fit together");
        let mode = if plan { Mode::Plan } else { Mode::Apply };
        let engine =
            Engine::new(documents.to_vec(), graph, &model.kinds, mode, Options::default(), &only, None);
        let report = model.run(engine);
        assert_eq!(told(&report), ["none Record/z/r in-sync"], "plan: {plan}");
    }
}

#[test]
fn it_is_said_once_what_a_child_goes_with() {
    let mut model = server();
    let unique =
        Kind { unique: vec![at("ttl")], read: Read::FromList, ..kind("Record", false, Some("Zone")) };
    model.kinds.insert(unique);
    model.put("Record", &[("in", "z"), ("name", "s")], json!({"ttl": 6}));
    let other = document("Record", &[("in", "z"), ("name", "s")], json!({"ttl": 5}));
    let documents = [zone(), record(json!({"ttl": 6})), other];
    let plan = model.plan_with(&documents, consent());
    for entry in &plan.objects[1..] {
        let codes: Vec<&str> = entry.findings.iter().map(|finding| finding.code).collect();
        assert_eq!((entry.result.word(), &codes[..]), ("planned", &["GoesWithParent"][..]));
    }
    let report = model.apply_with(&documents, consent(), Some(&plan));
    assert!(report.objects.iter().all(|entry| entry.result == Outcome::Done), "{:?}", told(&report));
}
