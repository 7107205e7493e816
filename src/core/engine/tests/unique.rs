//! Values that only one object of a kind may have: what frees one goes before what takes it, and what keeps one is named.

use serde_json::{Value, json};

use super::make::{key_of, kind_name, reference};
use super::model::{Fault, Model, document, kind};
use crate::core::document::{Document, Ensure};
use crate::core::engine::Options;
use crate::core::exchange::FailureClass;
use crate::core::identity::ObjectId;
use crate::core::kind::Kind;
use crate::core::node::{Origin, Pos};
use crate::core::path::Path;
use crate::core::prune::{Proof, Pruned, Rank};
use crate::core::report::{Outcome, Report};
use crate::core::unique::Held;

fn team_kind() -> Kind {
    Kind { unique: vec![Path::parse("code").expect("a path")], ..kind("Team", false, None) }
}

/// Teams on the server, each with its code.
fn server(teams: &[(&str, &str)]) -> Model {
    let mut model = Model::new(vec![team_kind(), kind("Repo", false, None)]);
    for (name, code) in teams {
        model.put("Team", &[("name", name)], json!({"code": code}));
    }
    model
}

fn team(name: &str, spec: Value) -> Document {
    document("Team", &[("name", name)], spec)
}

fn gone(name: &str) -> Document {
    let mut gone = team(name, json!({}));
    gone.policy.ensure = Ensure::Absent;
    gone
}

/// A team in no document that a Set has too much, as a sweep has seen it.
fn pruned(name: &str, code: &str, server_id: &str) -> Document {
    let id = ObjectId { kind: kind_name("Team"), key: key_of(&[("name", name)]) };
    let pruned = Pruned {
        set: "ours".into(),
        owner: None,
        proof: Proof::Exclusive,
        server_id: Some(server_id.into()),
        rank: Rank::default(),
        unique: Held::by(&id, &team_kind(), &json!({"code": code})),
    };
    let origin = Origin { file: "set.yaml".into(), at: Pos { line: 3, column: 5 } };
    pruned.wish(id, origin, Default::default())
}

fn told(report: &Report) -> Vec<String> {
    let line = |entry: &crate::core::report::Entry| {
        let why = entry.result.explanation().map(|why| format!(": {}", why.message)).unwrap_or_default();
        let found: Vec<String> = entry
            .findings
            .iter()
            .filter(|finding| finding.code == "FreedFirst")
            .map(|finding| format!(" ({})", finding.message))
            .collect();
        format!("{} {}{why}{}", entry.id.slashed(), entry.result.word(), found.concat())
    };
    report.objects.iter().map(line).collect()
}

#[test]
fn a_deletion_goes_before_the_creation_that_takes_its_value() {
    for order in [[0, 1], [1, 0]] {
        let both = [team("new", json!({"code": "42"})), gone("old")];
        let documents = order.map(|at| both[at].clone());
        let mut model = server(&[("old", "42")]);
        let planned = told(&model.plan(&documents));
        let new = "Team/new planned (`Team old`, which has the same `code`, is deleted first)".to_owned();
        assert!(planned.contains(&new), "{planned:?}");
        assert!(planned.contains(&"Team/old planned".to_owned()), "{planned:?}");
        let done = told(&model.apply(&documents));
        assert!(done.contains(&new.replace("planned", "done")), "{done:?}");
        assert_eq!(model.writes(), ["delete Team old", "create Team new"]);
        assert_eq!(
            told(&model.apply(&documents)),
            order.map(|at| format!("Team/{} in-sync", ["new", "old"][at]))
        );
    }
}

#[test]
fn another_value_waits_for_nobody() {
    let mut model = server(&[("old", "42")]);
    let mut documents = [team("new", json!({"code": "43"})), gone("old")];
    documents[1].policy.protected = true;
    let done = told(&model.apply(&documents));
    assert_eq!(done[0], "Team/new done");
    assert_eq!(model.writes(), ["create Team new"]);
}

#[test]
fn what_is_pruned_goes_last_and_before_what_takes_its_value() {
    let mut repo = document("Repo", &[("name", "r")], json!({}));
    repo.policy.depends_on = vec![(reference("Team/new"), Pos::default())];
    let other = document("Repo", &[("name", "other")], json!({}));
    let documents = [
        team("new", json!({"code": "42"})),
        repo,
        other,
        pruned("old", "42", "1"),
        pruned("older", "41", "2"),
    ];
    let mut model = server(&[("old", "42"), ("older", "41")]);
    let planned = told(&model.plan(&documents));
    assert_eq!(planned[0], "Team/new planned (`Team old`, which has the same `code`, is deleted first)");
    assert!(planned[1..].iter().all(|line| line.ends_with(" planned")), "{planned:?}");
    let done = told(&model.apply(&documents));
    assert!(done.iter().all(|line| line.contains(" done")), "{done:?}");
    let writes = model.writes();
    let place =
        |what: &str| writes.iter().position(|write| *write == what).unwrap_or_else(|| panic!("{writes:?}"));
    assert!(place("create Repo other") < place("delete Team old"), "pruning comes last: {writes:?}");
    assert!(place("delete Team old") < place("create Team new"), "{writes:?}");
    assert!(place("create Team new") < place("create Repo r"), "{writes:?}");
}

#[test]
fn what_keeps_the_value_is_named_and_nothing_is_sent() {
    // Protected; failing; in a document that says nothing of the value.
    for (way, want) in [
        ("protected", "Team/new skipped: `Team old` has the same `code`, and was refused"),
        ("failing", "Team/new skipped: `Team old` has the same `code`, and failed"),
        ("kept", "Team/new skipped: `Team old` has the same `code`, and keeps it"),
    ] {
        let mut model = server(&[("old", "42")]);
        let mut old = gone("old");
        match way {
            "protected" => old.policy.protected = true,
            "failing" => {
                model.faults.insert(("delete", 1), Fault::Fails(FailureClass::Status(403)));
            }
            _ => old = team("old", json!({"n": 1})),
        }
        let documents = [team("new", json!({"code": "42"})), old];
        let done = told(&model.apply(&documents));
        assert_eq!(done[0], want, "{done:?}");
        assert!(!model.writes().iter().any(|write| write.starts_with("create")), "{:?}", model.writes());
        if way == "protected" {
            assert_eq!(told(&model.plan(&documents))[0], want);
        }
    }
}

#[test]
fn what_a_sweep_leaves_alone_is_named_and_nothing_is_sent() {
    let id = pruned("old", "42", "1").id;
    let taken = Held::by(&id, &team_kind(), &json!({"code": "42"}));
    let taken = taken.into_iter().map(|held| (held, id.clone())).collect();
    let mut model = server(&[("old", "42")]);
    let documents = [team("new", json!({"code": "42"})), team("other", json!({"code": "43"}))];
    let options = Options { taken, ..Options::default() };
    let report = model.apply_with(&documents, options, None);
    let want = "Team/new skipped: `Team old`, which no document names, has the same `code`, and stays";
    assert_eq!(told(&report), [want, "Team/other done"]);
    assert_eq!(model.writes(), ["create Team other"]);
}

#[test]
fn an_update_waits_for_the_update_that_gives_the_value_up() {
    let mut model = server(&[("a", "1"), ("b", "2"), ("c", "3")]);
    let documents =
        [team("a", json!({"code": "2"})), team("b", json!({"code": "3"})), team("c", json!({"code": "4"}))];
    let planned = told(&model.plan(&documents));
    assert_eq!(planned[0], "Team/a planned (`Team b`, which has the same `code`, gives it up first)");
    let done = told(&model.apply(&documents));
    assert!(done.iter().all(|line| line.contains(" done")), "{done:?}");
    assert_eq!(model.writes(), ["update Team c", "update Team b", "update Team a"]);
}

#[test]
fn two_that_exchange_their_values_are_refused() {
    let mut model = server(&[("a", "1"), ("b", "2")]);
    let documents = [team("a", json!({"code": "2"})), team("b", json!({"code": "1"}))];
    for report in [model.plan(&documents), model.apply(&documents)] {
        let mut told = told(&report);
        told.sort();
        assert_eq!(told.iter().filter(|line| line.contains("refused: `Team ")).count(), 1, "{told:?}");
        assert_eq!(told.iter().filter(|line| line.contains("skipped: `Team ")).count(), 1, "{told:?}");
    }
    assert_eq!(model.writes(), [""; 0]);
}

/// It is looked at only once the other is there, so nobody knows what it has before.
#[test]
fn what_needs_the_one_that_takes_its_value_is_no_deadlock() {
    let mut b = team("b", json!({"code": "2"}));
    b.policy.depends_on = vec![(reference("Team/a"), Pos::default())];
    let mut model = server(&[("b", "1")]);
    let documents = [team("a", json!({"code": "1"})), b];
    let report = model.apply(&documents);
    assert!(report.objects.iter().all(|entry| entry.result == Outcome::Done), "{report:?}");
    assert_eq!(model.writes(), ["create Team a", "update Team b"]);
}

#[test]
fn a_kind_without_unique_fields_asks_as_ever() {
    let documents = [team("new", json!({"code": "42"})), gone("old")];
    let mut plain = server(&[("old", "42")]);
    plain.kinds.insert(kind("Team", false, None));
    plain.plan(&documents);
    let mut unique = server(&[("old", "42")]);
    unique.plan(&documents);
    assert_eq!(plain.log, unique.log, "and what is unique costs no request of a plan");
}
