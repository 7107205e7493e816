//! What the presets make of bodies and answers, and how a document's own words join theirs.

use serde_json::json;

use super::*;
use crate::backend::language::{self, testing::backend};
use crate::core::filter::Vars;
use crate::core::kind::{Kind, Op, Parent, Read};

fn preset_kinds(name: &str) -> Vec<Kind> {
    let (kinds, problems) = language::kinds(&backend(&format!("{{preset: {name}}}")));
    assert!(problems.is_empty(), "{problems:?}");
    kinds
}

fn kind_of(preset: &str, name: &str) -> Kind {
    let kinds = preset_kinds(preset);
    kinds.into_iter().find(|kind| &*kind.name.kind == name).expect(name)
}

fn kind(name: &str) -> Kind {
    kind_of("rabbitmq", name)
}

fn body(op: Option<&Op>, sent: Value) -> Value {
    let filter = op.and_then(|op| op.body.as_ref()).expect("a body filter");
    filter.one(&sent, &Vars::default()).expect("it runs").expect("an output")
}

#[test]
fn every_preset_is_a_sound_backend() {
    for name in names() {
        assert!(!preset_kinds(name).is_empty(), "{name}");
    }
}

#[test]
fn parts_keep_the_order_in_which_they_are_written() {
    let parts: Vec<String> = kind("Binding").parts.iter().map(|part| part.name.to_string()).collect();
    assert_eq!(parts, ["vhost", "source", "destination", "routing_key", "arguments"]);
    assert!(matches!(&kind("Binding").parts[2].parent, Parent::Of(of) if &*of.kind == "Queue"));
}

#[test]
fn rabbitmq_users_keep_their_password() {
    let user = kind("User");
    for (sent, want) in [
        (json!({"name": "u"}), json!({"name": "u", "tags": ""})),
        (json!({"tags": ["a", "b"], "password_hash": "x"}), json!({"tags": "a,b", "password_hash": "x"})),
        (
            json!({"tags": "a,b", "password": "p", "password_hash": "x", "hashing_algorithm": "y"}),
            json!({"tags": "a,b", "password": "p"}),
        ),
    ] {
        assert_eq!(body(user.create.as_ref(), sent.clone()), want);
        assert_eq!(body(user.update.as_ref(), sent), want);
    }
}

#[test]
fn rabbitmq_virtual_hosts_send_what_is_taken() {
    let vhost = kind("VHost");
    for (sent, want) in [
        (json!({}), json!({})),
        (json!({"tags": ["a", "b"]}), json!({"tags": "a,b"})),
        (json!({"tags": "a,b", "default_queue_type": "undefined"}), json!({"tags": "a,b"})),
        (json!({"default_queue_type": "quorum"}), json!({"default_queue_type": "quorum"})),
    ] {
        assert_eq!(body(vhost.create.as_ref(), sent), want);
    }
}

#[test]
fn rabbitmq_lists_hold_the_items_of_their_kind() {
    let bindings = json!([
        {"source": "", "destination": "q", "destination_type": "queue"},
        {"source": "x", "destination": "q", "destination_type": "queue"},
        {"source": "x", "destination": "y", "destination_type": "exchange"},
    ]);
    let limits = json!([{"vhost": "v", "value": {"max-queues": 5, "max-connections": 6}}]);
    for (name, answer, want) in [
        ("Binding", &bindings, json!([bindings[1]])),
        ("ExchangeBinding", &bindings, json!([bindings[2]])),
        (
            "VHostLimit",
            &limits,
            json!([{"name": "max-connections", "value": 6}, {"name": "max-queues", "value": 5}]),
        ),
        ("VHostLimit", &json!([]), json!([])),
    ] {
        let items = kind(name).list.and_then(|list| list.items).expect("a filter");
        assert_eq!(items.one(answer, &Vars::default()), Ok(Some(want)), "{name}");
    }
}

#[test]
fn powerdns_names_end_with_a_dot_and_serials_never_go_back() {
    let set = kind_of("powerdns", "RRset");
    let soa = "ns. host. 1 10800 3600 604800 600";
    for (sent, want) in [
        (
            json!([{"name": "a.b", "type": "A"}, {"name": "c.b.", "type": "A", "comments": [{"content": "x"}]}]),
            json!([
                {"name": "a.b.", "type": "A", "changetype": "REPLACE"},
                {"name": "c.b.", "type": "A", "changetype": "REPLACE", "comments": [{"account": "", "content": "x"}]},
            ]),
        ),
        (
            json!([{"name": "b.", "type": "SOA", "serial": "2026010107", "records": [{"content": soa}]}]),
            json!([{"name": "b.", "type": "SOA", "changetype": "REPLACE",
                "records": [{"content": "ns. host. 2026010107 10800 3600 604800 600"}]}]),
        ),
        // A zone without one takes it as it is written, and a wrong one is for the server to refuse.
        (
            json!([{"name": "b.", "type": "SOA", "records": [{"content": soa}]}]),
            json!([{"name": "b.", "type": "SOA", "changetype": "REPLACE", "records": [{"content": soa}]}]),
        ),
        (
            json!([{"name": "b.", "type": "SOA", "serial": "5", "records": [{"content": "wrong"}]}]),
            json!([{"name": "b.", "type": "SOA", "changetype": "REPLACE", "records": [{"content": "wrong"}]}]),
        ),
    ] {
        assert_eq!(body(set.create.as_ref(), sent), json!({"rrsets": want}));
    }
    let gone = json!([{"name": "b.", "type": "SOA", "ttl": 5, "records": []}]);
    let gone = body(set.delete.as_ref(), gone);
    assert_eq!(gone, json!({"rrsets": [{"name": "b.", "type": "SOA", "changetype": "DELETE"}]}));
}

#[test]
fn json_server_says_in_a_stack_trace_that_an_id_is_taken() {
    let exists = kind_of("json-server", "Item").exists.expect("a filter");
    for (status, body, want) in [
        (500, json!("Error: Insert failed, duplicate id\n    at Function.insert (index.js:49:18)"), true),
        (500, json!("Error: something else"), false),
        (500, json!({}), false),
        (201, json!({"text": "duplicate id"}), false),
    ] {
        assert_eq!(exists.holds(&json!({"status": status, "body": body}), &Vars::default()), Ok(want));
    }
}

#[test]
fn what_stands_in_the_document_wins() {
    let doc = backend(
        "{preset: rabbitmq, url: 'http://x', auth: {bearer: t}, headers: {A: b},
          kinds: {Queue: {read: list, fields: {durable: ignore}}, Mine: {key: {n: .n}, list: GET /mine}}}",
    );
    let whole = apply(&doc).expect("the preset exists");
    let spec = whole.root.get("spec").expect("a spec");
    assert_eq!(spec.get("url").and_then(Node::as_str), Some("http://x"));
    assert!(spec.get("auth").is_some_and(|auth| auth.get("basic").is_none()));
    assert_eq!(apply(&whole).map(|again| again.root), Ok(whole.root.clone()));

    let (kinds, problems) = language::kinds(&doc);
    assert!(problems.is_empty(), "{problems:?}");
    let queue = kinds.iter().find(|kind| &*kind.name.kind == "Queue").expect("the kind");
    assert!(matches!(queue.read, Read::FromList));
    let fields: Vec<&str> = queue.fields.named_fields().map(|(name, _)| name).collect();
    assert!(fields.contains(&"arguments") && fields.contains(&"auto_delete"), "{fields:?}");
    assert!(
        queue.fields.field("durable").here.ignore && queue.fields.field("durable").here.immutable.is_none()
    );
    assert!(kinds.iter().any(|kind| &*kind.name.kind == "Mine"));
}

#[test]
fn problems_point_to_the_line_that_names_the_preset() {
    let doc = backend("{preset: rabbitmq, kinds: {Queue: {key: {nome: .name}}}}");
    let (_, problems) = language::kinds(&doc);
    let problem = problems.first().expect("the paths have no source for {name}");
    assert!(problem.message.starts_with("`{name}` in `read` has no source"), "{problem:?}");
    assert_eq!(problem.origin.as_ref().map(|origin| origin.at.line), Some(1));
}
