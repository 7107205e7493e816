//! What a watch shows while it runs: the status file and the port.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::servers::{Raw, Say, backend};
use crate::support::Scratch;
use crate::watch::stage::{Watching, descriptions, id, teams, two_teams, until};

/// `GET` or `POST` at the port: the status line and the body.
fn ask(address: &str, request: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let head =
        format!("{request} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("it takes the request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a whole answer");
    (head.lines().next().unwrap_or_default().to_owned(), body.to_owned())
}

#[test]
fn the_status_file_follows_what_happens() {
    let (scratch, served) = two_teams();
    let watching = Watching::started(&scratch, "--status-file status.json --dry-run --resync 1s");
    let status = || -> Value {
        let text = std::fs::read_to_string(scratch.path("status.json")).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    };
    let synced = |truth: &str| status()["summary"]["conditions"]["Synced"][truth].as_u64();
    until("nothing is in sync", || synced("False") == Some(2));
    scratch.trueup("apply --yes -f m -f backend.yaml").done().expect(0);
    until("all is in sync", || synced("True") == Some(2));
    scratch.write("m/b.yaml", "a: [");
    until("the files are not valid", || status()["desired"]["valid"] == false);
    assert_eq!(status()["desired"]["problems"][0]["position"]["file"], "m/b.yaml");
    scratch.trueup("status --status-file status.json").done().expect(1);
    watching.ends("TERM", 0);
    assert_eq!(status()["summary"]["objects"], 2, "it stays");
    drop(served);
}

/// A secret that no file has, and that the server repeats long after a pass has seen it where secrets stand.
#[test]
fn a_secret_that_only_the_server_has_stays_hidden() {
    const KEY: &str = "GENKEY_a1b2c3d4";
    let scratch = Scratch::new();
    let refuses = Arc::new(AtomicBool::new(false));
    let gate = refuses.clone();
    let server = Raw::new(move |_| match gate.load(Ordering::SeqCst) {
        false => Say::json(&format!(
            "{{\"items\": [{{\"id\": 1, \"name\": \"red\", \"description\": \"one\", \"revision\": 1, \"apikey\": \"{KEY}\"}}]}}"
        )),
        true => Say::answer(
            "403 Forbidden",
            "content-type: application/problem+json\r\n",
            &format!("{{\"title\": \"no\", \"detail\": \"the row of {KEY} is locked\"}}"),
        ),
    });
    let fields = "visible: 300ms\n      fields: {apikey: [secret, server-owned]}";
    scratch.write("backend.yaml", backend(&server.url(), "").replacen("visible: 300ms", fields, 1));
    scratch.write("m/a.yaml", teams(&["red"], "one"));
    let watching = Watching::started(&scratch, "--status-file s.json --resync 1s");
    refuses.store(true, Ordering::SeqCst);
    let told = watching.until_said("nothing certain is known of the object", 1);
    assert!(told.to_string().contains("is locked"), "{told}");
    let status = || std::fs::read_to_string(scratch.path("s.json")).unwrap_or_default();
    until("the status tells of it", || status().contains("is locked"));
    assert!(!status().contains(KEY), "{}", status());
    let log = watching.ends("TERM", 0);
    assert!(!log.contains(KEY), "{log}");
}

#[test]
fn the_port_answers_and_takes_the_wish_to_look() {
    let (scratch, served) = two_teams();
    let watching = Watching::started(&scratch, "--listen 0 --resync 1h");
    let told = watching.until_said("status is served", 1);
    let address =
        told["address"].as_str().and_then(|url| url.strip_prefix("http://")).expect("an address").to_owned();
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    until("it is ready", || ask(&address, "GET /readyz").0 == "HTTP/1.1 200 OK");
    assert_eq!(ask(&address, "GET /healthz").0, "HTTP/1.1 200 OK");
    let status: Value = serde_json::from_str(&ask(&address, "GET /status").1).expect("JSON");
    assert_eq!(status["summary"]["objects"], 2);
    assert!(ask(&address, "GET /metrics").1.contains("workqueue_depth"));
    served.call("DELETE", &format!("/teams/{}", id(&served, "/teams", "red")), "");
    assert!(ask(&address, "POST /resync").0.contains(" 202 "));
    until("the team is there again", || descriptions(&served) == ["blue=one", "red=one"]);
    watching.ends("TERM", 0);
}

#[test]
fn a_port_that_is_taken() {
    let (scratch, served) = two_teams();
    let address = served.url().replace("http://", "");
    let done = scratch.trueup(&format!("watch -f m -f backend.yaml --listen {address}")).done().expect(1);
    assert!(done.err.contains("address already in use"), "{}", done.told());
    assert_eq!(served.written(), [""; 0]);
}

/// One pass leaves the same file.
#[test]
fn one_pass_keeps_the_status_as_well() {
    let (scratch, _served) = two_teams();
    scratch.write("m/b.yaml", teams(&["green"], "!ref Team/blue .id"));
    scratch.trueup("watch --once -f m -f backend.yaml --status-file status.json").done().expect(0);
    let text = std::fs::read_to_string(scratch.path("status.json")).expect("it is written");
    let status: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(status["summary"]["conditions"]["Synced"]["True"], 3, "{status}");
    assert_eq!(status["seenAll"], true);
}

/// A webhook at the port, signed as GitHub signs: the status line.
fn hook(address: &str, secret: &str, body: &str) -> String {
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret.as_bytes());
    let signature = ring::hmac::sign(&key, body.as_bytes());
    let digits: String = signature.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let mut stream = TcpStream::connect(address).expect("it listens");
    let request = format!(
        "POST /hook/demo HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {}\r\n\
         x-hub-signature-256: sha256={digits}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).expect("it takes the request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_webhook_has_what_it_names_repaired_before_any_poll() {
    let (scratch, served) = two_teams();
    let backend = std::fs::read_to_string(scratch.path("backend.yaml")).expect("a backend");
    let declared =
        backend.replacen("    Team:\n", "    Team:\n      watch: {by: webhook, key: .team.name}\n", 1);
    assert_ne!(declared, backend, "the kind is there: {backend}");
    scratch.write("backend.yaml", &declared);
    let flags = "--listen 0 --hook-secret-env HOOK_SECRET --interval 1h --resync 1h";
    let run = scratch.trueup(&format!("watch -f m -f backend.yaml --log ndjson {flags}"));
    let watching = Watching::of(run.env("HOOK_SECRET", "s3cret-of-hooks").start());
    watching.until_said("all objects were looked at", 1);
    let told = watching.until_said("status is served", 1);
    let address =
        told["address"].as_str().and_then(|url| url.strip_prefix("http://")).expect("an address").to_owned();
    for name in ["blue", "red"] {
        served.call("DELETE", &format!("/teams/{}", id(&served, "/teams", name)), "");
    }
    let body = r#"{"team": {"name": "red"}}"#;
    assert!(hook(&address, "another", body).contains(" 401 "));
    assert!(hook(&address, "s3cret-of-hooks", body).contains(" 202 "));
    until("what it names is there again", || descriptions(&served) == ["red=one"]);
    // Figures are shown once a second.
    let counted = || ask(&address, "GET /metrics").1.contains("trueup_hints_total{origin=\"webhook\"} 1\n");
    until("it is counted", counted);
    // One that names nothing is about the backend as a whole.
    assert!(hook(&address, "s3cret-of-hooks", r#"{"ping": 1}"#).contains(" 202 "));
    until("the other one is, too", || descriptions(&served) == ["blue=one", "red=one"]);
    watching.ends("TERM", 0);
}

/// A reader can tell whether a condition speaks of what is wanted now, and learns nothing of what that is.
#[test]
fn a_condition_says_which_wish_it_speaks_of() {
    let (scratch, served) = two_teams();
    let status = |file: &str| -> Value {
        let text = std::fs::read_to_string(scratch.path(file)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    };
    let hashes = |object: &Value| {
        let synced = &object["conditions"][0];
        assert_eq!(synced["type"], "Synced", "{object}");
        (object["desiredHash"].clone(), synced["observedDesiredHash"].clone())
    };
    let watching = Watching::started(&scratch, "--resync 1h --status-file s.json");
    until("all is in sync", || status("s.json")["summary"]["conditions"]["Synced"]["True"] == 2);
    let before = status("s.json")["objects"].clone();
    let (blue, red) = (hashes(&before[0]), hashes(&before[1]));
    assert!(blue.0.is_string() && blue.0 == blue.1 && red.0 == red.1 && red.0 != blue.0, "{before}");
    // What is wanted now takes the server long.
    served.call("PUT", "/_faults", "rules: [{match: {method: PATCH}, fault: {delay: 90s}}]");
    scratch.write("m/a.yaml", teams(&["blue"], "one") + &teams(&["red"], "two"));
    until("another thing is wanted", || status("s.json")["objects"][1]["desiredHash"] != red.0);
    let shown = scratch.trueup("status --status-file s.json --output json").done().expect(2);
    let after: Value = serde_json::from_str(&shown.out).expect("JSON");
    assert_eq!(hashes(&after["objects"][0]), blue, "of this one the same is wanted");
    let (desired, observed) = hashes(&after["objects"][1]);
    assert_eq!(observed, red.0, "it speaks of what was wanted before: {after}");
    assert_ne!(desired, observed);
    drop(watching);
    // A number of one process is of no use in another, so no guess can be held against it.
    served.call("PUT", "/_faults", "rules: []");
    for file in ["one.json", "two.json"] {
        let once = format!("watch -f m -f backend.yaml --once --status-file {file}");
        scratch.trueup(&once).done();
    }
    let (one, two) = (hashes(&status("one.json")["objects"][0]), hashes(&status("two.json")["objects"][0]));
    assert!(one.0.is_string() && one.0 == one.1 && one.0 != two.0 && one.0 != blue.0, "{one:?} {two:?}");
}
