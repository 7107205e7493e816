//! Each fault, on a real connection, as a client meets it.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::server::{Faults, Rules, Server, Service, Store, serve};

/// A server with faults on a port of its own.
pub(super) struct Bad {
    pub address: std::net::SocketAddr,
    pub stop: CancellationToken,
    pub task: tokio::task::JoinHandle<()>,
}

impl Bad {
    pub async fn start(rules: &str) -> Bad {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let faults = Faults::new(Rules::parse(rules).expect("rules"));
        let service = Service::new(Server::new(Store::in_memory())).with_faults(faults);
        let stop = CancellationToken::new();
        let task = tokio::spawn(serve(listener, service, stop.clone().cancelled_owned()));
        Bad { address, stop, task }
    }

    /// Sends a request on a connection of its own; `None` when it ends without a whole answer.
    pub async fn send(&self, line: &str, body: &str) -> Option<(u16, http::HeaderMap, Bytes)> {
        let (method, uri) = line.split_once(' ').expect("a method and a path");
        let stream = TcpStream::connect(self.address).await.expect("a connection");
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.expect("a handshake");
        tokio::spawn(connection);
        let request = http::Request::builder().method(method).uri(uri).header("host", "localhost");
        let request = request.body(Full::new(Bytes::from(body.to_owned()))).expect("a request");
        let (head, body) = sender.send_request(request).await.ok()?.into_parts();
        Some((head.status.as_u16(), head.headers, body.collect().await.ok()?.to_bytes()))
    }

    pub async fn status(&self, line: &str) -> Option<u16> {
        Some(self.send(line, "{}").await?.0)
    }

    pub async fn json(&self, line: &str) -> Value {
        let (_, _, body) = self.send(line, "{}").await.expect("an answer");
        serde_json::from_slice(&body).expect("a JSON body")
    }

    async fn log(&self) -> Vec<String> {
        let log = self.json("GET /_log").await;
        let text = |entry: &Value| format!("{} {}", entry["path"].as_str().expect("a path"), entry["status"]);
        log.as_array().expect("a list").iter().map(text).collect()
    }
}

#[tokio::test]
async fn failures_before_and_after_the_commit() {
    for (fault, seen, stored) in [
        ("{status: {status: 503, retry-after: '7'}}", Some(503), false),
        ("{status: {status: 500, at: after}}", Some(500), true),
        ("{drop: before}", None, false),
        ("{drop: after}", None, true),
        ("{truncate: 3}", None, true),
        ("{html: <html>sign in</html>}", Some(200), false),
        ("{redirect: {to: http://localhost:1/x, status: 307}}", Some(307), false),
        ("{delay: 1ms}", Some(201), true),
    ] {
        let bad = Bad::start(&format!("rules: [{{match: {{method: PUT, nth: 1}}, fault: {fault}}}]")).await;
        assert_eq!(bad.status("PUT /teams/a").await, seen, "{fault}");
        assert_eq!(bad.log().await, if stored { vec!["/teams/a 201"] } else { vec![] }, "{fault}");
        assert_eq!(bad.status("GET /teams/a").await, Some(if stored { 200 } else { 404 }), "{fault}");
        assert_eq!(bad.status("PUT /teams/a").await, Some(if stored { 200 } else { 201 }), "{fault}");
    }
}

#[tokio::test]
async fn what_is_answered_can_be_told() {
    let bad = Bad::start(
        "rules:\n- match: {path: /a}\n  fault: {status: {status: 429, retry-after: soon, body: no, content-type: text/plain}}\n- match: {path: /b}\n  fault: {redirect: {to: 'http://other/'}}\n- match: {path: /c}\n  fault: {html: <p>}\n",
    )
    .await;
    for (line, status, header, value, want) in [
        ("GET /a", 429, "retry-after", "soon", "no"),
        ("GET /a", 429, "content-type", "text/plain", "no"),
        ("GET /b", 307, "location", "http://other/", ""),
        ("GET /c", 200, "content-type", "text/html; charset=utf-8", "<p>"),
    ] {
        let (got, headers, body) = bad.send(line, "").await.expect("an answer");
        assert_eq!((got, &headers[header], &body[..]), (status, &value.parse().unwrap(), want.as_bytes()));
    }
}

#[tokio::test]
async fn rules_fire_when_they_say() {
    for (when, want) in [
        ("{nth: 2}", "ok no ok ok ok ok"),
        ("{every: 2}", "ok no ok no ok no"),
        ("{every: 2, count: 2}", "ok no ok no ok ok"),
        ("{count: 1}", "no ok ok ok ok ok"),
        ("{path: '/other/*'}", "ok ok ok ok ok ok"),
        ("{method: post}", "ok ok ok ok ok ok"),
        ("{probability: 1}", "no no no no no no"),
        ("{probability: 0}", "ok ok ok ok ok ok"),
    ] {
        let bad =
            Bad::start(&format!("rules: [{{match: {when}, fault: {{status: {{status: 500}}}}}}]")).await;
        let mut got = Vec::new();
        for _ in 0..6 {
            got.push(if bad.status("GET /teams").await == Some(200) { "ok" } else { "no" });
        }
        assert_eq!(got.join(" "), want, "{when}");
    }
}

#[tokio::test]
async fn chance_is_the_same_for_the_same_seed() {
    let mut runs = Vec::new();
    for seed in [1, 1, 2] {
        let rules =
            format!("seed: {seed}\nrules: [{{match: {{probability: 0.5}}, fault: {{drop: before}}}}]");
        let bad = Bad::start(&rules).await;
        let mut run = Vec::new();
        for _ in 0..24 {
            run.push(bad.status("GET /teams").await.is_some());
        }
        runs.push(run);
    }
    assert_eq!(runs[0], runs[1]);
    assert_ne!(runs[0], runs[2]);
}

#[tokio::test]
async fn a_new_object_stays_hidden_for_some_reads() {
    for (from, item, list) in
        [("both", [404, 200], [0, 1]), ("item", [404, 404], [1, 1]), ("list", [200, 200], [0, 0])]
    {
        let bad = Bad::start(&format!("rules: [{{fault: {{hide: {{reads: 2, from: {from}}}}}}}]")).await;
        assert_eq!(bad.status("POST /teams").await, Some(201));
        for n in 0..2 {
            let listing = bad.json("GET /teams").await;
            assert_eq!(listing["total"], json!(list[n]), "{from}, read {n}");
            assert_eq!(listing["items"].as_array().map(Vec::len), Some(list[n] as usize));
            assert_eq!(bad.status("GET /teams/1").await, Some(item[n]), "{from}, read {n}");
        }
        assert_eq!(bad.status("GET /teams/1").await, Some(200));
        assert_eq!(bad.json("GET /teams").await["total"], json!(1));
    }
}

#[tokio::test]
async fn listings_that_lie() {
    let bad = Bad::start("rules: [{match: {path: /teams}, fault: {total: 7}}, {match: {path: /zones}, fault: {repeat-cursor: true}}]").await;
    for name in ["a", "b", "c"] {
        bad.status(&format!("PUT /teams/{name}")).await;
        bad.status(&format!("PUT /zones/{name}")).await;
    }
    assert_eq!(bad.json("GET /teams").await["total"], json!(7));
    let first = bad.json("GET /zones?limit=1").await;
    let again = bad.json(&format!("GET /zones?limit=1&cursor={}", first["next"].as_str().unwrap())).await;
    assert_eq!(again["next"], first["next"]);
    let (_, headers, _) = bad.send("GET /zones?limit=1&cursor=c1", "").await.expect("an answer");
    assert_eq!(headers["link"], "</zones?limit=1&cursor=c1>; rel=\"next\"");
}

#[tokio::test]
async fn a_stale_read_shows_what_was_shown_before() {
    let bad =
        Bad::start("rules: [{match: {method: GET, path: '/teams/a', every: 2}, fault: {stale: true}}]").await;
    bad.status("PUT /teams/a").await;
    assert_eq!(bad.json("GET /teams/a").await["x"], Value::Null);
    bad.send("PUT /teams/a", r#"{"x":1}"#).await;
    assert_eq!(bad.json("GET /teams/a").await["x"], Value::Null, "stale");
    assert_eq!(bad.json("GET /teams/a").await["x"], json!(1));
    bad.status("DELETE /teams/a").await;
    assert_eq!(bad.status("GET /teams/a").await, Some(200), "stale");
    assert_eq!(bad.status("GET /teams/a").await, Some(404));
}

#[tokio::test]
async fn the_rules_can_be_replaced_and_the_log_stays() {
    let bad = Bad::start("").await;
    bad.status("PUT /teams/a").await;
    assert_eq!(bad.send("PUT /_faults", r#"{"rules":[{"fault":{"drop":"before"}}]}"#).await.unwrap().0, 204);
    assert_eq!(bad.status("PUT /teams/b").await, None);
    let (status, _, body) = bad.send("PUT /_faults", "rules: [{fault: {burn: 1}}]").await.unwrap();
    assert_eq!(status, 422, "{body:?}");
    assert_eq!(bad.status("PUT /teams/b").await, None, "wrong rules change nothing");
    assert_eq!(bad.send("PUT /_faults", "{}").await.unwrap().0, 204);
    for (line, status) in
        [("PUT /teams/b", 201), ("PUT /teams/b", 200), ("PUT /none/x/y/z", 404), ("DELETE /teams/b", 204)]
    {
        assert_eq!(bad.status(line).await, Some(status), "{line}");
    }
    assert_eq!(bad.log().await, ["/teams/a 201", "/teams/b 201", "/teams/b 200", "/teams/b 204"]);
    assert_eq!(bad.status("DELETE /_log").await, Some(405));
}

#[tokio::test]
async fn the_log_has_the_order_of_the_commits() {
    let bad = Arc::new(Bad::start("").await);
    let mut writers = tokio::task::JoinSet::new();
    for n in 0..40 {
        let bad = bad.clone();
        writers.spawn(async move { bad.send("PUT /teams/a", &format!("{{\"n\":{n}}}")).await.unwrap().0 });
    }
    let mut created = writers.join_all().await;
    created.sort_unstable();
    let mut want = vec!["/teams/a 200"; 40];
    want[0] = "/teams/a 201";
    assert_eq!(bad.log().await, want, "the one that created it is the first");
    assert_eq!(created[38..], [200, 201]);
}

#[tokio::test]
async fn an_open_request_is_finished_when_the_server_stops() {
    let bad = Bad::start("rules: [{match: {path: /teams/a}, fault: {delay: 300ms}}]").await;
    let request = "PUT /teams/a HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}";
    let mut stream = TcpStream::connect(bad.address).await.expect("a connection");
    stream.write_all(request.as_bytes()).await.expect("sent");
    // Once a later request is answered, the first one is in the server's hands.
    assert_eq!(bad.status("PUT /teams/b").await, Some(201));
    bad.stop.cancel();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer in text");
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
    bad.task.await.expect("the server stopped");
    assert!(TcpStream::connect(bad.address).await.is_err());
}

#[tokio::test]
async fn an_old_state_is_shown_for_some_reads() {
    let bad = Bad::start("").await;
    bad.status("PUT /teams/a").await;
    bad.status("PUT /teams/b").await;
    let rules = "rules: [{match: {method: PUT}, fault: {hide: {reads: 2}}}, {match: {method: DELETE}, fault: {hide: {reads: 2, from: list}}}]";
    bad.send("PUT /_faults", rules).await;
    bad.send("PUT /teams/a", r#"{"x":1}"#).await;
    assert_eq!(bad.json("GET /teams/a").await["x"], Value::Null, "as it was");
    assert_eq!(bad.json("GET /teams").await["items"][0]["x"], Value::Null, "as it was");
    assert_eq!(bad.json("GET /teams/a").await["x"], json!(1));
    bad.status("DELETE /teams/b").await;
    assert_eq!(bad.status("GET /teams/b").await, Some(404), "of listings only");
    for total in [2, 2, 1] {
        let listing = bad.json("GET /teams").await;
        assert_eq!(listing["total"], json!(total));
        assert_eq!(listing["items"].as_array().map(Vec::len), Some(total));
    }
}

#[tokio::test]
async fn a_lost_request_is_carried_out_after_newer_ones() {
    let rules = "rules: [{match: {method: PUT, nth: 1}, fault: {late: {after: 2, of: PUT}}}]";
    let bad = Bad::start(rules).await;
    assert_eq!(bad.send("PUT /teams/a", r#"{"n":1}"#).await, None);
    assert_eq!(bad.status("GET /teams/a").await, Some(404));
    bad.send("PUT /teams/a", r#"{"n":2}"#).await;
    assert_eq!(bad.json("GET /teams/a").await["n"], json!(2));
    bad.send("PUT /teams/b", r#"{"n":3}"#).await;
    assert_eq!(bad.json("GET /teams/a").await["n"], json!(1));
    assert_eq!(bad.log().await, ["/teams/a 201", "/teams/b 201", "/teams/a 200"]);
}

#[tokio::test]
async fn requests_that_are_more_than_one() {
    let rules = "rules:\n- {match: {method: POST}, fault: {twice: true}}\n- {match: {method: DELETE}, fault: {twice: true}}\n- {match: {method: GET, path: /teams/1}, fault: {meanwhile: {method: PATCH, path: /teams/1, body: {by: other}}}}";
    let bad = Bad::start(rules).await;
    assert_eq!(bad.json("POST /teams").await["id"], json!(2), "the answer to the second");
    assert_eq!(bad.json("GET /teams/1").await["by"], json!("other"));
    assert_eq!(bad.status("DELETE /teams/1").await, Some(404));
    assert_eq!(
        bad.log().await,
        ["/teams 201", "/teams 201", "/teams/1 204"],
        "what others do is not in the log"
    );
}

#[tokio::test]
async fn a_server_that_keeps_other_values() {
    let bad = Bad::start("rules: [{fault: {stored: {x: other, y: null, z: 1}}}]").await;
    bad.send("PUT /teams/a", r#"{"x":"mine","y":2,"w":3}"#).await;
    let item = bad.json("GET /teams/a").await;
    assert_eq!(
        (&item["x"], item.get("y"), &item["z"], &item["w"]),
        (&json!("other"), None, &json!(1), &json!(3))
    );
}

#[tokio::test]
async fn a_page_without_items_leads_to_the_first() {
    let bad = Bad::start("rules: [{match: {path: /teams}, fault: {empty-page: true}}]").await;
    bad.status("PUT /teams/a").await;
    let (_, headers, body) = bad.send("GET /teams?limit=5", "").await.expect("an answer");
    assert_eq!(body, r#"{"items":[],"next":"c0"}"#);
    assert_eq!(headers["link"], "</teams?cursor=c0&limit=5>; rel=\"next\"");
    assert_eq!(bad.json("GET /teams?cursor=c0&limit=5").await["items"][0]["id"], json!("a"));
}

#[tokio::test]
async fn bodies_that_come_slowly_or_without_end() {
    let bad = Bad::start(
        "rules: [{match: {path: /a}, fault: {drip: 1ms}}, {match: {path: /b}, fault: {flood: 1000000}}]",
    )
    .await;
    assert_eq!(bad.json("GET /a").await, json!({"items": [], "total": 0}));
    let (status, headers, body) = bad.send("GET /b", "").await.expect("an answer");
    assert_eq!((status, headers.get("content-length")), (200, None));
    assert!(body.len() > 900_000 && body.iter().all(|byte| *byte == b' '));
}
