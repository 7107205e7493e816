//! Owner marks of a Set's objects.

use std::sync::Arc;

use serde_json::{Value, json};

use super::model::{Model, document, kind};
use crate::core::document::{Document, OnConflict};
use crate::core::kind::{Kind, Send};
use crate::core::path::Path;
use crate::core::report::Report;
use crate::core::set::Member;

/// A kind whose objects bear the mark at this path.
fn marked(path: &str) -> Kind {
    let mut team = kind("Team", false, None);
    team.owner = Path::parse(path).ok();
    team.update.as_mut().expect("an update").send = Send::Merge;
    team
}

fn owned(spec: Value) -> Document {
    let mut team = document("Team", &[("name", "a")], spec);
    team.policy.member = Some(Arc::new(Member { set: "app".into(), owner: Some("us".into()) }));
    team
}

fn applied(kind: Kind, observed: Option<Value>, team: Document) -> (Model, Report) {
    let mut model = Model::new(vec![kind]);
    if let Some(value) = observed {
        model.put("Team", &[("name", "a")], value);
    }
    let report = model.apply(&[team]);
    (model, report)
}

fn now(model: &Model, field: &str) -> Value {
    model.get("Team", "a").map(|value| value[field].clone()).unwrap_or_default()
}

#[test]
fn a_mark_is_given_with_a_create_and_to_what_lacks_it() {
    for observed in [None, Some(json!({"size": 2}))] {
        let (model, _) = applied(marked("owner"), observed, owned(json!({"size": 2})));
        assert_eq!(now(&model, "owner"), "us");
        assert_eq!(model.writes().len(), 1);
    }
    let (model, report) =
        applied(marked("owner"), Some(json!({"size": 2, "owner": "us"})), owned(json!({"size": 2})));
    assert_eq!((report.objects[0].result.word(), model.writes().len()), ("in-sync", 0));
}

#[test]
fn another_owners_mark_is_left_unless_it_is_forced() {
    let observed = || Some(json!({"size": 2, "owner": "them"}));
    let (model, report) = applied(marked("owner"), observed(), owned(json!({"size": 2})));
    let finding = &report.objects[0].findings[0];
    assert_eq!(
        (finding.code, &*finding.message),
        ("OtherOwner", "`owner` says that it is `them`'s, and it is left so")
    );
    assert_eq!(finding.hint.as_deref(), Some("take it over with `trueup/on-conflict: force`"));
    assert!(model.writes().is_empty());

    let mut forced = owned(json!({"size": 2}));
    forced.policy.on_conflict = OnConflict::Force;
    let (model, report) = applied(marked("owner"), observed(), forced);
    assert_eq!(now(&model, "owner"), "us");
    assert!(report.objects[0].findings.iter().all(|finding| finding.code != "OtherOwner"));
}

#[test]
fn a_mark_that_the_api_cannot_add_is_told() {
    let mut fixed = marked("owner");
    fixed.fields.at_mut(&Path::parse("owner").expect("a path")).immutable =
        Some(crate::core::fields::Immutable::Replace);
    let (model, report) = applied(fixed, Some(json!({"size": 2})), owned(json!({"size": 2})));
    let finding = &report.objects[0].findings[0];
    assert_eq!(finding.message, "`owner` does not hold the owner `us`, and the API cannot change it");
    assert_eq!(
        finding.hint.as_deref(),
        Some("once its document is gone, it is not pruned: delete it by hand")
    );
    assert!(model.writes().is_empty(), "a mark is no reason to replace an object");
}

#[test]
fn a_mark_in_a_list_stays_beside_the_documents_own_elements() {
    let observed = Some(json!({"tags": ["us", "x"]}));
    let (model, report) = applied(marked("tags[*]"), observed, owned(json!({"tags": ["x", "y"]})));
    assert_eq!(report.objects[0].result.word(), "done");
    let tags = now(&model, "tags");
    let has = |tag: &str| tags.as_array().is_some_and(|tags| tags.iter().any(|have| *have == tag));
    assert!(has("us") && has("x") && has("y"), "{tags}");

    let (model, _) =
        applied(marked("tags[*]"), Some(json!({"size": 1, "tags": ["z"]})), owned(json!({"size": 2})));
    assert_eq!(now(&model, "tags"), json!(["z", "us"]), "what others put there stays");
}
