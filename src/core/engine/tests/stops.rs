//! Runs that are ended early, at any event.

use serde_json::json;

use super::model::{Fault, Model, document, kind};
use crate::core::document::Document;
use crate::core::engine::{Options, Stop};
use crate::core::exchange::FailureClass;
use crate::core::report::{CREATE_UNCERTAIN, Outcome, Report};

fn teams() -> Vec<Document> {
    let team = |n: usize| document("Team", &[("name", &*format!("t{n}"))], json!({"n": n}));
    let member = document("Member", &[("in", "t0"), ("name", "m")], json!({}));
    (0..6).map(team).chain([member]).collect()
}

fn model() -> Model {
    Model::new(vec![kind("Team", false, None), kind("Member", false, Some("Team"))])
}

#[test]
fn no_write_begins_after_a_stop_and_every_write_is_read_back() {
    for why in [Stop::Signal, Stop::Timeout] {
        let mut interrupted = 0;
        for at in 0..40 {
            let mut model = model();
            model.stop = Some((at, why));
            let report = model.apply(&teams());
            for (entry, document) in report.objects.iter().zip(teams()) {
                let key = document.id.key.to_string();
                let there = model.get(&document.id.kind.kind, &key).is_some();
                match &entry.result {
                    Outcome::Done => assert!(there, "{key} at {at}"),
                    Outcome::Skipped(_) => {
                        assert!(!there, "{key} at {at}: it was written, and is told as skipped")
                    }
                    other => panic!("{key} at {at}: {other:?}"),
                }
            }
            interrupted += usize::from(report.objects.iter().any(|entry| entry.result.word() == "skipped"));
            let stopped = model.stop.is_none();
            assert_eq!(report.interrupted, stopped && why == Stop::Signal, "{why:?} at {at}");
        }
        assert!(interrupted > 5, "{interrupted}");
    }
}

#[test]
fn what_is_left_undone_says_why() {
    let told = |why| {
        let mut model = model();
        model.stop = Some((1, why));
        let report = model.apply(&teams());
        assert!(model.writes().is_empty());
        report.objects[0].result.explanation().cloned().expect("a reason")
    };
    assert_eq!(told(Stop::Signal).message, "the run was interrupted");
    let over = told(Stop::Timeout);
    assert_eq!(over.message, "the time for the whole run was over");
    assert_eq!(over.hint.as_deref(), Some("give it longer with `--timeout`, or fewer objects with `--only`"));
}

/// Runs one object whose first write is lost on the way, and stops at each event; gives all reports.
fn stopped(server_ids: bool, before: Option<i32>, ensure_absent: bool) -> Vec<Report> {
    let run = |at| {
        let mut model = Model::new(vec![kind("Team", server_ids, None)]);
        if let Some(size) = before {
            model.put("Team", &[("name", "a")], json!({"size": size}));
        }
        for role in ["create", "update", "delete"] {
            model.faults.insert((role, 1), Fault::Fails(FailureClass::Lost));
        }
        model.stop = Some((at, Stop::Signal));
        let mut team = document("Team", &[("name", "a")], json!({"size": 2}));
        if ensure_absent {
            team.policy.ensure = crate::core::document::Ensure::Absent;
        }
        model.apply_with(&[team], Options::default(), None)
    };
    (0..12).map(run).collect()
}

#[test]
fn a_write_in_doubt_at_the_end_is_told_as_one() {
    let cases = [
        (false, None, false, "creation"),
        (false, Some(1), false, "change"),
        (false, Some(1), true, "deletion"),
    ];
    for (server_ids, before, absent, noun) in cases {
        let reports = stopped(server_ids, before, absent);
        let told: Vec<_> =
            reports.iter().filter_map(|report| report.objects[0].result.explanation()).collect();
        let doubt = told.iter().find(|why| {
            why.message
                .starts_with(&format!("the run ended before it was known whether its {noun} was done: "))
        });
        let doubt = doubt.unwrap_or_else(|| panic!("{noun}: {told:?}"));
        assert_eq!(doubt.hint.as_deref(), Some("run the command again"));
        assert_eq!(doubt.reason, (noun == "creation").then_some(CREATE_UNCERTAIN));
    }
}

/// The read of an id that names nothing came back after the end: the object was looked for by its name, and settled a
/// second time. Another was then not read back, or the run did not end (seeds 124374 and 136389).
#[test]
fn what_a_stop_has_settled_stays_settled_whatever_is_still_answered() {
    for at in 0..12 {
        let mut listed = kind("Zone", true, None);
        listed.list.as_mut().expect("it has one").partial = true;
        let mut model = Model::new(vec![kind("Team", false, None), listed]);
        model.put("Zone", &[("name", "z")], json!({"n": 7}));
        // Another deletes it after it was listed.
        model.at_look = Some(|model| {
            if model.log.iter().any(|line| line == "list Zone") {
                model.objects.retain(|(kind, _), _| &**kind != "Zone");
            }
        });
        model.stop = Some((at, Stop::Signal));
        let documents = [
            document("Team", &[("name", "t")], json!({"n": 1})),
            document("Zone", &[("name", "z")], json!({"n": 1})),
        ];
        let report = model.apply(&documents);
        for entry in &report.objects {
            let why = entry.result.explanation().map_or("", |why| &*why.message);
            assert!(!why.contains("before it was settled"), "{} at {at}: {why}", entry.id);
        }
        let made = model.get("Team", "t").is_some();
        assert_eq!(made, report.objects[0].result == Outcome::Done, "at {at}: {:?}", model.log);
    }
}
