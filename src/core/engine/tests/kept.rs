//! What keeps a parent from going, and what goes along with it: by whatever way it is to go, and whatever is selected.

use std::sync::Arc;

use serde_json::json;

use super::make::{kind_name, reference};
use super::model::{Fault, Model, document, kind};
use crate::core::document::{Document, Drift, Ensure};
use crate::core::engine::{Engine, Mode, Options};
use crate::core::filter::Filter;
use crate::core::graph::Graph;
use crate::core::kind::{Kind, Parent, Part};
use crate::core::node::Pos;
use crate::core::prune::{Proof, Pruned, Rank};
use crate::core::report::{Entry, Outcome, Report};

/// How the zone is to go.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Delete,
    Replace,
}

const WAYS: [Way; 2] = [Way::Delete, Way::Replace];

fn zone_and_record() -> (Kind, Kind) {
    let (mut zone, record) = (kind("Zone", false, None), kind("Record", false, Some("Zone")));
    zone.update = None;
    (zone, record)
}

/// A server with the zone `z` and its record `r`, and another type of the zone in its document.
fn scene_of(kinds: Vec<Kind>) -> (Model, Vec<Document>) {
    let mut model = Model::new(kinds);
    model.cascades = true;
    model.put("Zone", &[("name", "z")], json!({"type": "old"}));
    model.put("Record", &[("in", "z"), ("name", "r")], json!({"ttl": 5}));
    let zone = document("Zone", &[("name", "z")], json!({"type": "new"}));
    (model, vec![zone, document("Record", &[("in", "z"), ("name", "r")], json!({"ttl": 5}))])
}

fn scene() -> (Model, Vec<Document>) {
    let (zone, record) = zone_and_record();
    scene_of(vec![zone, record])
}

struct Run<'r> {
    way: Way,
    mode: Mode,
    agreed: Option<&'r Report>,
    unattended: bool,
    takes: &'r dyn Fn(&Document) -> bool,
}

fn all(_: &Document) -> bool {
    true
}

fn only_zones(document: &Document) -> bool {
    *document.id.kind.kind == *"Zone"
}

const PLAN: Run<'static> =
    Run { way: Way::Delete, mode: Mode::Plan, agreed: None, unattended: false, takes: &all };

fn run(model: &mut Model, documents: &[Document], run: &Run) -> Report {
    let graph = Graph::build(documents, &model.kinds).expect("the documents fit together");
    let mut documents = documents.to_vec();
    if run.way == Way::Delete {
        let managed = documents.iter_mut().filter(|document| document.policy.ensure != Ensure::Exists);
        managed.for_each(|document| document.policy.ensure = Ensure::Absent);
    }
    let replace = ["Zone/z".to_owned()].into();
    let options = Options { replace, writes: 8, unattended: run.unattended, ..Options::default() };
    let engine = Engine::new(documents, graph, &model.kinds, run.mode, options, run.takes, run.agreed);
    model.run(engine)
}

/// The plan, and what came of it when it was applied.
fn through(
    model: &mut Model,
    documents: &[Document],
    way: Way,
    takes: &dyn Fn(&Document) -> bool,
) -> (Report, Report) {
    let plan = run(model, documents, &Run { way, takes, ..PLAN });
    assert_eq!(model.writes(), [""; 0]);
    let agreed = Some(&plan);
    let report = run(model, documents, &Run { way, takes, mode: Mode::Apply, agreed, ..PLAN });
    (plan, report)
}

fn told(entry: &Entry) -> String {
    let why = entry.result.explanation().map_or("", |why| &why.message);
    format!("{} {}: {why}", entry.action.word(), entry.result.word())
}

type Change = fn(&mut Document);

/// Which documents are selected.
type Takes<'t> = &'t dyn Fn(&Document) -> bool;

#[test]
fn a_child_that_is_tied_to_its_place_keeps_its_parent_whatever_is_selected() {
    let ties: [(&str, Change); 5] = [
        ("", |_| {}),
        ("is protected by `trueup/prune: \"false\"`", |record| record.policy.protected = true),
        ("is paused by the annotation `trueup/paused`", |record| record.policy.paused = true),
        ("must be there, by `trueup/ensure: exists`", |record| record.policy.ensure = Ensure::Exists),
        ("would not be created again, by `trueup/drift: report`", |record| {
            record.policy.drift = Drift::Report
        }),
    ];
    let selections: [(&str, Takes); 2] = [("all", &all), ("--only Zone/z", &only_zones)];
    for way in WAYS {
        for (tie, change) in ties {
            for (name, takes) in selections {
                let case = format!("{way:?} {name} {tie}");
                let (mut model, mut documents) = scene();
                change(&mut documents[1]);
                let (plan, report) = through(&mut model, &documents, way, takes);
                let (plan, done) = (told(&plan.objects[0]), told(&report.objects[0]));
                if tie.is_empty() && name == "all" {
                    assert!(
                        plan.ends_with("planned: ") && done.ends_with("done: "),
                        "{case}: {plan}, {done}"
                    );
                    assert_eq!(model.get("Record", "z/r").is_some(), way == Way::Replace, "{case}");
                    continue;
                }
                assert_eq!(plan, done, "{case}: the plan says what is done");
                assert_eq!(model.writes(), [""; 0], "{case}");
                let why = match (tie, way) {
                    ("", _) => "refused: `Record z/r` would go with it, and is not selected".to_owned(),
                    // Its own deletion is refused, and so it is still there; it is as it was where it is not selected.
                    (tie, Way::Delete) if tie.contains("drift") && name == "all" => {
                        "skipped: `Record z/r`, which needs it, is still there".to_owned()
                    }
                    (tie, Way::Delete) if tie.contains("drift") => {
                        "refused: `Record z/r` would go with it, and is not selected".to_owned()
                    }
                    (tie, _) => format!("refused: `Record z/r` would go with it, and {tie}"),
                };
                assert!(plan.ends_with(&why), "{case}: {plan}");
                // Nor does a run that nobody planned.
                run(&mut model, &documents, &Run { way, takes, mode: Mode::Apply, ..PLAN });
                assert_eq!(model.writes(), [""; 0], "{case}");
            }
        }
    }
}

#[test]
fn a_child_that_could_not_be_made_again_keeps_its_parent_from_being_replaced() {
    let (zone, mut record) = zone_and_record();
    record.create = None;
    let (mut model, documents) = scene_of(vec![zone, record]);
    let (plan, _) = through(&mut model, &documents, Way::Replace, &all);
    let why =
        "replace refused: `Record z/r` would go with it, and the API has no way to create a Record again";
    assert_eq!(told(&plan.objects[0]), why);
    assert_eq!(model.writes(), [""; 0]);

    let (mut model, mut documents) = scene();
    documents[1].policy.pinned_id = Some("2".into());
    let (plan, _) = through(&mut model, &documents, Way::Replace, &all);
    let why = "replace refused: `Record z/r` would go with it, and is pinned to the id `2`, which a new one would not have";
    assert_eq!(told(&plan.objects[0]), why);
    assert_eq!(model.writes(), [""; 0]);
}

#[test]
fn a_child_that_is_not_selected_and_not_there_keeps_nobody() {
    for way in WAYS {
        let (mut model, documents) = scene();
        model.objects.retain(|(kind, _), _| **kind != *"Record");
        let (_, report) = through(&mut model, &documents, way, &only_zones);
        assert_eq!(report.objects[0].result, Outcome::Done, "{way:?}: {report:?}");
    }
}

#[test]
fn what_no_document_names_is_named_before_it_goes() {
    for way in WAYS {
        let (mut model, documents) = scene();
        for name in ["x", "y"] {
            model.put("Record", &[("in", "z"), ("name", name)], json!({"ttl": 1}));
        }
        model.put("Zone", &[("name", "other")], json!({}));
        model.put("Record", &[("in", "other"), ("name", "far")], json!({}));
        let (plan, report) = through(&mut model, &documents, way, &all);
        let [finding] = &plan.objects[0].findings[..] else { panic!("{way:?}: {plan:?}") };
        let message =
            "2 objects go with it that no document names, with all below: `Record z/x`, `Record z/y`";
        assert_eq!((finding.code, &*finding.message), ("TakesAlong", message), "{way:?}");
        assert_eq!(plan.objects[0].observed.along.len(), 2);
        assert_eq!(report.objects[0].result, Outcome::Done, "{way:?}: {report:?}");
        assert!(model.get("Record", "z/x").is_none() && model.get("Record", "other/far").is_some());
    }
}

#[test]
fn what_came_since_the_plan_keeps_its_parent() {
    for way in WAYS {
        let (mut model, documents) = scene();
        model.put("Record", &[("in", "z"), ("name", "x")], json!({"ttl": 1}));
        let plan = run(&mut model, &documents, &Run { way, ..PLAN });
        model.put("Record", &[("in", "z"), ("name", "y")], json!({"ttl": 1}));
        let agreed = Some(&plan);
        let report = run(&mut model, &documents, &Run { way, mode: Mode::Apply, agreed, ..PLAN });
        let why = "refused: `Record z/y` would go with it, and was not part of what was confirmed";
        assert!(told(&report.objects[0]).ends_with(why), "{way:?}: {report:?}");
        assert!(model.get("Zone", "z").is_some() && model.get("Record", "z/x").is_some());
    }
}

#[test]
fn where_nobody_is_asked_what_no_document_names_keeps_its_parent() {
    for way in WAYS {
        let (mut model, documents) = scene();
        model.put("Record", &[("in", "z"), ("name", "x")], json!({"ttl": 1}));
        let alone = Run { way, mode: Mode::Apply, unattended: true, ..PLAN };
        let report = run(&mut model, &documents, &alone);
        let why =
            "refused: `Record z/x`, which no document names, would go with it, and nobody is asked here";
        assert!(told(&report.objects[0]).ends_with(why), "{way:?}: {report:?}");
        assert!(model.get("Zone", "z").is_some() && model.get("Record", "z/x").is_some());
        model.objects.retain(|(_, name), _| name != "z/x");
        let report = run(&mut model, &documents, &alone);
        assert_eq!(report.objects[0].result, Outcome::Done, "{way:?}: {report:?}");
    }
}

#[test]
fn what_the_server_made_for_itself_or_deletes_already_is_nobodys_loss() {
    let (zone, mut record) = zone_and_record();
    record.builtin = Some(Filter::parse(".own == true").expect("a filter"));
    let (mut model, documents) = scene_of(vec![zone, record]);
    model.put("Record", &[("in", "z"), ("name", "soa")], json!({"own": true}));
    model.put("Record", &[("in", "z"), ("name", "old")], json!({"going": true}));
    let (plan, report) = through(&mut model, &documents, Way::Delete, &all);
    assert_eq!(plan.objects[0].findings, []);
    assert_eq!(report.objects[0].result, Outcome::Done, "{report:?}");
}

#[test]
fn a_listing_that_is_not_whole_keeps_the_parent() {
    for way in WAYS {
        let (mut model, documents) = scene();
        model.faults.insert(("list", 1), Fault::Incomplete);
        let plan = run(&mut model, &documents, &Run { way, ..PLAN });
        let why = "unknown: what is below it, and would go with it, is not known: the listing was cut";
        assert!(told(&plan.objects[0]).ends_with(why), "{way:?}: {plan:?}");
    }
}

#[test]
fn a_listing_that_fails_once_is_asked_again() {
    let (mut model, documents) = scene();
    model.faults.insert(("list", 1), Fault::Fails(crate::core::exchange::FailureClass::Status(503)));
    let plan = run(&mut model, &documents, &Run { way: Way::Replace, ..PLAN });
    assert_eq!(told(&plan.objects[0]), "replace planned: ");
    assert_eq!(model.log.iter().filter(|line| line.starts_with("list Record")).count(), 2, "{:?}", model.log);
}

#[test]
fn a_kind_that_cannot_be_listed_is_told_of() {
    let unlisted = || {
        let (zone, mut record) = zone_and_record();
        record.list = None;
        scene_of(vec![zone, record])
    };
    let untold =
        "whether a Record is below it, and would go with it, cannot be told: its backend declares no `list`";
    for way in WAYS {
        let (mut model, documents) = unlisted();
        let (plan, report) = through(&mut model, &documents, way, &all);
        let [finding] = &plan.objects[0].findings[..] else { panic!("{way:?}: {plan:?}") };
        assert_eq!((finding.code, &*finding.message), ("NotTold", untold));
        assert_eq!(report.objects[0].result, Outcome::Done, "{way:?}: {report:?}");

        let (mut model, documents) = unlisted();
        let (plan, _) = through(&mut model, &documents, way, &only_zones);
        let why = "refused: `Record z/r` would go with it, and is not selected";
        assert!(told(&plan.objects[0]).ends_with(why), "{way:?}: {plan:?}");
        assert_eq!(model.writes(), [""; 0]);

        let alone = Run { way, mode: Mode::Apply, unattended: true, ..PLAN };
        let report = run(&mut model, &documents, &alone);
        assert!(told(&report.objects[0]).ends_with(untold), "{way:?}: {report:?}");
        assert!(model.get("Zone", "z").is_some());
    }
}

/// A document that wishes an object gone that no document names.
fn pruned(kind: &str, key: &[(&str, &str)], proof: Proof, server_id: &str) -> Document {
    let like = document(kind, key, json!({}));
    let server_id = Some(Arc::from(server_id));
    let (rank, unique) = (Rank::default(), Vec::new());
    let pruned = Pruned { set: "s".into(), owner: None, proof, server_id, rank, unique };
    pruned.wish(like.id, like.origin, Default::default())
}

#[test]
fn what_nobody_asked_for_stays_for_what_no_document_names() {
    for proof in [Proof::Exclusive, Proof::Replica(0)] {
        let (mut model, _) = scene();
        let zone = || pruned("Zone", &[("name", "z")], proof.clone(), "1");
        let plan = model.plan(&[zone()]);
        assert_eq!(told(&plan.objects[0]), "none extra: `Record z/r`, which is below it, stays");
        let report = model.apply_with(&[zone()], Options::default(), Some(&plan));
        assert_eq!(told(&report.objects[0]), "none extra: `Record z/r`, which is below it, stays");
        model.apply(&[zone()]);
        assert_eq!(model.writes(), [""; 0]);

        // It goes with a proof of its own.
        let both = [zone(), pruned("Record", &[("in", "z"), ("name", "r")], Proof::Exclusive, "2")];
        let plan = model.plan(&both);
        assert_eq!(told(&plan.objects[0]), "delete planned: ", "{plan:?}");
        model.put("Record", &[("in", "z"), ("name", "x")], json!({}));
        let report = model.apply_with(&both, Options::default(), Some(&plan));
        assert_eq!(told(&report.objects[0]), "delete refused: `Record z/x`, which is below it, stays");
        assert_eq!(model.writes(), ["delete Record z/r"]);
        model.objects.retain(|(_, name), _| name != "z/x");
        model.apply(&both);
        assert_eq!(model.writes(), ["delete Record z/r", "delete Zone z"]);
    }
}

#[test]
fn what_nobody_asked_for_stays_where_nobody_can_tell_what_is_below() {
    let (zone, mut record) = zone_and_record();
    record.list = None;
    let (mut model, _) = scene_of(vec![zone, record]);
    let report = model.apply(&[pruned("Zone", &[("name", "z")], Proof::Exclusive, "1")]);
    let why = "none extra: whether a Record is below it, and would go with it, cannot be told: its backend declares no `list`";
    assert_eq!(told(&report.objects[0]), why);
    assert_eq!(model.writes(), [""; 0]);
}

/// Notes are below records, which are below zones.
fn with_notes() -> (Model, Vec<Document>) {
    let (zone, record) = zone_and_record();
    let mut note = kind("Note", false, Some("Zone"));
    let parent = Parent::Of(kind_name("Record"));
    note.parts.insert(1, Part { name: "record".into(), on_item: None, parent, fold: None });
    let (mut model, documents) = scene_of(vec![zone, record, note]);
    model.put("Note", &[("in", "z"), ("record", "r"), ("name", "n")], json!({}));
    (model, documents)
}

#[test]
fn what_is_further_below_counts_as_well() {
    let note = || document("Note", &[("in", "z"), ("record", "r"), ("name", "n")], json!({}));
    let (mut model, documents) = with_notes();
    let (plan, _) = through(&mut model, &documents, Way::Replace, &all);
    let message = "1 object goes with it that no document names, with all below: `Note z/r/n`";
    assert_eq!(plan.objects[0].findings[0].message, message);

    // A deletion takes it along with the record, which goes first.
    let (mut model, documents) = with_notes();
    let (plan, _) = through(&mut model, &documents, Way::Delete, &all);
    assert_eq!(plan.objects[0].findings, []);
    assert_eq!(plan.objects[1].findings[0].message, message);

    for way in WAYS {
        let (mut model, mut documents) = with_notes();
        documents.push(Document { policy: Default::default(), ..note() });
        documents[2].policy.protected = true;
        let (plan, _) = through(&mut model, &documents, way, &all);
        let why = "refused: `Note z/r/n` would go with it, and is protected by `trueup/prune: \"false\"`";
        assert!(told(&plan.objects[0]).ends_with(why), "{way:?}: {plan:?}");
        assert_eq!(model.writes(), [""; 0], "{way:?}");
    }

    // What stands below something in no document is not made again.
    let (mut model, documents) = with_notes();
    let documents = vec![documents[0].clone(), note()];
    let (plan, _) = through(&mut model, &documents, Way::Replace, &all);
    let why = "replace refused: `Note z/r/n` would go with it, and could not be created again: `Record z/r`, above it, is in no document";
    assert_eq!(told(&plan.objects[0]), why);
    assert_eq!(model.writes(), [""; 0]);
}

#[test]
fn what_is_listed_for_each_of_another_kind_is_looked_for_in_each() {
    let (zone, record) = zone_and_record();
    let mut grant = kind("Grant", false, Some("Zone"));
    let parent = Parent::Of(kind_name("User"));
    grant.parts.insert(1, Part { name: "user".into(), on_item: None, parent, fold: None });
    let (mut model, _) = scene_of(vec![zone, record, grant, kind("User", false, None)]);
    model.put("Zone", &[("name", "y")], json!({}));
    model.put("User", &[("name", "u")], json!({}));
    for (zone, user) in [("z", "u"), ("y", "u"), ("y", "v")] {
        model.put("Grant", &[("in", zone), ("user", user), ("name", "g")], json!({}));
    }
    let plan = run(&mut model, &[document("User", &[("name", "u")], json!({}))], &PLAN);
    let message = "2 objects go with it that no document names, with all below: `Grant y/u/g`, `Grant z/u/g`";
    let mut names: Vec<String> = plan.objects[0].observed.along.iter().map(|id| id.to_string()).collect();
    names.sort();
    assert_eq!(names, ["Grant y/u/g", "Grant z/u/g"]);
    assert_eq!(plan.objects[0].findings[0].message.len(), message.len());
}

#[test]
fn objects_that_go_at_one_time_share_a_listing() {
    let (zone, mut record) = zone_and_record();
    record.parts[0].on_item = Some(Filter::parse(".in").expect("a path"));
    let mut model = Model::new(vec![zone, record]);
    model.cascades = true;
    let mut documents = Vec::new();
    for at in 0..50 {
        let name = format!("z{at}");
        model.put("Zone", &[("name", &name)], json!({}));
        documents.push(document("Zone", &[("name", &name)], json!({})));
    }
    let plan = model.delete(&documents, None);
    let lists = |model: &Model| model.log.iter().filter(|line| line.starts_with("list Record")).count();
    assert_eq!(lists(&model), 1);
    model.delete(&documents, Some(&plan));
    assert_eq!(model.writes().len(), 50);
    assert!(lists(&model) <= 10, "{}", lists(&model));
}

#[test]
fn what_needs_an_object_and_stays_is_no_less_in_its_way_while_it_is_looked_below() {
    let (zone, record) = zone_and_record();
    let (mut model, mut documents) = scene_of(vec![zone, record, kind("Team", false, None)]);
    model.objects.retain(|(kind, _), _| **kind != *"Record");
    model.put("Team", &[("name", "t")], json!({}));
    documents[1] = document("Team", &[("name", "t")], json!({}));
    documents[1].policy.protected = true;
    documents[1].policy.depends_on.push((reference("Zone/z"), Pos::default()));
    let (plan, report) = through(&mut model, &documents, Way::Delete, &all);
    for report in [plan, report] {
        assert_eq!(told(&report.objects[0]), "delete skipped: `Team t`, which needs it, is still there");
    }
    assert_eq!(model.writes(), [""; 0]);
}
