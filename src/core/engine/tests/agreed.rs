//! What was agreed to is one object, as it was: not another one of its name, and nothing that is another's.

use std::sync::Arc;

use serde_json::{Value, json};

use super::model::{Model, document, kind};
use crate::core::document::{Document, OnConflict};
use crate::core::engine::Options;
use crate::core::fields::Immutable;
use crate::core::kind::Kind;
use crate::core::path::Path;
use crate::core::report::Report;
use crate::core::set::Member;

/// What is wanted, what is there, and how the run is made.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Way {
    Delete,
    Absent,
    Replace,
    Update,
}

const DESTROYING: [Way; 3] = [Way::Delete, Way::Absent, Way::Replace];

fn team() -> Kind {
    let mut team = kind("Team", true, None);
    team.owner = Path::parse("owner").ok();
    team.fields.at_mut(&Path::parse("fixed").expect("a path")).immutable = Some(Immutable::Replace);
    team
}

fn wanted(way: Way) -> Document {
    let mut wanted = document(
        "Team",
        &[("name", "a")],
        match way {
            Way::Replace => json!({"size": 2, "fixed": 2}),
            Way::Update => json!({"size": 3, "fixed": 1}),
            Way::Delete | Way::Absent => json!({"size": 2, "fixed": 1}),
        },
    );
    wanted.policy.member = Some(Arc::new(Member { set: "app".into(), owner: Some("us".into()) }));
    if way == Way::Absent {
        wanted.policy.ensure = crate::core::document::Ensure::Absent;
    }
    wanted
}

fn run(model: &mut Model, way: Way, documents: &[Document], agreed: Option<&Report>) -> Report {
    let options = Options { replace: ["Team/a".to_owned()].into(), ..Options::default() };
    match (way, agreed) {
        (Way::Delete, _) => model.delete(documents, agreed),
        (_, None) => model.plan_with(documents, options),
        _ => model.apply_with(documents, options, agreed),
    }
}

/// Plans, lets somebody change what is there, and does what was planned.
fn told(way: Way, change: &dyn Fn(&mut Model)) -> (Model, String) {
    told_of(way, wanted(way), "us", change)
}

fn told_of(way: Way, wanted: Document, owner: &str, change: &dyn Fn(&mut Model)) -> (Model, String) {
    let mut model = Model::new(vec![team()]);
    model.put("Team", &[("name", "a")], json!({"size": 2, "fixed": 1, "owner": owner, "count": 0}));
    let plan = run(&mut model, way, std::slice::from_ref(&wanted), None);
    change(&mut model);
    model.log.clear();
    let report = run(&mut model, way, &[wanted], Some(&plan));
    let entry = &report.objects[0];
    (model, format!("{} {}", entry.action.word(), entry.result.word()))
}

fn set(model: &mut Model, field: &str, value: Value) {
    let slots = model.objects.values_mut().flatten();
    slots.for_each(|stored| stored.value[field] = value.clone());
}

fn swap(model: &mut Model) {
    let value = model.get("Team", "a").expect("it is there").clone();
    model.objects.clear();
    model.put("Team", &[("name", "a")], value);
}

#[test]
fn what_is_as_it_was_goes() {
    for (way, want) in DESTROYING.into_iter().zip(["delete done", "delete done", "replace done"]) {
        assert_eq!(told(way, &|_| ()).1, want);
        // What nobody declared is no part of it.
        assert_eq!(told(way, &|model| set(model, "count", json!(7))).1, want);
    }
    assert_eq!(told(Way::Update, &|_| ()).1, "update done");
}

#[test]
fn another_object_of_the_name_is_not_touched() {
    for way in [Way::Delete, Way::Absent, Way::Replace, Way::Update] {
        let (model, told) = told(way, &swap);
        assert!(told.ends_with(" conflict"), "{way:?}: {told}");
        assert!(model.writes().is_empty(), "{way:?}: {:?}", model.writes());
    }
}

#[test]
fn what_has_changed_does_not_go() {
    for way in DESTROYING {
        let changes = [("size", json!(9)), ("owner", json!("us ")), ("owner", json!(null))];
        for (field, value) in changes {
            let (model, told) = told(way, &|model| set(model, field, value.clone()));
            assert!(told.ends_with(" conflict") || told.ends_with(" refused"), "{way:?} {field}: {told}");
            assert!(model.writes().is_empty(), "{way:?}: {:?}", model.writes());
        }
    }
}

#[test]
fn what_bears_the_mark_of_another_owner_stays_unless_it_is_forced() {
    for way in DESTROYING {
        let (model, told) = told_of(way, wanted(way), "them", &|_| ());
        assert!(told.ends_with(" refused"), "{way:?}: {told}");
        assert!(model.writes().is_empty(), "{way:?}: {:?}", model.writes());
        let mut forced = wanted(way);
        forced.policy.on_conflict = OnConflict::Force;
        let (_, told) = told_of(way, forced, "them", &|_| ());
        assert!(told.ends_with(" done"), "{way:?}: {told}");
    }
}
