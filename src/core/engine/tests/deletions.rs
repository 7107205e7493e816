//! Deletions that take their time, or are held by somebody; and a replacement whose process dies at any request.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::model::{Fault, Model, document, failed, kind, reference};
use crate::core::base::{Base, Past};
use crate::core::document::{Document, Ensure, OnConflict};
use crate::core::engine::Options;
use crate::core::exchange::{Answer, FailureClass};
use crate::core::fields::FieldRules;
use crate::core::filter::Filter;
use crate::core::kind::Kind;
use crate::core::node::{Node, Pos, Secret, Want};
use crate::core::path::Path;
use crate::core::report::{Outcome, Report};

/// An object that is to go, of a kind that names what holds it.
fn doomed(holders: serde_json::Value) -> (Model, [Document; 1]) {
    let blockers = Filter::parse(".holders").ok();
    let mut model = Model::new(vec![Kind { blockers, ..kind("Team", false, None) }]);
    model.put("Team", &[("name", "a")], json!({"holders": holders}));
    let mut documents = [document("Team", &[("name", "a")], json!({}))];
    documents[0].policy.ensure = Ensure::Absent;
    (model, documents)
}

fn told(report: &Report) -> String {
    let outcome = &report.objects[0].result;
    format!("{}: {}", outcome.word(), outcome.explanation().map_or("", |why| &why.message))
}

#[test]
fn a_deletion_under_way_is_waited_for_and_done_when_a_look_says_so() {
    let (mut model, documents) = doomed(json!([]));
    model.lingers = Some(30);
    assert_eq!(model.apply(&documents).objects[0].result, Outcome::Done);
    assert_eq!(model.writes(), ["delete Team a"]);
    let minutes = [Duration::from_secs(60), Duration::from_secs(5 * 60)];
    assert!((minutes[0]..minutes[1]).contains(&model.took), "{:?}", model.took);
}

/// The answer to a deletion was lost, and a look has shown that the object is going: what a later look says that was
/// behind is no reason to ask for it again.
#[test]
fn what_was_seen_to_go_is_not_deleted_once_more() {
    for stale in 1..=4 {
        let (mut model, documents) = doomed(json!([]));
        model.lingers = Some(8);
        model.faults.insert(("delete", 1), Fault::DoneAndLost);
        model.late_looks = stale;
        model.at_look = Some(|model| {
            let looks = model.log.iter().rev().take_while(|line| !line.starts_with("delete")).count();
            let asked = looks < model.log.len();
            let key = ("Team".into(), "a".to_owned());
            let Some(stored) = model.objects.get_mut(&key).and_then(|slot| slot.first_mut()) else { return };
            stored.value["going"] = (asked && looks as u32 != model.late_looks).into();
        });
        assert_eq!(told(&model.apply(&documents)), "done: ", "{:?}", model.log);
        assert_eq!(model.writes(), ["delete Team a"], "{stale}");
    }
}

#[test]
fn what_holds_a_deletion_is_named_after_five_minutes_and_left() {
    let going = "unknown: the server is deleting it, and has not finished";
    for (holders, why) in [
        (json!(["a/b", "c"]), ": `a/b` and `c` hold it"),
        (json!("one"), ": `one` holds it"),
        (json!([]), ""),
        (json!(null), ""),
    ] {
        let (mut model, documents) = doomed(holders.clone());
        model.lingers = Some(u32::MAX);
        assert_eq!(told(&model.apply(&documents)), format!("{going}{why}"));
        assert!(model.took >= Duration::from_secs(5 * 60), "{:?}", model.took);
        assert_eq!(model.writes(), ["delete Team a"]);
        assert_eq!(model.get("Team", "a").expect("it is there")["holders"], holders);
        // The next run finds it going, and neither waits nor asks again for what was asked for.
        assert_eq!(told(&model.apply(&documents)), format!("{going}{why}"));
        assert_eq!(model.writes().len(), 1);
    }
}

#[test]
fn an_error_inside_the_answer_to_a_deletion_is_told_at_once() {
    let (mut model, documents) = doomed(json!([]));
    let Answer::Failed(inside) = failed(FailureClass::Status(207)) else { unreachable!("it is one") };
    model.refusal = Some(Answer::Accepted { server_id: None, pending: false, inside: Some(inside) });
    assert_eq!(told(&model.apply(&documents)), "failed: the server said Status(207)");
    assert_eq!(model.log, ["read Team a", "read Team a", "delete Team a", "read Team a"]);
    assert!(model.took < Duration::from_secs(1), "{:?}", model.took);
}

/// An object that can only be replaced, with a child that goes with it.
fn replaced() -> (Model, [Document; 2], Options) {
    let fixed = Kind { update: None, ..kind("Zone", false, None) };
    let mut model = Model::new(vec![fixed, kind("Record", false, Some("Zone"))]);
    model.cascades = true;
    model.put("Zone", &[("name", "z")], json!({"size": 1}));
    model.put("Record", &[("in", "z"), ("name", "r")], json!({"ttl": 5}));
    let documents = [
        document("Zone", &[("name", "z")], json!({"size": 2})),
        document("Record", &[("in", "z"), ("name", "r")], json!({"ttl": 5})),
    ];
    (model, documents, Options { replace: ["Zone/z".to_owned()].into(), ..Options::default() })
}

/// A listing that can never be whole proves no name free, and an id that is gone is of no object: what would be made
/// after the deletion could never be.
#[test]
fn nothing_is_replaced_whose_name_could_not_be_seen_to_be_free() {
    for whole in [true, false] {
        let fixed = Kind { update: None, ..kind("Team", true, None) };
        let mut model = Model::new(vec![fixed]);
        model.put("Team", &[("name", "a")], json!({"size": 1}));
        let documents = [document("Team", &[("name", "a")], json!({"size": 2}))];
        let consent = Options { replace: ["Team/a".to_owned()].into(), ..Options::default() };
        for n in (1..50).filter(|_| !whole) {
            model.faults.insert(("list", n), Fault::Incomplete);
        }
        let report = told(&model.apply_with(&documents, consent, None));
        match whole {
            true => assert_eq!(report, "done: "),
            false => {
                let why =
                    "refused: once deleted, nothing could tell that its name is free: the listing was cut";
                assert_eq!(report, why);
                assert!(model.writes().is_empty(), "{:?}", model.log);
            }
        }
    }
}

/// Of two objects of one name a listing that is cut off may show one: it would go or be changed by chance, and be told of
/// as all there was. The id says which is meant.
#[test]
fn nothing_is_written_whose_name_another_may_have() {
    let ways = [(true, false), (false, false), (false, true)];
    let ways = ways.into_iter().flat_map(|(whole, pinned)| [(whole, pinned, true), (whole, pinned, false)]);
    for (whole, pinned, goes) in ways {
        let mut model = Model::new(vec![kind("Team", true, None)]);
        model.put("Team", &[("name", "a")], json!({"size": 1}));
        let mut documents = [document("Team", &[("name", "a")], json!({"size": 2}))];
        documents[0].policy.ensure = if goes { Ensure::Absent } else { Ensure::Present };
        documents[0].policy.pinned_id = pinned.then(|| "1".into());
        for n in (1..50).filter(|_| !whole) {
            model.faults.insert(("list", n), Fault::Incomplete);
        }
        // An item whose name cannot be read may have this one.
        let mut unread = Model::new(Vec::new());
        (unread.kinds, unread.objects) = (model.kinds.clone(), model.objects.clone());
        unread.problems = vec!["an item has no `.name`".into()];
        let writes = usize::from(pinned);
        assert_eq!((unread.apply(&documents), unread.writes().len()).1, writes, "{:?}", unread.log);
        let report = told(&model.apply(&documents));
        match whole || pinned {
            true => assert_eq!((&*report, model.writes().len()), ("done: ", 1), "{:?}", model.log),
            false => {
                assert_eq!(
                    report,
                    "unknown: whether it alone has its name cannot be told: the listing was cut"
                );
                assert!(model.writes().is_empty(), "{:?}", model.log);
            }
        }
    }
}

fn is_whole(model: &Model) -> bool {
    let zone = model.get("Zone", "z").is_some_and(|zone| zone["size"] == 2);
    zone && model.get("Record", "z/r").is_some_and(|record| record["ttl"] == 5)
}

#[test]
fn a_replacement_that_dies_at_any_request_is_finished_by_the_next_run() {
    let mut ended = false;
    let mut without_consent = 0;
    for requests in 1.. {
        let (mut model, documents, consent) = replaced();
        ended = model.crash(&documents, consent.clone(), requests);
        if ended {
            assert!(is_whole(&model));
            break;
        }
        let gone = model.get("Zone", "z").is_none();
        let before = model.writes().len();
        let report = model.apply(&documents);
        if gone {
            // The loss has happened: to create needs nobody's consent.
            without_consent += 1;
            assert!(report.objects.iter().all(|entry| entry.result == Outcome::Done), "{report:?}");
        }
        let deletes = model.writes()[before..].iter().filter(|line| line.starts_with("delete")).count();
        assert_eq!(deletes, 0, "after {requests} requests: {:?}", model.log);
        model.apply_with(&documents, consent.clone(), None);
        assert!(is_whole(&model), "after {requests} requests: {:?}", model.log);
        let writes = model.writes().len();
        model.apply_with(&documents, consent, None);
        assert_eq!(model.writes().len(), writes, "in sync it is left alone");
        assert_eq!(model.writes().iter().filter(|line| line.starts_with("delete")).count(), 1);
    }
    assert!(ended && without_consent >= 2, "{without_consent}");
}

#[test]
fn a_replacement_waits_until_the_old_object_is_gone() {
    let (mut model, documents, consent) = replaced();
    model.lingers = Some(20);
    let report = model.apply_with(&documents, consent, None);
    assert_eq!(report.objects[0].result, Outcome::Done, "{report:?}");
    let zones: Vec<&str> = model.writes().into_iter().filter(|line| line.contains("Zone")).collect();
    assert_eq!(zones, ["delete Zone z", "create Zone z"]);
}

#[test]
fn a_lost_answer_to_the_deletion_of_a_replacement_leads_to_the_create() {
    let (mut model, documents, consent) = replaced();
    model.faults.insert(("delete", 1), Fault::DoneAndLost);
    let report = model.apply_with(&documents, consent, None);
    assert!(report.objects.iter().all(|entry| entry.result == Outcome::Done), "{report:?}");
    assert!(is_whole(&model));
}

#[test]
fn nothing_is_replaced_over_a_protected_object_or_child() {
    for protected in [0, 1] {
        let (mut model, mut documents, consent) = replaced();
        documents[protected].policy.protected = true;
        let report = model.apply_with(&documents, consent, None);
        assert!(matches!(report.objects[0].result, Outcome::Refused(_)), "{report:?}");
        assert_eq!(model.writes(), [""; 0]);
    }
}

#[test]
fn secrets_of_what_cannot_be_changed_are_renewed_by_a_replacement_only() {
    let fields = crate::core::fields::FieldRules::default();
    let kind = Kind { update: None, fields, ..kind("Team", false, None) };
    let mut model = Model::new(vec![kind]);
    model.put("Team", &[("name", "a")], json!({"size": 1}));
    let documents = [document("Team", &[("name", "a")], json!({"size": 1}))];
    let rotate = Options { rotate: ["Team/a".to_owned()].into(), ..Options::default() };
    let report = model.apply_with(&documents, rotate, None);
    assert_eq!(told(&report), "refused: it would have to be deleted and created again");
    assert_eq!(model.writes(), [""; 0]);
}

fn at_base(spec: Node) -> Base {
    Base::Present(Arc::new(Past { spec, file: "base".into() }))
}

/// An object that is to go and stood so at the base, whatever the server has by now.
fn stood(base: serde_json::Value, theirs: serde_json::Value, rules: FieldRules) -> (Model, [Document; 1]) {
    let mut model = Model::new(vec![Kind { fields: rules, ..kind("Team", false, None) }]);
    model.put("Team", &[("name", "a")], theirs);
    let mut documents = [document("Team", &[("name", "a")], json!({}))];
    documents[0].policy.ensure = Ensure::Absent;
    documents[0].base = at_base(Node::from_value(Pos::default(), base));
    (model, documents)
}

#[test]
fn what_others_changed_since_the_base_does_not_go() {
    let (mut model, documents) =
        stood(json!({"n": 1, "m": 2}), json!({"n": 50, "m": 2}), FieldRules::default());
    for report in [model.plan(&documents), model.apply(&documents)] {
        let why = "conflict: it is to go, and was changed on the server since the base: \
                   `n`: 1 at the base, nothing here, 50 there";
        assert_eq!(told(&report), why);
        let sides: Vec<&str> = report.objects[0].conflicts.iter().map(|one| &*one.named).collect();
        assert_eq!(sides, ["n"]);
    }
    assert_eq!(model.writes(), [""; 0]);
    // Nothing of it can be given up.
    let (mut model, mut documents) = stood(json!({"n": 1}), json!({}), FieldRules::default());
    documents[0].policy.on_conflict = OnConflict::Ignore;
    assert!(told(&model.apply(&documents)).starts_with("conflict: it is to go"), "{:?}", model.log);
    assert_eq!(model.writes(), [""; 0]);
}

#[test]
fn what_stands_as_at_the_base_or_is_forced_goes() {
    let at = |text: &str| Path::parse(text).expect(text);
    let mut rules = FieldRules::default();
    rules.at_mut(&at("token")).write_only = true;
    rules.at_mut(&at("size")).default = Some(json!(5));
    let base = json!({"n": 1, "token": "x", "size": 5, "list": [1]});
    let (mut model, documents) = stood(base, json!({"n": 1, "list": [1], "more": true}), rules);
    assert_eq!(told(&model.apply(&documents)), "done: ");
    assert_eq!(model.writes(), ["delete Team a"]);

    for (on_conflict, paths, goes) in [
        (OnConflict::Force, &[][..], true),
        (OnConflict::default(), &["n"], false),
        (OnConflict::default(), &["n", "m"], true),
    ] {
        let (mut model, mut documents) =
            stood(json!({"n": 1, "m": 1}), json!({"n": 2}), FieldRules::default());
        documents[0].policy.on_conflict = on_conflict;
        documents[0].policy.forced_paths = paths.iter().map(|path| at(path)).collect();
        let report = model.apply(&documents);
        assert_eq!(model.writes().len(), usize::from(goes), "{paths:?}: {}", told(&report));
    }
}

#[test]
fn what_cannot_be_told_of_the_base_keeps_nothing() {
    let secret = Node::new(Pos::default(), Want::Secret(Secret::new("env:A", None)));
    let named = Node::new(Pos::default(), Want::Ref(Box::new(reference("Team/b"))));
    for (untold, n, goes) in [(secret, 1, true), (named.clone(), 1, true), (named, 2, false)] {
        let (mut model, mut documents) = stood(json!({}), json!({"n": n, "at": 7}), FieldRules::default());
        let one = Node::from_value(Pos::default(), json!(1));
        let base = [("at".to_owned(), untold.clone()), ("n".to_owned(), one), ("gone".to_owned(), untold)];
        let base = Node::new(Pos::default(), Want::Map(base.into_iter().collect()));
        documents[0].base = at_base(base);
        let report = model.apply(&documents);
        assert_eq!(model.writes().len(), usize::from(goes), "{}", told(&report));
    }
}

/// An object under an id of the server's that can only be replaced, and the consent to it.
fn replaced_by_id() -> (Model, [Document; 1], Options) {
    let mut model = Model::new(vec![Kind { update: None, ..kind("Zone", true, None) }]);
    model.put("Zone", &[("name", "z")], json!({"size": 1}));
    let documents = [document("Zone", &[("name", "z")], json!({"size": 2}))];
    (model, documents, Options { replace: ["Zone/z".to_owned()].into(), ..Options::default() })
}

#[test]
fn a_replaced_object_whose_name_was_taken_is_not_made_beside_the_other() {
    let others = |model: &mut Model| model.put("Zone", &[("name", "z")], json!({"size": 3}));
    let wanted = |model: &mut Model| model.put("Zone", &[("name", "z")], json!({"size": 2}));
    let taken = "conflict: another object has taken its name since the one that it had is gone";
    for (meddle, outcome) in [(others as fn(&mut Model), taken), (wanted, "done: ")] {
        for lost in [false, true] {
            let (mut model, documents, consent) = replaced_by_id();
            model.meddle = Some(meddle);
            if lost {
                model.faults.insert(("delete", 1), Fault::DoneAndLost);
            }
            let report = model.apply_with(&documents, consent, None);
            assert_eq!(told(&report), outcome, "{:?}", model.log);
            assert_eq!(model.writes(), ["delete Zone z"], "lost: {lost}");
        }
    }
}

#[test]
fn a_replaced_object_is_made_again_after_a_listing_without_it() {
    let (mut model, documents, consent) = replaced_by_id();
    let report = model.apply_with(&documents, consent, None);
    assert_eq!(report.objects[0].result, Outcome::Done, "{report:?}");
    assert_eq!(model.writes(), ["delete Zone z", "create Zone z"]);
    let create = model.log.iter().position(|line| line.starts_with("create")).expect("it is made");
    assert_eq!(model.log[create - 1], "list Zone", "{:?}", model.log);
}

#[test]
fn nothing_is_made_again_where_the_listing_is_not_whole() {
    let (mut model, documents, consent) = replaced_by_id();
    // The plan's, the run's own, and the one after the deletion.
    for nth in 2..=9 {
        model.faults.insert(("list", nth), Fault::Incomplete);
    }
    let report = model.apply_with(&documents, consent, None);
    assert!(told(&report).starts_with("unknown: whether it exists cannot be told"), "{}", told(&report));
    assert_eq!(model.writes(), ["delete Zone z"]);
}
