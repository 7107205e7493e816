//! Proxies of the environment, and where none is used.

use crate::servers::{Raw, Say, TEAM_AND_SPACE, backend};
use crate::support::{Run, Scratch};

fn run(url: &str) -> (Scratch, Run) {
    let scratch = Scratch::with("backend.yaml", backend(url, "  auth: {bearer: !secret env:TOKEN}"));
    scratch.write("a.yaml", TEAM_AND_SPACE);
    let run = scratch.trueup("plan -f a.yaml -f backend.yaml").env("TOKEN", "tok-1");
    (scratch, run)
}

fn empty() -> Raw {
    Raw::new(|_| Say::json("{\"items\": []}"))
}

#[test]
fn requests_go_through_the_proxy() {
    let proxy = empty();
    for name in ["HTTP_PROXY", "http_proxy"] {
        let (_scratch, run) = run("http://api.invalid/v1");
        run.env(name, &proxy.url()).done().expect(0);
    }
    let mut lines = proxy.lines();
    lines.sort();
    lines.dedup();
    assert_eq!(lines, ["GET http://api.invalid/v1/spaces/shop", "GET http://api.invalid/v1/teams?limit=100"]);
    assert!(proxy.seen().iter().all(|seen| seen.header("host") == Some("api.invalid")));
}

/// The proxy is asked for a tunnel: it sees the name of the server, and no credential.
#[test]
fn https_goes_through_a_tunnel() {
    let proxy = Raw::new(|_| Say::answer("502 Bad Gateway", "", ""));
    let (_scratch, run) = run("https://api.invalid/v1");
    let done =
        run.env("HTTPS_PROXY", &proxy.url().replace("http://", "http://me:pr0xy-pass@")).done().expect(1);
    let seen = proxy.seen();
    assert!(!seen.is_empty() && seen.iter().all(|seen| seen.line == "CONNECT api.invalid:443"), "{seen:?}");
    assert!(seen.iter().all(|seen| !seen.head.contains("tok-1")), "{seen:?}");
    assert!(seen[0].header("proxy-authorization").is_some());
    assert!(!done.told().contains("pr0xy-pass"), "{}", done.told());
}

#[test]
fn what_no_proxy_names_is_reached_directly() {
    let (proxy, server) = (empty(), empty());
    for names in ["127.0.0.1", "localhost,127.0.0.0/8", "*"] {
        let (_scratch, run) = run(&server.url());
        run.env("HTTP_PROXY", &proxy.url()).env("NO_PROXY", names).done().expect(0);
    }
    assert_eq!((proxy.lines().len(), server.lines().len()), (0, 6));
}
