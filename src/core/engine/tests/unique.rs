//! Values that only one object of a kind may have: what frees one goes before what takes it, and what keeps one is named.

use std::sync::Arc;

use serde_json::{Value, json};

use super::make::{key_of, kind_name, reference};
use super::model::{Fault, Model, document, kind};
use crate::core::document::{Document, Drift, Ensure, Was};
use crate::core::engine::Options;
use crate::core::exchange::FailureClass;
use crate::core::identity::ObjectId;
use crate::core::kind::Kind;
use crate::core::node::{Node, Origin, Pos, Secret, Want};
use crate::core::path::Path;
use crate::core::prune::{Proof, Pruned, Rank};
use crate::core::report::Report;
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

/// It is looked at in its turn only once the other is there: so it is looked at before.
#[test]
fn what_needs_the_one_that_takes_its_value_is_seen_before_and_named() {
    let mut b = team("b", json!({"code": "2"}));
    b.policy.depends_on = vec![(reference("Team/a"), Pos::default())];
    let mut model = server(&[("b", "1")]);
    let documents = [team("a", json!({"code": "1"})), b.clone()];
    let want = [
        "Team/a refused: `Team b` has the same `code`, and waits for this one in turn",
        "Team/b skipped: it needs `Team a`, which was refused",
    ];
    assert_eq!(told(&model.plan(&documents)), want);
    assert_eq!(told(&model.apply(&documents)), want);
    assert_eq!(model.writes(), [""; 0]);
    // Where it has another value, it is written in its turn.
    let mut model = server(&[("b", "3")]);
    assert_eq!(told(&model.apply(&documents)), ["Team/a done", "Team/b done"]);
    assert_eq!(model.writes(), ["create Team a", "update Team b"]);
}

/// A deletion that needs the creation is seen at the same time, and goes first all the same.
#[test]
fn what_is_to_go_and_needs_the_one_that_takes_its_value_goes_first() {
    let mut old = gone("old");
    old.policy.depends_on = vec![(reference("Team/new"), Pos::default())];
    let mut model = server(&[("old", "42")]);
    model.apply(&[team("new", json!({"code": "42"})), old]);
    assert_eq!(model.writes(), ["delete Team old", "create Team new"]);
}

/// A secret of this name that is not there.
fn without_secret(name: &str) -> Document {
    let mut team = team(name, json!({"code": "42"}));
    let Want::Map(map) = &mut Arc::make_mut(&mut team.spec).want else { unreachable!() };
    let secret = Node::new(Pos::default(), Want::Secret(Secret::new("env:NOPE", None)));
    map.insert("token", secret);
    team
}

#[test]
fn what_is_to_go_stays_where_what_takes_its_value_is_known_to_fail() {
    let new = team("new", json!({"code": "42"}));
    let mut paused = new.clone();
    paused.policy.paused = true;
    let mut reported = new.clone();
    reported.policy.drift = Drift::Report;
    let mut exists = new.clone();
    exists.policy.ensure = Ensure::Exists;
    let mut needy = new.clone();
    needy.policy.depends_on = vec![(reference("Repo/r"), Pos::default())];
    let repo = document("Repo", &[("name", "r")], json!({}));
    let ways = [
        (vec![paused], "was refused", true),
        (vec![reported], "was refused", true),
        (vec![exists], "failed", true),
        (vec![without_secret("new")], "was refused", false),
        (vec![needy, repo], "was skipped", false),
    ];
    for (documents, what, planned) in ways {
        for old in [gone("old"), pruned("old", "42", "1")] {
            let documents: Vec<Document> = documents.iter().cloned().chain([old]).collect();
            let mut model = server(&[("old", "42")]);
            let want = format!("Team/old skipped: it stays: `Team new`, which is to have its `code`, {what}");
            let plan = told(&model.plan(&documents));
            assert_eq!(plan.contains(&want), planned, "{plan:?}");
            model.faults.insert(("create", 1), Fault::Fails(FailureClass::Status(422)));
            let done = told(&model.apply(&documents));
            assert!(done.contains(&want), "{done:?}");
            assert!(!model.writes().iter().any(|write| write.starts_with("delete")), "{:?}", model.writes());
        }
    }
}

#[test]
fn what_is_to_go_goes_where_nobody_takes_its_value() {
    let mut new = team("new", json!({"code": "43"}));
    new.policy.paused = true;
    let mut has = team("has", json!({"code": "42"}));
    has.policy.paused = true;
    let mut model = server(&[("old", "42"), ("has", "42")]);
    let done = told(&model.apply(&[new, has, gone("old")]));
    assert_eq!(done[2], "Team/old done", "what another has already, it does not take: {done:?}");
}

/// An object renamed in place is no other one.
#[test]
fn a_rename_is_not_in_its_own_way_and_gives_up_what_it_had() {
    let former = ObjectId { kind: kind_name("Team"), key: key_of(&[("name", "old")]) };
    let was_old = |spec: Value| {
        let mut new = team("new", spec);
        new.policy.was = Some(Was { parts: vec![(None, json!("old"))], at: Pos::default() });
        new
    };
    let mut model = server(&[("old", "42")]);
    let id = former.clone();
    let taken = Held::by(&id, &team_kind(), &json!({"code": "42"}));
    let taken = taken.into_iter().map(|held| (held, id.clone())).collect();
    let options = Options { taken, ..Options::default() };
    let report = model.apply_with(&[was_old(json!({"code": "42"}))], options, None);
    assert_eq!(told(&report), ["Team/new done"]);
    let mut model = server(&[("old", "42"), ("other", "41")]);
    let documents = [team("other", json!({"code": "42"})), was_old(json!({"code": "43"}))];
    let want =
        ["Team/other done (`Team new`, which has the same `code`, gives it up first)", "Team/new done"];
    assert_eq!(told(&model.plan(&documents)), want.map(|line| line.replace("done", "planned")));
    assert_eq!(told(&model.apply(&documents)), want);
    let documents = [team("other", json!({"code": "42"})), was_old(json!({"code": "41"}))];
    let mut model = server(&[("old", "42"), ("other", "41")]);
    let done = told(&model.apply(&documents));
    assert_eq!(done.iter().filter(|line| line.contains("refused: `Team ")).count(), 1, "{done:?}");
    assert_eq!(model.writes(), [""; 0]);
}

#[test]
fn what_is_only_reported_is_not_given_up() {
    let mut old = team("old", json!({"code": "43", "n": 3}));
    old.policy.report = vec![Path::parse("code").expect("a path")];
    for order in [[0, 1], [1, 0]] {
        let both = [team("new", json!({"code": "42"})), old.clone()];
        let documents = order.map(|at| both[at].clone());
        let mut model = server(&[("old", "42")]);
        let want = "Team/new skipped: `Team old` has the same `code`, and keeps it".to_owned();
        let planned = told(&model.plan(&documents));
        assert!(planned.contains(&want), "{planned:?}");
        assert!(told(&model.apply(&documents)).contains(&want));
    }
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
