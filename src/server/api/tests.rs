//! The API as a client sees it, without sockets: tables of requests and answers, and the laws of paging.

use std::collections::BTreeSet;

use bytes::Bytes;
use http::{Request, Response};
use serde_json::{Value, json};

use super::*;

/// A request in a line: `METHOD /path`, headers, body.
pub async fn send(server: &Server, line: &str, headers: &[(&str, &str)], body: &str) -> Response<Bytes> {
    let (method, uri) = line.split_once(' ').expect("a method and a path");
    let mut request = Request::builder().method(method).uri(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    server.call(request.body(Bytes::from(body.to_owned())).expect("a request")).await
}

pub async fn get(server: &Server, uri: &str) -> Value {
    let response = send(server, &format!("GET {uri}"), &[], "").await;
    assert_eq!(response.status().as_u16(), 200, "{uri}");
    body(&response)
}

pub fn body(response: &Response<Bytes>) -> Value {
    serde_json::from_slice(response.body()).expect("a JSON body")
}

pub fn header<'a>(response: &'a Response<Bytes>, name: &str) -> Option<&'a str> {
    response.headers().get(name).map(|value| value.to_str().expect("text"))
}

pub fn server() -> Server {
    Server::new(Store::in_memory())
}

pub const MERGE: (&str, &str) = ("content-type", body::MERGE_PATCH);
const JSON: (&str, &str) = ("content-type", body::JSON_PATCH);

#[tokio::test]
async fn a_story_of_writes() {
    let server = server();
    for (line, headers, sent, status, etag, want) in [
        ("POST /teams", &[][..], r#"{"name":"a"}"#, 201, Some("1"), r#"{"id":1,"name":"a","revision":1}"#),
        ("POST /teams", &[], r#"{"name":"a"}"#, 201, Some("1"), r#"{"id":2,"name":"a","revision":1}"#),
        (
            "PUT /teams/1",
            &[],
            r#"{"id":1,"name":"b"}"#,
            200,
            Some("2"),
            r#"{"id":1,"name":"b","revision":2}"#,
        ),
        ("PUT /teams/1", &[], r#"{"name":"b"}"#, 200, Some("2"), r#"{"id":1,"name":"b","revision":2}"#),
        (
            "PATCH /teams/1",
            &[MERGE],
            r#"{"n":1,"name":null}"#,
            200,
            Some("3"),
            r#"{"id":1,"n":1,"revision":3}"#,
        ),
        ("PATCH /teams/1", &[MERGE], r#"{"n":1.0}"#, 200, Some("3"), r#"{"id":1,"n":1,"revision":3}"#),
        (
            "PUT /zones/a%2Fb",
            &[],
            r#"{"name":"a/b"}"#,
            201,
            Some("1"),
            r#"{"id":"a/b","name":"a/b","revision":1}"#,
        ),
        ("PUT /zones/7", &[], "{}", 201, Some("1"), r#"{"id":"7","revision":1}"#),
        (
            "PUT /big/n",
            &[],
            r#"{"a":18446744073709551617,"b":0.10000000000000000001,"c":1.10}"#,
            201,
            Some("1"),
            r#"{"a":18446744073709551617,"b":0.10000000000000000001,"c":1.10,"id":"n","revision":1}"#,
        ),
        ("PUT /zones/a%2Fb/records/www", &[], "{}", 201, Some("1"), r#"{"id":"www","revision":1}"#),
        ("DELETE /zones/a%2Fb/records/www", &[], "", 204, None, ""),
        ("PUT /zones/a%2Fb/records/www", &[], "{}", 201, Some("2"), r#"{"id":"www","revision":2}"#),
    ] {
        let response = send(&server, line, headers, sent).await;
        assert_eq!(response.status().as_u16(), status, "{line} {sent}");
        assert_eq!(header(&response, "etag"), etag.map(|tag| format!("\"{tag}\"")).as_deref(), "{line}");
        assert_eq!(response.body(), want, "{line}");
    }
    let created = send(&server, "PUT /zones/%C3%BC%20%2F", &[], "{}").await;
    assert_eq!(header(&created, "location"), Some("/zones/%C3%BC%20%2F"));
    let read = send(&server, "GET /zones/%C3%BC%20%2F", &[], "").await;
    assert_eq!(read.body(), created.body());
}

#[tokio::test]
async fn errors_are_problem_documents() {
    let server = server();
    send(&server, "PUT /teams/a", &[], "{}").await;
    send(&server, "PUT /teams/a/members/x", &[], "{}").await;
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(MAX));
    for (line, headers, sent, status, detail) in [
        ("GET /teams/b", &[][..], "", 404, "`/teams/b` does not exist"),
        ("GET /teams/b/members", &[], "", 404, "the parent `/teams/b` does not exist"),
        ("GET /teams/b/members/x", &[], "", 404, "the parent `/teams/b` does not exist"),
        ("POST /teams/b/members", &[], "{}", 404, "the parent `/teams/b` does not exist"),
        ("PUT /teams/b/members/x", &[], "{}", 404, "the parent `/teams/b` does not exist"),
        ("DELETE /teams/b", &[], "", 404, "`/teams/b` does not exist"),
        ("PATCH /teams/b", &[MERGE], "{}", 404, "`/teams/b` does not exist"),
        ("DELETE /teams/a", &[], "", 409, "`/teams/a` still has 1 item below it"),
        ("POST /teams/a", &[], "{}", 405, "this path answers GET, HEAD, PUT, PATCH, DELETE, OPTIONS"),
        ("DELETE /teams", &[], "", 405, "this path answers GET, HEAD, POST, OPTIONS"),
        ("PUT /", &[], "{}", 405, "this path answers GET, HEAD, OPTIONS"),
        ("PUT /teams/a", &[], "{", 400, "the body is not JSON: EOF"),
        ("PUT /teams/a", &[], "", 400, "the body is empty"),
        ("PUT /teams/a", &[], &deep, 400, "the body is not JSON: recursion limit"),
        ("PUT /teams/a", &[], "[]", 422, "the body is a list; a JSON object is needed"),
        (
            "PUT /teams/a",
            &[],
            r#"{"name":"b"}"#,
            422,
            "the name in the body is `b`, the one in the path is `a`",
        ),
        ("PUT /teams/a", &[], r#"{"id":7}"#, 422, "the id in the body is `7`, the one in the path is `a`"),
        ("PATCH /teams/a", &[MERGE], r#"{"name":"b"}"#, 422, "the name in the body is `b`"),
        ("PATCH /teams/a", &[MERGE], "[]", 422, "the body is a list; a JSON object is needed"),
        ("PATCH /teams/a", &[JSON], "{}", 422, "the body is a map; a JSON list is needed"),
        ("PATCH /teams/a", &[JSON], r#"[{"op":"copy","path":"/a"}]"#, 422, "`copy` is not supported"),
        ("PATCH /teams/a", &[JSON], r#"[{"op":"remove","path":"a"}]"#, 422, "`a` is not a JSON pointer"),
        ("PATCH /teams/a", &[JSON], r#"[{"op":"remove","path":"/x"}]"#, 409, "there is nothing at `/x`"),
        (
            "PATCH /teams/a",
            &[JSON],
            r#"[{"op":"test","path":"/revision","value":2}]"#,
            409,
            "the value at `/revision` is not the expected one",
        ),
        (
            "PATCH /teams/a",
            &[JSON],
            r#"[{"op":"add","path":"","value":1}]"#,
            422,
            "the patch would leave a number",
        ),
        ("POST /teams", &[], r#"{"id":7}"#, 422, "the ids of `/teams` are made by the server"),
        ("PUT /teams/a", &[("content-type", "text/yaml")], "{}", 415, "`text/yaml` is sent where"),
        (
            "PATCH /teams/a",
            &[("content-type", "application/json")],
            "{}",
            415,
            "`application/json` is sent where",
        ),
        (
            "PATCH /teams/a",
            &[],
            "{}",
            415,
            "no content type is sent where one of application/merge-patch+json",
        ),
        ("PUT /teams/a", &[], &large, 413, "the body has more than 16777216 bytes"),
        ("PUT /teams/a", &[("if-match", "1")], "{}", 400, "`if-match` is no list of entity tags"),
        ("PUT /teams/a", &[("if-match", "\"9\"")], "{}", 412, "`/teams/a` is at revision 1"),
        ("GET /teams?limit=x", &[], "", 400, "`limit` must be a whole number, not `x`"),
        ("GET /teams/", &[], "", 404, "the path has an empty segment"),
    ] {
        let response = send(&server, line, headers, sent).await;
        let problem = body(&response);
        assert_eq!(response.status().as_u16(), status, "{line}: {problem}");
        assert_eq!(header(&response, "content-type"), Some("application/problem+json"), "{line}");
        assert_eq!(problem["status"], json!(status), "{line}");
        assert!(problem["detail"].as_str().expect("a detail").contains(detail), "{line}: {problem}");
        assert!(problem["type"].is_string() && problem["title"].is_string(), "{line}: {problem}");
    }
    assert_eq!(get(&server, "/teams/a").await, json!({"id": "a", "revision": 1}), "no refusal left a trace");
}

const MAX: usize = crate::server::store::MAX_SIZE;

#[tokio::test]
async fn preconditions() {
    let (one, two, star) = ("\"1\"", "\"2\"", "*");
    for (line, name, value, status) in [
        ("PUT /zones/a", "if-match", one, 200),
        ("PUT /zones/a", "if-match", two, 412),
        ("PUT /zones/a", "if-match", "W/\"1\"", 412),
        ("PUT /zones/a", "if-none-match", star, 412),
        ("PUT /zones/a", "if-none-match", two, 200),
        ("PUT /zones/new", "if-none-match", star, 201),
        ("PUT /zones/new", "if-match", star, 412),
        ("PATCH /zones/a", "if-match", two, 412),
        ("PATCH /zones/a", "if-match", one, 200),
        ("PATCH /zones/new", "if-match", one, 404),
        ("DELETE /zones/a", "if-match", two, 412),
        ("DELETE /zones/a", "if-match", one, 204),
        ("DELETE /zones/new", "if-match", one, 404),
        ("POST /zones", "if-none-match", star, 201),
        ("POST /zones", "if-match", "\"c1\"", 201),
        ("POST /zones", "if-match", "\"c0\"", 412),
        ("GET /zones/a", "if-none-match", one, 304),
        ("GET /zones/a", "if-none-match", two, 200),
        ("GET /zones/a", "if-match", two, 412),
        ("GET /zones", "if-none-match", "\"c1\"", 304),
        ("GET /zones", "if-none-match", "\"c0\"", 200),
    ] {
        let server = server();
        send(&server, "PUT /zones/a", &[], "{}").await;
        let media = if line.starts_with("PATCH") { MERGE.1 } else { "application/json" };
        let response = send(&server, line, &[(name, value), ("content-type", media)], r#"{"x":1}"#).await;
        assert_eq!(response.status().as_u16(), status, "{line} {name}: {value}");
        if status == 304 {
            assert_eq!((header(&response, "etag"), response.body().len()), (Some(value), 0));
        }
    }
}

#[tokio::test]
async fn a_listing_has_a_tag_that_follows_its_content() {
    let server = server();
    let mut seen = BTreeSet::new();
    for (line, changes) in [
        ("PUT /teams/a", true),
        ("PUT /teams/a", false),
        ("PUT /teams/b", true),
        ("PUT /zones/a", false),
        ("PUT /teams/a/members/x", false),
        ("DELETE /teams/b", true),
    ] {
        send(&server, line, &[], "{}").await;
        let response = send(&server, "GET /teams", &[], "").await;
        assert_eq!(seen.insert(header(&response, "etag").expect("a tag").to_owned()), changes, "{line}");
    }
}

#[tokio::test]
async fn head_options_and_overview() {
    let server = server();
    send(&server, "PUT /teams/a", &[], "{}").await;
    let (get, head) =
        (send(&server, "GET /teams/a", &[], "").await, send(&server, "HEAD /teams/a", &[], "").await);
    assert_eq!(header(&head, "content-length"), Some(get.body().len().to_string().as_str()));
    assert_eq!((head.status(), head.body().len()), (get.status(), 0));
    let options = send(&server, "OPTIONS /teams/a", &[], "").await;
    assert_eq!(header(&options, "allow"), Some("GET, HEAD, PUT, PATCH, DELETE, OPTIONS"));
    assert_eq!(
        header(&options, "accept-patch"),
        Some("application/merge-patch+json, application/json-patch+json, application/apply-patch+json")
    );
    assert_eq!(self::get(&server, "/").await, json!({"collections": [{"items": 1, "path": "/teams"}]}));
    assert_eq!(self::get(&server, "/healthz").await, json!({"status": "ok"}));
    assert_eq!(self::get(&server, "/nothing").await, json!({"items": [], "total": 0}));
}

#[tokio::test]
async fn a_token_is_demanded_from_all_but_the_health_check() {
    let server = server().with_token("t0ken");
    for (path, sent, status) in [
        ("/teams", None, 401),
        ("/teams", Some("Bearer wrong"), 401),
        ("/teams", Some("Bearer t0ken2"), 401),
        ("/teams", Some("Basic t0ken"), 401),
        ("/teams", Some("Bearer"), 401),
        ("/teams", Some("Bearer t0ken"), 200),
        ("/teams", Some("bearer t0ken"), 200),
        ("/healthz", None, 200),
    ] {
        let headers: Vec<_> = sent.map(|value| ("authorization", value)).into_iter().collect();
        let response = send(&server, &format!("GET {path}"), &headers, "").await;
        assert_eq!(response.status().as_u16(), status, "{sent:?}");
        let challenge = (status == 401).then_some("Bearer");
        assert_eq!(header(&response, "www-authenticate"), challenge, "{sent:?}");
    }
}

#[tokio::test]
async fn filters_compare_top_level_fields() {
    let server = server();
    for (name, of) in [("a", "x"), ("b", "y"), ("c", "x")] {
        let sent = json!({"of": of, "n": 1.0, "on": true, "in": {"deep": 1}}).to_string();
        send(&server, &format!("PUT /things/{name}"), &[], &sent).await;
    }
    for (query, want) in [
        ("of=x", vec!["a", "c"]),
        ("of=x&n=1", vec!["a", "c"]),
        ("of=x&id=c", vec!["c"]),
        ("on=true&limit=2", vec!["a", "b"]),
        ("deep=1", vec![]),
        ("of=z", vec![]),
    ] {
        let page = get(&server, &format!("/things?{query}")).await;
        assert_eq!(ids(&page), want, "{query}");
    }
    let page = send(&server, "GET /things?of=x&limit=1", &[], "").await;
    assert_eq!(body(&page)["total"], json!(2));
    assert_eq!(header(&page, "link"), Some("</things?cursor=c1&limit=1&of=x>; rel=\"next\""));
}

fn ids(page: &Value) -> Vec<&str> {
    let items = page["items"].as_array().expect("items");
    items.iter().map(|item| item["id"].as_str().expect("a natural key")).collect()
}

/// Follows `Link` to the end, and does something to the collection between pages.
async fn walk(server: &Server, first: &str, between: &[&str]) -> Vec<String> {
    let (mut uri, mut all, mut between) = (first.to_owned(), Vec::new(), between.iter());
    loop {
        let response = send(server, &format!("GET {uri}"), &[], "").await;
        all.extend(ids(&body(&response)).into_iter().map(str::to_owned));
        match header(&response, "link").and_then(|link| link.strip_prefix('<')?.split_once('>')) {
            Some((next, rel)) => {
                assert_eq!(rel, "; rel=\"next\"");
                assert!(body(&response)["next"].is_string());
                uri = next.to_owned();
            }
            None => return all,
        }
        if let Some(line) = between.next() {
            assert!(send(server, line, &[], "{}").await.status().is_success(), "{line}");
        }
    }
}

#[tokio::test]
async fn the_pages_of_every_kind_add_up_to_the_collection() {
    for count in [0, 1, 5, 6, 7, 12] {
        let server = server();
        let names: Vec<String> = (0..count).map(|n| format!("n{n}")).collect();
        for name in names.iter().rev() {
            send(&server, &format!("PUT /things/{name}"), &[], r#"{"kind":"x"}"#).await;
        }
        let want: Vec<String> = names.into_iter().rev().collect();
        for size in [1, 2, 3, 6, 100] {
            for query in [
                format!("limit={size}"),
                format!("page=1&page_size={size}"),
                format!("offset=0&limit={size}"),
                format!("kind=x&limit={size}"),
                format!("kind=x&page=1&page_size={size}"),
                format!("kind=x&offset=0&limit={size}"),
            ] {
                let got = walk(&server, &format!("/things?{query}"), &[]).await;
                assert_eq!(got, want, "{count} items, {query}");
            }
        }
    }
}

#[tokio::test]
async fn a_cursor_survives_what_happens_between_pages() {
    for filter in ["", "&kind=x"] {
        let server = server();
        for n in 0..6 {
            send(&server, &format!("PUT /things/n{n}"), &[], r#"{"kind":"x"}"#).await;
        }
        // The item that the cursor stands on goes, and one that is still to come.
        let between = ["DELETE /things/n1", "DELETE /things/n5"];
        let got = walk(&server, &format!("/things?limit=2{filter}"), &between).await;
        assert_eq!(got, ["n0", "n1", "n2", "n3", "n4"]);
    }
}

#[tokio::test]
async fn what_is_inserted_between_pages_comes_at_the_end() {
    for query in ["limit=1", "page=1&page_size=1", "offset=0&limit=1"] {
        let server = server();
        for n in 0..3 {
            send(&server, &format!("PUT /things/n{n}"), &[], "{}").await;
        }
        let between = ["PUT /things/a", "PUT /things/b"];
        let got = walk(&server, &format!("/things?{query}"), &between).await;
        assert_eq!(got, ["n0", "n1", "n2", "a", "b"], "{query}");
    }
}
