//! What a run is told not to write: frozen paths, held objects, and whatever is over a number of writes.

use serde_json::json;

use super::model::{Model, document, kind};
use crate::core::document::{Document, Drift};
use crate::core::engine::Options;
use crate::core::exchange::Body;
use crate::core::fields::FieldRule;
use crate::core::filter::Filter;
use crate::core::identity::ObjectId;
use crate::core::kind::{Kind, Send};
use crate::core::path::Path;
use crate::core::report::{CHANGE_LIMIT, Entry, FROZEN, HELD, REPORTED, Report};
use crate::core::value::Value;
use crate::core::watch::{Seen, Verdict};

fn team(name: &str, spec: Value) -> Document {
    document("Team", &[("name", name)], spec)
}

fn teams(count: usize) -> Vec<Document> {
    (0..count).map(|at| team(&format!("t{at}"), json!({"size": 2}))).collect()
}

fn frozen(documents: &[Document], paths: &[&str]) -> Options {
    let paths = paths.iter().map(|path| Path::parse(path).expect(path)).collect();
    Options { frozen: [(documents[0].id.clone(), paths)].into(), attempts: Some(1), ..Options::default() }
}

/// Runs over the one document, whose object the server has as `there`.
fn run(kind: Kind, there: Value, document: Document, paths: &[&str]) -> (Model, Entry) {
    let mut model = Model::new(vec![kind]);
    model.put("Team", &[("name", "a")], there);
    let documents = [document];
    let report = model.apply_with(&documents, frozen(&documents, paths), None);
    (model, report.objects.into_iter().next().expect("an entry"))
}

fn reason(entry: &Entry) -> Option<&'static str> {
    entry.result.explanation().and_then(|why| why.reason)
}

fn differs_for(entry: &Entry, reason: &str) -> bool {
    matches!(Seen::of(entry).verdict, Verdict::Differs(why) if why.reason == Some(reason))
}

fn touched(entry: &Entry) -> Vec<String> {
    Seen::of(entry).touched.iter().map(|touched| touched.path.to_string()).collect()
}

#[test]
fn a_frozen_path_is_left_and_the_rest_is_written() {
    let there = json!({"size": 7, "tier": "x", "deep": {"a": 1, "b": 1}});
    let wanted = json!({"size": 2, "tier": "y", "deep": {"a": 2, "b": 2}});
    for send in [Send::Full, Send::Merge, Send::Ours] {
        let mut team_kind = kind("Team", false, None);
        team_kind.update.as_mut().expect("it has one").send = send;
        let (model, entry) = run(team_kind, there.clone(), team("a", wanted.clone()), &["tier", "deep.a"]);
        let now = model.get("Team", "a").expect("it is there");
        assert_eq!((&now["size"], &now["tier"]), (&json!(2), &json!("x")), "{send:?}: {:?}", model.log);
        match &model.bodies[..] {
            // The model merges one level deep.
            [Body::Merge(patch)] => assert_eq!(patch["deep"], json!({"b": 2})),
            _ => assert_eq!(now["deep"], json!({"a": 1, "b": 2}), "{send:?}"),
        }
        assert_eq!(model.writes().len(), 1, "{send:?}");
        let told: Vec<&str> =
            entry.findings.iter().filter(|one| one.code == FROZEN).map(|one| &*one.message).collect();
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(differs_for(&entry, FROZEN), "{:?}", Seen::of(&entry));
        assert_eq!(Seen::of(&entry).writes, 1);
        for path in ["size", "tier", "deep.a", "deep.b"] {
            assert!(touched(&entry).contains(&path.to_owned()), "{path} of {:?}", touched(&entry));
        }
    }
}

#[test]
fn where_nothing_else_differs_nothing_is_written() {
    let (model, entry) =
        run(kind("Team", false, None), json!({"tier": "x"}), team("a", json!({"tier": "y"})), &["tier"]);
    assert!(model.writes().is_empty());
    assert_eq!(entry.result.word(), "in-sync");
    assert!(differs_for(&entry, FROZEN));
    assert_eq!(touched(&entry), ["tier"]);
}

#[test]
fn a_frozen_path_that_does_not_differ_is_not_told() {
    let (model, entry) =
        run(kind("Team", false, None), json!({"tier": "y"}), team("a", json!({"tier": "y"})), &["tier"]);
    assert!(model.writes().is_empty() && entry.findings.is_empty());
    assert_eq!(Seen::of(&entry).verdict, Verdict::InSync);
}

#[test]
fn a_difference_around_a_frozen_path_is_written_without_it() {
    // The whole map is missing, and one path in it is frozen.
    let wanted = json!({"deep": {"a": 2, "b": 2}});
    let (model, entry) = run(kind("Team", false, None), json!({"size": 1}), team("a", wanted), &["deep.a"]);
    let now = model.get("Team", "a").expect("it is there");
    assert_eq!(now["deep"], json!({"b": 2}), "{:?}", model.log);
    assert!(differs_for(&entry, FROZEN));
}

#[test]
fn a_new_object_is_made_whole() {
    let mut model = Model::new(vec![kind("Team", false, None)]);
    let documents = [team("a", json!({"size": 2, "tier": "y"}))];
    let report = model.apply_with(&documents, frozen(&documents, &["tier"]), None);
    assert_eq!(model.get("Team", "a").expect("it is made")["tier"], "y");
    let seen = Seen::of(&report.objects[0]);
    assert_eq!(seen.verdict, Verdict::InSync);
    assert!(seen.touched.iter().any(|one| one.path.is_root() && one.before.is_none() && one.after.is_some()));
}

#[test]
fn what_cannot_be_left_out_keeps_the_object_from_being_written() {
    // A secret cannot be sent back, and a whole body would need it.
    let mut team_kind = kind("Team", false, None);
    team_kind.update.as_mut().expect("it has one").send = Send::Ours;
    let rule = team_kind.fields.at_mut(&Path::parse("token").expect("a path"));
    *rule = FieldRule { secret: true, ..FieldRule::default() };
    let there = json!({"size": 7, "token": "old"});
    let (model, entry) =
        run(team_kind.clone(), there.clone(), team("a", json!({"size": 2, "token": "new"})), &["token"]);
    assert!(model.writes().is_empty(), "{:?}", model.log);
    assert_eq!((entry.result.word(), reason(&entry)), ("refused", Some(FROZEN)));
    assert!(differs_for(&entry, FROZEN));
    // With nothing else to write there is nothing to do.
    let (model, entry) = run(team_kind, there, team("a", json!({"size": 7, "token": "new"})), &["token"]);
    assert!(model.writes().is_empty());
    assert_eq!(entry.result.word(), "in-sync");
    let seen = Seen::of(&entry);
    assert_eq!(seen.touched[0].before, seen.touched[0].after, "nothing tells one secret from another");
}

#[test]
fn what_is_applied_names_what_is_ours_and_frozen_along_with_the_rest() {
    let mut flag = kind("Team", false, None);
    for op in [&mut flag.create, &mut flag.update].into_iter().flatten() {
        op.send = Send::Ours;
    }
    flag.managers = Some(
        Filter::parse(".setBy // {} | to_entries | map({name: .value, paths: [.key]})").expect("a filter"),
    );
    flag.conflict = Some(Filter::parse(".held").expect("a filter"));
    let there = json!({"on": false, "share": 1, "setBy": {"on": "me", "share": "me"}});
    let (model, entry) =
        run(flag.clone(), there.clone(), team("a", json!({"on": true, "share": 1})), &["on"]);
    assert!(model.writes().is_empty(), "{:?}", model.log);
    assert!(differs_for(&entry, FROZEN));
    let (model, _) = run(flag, there, team("a", json!({"on": true, "share": 2})), &["on"]);
    assert_eq!(model.get("Team", "a").expect("it is there")["share"], 2);
}

#[test]
fn a_held_object_is_only_looked_at() {
    let mut model = Model::new(vec![kind("Team", false, None)]);
    model.put("Team", &[("name", "t0")], json!({"size": 7}));
    let documents = teams(2);
    let held: Vec<ObjectId> = documents.iter().map(|document| document.id.clone()).collect();
    let options = Options { held: held.into_iter().collect(), attempts: Some(1), ..Options::default() };
    let report = model.apply_with(&documents, options.clone(), None);
    assert!(model.writes().is_empty(), "{:?}", model.log);
    for entry in &report.objects {
        assert_eq!((entry.result.word(), reason(entry)), ("refused", Some(HELD)));
        assert!(differs_for(entry, HELD));
    }
    model.put("Team", &[("name", "t1")], json!({"size": 2}));
    let report = model.apply_with(&documents, options, None);
    assert_eq!(report.objects[1].result.word(), "in-sync", "what does not differ is in sync");
}

#[test]
fn what_the_document_leaves_alone_differs_and_is_not_refused() {
    let mut model = Model::new(vec![kind("Team", false, None)]);
    let mut documents = teams(2);
    documents[0].policy.drift = Drift::Report;
    documents[1].policy.paused = true;
    let report = model.apply(&documents);
    for entry in &report.objects {
        assert_eq!(entry.result.word(), "refused");
        assert!(matches!(Seen::of(entry).verdict, Verdict::Differs(_)), "{entry:?}");
    }
}

fn limited(report: &Report) -> usize {
    report.objects.iter().filter(|entry| reason(entry) == Some(CHANGE_LIMIT)).count()
}

#[test]
fn over_the_number_of_writes_the_rest_is_refused() {
    let mut model = Model::new(vec![kind("Team", false, None)]);
    let documents = teams(9);
    let options = Options { most_writes: Some(4), ..Options::default() };
    let report = model.apply_with(&documents, options, None);
    assert_eq!(model.writes().len(), 4);
    assert_eq!(limited(&report), 5);
    assert!(differs_for(&report.objects[8], CHANGE_LIMIT));
    let none = Options { most_writes: Some(0), ..Options::default() };
    assert_eq!(limited(&model.apply_with(&documents, none, None)), 5);
    assert_eq!(model.writes().len(), 4);
}

#[test]
fn what_a_run_has_deleted_is_made_again_whatever_the_limit() {
    let mut zone = kind("Zone", false, None);
    zone.update = None;
    let mut model = Model::new(vec![zone, kind("Record", false, Some("Zone"))]);
    model.cascades = true;
    model.put("Zone", &[("name", "z")], json!({"size": 1}));
    model.put("Record", &[("in", "z"), ("name", "r")], json!({"ttl": 5}));
    let documents = [
        document("Zone", &[("name", "z")], json!({"size": 2})),
        document("Record", &[("in", "z"), ("name", "r")], json!({"ttl": 5})),
    ];
    let options =
        Options { replace: ["Zone/z".to_owned()].into(), most_writes: Some(1), ..Options::default() };
    model.apply_with(&documents, options, None);
    assert_eq!(model.get("Zone", "z").expect("it is made again")["size"], 2);
    assert!(model.get("Record", "z/r").is_some(), "{:?}", model.log);
}

fn reports(mut document: Document, paths: &[&str]) -> Document {
    document.policy.report = paths.iter().map(|path| Path::parse(path).expect(path)).collect();
    document
}

#[test]
fn what_is_only_reported_is_told_and_left_and_the_rest_is_written() {
    let there = json!({"size": 7, "tier": "x", "deep": {"a": 1, "b": 1}});
    let wanted = json!({"size": 2, "tier": "y", "deep": {"a": 2, "b": 2}});
    for send in [Send::Full, Send::Merge, Send::Ours] {
        let mut team_kind = kind("Team", false, None);
        team_kind.update.as_mut().expect("it has one").send = send;
        let document = reports(team("a", wanted.clone()), &["tier", "deep.a"]);
        let (model, entry) = run(team_kind, there.clone(), document, &[]);
        let now = model.get("Team", "a").expect("it is there");
        assert_eq!((&now["size"], &now["tier"]), (&json!(2), &json!("x")), "{send:?}: {:?}", model.log);
        if !matches!(&model.bodies[..], [Body::Merge(_)]) {
            assert_eq!(now["deep"], json!({"a": 1, "b": 2}), "{send:?}");
        }
        assert_eq!(model.writes().len(), 1, "{send:?}");
        let told = entry.findings.iter().filter(|one| one.code == REPORTED).count();
        assert_eq!(told, 2, "{send:?}");
        assert!(differs_for(&entry, REPORTED), "{:?}", Seen::of(&entry));
        // Nobody writes it, so nobody fights over it.
        assert!(!touched(&entry).contains(&"tier".to_owned()), "{:?}", touched(&entry));
    }
}

#[test]
fn where_only_that_differs_which_is_reported_it_is_refused() {
    let document = reports(team("a", json!({"tier": "y", "size": 2})), &["tier"]);
    let (model, entry) =
        run(kind("Team", false, None), json!({"tier": "x", "size": 2}), document.clone(), &[]);
    assert!(model.writes().is_empty());
    assert_eq!((entry.result.word(), reason(&entry)), ("refused", Some(REPORTED)));
    let paths: Vec<String> = entry.changes.iter().map(|change| change.path.to_string()).collect();
    assert_eq!(paths, ["tier"]);
    assert!(differs_for(&entry, REPORTED));
    let (_, entry) = run(kind("Team", false, None), json!({"tier": "y", "size": 2}), document, &[]);
    assert_eq!(Seen::of(&entry).verdict, Verdict::InSync, "nothing is told of what does not differ");
}

#[test]
fn a_new_object_is_made_with_what_is_only_reported() {
    let mut model = Model::new(vec![kind("Team", false, None)]);
    let documents = [reports(team("a", json!({"size": 2, "tier": "y"})), &["tier"])];
    let report = model.apply_with(&documents, frozen(&documents, &[]), None);
    assert_eq!(model.get("Team", "a").expect("it is made")["tier"], "y");
    assert_eq!(Seen::of(&report.objects[0]).verdict, Verdict::InSync);
}

/// A watch freezes a path beside one that is only reported: both are left, and each is told as what it is.
#[test]
fn a_frozen_path_beside_one_that_is_reported() {
    let document = reports(team("a", json!({"tier": "y", "size": 2, "rest": 1})), &["tier"]);
    let there = json!({"tier": "x", "size": 7, "rest": 0});
    let (model, entry) = run(kind("Team", false, None), there, document, &["size"]);
    let now = model.get("Team", "a").expect("it is there");
    assert_eq!(*now, json!({"id": 1, "name": "a", "tier": "x", "size": 7, "rest": 1}), "{:?}", model.log);
    let codes: Vec<&str> = entry.findings.iter().map(|one| one.code).collect();
    assert!(codes.contains(&FROZEN) && codes.contains(&REPORTED), "{codes:?}");
}
