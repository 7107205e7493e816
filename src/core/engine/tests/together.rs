//! Writes that go together: one request and one write for several objects, and what a refusal of all of them means.

use serde_json::json;

use super::model::{Fault, Model, document, kind};
use crate::core::document::{Document, Ensure};
use crate::core::exchange::FailureClass;
use crate::core::kind::{Kind, Read, Serial};
use crate::core::report::{Outcome, Report};

fn together(mut kind: Kind, most: usize) -> Kind {
    for op in [&mut kind.create, &mut kind.update, &mut kind.delete] {
        op.as_mut().expect("it has all operations").batch = Some(most);
    }
    kind
}

/// Cards that are found in a listing.
fn cards(most: usize) -> Model {
    let mut card = together(kind("Card", false, None), most);
    card.read = Read::FromList;
    Model::new(vec![card])
}

fn names(count: usize) -> Vec<Document> {
    (0..count).map(|i| document("Card", &[("name", &format!("c{i}"))], json!({"size": 1}))).collect()
}

fn count(report: &Report, wanted: &Outcome) -> usize {
    report.objects.iter().filter(|entry| entry.result == *wanted).count()
}

fn lists(model: &Model) -> usize {
    model.log.iter().filter(|line| line.starts_with("list")).count()
}

#[test]
fn many_are_one_write_and_one_listing_confirms_them() {
    let mut model = cards(4);
    let report = model.apply(&names(10));
    assert_eq!(count(&report, &Outcome::Done), 10);
    assert_eq!(model.writes(), ["create Card c0 c1 c2 c3", "create Card c4 c5 c6 c7", "create Card c8 c9"]);
    assert_eq!(lists(&model), 2, "{:?}", model.log);
    let again = model.apply(&names(10));
    assert_eq!((count(&again, &Outcome::InSync), model.writes().len()), (10, 3));
}

#[test]
fn updates_and_deletions_go_together_and_not_with_each_other() {
    let mut model = cards(100);
    (0..6).for_each(|i| model.put("Card", &[("name", &format!("c{i}"))], json!({"size": 9, "theirs": i})));
    let mut documents = names(8);
    documents[..3].iter_mut().for_each(|document| document.policy.ensure = Ensure::Absent);
    let report = model.apply(&documents);
    assert_eq!(count(&report, &Outcome::Done), 8, "{report:?}");
    let mut writes = model.writes();
    writes.sort_unstable();
    assert_eq!(writes, ["create Card c6 c7", "delete Card c0 c1 c2", "update Card c3 c4 c5"]);
    assert_eq!(model.get("Card", "c4").map(|value| value["theirs"].clone()), Some(json!(4)));
}

#[test]
fn only_those_below_one_parent_go_together() {
    let mut record = together(kind("Record", false, Some("Zone")), 10);
    record.serial = Serial::Part("in".into());
    let mut model = Model::new(vec![kind("Zone", false, None), record]);
    let zones = ["x", "y"].map(|name| document("Zone", &[("name", name)], json!({})));
    let records = (0..12).map(|i| {
        document("Record", &[("in", ["x", "y"][i % 2]), ("name", &format!("r{i}"))], json!({"size": 1}))
    });
    let documents: Vec<Document> = zones.into_iter().chain(records).collect();
    assert_eq!(count(&model.apply(&documents), &Outcome::Done), 14);
    let records: Vec<&str> =
        model.writes().into_iter().filter(|line| line.starts_with("create Record")).collect();
    let both =
        ["create Record x/r0 x/r2 x/r4 x/r6 x/r8 x/r10", "create Record y/r1 y/r3 y/r5 y/r7 y/r9 y/r11"];
    assert_eq!(records, both);
}

#[test]
fn the_refused_one_is_named_and_the_rest_goes_on() {
    let mut model = cards(500);
    model.poison = vec!["c37".into()];
    let report = model.apply(&names(100));
    assert_eq!(count(&report, &Outcome::Done), 99);
    let Outcome::Failed(why) = &report.objects[37].result else { panic!("{:?}", report.objects[37]) };
    assert_eq!(why.message, "the server said Status(400)", "its own refusal, not that of the batch");
    assert!(model.writes().len() <= 15, "two for each halving: {:?}", model.writes());
}

#[test]
fn many_refused_ones_cost_the_innocent_nothing() {
    let mut model = cards(500);
    model.poison = (0..100).step_by(10).map(|i| format!("c{i}")).collect();
    let report = model.apply(&names(100));
    assert_eq!(count(&report, &Outcome::Done), 90);
}

#[test]
fn where_all_are_refused_few_are_tried() {
    let mut model = cards(500);
    model.poison = (0..500).map(|i| format!("c{i}")).collect();
    let report = model.apply(&names(500));
    assert_eq!(count(&report, &Outcome::Done), 0);
    assert!(model.writes().len() < 50, "{} writes", model.writes().len());
    let tried = report.objects.iter().filter(|entry| matches!(entry.result, Outcome::Failed(_))).count();
    assert!((7..20).contains(&tried), "{tried} were tried alone");
}

#[test]
fn a_lost_answer_leaves_all_unknown_until_they_are_read() {
    for (fault, writes) in [
        (Fault::DoneAndLost, 1),
        (Fault::Fails(FailureClass::Lost), 2),
        (Fault::Fails(FailureClass::Status(429)), 2),
        (Fault::Fails(FailureClass::NotSent), 2),
    ] {
        let mut model = cards(50);
        model.faults.insert(("create", 1), fault.clone());
        let report = model.apply(&names(30));
        assert_eq!(count(&report, &Outcome::Done), 30, "{fault:?}");
        assert_eq!(
            model.writes().len(),
            writes,
            "{fault:?}: the repetition is one too: {:?}",
            model.writes()
        );
    }
}

#[test]
fn one_that_exists_already_is_taken_over_and_the_rest_is_made() {
    let mut model = cards(50);
    model.meddle = Some(|model| model.put("Card", &[("name", "c3")], json!({"size": 5})));
    model.faults.insert(("create", 1), Fault::Fails(FailureClass::Exists));
    let report = model.apply(&names(8));
    assert_eq!(count(&report, &Outcome::Done), 8, "{report:?}");
    assert!(model.writes().contains(&"update Card c3"), "{:?}", model.writes());
}

#[test]
fn what_cannot_be_sent_does_not_hold_the_others() {
    use crate::core::node::{Node, Pos, Secret, Want};
    let mut model = cards(50);
    let mut documents = names(6);
    let Want::Map(fields) = &mut documents[2].spec_mut().want else { panic!("a spec is a map") };
    fields.insert("token", Node::new(Pos::default(), Want::Secret(Secret::new("env:TOKEN", None))));
    let report = model.apply(&documents);
    assert_eq!(count(&report, &Outcome::Done), 5);
    assert!(matches!(report.objects[2].result, Outcome::Refused(_)), "{:?}", report.objects[2]);
    assert_eq!(model.writes(), ["create Card c0 c1 c3 c4 c5"]);
}
