//! Servers that do not answer as an API does: what is said, that nothing is written in doubt, and that the
//! other objects go on.

use std::net::TcpListener;

use insta::assert_snapshot;

use crate::prune::{SET, folder, run};
use crate::servers::{Raw, Say, Seen, Served, TEAM_AND_SPACE, backend};
use crate::support::{Done, Scratch};

const IMPATIENT: &str = "  limits: {timeout: 300ms}";
const BEARER: &str = "  auth: {bearer: !secret env:TOKEN}";
const TOKEN: &str = "tok-canary-31337";

/// A folder with a backend at this address and one object of each kind.
fn at(url: &str, more: &str) -> Scratch {
    let scratch = Scratch::with("backend.yaml", backend(url, more));
    scratch.write("a.yaml", TEAM_AND_SPACE);
    scratch
}

fn apply(scratch: &Scratch) -> Done {
    scratch.trueup("apply --yes -f a.yaml -f backend.yaml").env("TOKEN", TOKEN).done()
}

/// `apply` on the built-in server with these faults: what it said, and what was written.
fn apply_with(faults: &str) -> (String, Vec<String>) {
    let scratch = Scratch::new();
    let served = Served::start(&scratch, faults);
    scratch.write("backend.yaml", backend(&served.url(), IMPATIENT));
    scratch.write("a.yaml", TEAM_AND_SPACE);
    let told = apply(&scratch).told();
    (told, served.written())
}

/// `apply` on a server that answers everything about teams like this, and knows no spaces yet.
fn apply_to(team: impl Fn(&Seen) -> Say + Send + Sync + 'static) -> (String, Vec<String>) {
    let raw = Raw::new(move |seen| match seen.line.split(' ').nth(1) {
        Some(path) if path.starts_with("/teams") => team(seen),
        _ => Say::answer("403 Forbidden", "", ""),
    });
    let scratch = at(&raw.url(), IMPATIENT);
    let told = scratch.trueup("apply --yes -f a.yaml -f backend.yaml --only Team/*").done().told();
    (told, raw.lines().into_iter().filter(|line| !line.starts_with("GET ")).collect())
}

#[test]
fn an_address_that_refuses() {
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    let scratch = at(&format!("http://127.0.0.1:{port}"), "");
    assert_snapshot!(apply(&scratch).told(), @"
    exit 1
    !   Team red     a.yaml:1
        unknown: listing Team: cannot connect to `http://127.0.0.1:PORT`: connection refused
        hint: is the server running, and is the backend's `url` right?
    !   Space shop   a.yaml:6
        unknown: reading Space shop: cannot connect to `http://127.0.0.1:PORT`: connection refused
        hint: is the server running, and is the backend's `url` right?
    Applied: 2 unknown. 0 objects seen in 0 requests.
    ");
}

#[test]
fn a_name_that_is_not_known() {
    let scratch = at("http://no-such-host.invalid", "");
    assert_snapshot!(apply(&scratch).told(), @"
    exit 1
    !   Team red     a.yaml:1
        unknown: listing Team: cannot connect to `http://no-such-host.invalid`: failed to lookup address information: Name or service not known
        hint: is the server running, and is the backend's `url` right?
    !   Space shop   a.yaml:6
        unknown: reading Space shop: cannot connect to `http://no-such-host.invalid`: failed to lookup address information: Name or service not known
        hint: is the server running, and is the backend's `url` right?
    Applied: 2 unknown. 0 objects seen in 0 requests.
    ");
}

#[test]
fn an_address_that_hangs() {
    let (told, written) = apply_with("rules: [{match: {path: /teams}, fault: {delay: 60s}}]");
    assert_snapshot!(told, @"
    exit 1
    !   Team red     a.yaml:1
        unknown: listing Team: no answer from `http://127.0.0.1:PORT` within 300ms
        hint: `limits.timeout` of the backend sets how long to wait
    +   Space shop   a.yaml:6   created
    Applied: 1 created, 1 unknown. 1 object seen in 14 requests.
    ");
    assert_eq!(written, ["PUT /spaces/shop"]);
}

#[test]
fn a_web_page() {
    let (told, written) =
        apply_with("rules: [{match: {path: /teams}, fault: {html: '<html><title>Sign in</title></html>'}}]");
    assert_snapshot!(told, @"
    exit 1
    !   Team red     a.yaml:1
        unknown: listing Team: the server answered 200 OK with `text/html; charset=utf-8`, not with JSON
        hint: is `http://127.0.0.1:PORT` the URL of the API, and not of a web page or a login in front of it?
    +   Space shop   a.yaml:6   created
    Applied: 1 created, 1 unknown. 1 object seen in 6 requests.
    ");
    assert_eq!(written, ["PUT /spaces/shop"]);
}

#[test]
fn an_answer_that_ends_too_early() {
    let (told, written) = apply_with("rules: [{match: {path: /teams}, fault: {truncate: 5}}]");
    assert_snapshot!(told, @"
    exit 1
    !   Team red     a.yaml:1
        unknown: listing Team: the connection to `http://127.0.0.1:PORT` broke before the answer: connection closed before message completed
        hint: is it the API that listens there, and is `http` or `https` in the backend's `url` right?
    +   Space shop   a.yaml:6   created
    Applied: 1 created, 1 unknown. 1 object seen in 14 requests.
    ");
    assert_eq!(written, ["PUT /spaces/shop"]);
}

#[test]
fn json_that_ends_too_early() {
    let (told, written) = apply_to(|_| Say::json("{\"items\": [{\"name\": \"re"));
    assert_snapshot!(told, @"
    exit 1
    !   Team red   a.yaml:1
        unknown: listing Team: the answer of 23 bytes is not whole JSON
    Applied: 1 unknown. 0 objects seen in 5 requests.
    ");
    assert_eq!(written, [""; 0]);
}

/// Another origin never sees the credential, nor the request.
#[test]
fn a_redirect_elsewhere() {
    let other = Raw::new(|_| Say::json("{\"items\": []}"));
    let location = format!("location: {}/teams\r\n", other.url());
    let raw = Raw::new(move |_| Say::answer("307 Temporary Redirect", &location, ""));
    let scratch = at(&raw.url(), BEARER);
    assert_snapshot!(apply(&scratch).told(), @"
    exit 1
    !   Team red     a.yaml:1
        unknown: listing Team: a redirect is not followed: `http://127.0.0.1:PORT` is not at the backend's origin `http://127.0.0.1:PORT`
        hint: credentials never go to another origin; if the API is there, make it the backend's `url`
    !   Space shop   a.yaml:6
        unknown: reading Space shop: a redirect is not followed: `http://127.0.0.1:PORT` is not at the backend's origin `http://127.0.0.1:PORT`
        hint: credentials never go to another origin; if the API is there, make it the backend's `url`
    Applied: 2 unknown. 0 objects seen in 2 requests.
    ");
    assert_eq!(other.lines(), [""; 0]);
    assert!(
        raw.seen().iter().all(|seen| seen.head.contains(TOKEN)),
        "the credential is sent where it belongs"
    );
}

#[test]
fn redirects_in_a_circle() {
    let (told, written) = apply_with("rules: [{match: {path: /teams}, fault: {redirect: {to: /teams}}}]");
    assert_snapshot!(told, @"
    exit 1
    !   Team red     a.yaml:1
        unknown: listing Team: the server redirects more than 5 times
        hint: `-vv` shows where they lead; make the address of the API the backend's `url`
    +   Space shop   a.yaml:6   created
    Applied: 1 created, 1 unknown. 1 object seen in 16 requests.
    ");
    assert_eq!(written, ["PUT /spaces/shop"]);
}

#[test]
fn a_credential_that_is_not_taken() {
    let problem = r#"{"title": "Unauthorized", "detail": "the token tok-canary-31337 has expired"}"#;
    let raw =
        Raw::new(move |_| Say::answer("401 Unauthorized", "content-type: application/json\r\n", problem));
    let done = apply(&at(&raw.url(), BEARER));
    assert_snapshot!(done.told(), @"
    exit 1
    !   Team red     a.yaml:1
        unknown: listing Team: the server answered 401 Unauthorized: Unauthorized: the token (redacted) has expired
        hint: check the credential, which comes from env:TOKEN
    !   Space shop   a.yaml:6
        unknown: reading Space shop: the server answered 401 Unauthorized: Unauthorized: the token (redacted) has expired
        hint: check the credential, which comes from env:TOKEN
    Applied: 2 unknown. 0 objects seen in 2 requests.
    ");
    assert!(!format!("{}{}", done.out, done.err).contains(TOKEN));
    assert_snapshot!(apply(&at(&raw.url(), "")).told(), @"
    exit 1
    !   Team red     a.yaml:1
        unknown: listing Team: the server answered 401 Unauthorized: Unauthorized: the token tok-canary-31337 has expired
        hint: the backend states no `auth`
    !   Space shop   a.yaml:6
        unknown: reading Space shop: the server answered 401 Unauthorized: Unauthorized: the token tok-canary-31337 has expired
        hint: the backend states no `auth`
    Applied: 2 unknown. 0 objects seen in 2 requests.
    ");
}

#[test]
fn a_credential_that_is_not_there() {
    let scratch = at("http://127.0.0.1:9", BEARER);
    assert_snapshot!(scratch.trueup("plan -f a.yaml -f backend.yaml").done().told(), @"
    exit 1
    !   Team red     a.yaml:1
        unknown: listing Team: the secret `env:TOKEN` is not set
        hint: set the environment variable `TOKEN`
    !   Space shop   a.yaml:6
        unknown: reading Space shop: the secret `env:TOKEN` is not set
        hint: set the environment variable `TOKEN`
    Plan: 2 unknown. 0 objects seen in 0 requests.
    ");
}

#[test]
fn what_is_forbidden() {
    let (told, written) = apply_with("rules: [{match: {path: /teams}, fault: {status: {status: 403}}}]");
    assert_snapshot!(told, @"
    exit 1
    !   Team red     a.yaml:1
        unknown: listing Team: the server answered 403 Forbidden: an injected fault
        hint: the server knows who asks and does not allow it; the backend states no `auth`
    +   Space shop   a.yaml:6   created
    Applied: 1 created, 1 unknown. 1 object seen in 6 requests.
    ");
    assert_eq!(written, ["PUT /spaces/shop"]);
}

/// A collection that is not there proves nothing about what is in it.
#[test]
fn a_collection_that_is_not_there() {
    let (told, written) = apply_with("rules: [{match: {path: /teams}, fault: {status: {status: 404}}}]");
    assert_snapshot!(told, @"
    exit 1
    !   Team red     a.yaml:1
        unknown: listing Team: the server answered 404 Not Found: an injected fault
        hint: is the path right? It is below `http://127.0.0.1:PORT`
    +   Space shop   a.yaml:6   created
    Applied: 1 created, 1 unknown. 1 object seen in 6 requests.
    ");
    assert_eq!(written, ["PUT /spaces/shop"]);
}

#[test]
fn items_without_a_key() {
    let (told, written) = apply_to(|_| Say::json(r#"{"items": [{"id": "1", "title": "x"}]}"#));
    assert_snapshot!(told, @"
    exit 1
    !   Team red   a.yaml:1
        unknown: whether it exists cannot be told: listing Team: item 1: it has no `name` at `.name`
        hint: check `list` and `key` of the kind in the backend
    Applied: 1 unknown. 1 object seen in 1 request.
    ");
    assert_eq!(written, [""; 0]);
}

#[test]
fn two_items_with_one_key() {
    let (told, written) =
        apply_to(|_| Say::json(r#"{"items": [{"id": "1", "name": "red"}, {"id": "2", "name": "red"}]}"#));
    assert_snapshot!(told, @"
    exit 1
    !   Team red   a.yaml:1
        failed: 2 objects answer to `Team red`: ids 1, 2
        hint: say which one is meant with the annotation `trueup/id`
    Applied: 1 failed. 2 objects seen in 1 request.
    ");
    assert_eq!(written, [""; 0]);
}

#[test]
fn a_list_that_is_no_list() {
    let (told, written) = apply_to(|_| Say::json(r#"{"items": {"red": {"id": 1}}}"#));
    assert_snapshot!(told, @"
    exit 1
    !   Team red   a.yaml:1
        unknown: listing Team: the answer has a map at `.items`, not a list
    Applied: 1 unknown. 0 objects seen in 1 request.
    ");
    assert_eq!(written, [""; 0]);
    let (told, written) = apply_to(|_| Say::json("{\"data\": []}"));
    assert_snapshot!(told, @"
    exit 1
    !   Team red   a.yaml:1
        unknown: listing Team: the answer has nothing at `.items`, not a list
        hint: if the API leaves out an empty list, write `items: '.items // []'`
    Applied: 1 unknown. 0 objects seen in 1 request.
    ");
    assert_eq!(written, [""; 0]);
}

/// A read of one object that is answered with another: nothing may be done to either.
#[test]
fn another_object_than_was_asked_for() {
    let raw = Raw::new(|seen| match seen.line.as_str() {
        "GET /spaces/shop" => Say::json(r#"{"id": "other", "description": "Another shop"}"#),
        _ => Say::json("{\"items\": []}"),
    });
    let scratch = at(&raw.url(), "");
    let done = scratch.trueup("apply --yes -f a.yaml -f backend.yaml --only Space/*").done();
    assert_snapshot!(done.told(), @"
    exit 1
    !   Space shop   a.yaml:6
        unknown: reading Space shop: the server answered with another object: `other`
        hint: check `read` and `key` of the kind in the backend
    Applied: 1 unknown. 0 objects seen in 1 request.
    ");
    assert!(raw.lines().iter().all(|line| line.starts_with("GET ")), "{:?}", raw.lines());
}

/// A page that names itself as the next one would never end.
#[test]
fn a_page_that_follows_itself() {
    let (told, written) = apply_to(|_| Say::json(r#"{"items": [], "next": "same"}"#));
    assert_snapshot!(told, @"
    exit 1
    !   Team red   a.yaml:1
        unknown: whether it exists cannot be told: listing Team: the server gives `same` as the next page for the second time
        hint: check `page` of the kind's `list` in the backend
    Applied: 1 unknown. 0 objects seen in 2 requests.
    ");
    assert_eq!(written, [""; 0]);
}

/// What a server says reaches the terminal as text, and not as a control sequence.
#[test]
fn control_characters_in_an_answer() {
    let body = "{\"message\": \"no \\u001b[31m red\\u0007\"}";
    let (told, _) =
        apply_to(move |_| Say::answer("403 Forbidden", "content-type: application/json\r\n", body));
    assert!(!told.contains(['\u{1b}', '\u{7}']), "{told:?}");
    assert_snapshot!(told, @r"
    exit 1
    !   Team red   a.yaml:1
        unknown: listing Team: the server answered 403 Forbidden: no \u{1b}[31m red\u{7}
        hint: the server knows who asks and does not allow it; the backend states no `auth`
    Applied: 1 unknown. 0 objects seen in 1 request.
    ");
}

#[test]
fn bytes_that_are_no_http() {
    let (told, written) = apply_to(|_| Say("SSH-2.0-OpenSSH_9.9\r\n".into()));
    assert_snapshot!(told, @"
    exit 1
    !   Team red   a.yaml:1
        unknown: listing Team: the connection to `http://127.0.0.1:PORT` broke before the answer: invalid HTTP version parsed
        hint: is it the API that listens there, and is `http` or `https` in the backend's `url` right?
    Applied: 1 unknown. 0 objects seen in 5 requests.
    ");
    assert_eq!(written, [""; 0]);
}

#[test]
fn get_and_plan_say_it_as_well() {
    let scratch = Scratch::new();
    let served = Served::start(&scratch, "rules: [{match: {path: /teams}, fault: {status: {status: 403}}}]");
    scratch.write("backend.yaml", backend(&served.url(), ""));
    scratch.write("a.yaml", TEAM_AND_SPACE);
    served.call("PUT", "/spaces/shop", r#"{"description": "The shop"}"#);
    assert_snapshot!(scratch.trueup("plan -f a.yaml -f backend.yaml -v").done().told(), @"
    exit 1
    !   Team red     a.yaml:1
        unknown: listing Team: the server answered 403 Forbidden: an injected fault
        hint: the server knows who asks and does not allow it; the backend states no `auth`
    =   Space shop   a.yaml:6
    Plan: 1 unknown, 1 in sync. 1 object seen in 2 requests.
    ");
    assert_snapshot!(scratch.trueup("get -f backend.yaml").done().told(), @"
    exit 1
    KIND   NAME  ID    DESCRIPTION  REVISION
    Space  shop  shop  The shop     1

    1 object.
    --- stderr
    error: listing Team: the server answered 403 Forbidden: an injected fault
    hint: the server knows who asks and does not allow it; the backend states no `auth`
    ");
    let json = scratch.trueup("plan -f a.yaml -f backend.yaml --output json").done().expect(1).json();
    assert_eq!(json["summary"]["results"]["unknown"], 1, "{json}");
    assert_eq!(json["objects"][0]["result"], "unknown", "{json}");
}

/// Of a member that stands twice some readers take the first one and others the last: it is told, and proves nothing.
#[test]
fn a_member_that_stands_twice() {
    const OURS: &str = r#"{"name":"www","ttl":1,"ttl":60,"meta":{"owner":"me"}}"#;
    const THEIRS: &str = r#"{"name":"old","ttl":60,"meta":{"owner":"you"},"meta":{"owner":"me"}}"#;
    let raw = Raw::new(|seen| match &*seen.line {
        "GET /zones/a.org" => Say::json(r#"{"name":"a.org"}"#),
        "GET /zones" => Say::json(r#"[{"name":"a.org"}]"#),
        "GET /zones/a.org/records" => Say::json(&format!("[{OURS},{THEIRS}]")),
        "GET /zones/a.org/records/www" => Say::json(OURS),
        "GET /zones/a.org/records/old" => Say::json(THEIRS),
        line => Say::answer("501 Not Implemented", "", line),
    });
    let scratch = folder(&raw, SET);
    let done = run(&scratch, "apply --yes --prune");
    assert_snapshot!(done.told(), @"
    exit 0
    =   Record a.org/www   a.yaml:8
        DuplicateMember: the server's JSON has a member twice, and so two values of `ttl`: the last one counts
        hint: readers of JSON differ in which one they take (RFC 8259, 4): tell those who make the API
    ?   Record a.org/old   a.yaml:6
        extra: the server's JSON of it has two values of `meta.owner`, and so it is left alone
    Applied: 1 extra, 1 in sync. 3 objects seen in 4 requests.
    ");
    let written = raw.lines().into_iter().filter(|line| !line.starts_with("GET "));
    assert_eq!(written.collect::<Vec<_>>(), [""; 0]);
    let report: serde_json::Value =
        serde_json::from_str(&run(&scratch, "plan --output json -v").out).expect("JSON");
    let objects = report["objects"].as_array().expect("objects").iter();
    let codes: Vec<_> = objects.flat_map(|object| object["findings"].as_array().expect("a list")).collect();
    assert_eq!(
        codes.iter().map(|finding| &finding["code"]).collect::<Vec<_>>(),
        ["DuplicateMember"],
        "{report}"
    );
}
