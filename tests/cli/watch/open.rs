//! Creates that the server finishes or shows later: none is begun twice, and nothing else waits for them.

use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::stage::{Watching, until};
use crate::servers::{Raw, Say, Seen};
use crate::support::Scratch;

const TEAM: &str = "apiVersion: demo\nkind: Team\nmetadata: {name: red}\nspec: {size: 1}\n";

/// A backend with teams, whose ids are the server's, and with notes of our names.
fn backend(url: &str, create: &str) -> String {
    format!(
        "apiVersion: trueup/v1
kind: Backend
metadata: {{name: demo}}
spec:
  url: {url}
  kinds:
    Team:
      key: {{name: .name}}
      list: GET /teams
      read: GET /teams/{{id}}
      create: {create}
      delete: DELETE /teams/{{id}}
      visible: 1s
    Note:
      key: {{name: .name}}
      read: GET /notes/{{name}}
      create: PUT /notes/{{name}}
"
    )
}

fn count(server: &Raw, line: &str) -> usize {
    server.lines().iter().filter(|seen| *seen == line).count()
}

/// The listing never shows it; its own read does. For every pass that is enough.
#[test]
fn what_its_own_read_shows_is_not_created_again() {
    let server = Raw::new(|seen| match seen.line.as_str() {
        "GET /teams" => Say::json("[]"),
        "GET /teams/7" => Say::json(r#"{"id": 7, "name": "red", "size": 1}"#),
        "POST /teams" => Say::answer(
            "201 Created",
            "content-type: application/json\r\n",
            r#"{"id": 7, "name": "red", "size": 1}"#,
        ),
        _ => Say::answer("404 Not Found", "", ""),
    });
    let scratch = Scratch::new();
    scratch.write("backend.yaml", backend(&server.url(), "POST /teams"));
    scratch.write("m/a.yaml", TEAM);
    let watching = Watching::started(&scratch, "--status-file s.json");
    for passes in 2..=4 {
        watching.hangup();
        until("it is looked at again", || count(&server, "GET /teams/7") >= passes);
    }
    until("the status says so", || {
        let status = std::fs::read_to_string(scratch.path("s.json")).unwrap_or_default();
        let status: Value = serde_json::from_str(&status).unwrap_or_default();
        status["summary"]["conditions"]["Synced"]["True"] == json!(1)
    });
    assert_eq!(count(&server, "POST /teams"), 1, "{:?}", server.lines());
    watching.ends("TERM", 0);
}

/// A server with one note, and a team that it is at until it is told to be done.
#[derive(Default)]
struct Slow {
    done: bool,
    note: u64,
}

fn answer(slow: &mut Slow, seen: &Seen) -> Say {
    match seen.line.as_str() {
        "GET /teams" if slow.done => Say::json(r#"[{"id": 7, "name": "red", "size": 1}]"#),
        "GET /teams" => Say::json("[]"),
        "GET /ops/1" if slow.done => Say::json(r#"{"state": "succeeded"}"#),
        "GET /ops/1" => Say::json(r#"{"state": "running"}"#),
        "POST /teams" => Say::answer("202 Accepted", "location: /ops/1\r\n", "{}"),
        "GET /notes/a" => Say::json(&format!(r#"{{"name": "a", "size": {}}}"#, slow.note)),
        "PUT /notes/a" => {
            slow.note = 5;
            Say::json(&seen.body)
        }
        _ => Say::answer("404 Not Found", "", ""),
    }
}

#[test]
fn an_operation_is_left_to_later_passes_and_begun_once() {
    let slow = std::sync::Arc::new(Mutex::new(Slow::default()));
    let behind = slow.clone();
    let server = Raw::new(move |seen| answer(&mut behind.lock().expect("no test panics with it"), seen));
    let scratch = Scratch::new();
    let create = "{request: POST /teams, wait: {url: .headers.location, done: '.state == \"succeeded\"', every: 1s, limit: 30m}}";
    scratch.write("backend.yaml", backend(&server.url(), create));
    let note = "---\napiVersion: demo\nkind: Note\nmetadata: {name: a}\nspec: {size: 5}\n";
    scratch.write("m/a.yaml", format!("{TEAM}{note}"));
    let watching = Watching::start(&scratch, "--interval 1s");
    let told = watching.until_said("nothing certain is known of the object", 1);
    assert_eq!(told["reason"], "UnderWay", "{told}");
    let detail = told["detail"].as_str().unwrap_or_default();
    assert!(detail.contains("its operation is at"), "{told}");
    // Passes go on beside it, and everything is looked at when somebody asks.
    slow.lock().expect("no test panics with it").note = 6;
    watching.hangup();
    until("what drifts meanwhile is repaired", || slow.lock().expect("no test panics with it").note == 5);
    thread::sleep(Duration::from_secs(2));
    slow.lock().expect("no test panics with it").done = true;
    watching.until_said("the object is known again", 1);
    assert_eq!(count(&server, "POST /teams"), 1, "{:?}", server.lines());
    let lines = server.lines();
    let from = lines.iter().position(|line| line == "POST /teams").expect("it was created");
    let last = lines.iter().rposition(|line| line == "GET /ops/1").expect("it was asked for");
    let looked = lines[from..last].iter().filter(|line| *line == "GET /teams/7").count();
    assert_eq!(looked, 0, "nothing is looked at before the end");
    watching.ends("TERM", 0);
}
