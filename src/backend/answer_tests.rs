//! Answers to reads and writes in the shapes of real servers.

use std::time::Duration;

use serde_json::json;

use crate::backend::base::Base;
use crate::backend::request::Site;
use crate::backend::testing::{filter, kind, op};
use crate::core::identity::{Key, ObjectId};
use crate::core::kind::{DocumentType, Piece, Read, Template};
use crate::core::redact::Redactor;

use super::*;

const URL: &str = "http://host/api/queues/%2F/orders";

fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> HttpAnswer {
    let headers = headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    HttpAnswer { status, headers, body: body.into() }
}

fn target(kind: &Kind) -> Target {
    let key = Key::new(vec![("vhost".into(), json!("/")), ("name".into(), json!("orders"))]);
    Target::new(ObjectId { kind: kind.name.clone(), key })
}

fn with<T>(kind: &Kind, op: &Op, run: impl Fn(&Context, Asked) -> T) -> T {
    let base = Base::parse("http://host/api").expect("a base");
    let site = Site { base, owner: String::new(), credential: None };
    let redactor = Redactor::default();
    let context = Context { site: &site, doing: "doing it", now: Duration::ZERO, redactor: &redactor };
    let url = Url::parse(URL).expect("a URL");
    run(&context, Asked { kind, op, target: &target(kind), url: &url })
}

fn read_of(kind: &Kind, told: HttpAnswer) -> Answer {
    let Read::Op(op) = &kind.read else { panic!("a read of its own") };
    with(kind, op, |context, asked| read(context, asked, &told, None))
}

fn write_of(kind: &Kind, role: Role, told: HttpAnswer) -> Answer {
    let op = match role {
        Role::Create => &kind.create,
        Role::Update => &kind.update,
        _ => &kind.delete,
    };
    with(kind, op.as_ref().expect("an operation"), |context, asked| write(context, asked, role, &told))
}

/// The answer in a few words.
fn word(answer: &Answer) -> String {
    match answer {
        Answer::Listed(_) => "listed".into(),
        Answer::Found(item) => format!("found {}", item.value),
        Answer::Absent => "absent".into(),
        Answer::Accepted { server_id, pending, .. } => {
            format!(
                "accepted {}{}",
                server_id.as_deref().unwrap_or("-"),
                if *pending { " pending" } else { "" }
            )
        }
        Answer::Contested(fields) => format!("contested {fields:?}"),
        Answer::Begun { operation, server_id } => format!("begun {} {server_id:?}", operation.url),
        Answer::Progress(_) => "no answer to a write or a read".into(),
        Answer::Failed(failure) => format!("{:?}: {}", failure.class, failure.message),
    }
}

#[test]
fn reads_prove_presence_or_absence_or_nothing() {
    for (status, body, want) in [
        (200, r#"{"name":"orders","x":1}"#, r#"found {"name":"orders","x":1}"#),
        (200, r#"{"x":1}"#, r#"found {"x":1}"#),
        (200, "", "Lost: doing it: the server answered 200 OK with an empty body"),
        (204, "", r#"found {"name":"orders"}"#),
        (404, "<html>", "absent"),
        (410, "", "absent"),
        (
            200,
            r#"{"name":"other"}"#,
            "WrongObject: doing it: the server answered with another object: `//other`",
        ),
        (200, "null", "NotTheApi: doing it: the answer holds no object"),
        (
            200,
            "<html>",
            "NotTheApi: doing it: the server answered 200 OK with something without a content type, not with JSON",
        ),
        (200, r#"{"name":"ord"#, "Lost: doing it: the answer of 12 bytes is not whole JSON"),
        (
            200,
            r#"{"name":"orders","id":[1]}"#,
            "NotTheApi: doing it: its id at `.id` is a list, not a text or a number",
        ),
        (403, r#"{"message":"no"}"#, "Status(403): doing it: the server answered 403 Forbidden: no"),
        (500, "", "Status(500): doing it: the server answered 500 Internal Server Error"),
        (304, "", "Status(304): doing it: the server answered 304 Not Modified"),
    ] {
        assert_eq!(word(&read_of(&kind(), answer(status, &[], body))), want);
    }
}

/// A content type that says JSON says nothing of why the body is none.
#[test]
fn a_body_that_is_not_what_its_content_type_says() {
    let latin = HttpAnswer { body: b"{\"name\": \"\xfc\"}".as_slice().into(), ..answer(200, &[], "") };
    for (told, want) in [
        (answer(200, &[], "<h1>"), "with `application/json`, and its body is not JSON"),
        (latin, "with `application/json`, and its body is not UTF-8"),
        (answer(200, &[], ""), "with nothing, not with JSON"),
    ] {
        let told = HttpAnswer { headers: vec![("content-type".into(), "application/json".into())], ..told };
        let failure = with(&kind(), &op("GET /x"), |context, _| context.not_json(&told));
        assert!(failure.message.ends_with(want), "{}", failure.message);
    }
}

#[test]
fn an_answer_without_a_body_is_what_item_makes_of_nothing() {
    let mut kind = kind();
    for (request, item, want) in [
        ("HEAD /grants/{name}", None, r#"found {"name":"orders"}"#),
        ("HEAD /grants/{name}", Some("{name: $key.name, on: true}"), r#"found {"name":"orders","on":true}"#),
        ("GET /grants/{name}", Some(". + {of: $key.vhost}"), r#"found {"of":"/"}"#),
        ("GET /grants/{name}", Some(".grant"), r#"found {"name":"orders"}"#),
    ] {
        kind.read = Read::Op(Op { item: item.map(filter), ..op(request) });
        assert_eq!(word(&read_of(&kind, answer(204, &[], ""))), want, "{request} {item:?}");
    }
    assert_eq!(word(&read_of(&kind, answer(404, &[], ""))), "absent");
}

/// Protocols that answer every call with 200 say the status in the body.
#[test]
fn an_error_inside_a_success_has_the_status_that_the_kind_gives_it() {
    let mut kind = kind();
    kind.failed = Some(filter("if .body.ok == false then .body.code else false end"));
    let told = |code: &str| answer(200, &[], &format!(r#"{{"ok": false, "code": {code}, "error": "why"}}"#));
    let failed = |status: u16| format!("Status({status}): doing it: the server answered 200 OK: why");
    assert_eq!(word(&read_of(&kind, told("404"))), "absent");
    assert_eq!(word(&read_of(&kind, told("429"))), failed(429));
    assert_eq!(word(&read_of(&kind, told("true"))), failed(200));
    assert_eq!(word(&read_of(&kind, told("7"))), failed(200), "no status of HTTP");
    assert_eq!(word(&write_of(&kind, Role::Delete, told("404"))), "absent");
    assert_eq!(
        word(&write_of(&kind, Role::Update, told("409"))),
        "Conflict: doing it: the server answered 200 OK: why"
    );
    assert_eq!(
        word(&write_of(&kind, Role::Create, told("409"))),
        "Exists: doing it: the server answered 200 OK: why"
    );
    assert_eq!(word(&write_of(&kind, Role::Create, answer(200, &[], r#"{"ok": true}"#))), "accepted -");
}

#[test]
fn the_kind_says_what_answers_look_like() {
    let mut kind = kind();
    kind.absent = Some(filter(".body == null or .status == 400"));
    kind.failed = Some(filter(".body.error"));
    kind.deleting = Some(filter(".body.data.gone"));
    kind.ready = Some(filter(r#".headers["x-state"] == "up""#));
    if let Read::Op(op) = &mut kind.read {
        op.item = Some(filter(".data + {vhost: $key.vhost}"));
    }
    assert_eq!(word(&read_of(&kind, answer(200, &[], "null"))), "absent");
    assert_eq!(word(&read_of(&kind, answer(400, &[], r#"{"message":"no such"}"#))), "absent");
    let failed = word(&read_of(&kind, answer(200, &[], r#"{"error":"broken"}"#)));
    assert_eq!(failed, "Status(200): doing it: the server answered 200 OK: broken");
    let told = answer(200, &[("x-state", "up")], r#"{"data":{"name":"orders","gone":true,"id":7}}"#);
    let Answer::Found(item) = read_of(&kind, told) else { panic!("it is there") };
    assert_eq!(*item.value, json!({"name": "orders", "gone": true, "id": 7, "vhost": "/"}));
    assert_eq!((item.deleting, item.ready, item.server_id.as_deref()), (true, Some(true), Some("7")));
}

#[test]
fn versions_come_from_where_the_kind_says() {
    let told = answer(200, &[("etag", "W/\"5\"")], r#"{"name":"orders","v":18446744073709551617}"#);
    for (version, want) in [
        (Version::None, None),
        (Version::ETag, Some(("W/\"5\"", true))),
        (Version::OnItem(filter(".v")), Some(("18446744073709551617", false))),
        (Version::OnItem(filter(".no")), None),
    ] {
        let mut kind = kind();
        kind.version = version;
        let Answer::Found(item) = read_of(&kind, told.clone()) else { panic!("it is there") };
        assert_eq!(item.version.as_ref().map(|v| (&*v.text, v.weak)), want);
    }
}

#[test]
fn versions_of_their_own_request() {
    let of = |told: HttpAnswer| {
        let kind = kind();
        let op = op("GET /version");
        with(&kind, &op, |context, _| version(context, &filter("._version"), &told))
    };
    let token = of(answer(200, &[], r#"{"_version":7}"#)).expect("a version").expect("there is one");
    assert_eq!(&*token.text, "7");
    assert_eq!(of(answer(404, &[], "")), Ok(None));
    assert!(of(answer(200, &[], "{}")).is_err());
    assert!(of(answer(500, &[], "{}")).is_err());
}

#[test]
fn writes_are_hints() {
    use Role::{Create, Delete, Update};
    let created = r#"{"id":7,"name":"orders"}"#;
    for (role, status, headers, body, want) in [
        (Create, 201, vec![], created, "accepted 7"),
        (Create, 204, vec![], "", "accepted -"),
        (Create, 200, vec![], "OK", "accepted -"),
        (Create, 201, vec![("location", "http://host/api/queues/a%2Fb/")], "", "accepted a/b"),
        (Create, 201, vec![("location", "orders/b.%2523~9nmLZQ")], "", "accepted b.%23~9nmLZQ"),
        (Create, 201, vec![("location", "http://evil.example/queues/8")], "", "accepted -"),
        (Create, 202, vec![("location", "/api/operations/9")], "", "begun http://host/api/operations/9 None"),
        (Create, 201, vec![("location", "/api/queues/8")], created, "accepted 7"),
        (
            Create,
            409,
            vec![],
            r#"{"reason":"AlreadyExists"}"#,
            "Exists: doing it: the server answered 409 Conflict: AlreadyExists",
        ),
        (Create, 412, vec![], "", "Exists: doing it: the server answered 412 Precondition Failed"),
        (Create, 404, vec![], "", "Status(404): doing it: the server answered 404 Not Found"),
        (
            Create,
            200,
            vec![("content-type", "text/html")],
            "<html>",
            "NotTheApi: doing it: the server answered with a web page",
        ),
        // Some servers call everything HTML that they say themselves.
        (Create, 201, vec![("content-type", "text/html; charset=utf-8")], "", "accepted -"),
        (Create, 201, vec![("content-type", "text/html; charset=utf-8")], "OK", "accepted -"),
        (Delete, 200, vec![("content-type", "text/html; charset=utf-8")], "", "accepted -"),
        (Update, 200, vec![], created, "accepted -"),
        (Update, 409, vec![], "", "Conflict: doing it: the server answered 409 Conflict"),
        (Update, 412, vec![], "", "Mismatch: doing it: the server answered 412 Precondition Failed"),
        (Update, 404, vec![], "", "Status(404): doing it: the server answered 404 Not Found"),
        (
            Update,
            400,
            vec![],
            r#"{"reason":"inequivalent arg"}"#,
            "Status(400): doing it: the server answered 400 Bad Request: inequivalent arg",
        ),
        (Delete, 204, vec![], "", "accepted -"),
        (Delete, 202, vec![], "", "accepted - pending"),
        (Delete, 404, vec![], "", "absent"),
        (Delete, 410, vec![], "", "absent"),
        (Delete, 412, vec![], "", "Mismatch: doing it: the server answered 412 Precondition Failed"),
    ] {
        assert_eq!(word(&write_of(&kind(), role, answer(status, &headers, body))), want, "{role:?} {status}");
    }
}

#[test]
fn the_kind_says_how_a_create_tells_more() {
    let mut kind = kind();
    kind.exists = Some(filter(r#".status == 400 and (.body.message | test("already"))"#));
    kind.create.as_mut().expect("a create").id = Some(filter(r#".headers.location | split("/") | last"#));
    let told = answer(201, &[("location", "http://elsewhere/x/9")], "");
    assert_eq!(word(&write_of(&kind, Role::Create, told)), "accepted 9");
    let told = answer(400, &[], r#"{"message":"name already taken"}"#);
    assert!(word(&write_of(&kind, Role::Create, told)).starts_with("Exists: "));
    kind.failed = Some(filter(".body.errors"));
    let told = answer(200, &[], r#"{"errors":[{"message":"not so"}]}"#);
    assert_eq!(
        word(&write_of(&kind, Role::Update, told)),
        "Status(200): doing it: the server answered 200 OK: not so"
    );
}

/// A kind whose reads of nothing are `null` has deletions that answer with nothing at all.
#[test]
fn an_empty_answer_to_a_write_says_nothing_of_absence() {
    let mut kind = kind();
    kind.absent = Some(filter(".body == null"));
    assert_eq!(word(&write_of(&kind, Role::Delete, answer(200, &[], ""))), "accepted -");
    assert_eq!(word(&write_of(&kind, Role::Delete, answer(200, &[], "null"))), "absent");
    assert_eq!(word(&read_of(&kind, answer(200, &[], "null"))), "absent");
}

#[test]
fn the_text_of_an_error_is_no_secret_for_want_of_fields() {
    let mut kind = kind();
    kind.fields.at_mut(&Path::parse("auth.password").expect("a path")).secret = true;
    let told = word(&read_of(&kind, answer(401, &[], "Not Authorized")));
    assert_eq!(told, "Status(401): doing it: the server answered 401 Unauthorized: Not Authorized");
    let told =
        word(&read_of(&kind, answer(500, &[], r#"{"error":"not s3cr3t","auth":{"password":"s3cr3t"}}"#)));
    assert!(told.ends_with(": not (redacted)"), "{told}");
}

#[test]
fn a_500_that_the_kind_knows_is_a_refusal() {
    let mut kind = kind();
    kind.failed = Some(filter(".body.error"));
    for (status, want) in [(500, "Refused"), (503, "Status(503)"), (404, "Status(404)"), (412, "Mismatch")] {
        let told = word(&write_of(&kind, Role::Update, answer(status, &[], r#"{"error":"no"}"#)));
        assert!(told.starts_with(&format!("{want}: ")), "{told}");
    }
    let told = word(&write_of(&kind, Role::Update, answer(500, &[], "{}")));
    assert!(told.starts_with("Status(500): "), "{told}");
    let told = word(&read_of(&kind, answer(500, &[], r#"{"error":"no"}"#)));
    assert!(told.starts_with("Status(500): "), "a read can be tried again: {told}");
}

#[test]
fn filters_that_fail_are_the_backends_fault() {
    let mut kind = kind();
    kind.ready = Some(filter(".body.name + 1"));
    let told = word(&read_of(&kind, answer(200, &[], r#"{"name":"orders"}"#)));
    assert!(told.starts_with("Backend: doing it: filter `.body.name + 1`: "), "{told}");
    kind.ready = Some(filter(".body.state.name"));
    kind.exists = Some(filter(".body.message | test(\"x\")"));
    let told = word(&read_of(&kind, answer(500, &[], "plain text")));
    assert_eq!(told, "Status(500): doing it: the server answered 500 Internal Server Error: plain text");
    let told = word(&write_of(&kind, Role::Create, answer(409, &[], "Conflict")));
    assert_eq!(told, "Exists: doing it: the server answered 409 Conflict");
}

#[test]
fn fields_that_others_hold_are_told_before_anything_else() {
    let mut kind = kind();
    kind.conflict = Some(filter(".body.held[]? | {path: .f, by: .m}"));
    let held = r#"{"held":[{"f":".a\u001b[2J","m":"kubectl"}]}"#;
    let told = r#"contested [Contested { path: ".a\\u{1b}[2J", by: "kubectl" }]"#;
    for (role, status, body, want) in [
        (Role::Create, 409, held, told),
        (Role::Update, 422, held, told),
        (Role::Update, 200, held, "accepted -"),
        (Role::Update, 409, "{}", "Conflict: doing it: the server answered 409 Conflict"),
        (Role::Update, 409, "no JSON", "Conflict: doing it: the server answered 409 Conflict: no JSON"),
        (Role::Create, 409, "{}", "Exists: doing it: the server answered 409 Conflict"),
    ] {
        assert_eq!(word(&write_of(&kind, role, answer(status, &[], body))), want, "{role:?} {status}");
    }
}

#[test]
fn a_dry_run_shows_what_would_be_stored_or_nothing_but_consent() {
    let mut kind = kind();
    kind.check = Some(op("PUT /queues/{vhost}/{name}?dry=1"));
    let of = |kind: &Kind, told: HttpAnswer| {
        let op = kind.check.as_ref().expect("it is there");
        word(&with(kind, op, |context, asked| check(context, asked, &told)))
    };
    for (status, body, want) in [
        (200, r#"{"name":"orders","n":1}"#, r#"found {"n":1,"name":"orders"}"#),
        (201, r#"{"name":"orders"}"#, r#"found {"name":"orders"}"#),
        (200, r#"{"name":"another"}"#, "accepted -"),
        (200, "fine", "accepted -"),
        (
            422,
            r#"{"message":"bad"}"#,
            "Status(422): doing it: the server answered 422 Unprocessable Content: bad",
        ),
        (404, "", "Status(404): doing it: the server answered 404 Not Found"),
    ] {
        assert_eq!(of(&kind, answer(status, &[], body)), want, "{status} {body}");
    }
    kind.check.as_mut().expect("it is there").item = Some(filter(".q"));
    let wrapped = answer(200, &[], r#"{"q":{"name":"orders"}}"#);
    assert_eq!(of(&kind, wrapped), r#"found {"name":"orders"}"#);
}

#[test]
fn keys_that_read_alike() {
    let kind = crate::backend::language::testing::kind(
        "{parent: {zone: none}, key: {n: .n}, list: 'GET /{zone}/a'}",
    );
    let key = |zone: Value, n: Value| kind.key_of(vec![("zone".into(), zone), ("n".into(), n)]);
    let told = |ours: &Key, theirs: &Key| kind.other_type(ours, theirs);
    let ours = key(json!("7"), json!(8));
    assert_eq!(kind.look_alikes(&ours).len(), 3, "either, and both");
    assert_eq!(
        told(&ours, &key(json!(7), json!(8))).as_deref(),
        Some("`7` is a number there, and a string in the file")
    );
    assert_eq!(
        told(&ours, &key(json!("7"), json!("8"))).as_deref(),
        Some("`8` is a string there, and a number in the file")
    );
    assert!(told(&ours, &key(json!(7), json!("8"))).is_some());
    for other in [key(json!("7"), json!(8)), key(json!("7"), json!(9)), key(json!("x"), json!(8))] {
        assert_eq!(told(&ours, &other), None, "{other}");
    }
    for text in ["07", "1.0x", "", "1e3", " 7", "seven"] {
        assert!(kind.look_alikes(&key(json!("z"), json!(text))).is_empty(), "{text}");
    }
    // A comparer that makes them one key leaves nothing to tell apart.
    let folded =
        crate::backend::language::testing::kind("{key: {n: .n}, list: GET /a, fields: {n: tostring}}");
    assert!(folded.look_alikes(&folded.key_of(vec![("n".into(), json!("7"))])).is_empty());
}

/// An answer of another API is JSON as well, and lacks what the object had.
#[test]
fn an_object_without_the_key_that_it_had_is_another() {
    let kind = kind();
    let Read::Op(op) = &kind.read else { panic!("a read of its own") };
    let told = answer(200, &[], r#"{"status":"ok"}"#);
    let read_after = |before: Option<Value>| {
        with(&kind, op, |context, asked| {
            let target = Target { observed: before.clone().map(Arc::new), ..asked.target.clone() };
            read(context, Asked { target: &target, ..asked }, &told, None)
        })
    };
    let wrong = "WrongObject: doing it: the server answered with something else: it has no `name`, which the object had \
                 before";
    assert_eq!(word(&read_after(Some(json!({"name": "orders", "x": 1})))), wrong);
    // Some APIs leave the key out of reads.
    let taken = r#"found {"status":"ok"}"#;
    assert_eq!(word(&read_after(Some(json!({"x": 1})))), taken);
    assert_eq!(word(&read_after(None)), taken);
}

#[test]
fn an_object_of_another_id_or_type_is_another() {
    let document = Some(DocumentType { api_version: "v1".into(), kind: "Queue".into() });
    let typed = Kind { document, ..kind() };
    let other = answer(200, &[], r#"{"kind":"Status","name":"orders"}"#);
    assert_eq!(
        word(&read_of(&typed, other)),
        "WrongObject: doing it: the server answered with another object: a `Status`, not a `Queue`"
    );
    let Read::Op(op) = &kind().read else { panic!("a read of its own") };
    let by_id = Op { path: Template(vec![Piece::Literal("/q/".into()), Piece::Id]), ..op.clone() };
    for (id, want) in [
        (json!(8), "WrongObject: doing it: the server answered with another object: one of the id `8`"),
        // Some servers spell a UUID in capitals.
        (json!("A7"), r#"found {"id":"A7","name":"orders"}"#),
    ] {
        let told = answer(200, &[], &json!({"id": id, "name": "orders"}).to_string());
        let got = with(&kind(), &by_id, |context, asked| {
            let target = Target { server_id: Some("a7".into()), ..asked.target.clone() };
            read(context, Asked { target: &target, ..asked }, &told, None)
        });
        assert_eq!(word(&got), want);
    }
}

/// Some APIs leave the name out of reads. What has another id than was seen is then another object; where the name is
/// told, it was made anew under it.
#[test]
fn an_object_without_its_name_and_with_another_id_is_another() {
    let wrong = "WrongObject: doing it: the server answered with another object: one of the id `8`";
    let nameless = Kind { parts: kind().parts.into_iter().take(1).collect(), ..kind() };
    for (kind, seen, hint, told, want) in [
        (kind(), Some(json!({"id": 7})), None, r#"{"id":8,"x":1}"#, wrong),
        (kind(), Some(json!({"id": 7})), None, r#"{"id":"7","x":1}"#, r#"found {"id":"7","x":1}"#),
        (kind(), Some(json!({"id": 7})), None, r#"{"x":1}"#, r#"found {"x":1}"#),
        (kind(), Some(json!({"x": 1})), None, r#"{"id":8}"#, r#"found {"id":8}"#),
        (kind(), None, Some("7"), r#"{"id":8}"#, r#"found {"id":8}"#),
        (
            kind(),
            Some(json!({"id": 7})),
            None,
            r#"{"id":8,"name":"orders"}"#,
            r#"found {"id":8,"name":"orders"}"#,
        ),
        // Of what never tells a name, as settings, the id may be one of the state.
        (nameless, Some(json!({"id": 7})), None, r#"{"id":8}"#, r#"found {"id":8}"#),
    ] {
        let Read::Op(op) = &kind.read else { panic!("a read of its own") };
        let got = with(&kind, op, |context, asked| {
            let (observed, server_id) = (seen.clone().map(Arc::new), hint.map(Arc::from));
            let target = Target { observed, server_id, ..asked.target.clone() };
            read(context, Asked { target: &target, ..asked }, &answer(200, &[], told), None)
        });
        assert_eq!(word(&got), want, "{told} after {seen:?}");
    }
}

/// An answer that tells another name is no word on what a create has made.
#[test]
fn the_id_of_another_name_is_not_ours() {
    for (told, want) in [
        (r#"{"id":9,"name":"orders"}"#, "accepted 9"),
        (r#"{"id":9}"#, "accepted 9"),
        (r#"{"id":9,"name":"other"}"#, "accepted -"),
    ] {
        assert_eq!(word(&write_of(&kind(), Role::Create, answer(201, &[], told))), want, "{told}");
    }
}
