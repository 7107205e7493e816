//! Waiting for what the server finishes later.

use std::time::Duration;

use serde_json::{Value, json};

use super::model::{Model, document, kind};
use crate::core::document::Document;
use crate::core::engine::Options;
use crate::core::filter::Filter;
use crate::core::kind::{Kind, Wait};
use crate::core::report::{Outcome, Report};

/// A kind whose writes are done once the object's `state` is `up`.
fn slow(done: &str) -> Kind {
    let mut team = kind("Team", false, None);
    let wait = Wait {
        url: None,
        done: Filter::parse(done).expect("a filter"),
        failed: Filter::parse(".state == \"broken\"").ok(),
        every: Duration::from_secs(5),
        limit: Duration::from_secs(60),
    };
    for op in [&mut team.create, &mut team.update].into_iter().flatten() {
        op.wait = Some(wait.clone());
    }
    team
}

fn team(spec: Value) -> [Document; 1] {
    [document("Team", &[("name", "a")], spec)]
}

/// Every look finds all objects with this state.
fn turn(model: &mut Model, state: &str) {
    let slots = model.objects.values_mut().flatten();
    slots.for_each(|stored| stored.value["state"] = state.into());
}

fn applied(kind: Kind, at_look: fn(&mut Model), before: Option<Value>) -> (Model, Report) {
    let mut model = Model::new(vec![kind]);
    if let Some(value) = before {
        model.put("Team", &[("name", "a")], value);
    }
    model.at_look = Some(at_look);
    let report = model.apply(&team(json!({"size": 2})));
    (model, report)
}

const UP: &str = ".state == \"up\"";

#[test]
fn a_write_is_done_when_the_object_says_so() {
    for before in [None, Some(json!({"size": 1, "state": "up"}))] {
        let comes_up = |model: &mut Model| {
            let up = model.now >= Duration::from_secs(12);
            turn(model, if up { "up" } else { "starting" });
        };
        let (model, report) = applied(slow(UP), comes_up, before);
        assert_eq!(report.objects[0].result, Outcome::Done);
        assert!(model.took >= Duration::from_secs(12), "{:?}", model.took);
        assert_eq!(model.writes().len(), 1);
    }
}

#[test]
fn a_change_that_the_server_gives_up_has_failed() {
    let (_, report) = applied(slow(UP), |model| turn(model, "broken"), None);
    let Outcome::Failed(why) = &report.objects[0].result else { panic!("{:?}", report.objects[0]) };
    assert_eq!(why.message, "the server began the change and then failed");
}

#[test]
fn patience_ends_and_nothing_is_known() {
    let (model, report) = applied(slow(UP), |model| turn(model, "starting"), None);
    let Outcome::Unknown(why) = &report.objects[0].result else { panic!("{:?}", report.objects[0]) };
    assert_eq!(why.message, "it was not done within 1m");
    assert!(
        model.took >= Duration::from_secs(60) && model.took < Duration::from_secs(62),
        "{:?}",
        model.took
    );
}

#[test]
fn a_filter_that_fails_is_told_and_not_waited_for() {
    let (model, report) = applied(slow("error(\"odd\")"), |_| {}, None);
    let Outcome::Failed(why) = &report.objects[0].result else { panic!("{:?}", report.objects[0]) };
    assert!(why.message.contains("odd"), "{}", why.message);
    assert!(model.took < Duration::from_secs(1));
}

/// A team that is not ready, and a member below it.
fn family(at_look: fn(&mut Model)) -> (Model, Report) {
    family_with(at_look, Options::default())
}

fn family_with(at_look: fn(&mut Model), options: Options) -> (Model, Report) {
    let mut model = Model::new(vec![kind("Team", false, None), kind("Member", false, Some("Team"))]);
    model.put("Team", &[("name", "a")], json!({"size": 2, "ready": false}));
    model.at_look = Some(at_look);
    let documents = [
        document("Team", &[("name", "a")], json!({"size": 2})),
        document("Member", &[("in", "a"), ("name", "m")], json!({})),
    ];
    let report = model.apply_with(&documents, options, None);
    (model, report)
}

#[test]
fn what_others_need_is_waited_for_until_it_is_ready() {
    let (model, report) = family(|model| {
        if model.now > Duration::from_secs(9) {
            model.objects.values_mut().flatten().for_each(|stored| stored.value["ready"] = true.into());
        }
    });
    assert_eq!(model.writes(), ["create Member a/m"]);
    assert!(model.took > Duration::from_secs(9));
    assert!(report.objects.iter().all(|entry| matches!(entry.result, Outcome::InSync | Outcome::Done)));
}

#[test]
fn what_is_never_ready_leaves_undone_what_needs_it() {
    let (model, report) = family(|_| {});
    assert!(model.writes().is_empty());
    let told = |at: usize| report.objects[at].result.explanation().map(|why| why.message.clone());
    assert_eq!(told(0).as_deref(), Some("it was not ready within 1m"));
    assert_eq!(told(1).as_deref(), Some("it needs `Team a`, which is unknown"));
}

/// A pass of a watch does not wait so long: what else is in it waits for its end.
#[test]
fn a_run_that_is_one_of_many_leaves_what_is_not_ready_to_the_next() {
    let waits = Some(Duration::from_secs(10));
    let (model, report) = family_with(|_| {}, Options { waits, ..Options::default() });
    assert!(model.writes().is_empty());
    let told = |at: usize| report.objects[at].result.explanation().map(|why| why.message.clone());
    assert_eq!(told(0).as_deref(), Some("it was not ready within 10s"));
    assert!(model.took < Duration::from_secs(12), "{:?}", model.took);
}

#[test]
fn what_nobody_needs_may_become_ready_later() {
    let mut model = Model::new(vec![kind("Team", false, None)]);
    model.put("Team", &[("name", "a")], json!({"size": 2, "ready": false}));
    assert_eq!(model.apply(&team(json!({"size": 2}))).objects[0].result, Outcome::InSync);
}
