//! Writes that the server finishes later: nothing is read before their end, and no end is believed unread.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::json;

use super::model::{Fault, Model, document, failed, kind};
use crate::core::document::{Document, Ensure};
use crate::core::exchange::{Answer, FailureClass, Progress};
use crate::core::filter::Filter;
use crate::core::kind::{Kind, Serial, Wait};
use crate::core::report::{Outcome, Report};

fn wait(limit: u64) -> Wait {
    let filter = || Filter::parse(".").expect("a filter");
    let every = Duration::from_secs(1);
    Wait { url: Some(filter()), done: filter(), failed: None, every, limit: Duration::from_secs(limit) }
}

fn running() -> Answer {
    Answer::Progress(Progress::Running { retry_after: None })
}

fn bad() -> Answer {
    let Answer::Failed(failure) = failed(FailureClass::Status(200)) else { unreachable!("it is one") };
    Answer::Progress(Progress::Failed(failure))
}

fn team(kind: Kind, wait: Option<Wait>, answers: Vec<Answer>) -> (Model, Vec<Document>) {
    let mut model = Model::new(vec![kind]);
    model.operations = Some((wait, VecDeque::from(answers)));
    (model, vec![document("Team", &[("name", "a")], json!({"size": 1}))])
}

fn declared(answers: Vec<Answer>) -> (Model, Vec<Document>) {
    team(kind("Team", false, None), Some(wait(60)), answers)
}

fn message(report: &Report) -> String {
    let outcome = &report.objects[0].result;
    format!("{}: {}", outcome.word(), outcome.explanation().map_or("", |why| &why.message))
}

#[test]
fn it_is_asked_until_it_is_done_and_then_the_object_is_read() {
    let (mut model, mut documents) = declared(vec![running(), running()]);
    assert_eq!(model.apply(&documents).objects[0].result, Outcome::Done);
    let asked = "ask /ops/1 of Team a";
    assert_eq!(model.log, ["read Team a", "create Team a", asked, asked, asked, "read Team a"]);
    for (ensure, verb) in [(Ensure::Present, "update Team a"), (Ensure::Absent, "delete Team a")] {
        documents[0] = document("Team", &[("name", "a")], json!({"size": 2}));
        documents[0].policy.ensure = ensure;
        model.log.clear();
        assert_eq!(model.apply(&documents).objects[0].result, Outcome::Done);
        let from = model.log.iter().position(|line| line == verb).expect(verb);
        assert_eq!(model.log[from..], [verb, asked, "read Team a"]);
    }
}

#[test]
fn the_server_says_when_it_wants_to_be_asked_again() {
    let asks =
        |seconds| Answer::Progress(Progress::Running { retry_after: Some(Duration::from_secs(seconds)) });
    // Within a limit of a minute: 1 + 40 + 19, and not a question more.
    let (mut model, documents) = declared(vec![asks(40), asks(40), running(), running()]);
    let told = message(&model.apply(&documents));
    assert_eq!(told, "unknown: the server was not done within 1m: its operation is at `/ops/1`");
    assert_eq!(model.log.len(), 2 + 3, "{:?}", model.log);
}

#[test]
fn an_operation_that_fails_is_told_and_not_repeated() {
    let (mut model, documents) = declared(vec![running(), bad()]);
    assert_eq!(message(&model.apply(&documents)), "failed: the server said Status(200)");
    assert_eq!(model.writes(), ["create Team a"]);
}

#[test]
fn an_operation_that_is_forgotten_leaves_it_to_the_object() {
    let (mut model, documents) = declared(vec![running(), Answer::Absent]);
    assert_eq!(model.apply(&documents).objects[0].result, Outcome::Done);
    let (mut model, documents) = declared(vec![Answer::Absent]);
    model.hidden_looks = 1000;
    assert_eq!(message(&model.apply(&documents)), "failed: its operation at `/ops/1` is not there any more");
    assert_eq!(model.writes(), ["create Team a"], "it is not written again");
}

#[test]
fn a_lost_question_is_asked_again() {
    let (mut model, documents) =
        declared(vec![failed(FailureClass::Lost), running(), failed(FailureClass::Status(503))]);
    assert_eq!(model.apply(&documents).objects[0].result, Outcome::Done);
    assert_eq!(model.log.iter().filter(|line| line.starts_with("ask")).count(), 4);
    let (mut model, documents) = declared((0..50).map(|_| failed(FailureClass::Lost)).collect());
    model.hidden_looks = 1000;
    assert_eq!(message(&model.apply(&documents)), "failed: the server said Lost");
    assert_eq!(model.writes(), ["create Team a"], "the server may still be at it");
    let (mut model, documents) = declared(vec![failed(FailureClass::Status(403))]);
    assert_eq!(model.apply(&documents).objects[0].result, Outcome::Done, "the object tells it");
}

#[test]
fn what_was_made_may_take_a_while_to_show_after_the_end() {
    let (mut model, documents) = team(kind("Team", true, None), Some(wait(60)), vec![running(); 45]);
    model.hidden_looks = 3;
    assert_eq!(model.apply(&documents).objects[0].result, Outcome::Done, "{:?}", model.log);
    assert_eq!(model.writes(), ["create Team a"]);
}

#[test]
fn what_is_only_shown_is_a_hint() {
    let kind = || kind("Team", false, None);
    let (mut model, documents) = team(kind(), None, vec![running(); 2]);
    assert_eq!(model.apply(&documents).objects[0].result, Outcome::Done);
    let (mut model, documents) = team(kind(), None, vec![running(); 500]);
    assert_eq!(model.apply(&documents).objects[0].result, Outcome::Done, "the object is as it should be");
    let (mut model, documents) = team(kind(), None, vec![bad()]);
    assert_eq!(message(&model.apply(&documents)), "failed: the server said Status(200)");
    let (mut model, documents) = team(kind(), None, vec![failed(FailureClass::Status(403))]);
    assert_eq!(model.apply(&documents).objects[0].result, Outcome::Done);
}

#[test]
fn a_lane_waits_for_the_end_of_the_operation() {
    let mut kind = kind("Team", false, None);
    kind.serial = Serial::Backend;
    let (mut model, mut documents) = team(kind, Some(wait(60)), vec![running(), running(), bad()]);
    documents.push(document("Team", &[("name", "b")], json!({"size": 1})));
    let report = model.apply(&documents);
    assert_eq!((report.objects[0].result.word(), report.objects[1].result.word()), ("failed", "done"));
    let order: Vec<&str> =
        model.log.iter().map(String::as_str).filter(|line| !line.starts_with("read")).collect();
    let (a, b) = ("ask /ops/1 of Team a", "ask /ops/2 of Team b");
    assert_eq!(order, ["create Team a", a, a, a, "create Team b", b]);
}

#[test]
fn a_replacement_waits_for_both_ends() {
    let mut kind = kind("Team", false, None);
    kind.update = None;
    let (mut model, mut documents) = team(kind, Some(wait(60)), vec![running()]);
    model.put("Team", &[("name", "a")], json!({"size": 7}));
    documents[0].policy.replace = true;
    assert_eq!(model.apply(&documents).objects[0].result, Outcome::Done);
    assert_eq!(model.writes(), ["delete Team a", "create Team a"]);
    assert_eq!(model.log.iter().filter(|line| line.starts_with("ask")).count(), 3);
}

#[test]
fn a_lost_answer_to_the_write_leads_to_the_object() {
    let (mut model, documents) = declared(Vec::new());
    model.faults.insert(("create", 1), Fault::DoneAndLost);
    assert_eq!(model.apply(&documents).objects[0].result, Outcome::Done);
    assert!(!model.log.iter().any(|line| line.starts_with("ask")), "nobody knows where it is");
}
