//! What a watch says of what it cannot put right by itself, and of where to go with it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::servers::{Raw, Say, Served, backend};
use crate::support::Scratch;
use crate::watch::stage::{Watching, teams, until};

fn status(scratch: &Scratch) -> Value {
    let text = std::fs::read_to_string(scratch.path("status.json")).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// A watch takes no `--replace`: it says who does.
#[test]
fn an_object_that_would_have_to_be_replaced_says_how_it_can_be() {
    let scratch = Scratch::new();
    let served = Served::start(&scratch, "rules: []");
    let fixed = "      fields: {region: immutable=replace, zone: immutable=replace}\n";
    scratch.write("backend.yaml", backend(&served.url(), "") + fixed);
    let space = |place: &str| {
        let text = "apiVersion: demo\nkind: Space\nmetadata: {name: shop, annotations: {}}\n";
        format!("{text}spec: {{region: {place}, zone: {place}, size: 1}}\n")
    };
    scratch.write("m/a.yaml", space("eu"));
    scratch.trueup("apply --yes -f m -f backend.yaml").done().expect(0);
    scratch.write("m/a.yaml", space("us"));
    let before = served.written();
    let watching = Watching::started(&scratch, "--status-file status.json --resync 1h");
    let told = watching.until_said("object is stalled", 1);
    assert_eq!(
        told["detail"],
        "it would have to be deleted and created again: `region`, `zone` cannot be changed in place; if its loss is \
         acceptable: `trueup apply --replace Space/shop`, or `trueup/replace: \"true\"` in its document"
    );
    assert_eq!((&told["reason"], &told["condition"]), (&"Refused".into(), &"Stalled".into()), "{told}");
    assert_eq!(served.written(), before, "nothing goes unasked");
    until("the status has it", || status(&scratch)["summary"]["conditions"]["Stalled"]["True"] == 1);
    let shown = scratch.trueup("status --status-file status.json").done().expect(5);
    assert!(shown.out.contains("Stalled=True Refused: it would have to be deleted"), "{}", shown.told());
    // Either way out is taken up by the watch.
    scratch.trueup("apply --yes --replace Space/shop -f m -f backend.yaml").done().expect(0);
    watching.hangup();
    watching.until_said("object is no longer stalled", 1);
    scratch.write(
        "m/a.yaml",
        space("asia").replace("annotations: {}", "annotations: {trueup/replace: \"true\"}"),
    );
    until("it is replaced", || served.call("GET", "/spaces/shop", "").contains("asia"));
    watching.until_said("pass has written", 1);
    watching.ends("TERM", 0);
}

/// A feed that cannot be had is told once, stands in the status with the reason and the next attempt, and so does its
/// return.
#[test]
fn a_feed_that_is_down_stands_in_log_and_status() {
    let scratch = Scratch::new();
    let rules = "rules: [{match: {method: GET, path: /}, fault: {status: {status: 503}}}]";
    let served = Served::start(&scratch, rules);
    let fed = backend(&served.url(), "").replace(
        "      visible: 300ms\n",
        "      visible: 300ms\n      watch: {request: \"GET /?watch\", by: sse, key: 'null', replay: true}\n",
    );
    scratch.write("backend.yaml", fed);
    scratch.write("m/a.yaml", teams(&["blue", "red"], "one"));
    let watching = Watching::started(&scratch, "--status-file status.json --resync 1h");
    let told = watching.until_said("change feed is down: its objects are polled", 1);
    assert_eq!((&told["level"], &told["group"]), (&"warn".into(), &"demo/Team".into()), "{told}");
    assert!(told["detail"].as_str().is_some_and(|why| why.contains("503")), "{told}");
    until("the status has it", || status(&scratch)["feeds"][0]["up"] == false);
    until("the next attempt is told", || status(&scratch)["feeds"][0]["nextAttempt"].is_string());
    let shown = scratch.trueup("status --status-file status.json").done().expect(0);
    assert!(shown.out.starts_with("feed of demo/Team: down since 20"), "{}", shown.told());
    assert!(shown.out.contains("503") && shown.out.contains(", next attempt 20"), "{}", shown.told());
    served.call("PUT", "/_faults", "rules: []");
    until("it is up", || {
        served.call("PUT", "/teams/foreign", "{}");
        status(&scratch)["feeds"][0]["up"] == true
    });
    let told = watching.until_said("change feed is open again", 1);
    assert_eq!(told["level"], "info", "{told}");
    let log = watching.ends("TERM", 0);
    assert_eq!(log.matches("change feed is down").count(), 1, "{log}");
}

/// What acts on a terminal, a browser, a reader of lines or of labels, as far as a name may hold it.
const HOSTILE: &str = "<script>alert(1)</script>\"'&\u{202e}x\u{200b}\u{2028}{{7*7}} a=b \\";

/// A page of the port, as a browser asks for it or as a program does.
fn page(address: &str, path: &str, accept: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let head =
        format!("GET {path} HTTP/1.1\r\nhost: {address}\r\naccept: {accept}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("it takes the request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

/// Names in files and messages of servers act on nobody who reads of them, wherever that is.
#[test]
fn hostile_names_and_messages_act_on_nobody() {
    let scratch = Scratch::new();
    let evil =
        format!("{HOSTILE}\u{1b}[2J\u{9b}31m\n2026-01-01T00:00:00.000Z error forged\r\n{}", "A".repeat(9000));
    let message = json!({ "message": evil, "title": evil }).to_string();
    let server = Raw::new(move |seen| match seen.line.starts_with("POST") {
        true => {
            Say::answer("422 Unprocessable Content", "content-type: application/problem+json\r\n", &message)
        }
        false => Say::json("{\"items\": []}"),
    });
    scratch.write("backend.yaml", backend(&server.url(), ""));
    let team = json!({"apiVersion": "demo", "kind": "Team", "metadata": {"name": HOSTILE}, "spec": {"description": evil}});
    scratch.write("m/a.json", team.to_string());
    let acts = |text: &str| {
        let control = |c: char| c.is_control() && c != '\n' || "\u{202e}\u{200b}\u{2028}".contains(c);
        text.contains(control)
    };
    let flags = "--resync 1h --listen 0 --status-file status.json";
    let watching = Watching::started(&scratch, flags);
    let told = watching.until_said("object is stalled", 1);
    assert_eq!(told["name"], HOSTILE, "NDJSON has it as it is: {told}");
    assert!(told["detail"].as_str().is_some_and(|text| text.len() <= 1024), "{told}");
    until("the status has it", || status(&scratch)["summary"]["conditions"]["Stalled"]["True"] == 1);
    let served = watching.until_said("status is served", 1);
    let address = served["address"].as_str().and_then(|url| url.strip_prefix("http://")).expect("an address");
    let html = page(address, "/status?q=%3Cscript%3E%22&condition=%3Cb%3E", "text/html");
    let whole = page(address, "/status", "text/html");
    for page in [&html, &whole] {
        let body = page.split_once("\r\n\r\n").expect("a body").1;
        assert!(!acts(body) && !body.contains("<script") && !body.contains("<b>"), "{body}");
    }
    assert!(whole.contains("&lt;script&gt;alert(1)"), "it is shown: {whole}");
    let metrics = page(address, "/metrics", "*/*");
    let body = metrics.split_once("\r\n\r\n").expect("a body").1;
    assert!(!acts(body) && body.lines().all(|line| line.starts_with(['#', 't', 'w', 'c', 'p'])), "{body}");
    let document = page(address, "/status", "application/json");
    let body = document.split_once("\r\n\r\n").expect("a body").1;
    assert!(!acts(body), "{body}");
    let log = watching.ends("TERM", 0);
    assert!(!acts(&log), "{log}");
    let text = scratch.trueup("watch -f m -f backend.yaml --timeout 3s").done().expect(0).out;
    assert!(!acts(&text), "{text}");
    let dated =
        |line: &str| line.starts_with("2") && line.contains("Z ") && !line.contains("Z error forged\"");
    assert!(text.lines().count() >= 4 && text.lines().all(dated), "each line is one of ours: {text}");
    let shown = scratch.trueup("status --status-file status.json").done();
    assert!(!acts(&shown.out) && shown.out.contains("script"), "{}", shown.told());
}

/// What only the server knows, it may repeat in a refusal: at a time when no pass has read it.
#[test]
fn secrets_that_only_the_server_has_stay_hidden_in_later_passes() {
    const HIDDEN: [&str; 2] = ["OLDCLEAR_9f8e", "GENKEY_a1b2c3"];
    let scratch = Scratch::new();
    let refuses: &'static AtomicBool = Box::leak(Box::default());
    let server = Raw::new(|_| {
        let [password, key] = HIDDEN;
        if refuses.load(Ordering::SeqCst) {
            let detail = format!("{{\"detail\": \"not with {password} and {key}\"}}");
            return Say::answer("403 Forbidden", "content-type: application/problem+json\r\n", &detail);
        }
        let team =
            json!({"id": "1", "name": "red", "description": "one", "password": password, "apikey": key});
        Say::json(&json!({"items": [team]}).to_string())
    });
    let fields = "      fields: {password: secret, apikey: [secret, server-owned]}\n    Space:\n";
    scratch.write("backend.yaml", backend(&server.url(), "").replace("    Space:\n", fields));
    scratch.write("m/a.yaml", teams(&["red"], "one"));
    let watching = Watching::started(&scratch, "--status-file status.json --resync 1h --interval 1h");
    refuses.store(true, Ordering::SeqCst);
    watching.hangup();
    let refused = || status(&scratch)["objects"][0].to_string().contains("not with ");
    until("the refusal is in the status", refused);
    let shown = status(&scratch).to_string();
    let log = watching.ends("TERM", 0);
    assert!(log.contains("not with (redacted) and (redacted)"), "{log}");
    for hidden in HIDDEN {
        assert!(!shown.contains(hidden) && !log.contains(hidden), "{shown}\n{log}");
    }
}

/// A server that takes connections and answers nothing: what was seen before is not taken for what is so.
#[test]
fn a_server_that_hangs_is_told_of_before_a_poll_has_failed() {
    let scratch = Scratch::new();
    let hangs: &'static AtomicBool = Box::leak(Box::default());
    let server = Raw::new(|_| {
        while hangs.load(Ordering::SeqCst) {
            std::thread::park();
        }
        Say::json("{\"items\": [{\"id\": \"1\", \"name\": \"red\", \"description\": \"one\"}]}")
    });
    scratch.write("backend.yaml", backend(&server.url(), ""));
    scratch.write("m/a.yaml", teams(&["red"], "one"));
    let watching = Watching::started(&scratch, "--status-file status.json --resync 1h --interval 1s");
    let asked = server.seen().len();
    until("it polls", || server.seen().len() > asked + 1);
    assert_eq!(status(&scratch)["targets"][0]["silentSince"], Value::Null);
    hangs.store(true, Ordering::SeqCst);
    let told = watching.until_said("nothing is heard of a backend", 1);
    assert_eq!((&told["level"], &told["backend"]), (&"warn".into(), &"demo".into()), "{told}");
    until("the status has it", || status(&scratch)["targets"][0]["silentSince"].is_string());
    let shown = scratch.trueup("status --status-file status.json").done().expect(0);
    assert!(shown.out.starts_with("nothing is heard of backend demo since 20"), "{}", shown.told());
    assert!(!watching.text().contains("backend is away"), "{}", watching.text());
    watching.ends("TERM", 0);
}
