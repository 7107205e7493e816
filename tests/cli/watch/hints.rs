//! Hints that are lost, doubled and far too many, from the feed of a real server, webhooks and a person.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Instant;

use crate::servers::Served;
use crate::support::Scratch;
use crate::watch::stage::{Watching, descriptions, id, teams, until};

/// Signs `BODY` with `SECRET`, as `openssl dgst -sha256 -hmac` does.
const SIGNED: &str =
    "x-hub-signature-256: sha256=23c3adaa176c798788733d3ffe0cabadc4ac172d9b7e45955218799273face08\r\n";
const SECRET: &str = "hook-secret-of-the-tests";
const BODY: &str = r#"{"changed":"teams"}"#;

const NAMES: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];

/// A backend whose teams have a feed of the whole server, in which each event is about everything.
fn backend(url: &str, feed: &str) -> String {
    crate::servers::backend(url, "").replace(
        "      visible: 300ms\n",
        &format!("      visible: 300ms\n      watch: {{request: \"GET /{feed}\", by: sse, key: 'null', replay: true}}\n"),
    )
}

/// A watch that listens, and the address.
fn listening(scratch: &Scratch, flags: &str) -> (Watching, String) {
    let line =
        "watch -f m -f backend.yaml --log ndjson --listen 0 --listen-token-env TOKEN --hook-secret-env HOOK";
    let run = scratch.trueup(&format!("{line} {flags}")).env("HOOK", SECRET).env("TOKEN", "t0ken");
    let watching = Watching::of(run.start());
    watching.until_said("all objects were looked at", 1);
    let told = watching.until_said("status is served", 1);
    let address = told["address"].as_str().and_then(|url| url.strip_prefix("http://")).expect("an address");
    let address = address.to_owned();
    (watching, address)
}

fn ask(address: &str, request: &str, headers: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let length = body.len();
    let head = format!(
        "{request} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\nauthorization: Bearer t0ken\r\n{headers}\
         content-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(head.as_bytes()).expect("it is taken");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

/// The sum of all samples of a metric.
fn metric(address: &str, name: &str) -> f64 {
    let told = ask(address, "GET /metrics", "", "");
    let samples = told.lines().filter(|line| line.starts_with(name));
    let values: Vec<f64> = samples.filter_map(|line| line.rsplit(' ').next()?.parse().ok()).collect();
    assert!(!values.is_empty(), "no `{name}` in {told}");
    values.iter().sum()
}

/// A storm of events of the feed, of webhooks and of a person's wishes: no pass of an object more often than once a
/// second, no write, and no memory that grows with it.
#[test]
fn a_flood_of_hints_costs_a_pass_a_second_and_nothing_more() {
    let scratch = Scratch::new();
    let served = Served::start(&scratch, "rules: []");
    scratch.write("backend.yaml", backend(&served.url(), "teams?watch"));
    scratch.write("m/a.yaml", teams(&NAMES, "one"));
    let (watching, address) = listening(&scratch, "--interval 1h --resync 1h");
    let drifted = id(&served, "/teams", "c");
    let storm = |rounds: usize| {
        thread::scope(|scope| {
            let (served, address) = (&served, &*address);
            scope.spawn(move || {
                (0..rounds).for_each(|n| {
                    // It has a name: one without makes a listing that tells of no name whether it is alone.
                    let body = format!("{{\"name\": \"foreign\", \"n\": {n}}}");
                    served.call("PUT", "/teams/foreign", &body);
                })
            });
            for (request, signature, body) in [("POST /resync", "", ""), ("POST /hook/demo", SIGNED, BODY)] {
                scope.spawn(move || {
                    for _ in 0..rounds {
                        let answer = ask(address, request, signature, body);
                        assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
                    }
                });
            }
        });
    };
    // The first one warms all up that is made once.
    storm(100);
    let passes = |address: &str| metric(address, "controller_runtime_reconcile_total{");
    let memory = |address: &str| metric(address, "process_resident_memory_bytes");
    let (written, passed, began) = (served.written().len(), passes(&address), Instant::now());
    let (used, before) = (memory(&address), metric(&address, "trueup_hints_total{"));
    storm(6000);
    // Many of them are one by the time they are taken, and the figures are shown a little later.
    let hints = || metric(&address, "trueup_hints_total{");
    until(&|| format!("{} hints were taken", hints()), || hints() >= before + 20.0);
    let (passed, seconds) = (passes(&address) - passed, began.elapsed().as_secs_f64());
    let hints = hints() - before;
    let most = 10.0 * (seconds + 2.0);
    assert!(passed <= most, "{passed} passes of ten objects in {seconds} s\n{}", watching.text());
    assert!(metric(&address, "workqueue_depth") <= 10.0);
    assert_eq!(served.written().len(), written + 6000, "only of others:\n{}", watching.text());
    let grown = (memory(&address) - used) / 1e6;
    assert!(grown < 24.0, "{grown} MB more than before");
    // A change in the middle of it is put right all the same, once.
    served.change(&format!("/teams/{}", drifted.trim_matches('"')), r#"{"description": "theirs"}"#);
    storm(20);
    let all: Vec<String> = NAMES.iter().map(|name| format!("{name}=one")).collect();
    until("it is repaired", || {
        descriptions(&served).into_iter().filter(|one| !one.ends_with('?')).eq(all.clone())
    });
    assert_eq!(served.written().len(), written + 6000 + 1 + 20 + 1);
    println!("{hints} hints, {passed} passes in {seconds:.1} s, {grown:.1} MB");
    watching.ends("TERM", 0);
}

/// Each event comes twice, by two feeds; a change is one write.
#[test]
fn what_is_told_twice_is_written_once() {
    let scratch = Scratch::new();
    let served = Served::start(&scratch, "rules: []");
    let doubled = backend(&served.url(), "teams?watch")
        + "      watch: {request: \"GET /?watch\", by: sse, key: 'null'}\n";
    scratch.write("backend.yaml", doubled);
    scratch.write("m/a.yaml", teams(&["blue", "red"], "one"));
    let space = "---\napiVersion: demo\nkind: Space\nmetadata: {name: s}\nspec: {description: one}\n";
    scratch.write("m/b.yaml", space);
    let (watching, address) = listening(&scratch, "--interval 1h --resync 1h");
    for n in 0..2 {
        served.change(&format!("/teams/{}", id(&served, "/teams", "blue")), r#"{"description": "theirs"}"#);
        served.change("/spaces/s", &format!(r#"{{"description": "theirs {n}"}}"#));
        for _ in 0..10 {
            ask(&address, "POST /hook/demo", SIGNED, BODY);
        }
        until("all is repaired", || {
            descriptions(&served) == ["blue=one", "red=one"]
                && served.call("GET", "/spaces/s", "").contains(r#""description":"one""#)
        });
    }
    watching.ends("TERM", 0);
    assert_eq!(served.written().len(), 3 + 2 * 2 + 2 * 2, "{:?}", served.written());
}

/// A feed that loses what it should tell: it is cut off all the time, and the resync finds the rest.
#[test]
fn what_a_feed_does_not_tell_is_found_and_counted() {
    let scratch = Scratch::new();
    // The feed of the whole server has a path of its own: what befalls it befalls nothing else.
    let served =
        Served::start(&scratch, "rules: [{match: {method: GET, path: /}, fault: {status: {status: 503}}}]");
    scratch.write("backend.yaml", backend(&served.url(), "?watch"));
    scratch.write("m/a.yaml", teams(&["blue", "red"], "one"));
    let (watching, address) = listening(&scratch, "--interval 1h --resync 3s");
    for _ in 0..2 {
        served.call("DELETE", &format!("/teams/{}", id(&served, "/teams", "red")), "");
        until("it is there again", || descriptions(&served) == ["blue=one", "red=one"]);
    }
    until("it is counted", || metric(&address, "trueup_missed_events_total") >= 1.0);
    watching.ends("TERM", 0);
    assert_eq!(served.written().len(), 2 + 2 + 2, "{:?}", served.written());
}
