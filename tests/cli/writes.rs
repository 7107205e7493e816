//! Writes that are refused, lost or answered wrongly: what is said, and that nothing is done twice.

use insta::assert_snapshot;

use crate::servers::{Served, TEAM_AND_SPACE, backend};
use crate::support::Scratch;

/// A server with these faults, and a folder with one object of each kind.
fn start(faults: &str) -> (Scratch, Served) {
    let scratch = Scratch::new();
    let served = Served::start(&scratch, faults);
    scratch.write("backend.yaml", backend(&served.url(), "  limits: {timeout: 2s}"));
    scratch.write("a.yaml", TEAM_AND_SPACE);
    (scratch, served)
}

fn apply(scratch: &Scratch) -> String {
    run(scratch, "apply --yes")
}

/// What a run said, but for the number of requests: how often it looks while it waits is a matter of time.
fn run(scratch: &Scratch, line: &str) -> String {
    let told = scratch.trueup(&format!("{line} -f a.yaml -f backend.yaml")).done().told();
    told.lines()
        .map(|line| match line.split_once(" seen in ") {
            Some((before, _)) => format!("{}\n", before.rsplit_once(". ").map_or(before, |(said, _)| said)),
            None => format!("{line}\n"),
        })
        .collect()
}

/// A fault on the creation of the team, `apply`, and what was written. There is never a second team.
fn create_with(fault: &str, count: usize) -> (String, Vec<String>) {
    let (scratch, served) = start(&format!(
        "rules: [{{match: {{method: POST, path: /teams, count: {count}}}, fault: {{{fault}}}}}]"
    ));
    let told = apply(&scratch);
    let teams = served.names("/teams", "name");
    assert!(teams.len() <= 1, "{teams:?}");
    (told, served.written())
}

const BOTH: [&str; 2] = ["PUT /spaces/shop", "POST /teams"];

fn sorted(mut written: Vec<String>) -> Vec<String> {
    written.sort_by(|a, b| b.cmp(a));
    written
}

#[test]
fn a_create_that_is_refused() {
    let (told, written) = create_with(
        r#"status: {status: 422, body: '{"errors": [{"field": "name", "message": "is taken"}]}'}"#,
        9,
    );
    assert_snapshot!(told, @"
    exit 4
    !   Team red     a.yaml:1
        failed: creating Team red: the server answered 422 Unprocessable Content: name: is taken
    +   Space shop   a.yaml:6   created
    Applied: 1 created, 1 failed
    ");
    assert_eq!(written, ["PUT /spaces/shop"]);
}

#[test]
fn a_create_that_is_forbidden() {
    let (told, written) = create_with("status: {status: 403}", 9);
    assert_snapshot!(told, @"
    exit 4
    !   Team red     a.yaml:1
        failed: creating Team red: the server answered 403 Forbidden: an injected fault
        hint: the server knows who asks and does not allow it; the backend states no `auth`
    +   Space shop   a.yaml:6   created
    Applied: 1 created, 1 failed
    ");
    assert_eq!(written, ["PUT /spaces/shop"]);
}

#[test]
fn a_conflict_that_does_not_end() {
    let (told, written) = create_with("status: {status: 409}", 9);
    assert_snapshot!(told, @"
    exit 1
    !   Team red     a.yaml:1
        unknown: the server says that it exists, and does not show it: creating Team red: the server answered 409 Conflict: an injected fault
        hint: it may be hidden from these credentials, or its name still taken by a deleted object
    +   Space shop   a.yaml:6   created
    Applied: 1 created, 1 unknown
    ");
    assert_eq!(written, ["PUT /spaces/shop"]);
}

#[test]
fn too_many_requests_once() {
    let (told, written) = create_with("status: {status: 429, retry-after: '1'}", 1);
    assert_snapshot!(told, @"
    exit 0
    +   Team red     a.yaml:1   created
    +   Space shop   a.yaml:6   created
    Applied: 2 created
    ");
    assert_eq!(sorted(written), BOTH);
}

#[test]
fn an_error_before_the_commit() {
    let (told, written) = create_with("status: {status: 500}", 1);
    assert_snapshot!(told, @"
    exit 0
    +   Team red     a.yaml:1   created
    +   Space shop   a.yaml:6   created
    Applied: 2 created
    ");
    assert_eq!(sorted(written), BOTH);
}

#[test]
fn an_error_after_the_commit() {
    let (told, written) = create_with("status: {status: 500, at: after}", 1);
    assert_snapshot!(told, @"
    exit 0
    +   Team red     a.yaml:1   created
    +   Space shop   a.yaml:6   created
    Applied: 2 created
    ");
    assert_eq!(sorted(written), BOTH);
}

#[test]
fn an_error_that_does_not_end() {
    let (told, written) = create_with(r#"status: {status: 500, body: '{"message": "out of disk"}'}"#, 99);
    assert_snapshot!(told, @"
    exit 4
    !   Team red     a.yaml:1
        failed: creating Team red: the server answered 500 Internal Server Error: out of disk
    +   Space shop   a.yaml:6   created
    Applied: 1 created, 1 failed
    ");
    assert_eq!(written, ["PUT /spaces/shop"]);
}

#[test]
fn a_connection_that_drops_before_the_commit() {
    let (told, written) = create_with("drop: before", 1);
    assert_snapshot!(told, @"
    exit 0
    +   Team red     a.yaml:1   created
    +   Space shop   a.yaml:6   created
    Applied: 2 created
    ");
    assert_eq!(sorted(written), BOTH);
}

#[test]
fn a_connection_that_drops_after_the_commit() {
    let (told, written) = create_with("drop: after", 1);
    assert_snapshot!(told, @"
    exit 0
    +   Team red     a.yaml:1   created
    +   Space shop   a.yaml:6   created
    Applied: 2 created
    ");
    assert_eq!(sorted(written), BOTH);
}

#[test]
fn a_write_that_is_answered_with_a_web_page() {
    let (told, written) = create_with("html: '<html>Sign in</html>'", 99);
    assert_snapshot!(told, @"
    exit 4
    !   Team red     a.yaml:1
        failed: creating Team red: the server answered with a web page
        hint: is `http://127.0.0.1:PORT` the URL of the API, and not of a web page or a login in front of it?
    +   Space shop   a.yaml:6   created
    Applied: 1 created, 1 failed
    ");
    assert_eq!(written, ["PUT /spaces/shop"]);
}

#[test]
fn a_write_that_is_redirected() {
    let (told, written) = create_with("redirect: {to: /elsewhere, status: 302}", 99);
    assert_snapshot!(told, @"
    exit 4
    !   Team red     a.yaml:1
        failed: creating Team red: a redirect (302) to `http://127.0.0.1:PORT/elsewhere` is not followed for POST
        hint: make the address that it names the one in the backend
    +   Space shop   a.yaml:6   created
    Applied: 1 created, 1 failed
    ");
    assert_eq!(written, ["PUT /spaces/shop"]);
}

/// The server takes an object and never shows it: that is not a success.
#[test]
fn an_object_that_does_not_appear() {
    let (told, written) = create_with("hide: {reads: 1000}", 1);
    assert_snapshot!(told, @"
    exit 1
    !   Team red     a.yaml:1
        unknown: the server accepted its creation and does not show it
        hint: if the API takes longer, say so in the backend: `visible: DURATION`
    +   Space shop   a.yaml:6   created
    Applied: 1 created, 1 unknown
    ");
    assert_eq!(sorted(written), BOTH);
}

/// Someone else writes between the look and the write: the precondition fails, and the object is looked at
/// again before anything is sent.
#[test]
fn a_race_on_a_version() {
    let (scratch, served) = start("rules: []");
    assert!(apply(&scratch).starts_with("exit 0"));
    scratch.write("a.yaml", TEAM_AND_SPACE.replace("The shop", "Our shop"));
    served.call(
        "PUT",
        "/_faults",
        "rules: [{match: {method: PATCH, path: /spaces/shop, nth: 1}, fault: {status: {status: 412}}}]",
    );
    assert_snapshot!(apply(&scratch), @r#"
    exit 0
    ~   Space shop   a.yaml:6   updated
          description   "The shop" → "Our shop"   differs on the server
    Applied: 1 updated, 1 in sync
    "#);
    assert_eq!(served.written().last().map(String::as_str), Some("PATCH /spaces/shop"));
    assert_eq!(served.written().len(), 3);
    served.call(
        "PUT",
        "/_faults",
        "rules: [{match: {method: PATCH, path: /spaces/shop}, fault: {status: {status: 412}}}]",
    );
    scratch.write("a.yaml", TEAM_AND_SPACE);
    assert_snapshot!(apply(&scratch), @r#"
    exit 3
    !   Space shop   a.yaml:6
          description   "Our shop" → "The shop"   differs on the server
        conflict: updating Space shop: the server answered 412 Precondition Failed: an injected fault
        Contended: its write was refused as a conflict 6 times, each from a new look
        hint: others change it all the time, or `version` in the backend is not what the server compares
    Applied: 1 conflict, 1 in sync
    "#);
    assert_eq!(served.written().len(), 3);
}

/// A server that accepts a change and keeps what it had: told as such, after two writes at most.
#[test]
fn a_write_that_does_not_stick() {
    let (scratch, served) = start("rules: []");
    served.call("PUT", "/spaces/shop", r#"{"description": "Another"}"#);
    let fault = "status: {status: 200, body: '{}', content-type: application/json}";
    let faults = format!("rules: [{{match: {{method: PATCH, path: /spaces/shop}}, fault: {{{fault}}}}}]");
    served.call("PUT", "/_faults", &faults);
    assert_snapshot!(apply(&scratch), @r#"
    exit 4
    +   Team red     a.yaml:1   created
    !   Space shop   a.yaml:6
          description   "Another" → "The shop"   differs on the server
        not effective: `description`: sent "The shop", the server stores "Another"
        hint: if the server may keep a value of its own, say so in the backend: `fields: {description: ignore}`; then nobody keeps it
    Applied: 1 created, 1 not effective
    "#);
    assert_eq!(served.written(), ["PUT /spaces/shop", "POST /teams"]);
}

/// What is deleted already is a success.
#[test]
fn a_delete_that_someone_else_made() {
    let (scratch, served) = start("rules: []");
    assert!(apply(&scratch).starts_with("exit 0"));
    let faults =
        "rules: [{match: {method: DELETE, path: /spaces/shop}, fault: {status: {status: 404, at: after}}}]";
    served.call("PUT", "/_faults", faults);
    assert_snapshot!(run(&scratch, "delete --yes"), @"
    exit 0
    -   Team red   a.yaml:1   deleted
    Deleted: 1 deleted, 1 gone
    ");
    assert_snapshot!(run(&scratch, "delete --yes"), @"
    exit 0
    All 2 objects are gone; nothing was written
    ");
}
