//! Runs over a part of the documents, as `watch` makes them: they decide what a run over all would.

use serde_json::json;

use super::model::{Model, document, kind, reference};
use crate::core::document::{Document, Ensure};
use crate::core::engine::{Engine, Mode, Options};
use crate::core::graph::Graph;
use crate::core::graph::part::{Part, Parts};
use crate::core::node::{Node, Pos, Want};
use crate::core::report::{Entry, Report};
use crate::core::value::Value;
use crate::core::watch::{Seen, Verdict};

fn zone(name: &str) -> Document {
    document("Zone", &[("name", name)], json!({"size": 1}))
}

fn record(zone: &str, name: &str, ttl: u32) -> Document {
    document("Record", &[("in", zone), ("name", name)], json!({"ttl": ttl}))
}

/// A member that refers to a team.
fn member(name: &str, team: &str) -> Document {
    let mut member = document("Member", &[("name", name)], json!({"note": "n"}));
    let Want::Map(map) = &mut member.spec_mut().want else { panic!("a map") };
    map.insert("team", Node::new(Pos { line: 4, column: 1 }, Want::Ref(Box::new(reference(team)))));
    member
}

fn documents() -> Vec<Document> {
    let mut after = document("Team", &[("name", "later")], json!({"size": 1}));
    after.policy.depends_on = vec![(reference("Member/m"), Pos::default())];
    vec![
        member("m", "Team/a"),
        record("y", "r", 1),
        zone("z"),
        record("z", "r", 1),
        record("z", "s", 1),
        document("Team", &[("name", "a")], json!({"size": 1})),
        after,
        document("Team", &[("name", "alone")], json!({"size": 1})),
    ]
}

/// A server on which all of it is in sync.
fn model() -> Model {
    let kinds = ["Team", "Zone", "Member"].map(|name| kind(name, false, None));
    let mut model = Model::new(kinds.into_iter().chain([kind("Record", false, Some("Zone"))]).collect());
    model.put("Zone", &[("name", "y")], json!({"size": 1}));
    let report = model.apply(&documents());
    assert!(report.objects.iter().all(|entry| entry.result.word() == "done"), "{report:?}");
    model.log.clear();
    model
}

impl Model {
    fn part(&self, documents: &[Document], due: &[usize]) -> Part {
        let graph = Graph::build(documents, &self.kinds).expect("the documents fit together");
        Parts::new(documents, &graph).part(documents, &graph, due.iter().copied())
    }

    fn run_part(&mut self, documents: &[Document], due: &[usize], mode: Mode) -> Report {
        let Part { documents, graph, due } = self.part(documents, due);
        let options = Options { writes: 8, attempts: Some(1), ..Options::default() };
        let selected = |document: &Document| due.contains(&document.id);
        self.run(Engine::new(documents, graph, &self.kinds, mode, options, &selected, None))
    }
}

/// What was decided of an object.
fn decided(entry: &Entry) -> Value {
    let paths: Vec<String> = entry.changes.iter().map(|change| format!("{change:?}")).collect();
    json!([entry.id.to_string(), entry.action.word(), entry.result.word(), paths])
}

#[test]
fn a_run_over_a_part_decides_what_a_run_over_all_does() {
    let documents = documents();
    let mut model = model();
    // Others change a field of each object, and take one away.
    for ((kind, _), slot) in &mut model.objects {
        slot[0].value[if **kind == *"Record" { "ttl" } else { "size" }] = json!(9);
    }
    model.objects.remove(&("Record".into(), "z/s".into()));
    model.objects.remove(&("Team".into(), "alone".into()));
    let all = model.plan(&documents);
    assert_eq!(all.objects.iter().filter(|entry| entry.action.word() == "create").count(), 2);
    for first in 0..documents.len() {
        for second in first..documents.len() {
            let part = model.run_part(&documents, &[second, first], Mode::Plan);
            let want: Vec<Value> = [first, second].iter().map(|at| decided(&all.objects[*at])).collect();
            let found: Vec<Value> = part.objects.iter().map(decided).collect();
            let want = if first == second { &want[..1] } else { &want };
            assert_eq!(found, want, "{first} and {second}");
        }
    }
}

#[test]
fn parts_one_after_the_other_come_to_what_one_run_over_all_comes_to() {
    let documents = documents();
    let mut model = model();
    for slot in model.objects.values_mut() {
        slot[0].value["ttl"] = json!(9);
    }
    for at in (0..documents.len()).rev() {
        let report = model.run_part(&documents, &[at], Mode::Apply);
        assert_eq!(report.objects.len(), 1, "what it needs is looked at, and not reported");
    }
    let writes = model.writes().len();
    assert!(writes >= 3, "{:?}", model.log);
    let report = model.apply(&documents);
    assert_eq!(model.writes().len(), writes, "{report:?}");
}

#[test]
fn what_is_due_comes_first_and_then_what_it_needs() {
    let documents = documents();
    let part = model().part(&documents, &[6, 1]);
    let names: Vec<String> = part.documents.iter().map(|document| document.id.to_string()).collect();
    assert_eq!(names, ["Record y/r", "Team later", "Member m", "Team a"]);
    let nodes: Vec<String> = part.graph.nodes.iter().map(|node| node.id.to_string()).collect();
    assert_eq!(nodes[..4], names);
    assert_eq!(nodes[4], "Zone y", "a parent without a document stands behind them");
    assert_eq!(part.graph.nodes[0].parents, [("in".into(), 4)]);
    assert_eq!(part.graph.nodes[1].after, [2]);
    assert_eq!(part.graph.nodes[2].references.values().copied().collect::<Vec<_>>(), [3]);
    assert_eq!(part.due.len(), 2);
}

#[test]
fn a_part_of_many_is_small() {
    let kinds = vec![kind("Zone", false, None), kind("Record", false, Some("Zone"))];
    let model = Model::new(kinds);
    let mut documents: Vec<Document> = (0..50).map(|at| zone(&format!("z{at}"))).collect();
    documents.extend((0..5000).map(|at| record(&format!("z{}", at % 50), &format!("r{at}"), 1)));
    let part = model.part(&documents, &[4000, 9_999_999]);
    assert_eq!((part.documents.len(), part.graph.nodes.len(), part.due.len()), (2, 2, 1));
}

#[test]
fn what_is_to_go_goes_with_all_that_needs_it_and_in_order() {
    let mut documents = documents();
    for at in [2, 3] {
        documents[at].policy.ensure = Ensure::Absent;
    }
    documents[4].policy.ensure = Ensure::Absent;
    let mut model = model();
    let report = model.run_part(&documents, &[2], Mode::Apply);
    assert_eq!(report.objects.len(), 3);
    assert_eq!(model.writes().last(), Some(&"delete Zone z"), "{:?}", model.log);
    assert_eq!(model.writes().len(), 3);
}

#[test]
fn a_protected_child_outside_of_the_part_protects_its_parent() {
    let mut documents = documents();
    documents[2].policy.replace = true;
    documents[4].policy.protected = true;
    let mut model = model();
    let mut zone = kind("Zone", false, None);
    zone.update = None;
    model.kinds.insert(zone);
    model.objects.get_mut(&("Zone".into(), "z".into())).expect("it is there")[0].value["size"] = json!(9);
    let report = model.run_part(&documents, &[2], Mode::Apply);
    assert_eq!(report.objects[0].result.word(), "refused", "{:?}", report.objects[0]);
    assert!(model.writes().is_empty(), "{:?}", model.log);
}

#[test]
fn a_child_waits_for_a_parent_that_is_not_in_the_part() {
    let documents = documents();
    let mut model = model();
    model.objects.retain(|(_, name), _| name != "z" && !name.starts_with("z/"));
    let report = model.run_part(&documents, &[3], Mode::Apply);
    assert!(matches!(Seen::of(&report.objects[0]).verdict, Verdict::Blocked(_)), "{:?}", report.objects[0]);
    model.run_part(&documents, &[2], Mode::Apply);
    let report = model.run_part(&documents, &[3], Mode::Apply);
    assert_eq!(Seen::of(&report.objects[0]).verdict, Verdict::InSync);
}
