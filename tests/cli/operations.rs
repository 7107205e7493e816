//! Writes that a server accepts and finishes later: operations at an address of their own.

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use insta::assert_snapshot;

use crate::servers::{Raw, Say, Seen};
use crate::support::{Done, Running, Scratch};

const DECLARED: &str = r#"wait: {url: .headers.location, done: '.state == "succeeded"', failed: '.state == "failed"', every: 10ms, limit: LIMIT}"#;

fn kinds(url: &str, wait: &str) -> String {
    format!(
        "apiVersion: trueup/v1
kind: Backend
metadata: {{name: cloud}}
spec:
  url: {url}
  kinds:
    Cluster:
      key: {{name: .name}}
      list: GET /clusters
      read: GET /clusters/{{id}}
      create: {{request: POST /clusters, id: '.body.resource | split(\"/\") | last', {wait}}}
      update: {{request: \"PATCH /clusters/{{id}}\", {wait}}}
      delete: {{request: \"DELETE /clusters/{{id}}\", {wait}}}
      visible: 200ms
"
    )
}

const CLUSTER: &str = "apiVersion: cloud
kind: Cluster
metadata: {name: blue}
spec: {size: 3}
";

fn scratch(url: &str, wait: &str, limit: &str) -> Scratch {
    let scratch = Scratch::with("backend.yaml", kinds(url, &wait.replace("LIMIT", limit)));
    scratch.write("a.yaml", CLUSTER);
    scratch
}

fn apply(server: &Raw, wait: &str, limit: &str) -> Done {
    scratch(&server.url(), wait, limit).trueup("apply --yes -f a.yaml -f backend.yaml").done()
}

/// What is told on standard output, but for how many requests it took, which time decides.
fn without_count(done: &Done) -> String {
    let told = done.told();
    let told = told.split("--- stderr").next().unwrap_or_default();
    told.lines().filter(|line| !line.starts_with("Applied:")).collect::<Vec<_>>().join("\n")
}

/// What the cloud has, what it will have, and how often it was asked for that.
struct Cloud {
    size: Option<u64>,
    wanted: Option<u64>,
    asked: usize,
}

/// A cloud with a cluster of this size, or none. Each write begins `/ops/9`, whose answers these are, in order; the
/// last one stays, and one that says `succeeded` is when the write is done.
fn cloud(size: Option<u64>, answers: &'static [&'static str]) -> Raw {
    let cloud = Mutex::new(Cloud { size, wanted: None, asked: 0 });
    Raw::new(move |seen| answer(&mut cloud.lock().expect("no test panics with it"), answers, seen))
}

fn answer(cloud: &mut Cloud, answers: &[&str], seen: &Seen) -> Say {
    let cluster = |size| format!(r#"{{"id": 5, "name": "blue", "size": {size}}}"#);
    let (method, path) = seen.line.split_once(' ').expect("a request line");
    match (method, path) {
        ("GET", "/clusters") => Say::json(&format!("[{}]", cloud.size.map(cluster).unwrap_or_default())),
        ("GET", "/clusters/5") if cloud.size.is_some() => {
            Say::json(&cloud.size.map(cluster).unwrap_or_default())
        }
        ("GET", "/ops/9") => {
            let now = answers[cloud.asked.min(answers.len() - 1)];
            cloud.asked += 1;
            if now.contains("succeeded") {
                cloud.size = cloud.wanted;
            }
            match now.strip_prefix("status ") {
                Some(status) => Say::answer(status, "", ""),
                None => Say::json(now),
            }
        }
        ("POST" | "PATCH" | "DELETE", _) => {
            let body: serde_json::Value = serde_json::from_str(&seen.body).unwrap_or_default();
            (cloud.wanted, cloud.asked) = (body["size"].as_u64(), 0);
            Say::answer("202 Accepted", "location: /ops/9\r\n", r#"{"id": 9}"#)
        }
        _ => Say::answer("404 Not Found", "", ""),
    }
}

const RUNNING: &str = r#"{"state": "running"}"#;
const DONE: &str = r#"{"state": "succeeded", "resource": "/clusters/5"}"#;
const BAD: &str = r#"{"state": "failed", "error": {"code": "Quota", "message": "no room for size 3"}}"#;

#[test]
fn a_create_an_update_and_a_delete() {
    let server = cloud(None, &[RUNNING, RUNNING, DONE]);
    assert_snapshot!(apply(&server, DECLARED, "30s").told(), @"
    exit 0
    +   Cluster blue   a.yaml:1   created
    Applied: 1 created. 1 object seen in 7 requests.
    ");
    let op = "GET /ops/9";
    assert_eq!(
        server.lines(),
        ["GET /clusters", "GET /clusters", "POST /clusters", op, op, op, "GET /clusters"],
    );
    let server = cloud(Some(1), &[RUNNING, DONE]);
    apply(&server, DECLARED, "30s").expect(0);
    let lines = server.lines();
    assert_eq!(lines[lines.len() - 4..], ["PATCH /clusters/5", op, op, "GET /clusters/5"]);
    let server = cloud(Some(3), &[RUNNING, DONE]);
    let scratch = scratch(&server.url(), DECLARED, "30s");
    scratch.trueup("delete --yes -f a.yaml -f backend.yaml").done().expect(0);
    let lines = server.lines();
    assert_eq!(lines[lines.len() - 4..], ["DELETE /clusters/5", op, op, "GET /clusters/5"]);
}

#[test]
fn an_operation_that_fails() {
    assert_snapshot!(apply(&cloud(None, &[RUNNING, BAD]), DECLARED, "30s").told(), @"
    exit 4
    !   Cluster blue   a.yaml:1
        failed: waiting for Cluster blue at `http://127.0.0.1:PORT/ops/9`: the server began it, and it failed: no room for size 3
    Applied: 1 failed. 0 objects seen in 5 requests.
    ");
}

#[test]
fn an_operation_that_never_ends() {
    let done = apply(&cloud(None, &[RUNNING]), DECLARED, "200ms");
    assert_snapshot!(without_count(&done), @"
    exit 1
    !   Cluster blue   a.yaml:1
        unknown: the server was not done within 200ms: its operation is at `http://127.0.0.1:PORT/ops/9`
        hint: look at it there; a new run looks at the object, and decides anew
    ");
}

#[test]
fn an_operation_that_is_gone() {
    let server = cloud(None, &[RUNNING, "status 404 Not Found"]);
    assert_snapshot!(without_count(&apply(&server, DECLARED, "30s")), @"
    exit 4
    !   Cluster blue   a.yaml:1
        failed: its operation at `http://127.0.0.1:PORT/ops/9` is not there any more
    ");
    let posts = server.lines().into_iter().filter(|line| line.starts_with("POST")).count();
    assert_eq!(posts, 1, "nothing is sent twice");
}

#[test]
fn an_operation_elsewhere_is_not_followed() {
    let evil = Raw::new(|_| Say::json(DONE));
    let to = format!("location: {}/ops/9\r\n", evil.url());
    let server = Raw::new(move |seen| match seen.line.starts_with("GET") {
        true => Say::json("[]"),
        false => Say::answer("202 Accepted", &to, ""),
    });
    assert_snapshot!(apply(&server, DECLARED, "30s").told(), @"
    exit 1
    !   Cluster blue   a.yaml:1
        failed: creating Cluster blue: the server has begun it, and its operation is not followed: `http://127.0.0.1:PORT` is not at the backend's origin `http://127.0.0.1:PORT`
        hint: credentials never go to another origin; `wait: {done: FILTER}` without `url` waits for the object itself
    Applied: 1 failed. 0 objects seen in 3 requests.
    ");
    assert_eq!(evil.lines(), [""; 0]);
}

/// Whoever stops waiting is told where to look.
#[test]
fn an_interrupted_wait_tells_the_address() {
    let server = cloud(None, &[RUNNING]);
    let scratch = scratch(&server.url(), DECLARED, "30m");
    let running: Running = scratch.trueup("apply --yes -v -f a.yaml -f backend.yaml").start();
    let end = Instant::now() + Duration::from_secs(20);
    while !server.lines().iter().any(|line| line == "GET /ops/9") {
        assert!(Instant::now() < end, "the operation is not asked: {:?}", server.lines());
        thread::sleep(Duration::from_millis(5));
    }
    running.signal("INT");
    let done = running.done();
    let log = done.err.lines().find(|line| line.contains("INFO")).unwrap_or_default().to_owned();
    assert!(
        log.ends_with(&format!(
            "creating Cluster blue: the server is at it, as {}/ops/9 tells",
            server.url()
        )),
        "{log}"
    );
    assert_snapshot!(without_count(&done), @"
    exit 130
    !   Cluster blue   a.yaml:1
        unknown: the run ended before the server was done: its operation is at `http://127.0.0.1:PORT/ops/9`
        hint: look at it there; a new run looks at the object, and decides anew
    Interrupted: what has no result above was not settled; run the command again.
    ");
}

/// Nothing is declared: what the answers show is taken for what it is.
#[test]
fn a_202_that_nothing_is_declared_of() {
    let server = cloud(None, &[RUNNING, DONE]);
    let done = apply(&server, "type: application/json", "");
    done.expect(0);
    assert_eq!(server.lines().iter().filter(|line| *line == "GET /ops/9").count(), 2);
    assert_snapshot!(apply(&cloud(None, &[RUNNING, BAD]), "type: application/json", "").told(), @"
    exit 4
    !   Cluster blue   a.yaml:1
        failed: waiting for Cluster blue at `http://127.0.0.1:PORT/ops/9`: the server began it, and it failed: no room for size 3
    Applied: 1 failed. 0 objects seen in 5 requests.
    ");
}

/// One object's limit is its own: the others go on (C61).
#[test]
fn a_limit_is_for_one_object() {
    let server = Raw::new(|seen| match &*seen.line {
        "GET /clusters" => Say::json("[]"),
        "POST /clusters" if seen.body.contains("blue") => {
            Say::answer("202 Accepted", "location: /ops/1\r\n", "")
        }
        "POST /clusters" => Say::answer("202 Accepted", "location: /ops/2\r\n", ""),
        "GET /ops/1" => Say::json(RUNNING),
        "GET /ops/2" => Say::json(BAD),
        _ => Say::answer("404 Not Found", "", ""),
    });
    let scratch = scratch(&server.url(), DECLARED, "100ms");
    scratch.write("b.yaml", CLUSTER.replace("blue", "red"));
    let done = scratch.trueup("apply --yes -f a.yaml -f b.yaml -f backend.yaml").done();
    assert_snapshot!(without_count(&done), @"
    exit 4
    !   Cluster blue   a.yaml:1
        unknown: the server was not done within 100ms: its operation is at `http://127.0.0.1:PORT/ops/1`
        hint: look at it there; a new run looks at the object, and decides anew
    !   Cluster red    b.yaml:1
        failed: waiting for Cluster red at `http://127.0.0.1:PORT/ops/2`: the server began it, and it failed: no room for size 3
    ");
}

#[test]
fn wrong_waits_are_named_offline() {
    let told = |wait: &str| {
        let scratch = scratch("http://127.0.0.1:9", wait, "");
        let done = scratch.trueup("validate -f a.yaml -f backend.yaml").done();
        done.told().lines().find(|line| line.contains("error")).unwrap_or_default().to_owned()
    };
    assert_snapshot!(told("wait: {url: .headers.location}"), @"error: backend.yaml:11:89: `wait` has no `done`");
    assert_snapshot!(told("wait: {url: '.a |', done: .b}"), @"error: backend.yaml:11:95: `url`: filter `.a |`: expected term at its end");
    assert_snapshot!(told("wait: {done: .b}"), @"error: backend.yaml:13:56: `wait` of `delete` looks at an object that is gone");
    assert_snapshot!(told("wait: {uri: .a, done: .b}"), @"error: backend.yaml:11:90: `wait` has no `uri`");
}
