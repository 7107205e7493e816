//! Faults at chosen requests: nothing is done twice, nothing is lost, and nothing is written on a guess.

use std::time::Duration;

use serde_json::json;

use super::model::{Fault, Model, document, kind};
use crate::core::document::{Document, Ensure};
use crate::core::exchange::FailureClass;
use crate::core::kind::Version;
use crate::core::report::{Outcome, Report};

fn team(server_ids: bool) -> (Model, [Document; 1]) {
    let model = Model::new(vec![kind("Team", server_ids, None)]);
    (model, [document("Team", &[("name", "a")], json!({"size": 1}))])
}

fn result(report: &Report) -> &'static str {
    report.objects[0].result.word()
}

#[test]
fn a_create_whose_answer_is_lost_is_not_repeated() {
    for fault in
        [Fault::DoneAndLost, Fault::Fails(FailureClass::Lost), Fault::Fails(FailureClass::Status(500))]
    {
        for server_ids in [false, true] {
            let (mut model, documents) = team(server_ids);
            model.faults.insert(("create", 1), fault.clone());
            let report = model.apply(&documents);
            assert_eq!(result(&report), "done", "{fault:?} {:?}", model.log);
            let stored: usize = model.objects.values().map(Vec::len).sum();
            assert_eq!(stored, 1, "{fault:?}: one object: {:?}", model.log);
        }
    }
}

#[test]
fn a_create_is_looked_for_again_before_it_is_repeated() {
    let (mut model, documents) = team(true);
    model.faults.insert(("create", 1), Fault::Fails(FailureClass::Lost));
    model.apply(&documents);
    let creates: Vec<usize> = (0..model.log.len()).filter(|&i| model.log[i].starts_with("create")).collect();
    assert_eq!(creates.len(), 2);
    assert!(creates[1] - creates[0] > 2, "at least two looks between: {:?}", model.log);
}

#[test]
fn an_update_or_delete_whose_answer_is_lost_is_seen_to_be_done() {
    let (mut model, documents) = team(false);
    model.put("Team", &[("name", "a")], json!({"size": 7}));
    model.faults.insert(("update", 1), Fault::DoneAndLost);
    let report = model.apply(&documents);
    assert_eq!(report.objects[0].result, Outcome::Done);
    assert_eq!(model.writes(), ["update Team a"]);

    let mut gone = documents;
    gone[0].policy.ensure = Ensure::Absent;
    model.faults.insert(("delete", 1), Fault::DoneAndLost);
    let report = model.apply(&gone);
    assert_eq!(report.objects[0].result, Outcome::Done);
    assert_eq!(model.writes(), ["update Team a", "delete Team a"]);
}

#[test]
fn what_is_unknown_is_not_written() {
    for class in [FailureClass::Status(403), FailureClass::Status(404), FailureClass::NotTheApi] {
        let (mut model, documents) = team(true);
        model.faults.insert(("list", 1), Fault::Fails(class));
        let report = model.apply(&documents);
        assert_eq!(result(&report), "unknown", "{class:?}");
        assert!(model.writes().is_empty());
    }
}

/// Some APIs answer 404 to the listing of nothing. It proves nothing by itself; a read by the key does.
#[test]
fn a_listing_that_is_not_there_leaves_each_object_to_its_own_read() {
    let mut model = Model::new(vec![kind("Team", false, None)]);
    model.put("Team", &[("name", "a")], json!({"size": 1}));
    let name = |n: usize| if n == 0 { "a".to_owned() } else { format!("b{n}") };
    let documents: Vec<_> =
        (0..6).map(|n| document("Team", &[("name", &name(n))], json!({"size": 1}))).collect();
    model.faults.insert(("list", 1), Fault::Fails(FailureClass::Status(404)));
    let words: Vec<&str> = model.plan(&documents).objects.iter().map(|entry| entry.action.word()).collect();
    assert_eq!(words, ["none", "create", "create", "create", "create", "create"]);
    assert_eq!(model.log.iter().filter(|line| line.starts_with("read")).count(), 6);
}

#[test]
fn an_incomplete_listing_proves_no_absence() {
    let (mut model, documents) = team(true);
    model.faults.insert(("list", 1), Fault::Incomplete);
    assert_eq!(result(&model.apply(&documents)), "unknown");
    assert!(model.writes().is_empty());
}

#[test]
fn passing_faults_are_retried_with_patience() {
    for class in
        [FailureClass::NotSent, FailureClass::Lost, FailureClass::Status(503), FailureClass::Status(429)]
    {
        let (mut model, documents) = team(true);
        model.faults.insert(("list", 1), Fault::Fails(class));
        model.faults.insert(("list", 2), Fault::Fails(class));
        assert_eq!(result(&model.apply(&documents)), "done", "{class:?}");
    }
    let (mut model, documents) = team(false);
    (1..=5).for_each(|n| {
        model.faults.insert(("read", n), Fault::Fails(FailureClass::Status(503)));
    });
    assert_eq!(result(&model.apply(&documents)), "unknown", "and not for ever");
}

#[test]
fn a_wait_beyond_patience_is_not_waited_for() {
    for (seconds, list, create, tries) in [(60, "done", "done", 2), (61, "unknown", "failed", 1)] {
        for (role, want) in [("list", list), ("create", create)] {
            let (mut model, documents) = team(true);
            model.faults.insert((role, 1), Fault::Asks(Duration::from_secs(seconds)));
            assert_eq!(result(&model.apply(&documents)), want, "{role} {seconds}");
            if role == "create" {
                assert_eq!(model.writes().len(), tries, "{seconds}");
            }
        }
    }
}

#[test]
fn a_server_that_says_it_exists_is_believed_after_a_look() {
    let (mut model, documents) = team(true);
    model.meddle = Some(|model| model.put("Team", &[("name", "a")], json!({"size": 1})));
    model.faults.insert(("create", 1), Fault::Fails(FailureClass::Exists));
    let report = model.apply(&documents);
    assert_eq!(result(&report), "in-sync", "taken over: {:?}", model.log);
    assert_eq!(model.writes(), ["create Team a"]);
}

#[test]
fn a_race_on_the_version_is_looked_at_again_and_won() {
    let (mut model, documents) = team(false);
    model.put("Team", &[("name", "a")], json!({"size": 7}));
    (1..=3).for_each(|n| {
        model.faults.insert(("update", n), Fault::Fails(FailureClass::Conflict));
    });
    assert_eq!(result(&model.apply(&documents)), "done");
    assert_eq!(model.writes().len(), 4);
}

#[test]
fn a_race_that_never_ends_is_reported() {
    let (mut model, documents) = team(false);
    model.put("Team", &[("name", "a")], json!({"size": 7}));
    (1..=20).for_each(|n| {
        model.faults.insert(("update", n), Fault::Fails(FailureClass::Conflict));
    });
    assert_eq!(result(&model.apply(&documents)), "conflict");
    assert_eq!(model.writes().len(), 6, "six tries at most");
}

#[test]
fn what_is_not_visible_yet_is_waited_for_and_never_made_twice() {
    let (mut model, documents) = team(true);
    model.hidden_looks = 8;
    assert_eq!(result(&model.apply(&documents)), "done");
    assert_eq!(model.writes(), ["create Team a"]);

    let (mut model, documents) = team(true);
    model.hidden_looks = 1_000;
    let report = model.apply(&documents);
    assert_eq!(result(&report), "unknown");
    assert!(report.objects[0].wrote);
    assert_eq!(model.writes(), ["create Team a"]);
}

#[test]
fn a_bad_template_costs_a_few_writes_and_not_all() {
    let mut model = Model::new(vec![kind("Team", false, None), kind("Other", false, None)]);
    let mut documents: Vec<Document> =
        (0..40).map(|i| document("Team", &[("name", &format!("t{i}"))], json!({}))).collect();
    documents.push(document("Other", &[("name", "o")], json!({})));
    (1..=40).for_each(|n| {
        model.faults.insert(("create", n), Fault::Fails(FailureClass::Status(422)));
    });
    let report = model.apply(&documents);
    let failed = report.objects.iter().filter(|entry| entry.result.word() == "failed").count();
    assert!((7..=9).contains(&failed), "{failed} failed");
    let skipped = report.objects.iter().filter(|entry| entry.result.word() == "skipped").count();
    assert!(skipped >= 31, "{skipped} not attempted");
}

#[test]
fn what_the_server_finishes_later_is_waited_for_and_written_once() {
    let (mut model, documents) = team(false);
    model.put("Team", &[("name", "a")], json!({"size": 7}));
    model.late_looks = 9;
    assert_eq!(result(&model.apply(&documents)), "done");
    assert_eq!(model.writes(), ["update Team a"]);
}

#[test]
fn a_backend_that_is_away_is_probed_and_not_hammered() {
    let mut model = Model::new(vec![kind("Team", false, None)]);
    let documents: Vec<Document> =
        (0..200).map(|i| document("Team", &[("name", &format!("t{i}"))], json!({}))).collect();
    (1..=5_000).for_each(|n| {
        model.faults.insert(("create", n), Fault::Fails(FailureClass::NotSent));
    });
    let report = model.apply(&documents);
    assert!(report.objects.iter().all(|entry| matches!(entry.result.word(), "failed" | "skipped")));
    assert!(model.writes().len() <= 20, "{} writes", model.writes().len());
}

#[test]
fn a_backend_that_comes_back_gets_its_writes() {
    let mut model = Model::new(vec![kind("Team", false, None)]);
    let documents: Vec<Document> =
        (0..50).map(|i| document("Team", &[("name", &format!("t{i}"))], json!({}))).collect();
    (1..=7).for_each(|n| {
        model.faults.insert(("create", n), Fault::Fails(FailureClass::NotSent));
    });
    let report = model.apply(&documents);
    let done = report.objects.iter().filter(|entry| entry.result.word() == "done").count();
    assert!(done >= 48, "{done} of 50 done");
}

#[test]
fn a_server_that_shows_what_it_cannot_delete_is_not_asked_for_ever() {
    let (mut model, mut documents) = team(true);
    model.put("Team", &[("name", "a")], json!({"size": 1}));
    documents[0].policy.ensure = Ensure::Absent;
    model.deaf = true;
    let report = model.apply(&documents);
    assert_eq!(result(&report), "unknown");
    assert_eq!(model.writes().len(), 6, "six tries at most");
}

#[test]
fn an_update_of_what_went_meanwhile_is_looked_at_again() {
    let (mut model, documents) = team(false);
    model.put("Team", &[("name", "a")], json!({"size": 7}));
    let plan = model.plan(&documents);
    model.meddle = Some(|model| model.objects.clear());
    model.faults.insert(("update", 1), Fault::Fails(FailureClass::Status(404)));
    let report = model.apply_with(&documents, Default::default(), Some(&plan));
    assert_eq!(result(&report), "conflict", "it was deleted between plan and write: {report:?}");
    assert_eq!(model.writes(), ["update Team a"]);
}

#[test]
fn a_change_whose_answer_is_lost_is_told_as_ours() {
    let (mut model, documents) = team(false);
    model.put("Team", &[("name", "a")], json!({"size": 7}));
    model.faults.insert(("update", 1), Fault::DoneAndLost);
    let report = model.apply(&documents);
    assert_eq!(result(&report), "done");
    assert!(report.objects[0].wrote);
}

#[test]
fn a_deletion_that_is_refused_for_what_is_in_it_is_not_a_race() {
    let (mut model, mut documents) = team(false);
    model.put("Team", &[("name", "a")], json!({}));
    documents[0].policy.ensure = Ensure::Absent;
    (1..=9).for_each(|n| {
        model.faults.insert(("delete", n), Fault::Fails(FailureClass::Conflict));
    });
    let report = model.apply(&documents);
    let Outcome::Failed(why) = &report.objects[0].result else { panic!("{report:?}") };
    assert!(why.hint.as_deref().is_some_and(|hint| hint.contains("still be in it")), "{why:?}");
    assert_eq!(model.writes().len(), 2);
}

/// Who says that the version is what it refuses means nothing else, however often.
#[test]
fn a_deletion_that_is_refused_for_its_version_is_a_race() {
    let (mut model, mut documents) = team(false);
    let mut versioned = kind("Team", false, None);
    versioned.version = Version::ETag;
    model.kinds.insert(versioned);
    model.put("Team", &[("name", "a")], json!({}));
    documents[0].policy.ensure = Ensure::Absent;
    for (version, result, writes) in [(Some(1), "conflict", 6), (None, "failed", 2)] {
        model.version = version;
        model.log.clear();
        for n in 1..=9 {
            model.faults.insert(("delete", n), Fault::Fails(FailureClass::Mismatch));
        }
        let report = model.apply(&documents);
        assert_eq!(self::result(&report), result, "{version:?}: {:?}", model.log);
        let contended = report.objects[0].findings.iter().any(|finding| finding.code == "Contended");
        assert_eq!((contended, model.writes().len()), (version.is_some(), writes), "{version:?}");
        model.forget_faults();
    }
}

#[test]
fn two_that_create_at_once_find_the_double() {
    let (mut model, documents) = team(true);
    model.meddle = Some(|model| model.put("Team", &[("name", "a")], json!({"size": 1})));
    let report = model.apply(&documents);
    let Outcome::Failed(why) = &report.objects[0].result else { panic!("{report:?}") };
    assert!(why.message.starts_with("2 objects answer to `Team a`"), "{}", why.message);
}

#[test]
fn a_version_that_only_an_unreadable_object_would_tell_is_done_without() {
    let mut team = kind("Team", true, None);
    team.version = Version::ETag;
    let mut model = Model::new(vec![team]);
    model.anonymous = true;
    model.put("Team", &[("name", "a")], json!({"size": 7}));
    let report = model.apply(&[document("Team", &[("name", "a")], json!({"size": 1}))]);
    assert_eq!(result(&report), "done", "{} requests", model.log.len());
    assert!(model.log.len() <= 4, "{:?}", model.log);
}

/// What could not be looked at when the plan was made was not agreed to, and nothing is said of it that nobody saw.
#[test]
fn what_was_not_known_to_the_plan_was_not_confirmed() {
    for (there, ensure, action) in [
        (None, Ensure::Present, "create"),
        (Some(json!({"size": 7})), Ensure::Present, "update"),
        (Some(json!({"size": 7})), Ensure::Absent, "delete"),
    ] {
        let (mut model, mut documents) = team(true);
        documents[0].policy.ensure = ensure;
        if let Some(value) = there {
            model.put("Team", &[("name", "a")], value);
        }
        model.faults.insert(("list", 1), Fault::Fails(FailureClass::Status(410)));
        let plan = model.plan(&documents);
        assert_eq!(result(&plan), "unknown", "{action}");
        let report = model.apply_with(&documents, Default::default(), Some(&plan));
        let Outcome::Refused(why) = &report.objects[0].result else { panic!("{report:?}") };
        assert!(why.message.starts_with(&format!("to {action} it was not part of what was confirmed: ")));
        assert_eq!(model.writes(), [""; 0]);
    }
}
