//! What the filters of the preset `kubernetes` make of bodies and answers.

use serde_json::json;

use crate::backend::language::{self, testing::backend};
use crate::core::filter::{Filter, Vars};
use crate::core::kind::{Kind, Op, Parent, Piece};
use crate::core::managers::Contested;
use crate::core::value::Value;

fn kind(name: &str) -> Kind {
    let own = "{preset: kubernetes, kinds: {Widget: {like: ConfigMap,
        document: {apiVersion: example.com/v1, kind: Widget},
        at: '/apis/example.com/v1/namespaces/{namespace}/widgets'}}}";
    let (kinds, problems) = language::kinds(&backend(own));
    assert!(problems.is_empty(), "{problems:?}");
    kinds.into_iter().find(|kind| &*kind.name.kind == name).expect(name)
}

fn run(filter: Option<&Filter>, input: &Value) -> Value {
    filter.expect("a filter").one(input, &Vars::default()).expect("it runs").unwrap_or_default()
}

fn sent(op: Option<&Op>, value: Value) -> Value {
    run(op.and_then(|op| op.body.as_ref()), &value)
}

#[test]
fn a_kind_of_ones_own_is_as_the_others() {
    let widget = kind("Widget");
    let create = widget.create.as_ref().expect("a create");
    assert_eq!(
        create.path.0[..3],
        [
            Piece::Literal("/apis/example.com/v1/namespaces/".into()),
            Piece::Part("namespace".into()),
            Piece::Literal("/widgets/".into()),
        ]
    );
    assert!(widget.check.is_some() && widget.managers.is_some() && create.forced.is_some());
    assert!(matches!(&widget.parts[0].parent, Parent::Of(of) if &*of.kind == "Namespace"));
    assert_eq!(kind("Namespace").parts.len(), 1);
}

#[test]
fn who_changes_a_kind_of_the_preset_changes_that_one() {
    let own = "{preset: kubernetes, kinds: {ConfigMap: {list: GET /mine, fields: {data: closed}},
        Widget: {like: ConfigMap, at: /widgets, document: {apiVersion: example.com/v1, kind: Widget}}}}";
    let (kinds, problems) = language::kinds(&backend(own));
    assert!(problems.is_empty(), "{problems:?}");
    for (name, listed, closed) in
        [("ConfigMap", "/mine", true), ("Widget", "/mine", true), ("Namespace", "/api/v1/namespaces", false)]
    {
        let kind = kinds.iter().find(|kind| &*kind.name.kind == name).expect(name);
        let list = kind.list.as_ref().expect("a list");
        assert_eq!(list.op.path.0, [Piece::Literal(listed.into())], "{name}");
        assert_eq!(kind.fields.field("data").here.closed, closed, "{name}");
    }
}

#[test]
fn secrets_are_sent_encoded_and_seen_in_both_forms() {
    let secret = kind("Secret");
    for (value, want) in [
        (json!({"stringData": {"p": "x"}}), json!({"data": {"p": "eA=="}})),
        (
            json!({"data": {"a": "YQ=="}, "stringData": {"p": "x"}}),
            json!({"data": {"a": "YQ==", "p": "eA=="}}),
        ),
        (json!({"data": {"a": "YQ=="}}), json!({"data": {"a": "YQ=="}})),
        (json!({"kind": "Secret"}), json!({"kind": "Secret"})),
    ] {
        assert_eq!(sent(secret.create.as_ref(), value.clone()), want);
        assert_eq!(sent(secret.check.as_ref(), value), want);
    }
    let items = secret.list.and_then(|list| list.items);
    let answer = json!({"items": [{"data": {"p": "eA=="}}, {}]});
    let seen = json!([{"data": {"p": "eA=="}, "stringData": {"p": "x"}}, {"stringData": {}}]);
    assert_eq!(run(items.as_ref(), &answer), seen);
}

/// Whatever else a kind makes of its body, an update says which object it is for.
#[test]
fn an_update_is_for_the_object_that_was_read() {
    for name in ["ConfigMap", "Secret", "Service", "Deployment", "StatefulSet", "Namespace", "Widget"] {
        let kind = kind(name);
        let ours = || json!({"kind": name, "metadata": {"name": "a"}});
        for (op, what) in [(&kind.create, "create"), (&kind.update, "update"), (&kind.check, "check")] {
            let body = op.as_ref().and_then(|op| op.body.as_ref()).expect("a body");
            let sent = |seen: Value| body.one(&ours(), &Vars(vec![("observed", seen)])).expect("it runs");
            assert_eq!(sent(Value::Null), Some(ours()), "{name}: {what} of what is not there");
            let with = json!({"kind": name, "metadata": {"name": "a", "uid": "u-1"}});
            assert_eq!(sent(json!({"metadata": {"name": "a", "uid": "u-1"}})), Some(with), "{name}: {what}");
        }
    }
}

#[test]
fn another_uid_is_a_conflict() {
    let failed = kind("ConfigMap").failed.expect("a filter");
    let told = |status: u16, field: &str| {
        let causes =
            json!([{"reason": "FieldValueInvalid", "message": "field is immutable", "field": field}]);
        let answer = json!({"status": status, "body": {"details": {"causes": causes}}});
        failed.one(&answer, &Vars::default()).expect("it runs")
    };
    assert_eq!(told(422, "metadata.uid"), Some(json!(409)));
    assert_eq!(told(422, "spec.clusterIP"), Some(json!(false)));
    assert_eq!(told(400, "metadata.uid"), Some(json!(false)));
}

#[test]
fn what_apply_insists_on_is_filled_in() {
    for (name, value, want) in [
        (
            "Service",
            json!({"spec": {"ports": [{"port": 1}]}}),
            json!({"spec": {"ports": [{"port": 1, "protocol": "TCP"}]}}),
        ),
        (
            "Service",
            json!({"spec": {"ports": [{"port": 1, "protocol": "UDP"}]}}),
            json!({"spec": {"ports": [{"port": 1, "protocol": "UDP"}]}}),
        ),
        ("Service", json!({"spec": {"type": "ExternalName"}}), json!({"spec": {"type": "ExternalName"}})),
        ("Service", json!({"metadata": {}}), json!({"metadata": {}})),
        (
            "Deployment",
            json!({"spec": {"template": {"spec": {"containers": [{"resources": {"limits": {"cpu": 0.5}}}, {"name": "b"}]}}}}),
            json!({"spec": {"template": {"spec": {"containers": [{"resources": {"limits": {"cpu": "0.5"}}}, {"name": "b"}]}}}}),
        ),
        ("Deployment", json!({"spec": {"replicas": 1}}), json!({"spec": {"replicas": 1}})),
        ("Deployment", json!({"metadata": {}}), json!({"metadata": {}})),
    ] {
        assert_eq!(sent(kind(name).create.as_ref(), value.clone()), want, "{name}");
        assert_eq!(sent(kind(name).check.as_ref(), value), want, "{name}");
    }
}

#[test]
fn a_conflict_names_fields_and_managers() {
    let cause = |field: &str, reason: &str| json!({"reason": reason, "message": "conflict with \"kubectl\" using v1", "field": field});
    let answer = json!({"status": 409, "body": {"reason": "Conflict", "details": {"causes": [
        cause(".data.a", "FieldManagerConflict"), cause(".spec.x", "FieldValueInvalid"),
    ]}}});
    let conflict = kind("ConfigMap").conflict.expect("a filter");
    let found = Contested::of(&conflict, &answer, &Vars::default());
    assert_eq!(found, Ok(vec![Contested { path: ".data.a".into(), by: "kubectl".into() }]));
    for other in
        [json!({"body": {"details": {}}}), json!({"body": {}}), json!({"body": {"details": {"causes": []}}})]
    {
        assert_eq!(Contested::of(&conflict, &other, &Vars::default()), Ok(vec![]), "{other}");
    }
}

#[test]
fn errors_are_told_apart() {
    let kind = kind("ConfigMap");
    for (answer, refused, absent) in [
        (json!({"status": 500, "body": {"message": "failed to create typed patch object: …"}}), true, false),
        (json!({"status": 500, "body": {"message": "etcdserver: request timed out"}}), false, false),
        (json!({"status": 404, "body": "404 page not found\n"}), false, true),
        (json!({"status": 404, "body": {"message": "configmaps \"a\" not found"}}), false, false),
        (json!({"status": 200, "body": {"metadata": {"name": "a"}}}), false, false),
    ] {
        for (filter, holds) in [(&kind.failed, refused), (&kind.absent, absent)] {
            let filter = filter.as_ref().expect("a filter");
            assert_eq!(filter.holds(&answer, &Vars::default()), Ok(holds), "{} on {answer}", filter.text());
        }
    }
}

#[test]
fn every_kind_is_watched_where_it_is_listed() {
    for name in ["ConfigMap", "Secret", "Deployment", "Namespace", "Widget"] {
        let kind = kind(name);
        let (watch, list) = (kind.watch.as_ref().expect(name), kind.list.as_ref().expect(name));
        assert_eq!(watch.op.path, list.op.path, "{name}");
        assert!(watch.replay && watch.says_position(), "{name}");
    }
}
