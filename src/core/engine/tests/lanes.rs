//! Writes that go one at a time: what each costs where all of them rest on one version.

use serde_json::json;

use super::model::{Fault, Model, document, kind};
use crate::core::document::{Document, Ensure};
use crate::core::exchange::FailureClass;
use crate::core::fields::Comparer;
use crate::core::filter::Filter;
use crate::core::kind::{Kind, Kinds, Parent, Part, Read, Serial, Version};
use crate::core::report::{Outcome, Report};

/// Teams of one lane whose versions are one, told with each.
fn lane(count: usize, version: Version) -> (Model, Vec<Document>) {
    let mut shared = kind("Team", false, None);
    shared.serial = Serial::Backend;
    shared.version = version;
    let mut model = Model::new(vec![shared]);
    model.version = Some(1);
    let names = (0..count).map(|n| format!("t{n}"));
    let documents = names.map(|name| {
        model.put("Team", &[("name", &name)], json!({"size": 7}));
        document("Team", &[("name", &name)], json!({"size": 9}))
    });
    let documents = documents.collect();
    (model, documents)
}

fn on_item() -> Version {
    Version::OnItem(Filter::parse(".version").expect("a filter"))
}

fn are_all(report: &Report, wanted: &Outcome) -> bool {
    report.objects.iter().all(|entry| entry.result == *wanted)
}

fn asks(model: &Model) -> usize {
    model.log.len() - model.writes().len()
}

/// Each write of ours makes what was read for the others old: that is no race with anybody, and is learnt once.
#[test]
fn changes_at_one_version_cost_a_look_each() {
    for version in [Version::ETag, on_item()] {
        let (mut model, documents) = lane(60, version);
        let report = model.apply(&documents);
        assert!(are_all(&report, &Outcome::Done), "{report:?}");
        assert!(model.writes().len() <= 60 + 1, "{} writes", model.writes().len());
        assert!(asks(&model) <= 2 * 60 + 5, "{} looks", asks(&model));
    }
}

#[test]
fn deletions_at_one_version_cost_a_look_each() {
    for version in [Version::ETag, on_item()] {
        let (mut model, mut documents) = lane(60, version);
        documents.iter_mut().for_each(|document| document.policy.ensure = Ensure::Absent);
        let report = model.apply(&documents);
        assert!(are_all(&report, &Outcome::Done), "{report:?}");
        assert_eq!(model.writes().len(), 60);
        assert_eq!(asks(&model), 60 + 2, "{:?}", model.log);
    }
}

/// Where a listing is all there is, it is asked for each write once the version is known to be one.
#[test]
fn what_only_a_listing_shows_is_deleted_at_one_version() {
    let (mut model, mut documents) = lane(30, on_item());
    let mut kinds = Kinds::default();
    for kind in model.kinds.iter() {
        kinds.insert(Kind { read: Read::FromList, ..(**kind).clone() });
    }
    model.kinds = kinds;
    documents.iter_mut().for_each(|document| document.policy.ensure = Ensure::Absent);
    let report = model.apply(&documents);
    assert!(are_all(&report, &Outcome::Done), "{report:?}");
    assert_eq!(model.writes().len(), 30 + 1);
    assert!(asks(&model) <= 30 + 5, "{} looks", asks(&model));
}

/// Versions of each object by itself: a lane costs no more than the writes.
#[test]
fn a_lane_without_a_shared_version_costs_no_look() {
    let (mut model, documents) = lane(60, Version::None);
    model.version = None;
    let report = model.apply(&documents);
    assert!(are_all(&report, &Outcome::Done), "{report:?}");
    assert_eq!((model.writes().len(), asks(&model)), (60, 2));
}

/// Somebody else is faster each time: that is a race, lane or not.
#[test]
fn a_race_in_a_lane_that_never_ends_is_reported() {
    let (mut model, documents) = lane(3, Version::ETag);
    (1..=60).for_each(|n| {
        model.faults.insert(("update", n), Fault::Fails(FailureClass::Conflict));
    });
    let report = model.apply(&documents);
    assert!(report.objects.iter().all(|entry| matches!(entry.result, Outcome::Conflict(_))), "{report:?}");
    assert!(model.writes().len() <= 3 * 6 + 1, "six tries each");
}

/// Two spellings of one zone are one lane, and what goes below them goes together.
#[test]
fn spellings_of_a_parent_are_one_lane() {
    for batch in [None, Some(10)] {
        let mut record = kind("Record", false, None);
        let (folds, scope) = (Filter::parse("ascii_downcase").expect("a filter"), Parent::Scope);
        let part =
            Part { name: "zone".into(), on_item: None, parent: scope, fold: Some(Comparer::Filter(folds)) };
        record.parts.insert(0, part);
        record.serial = Serial::Part("zone".into());
        record.create.as_mut().expect("a create").batch = batch;
        let mut model = Model::new(vec![record]);
        let records: Vec<Document> = (0..6)
            .map(|n| {
                let name = format!("r{n}");
                let mut document = document("Record", &[("name", &name)], json!({}));
                let zone = ["a.example", "A.Example"][n % 2].into();
                let parts = vec![("zone".into(), zone), ("name".into(), name.into())];
                document.id.key = model.kinds.get(&document.id.kind).expect("a kind").key_of(parts);
                document
            })
            .collect();
        assert!(are_all(&model.apply(&records), &Outcome::Done), "{:?}", model.log);
        assert_eq!((model.writes().len(), model.most_writes), (if batch.is_some() { 1 } else { 6 }, 1));
    }
}
