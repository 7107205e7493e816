//! What a run tells of each object for explaining it, and how far it is.

use std::time::Duration;

use serde_json::{Value, json};

use super::model::{Model, document, kind, reference};
use crate::core::document::Document;
use crate::core::engine::{Effect, Engine, Event, Mode, Options};
use crate::core::node::{Node, Pos, Secret, Want};
use crate::core::path::Path;

/// Runs a plan to its end, and keeps the engine.
fn planned(model: &mut Model, documents: &[Document]) -> Engine {
    let options = Options { keep: true, ..Options::default() };
    let mut engine = model.engine(documents, Mode::Plan, options, None);
    assert_eq!(engine.progress(), (0, documents.len()));
    let mut effects = engine.step(Duration::ZERO, Event::Start);
    while let Some(effect) = effects.pop() {
        if let Effect::Ask(id, ask) = effect {
            let answer = model.ask(&ask);
            effects.extend(engine.step(Duration::ZERO, Event::Answered(id, answer)));
        }
    }
    assert!(engine.is_done());
    engine
}

/// A document whose `team` is the id of a team.
fn member(team: &str) -> Document {
    let mut member = document("Member", &[("name", "m")], json!({"size": 1}));
    let Want::Map(map) = &mut member.spec_mut().want else { panic!("a map") };
    map.insert("team", Node::new(Pos { line: 4, column: 1 }, Want::Ref(Box::new(reference(team)))));
    member
}

fn model() -> Model {
    Model::new(vec![kind("Team", true, None), kind("Member", false, None)])
}

#[test]
fn a_specimen_has_what_was_wanted_and_what_was_seen() {
    let mut model = model();
    model.put("Team", &[("name", "a")], json!({"size": 1}));
    let documents = [document("Team", &[("name", "a")], json!({"size": 1})), member("Team/a")];
    let engine = planned(&mut model, &documents);
    assert_eq!(engine.progress(), (2, 2));
    let specimens = engine.specimens();
    assert_eq!(specimens[0].observed.as_ref().map(|item| item.value["size"].clone()), Some(json!(1)));
    assert!(specimens[1].observed.is_none(), "it is not there");
    let spec = specimens[1].spec.to_value().expect("what it refers to is known");
    assert_eq!(spec, json!({"size": 1, "team": 1}));
    let references: Vec<(&str, &Value)> =
        specimens[1].references.iter().map(|(text, value)| (&**text, value)).collect();
    assert_eq!(references, [("Team/a .id", &json!(1))]);
}

#[test]
fn a_reference_to_what_changes_or_comes_is_not_told() {
    for before in [None, Some(json!({"size": 9}))] {
        let mut model = model();
        if let Some(value) = before {
            model.put("Team", &[("name", "a")], value);
        }
        let documents = [document("Team", &[("name", "a")], json!({"size": 1})), member("Team/a")];
        assert!(planned(&mut model, &documents).specimens()[1].references.is_empty());
    }
}

#[test]
fn secrets_of_a_specimen_are_named_to_be_hidden() {
    let mut hiding = kind("Team", false, None);
    hiding.fields.at_mut(&Path::parse("token").expect("a path")).secret = true;
    let mut model = Model::new(vec![hiding]);
    model.put("Team", &[("name", "a")], json!({"token": "canary-of-the-server", "note": "x"}));
    let mut team = document("Team", &[("name", "a")], json!({"note": "y"}));
    let Want::Map(map) = &mut team.spec_mut().want else { panic!("a map") };
    let secret = Secret::new("env:PASSWORD", Some("canary-of-ours".into()));
    map.insert("password", Node::new(Pos::default(), Want::Secret(secret)));
    let specimens = planned(&mut model, &[team]).specimens();
    assert!(specimens[0].secrets.contains(&"canary-of-the-server".to_owned()), "{:?}", specimens[0].secrets);
}

#[test]
fn a_secret_that_stands_elsewhere_too_is_hidden_there() {
    let mut hiding = kind("Team", false, None);
    hiding.fields.at_mut(&Path::parse("token").expect("a path")).secret = true;
    let mut model = Model::new(vec![hiding]);
    model.put("Team", &[("name", "a")], json!({"token": "canary-4711", "copy": "it is canary-4711"}));
    let report = model.plan(&[document("Team", &[("name", "a")], json!({"copy": "z"}))]);
    let shown = format!("{:?}", report.objects[0]);
    assert!(!shown.contains("canary-4711"), "{shown}");
    assert_eq!(report.objects[0].changes.len(), 1);
}

#[test]
fn a_secret_that_is_not_set_is_not_compared_and_that_is_said() {
    let mut model = Model::new(vec![kind("Team", false, None)]);
    model.put("Team", &[("name", "a")], json!({"size": 1, "token": "x"}));
    let mut team = document("Team", &[("name", "a")], json!({"size": 1}));
    let Want::Map(map) = &mut team.spec_mut().want else { panic!("a map") };
    map.insert("token", Node::new(Pos::default(), Want::Secret(Secret::new("env:TOKEN", None))));
    let report = model.plan(&[team]);
    assert_eq!(report.objects[0].result.word(), "in-sync");
    let told: Vec<&str> = report.objects[0].findings.iter().map(|finding| &*finding.message).collect();
    assert_eq!(told, ["`token` was not compared: the secret `env:TOKEN` is not set"]);
}
