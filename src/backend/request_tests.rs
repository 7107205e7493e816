//! Requests as they go out, against the shapes that real APIs ask for.

use serde_json::json;

use crate::backend::testing::{kind, op, template};
use crate::core::exchange::Body;
use crate::core::filter::Filter;
use crate::core::identity::ObjectId;
use crate::core::kind::{Page, PageBy};
use crate::core::patch::Operation;

use super::*;

fn site() -> Site {
    Site { base: Base::parse("http://host/api").expect("a base"), owner: "payments".into(), credential: None }
}

fn target(kind: &Kind) -> Target {
    let key = Key::new(vec![("vhost".into(), json!("/")), ("name".into(), json!("a b"))]);
    Target {
        id: ObjectId { kind: kind.name.clone(), key },
        server_id: Some("7".into()),
        parent_ids: ParentIds(vec![("vhost".into(), "v1".into())]),
        version: None,
        observed: Some(std::sync::Arc::new(json!({"uid": "u"}))),
        changed: Vec::new(),
        forced: false,
        tries_weak: false,
        remade: None,
        attempt: None,
    }
}

fn sent(kind: &Kind, what: &Write) -> HttpRequest {
    write(&site(), kind, what).expect("a request")
}

fn text(request: &HttpRequest) -> &str {
    request.body.as_deref().map_or("", |body| std::str::from_utf8(body).expect("UTF-8"))
}

fn header<'r>(request: &'r HttpRequest, name: &str) -> Option<&'r str> {
    request.headers.iter().find(|(have, _)| have == name).map(|(_, value)| value.as_str())
}

#[test]
fn a_create_by_put_names_the_object_in_its_path() {
    let kind = kind();
    let request = sent(&kind, &Write::Create(target(&kind), Body::Object(json!({"durable": true}))));
    assert_eq!(format!("{request:?}"), "PUT /queues/%2F/a%20b");
    assert_eq!(text(&request), r#"{"durable":true}"#);
    assert_eq!(header(&request, "content-type"), Some("application/json"));
    assert_eq!(header(&request, "accept"), Some("application/json, */*;q=0.1"));
    assert_eq!(header(&request, "if-none-match"), None, "no version is declared");
}

#[test]
fn key_parts_that_the_path_does_not_carry_are_laid_into_the_body() {
    let mut kind = kind();
    kind.parts[1].on_item = Some(Filter::parse(".meta.name").expect("a path"));
    kind.create = Some(op("POST /vhosts/{vhost}/queues"));
    let create = |body| write(&site(), &kind, &Write::Create(target(&kind), Body::Object(body)));
    let laid = create(json!({"x": 1})).expect("a request");
    assert_eq!(text(&laid), r#"{"meta":{"name":"a b"},"x":1}"#);
    let stated = create(json!({"meta": {"name": "a b"}})).expect("the same name");
    assert_eq!(text(&stated), r#"{"meta":{"name":"a b"}}"#);
    let other = create(json!({"meta": {"name": "other"}})).expect_err("another name");
    assert_eq!(other.message, "`meta.name` in the body is not the `name` of the key");
    assert_eq!(other.class, FailureClass::Backend);
    kind.create = Some(op("PUT /queues/{id}"));
    kind.update = Some(op("PUT /queues/{id}"));
    let body = || Body::Object(json!({"x": 1}));
    let pinned = sent(&kind, &Write::Create(target(&kind), body()));
    assert_eq!(text(&pinned), r#"{"meta":{"name":"a b"},"x":1}"#, "a new object has to be told its name");
    let update = sent(&kind, &Write::Update(target(&kind), body()));
    assert_eq!(text(&update), r#"{"x":1}"#, "the id says which one it is");
}

#[test]
fn patches_have_their_media_types() {
    let mut kind = kind();
    kind.update = Some(op("PATCH /queues/{id}"));
    let merge = sent(&kind, &Write::Update(target(&kind), Body::Merge(json!({"a": null}))));
    assert_eq!(format!("{merge:?}"), "PATCH /queues/7");
    assert_eq!(header(&merge, "content-type"), Some("application/merge-patch+json"));
    assert_eq!(text(&merge), r#"{"a":null}"#);
    let operations = vec![
        Operation::Test { pointer: "/a".into(), value: json!(1) },
        Operation::Remove { pointer: "/a".into() },
    ];
    let patch = sent(&kind, &Write::Update(target(&kind), Body::JsonPatch(operations)));
    assert_eq!(header(&patch, "content-type"), Some("application/json-patch+json"));
    assert_eq!(text(&patch), r#"[{"op":"test","path":"/a","value":1},{"op":"remove","path":"/a"}]"#);
    let mut apply = op("PATCH /queues/{id}");
    apply.media = Some("application/apply-patch+yaml".into());
    kind.update = Some(apply);
    let apply = sent(&kind, &Write::Update(target(&kind), Body::Object(json!({"a": 1}))));
    assert_eq!(header(&apply, "content-type"), Some("application/apply-patch+yaml"));
}

#[test]
fn bodies_go_through_the_operations_filter() {
    let mut kind = kind();
    let mut delete = op("DELETE /queues/{vhost}");
    delete.body = Some(
        Filter::parse("{q: .name, uid: $observed.uid, k: $key.name, p: $parent.vhost.id, i: $id}")
            .expect("a filter"),
    );
    kind.delete = Some(delete);
    let request = sent(&kind, &Write::Delete(target(&kind)));
    let body: Value = serde_json::from_str(text(&request)).expect("JSON");
    assert_eq!(body, json!({"q": "a b", "uid": "u", "k": "a b", "p": "v1", "i": "7"}));
    kind.delete = Some(op("DELETE /queues/{vhost}/{name}"));
    let request = sent(&kind, &Write::Delete(target(&kind)));
    assert_eq!((request.body.as_deref(), header(&request, "content-type")), (None, None));
}

#[test]
fn presence_is_said_without_a_body() {
    let kind = kind();
    let request = sent(&kind, &Write::Create(target(&kind), Body::None));
    assert_eq!((request.body.as_deref(), header(&request, "content-type")), (None, None));
}

#[test]
fn preconditions_are_the_strongest_there_are() {
    let token = |text: &str, weak| Some(VersionToken { text: text.into(), weak });
    let on_item = || Version::OnItem(Filter::parse(".v").expect("a path"));
    let plain = "PUT /queues/{vhost}/{name}";
    let named = "PUT /queues/{vhost}/{name}?v={version}";
    for (version, request, token, want) in [
        (Version::ETag, plain, token("\"a\"", false), Some("\"a\"")),
        (Version::ETag, plain, token("W/\"a\"", true), None),
        (Version::ETag, plain, None, None),
        (on_item(), plain, token("7", false), Some("\"7\"")),
        (on_item(), plain, token("\"7\"", false), Some("\"7\"")),
        (on_item(), named, token("7", false), None),
        (Version::None, plain, token("7", false), None),
    ] {
        let mut kind = kind();
        kind.version = version;
        kind.update = Some(op(request));
        let mut target = target(&kind);
        target.version = token;
        let request = sent(&kind, &Write::Update(target, Body::Object(json!({}))));
        assert_eq!(header(&request, "if-match"), want, "{request:?}");
    }
    let mut kind = kind();
    kind.version = Version::ETag;
    kind.update = Some(op(plain));
    for tag in ["W/\"a\"", "\"a-gzip\""] {
        let tried = Target { version: token(tag, true), tries_weak: true, ..target(&kind) };
        let request = sent(&kind, &Write::Update(tried, Body::Object(json!({}))));
        assert_eq!(header(&request, "if-match"), Some(tag), "as it was told");
    }
    let create = |kind: &Kind| sent(kind, &Write::Create(target(kind), Body::Object(json!({}))));
    assert_eq!(header(&create(&kind), "if-none-match"), Some("*"));
    kind.create = Some(op("POST /queues/{vhost}"));
    assert_eq!(header(&create(&kind), "if-none-match"), None, "a POST makes a new one");
}

#[test]
fn extra_headers_and_query_are_filled() {
    let mut kind = kind();
    let mut create = op("PATCH /queues/{vhost}/{name}?manager={owner}");
    create.headers.push(("X-Scope".into(), template("{vhost}")));
    kind.create = Some(create);
    let request = sent(&kind, &Write::Create(target(&kind), Body::Object(json!({}))));
    assert_eq!(request.url, "/queues/%2F/a%20b?manager=payments");
    assert_eq!(header(&request, "x-scope"), Some("/"));
}

#[test]
fn what_is_missing_is_named() {
    let mut kind = kind();
    kind.update = Some(op("PUT /queues/{id}"));
    let mut target = target(&kind);
    target.server_id = None;
    let failure = write(&site(), &kind, &Write::Update(target.clone(), Body::None)).expect_err("no id");
    assert_eq!((failure.class, failure.message.as_str()), (FailureClass::Backend, "`{id}` has no value"));
    kind.delete = None;
    let failure = write(&site(), &kind, &Write::Delete(target)).expect_err("no delete");
    assert_eq!(failure.message, "the kind `Queue` has no `delete`");
}

#[test]
fn pages_go_into_the_query_or_the_body() {
    let mut list_op = kind().list.expect("a list");
    let scope = Key::new(vec![("vhost".into(), json!("/"))]);
    let collection = Collection { kind: kind().name, scope, parent_ids: ParentIds::default() };
    let page = |by, param: &str, size_param: &str| Page {
        by,
        size: Some(100),
        param: param.into(),
        size_param: size_param.into(),
        first: 1,
        next: None,
        total: None,
    };
    let ask = |op: &ListOp, at: PageAt| list(&site(), op, &collection, None, &at).expect("a request");
    assert_eq!(ask(&list_op, PageAt::First).url, "/queues/%2F");
    list_op.page = Some(page(PageBy::Page, "page", "page_size"));
    assert_eq!(ask(&list_op, PageAt::Number(2)).url, "/queues/%2F?page=2&page_size=100");
    list_op.op.query.push(("sort".into(), template("name")));
    list_op.page = Some(page(PageBy::Cursor, "continue", "limit"));
    assert_eq!(ask(&list_op, PageAt::First).url, "/queues/%2F?sort=name&limit=100");
    let turned = ask(&list_op, PageAt::Cursor("a+b/=&".into()));
    assert_eq!(turned.url, "/queues/%2F?sort=name&continue=a%2Bb/%3D%26&limit=100");
    let next = "http://host/api/queues?after=2".to_owned();
    assert_eq!(ask(&list_op, PageAt::Url(next.clone())).url, next);
    list_op.op.body = Some(Filter::parse("{limit: 200, cursor: $page}").expect("a filter"));
    let asked = ask(&list_op, PageAt::Cursor("c".into()));
    assert_eq!(asked.url, "/queues/%2F?sort=name");
    let body: Value = serde_json::from_str(text(&asked)).expect("JSON");
    assert_eq!(body, json!({"limit": 200, "cursor": "c"}));
}

#[test]
fn a_batch_sends_the_list_of_what_each_would_send() {
    let mut kind = kind();
    let filter = |text: &str| Some(Filter::parse(text).expect("a filter"));
    let mut patch = op("PATCH /vhosts/{vhost.id}");
    patch.batch = Some(10);
    patch.body = filter(r#"{queues: map(. + {op: "put"})}"#);
    let mut delete = Op { body: filter("map({name, uid})"), ..patch.clone() };
    delete.send = crate::core::kind::Send::None;
    (kind.create, kind.update, kind.delete) = (Some(patch.clone()), Some(patch), Some(delete));
    let one = |name: &str| {
        let key = Key::new(vec![("vhost".into(), json!("/")), ("name".into(), json!(name))]);
        let mut one = target(&kind);
        one.id.key = key;
        one
    };
    let body = || Body::Object(json!({"x": 1}));
    let body_of = |what: &Write| -> Value {
        let request = sent(&kind, what);
        assert_eq!(format!("{request:?}"), "PATCH /vhosts/v1");
        assert_eq!(header(&request, "content-type"), Some("application/json"));
        serde_json::from_str(text(&request)).expect("JSON")
    };
    let create = |name: &str| Write::Create(one(name), body());
    let [a, b] = ["a", "b"].map(|name| json!({"name": name, "x": 1, "op": "put"}));
    assert_eq!(body_of(&create("a")), json!({"queues": [a]}), "one alone is a list too");
    assert_eq!(body_of(&Write::together(vec![create("a"), create("b")])), json!({"queues": [a, b]}));
    let merge = Write::Update(one("a"), Body::Merge(json!({"x": 2})));
    let merged = json!({"queues": [{"name": "a", "x": 2, "op": "put"}, b]});
    assert_eq!(body_of(&Write::together(vec![merge, Write::Update(one("b"), body())])), merged);
    let gone = Write::together(vec![Write::Delete(one("a")), Write::Delete(one("b"))]);
    assert_eq!(body_of(&gone), json!([{"name": "a", "uid": "u"}, {"name": "b", "uid": "u"}]));
    let other = Write::Create(one("a"), Body::Object(json!({"name": "c"})));
    let failure =
        write(&site(), &kind, &Write::together(vec![create("b"), other])).expect_err("another name");
    assert_eq!(failure.message, "`name` in the body is not the `name` of the key");
}

#[test]
fn a_create_carries_its_key_where_the_kind_says() {
    let key = |request: &HttpRequest, place: &Idempotency| match place {
        Idempotency::Header(name) => header(request, name).map(str::to_owned),
        Idempotency::Query(name) => {
            request.url.split_once(&format!("{name}=")).map(|(_, key)| key.to_owned())
        }
        Idempotency::Body(_) => {
            let body: Value = serde_json::from_str(text(request)).expect("JSON");
            body["meta"]["requestId"].as_str().map(str::to_owned)
        }
    };
    let in_body = crate::core::path::Path::parse("meta.requestId").expect("a path");
    let places = [
        Idempotency::Header("idempotency-key".into()),
        Idempotency::Query("request_id".into()),
        Idempotency::Body(in_body),
    ];
    let mut keys = Vec::new();
    for place in places {
        let mut kind = kind();
        let create = kind.create.insert(op("POST /vhosts/{vhost}/queues?dry=no"));
        create.idempotency = Some(place.clone());
        let attempt = |generation| {
            let body = json!({"durable": true});
            let attempt = Some(crate::core::idempotency::Attempt::new(&body, generation));
            sent(&kind, &Write::Create(Target { attempt, ..target(&kind) }, Body::Object(body)))
        };
        let first = key(&attempt(0), &place).expect("a key");
        assert_eq!(key(&attempt(0), &place), Some(first.clone()), "the same request has the same key");
        assert_ne!(key(&attempt(1), &place), Some(first.clone()), "the next generation has another");
        keys.push(first);
        let update = sent(&kind, &Write::Update(target(&kind), Body::Object(json!({}))));
        assert_eq!(header(&update, "idempotency-key"), None, "an update has none");
    }
    assert!(keys.windows(2).all(|pair| pair[0] == pair[1]), "the place is no part of the key: {keys:?}");
}
