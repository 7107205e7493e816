//! The second opinion of a plan, and what other managers hold.

use serde_json::{Value, json};

use super::model::{Model, document, kind};
use crate::core::document::{Document, OnConflict};
use crate::core::engine::Options;
use crate::core::exchange::{Answer, Failure, FailureClass};
use crate::core::filter::Filter;
use crate::core::kind::Kind;
use crate::core::managers::Contested;
use crate::core::path::Path;
use crate::core::report::{Entry, Finding, Outcome, Report};

fn checked_kind(name: &str, parent: Option<&str>) -> Kind {
    let kind = kind(name, false, parent);
    Kind { check: kind.update.clone(), ..kind }
}

fn team(spec: Value) -> Document {
    document("Team", &[("name", "a")], spec)
}

fn failed(class: FailureClass) -> Answer {
    Answer::Failed(Failure {
        class,
        message: "no, as size is pass-word".into(),
        hint: None,
        retry_after: None,
    })
}

fn first(report: &Report) -> &Entry {
    &report.objects[0]
}

fn findings(report: &Report) -> Vec<&'static str> {
    first(report).findings.iter().map(|finding| finding.code).collect()
}

#[test]
fn what_is_due_is_checked_and_what_is_not_is_left_alone() {
    let mut model = Model::new(vec![checked_kind("Team", None)]);
    model.put("Team", &[("name", "b")], json!({"size": 1}));
    model.put("Team", &[("name", "c")], json!({"size": 1}));
    let documents =
        ["a", "b", "c"].map(|name| document("Team", &[("name", name)], json!({"size": name.len()})));
    let changed = document("Team", &[("name", "c")], json!({"size": 2}));
    let plan = model.plan(&[documents[0].clone(), documents[1].clone(), changed]);
    let checks: Vec<&String> = model.log.iter().filter(|line| line.starts_with("check")).collect();
    assert_eq!(checks, ["check Team a", "check Team c"]);
    assert!(plan.objects.iter().flat_map(|entry| &entry.findings).all(Finding::is_of_its_kind), "{plan:?}");
    assert!(model.writes().is_empty());

    model.log.clear();
    model.apply(&documents);
    assert!(
        !model.log.iter().any(|line| line.starts_with("check")),
        "the write itself tells: {:?}",
        model.log
    );
}

#[test]
fn what_the_server_would_make_of_a_value_is_a_finding() {
    let mut model = Model::new(vec![checked_kind("Team", None)]);
    model.normalise = Some(|value| value["size"] = json!("1 MB"));
    let plan = model.plan(&[team(json!({"size": "1M"}))]);
    assert_eq!(first(&plan).result, Outcome::Planned);
    let finding = &first(&plan).findings[0];
    assert_eq!(finding.code, "WouldStore");
    assert_eq!(finding.message, "`size`: \"1M\" is sent, the server would store \"1 MB\"");
}

#[test]
fn only_a_judgement_is_a_refusal() {
    use FailureClass::*;
    for (class, refuses) in [
        (Status(422), true),
        (Status(400), true),
        (Refused, true),
        (Backend, true),
        (Status(401), false),
        (Status(403), false),
        (Status(404), false),
        (Status(429), false),
        (Status(500), false),
        (NotSent, false),
        (Lost, false),
        (Conflict, false),
        (NotTheApi, false),
    ] {
        let mut model = Model::new(vec![checked_kind("Team", None)]);
        model.opinion = Some(failed(class));
        let plan = model.plan(&[team(json!({"size": 1}))]);
        assert_eq!(matches!(first(&plan).result, Outcome::Failed(_)), refuses, "{class:?}");
        assert_eq!(findings(&plan), if refuses { vec![] } else { vec!["NotChecked"] }, "{class:?}");
    }
}

#[test]
fn a_refusal_shows_no_secret_that_stands_in_the_file() {
    let mut team_kind = checked_kind("Team", None);
    team_kind.fields.at_mut(&Path::parse("token").expect("a path")).secret = true;
    let mut model = Model::new(vec![team_kind]);
    model.opinion = Some(failed(FailureClass::Status(422)));
    let plan = model.plan(&[team(json!({"token": "pass-word"}))]);
    let why = first(&plan).result.explanation().expect("a refusal");
    assert_eq!(why.message, "no, as size is (redacted)");
}

#[test]
fn what_rests_on_something_that_is_yet_to_be_made_is_not_checked() {
    let mut model = Model::new(vec![checked_kind("Team", None), checked_kind("Member", Some("Team"))]);
    let member = document("Member", &[("in", "a"), ("name", "m")], json!({}));
    model.plan(&[team(json!({})), member.clone()]);
    assert!(!model.log.contains(&"check Member a/m".to_owned()), "{:?}", model.log);
    model.put("Team", &[("name", "a")], json!({}));
    model.plan(&[team(json!({"size": 1})), member]);
    assert!(model.log.contains(&"check Member a/m".to_owned()), "{:?}", model.log);
}

#[test]
fn a_field_that_another_manager_holds_is_a_conflict_before_and_after_the_write() {
    let mut team_kind = checked_kind("Team", None);
    team_kind.managers = Some(Filter::parse("[{name: \"kubectl\", paths: [\"size\"]}]").expect("a filter"));
    let mut model = Model::new(vec![team_kind]);
    model.put("Team", &[("name", "a")], json!({"size": 1}));
    let contested = || Answer::Contested(vec![Contested { path: ".size".into(), by: "kubectl".into() }]);
    model.opinion = Some(contested());
    let documents = [team(json!({"size": 2}))];
    let plan = model.plan(&documents);
    let Outcome::Conflict(why) = &first(&plan).result else { panic!("{plan:?}") };
    assert_eq!(why.message, "`size`: ours 2, theirs 1, held by `kubectl`");
    let hint = why.hint.as_deref().unwrap_or_default();
    assert!(["take theirs", "leave it out", "force"].iter().all(|way| hint.contains(way)), "{hint}");
    assert_eq!(&*first(&plan).changes[0].set_by[0], "kubectl");

    model.refusal = Some(contested());
    let report = model.apply_with(&documents, Options::default(), Some(&plan));
    assert_eq!(first(&report).result, first(&plan).result);
    assert_eq!(model.writes(), ["update Team a"]);
}

#[test]
fn consent_to_take_over_goes_with_the_request() {
    let mut model = Model::new(vec![checked_kind("Team", None)]);
    let mut document = team(json!({"size": 2}));
    for (on_conflict, forced) in [(OnConflict::Report, false), (OnConflict::Force, true)] {
        document.policy.on_conflict = on_conflict;
        model.plan(std::slice::from_ref(&document));
        assert_eq!(model.forced, forced);
    }
    model.opinion = Some(Answer::Contested(vec![Contested { path: "size".into(), by: "other".into() }]));
    let plan = model.plan(&[document]);
    let hint = first(&plan).result.explanation().and_then(|why| why.hint.as_deref());
    assert!(hint.is_some_and(|hint| hint.contains("needs `forced`")), "{hint:?}");
}
