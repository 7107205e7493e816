//! Change feeds as a whole: `serve` tells, `watch` follows, and what somebody else undoes is made good at once.

use std::net::TcpListener;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::servers::Served;
use crate::support::{Running, Scratch};

const PAGE: &str = include_str!("../../docs/feeds.md");

/// Long, and much shorter than the ten minutes after which everything is looked at anyway.
const SOON: Duration = Duration::from_secs(40);

/// The example of the documentation, for a server elsewhere, with two teams.
fn example(url: &str) -> String {
    let (_, after) = PAGE.split_once("<!-- test: tests/cli/feeds.rs -->\n```yaml\n").expect("the example");
    let (backend, _) = after.split_once("```").expect("its end");
    let team = |name: &str| {
        format!("---\n{{apiVersion: demo, kind: Team, metadata: {{name: {name}}}, spec: {{n: 1}}}}\n")
    };
    format!("{}{}{}", backend.replace("http://127.0.0.1:8080", url), team("a"), team("b"))
}

fn watch(scratch: &Scratch, flags: &str) -> Running {
    scratch.trueup(&format!("watch -f a.yaml {flags}")).env("TOKEN", "s3cret").start()
}

/// Waits until an object is there, and is as it should be.
fn soon(server: &Served, path: &str, part: &str) {
    let end = Instant::now() + SOON;
    while !server.call("GET", path, "").contains(part) {
        assert!(Instant::now() < end, "{path} is not repaired: {}", server.call("GET", path, ""));
        sleep(Duration::from_millis(10));
    }
}

#[test]
fn what_others_undo_is_made_good_when_the_feed_says_so() {
    let scratch = Scratch::new();
    let server = Served::start(&scratch, "");
    scratch.write("a.yaml", example(&server.url()));
    let watch = watch(&scratch, "");
    soon(&server, "/teams/a", "\"n\":1");
    soon(&server, "/teams/b", "\"n\":1");
    for _ in 0..2 {
        server.call("DELETE", "/teams/a", "");
        soon(&server, "/teams/a", "\"n\":1");
        server.change("/teams/b", r#"{"n": 7}"#);
        soon(&server, "/teams/b", "\"n\":1");
        server.call("PUT", "/teams/foreign", "{}");
    }
    watch.signal("TERM");
    assert!(watch.done().status.success());
    let log = server.call("GET", "/_log", "");
    assert_eq!(log.matches("\"status\"").count(), 2 + 2 * (1 + 1 + 1 + 1) + 2, "no write too many: {log}");
}

#[test]
fn a_feed_that_is_cut_and_dropped_is_made_good_by_looking() {
    let scratch = Scratch::new();
    let faults = "rules:
- {match: {method: GET, path: /, every: 2}, fault: {truncate: 120}}
- {match: {method: GET, path: /, every: 5}, fault: {drop: before}}
- {match: {method: GET, path: /, every: 7}, fault: {status: {status: 503}}}
";
    let server = Served::start(&scratch, faults);
    // The feed of the whole server has a path of its own: the faults are the feed's alone.
    let backend = example(&server.url())
        .replace("GET /teams?watch", "GET /?watch")
        .replace("\"{name: .id}\"", "'if .collection == \"/teams\" then {name: .id} else null end'");
    assert!(backend.contains("GET /?watch") && backend.contains(".collection"), "{backend}");
    scratch.write("a.yaml", backend);
    let watch = watch(&scratch, "");
    soon(&server, "/teams/a", "\"n\":1");
    // Twice each: after a third time it would count as a fight.
    for path in ["/teams/a", "/teams/b", "/teams/a", "/teams/b"] {
        server.call("DELETE", path, "");
        soon(&server, path, "\"n\":1");
    }
    watch.signal("TERM");
    assert!(watch.done().status.success());
}

#[test]
fn a_server_that_starts_anew_has_forgotten_and_is_looked_at() {
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    let scratch = Scratch::new();
    let serve = || {
        let line = format!("serve --listen 127.0.0.1:{port} --store store --no-sync --token-env TOKEN");
        Served::of(scratch.trueup(&line).env("TOKEN", "s3cret").start())
    };
    let mut server = serve().with_token("s3cret");
    let backend = example(&server.url()).replacen("spec:", "spec:\n  auth: {bearer: !secret env:TOKEN}", 1);
    scratch.write("a.yaml", backend);
    let watch = watch(&scratch, "");
    soon(&server, "/teams/a", "\"n\":1");
    soon(&server, "/teams/b", "\"n\":1");
    let stopping = Instant::now();
    server.process.signal("TERM");
    assert!(server.process.done().status.success());
    assert!(stopping.elapsed() < Duration::from_secs(4), "an open feed holds up no stop");
    server = serve().with_token("s3cret");
    server.call("DELETE", "/teams/b", "");
    soon(&server, "/teams/b", "\"n\":1");
    watch.signal("TERM");
    let done = watch.done();
    assert!(done.status.success());
    assert!(!(done.out + &done.err).contains("s3cret"));
}

#[test]
fn explain_tells_the_feed() {
    let scratch = Scratch::with("a.yaml", example("http://127.0.0.1:1"));
    let done = scratch.trueup("explain -f a.yaml Team").done();
    assert!(done.out.contains("watch") && done.out.contains("GET /teams?watch"), "{}", done.out);
    let text = "apiVersion: trueup/v1\nkind: Backend\nmetadata: {name: local}\nspec: {url: 'embedded:store'}\n---\n\
                {apiVersion: local, kind: Team, metadata: {name: a}, spec: {}}\n";
    let scratch = Scratch::with("a.yaml", text);
    let done = scratch.trueup("explain -f a.yaml Team").done();
    assert!(done.out.contains("GET /Team?watch=sse"), "{}{}", done.out, done.err);
}
