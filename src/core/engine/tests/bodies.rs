//! What a write carries, for each way to send it.

use serde_json::{Value, json};

use super::model::{Model, document, kind};
use crate::core::document::Document;
use crate::core::exchange::Body;
use crate::core::kind::{Kind, Send};
use crate::core::node::{Node, Pos, Secret, Want};
use crate::core::patch::Operation;
use crate::core::path::Path;
use crate::core::report::{Outcome, Report};

fn sending(send: Send) -> Kind {
    let mut team = kind("Team", false, None);
    for op in [&mut team.create, &mut team.update].into_iter().flatten() {
        op.send = send;
    }
    team
}

/// The body of the first write, as words and value; `old` must not be set.
fn sent(kind: Kind, observed: Option<Value>, wanted: Value) -> (&'static str, Value) {
    let mut model = Model::new(vec![kind]);
    if let Some(value) = observed {
        model.put("Team", &[("name", "a")], value);
    }
    let mut team = document("Team", &[("name", "a")], wanted);
    if let Some(old) = team.spec_mut().get_mut("old") {
        old.want = Want::Unset;
    }
    let report = model.apply(&[team]);
    match model.bodies.first().unwrap_or_else(|| panic!("{:?}", report.objects)) {
        Body::Object(value) => ("object", value.clone()),
        Body::Merge(value) => ("merge", value.clone()),
        Body::JsonPatch(operations) => ("json-patch", operations.iter().map(Operation::to_json).collect()),
        Body::None => ("none", Value::Null),
    }
}

#[test]
fn each_way_to_send_an_update() {
    let observed = json!({"size": 1, "old": 1, "note": "theirs"});
    let wanted = json!({"size": 2, "old": null});
    let cases = [
        (Send::None, ("none", Value::Null)),
        (Send::Merge, ("merge", json!({"size": 2, "old": null}))),
        (
            Send::JsonPatch,
            (
                "json-patch",
                json!([
                    {"op": "test", "path": "/old", "value": 1},
                    {"op": "remove", "path": "/old"},
                    {"op": "test", "path": "/size", "value": 1},
                    {"op": "replace", "path": "/size", "value": 2},
                ]),
            ),
        ),
    ];
    for (send, body) in cases {
        assert_eq!(sent(sending(send), Some(observed.clone()), wanted.clone()), body, "{send:?}");
    }
    let (form, full) = sent(sending(Send::Full), Some(observed.clone()), wanted.clone());
    assert_eq!((form, &full["size"], &full["note"]), ("object", &json!(2), &json!("theirs")));
    let (form, ours) = sent(sending(Send::Ours), Some(observed), wanted);
    assert_eq!((form, &ours["size"], ours.get("note")), ("object", &json!(2), None), "ours alone");
}

#[test]
fn a_create_is_whole_in_every_form_that_has_a_body() {
    for send in [Send::Merge, Send::Ours, Send::Full] {
        assert_eq!(sent(sending(send), None, json!({"size": 2})), ("object", json!({"size": 2})), "{send:?}");
    }
}

#[test]
fn a_merge_patch_sends_a_changed_list_whole() {
    let (form, patch) =
        sent(sending(Send::Merge), Some(json!({"hosts": ["a", "b"], "x": 1})), json!({"hosts": ["a", "c"]}));
    assert_eq!((form, patch), ("merge", json!({"hosts": ["a", "c"]})));
}

/// What is told where no body can be made.
fn refusal(kind: Kind, observed: Value, wanted: Node) -> Report {
    let mut model = Model::new(vec![kind]);
    model.put("Team", &[("name", "a")], observed);
    let mut team: Document = document("Team", &[("name", "a")], json!({}));
    team.spec = wanted.into();
    let report = model.apply(&[team]);
    assert!(model.writes().is_empty());
    report
}

#[test]
fn a_secret_that_is_not_there_is_refused_with_the_next_step() {
    let cases = [("env:TOKEN", "set the variable `TOKEN`"), ("file:/run/token", "make the file")];
    for (source, hint) in cases {
        let mut wanted = Node::from_value(Pos::default(), json!({"size": 2}));
        let Want::Map(map) = &mut wanted.want else { panic!("a map") };
        map.insert("token", Node::new(Pos::default(), Want::Secret(Secret::new(source, None))));
        let mut hiding = sending(Send::Full);
        hiding.fields.at_mut(&Path::parse("token").expect("a path")).write_only = true;
        let report = refusal(hiding, json!({"size": 1}), wanted);
        let Outcome::Refused(why) = &report.objects[0].result else { panic!("{:?}", report.objects[0]) };
        assert_eq!(why.message, format!("the secret `{source}` is not set"));
        assert_eq!(why.hint.as_deref(), Some(hint));
    }
}

#[test]
fn a_null_that_a_merge_patch_cannot_say_is_refused() {
    let mut wanted = Node::from_value(Pos::default(), json!({"size": 1}));
    let Want::Map(map) = &mut wanted.want else { panic!("a map") };
    map.insert("owner", Node::new(Pos::default(), Want::Json(Value::Null)));
    let report = refusal(sending(Send::Merge), json!({"size": 1, "owner": "x"}), wanted);
    let Outcome::Refused(why) = &report.objects[0].result else { panic!("{:?}", report.objects[0]) };
    assert_eq!(why.hint.as_deref(), Some("say `send: json-patch` or `send: full` in the backend's `update`"));
}
