//! What guards a write: versions that are asked for, weak tags, and what is told where nothing guards.

use serde_json::json;

use super::model::{Fault, Model, document, kind};
use crate::core::document::{Document, Ensure};
use crate::core::exchange::FailureClass;
use crate::core::filter::Filter;
use crate::core::kind::{Kind, Method, Op, Piece, Read, Serial, Template, Version};
use crate::core::report::Report;

fn tagged() -> Kind {
    let mut team = kind("Team", false, None);
    team.version = Version::ETag;
    team
}

fn model(kind: Kind) -> (Model, [Document; 1]) {
    let mut model = Model::new(vec![kind]);
    model.version = Some(1);
    model.put("Team", &[("name", "a")], json!({"size": 7, "note": "n"}));
    (model, [document("Team", &[("name", "a")], json!({"size": 2}))])
}

/// Six teams that nobody has looked at, one of which is there, and in no listing.
fn left_out(kind: Kind) -> (Model, Report) {
    let mut model = Model::new(vec![kind]);
    model.put("Team", &[("name", "t3")], json!({"size": 7, "note": "theirs"}));
    model.left_out.push("t3".into());
    let name = |n: u8| document("Team", &[("name", &format!("t{n}"))], json!({"size": 2}));
    let documents: Vec<Document> = (0..6).map(name).collect();
    let report = model.apply(&documents);
    (model, report)
}

/// A listing that leaves out an object, and does not say so, is no reason to replace it.
#[test]
fn what_a_listing_alone_does_not_show_is_read_before_it_is_replaced() {
    let (model, report) = left_out(kind("Team", false, None));
    let results: Vec<&str> = report.objects.iter().map(|entry| entry.result.word()).collect();
    assert_eq!(results, ["done"; 6], "{:?}", model.log);
    assert_eq!(report.objects[3].action.word(), "update");
    let now = model.get("Team", "t3").expect("it is there");
    assert_eq!((&now["size"], &now["note"]), (&json!(2), &json!("theirs")));
    let before = model.log.iter().take_while(|line| !line.starts_with("create"));
    assert_eq!(before.filter(|line| line.starts_with("read")).count(), 6, "each once: {:?}", model.log);
}

/// The read is made for a create that would replace what is there, and for no other.
#[test]
fn a_create_that_replaces_nothing_needs_no_read() {
    let with = |change: &dyn Fn(&mut Kind)| {
        let mut team = kind("Team", false, None);
        change(&mut team);
        let (model, _) = left_out(team);
        let before = model.log.iter().take_while(|line| !line.starts_with("create"));
        before.filter(|line| line.starts_with("read")).count()
    };
    let create = |team: &mut Kind, change: &dyn Fn(&mut Op)| change(team.create.as_mut().expect("a create"));
    assert_eq!(with(&|team| team.version = Version::ETag), 0, "it says that nothing may be there");
    assert_eq!(with(&|team| create(team, &|op| op.method = Method::Post)), 0, "the server refuses it");
    let guard = || ("If-None-Match".to_owned(), Template(vec![Piece::Literal("*".into())]));
    assert_eq!(with(&|team| create(team, &|op| op.headers.push(guard()))), 0, "its backend says so");
    assert_eq!(with(&|team| team.read = Read::FromList), 0, "there is none");
    assert_eq!(with(&|team| team.update = None), 0, "a PUT changes nothing that is there");
    assert_eq!(with(&|team| team.exists = Filter::parse(".body.there").ok()), 0, "the server says so");
}

fn codes(report: &Report) -> Vec<&'static str> {
    report.objects[0].findings.iter().map(|finding| finding.code).collect()
}

#[test]
fn a_weak_tag_is_tried_once_and_then_left_out_with_a_warning() {
    let (mut model, documents) = model(tagged());
    model.weak = Some(false);
    let report = model.apply(&documents);
    assert_eq!(report.objects[0].result.word(), "done");
    assert_eq!(codes(&report), ["WeakETag"]);
    assert_eq!(model.writes().len(), 2, "{:?}", model.log);
}

#[test]
fn a_weak_tag_that_matches_is_a_guard() {
    let (mut model, documents) = model(tagged());
    model.weak = Some(true);
    model.meddle = Some(|model| {
        model.version = Some(5);
        model.objects.values_mut().for_each(|slot| slot[0].value["note"] = json!("theirs"));
    });
    let report = model.apply(&documents);
    assert_eq!(report.objects[0].result.word(), "done");
    assert!(codes(&report).is_empty(), "{:?}", codes(&report));
    assert_eq!(model.get("Team", "a").expect("it is there")["note"], "theirs");
}

#[test]
fn a_weak_tag_costs_each_object_one_refusal_at_most_and_is_told_once() {
    let mut kind = tagged();
    kind.serial = Serial::Backend;
    let (mut model, _) = model(kind);
    model.weak = Some(false);
    let names = ["a", "b", "c", "d"];
    names[1..].iter().for_each(|name| model.put("Team", &[("name", name)], json!({"size": 7})));
    let documents = names.map(|name| document("Team", &[("name", name)], json!({"size": 2})));
    let report = model.apply(&documents);
    assert!(report.objects.iter().all(|entry| entry.result.word() == "done"));
    assert!(model.writes().len() <= 8, "each at most once in vain: {:?}", model.log);
    let told = report.objects.iter().flat_map(|entry| &entry.findings);
    assert_eq!(told.filter(|finding| finding.code == "WeakETag").count(), 1, "of its kind, once");
}

#[test]
fn what_needs_a_precondition_is_read_for_it_and_sent_again() {
    let mut team = kind("Team", false, None);
    team.version = Version::OnItem(Filter::parse(".version").expect("a filter"));
    let (mut model, documents) = model(team);
    model.strict = true;
    model.unversioned_lists = true;
    let many: Vec<Document> =
        (0..9).map(|n| document("Team", &[("name", &format!("t{n}"))], json!({"size": 2}))).collect();
    for n in 0..9 {
        model.put("Team", &[("name", &format!("t{n}"))], json!({"size": 7}));
    }
    let report = model.apply(&many);
    let results: Vec<&str> = report.objects.iter().map(|entry| entry.result.word()).collect();
    assert!(results.iter().all(|word| *word == "done"), "{results:?} {:?}", model.log);
    assert!(model.writes().len() <= 9 + 6, "what is learnt holds for the others: {:?}", model.log);
    assert_eq!(model.apply(&documents).objects[0].result.word(), "done");
}

/// A precondition went along already: it is sent once more, from a new look, and then no more.
#[test]
fn what_is_refused_with_a_precondition_is_sent_once_more() {
    for (role, ensure) in
        [("create", Ensure::Present), ("update", Ensure::Present), ("delete", Ensure::Absent)]
    {
        for (times, result) in [(1, "done"), (9, "failed")] {
            let (mut model, mut documents) = model(tagged());
            documents[0].policy.ensure = ensure;
            if role == "create" {
                model.objects.clear();
            }
            for nth in 1..=times {
                model.faults.insert((role, nth), Fault::Fails(FailureClass::Status(428)));
            }
            let report = model.apply(&documents);
            assert_eq!(report.objects[0].result.word(), result, "{role}, {times}: {:?}", model.log);
            assert_eq!(model.writes().len(), 2, "{role}, {times}: {:?}", model.log);
        }
    }
}

#[test]
fn what_has_no_version_is_refused_with_what_to_add() {
    for (version, read, hint) in [
        (Version::None, true, "`version: etag` where its read answers"),
        (Version::ETag, true, "the read of a Team has no `ETag` header"),
        (Version::ETag, false, "the read of a Team has no `ETag` header"),
    ] {
        let mut team = kind("Team", false, None);
        team.version = version;
        if !read {
            team.read = Read::FromList;
        }
        let (mut model, documents) = model(team);
        model.version = None;
        model.strict = true;
        let report = model.apply(&documents);
        assert_eq!(report.objects[0].result.word(), "failed");
        let told =
            report.objects[0].result.explanation().and_then(|why| why.hint.clone()).unwrap_or_default();
        assert!(told.contains(hint), "{told}");
        assert!(model.writes().len() <= 2, "{:?}", model.log);
    }
}

#[test]
fn an_update_that_nothing_guards_is_told_in_the_plan() {
    let (mut model, documents) = model(kind("Team", false, None));
    model.version = None;
    assert_eq!(codes(&model.plan(&documents)), ["LostUpdateRisk"]);
    let (mut model, documents) = self::model(tagged());
    assert!(codes(&model.plan(&documents)).is_empty());
}

#[test]
fn what_others_change_around_an_unguarded_write_is_told() {
    let (mut model, documents) = model(kind("Team", false, None));
    model.version = None;
    model.normalise = Some(|value| value["note"] = json!("theirs"));
    let report = model.apply(&documents);
    assert_eq!(report.objects[0].result.word(), "done");
    assert_eq!(codes(&report), ["PossibleOverwrite", "LostUpdateRisk"]);

    // A version makes sure that nobody was in between.
    let (mut model, documents) = self::model(tagged());
    model.normalise = Some(|value| value["note"] = json!("theirs"));
    assert!(codes(&model.apply(&documents)).is_empty());
}
