//! Servers that are away for a while.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::servers::{Raw, Say, Served, backend};
use crate::support::Scratch;
use crate::watch::stage::{Watching, descriptions, id, teams, until};

/// What changed while the server was away is put right once it is back, and nobody needs to ask for it.
#[test]
fn a_server_that_is_away_and_comes_back() {
    let scratch = Scratch::new();
    let served = Arc::new(Served::start(&scratch, "rules: []"));
    let (away, behind) = (Arc::new(AtomicBool::new(false)), served.clone());
    let gate = away.clone();
    let front = Raw::new(move |seen| {
        if gate.load(Ordering::SeqCst) {
            // The connection ends without an answer.
            return Say(String::new());
        }
        let (method, path) = seen.line.split_once(' ').expect("a request line");
        Say::json(&behind.call(method, path, &seen.body))
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
