//! Field managers as a client sees them, and a status apart.

use serde_json::{Value, json};

use super::tests::{MERGE, body, get, header, send, server};
use super::*;
use crate::server::store::Durability;

const APPLY: (&str, &str) = ("content-type", body::APPLY_PATCH);

/// A server on a store of its own, whose `apps` keep their status apart.
fn with_status() -> (Server, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let apps = ["apps".to_owned()];
    let store = Store::open_with_status(folder.path(), Durability::NoSync, &apps).expect("a new store");
    (Server::new(store), folder)
}

/// A request: its line, headers and body; and its answer: the status and the body, or a part of the detail of a
/// problem.
type Exchange<'e> = (&'e str, &'e [(&'e str, &'e str)], &'e str, u16, Value);

/// Sends requests in order, and expects their answers.
async fn story(server: &Server, lines: &[Exchange<'_>]) {
    for (line, headers, sent, status, want) in lines {
        let response = send(server, line, headers, sent).await;
        let got = if response.body().is_empty() { Value::Null } else { body(&response) };
        assert_eq!(response.status().as_u16(), *status, "{line} {sent}: {got}");
        match want {
            Value::String(detail) => {
                assert!(got["detail"].as_str().is_some_and(|text| text.contains(detail)), "{line}: {got}");
            }
            want => assert_eq!(&got, want, "{line} {sent}"),
        }
    }
}

#[tokio::test]
async fn an_apply_patch_makes_an_item_and_takes_only_what_it_held() {
    let server = server();
    let a = "PATCH /flags/x?fieldManager=a";
    story(
        &server,
        &[
            (
                a,
                &[APPLY],
                r#"{"on":true,"n":{"x":1,"y":1}}"#,
                201,
                json!({"id": "x", "revision": 1, "on": true, "n": {"x": 1, "y": 1}}),
            ),
            (
                a,
                &[APPLY],
                r#"{"on":true,"n":{"x":1.0,"y":1}}"#,
                200,
                json!({"id": "x", "revision": 1, "on": true, "n": {"x": 1, "y": 1}}),
            ),
            (
                "PATCH /flags/x",
                &[MERGE],
                r#"{"theirs":1}"#,
                200,
                json!({"id": "x", "revision": 2, "on": true, "n": {"x": 1, "y": 1}, "theirs": 1}),
            ),
            (
                a,
                &[APPLY],
                r#"{"n":{"x":2}}"#,
                200,
                json!({"id": "x", "revision": 3, "n": {"x": 2}, "theirs": 1}),
            ),
            (a, &[APPLY], r#"{"id":"y"}"#, 422, json!("the id in the body is `y`")),
            (a, &[APPLY], r#"{"fieldManagers":[]}"#, 422, json!("`fieldManagers` is told by the server")),
            ("PATCH /flags/x", &[APPLY], "{}", 400, json!("?fieldManager=NAME")),
            (
                "PATCH /flags/x?fieldManager=a&force=maybe",
                &[APPLY],
                "{}",
                400,
                json!("`force` is `true` or `false`"),
            ),
            (
                "PATCH /no/x/flags/y?fieldManager=a",
                &[APPLY],
                "{}",
                404,
                json!("the parent `/no/x` does not exist"),
            ),
            (
                "PATCH /flags/x?fieldManager=a",
                &[APPLY, ("if-match", "\"1\"")],
                r#"{"on":1}"#,
                412,
                json!("is at revision 3"),
            ),
            (
                "PATCH /flags/z?fieldManager=a",
                &[APPLY, ("if-match", "*")],
                r#"{"on":1}"#,
                412,
                json!("does not exist"),
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_conflict_names_each_field_and_its_manager() {
    let server = server();
    let curl = ("user-agent", "curl/8.5");
    send(&server, "PUT /flags/x", &[], r#"{"old":1}"#).await;
    send(&server, "PATCH /flags/x?fieldManager=console", &[APPLY], r#"{"on":true,"by.dot":{"x":1}}"#).await;
    send(&server, "PATCH /flags/x", &[MERGE, curl], r#"{"n":1}"#).await;
    let sent = r#"{"on":false,"n":2,"old":2,"by.dot":{"x":1}}"#;
    let refused = send(&server, "PATCH /flags/x?fieldManager=ci", &[APPLY], sent).await;
    let problem = body(&refused);
    assert_eq!(
        (refused.status().as_u16(), &problem["type"]),
        (409, &json!("urn:trueup:problem:field-conflict"))
    );
    let want = json!([
        {"path": "n", "manager": "curl"},
        {"path": "old", "manager": "before-first-apply"},
        {"path": "on", "manager": "console"},
    ]);
    assert_eq!(problem["conflicts"], want);
    assert_eq!(
        problem["detail"],
        "`n` is held by `curl`, `old` is held by `before-first-apply`, `on` is held by `console`"
    );
    let forced = send(&server, "PATCH /flags/x?fieldManager=ci&force=true", &[APPLY], sent).await;
    assert_eq!(forced.status().as_u16(), 200);
    let want = json!([
        {"name": "ci", "operation": "apply", "paths": ["[\"by.dot\"].x", "n", "old", "on"]},
        {"name": "console", "operation": "apply", "paths": ["[\"by.dot\"].x"]},
    ]);
    assert_eq!(get(&server, "/flags/x?fieldManagers=true").await["fieldManagers"], want);
}

#[tokio::test]
async fn managers_are_told_on_demand_only() {
    let server = server();
    send(&server, "PUT /flags/plain", &[], "{}").await;
    send(&server, "PATCH /flags/x?fieldManager=a", &[APPLY], r#"{"on":true}"#).await;
    assert_eq!(get(&server, "/flags/x").await, json!({"id": "x", "on": true, "revision": 1}));
    let page = get(&server, "/flags?fieldManagers=true&limit=2").await;
    assert_eq!(page["items"][0], json!({"id": "plain", "revision": 1}));
    assert_eq!(page["items"][1]["fieldManagers"][0]["name"], "a");
    let first = send(&server, "GET /flags?fieldManagers=true&limit=1", &[], "").await;
    let next = header(&first, "link").expect("a second page");
    assert_eq!(next, "</flags?cursor=c1&limit=1&fieldManagers=true>; rel=\"next\"");
    let written = send(&server, "PATCH /flags/x?fieldManagers=true", &[MERGE], r#"{"on":false}"#).await;
    assert_eq!(
        body(&written)["fieldManagers"],
        json!([{"name": "unknown", "operation": "update", "paths": ["on"]}])
    );
    assert_eq!(get(&server, "/flags?fieldManagers=false").await["total"], 2, "it is no filter");
}

#[tokio::test]
async fn a_change_of_owners_alone_is_a_change() {
    let server = server();
    send(&server, "PATCH /flags/x?fieldManager=a", &[APPLY], r#"{"on":true}"#).await;
    for (manager, tag) in [("b", "\"2\""), ("b", "\"2\""), ("a", "\"2\"")] {
        let line = format!("PATCH /flags/x?fieldManager={manager}");
        let answer = send(&server, &line, &[APPLY], r#"{"on":true}"#).await;
        assert_eq!(header(&answer, "etag"), Some(tag), "{manager}");
    }
}

#[tokio::test]
async fn a_rehearsal_answers_and_does_nothing() {
    let server = server();
    send(&server, "PATCH /flags/x?fieldManager=a", &[APPLY], r#"{"on":true}"#).await;
    let before = get(&server, "/?x").await;
    for (line, headers, sent, status) in [
        ("POST /flags?dryRun=true", &[][..], r#"{"n":1}"#, 201),
        ("PUT /flags/new?dryRun=true", &[], "{}", 201),
        ("PUT /flags/x?dryRun=All", &[], r#"{"on":false}"#, 200),
        ("PATCH /flags/x?dryRun=true", &[MERGE], r#"{"on":false}"#, 200),
        ("PATCH /flags/x?dryRun=true&fieldManager=b", &[APPLY], r#"{"on":false}"#, 409),
        ("PATCH /flags/x?dryRun=true&fieldManager=b&force=true", &[APPLY], r#"{"on":false}"#, 200),
        ("DELETE /flags/x?dryRun=true", &[], "", 204),
        ("DELETE /flags/x?dryRun=yes", &[], "", 400),
        ("PUT /flags/x?dryRun=true", &[("if-match", "\"7\"")], "{}", 412),
    ] {
        let answer = send(&server, line, headers, sent).await;
        assert_eq!(answer.status().as_u16(), status, "{line}");
        assert_eq!((header(&answer, "etag"), header(&answer, "location")), (None, None), "{line}");
        assert!(answer.extensions().get::<Accepted>().is_none(), "{line} was no write");
    }
    assert_eq!(get(&server, "/?x").await, before);
    assert_eq!(get(&server, "/flags/x").await, json!({"id": "x", "on": true, "revision": 1}));
}

#[tokio::test]
async fn a_status_apart_is_written_on_its_own_path() {
    let (server, _folder) = with_status();
    let item = |revision: u64, n: u64, status: Value| {
        let mut item = json!({"id": "a", "revision": revision, "n": n});
        if !status.is_null() {
            item["status"] = status;
        }
        item
    };
    story(
        &server,
        &[
            ("PUT /apps/a/status", &[], r#"{"status":"up"}"#, 404, json!("`/apps/a` does not exist")),
            ("PUT /apps/a", &[], r#"{"n":1,"status":"mine"}"#, 201, item(1, 1, Value::Null)),
            ("PUT /apps/a/status", &[], r#"{"n":7,"status":"up"}"#, 200, item(2, 1, json!("up"))),
            ("GET /apps/a/status", &[], "", 200, item(2, 1, json!("up"))),
            ("PUT /apps/a", &[], r#"{"n":2}"#, 200, item(3, 2, json!("up"))),
            ("PUT /apps/a", &[], r#"{"n":2,"status":"down"}"#, 200, item(3, 2, json!("up"))),
            ("PATCH /apps/a", &[MERGE], r#"{"n":3,"status":null}"#, 200, item(4, 3, json!("up"))),
            (
                "PATCH /apps/a/status",
                &[MERGE],
                r#"{"n":9,"status":{"up":1}}"#,
                200,
                item(5, 3, json!({"up": 1})),
            ),
            (
                "PATCH /apps/a/status",
                &[MERGE, ("if-match", "\"1\"")],
                r#"{"status":1}"#,
                412,
                json!("is at revision 5"),
            ),
            ("PUT /apps/a/status", &[], r#"{"id":"b","status":1}"#, 422, json!("the id in the body is `b`")),
            ("PUT /apps/a/status", &[], "{}", 200, item(6, 3, Value::Null)),
            ("POST /apps", &[], r#"{"status":"mine"}"#, 201, json!({"id": 1, "revision": 1})),
            (
                "POST /apps/a/status",
                &[],
                "{}",
                405,
                json!("this path answers GET, HEAD, PUT, PATCH, OPTIONS"),
            ),
            ("DELETE /apps/a/status", &[], "", 405, json!("this path answers")),
            ("PUT /apps/a/status/x", &[], "{}", 404, json!("there is nothing below a status")),
            ("GET /apps/none/status", &[], "", 404, json!("`/apps/none` does not exist")),
        ],
    )
    .await;
}

#[tokio::test]
async fn each_part_has_its_own_fields_in_an_apply_patch() {
    let (server, _folder) = with_status();
    send(&server, "PATCH /apps/a?fieldManager=op", &[APPLY], r#"{"n":1,"status":{"up":true}}"#).await;
    send(&server, "PATCH /apps/a/status?fieldManager=op", &[APPLY], r#"{"n":2,"status":{"up":true}}"#).await;
    send(&server, "PATCH /apps/a?fieldManager=op", &[APPLY], r#"{"m":1}"#).await;
    let want = json!({
        "id": "a", "revision": 3, "m": 1, "status": {"up": true},
        "fieldManagers": [{"name": "op", "operation": "apply", "paths": ["m", "status.up"]}],
    });
    assert_eq!(get(&server, "/apps/a?fieldManagers=true").await, want);
    let other =
        send(&server, "PATCH /apps/a/status?fieldManager=x", &[APPLY], r#"{"status":{"up":false}}"#).await;
    assert_eq!(body(&other)["conflicts"], json!([{"path": "status.up", "manager": "op"}]));
    send(&server, "PATCH /apps/a/status?fieldManager=op", &[APPLY], "{}").await;
    assert_eq!(get(&server, "/apps/a").await, json!({"id": "a", "revision": 4, "m": 1}));
}

#[tokio::test]
async fn elsewhere_a_status_is_a_field_and_a_collection_as_any_other() {
    let (server, _folder) = with_status();
    story(
        &server,
        &[
            ("PUT /teams/a", &[], r#"{"status":"x"}"#, 201, json!({"id": "a", "revision": 1, "status": "x"})),
            ("GET /teams/a/status", &[], "", 200, json!({"items": [], "total": 0})),
            ("PUT /teams/a/status/x", &[], "{}", 201, json!({"id": "x", "revision": 1})),
            ("PUT /teams/a/status", &[], "{}", 405, json!("this path answers GET, HEAD, POST, OPTIONS")),
            ("PUT /teams/a/apps/y", &[], r#"{"status":1}"#, 201, json!({"id": "y", "revision": 1})),
            ("PUT /status/x", &[], "{}", 201, json!({"id": "x", "revision": 1})),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_store_remembers_whose_status_is_apart() {
    let (server, folder) = with_status();
    send(&server, "PUT /apps/a", &[], r#"{"status":1}"#).await;
    send(&server, "PUT /teams/a", &[], "{}").await;
    send(&server, "PUT /teams/a/status/x", &[], "{}").await;
    drop(server);
    let server = Server::new(Store::open(folder.path(), Durability::NoSync).expect("opened again"));
    send(&server, "PUT /apps/a", &[], r#"{"status":2}"#).await;
    assert_eq!(get(&server, "/apps/a/status").await, json!({"id": "a", "revision": 1}));
    drop(server);
    let teams = ["teams".to_owned()];
    let opened = Store::open_with_status(folder.path(), Durability::NoSync, &teams).map(drop);
    let error = opened.expect_err("something is in the way").to_string();
    assert!(
        error.ends_with("`/teams/a/status` is a collection with items, and cannot become a status"),
        "{error}"
    );
}
