//! Servers that are away for a while.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::servers::{Raw, Say, Served, backend};
use crate::support::Scratch;
use crate::watch::stage::{Watching, descriptions, id, teams, until};

/// What changed while the server was away is put right once it is back, and nobody needs to ask for it.
#[test]
fn a_server_that_is_away_and_comes_back() {
    let scratch = Scratch::new();
    let served = Arc::new(Served::start(&scratch, "rules: []"));
    // The gate lasts as long as the process, and the server must not.
    let (away, behind) = (Arc::new(AtomicBool::new(false)), Arc::downgrade(&served));
    let gate = away.clone();
    let front = Raw::new(move |seen| {
        if gate.load(Ordering::SeqCst) {
            // The connection ends without an answer.
            return Say(String::new());
        }
        let (method, path) = seen.line.split_once(' ').expect("a request line");
        Say::json(&behind.upgrade().map_or(String::new(), |server| server.call(method, path, &seen.body)))
    });
    scratch.write("backend.yaml", backend(&front.url(), ""));
    scratch.write("m/a.yaml", teams(&["blue", "red"], "one"));
    let watching = Watching::started(&scratch, "--resync 2s");
    assert_eq!(descriptions(&served), ["blue=one", "red=one"]);
    away.store(true, Ordering::SeqCst);
    served.call("DELETE", &format!("/teams/{}", id(&served, "/teams", "red")), "");
    watching.until_said("nothing certain is known of the object", 2);
    assert_eq!(descriptions(&served), ["blue=one"]);
    away.store(false, Ordering::SeqCst);
    until("all is as it should be", || descriptions(&served) == ["blue=one", "red=one"]);
    watching.until_said("the object is known again", 2);
    watching.ends("TERM", 0);
}

/// That a backend answers again is good news: no warning, and words of its own.
#[test]
fn a_backend_that_is_away_is_told_and_so_is_its_return() {
    let (scratch, served, says) = gated(&["a", "b", "c", "d", "e", "f"]);
    let watching = Watching::started(&scratch, "--resync 1s");
    *says.lock().expect("no panic") = Some("503 Service Unavailable");
    let away = watching.until_said("backend is away and only probed", 1);
    assert_eq!((&away["level"], &away["backend"]), (&"warn".into(), &"demo".into()), "{away}");
    assert!(away["detail"].as_str().is_some_and(|why| why.contains("503")), "{away}");
    *says.lock().expect("no panic") = None;
    let back = watching.until_said("backend answers again", 1);
    assert_eq!((&back["level"], &back["backend"]), (&"info".into(), &"demo".into()), "{back}");
    assert!(watching.said("watch is in trouble").is_empty(), "{}", watching.text());
    watching.ends("TERM", 0);
    drop(served);
}

/// A server that knows nobody for a while, and does again: nobody waits for ten minutes, and nobody is locked out.
#[test]
fn a_credential_that_is_taken_again_is_noticed_by_itself() {
    let (scratch, served, says) = gated(&["a", "b", "c", "d", "e", "f"]);
    *says.lock().expect("no panic") = Some("401 Unauthorized");
    let watching = Watching::start(&scratch, "--resync 1h --interval 1h --status-file s.json");
    watching.until_said("object is stalled", 6);
    assert!(descriptions(&served).is_empty());
    *says.lock().expect("no panic") = None;
    until("all is there", || descriptions(&served).len() == 6);
    watching.until_said("object is no longer stalled", 6);
    watching.ends("TERM", 0);
    scratch.trueup("status --status-file s.json").done().expect(0);
}

/// What every request is answered with instead, while there is something.
type Says = Arc<Mutex<Option<&'static str>>>;

/// A folder with teams of these names, whose server has a gate before it.
fn gated(names: &[&str]) -> (Scratch, Arc<Served>, Says) {
    let scratch = Scratch::new();
    let served = Arc::new(Served::start(&scratch, "rules: []"));
    // The gate lasts as long as the process, and the server must not.
    let (says, behind) = (Says::default(), Arc::downgrade(&served));
    let gate = says.clone();
    let front = Raw::new(move |seen| {
        if let Some(status) = *gate.lock().expect("no panic") {
            return Say::answer(status, "", "{}");
        }
        let (method, path) = seen.line.split_once(' ').expect("a request line");
        Say::json(&behind.upgrade().map_or(String::new(), |server| server.call(method, path, &seen.body)))
    });
    scratch.write("backend.yaml", backend(&front.url(), ""));
    scratch.write("m/a.yaml", teams(names, "one"));
    (scratch, served, says)
}

/// A server that asks for patience gets it, and for no longer than a person has it.
#[test]
fn a_server_that_asks_for_a_year_of_patience() {
    let scratch = Scratch::new();
    let served = Arc::new(Served::start(&scratch, "rules: []"));
    let (armed, behind) = (Arc::new(AtomicBool::new(false)), Arc::downgrade(&served));
    let gate = armed.clone();
    let front = Raw::new(move |seen| {
        let (method, path) = seen.line.split_once(' ').expect("a request line");
        if method == "GET" && gate.swap(false, Ordering::SeqCst) {
            return Say::answer("429 Too Many Requests", "retry-after: 31536000\r\n", "");
        }
        Say::json(&behind.upgrade().map_or(String::new(), |server| server.call(method, path, &seen.body)))
    });
    scratch.write("backend.yaml", backend(&front.url(), ""));
    scratch.write("m/a.yaml", teams(&["blue", "red"], "one"));
    let watching = Watching::started(&scratch, "--interval 1s --status-file s.json");
    let status = || std::fs::read_to_string(scratch.path("s.json")).unwrap_or_default();
    armed.store(true, Ordering::SeqCst);
    let told = watching.until_said("backend asks for patience", 1);
    let detail = told["detail"].as_str().unwrap_or_default();
    assert!(detail.starts_with("backend `demo`") && detail.contains("it is asked again at 2"), "{told}");
    until("the status says so", || status().contains("it is asked again at 2"));
    served.call("DELETE", &format!("/teams/{}", id(&served, "/teams", "red")), "");
    watching.hangup();
    until("it is looked at now", || descriptions(&served) == ["blue=one", "red=one"]);
    until("the status says nothing of it", || !status().contains("it is asked again at 2"));
    watching.ends("TERM", 0);
}

/// A start while the server is away is no failure: it waits for it.
#[test]
fn a_server_that_is_not_there_yet() {
    let scratch = Scratch::new();
    let address = std::net::TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
    let address = address.expect("a free port");
    scratch.write("backend.yaml", backend(&format!("http://{address}"), ""));
    scratch.write("m/a.yaml", teams(&["blue", "red"], "one"));
    let watching = Watching::started(&scratch, "--resync 2s");
    let _server = scratch.trueup(&format!("serve --listen {address} --store store --no-sync")).start();
    watching.until_said("pass has written", 1);
    watching.ends("TERM", 0);
    let after = scratch.trueup("plan -f m -f backend.yaml --detailed-exitcode").done();
    after.expect(0);
}
