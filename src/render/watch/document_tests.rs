use std::collections::BTreeSet;

use super::super::json;
use super::super::sample::{self, NOW, ZERO, harmless};
use super::super::trouble::{FailOn, Trouble, exit, worst_first};
use super::*;
use crate::core::exit::Exit;

#[test]
fn the_document_is_sorted_and_complete() {
    let document = sample::document(&sample::snapshot());
    let names: Vec<_> = document.objects.iter().map(|object| &*object.name).collect();
    assert_eq!(names[..3], ["//billing", "//starting", "//waiting"], "by kind, then by key");
    assert_eq!(
        names[3..],
        [
            "//contested",
            "//failing",
            "//fought",
            "//orders",
            "//paused",
            "//stalled",
            "//sticky",
            "//unknown"
        ]
    );
    let backends: Vec<_> = document.targets.iter().map(|target| &*target.name).collect();
    assert_eq!(backends, ["powerdns", "rabbitmq"]);
    assert_eq!(document.time, "2026-12-01T13:00:00Z");
    let value = serde_json::to_value(&document).expect("JSON");
    let stalled = &value["objects"][8];
    let hash = "00000000000000000000000000000007";
    assert_eq!(
        stalled,
        &serde_json::json!({
            "identity": {"backend": "rabbitmq", "kind": "Queue", "key": {"vhost": "/", "name": "stalled"}},
            "name": "//stalled",
            "position": {"file": "manifests/queues.yaml", "line": 14, "column": 1},
            "desiredHash": hash,
            "conditions": [
                {"type": "Synced", "status": "False", "reason": "Failed",
                 "message": "the server refuses `x-max-length`: it is not a number",
                 "lastTransitionTime": "2026-12-01T12:01:00Z", "observedDesiredHash": hash},
                {"type": "Stalled", "status": "True", "reason": "NoRetry", "message": "trying again changes nothing",
                 "lastTransitionTime": "2026-12-01T12:01:00Z", "observedDesiredHash": hash},
            ],
            "attempts": 7,
            "nextAttempt": "2026-12-01T13:05:00Z",
            "lastSynced": "2026-12-01T12:00:50Z",
            "writes": 0,
        })
    );
    let conditions = &value["summary"]["conditions"];
    assert_eq!(conditions["Synced"], serde_json::json!({"True": 3, "False": 7, "Unknown": 1}));
    assert_eq!(conditions["Fighting"], serde_json::json!({"True": 1, "False": 0, "Unknown": 0}));
    assert_eq!(conditions.as_object().map(serde_json::Map::len), Some(7));
}

#[test]
fn the_order_of_the_files_makes_no_difference() {
    let mut turned = sample::snapshot();
    turned.status.objects.reverse();
    turned.status.objects.iter_mut().for_each(|object| object.conditions.reverse());
    assert_eq!(sample::document(&turned), sample::document(&sample::snapshot()));
}

#[test]
fn a_document_is_read_back_whole() {
    for snapshot in [sample::snapshot(), sample::well(), sample::hostile(), Snapshot::default()] {
        let document = sample::document(&snapshot);
        let text = json::document(&document);
        harmless(&text);
        assert_eq!(json::read(&text).expect("it is one"), document);
    }
    let later = json::document(&Document { schema_version: 2, ..sample::document(&sample::well()) });
    assert!(matches!(json::read(&later), Err(json::NoStatus::Later)));
    assert!(matches!(json::read("{}"), Err(json::NoStatus::Other(_))));
    assert!(matches!(json::read("{\"schemaVersion\": 1}"), Err(json::NoStatus::Other(_))));
}

#[test]
fn members_that_a_later_version_adds_are_ignored() {
    let mut value = serde_json::to_value(sample::document(&sample::snapshot())).expect("JSON");
    value["more"] = 1.into();
    value["objects"][0]["conditions"][0]["type"] = "Holy".into();
    let document = json::read(&value.to_string()).expect("it is one");
    assert_eq!(document.objects[0].conditions[0].kind, "Holy");
    assert_eq!(Trouble::of(&document.objects[0]), Trouble::Waiting, "nothing says that it is in sync");
}

#[test]
fn a_message_is_at_most_a_kibibyte() {
    for letter in ["x", "é", "日"] {
        let shown = cut(&letter.repeat(1_000));
        assert!(shown.len() <= 1_024 && (shown.ends_with('…') || letter == "x"), "{letter}: {}", shown.len());
        assert!(shown.len() > 990, "{letter}: {}", shown.len());
    }
    // A secret at the cut is found before it is cut.
    let mut snapshot = sample::hostile();
    let message = &mut snapshot.status.objects[0].conditions[0].message;
    *message = format!("{}{}", "x".repeat(1_015), sample::CANARY);
    let document = sample::document(&snapshot);
    assert!(document.objects[0].conditions[0].message.ends_with('…'));
    harmless(&json::document(&document));
}

#[test]
fn lines_end_with_the_summary() {
    let document = sample::document(&sample::hostile());
    let text = json::lines(&document, false);
    harmless(&text);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let types: Vec<_> = lines.iter().map(|line| line["type"].as_str().unwrap_or_default()).collect();
    assert_eq!(types, ["object", "summary"]);
    assert_eq!(lines[0]["findings"][0]["code"], "PossibleOverwrite");
    assert_eq!((&lines[1]["alive"], &lines[1]["schemaVersion"]), (&false.into(), &1.into()));
    harmless(&json::told(&document, true));
}

#[test]
fn the_worst_comes_first() {
    let document = sample::document(&sample::snapshot());
    let order: Vec<Trouble> = worst_first(&document).into_iter().map(|(trouble, _)| trouble).collect();
    let mut want = Trouble::ALL.to_vec();
    want.push(Trouble::Ok);
    assert_eq!(order, want, "one of each, and two that are well");
}

#[test]
fn the_exit_is_of_the_worst_that_counts() {
    let all = || FailOn::usual();
    let of =
        |snapshot: &Snapshot, fail_on: &BTreeSet<FailOn>| exit(&sample::document(snapshot), true, fail_on);
    assert_eq!(of(&sample::well(), &all()), Exit::Success);
    assert_eq!(exit(&sample::document(&sample::well()), false, &all()), Exit::Failed, "a dead watch");
    assert_eq!(exit(&sample::document(&sample::well()), false, &BTreeSet::new()), Exit::Success);
    let mut invalid = sample::well();
    invalid.desired.valid = false;
    assert_eq!(of(&invalid, &all()), Exit::Failed, "files that are not valid");
    for object in sample::snapshot().status.objects {
        let mut one = sample::well();
        one.status.objects.push(object);
        let document = sample::document(&one);
        let trouble = worst_first(&document)[0].0;
        let want = match trouble {
            Trouble::Stalled | Trouble::Unknown | Trouble::NotEffective | Trouble::Failing => Exit::Failed,
            Trouble::Fighting | Trouble::Conflict => Exit::Conflict,
            Trouble::NotSynced | Trouble::Waiting => Exit::Differs,
            Trouble::NotReady | Trouble::Ok => Exit::Success,
        };
        assert_eq!(exit(&document, true, &all()), want, "{}", trouble.word());
        let picked = [FailOn::Trouble(Trouble::NotReady)].into();
        let want = if trouble == Trouble::NotReady { Exit::Differs } else { Exit::Success };
        assert_eq!(exit(&document, true, &picked), want, "{} where it does not count", trouble.word());
    }
    let mut refused = sample::well();
    for reason in ["Refused", "ChangeLimit"] {
        let conditions = vec![
            sample::condition(ConditionKind::Synced, Truth::False, reason, ""),
            sample::condition(ConditionKind::Stalled, Truth::True, reason, ""),
        ];
        refused.status.objects[0] = sample::object("Queue", "orders", conditions);
        assert_eq!(of(&refused, &all()), Exit::Refused, "a guard: {reason}");
    }
    let every = sample::snapshot();
    assert_eq!(of(&every, &all()), Exit::Failed);
    assert_eq!(
        of(&every, &[FailOn::Trouble(Trouble::Conflict), FailOn::Trouble(Trouble::Waiting)].into()),
        Exit::Conflict
    );
}

#[test]
fn dates_are_by_the_wall_clock() {
    let document = Document::of(&sample::snapshot(), NOW, NOW - Duration::from_secs(5), &sample::redactor());
    assert_eq!(document.made_at(), Some(ZERO + NOW));
    assert_eq!(document.alive_at(), Some(ZERO + NOW - Duration::from_secs(5)));
}
