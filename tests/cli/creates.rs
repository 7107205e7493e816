//! Creates without duplicates and writes that do not stick, as a machine reads them; and runs that are killed.

use std::sync::Mutex;

use serde_json::{Value, json};

use crate::servers::{Raw, Say, Served};
use crate::support::Scratch;

const TEAM: &str = "apiVersion: api\nkind: Team\nmetadata: {name: red}\nspec: {title: Red}\n";

/// A folder with one team, and a backend at this address whose create says this besides.
fn folder(url: &str, create: &str) -> Scratch {
    let backend = format!(
        "apiVersion: trueup/v1\nkind: Backend\nmetadata: {{name: api}}\nspec:\n  url: {url}\n  limits: {{timeout: 2s}}\n  \
         kinds:\n    Team:\n      key: {{name: .name}}\n      list: GET /teams\n      read: GET /teams/{{id}}\n      \
         create: {{request: POST /teams{create}}}\n      update: PUT /teams/{{id}}\n      visible: 300ms\n"
    );
    let scratch = Scratch::with("backend.yaml", backend);
    scratch.write("a.yaml", TEAM);
    scratch
}

fn apply(scratch: &Scratch, code: i32) -> Value {
    let line = "apply --yes --output json -f a.yaml -f backend.yaml";
    scratch.trueup(line).env("TRUEUP_SUGGEST", "true").done().expect(code).json()["objects"][0].clone()
}

#[test]
fn duplicates_have_a_name_and_their_ids() {
    let raw = Raw::new(|_| Say::json(r#"[{"id": 1, "name": "red"}, {"id": 2, "name": "red"}]"#));
    let object = apply(&folder(&raw.url(), ""), 1);
    assert_eq!(
        (&object["result"], &object["reason"]),
        (&json!("failed"), &json!("DuplicateFound")),
        "{object}"
    );
    assert!(object["message"].as_str().is_some_and(|message| message.ends_with("ids 1, 2")), "{object}");
}

#[test]
fn a_create_that_nobody_knows_the_end_of_has_a_name() {
    let raw = Raw::new(|seen| match seen.line.starts_with("POST ") {
        true => Say(String::new()),
        false => Say::json("[]"),
    });
    let object = apply(&folder(&raw.url(), ""), 1);
    assert_eq!(
        (&object["result"], &object["reason"]),
        (&json!("failed"), &json!("CreateUncertain")),
        "{object}"
    );
    let creates = raw.lines().iter().filter(|line| *line == "POST /teams").count();
    assert_eq!(creates, 2, "one more, and no third");
}

#[test]
fn what_does_not_stick_has_its_line() {
    let raw = Raw::new(|seen| match &*seen.line {
        "GET /teams" => Say::json(r#"[{"id": 1, "name": "red", "title": "RED"}]"#),
        _ => Say::json(r#"{"id": 1, "name": "red", "title": "RED"}"#),
    });
    let scratch = folder(&raw.url(), "");
    let object = apply(&scratch, 4);
    let line = json!([{"path": "title", "words": ["ascii_downcase"], "line": "title: ascii_downcase",
        "why": "it changes the case of letters"}]);
    assert_eq!(object["suggestions"], line, "{object}");
    let plain = scratch.trueup("plan --output json -f a.yaml -f backend.yaml").done().json();
    assert_eq!(plain["objects"][0].get("suggestions"), None, "only when it is asked for: {plain}");
}

/// The server has done it, and the run dies before it hears of it. The next one sends the same key.
#[test]
fn a_run_that_is_killed_and_the_next_one_send_the_same_key() {
    let made: &'static Mutex<Vec<String>> = Box::leak(Box::default());
    let raw = Raw::new(move |seen| {
        let mut made = made.lock().expect("no test panics with it");
        if seen.line != "POST /teams" {
            // What was made shows once its maker was asked for it twice.
            return Say::json(if made.len() < 2 {
                "[]"
            } else {
                r#"[{"id": 1, "name": "red", "title": "Red"}]"#
            });
        }
        made.push(seen.header("x-request-id").unwrap_or_default().to_owned());
        match made.len() {
            1 => {
                drop(made);
                std::thread::sleep(std::time::Duration::from_secs(30));
                Say(String::new())
            }
            _ => Say::answer(
                "201 Created",
                "content-type: application/json\r\n",
                r#"{"id": 1, "name": "red"}"#,
            ),
        }
    });
    let scratch = folder(&raw.url(), ", idempotency: {header: X-Request-Id}");
    let running = scratch.trueup("apply --yes -f a.yaml -f backend.yaml").start();
    while !raw.lines().contains(&"POST /teams".to_owned()) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    running.signal("KILL");
    drop(running);
    assert_eq!(apply(&scratch, 0)["result"], "done");
    let keys = made.lock().expect("no test panics with it").clone();
    assert!(keys.len() == 2 && keys[0] == keys[1] && keys[0].len() == 36, "{keys:?}");
}

/// The built-in server takes the key as well: the answer is lost, the create is sent again, and there is one team.
#[test]
fn the_built_in_server_replays_a_create_whose_answer_was_lost() {
    let scratch = Scratch::new();
    let served = Served::start(
        &scratch,
        "rules: [{match: {method: POST, path: /teams, nth: 1}, fault: {drop: after}}]",
    );
    write_folder(&scratch, &served.url());
    assert_eq!(apply(&scratch, 0)["result"], "done");
    assert_eq!(
        (served.names("/teams", "name"), served.written()),
        (vec!["red".into()], vec!["POST /teams".into()])
    );
}

/// Made, not heard of, killed, and not yet shown to the next run: which sends the same create, and is told of the one.
#[test]
fn the_built_in_server_replays_a_create_of_a_run_that_was_killed() {
    let scratch = Scratch::new();
    let served = Served::start(
        &scratch,
        "rules:
- {match: {method: POST, path: /teams, nth: 1}, fault: {hide: {reads: 2}}}
- {match: {method: POST, path: /teams, nth: 1}, fault: {drop: after}}
- {match: {method: POST, path: /teams, nth: 2}, fault: {delay: 30s}}
",
    );
    write_folder(&scratch, &served.url());
    let running = scratch.trueup("apply --yes -f a.yaml -f backend.yaml").start();
    while served.written().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    running.signal("KILL");
    drop(running);
    assert_eq!(apply(&scratch, 0)["result"], "done");
    assert_eq!(
        (served.names("/teams", "name"), served.written()),
        (vec!["red".into()], vec!["POST /teams".into()])
    );
}

fn write_folder(scratch: &Scratch, url: &str) {
    let keyed = "create: {request: POST /teams, idempotency: {header: Idempotency-Key}}";
    scratch.write("backend.yaml", crate::servers::backend(url, "").replace("create: POST /teams", keyed));
    scratch.write("a.yaml", TEAM.replace("apiVersion: api", "apiVersion: demo"));
}
