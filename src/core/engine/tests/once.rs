//! Runs with one attempt, as `watch` makes them: whoever makes the next run has the patience.

use std::time::Duration;

use serde_json::json;

use super::model::{Fault, Model, document, kind};
use crate::core::document::Document;
use crate::core::engine::Options;
use crate::core::exchange::FailureClass;
use crate::core::kind::Version;
use crate::core::report::{CREATE_UNCERTAIN, Report};
use crate::core::watch::{Retry, Seen, Verdict};

fn once() -> Options {
    Options { attempts: Some(1), ..Options::default() }
}

fn documents(kind: &str, count: usize) -> Vec<Document> {
    (0..count).map(|at| document(kind, &[("name", &format!("o{at}"))], json!({"size": 2}))).collect()
}

fn retries(report: &Report) -> Vec<Retry> {
    let retry = |entry| match Seen::of(entry).verdict {
        Verdict::Failed(_, retry) | Verdict::Unknown(_, retry) => retry,
        other => panic!("{other:?}"),
    };
    report.objects.iter().map(retry).collect()
}

const FAULT: Retry = Retry::Soon { fault: true, after: None };

#[test]
fn a_dead_server_costs_a_request_for_each_collection() {
    let mut model = Model::new(vec![kind("Team", false, None), kind("Zone", false, None)]);
    let mut all = documents("Team", 20);
    all.extend(documents("Zone", 20));
    for n in 1..=9 {
        model.faults.insert(("list", n), Fault::Fails(FailureClass::NotSent));
    }
    let report = model.apply_with(&all, once(), None);
    assert_eq!(model.log.len(), 2, "{:?}", model.log);
    assert!(model.took < Duration::from_millis(100), "{:?}", model.took);
    assert!(retries(&report).iter().all(|retry| *retry == FAULT));
}

#[test]
fn a_server_that_dies_before_the_writes_is_not_probed() {
    for class in [FailureClass::NotSent, FailureClass::Status(503)] {
        let mut model = Model::new(vec![kind("Team", false, None)]);
        for n in 1..=30 {
            model.faults.insert(("create", n), Fault::Fails(class));
        }
        let report = model.apply_with(&documents("Team", 30), once(), None);
        assert!(model.writes().len() <= 6, "{class:?}: {:?}", model.writes());
        assert!(model.took < Duration::from_secs(1), "{class:?}: {:?}", model.took);
        assert!(retries(&report).iter().all(|retry| *retry == FAULT), "{class:?}");
    }
}

#[test]
fn an_uncertain_create_is_still_waited_for() {
    let mut model = Model::new(vec![kind("Team", true, None)]);
    model.hidden_for = Duration::from_secs(20);
    model.faults.insert(("create", 1), Fault::DoneAndLost);
    let report = model.apply_with(&documents("Team", 1), once(), None);
    assert_eq!(report.objects[0].result.word(), "done", "{:?}", model.log);
    assert_eq!(model.writes().len(), 1);
    assert!(model.took >= Duration::from_secs(19), "{:?}", model.took);
}

#[test]
fn an_uncertain_create_that_does_not_show_is_left_to_the_next_run() {
    let mut model = Model::new(vec![kind("Team", true, None)]);
    model.faults.insert(("create", 1), Fault::Fails(FailureClass::Lost));
    let report = model.apply_with(&documents("Team", 1), once(), None);
    let why = report.objects[0].result.explanation().expect("it failed");
    assert_eq!(why.reason, Some(CREATE_UNCERTAIN));
    assert_eq!(model.writes().len(), 1, "{:?}", model.log);
    assert!(model.took >= Duration::from_secs(30), "{:?}", model.took);
    assert_eq!(retries(&report), [FAULT]);
    let report = model.apply_with(&documents("Team", 1), once(), None);
    assert_eq!(report.objects[0].result.word(), "done");
}

#[test]
fn a_race_is_run_again_and_its_end_is_a_failure_that_passes() {
    let mut team = kind("Team", false, None);
    team.version = Version::OnItem(crate::core::filter::Filter::parse(".version").expect("a filter"));
    let mut model = Model::new(vec![team]);
    model.put("Team", &[("name", "o0")], json!({"size": 7}));
    for n in 1..=9 {
        model.faults.insert(("update", n), Fault::Fails(FailureClass::Conflict));
    }
    let report = model.apply_with(&documents("Team", 1), once(), None);
    assert_eq!(model.writes().len(), 6, "{:?}", model.log);
    assert_eq!(retries(&report), [Retry::Soon { fault: false, after: None }]);
}

#[test]
fn failures_tell_when_it_is_worth_trying_again() {
    let after = Some(Duration::from_secs(7));
    for (fault, want) in [
        (Fault::Fails(FailureClass::Status(422)), Retry::Late),
        (Fault::Fails(FailureClass::Status(403)), Retry::Late),
        (Fault::Fails(FailureClass::Status(401)), Retry::Barred),
        (Fault::Fails(FailureClass::Status(429)), Retry::Soon { fault: false, after: None }),
        (Fault::Asks(Duration::from_secs(7)), Retry::Soon { fault: false, after }),
        (Fault::Fails(FailureClass::NotSent), FAULT),
        (Fault::Fails(FailureClass::Status(500)), FAULT),
    ] {
        for role in ["create", "read"] {
            let mut model = Model::new(vec![kind("Team", false, None)]);
            model.faults.insert((role, 1), fault.clone());
            let report = model.apply_with(&documents("Team", 1), once(), None);
            assert_eq!(retries(&report), [want], "{role} {fault:?}: {:?}", model.log);
        }
    }
}

#[test]
fn what_must_exist_and_does_not_is_not_looked_for_all_the_time() {
    let mut model = Model::new(vec![kind("Team", false, None)]);
    let mut all = documents("Team", 1);
    all[0].policy.ensure = crate::core::document::Ensure::Exists;
    assert_eq!(retries(&model.apply_with(&all, once(), None)), [Retry::Late]);
}

#[test]
fn an_object_is_known_by_the_server_s_id_and_a_new_one_has_another() {
    let mut model = Model::new(vec![kind("Team", true, None)]);
    model.put("Team", &[("name", "o0")], json!({"size": 7, "ready": false}));
    let seen =
        |model: &mut Model| Seen::of(&model.apply_with(&documents("Team", 1), once(), None).objects[0]);
    let first = seen(&mut model);
    assert_eq!((first.uid.as_deref(), first.ready, first.writes), (Some("1"), Some(false), 1));
    assert_eq!(first.touched.len(), 1);
    assert_ne!(first.touched[0].before, first.touched[0].after);
    model.objects.clear();
    let second = seen(&mut model);
    assert_eq!((second.uid.as_deref(), second.ready), (Some("2"), None));
}
