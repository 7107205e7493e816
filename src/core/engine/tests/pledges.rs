//! A saved plan: what it says is done, what moved since is refused, and what is done already is told.

use serde_json::json;

use super::model::{Model, document, kind, reference};
use crate::core::change::{Change, Reason, Shown};
use crate::core::document::{Document, Ensure};
use crate::core::engine::Options;
use crate::core::engine::pledge::Pledge;
use crate::core::node::Want;
use crate::core::path::Path;
use crate::core::report::{Action, Explanation, Report};
use crate::core::value::Value;

fn change(path: &str, before: Value, after: Value) -> Change {
    Change {
        path: Path::parse(path).expect("a path"),
        before: Some(before).filter(|value| !value.is_null()).map(Shown::Value),
        after: Some(Shown::Value(after)),
        reason: Reason::Declared,
        at: None,
        set_by: Vec::new(),
        since: None,
    }
}

fn pledge(action: Action, changes: Vec<Change>) -> Pledge {
    let (server_id, references, along) = (None, Vec::new(), Vec::new());
    Pledge { action, changes, server_id, references, along, refused: None, moved: None }
}

fn team(spec: Value) -> (Model, [Document; 1]) {
    let mut model = Model::new(vec![kind("Team", false, None)]);
    model.put("Team", &[("name", "a")], json!({"size": 1, "owner": "x", "seen": 7}));
    (model, [document("Team", &[("name", "a")], spec)])
}

fn held(model: &mut Model, documents: &[Document], pledge: Pledge) -> Report {
    model.apply_saved(documents, vec![pledge], Options::default())
}

fn told(report: &Report) -> String {
    let entry = &report.objects[0];
    let why = entry.result.explanation().map(|why| why.message.as_str()).unwrap_or_default();
    format!("{} {} {why}", entry.action.word(), entry.result.word()).trim_end().to_owned()
}

#[test]
fn what_is_called_like_a_secret_is_not_told_when_it_has_moved() {
    for (path, then, now, spec, said) in [
        (
            "password",
            json!("old-1"),
            json!("now-2"),
            json!({"password": "want"}),
            "`password` has changed since the plan was made",
        ),
        (
            "o.adminPassword",
            json!("old-1"),
            json!("now-2"),
            json!({"o": {"adminPassword": "want"}}),
            "`o.adminPassword` has changed since the plan was made",
        ),
        (
            "o",
            json!({"token": "old-1"}),
            json!("plain"),
            json!({"o": {"token": "want"}}),
            "`o` has changed since the plan was made: it was {\"token\":\"(secret)\"}, and is \"plain\"",
        ),
    ] {
        let mut model = Model::new(vec![kind("Team", false, None)]);
        let documents = [document("Team", &[("name", "a")], spec)];
        let live = match path {
            "o.adminPassword" => json!({"o": {"adminPassword": now}}),
            path => json!({path: now}),
        };
        model.put("Team", &[("name", "a")], live);
        let plan = pledge(Action::Update, vec![change(path, then, json!("want"))]);
        assert_eq!(told(&held(&mut model, &documents, plan)), format!("update refused {said}"), "{path}");
    }
}

#[test]
fn only_what_was_compared_can_move() {
    let plan = || pledge(Action::Update, vec![change("size", json!(1), json!(2))]);
    for (live, said) in [
        (json!({"size": 1, "owner": "x", "seen": 8}), "update done"),
        (json!({"size": 1.0, "owner": "x"}), "update done"),
        (json!({"size": 2, "owner": "x"}), "update already-applied"),
        (
            json!({"size": 3, "owner": "x"}),
            "update refused `size` has changed since the plan was made: it was 1, and is 3",
        ),
        (
            json!({"size": 1, "owner": "y"}),
            "update refused `owner` has changed on the server since the plan was made",
        ),
    ] {
        let (mut model, documents) = team(json!({"size": 2, "owner": "x"}));
        model.objects.clear();
        model.put("Team", &[("name", "a")], live.clone());
        let report = held(&mut model, &documents, plan());
        assert_eq!(told(&report), said, "{live}");
        assert_eq!(model.writes().len(), usize::from(said == "update done"), "{live}");
    }
}

#[test]
fn what_came_and_what_went() {
    for (action, there, said) in [
        (Action::Create, false, "create done"),
        (Action::Create, true, "update refused it has come into being since the plan was made"),
        (Action::Update, false, "create refused it was deleted since the plan was made"),
        (Action::None, false, "create refused it was deleted since the plan was made"),
        // A run that was ended after the deletion.
        (Action::Replace, false, "replace done"),
    ] {
        let (mut model, documents) = team(json!({"size": 2}));
        if !there {
            model.objects.clear();
        }
        let report = held(&mut model, &documents, pledge(action, Vec::new()));
        assert_eq!(told(&report), said, "{action:?}");
    }
}

#[test]
fn nothing_is_deleted_but_what_the_plan_deletes() {
    for (action, id, said) in [
        (Action::Delete, Some("1"), "delete done"),
        (Action::Delete, Some("9"), "delete refused another object has its name since the plan was made"),
        (Action::None, None, "delete refused it has come into being since the plan was made"),
        (Action::Update, None, "delete refused to delete it is no part of the plan"),
    ] {
        let (mut model, mut documents) = team(json!({}));
        documents[0].policy.ensure = Ensure::Absent;
        let report =
            held(&mut model, &documents, Pledge { server_id: id.map(Into::into), ..pledge(action, vec![]) });
        assert_eq!(told(&report), said);
        assert_eq!(model.get("Team", "a").is_none(), said == "delete done");
    }
    let (mut model, mut documents) = team(json!({}));
    documents[0].policy.ensure = Ensure::Absent;
    model.objects.clear();
    assert_eq!(told(&held(&mut model, &documents, pledge(Action::Delete, vec![]))), "delete already-applied");
}

#[test]
fn another_object_of_its_name_is_not_updated() {
    for (id, said) in
        [("1", "update done"), ("9", "update refused another object has its name since the plan was made")]
    {
        let (mut model, documents) = team(json!({"size": 2}));
        let plan = pledge(Action::Update, vec![change("size", json!(1), json!(2))]);
        let report = held(&mut model, &documents, Pledge { server_id: Some(id.into()), ..plan });
        assert_eq!(told(&report), said);
        assert_eq!(model.writes().len(), usize::from(id == "1"));
    }
}

/// The first of a cycle was made without the field that waits, and the run was ended.
#[test]
fn what_waits_for_the_rest_of_a_cycle_is_gone_on_with() {
    let referring = |kind: &str, name: &str, field: &str, to: &str| {
        let mut document = document(kind, &[("name", name)], json!({"size": 1, field: null}));
        document.spec_mut().get_mut(field).expect("it is there").want = Want::Ref(Box::new(reference(to)));
        document
    };
    let documents = [referring("Realm", "r", "flow", "Flow/f"), referring("Flow", "f", "realm", "Realm/r")];
    for (there, said) in [
        (json!({"size": 1}), "update done"),
        (json!({"size": 2}), "update refused it has come into being since the plan was made"),
        (json!({"size": 1, "flow": 9}), "update refused it has come into being since the plan was made"),
    ] {
        let mut model = Model::new(vec![kind("Realm", true, None), kind("Flow", true, None)]);
        model.put("Realm", &[("name", "r")], there.clone());
        let pledges = || vec![pledge(Action::Create, Vec::new()), pledge(Action::Create, Vec::new())];
        let report = model.apply_saved(&documents, pledges(), Options::default());
        assert_eq!(told(&report), said, "{there}");
        let kept = model.get("Realm", "r").expect("it is there").clone();
        assert_eq!(kept["size"], there["size"], "{there}");
        if said.contains("done") {
            assert_eq!(kept["flow"], 2);
            let report = model.apply_saved(&documents, pledges(), Options::default());
            let words: Vec<&str> = report.objects.iter().map(|entry| entry.result.word()).collect();
            assert_eq!(words, ["already-applied", "already-applied"]);
        }
    }
}

/// What moved before the run began is not done; what is gone by itself was done.
#[test]
fn what_is_known_to_have_moved() {
    for (there, said) in [(true, "delete refused the mark is gone"), (false, "delete already-applied")] {
        let (mut model, mut documents) = team(json!({}));
        documents[0].policy.ensure = Ensure::Absent;
        if !there {
            model.objects.clear();
        }
        let moved = Some(Explanation::new("the mark is gone"));
        let report = held(&mut model, &documents, Pledge { moved, ..pledge(Action::Delete, vec![]) });
        assert_eq!(told(&report), said);
        assert_eq!(model.get("Team", "a").is_some(), there);
    }
}

/// A creation compares nothing, and is made of what it refers to.
#[test]
fn a_reference_that_names_another_value() {
    for (then, said) in [
        (json!(1), "done"),
        (json!(9), "what `Team/a .id` names has changed since the plan was made: it was 9, and is 1"),
    ] {
        let mut model = Model::new(vec![kind("Team", false, None), kind("Web", false, None)]);
        model.put("Team", &[("name", "a")], json!({}));
        let mut web = document("Web", &[("name", "w")], json!({"team": null}));
        let team = web.spec_mut().get_mut("team").expect("it is there");
        team.want = Want::Ref(Box::new(reference("Team/a")));
        let documents = [document("Team", &[("name", "a")], json!({})), web];
        let references = vec![("Team/a .id".into(), then)];
        let pledges = vec![
            pledge(Action::None, Vec::new()),
            Pledge { references, ..pledge(Action::Create, Vec::new()) },
        ];
        let report = model.apply_saved(&documents, pledges, Options::default());
        let result = &report.objects[1].result;
        assert_eq!(result.explanation().map_or(result.word(), |why| &why.message), said);
        assert_eq!(model.get("Web", "w").is_some(), said == "done");
    }
}

#[test]
fn what_the_plan_refuses_is_not_done() {
    let (mut model, documents) = team(json!({"size": 2}));
    let refused = Some(Explanation::new("it was skipped"));
    let report = held(
        &mut model,
        &documents,
        Pledge { refused, ..pledge(Action::Update, vec![change("size", json!(1), json!(2))]) },
    );
    assert_eq!(told(&report), "update refused it was skipped");
    assert_eq!(model.writes(), [""; 0]);
}

/// What is not shown was sent by a creation that is seen to be done; of an update it cannot be known.
#[test]
fn a_rotation_is_done_again_and_a_creation_is_not() {
    let options = || Options { rotate: ["Team/a".to_owned()].into(), ..Options::default() };
    for (action, said, writes) in
        [(Action::Create, "create already-applied", 0), (Action::Update, "update done", 1)]
    {
        let (mut model, documents) = team(json!({"size": 1, "owner": "x"}));
        for run in 1..=2 {
            let report = model.apply_saved(&documents, vec![pledge(action, Vec::new())], options());
            assert_eq!(told(&report), said, "{run}");
            assert_eq!(model.writes().len(), run * writes, "{:?}", model.log);
        }
    }
}

/// A run made the parent and was ended; the server has made what comes with it, as it pleases. That is nobody's work,
/// and the rest of the plan. What could have been made by somebody is not.
#[test]
fn what_came_with_its_parent_before_the_end_of_a_run_is_gone_on_with() {
    let mut settings = kind("Settings", false, Some("Zone"));
    settings.parts.retain(|part| &*part.name == "in");
    (settings.list, settings.create, settings.delete) = (None, None, None);
    let documents = |child: &str, key: &[(&str, &str)]| {
        [document("Zone", &[("name", "z")], json!({"size": 1})), document(child, key, json!({"ttl": 5}))]
    };
    let singleton: &[(&str, &str)] = &[("in", "z")];
    let record: &[(&str, &str)] = &[("in", "z"), ("name", "r")];
    for (child, key, zone, said) in [
        ("Settings", singleton, Action::Create, "update done"),
        ("Settings", singleton, Action::Replace, "update done"),
        // The plan did not make the parent.
        (
            "Settings",
            singleton,
            Action::None,
            "update refused it has come into being since the plan was made",
        ),
        ("Record", record, Action::Create, "update refused it has come into being since the plan was made"),
    ] {
        let kinds = vec![kind("Zone", false, None), settings.clone(), kind("Record", false, Some("Zone"))];
        let mut model = Model::new(kinds);
        model.put("Zone", &[("name", "z")], json!({"size": 1}));
        model.put(child, key, json!({"ttl": 60, "more": true}));
        let plan = vec![pledge(zone, vec![]), pledge(Action::Create, vec![])];
        let mut report = model.apply_saved(&documents(child, key), plan, Options::default());
        report.objects.remove(0);
        assert_eq!(told(&report), said, "{child} {zone:?}");
        assert_eq!(model.writes().len(), usize::from(said == "update done"), "{child} {zone:?}");
    }
}
