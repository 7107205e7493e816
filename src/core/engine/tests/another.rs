//! A read that shows something else: what cannot be known for the object is not written over.

use serde_json::{Value, json};

use super::model::{Model, document, kind};
use crate::core::filter::Filter;
use crate::core::kind::{Kind, Send};
use crate::core::report::{Outcome, Report, WRONG_OBJECT};

fn zone() -> Kind {
    let mut zone = kind("Zone", false, None);
    zone.list = None;
    zone.id = Filter::parse(".uid").expect("a filter");
    zone
}

/// What becomes of a zone whose read shows this.
fn told(zone: Kind, shown: Value, spec: Value) -> (Report, usize) {
    let mut model = Model::new(vec![zone]);
    model.put("Zone", &[("name", "z")], shown);
    let report = model.apply(&[document("Zone", &[("name", "z")], spec)]);
    let writes = model.writes().len();
    (report, writes)
}

#[test]
fn what_has_nothing_of_the_object_is_another() {
    for (shown, is_ours) in [
        (json!({"name": null, "status": "ok"}), false),
        (json!({"name": "z"}), true),
        (json!({"name": null, "uid": "u"}), true),
        (json!({"name": null, "n": 5}), true),
    ] {
        let (report, writes) = told(zone(), shown.clone(), json!({"n": 1}));
        match &report.objects[0].result {
            Outcome::Unknown(why) => {
                assert_eq!((why.reason, writes, is_ours), (Some(WRONG_OBJECT), 0, false), "{shown}");
                assert!(why.hint.as_ref().is_some_and(|hint| hint.contains("`url` right")), "{why:?}");
            }
            _ => assert!(writes > 0 && is_ours, "{shown}: {report:?}"),
        }
    }
}

#[test]
fn where_our_fields_alone_are_sent_or_none_are_ours_nothing_is_doubted() {
    let strange = json!({"name": null, "status": "ok"});
    let mut patched = zone();
    patched.update.as_mut().expect("it has one").send = Send::Ours;
    let (report, writes) = told(patched, strange.clone(), json!({"n": 1}));
    assert!(writes > 0 && !matches!(report.objects[0].result, Outcome::Unknown(_)), "{report:?}");
    let (report, writes) = told(zone(), strange, json!({}));
    assert_eq!((&report.objects[0].result, writes), (&Outcome::InSync, 0), "{report:?}");
}
