//! Canaries through `watch`: once and without end, its log, its status in each form, and what asks for that.

use std::io::{Read, Write};
use std::net::TcpStream;

use super::encodings::{ALL, Encode};
use super::stage::{Mood, Stage};
use super::{AUTHS, each};
use crate::watch::stage::{Watching, until};

/// One pass, in every form.
const ONCE: [&str; 5] = [
    "watch --once -f a.yaml --dry-run",
    "watch --once -f a.yaml --dry-run --output json",
    "watch --once -f a.yaml -vvv --status-file once.json",
    "watch --once -f a.yaml --output ndjson --base old",
    "status --status-file once.json -v",
];

/// What is told of a running one.
const STATUS: [&str; 5] = [
    "status --status-file status.json -v",
    "status --status-file status.json --output json",
    "status --status-file status.json --output ndjson",
    "status --url URL --token-env C_LISTEN -v",
    "status --url URL --token-env C_LISTEN --output json",
];

/// Shows everything while it runs, and takes webhooks.
const RUNNING: &str = "watch -f a.yaml --backends backend.yaml --status-file status.json --listen 0 --interval 1s \
                       --resync 2s --listen-token-env C_LISTEN --hook-secret-env C_HOOK";

/// A feed whose events repeat the request, and name the server's secret.
const FEED: &str =
    "      watch: {request: GET /feed, by: BY, key: .name, position: .position, replay: true}\n";

/// The whole answer to a request at the port.
fn ask(address: &str, request: &str, headers: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let length = body.len();
    let head = format!(
        "{request} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).expect("it is taken");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("it answers");
    String::from_utf8_lossy(&answer).into_owned()
}

/// Asks for all that the port tells, with the token and without, and sends webhooks that are refused.
fn asked(stage: &Stage, address: &str) -> Vec<String> {
    let bearer = format!("authorization: Bearer {}\r\n", stage.secret("C_LISTEN"));
    let page = format!("{bearer}accept: text/html\r\n");
    let signed = |text: &str| format!("x-hub-signature-256: sha256={text}\r\n");
    let (hook, env) = (stage.secret("C_HOOK"), stage.secret("C_ENV"));
    let told = [
        ask(address, "GET /status", &bearer, ""),
        ask(address, "GET /status", &page, ""),
        ask(address, "GET /status?condition=Stalled&q=shop", &page, ""),
        ask(address, "GET /metrics", &bearer, ""),
        ask(address, "POST /resync", &bearer, ""),
    ];
    told.iter().for_each(|told| assert!(told.starts_with("HTTP/1.1 20"), "{told}"));
    let refused = [
        ask(address, "GET /status", &format!("authorization: Bearer {hook}\r\n"), ""),
        ask(address, "POST /hook/demo", "", &env),
        ask(address, "POST /hook/demo", &signed(&hook), &env),
        ask(address, "POST /hook/nothing", &signed("00"), &hook),
    ];
    refused.iter().for_each(|told| assert!(told.starts_with("HTTP/1.1 40"), "{told}"));
    let healthy = ["GET /healthz", "GET /readyz"].map(|request| ask(address, request, "", ""));
    [&told[..], &refused, &healthy].concat()
}

/// Runs one until it has looked and looked again, and takes all that comes out of it.
fn silent_while_it_runs(stage: &Stage, form: &str) {
    let watching = Watching::of(stage.run(&format!("{RUNNING} --log {form}")).start());
    let place = || {
        let text = watching.text();
        let at =
            text.find("http://127.0.0.1:").filter(|_| text.contains("status is served"))? + "http://".len();
        let port = text[at + "127.0.0.1:".len()..].split(|c: char| !c.is_ascii_digit()).next()?.to_owned();
        Some(format!("127.0.0.1:{port}"))
    };
    until(&|| format!("it says where it listens: {}", watching.text()), || place().is_some());
    let address = place().expect("it was said");
    until("every object was looked at", || ask(&address, "GET /readyz", "", "").starts_with("HTTP/1.1 200"));
    let before = stage.requests();
    until("it looks again", || stage.requests() > before + 4);
    let file = || std::fs::read_to_string(stage.scratch.path("status.json")).unwrap_or_default();
    until("the status file is there", || {
        file().contains("\"seenAll\": true") || file().contains("\"seenAll\":true")
    });
    asked(stage, &address).iter().for_each(|told| stage.holds_no_piece("the port", told));
    STATUS.iter().for_each(|line| stage.silent(&line.replace("URL", &format!("http://{address}"))));
    stage.holds_none("status.json");
    let log = watching.ends("TERM", 0);
    stage.holds_no_piece(&format!("the log as {form}"), &log);
    stage.holds_none("status.json");
}

#[test]
fn no_watch_shows_a_piece_of_one() {
    each(&AUTHS, |auth| {
        let stage = Stage::new(auth, Mood::Works);
        ONCE.iter().for_each(|line| stage.silent(line));
        stage.holds_none("once.json");
        assert!(stage.was_asked("PATCH /spaces/shop"), "nothing was written");
    });
    each(&["text", "ndjson"], |form| silent_while_it_runs(&Stage::new(AUTHS[0], Mood::Works), form));
}

#[test]
fn no_watch_in_trouble_shows_a_piece_of_one() {
    let mut all: Vec<(&str, Mood, &str)> = Vec::new();
    let moods: [fn(Encode) -> Mood; 3] = [Mood::Refuses, Mood::Fails, Mood::RefusesLogins];
    for (i, (_, encode)) in ALL.into_iter().enumerate() {
        // A login is refused only where there is one.
        let auth = if i % 3 == 2 { AUTHS[6 + i % 2] } else { AUTHS[i % AUTHS.len()] };
        all.push((auth, moods[i % 3](encode), ["text", "ndjson"][i % 2]));
    }
    let odd = [Mood::Headers, Mood::NoJson, Mood::HalfJson, Mood::Page, Mood::Redirects, Mood::NextPage];
    all.extend(odd.into_iter().enumerate().map(|(i, mood)| (AUTHS[i], mood, ["ndjson", "text"][i % 2])));
    each(&all, |(auth, mood, form)| {
        let stage = Stage::new(auth, *mood);
        silent_while_it_runs(&stage, form);
        stage.told_nobody_else();
    });
}

#[test]
fn no_feed_brings_a_piece_of_one_out() {
    let all: Vec<_> = ["sse", "lines", "poll"]
        .into_iter()
        .flat_map(|by| [Mood::Works, Mood::Fails(ALL[0].1), Mood::Headers].map(|mood| (by, mood)))
        .collect();
    each(&all, |(by, mood)| {
        let stage = Stage::new(AUTHS[1], *mood);
        let backend = std::fs::read_to_string(stage.scratch.path("backend.yaml")).expect("it was written");
        let place = match *by {
            "sse" => "GET /feed",
            "lines" => "'GET /feed?at={position}'",
            _ => "'GET /changes?at={position}'",
        };
        let feed = FEED.replace("BY", by).replace("GET /feed", place);
        stage
            .scratch
            .write("backend.yaml", backend.replace("      fields:\n", &format!("{feed}      fields:\n")));
        stage.run("validate -f a.yaml --backends backend.yaml").done().expect(0);
        silent_while_it_runs(&stage, "ndjson");
        let followed = stage.was_asked("GET /feed") || stage.was_asked("GET /changes");
        assert!(followed, "the feed was not followed");
    });
}
