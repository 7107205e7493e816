//! Looks that tell nothing, and what is said then.

use std::time::Duration;

use serde_json::{Value, json};

use super::model::{Fault, Model, document, kind};
use crate::core::document::{Document, Ensure};
use crate::core::engine::Options;
use crate::core::exchange::{Answer, FailureClass, Progress};
use crate::core::kind::{Kind, Piece, Read};
use crate::core::report::{Explanation, Report};

fn team(name: &str, spec: Value) -> Document {
    document("Team", &[("name", name)], spec)
}

fn many(spec: Value) -> Vec<Document> {
    (0..40).map(|n| team(&format!("t{n}"), spec.clone())).collect()
}

fn why(report: &Report) -> Explanation {
    let entry = &report.objects[0];
    assert_eq!(entry.result.word(), "unknown", "{entry:?}");
    entry.result.explanation().cloned().expect("a reason")
}

/// A kind whose objects only a listing shows.
fn listed() -> Kind {
    let mut team = kind("Team", true, None);
    team.read = Read::FromList;
    team
}

#[test]
fn what_a_cut_listing_does_not_show_is_not_absent() {
    let mut model = Model::new(vec![listed()]);
    model.faults.insert(("list", 1), Fault::Incomplete);
    let report = model.apply(&[team("a", json!({}))]);
    assert_eq!(why(&report).message, "whether it exists cannot be told: the listing was cut");
    assert!(model.writes().is_empty());
}

#[test]
fn what_a_cut_listing_does_not_show_is_read_where_that_can_be() {
    let mut model = Model::new(vec![kind("Team", false, None)]);
    model.faults.insert(("list", 1), Fault::Incomplete);
    let report = model.plan(&many(json!({})));
    assert!(report.objects.iter().all(|entry| entry.result.word() == "planned"));
    assert_eq!(model.log.iter().filter(|line| line.starts_with("read")).count(), 40);
}

#[test]
fn an_item_that_cannot_be_read_casts_doubt_on_what_is_missing() {
    let mut model = Model::new(vec![listed()]);
    model.problems = vec!["an item has no `.name`".into()];
    let told = why(&model.apply(&[team("a", json!({}))]));
    assert_eq!(told.message, "whether it exists cannot be told: an item has no `.name`");
    assert_eq!(told.hint.as_deref(), Some("check `list` and `key` of the kind in the backend"));
    assert!(model.writes().is_empty());
}

#[test]
fn the_same_name_of_another_type_is_not_made_a_second_time() {
    let mut model = Model::new(vec![listed()]);
    model.put("Team", &[("name", "7")], json!({}));
    let mut seven = team("a", json!({}));
    seven.id.key = crate::core::identity::Key::new(vec![("name".into(), Value::from(7))]);
    let told = why(&model.apply(&[seven]));
    assert!(told.message.contains("the listing shows a key of another type: "), "{}", told.message);
    assert!(told.hint.is_some());
    assert!(model.writes().is_empty());
}

#[test]
fn without_a_listing_an_id_is_needed() {
    for from_list in [false, true] {
        let mut hidden = kind("Team", true, None);
        hidden.list = None;
        if from_list {
            hidden.read = Read::FromList;
        }
        let mut model = Model::new(vec![hidden]);
        let told = why(&model.apply(&[team("a", json!({}))]));
        assert_eq!(
            told.message,
            "it cannot be found: the API has no listing, and the server's id of the object is not known"
        );
        assert_eq!(told.hint.as_deref(), Some("state the id with the annotation `trueup/id`"));
        assert!(model.log.is_empty(), "nothing is asked");
    }
}

#[test]
fn without_a_listing_each_object_is_read() {
    let mut hidden = kind("Team", false, None);
    hidden.list = None;
    let mut model = Model::new(vec![hidden]);
    let report = model.apply(&many(json!({})));
    assert!(report.objects.iter().all(|entry| entry.result.word() == "done"));
    assert!(model.log.iter().all(|line| !line.starts_with("list")));
}

#[test]
fn where_listings_lack_fields_each_object_is_read_too() {
    let mut thin = kind("Team", true, None);
    thin.list.as_mut().expect("a listing").partial = true;
    let mut model = Model::new(vec![thin]);
    model.put("Team", &[("name", "a")], json!({"size": 1}));
    let report = model.plan(&[team("a", json!({"size": 1}))]);
    assert_eq!(report.objects[0].result.word(), "in-sync");
    assert_eq!(model.log, ["list Team", "read Team a"]);
}

#[test]
fn a_search_is_a_listing_of_each_object() {
    let mut searched = listed();
    let path = &mut searched.list.as_mut().expect("a listing").op.path;
    path.0 = vec![Piece::Literal("/find/".into()), Piece::Part("name".into())];
    let mut model = Model::new(vec![searched]);
    for name in ["a", "b"] {
        model.put("Team", &[("name", name)], json!({}));
    }
    model.plan(&[team("a", json!({})), team("b", json!({}))]);
    assert_eq!(model.log, ["list Team a", "list Team b"]);
}

#[test]
fn an_answer_of_the_wrong_sort_is_not_used() {
    let odd = || Answer::Progress(Progress::Done { server_id: None });
    for kind in [listed(), kind("Team", false, None)] {
        let mut model = Model::new(vec![kind]);
        model.instead = Some(odd());
        let told = why(&model.apply(&[team("a", json!({}))]));
        assert_eq!(told.message, "the answer does not belong to the request");
        assert!(model.writes().is_empty());
    }
}

#[test]
fn a_pinned_id_tells_one_of_several_apart() {
    let mut model = Model::new(vec![listed()]);
    model.put("Team", &[("name", "a")], json!({"size": 1}));
    model.put("Team", &[("name", "a")], json!({"size": 2}));
    let mut second = team("a", json!({"size": 2}));
    second.policy.pinned_id = Some("2".into());
    assert_eq!(model.plan(&[second]).objects[0].result.word(), "in-sync");
}

#[test]
fn a_listing_that_is_refused_is_told_and_never_an_empty_one() {
    for class in [FailureClass::Status(403), FailureClass::Status(500), FailureClass::NotTheApi] {
        let mut model = Model::new(vec![listed()]);
        for n in 1..40 {
            model.faults.insert(("list", n), Fault::Fails(class));
        }
        let told = why(&model.apply(&[team("a", json!({}))]));
        assert!(told.message.contains(&format!("{class:?}")), "{}", told.message);
        assert!(model.writes().is_empty());
    }
}

#[test]
fn where_nothing_is_a_list_of_nothing_each_object_is_read() {
    let mut model = Model::new(vec![kind("Team", false, None)]);
    model.faults.insert(("list", 1), Fault::Fails(FailureClass::Status(404)));
    let report = model.plan(&many(json!({})));
    assert!(report.objects.iter().all(|entry| entry.result.word() == "planned"));
}

/// A kind whose ids are the server's, and whose listings lack fields.
fn shown_in_part() -> (Model, [Document; 1]) {
    let mut team = kind("Team", true, None);
    team.list.as_mut().expect("it has one").partial = true;
    let mut model = Model::new(vec![team]);
    model.put("Team", &[("name", "a")], json!({"size": 7}));
    (model, [team_of("a")])
}

fn team_of(name: &str) -> Document {
    team(name, json!({"size": 1}))
}

/// A replica that was behind said that the id names nothing; the listing after it showed the object, and it was made a
/// second time (seeds 12152 and 12863).
#[test]
fn what_a_listing_shows_after_a_read_did_not_is_read_again() {
    for hidden in [1, 5] {
        let (mut model, documents) = shown_in_part();
        for nth in 1..=hidden {
            model.faults.insert(("read", nth), Fault::Hides);
        }
        let report = model.apply(&documents);
        assert_eq!(report.objects[0].result.word(), "done", "{hidden}: {:?}", model.log);
        assert_eq!(model.writes(), ["update Team a"], "{hidden}");
    }
}

#[test]
fn what_listings_show_and_reads_do_not_is_unknown() {
    for attempts in [None, Some(1)] {
        let (mut model, documents) = shown_in_part();
        for nth in 1..=40 {
            model.faults.insert(("read", nth), Fault::Hides);
        }
        let report = model.apply_with(&documents, Options { attempts, ..Options::default() }, None);
        let why = why(&report).message;
        let told = "whether it exists cannot be told: a listing shows it, and a read of it says that it is not there";
        assert_eq!((report.objects[0].result.word(), &*why), ("unknown", told));
        assert_eq!(model.writes(), [""; 0]);
        let waited = model.took > Duration::from_secs(29);
        assert_eq!(waited, attempts.is_none(), "a pass of one attempt does not wait: {:?}", model.took);
    }
}

/// What we have deleted ourselves, and a read shows to be gone, is gone: a listing that still has it is waited for, and
/// is behind in the end.
#[test]
fn what_this_run_deleted_is_made_again_however_long_listings_show_it() {
    let (mut model, mut documents) = shown_in_part();
    let mut team = (**model.kinds.get(&documents[0].id.kind).expect("a kind")).clone();
    team.update = None;
    model.kinds.insert(team);
    documents[0].policy.replace = true;
    model.faults.insert(("delete", 1), Fault::Ignored);
    for nth in 3..=60 {
        model.faults.insert(("read", nth), Fault::Hides);
    }
    let report = model.apply(&documents);
    assert_eq!(model.writes(), ["delete Team a", "create Team a"], "{report:?}");
    assert!(model.took > Duration::from_secs(29), "{:?}", model.took);
}

/// A listing that was behind told an id, another had made the object anew under another id, and the absence of the first
/// was taken for that of the object: it was to go, stood, and was called in sync (seed 75976).
#[test]
fn what_is_to_go_is_looked_for_by_name_once_its_id_names_nothing() {
    fn after_the_listing(model: &mut Model, then: fn(&mut Model)) {
        if model.log.len() == 1 {
            model.objects.clear();
            then(model);
        }
    }
    let anew: fn(&mut Model) =
        |model| after_the_listing(model, |model| model.put("Team", &[("name", "a")], json!({"size": 7})));
    let gone: fn(&mut Model) = |model| after_the_listing(model, |_| {});
    for (meddle, result) in [(anew, "conflict"), (gone, "in-sync")] {
        let mut model = Model::new(vec![kind("Team", true, None)]);
        model.put("Team", &[("name", "a")], json!({"size": 7}));
        let mut documents = [team_of("a")];
        documents[0].policy.ensure = Ensure::Absent;
        model.at_look = Some(meddle);
        let report = model.apply(&documents);
        assert_eq!(report.objects[0].result.word(), result, "{:?}", model.log);
        assert_eq!(model.log, ["list Team", "read Team a", "list Team"], "{result}");
        let next = model.apply(&documents).objects[0].result.word();
        assert_eq!(next, if result == "conflict" { "done" } else { "in-sync" });
    }
}

/// Another read of a replica that was behind (seed 88978).
#[test]
fn what_is_to_go_and_is_listed_is_read_again() {
    for (hidden, result, writes) in [(1, "done", &["delete Team a"][..]), (40, "in-sync", &[])] {
        let (mut model, mut documents) = shown_in_part();
        documents[0].policy.ensure = Ensure::Absent;
        for nth in 1..=hidden {
            model.faults.insert(("read", nth), Fault::Hides);
        }
        let report = model.apply(&documents);
        assert_eq!(report.objects[0].result.word(), result, "{:?}", model.log);
        assert_eq!(model.writes(), writes, "{hidden}");
    }
}
