//! A server that takes long for one object: the others are not held up by it.
//!
//! The built-in server logs what it has carried out, in that order: a write that is delayed stands in the log when it is
//! answered. What stands there before it was done while it was under way.

use crate::servers::{Served, backend};
use crate::support::Scratch;
use crate::watch::stage::{Watching, until};

/// Longer than all that is to happen meanwhile, and than the test would wait for it.
const RULES: &str = "rules: [{match: {method: PATCH, path: /spaces/slow}, fault: {delay: 90s}}]";

fn spaces(names: &[&str]) -> String {
    let space = |name: &&str| {
        format!(
            "---\napiVersion: demo\nkind: Space\nmetadata: {{name: {name}}}\nspec: {{description: one}}\n"
        )
    };
    names.iter().map(space).collect()
}

/// A server on which `slow` differs, and takes long to be put right.
fn with_a_slow_one(scratch: &Scratch) -> Served {
    let served = Served::start(scratch, RULES);
    scratch.write("backend.yaml", backend(&served.url(), ""));
    served.call("PUT", "/spaces/slow", "{\"description\": \"theirs\"}");
    served.call("PUT", "/spaces/swift", "{\"description\": \"one\"}");
    served
}

fn is_right(served: &Served, name: &str) -> bool {
    served.call("GET", &format!("/spaces/{name}"), "").contains("\"description\":\"one\"")
}

fn has(served: &Served, line: &str) -> bool {
    served.written().iter().any(|written| written == line)
}

/// They are looked at together, and one of them is not done: the other is free again.
#[test]
fn what_shares_a_pass_with_a_slow_object_does_not_wait_for_it() {
    let scratch = Scratch::new();
    let served = with_a_slow_one(&scratch);
    scratch.write("m/a.yaml", spaces(&["slow", "swift"]));
    let flags = "--interval 1s --resync 1h --status-file s.json";
    let watching = Watching::start(&scratch, flags);
    let status = || std::fs::read_to_string(scratch.path("s.json")).unwrap_or_default();
    until("the swift one was looked at", || status().contains("\"InSync\""));
    for _ in 0..2 {
        served.change("/spaces/swift", "{\"description\": \"theirs\"}");
        until("the swift one is put right", || is_right(&served, "swift"));
    }
    assert!(!has(&served, "PATCH /spaces/slow"), "it is under way: {:?}", served.written());
    assert!(!is_right(&served, "slow"));
    drop(watching);
}

/// A pass that creates does not wait for its updates: a run of like writes starts slowly by itself. And what was written
/// is read back, though another write of its collection is not answered.
#[test]
fn a_create_does_not_wait_for_a_slow_update() {
    let scratch = Scratch::new();
    let served = with_a_slow_one(&scratch);
    scratch.write("m/a.yaml", spaces(&["slow", "new", "newer", "swift"]));
    let watching = Watching::start(&scratch, "--resync 1h --status-file s.json");
    until("both are made", || is_right(&served, "new") && is_right(&served, "newer"));
    let synced = || {
        let status = std::fs::read_to_string(scratch.path("s.json")).unwrap_or_default();
        serde_json::from_str::<serde_json::Value>(&status).unwrap_or_default()["summary"]["conditions"]["Synced"]
            ["True"]
            .clone()
    };
    until("they are seen in sync", || synced() == 3);
    assert!(!has(&served, "PATCH /spaces/slow"), "it is under way: {:?}", served.written());
    drop(watching);
}

/// Of those of one sort the first goes alone; the next ones wait for it no longer than a second each. And nothing is said to
/// be in sync while it is written.
#[test]
fn slow_writes_of_one_sort_do_not_wait_for_each_other() {
    let scratch = Scratch::new();
    let served = with_a_slow_one(&scratch);
    scratch.write("m/a.yaml", spaces(&["slow", "swift", "third"]));
    served.call("PUT", "/spaces/slow", "{\"description\": \"one\"}");
    served.call("PUT", "/spaces/third", "{\"description\": \"one\"}");
    let watching = Watching::start(&scratch, "--interval 1h --resync 1h --status-file s.json");
    let truths = || {
        let status = std::fs::read_to_string(scratch.path("s.json")).unwrap_or_default();
        serde_json::from_str::<serde_json::Value>(&status).unwrap_or_default()["summary"]["conditions"]["Synced"]
            .clone()
    };
    until("all are in sync", || truths()["True"] == 3);
    for name in ["slow", "swift", "third"] {
        served.change(&format!("/spaces/{name}"), "{\"description\": \"theirs\"}");
    }
    watching.hangup();
    until("the others are put right", || is_right(&served, "swift") && is_right(&served, "third"));
    until("the slow one is not said to be in sync", || truths()["Unknown"] == 1 && truths()["True"] == 2);
    assert!(!has(&served, "PATCH /spaces/slow"), "it is under way: {:?}", served.written());
    drop(watching);
}
