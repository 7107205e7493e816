//! Troubles that users of comparable tools have reported (C25, C47, C61, C63, C89), and what goes with a parent, in a watch
//! that nobody helps.

use serde_json::{Value, json};

use super::shelf::Shelf;
use super::stage::{Watching, until};
use crate::support::Scratch;

/// A folder with a backend of these kinds, and documents.
fn scratch(shelf: &Shelf, kinds: &str, documents: &str) -> Scratch {
    let scratch = Scratch::new();
    let head = "apiVersion: trueup/v1\nkind: Backend\nmetadata: {name: demo}\nspec:\n";
    scratch.write("backend.yaml", format!("{head}  url: {}\n  kinds:\n{kinds}", shelf.server.url()));
    scratch.write("m/a.yaml", documents);
    scratch
}

fn document(kind: &str, metadata: &str, spec: &str) -> String {
    format!("---\napiVersion: demo\nkind: {kind}\nmetadata: {metadata}\nspec: {spec}\n")
}

/// How many objects are said to be in sync.
fn synced(scratch: &Scratch) -> Value {
    let status = std::fs::read_to_string(scratch.path("s.json")).unwrap_or_default();
    let status: Value = serde_json::from_str(&status).unwrap_or_default();
    status["summary"]["conditions"]["Synced"]["True"].clone()
}

const FAMILY: &str = r#"    Space:
      key: {name: .name}
      list: {request: GET /spaces, items: .items}
      read: GET /spaces/{name}
      create: PUT /spaces/{name}
      watch:
        request: GET /feed?since={position}
        by: poll
        items: .events
        position: .position
        key: '.path | split("/") | if length == 3 then .[2] else null end'
    Member:
      parent: {space: Space}
      key: {name: .name}
      list: {request: "GET /spaces/{space}/members", items: .items}
      read: GET /spaces/{space}/members/{name}
      create: PUT /spaces/{space}/members/{name}
      watch:
        request: GET /feed?since={position}
        by: poll
        items: .events
        position: .position
        key: '.path | split("/") | if length == 5 then {space: .[2], name: .[4]} else null end'
"#;

/// Deleting a space deletes its members, and the feed tells of the space alone; there is no poll and no resync.
#[test]
fn members_are_made_again_with_the_space_that_the_feed_tells_of() {
    let shelf = Shelf::new();
    let member = |name: &str| document("Member", &format!("{{space: s1, name: {name}}}"), "{role: admin}");
    let documents = [document("Space", "{name: s1}", "{size: 1}"), member("m1"), member("m2")].concat();
    let scratch = scratch(&shelf, FAMILY, &documents);
    let watching = Watching::started(&scratch, "--interval 1h --resync 1h --status-file s.json --listen 0");
    let feeds = || shelf.server.lines().iter().filter(|line| line.contains("since=")).count() >= 2;
    until("both feeds go on from a position", feeds);
    for times in 1..=2 {
        shelf.delete("/spaces/s1");
        until("all are there again", || {
            ["", "/members/m1", "/members/m2"]
                .iter()
                .all(|path| !shelf.get(&format!("/spaces/s1{path}")).is_null())
        });
        until("the status says so", || synced(&scratch) == json!(3));
        assert_eq!(shelf.count("PUT /spaces/s1/members/m1"), 1 + times);
    }
    let status = std::fs::read_to_string(scratch.path("s.json")).expect("it is written");
    let status: Value = serde_json::from_str(&status).expect("it is JSON");
    assert_eq!(status["summary"]["missedEvents"], 0, "what it did itself is no missed event");
    watching.ends("TERM", 0);
}

const ACCOUNT: &str = "    Account:
      key: {name: .name}
      read: GET /accounts/{name}
      create: PUT /accounts/{name}
      version: etag
      fields: {password: write-only}
";

/// C25: a password that cannot be read back is no reason to write, however often it is looked at.
#[test]
fn c25_a_password_is_sent_with_what_changes_and_by_itself_never() {
    let shelf = Shelf::new();
    let spec = "{size: 1, password: !secret env:PW}";
    let scratch = scratch(&shelf, ACCOUNT, &document("Account", "{name: a}", spec));
    let flags = "watch -f m -f backend.yaml --log ndjson --interval 1h --resync 1h";
    let watching = Watching::of(scratch.trueup(flags).env("PW", "c4n4ry-of-c25").start());
    watching.until_said("all objects were looked at", 1);
    for _ in 0..5 {
        let looks = shelf.count("GET /accounts/a");
        watching.hangup();
        until("it is looked at again", || shelf.count("GET /accounts/a") > looks);
    }
    assert_eq!(shelf.count("PUT /accounts/a"), 1, "{:?}", shelf.server.lines());
    shelf.put("/accounts/a", json!({"name": "a", "size": 2}));
    watching.hangup();
    until("the drift is repaired", || shelf.get("/accounts/a")["size"] == 1);
    assert_eq!(shelf.get("/accounts/a")["password"], "c4n4ry-of-c25", "a whole body has it");
    assert_eq!(shelf.count("PUT /accounts/a"), 2);
    let text = watching.ends("TERM", 0);
    assert!(!text.contains("c4n4ry"), "{text}");
}

/// C47: somebody changes the object between the read and the write. The write is refused, and made anew from what is
/// there then: what the other one set beside it stays.
#[test]
fn c47_a_race_is_lost_once_and_nothing_of_the_other_one_is() {
    let shelf = Shelf::new();
    shelf.put("/accounts/a", json!({"name": "a", "size": 2}));
    let theirs = json!({"name": "a", "size": 2, "note": "theirs"});
    shelf.with(|state| state.meanwhile = Some(("/accounts/a".into(), theirs)));
    let scratch = scratch(&shelf, ACCOUNT, &document("Account", "{name: a}", "{size: 1}"));
    let watching = Watching::started(&scratch, "--interval 1h --resync 1h --status-file s.json");
    until("it is in sync", || synced(&scratch) == json!(1));
    assert_eq!(shelf.get("/accounts/a"), json!({"name": "a", "size": 1, "note": "theirs"}));
    let tags: Vec<String> =
        shelf.writes().iter().map(|write| write.header("if-match").unwrap_or("none").to_owned()).collect();
    assert_eq!(tags, ["\"1\"", "\"2\""], "each with the version of its own read");
    watching.ends("TERM", 0);
}

const CLUSTER: &str = "    Cluster:
      key: {name: .name}
      read: GET /clusters/{name}
      create: PUT /clusters/{name}
      ready: .body.state == \"up\"
    Pool:
      key: {name: .name}
      read: GET /pools/{name}
      create: PUT /pools/{name}
";

/// C63: what is needed is there, unchanged, and not ready: what needs it waits, and goes on by itself when it is. C61: it
/// may take as long as it likes, and look failed on the way, and nothing else waits for it.
#[test]
fn c61_c63_what_is_not_ready_holds_what_needs_it_and_nothing_else() {
    let shelf = Shelf::new();
    shelf.put("/clusters/c", json!({"name": "c", "size": 1, "state": "starting"}));
    let needs = "{name: needs, annotations: {trueup/depends-on: Cluster/c}}";
    let documents = [
        document("Cluster", "{name: c}", "{size: 1}"),
        document("Pool", needs, "{size: 1}"),
        document("Pool", "{name: other}", "{size: 1}"),
    ];
    let scratch = scratch(&shelf, CLUSTER, &documents.concat());
    let watching = Watching::start(&scratch, "--interval 1s --resync 1h --status-file s.json");
    until("the other one is made", || !shelf.get("/pools/other").is_null());
    for state in ["failed", "starting"] {
        let looks = shelf.count("GET /clusters/c");
        shelf.put("/clusters/c", json!({"name": "c", "size": 1, "state": state}));
        until("it is looked at", || shelf.count("GET /clusters/c") > looks + 1);
        shelf.put("/pools/other", json!({"name": "other", "size": 2}));
        let told = || format!("the other one is repaired while it is {state}:\n{}", watching.text());
        until(&told, || shelf.get("/pools/other")["size"] == 1);
    }
    assert_eq!(shelf.count("PUT /pools/needs"), 0, "{:?}", shelf.server.lines());
    shelf.put("/clusters/c", json!({"name": "c", "size": 1, "state": "up"}));
    until("what needs it is made", || !shelf.get("/pools/needs").is_null());
    until("all are in sync", || synced(&scratch) == json!(3));
    assert_eq!(shelf.count("PUT /clusters/c"), 0, "{:?}", shelf.server.lines());
    watching.ends("TERM", 0);
}

/// C89: a write that is forbidden is tried again, and nothing has to change in the files for it.
#[test]
fn c89_what_was_forbidden_twice_is_done_when_it_is_allowed() {
    let shelf = Shelf::new();
    let line = "PUT /accounts/a".to_owned();
    shelf.with(|state| {
        state.refusals = vec![(line.clone(), "403 Forbidden"), (line.clone(), "403 Forbidden")]
    });
    let scratch = scratch(&shelf, ACCOUNT, &document("Account", "{name: a}", "{size: 1}"));
    let watching = Watching::start(&scratch, "--interval 1h --resync 1s --status-file s.json");
    until("it is made", || shelf.get("/accounts/a")["size"] == 1);
    until("it is in sync", || synced(&scratch) == json!(1));
    assert_eq!(shelf.count(&line), 3, "{:?}", shelf.server.lines());
    watching.ends("TERM", 0);
}
