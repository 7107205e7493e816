//! Keys of etcd as objects: made, changed, followed and pruned, without a change of anybody else's being lost.

use std::process::Stdio;

use serde_json::json;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::gate::Gate;
use crate::member::Member;
use crate::watching::Watching;

/// A document of the key `name` below `/word-PID/`.
fn document(member: &Member, word: &str, name: &str, value: &str) -> String {
    let metadata = json!({"prefix": prefix(member, word), "name": name});
    format!("---\napiVersion: etcd\nkind: Key\nmetadata: {metadata}\nspec: {}\n", json!({"value": value}))
}

fn prefix(member: &Member, word: &str) -> String {
    format!("/{}/", member.name(word))
}

fn set(member: &Member, word: &str, most: usize) -> String {
    format!(
        "---\napiVersion: trueup/v1\nkind: Set\nmetadata: {{name: keys}}\nspec:\n  owner: tests\n  \
         scope: [{{kind: Key, prefix: {}, exclusive: true}}]\n  max-deletes: {most}\n",
        prefix(member, word)
    )
}

#[test]
fn keys_are_made_changed_and_pruned() {
    let word = "keys";
    let Some(member) = Member::open() else { return };
    let at = |name: &str| format!("{}{name}", prefix(&member, word));
    // Names and values are bytes to etcd: what JSON and URLs would have to escape is as good as any.
    let names = ["a", "limits/rate", "ünï \"x\"/..", "\u{10ffff}"];
    let all = |value: &str| -> String { names.map(|name| document(&member, word, name, value)).concat() };
    member.project.file("keys.yaml", &all("grüße\n\u{0}{}"));
    assert_eq!(member.project.json("plan", 0).requests("create"), 0);
    assert_eq!(member.project.json("apply --yes", 0).rows().len(), names.len());
    for name in names {
        assert_eq!(member.get(&at(name)).as_deref(), Some("grüße\n\u{0}{}"), "{name:?}");
    }
    assert_eq!(member.project.json("apply --yes", 0).writes(), 0, "nothing is left to do");
    // Somebody changes one, and deletes another; the files want another value of all but one.
    member.put(&at("a"), "");
    member.delete(&at("limits/rate"));
    member.project.file("keys.yaml", &all(""));
    let report = member.project.json("apply --yes", 0);
    assert_eq!((report.requests("create"), report.requests("update")), (1, 2));
    assert!(names.iter().all(|name| member.get(&at(name)).as_deref() == Some("")));
    // What is in no document goes, below this prefix and nowhere else.
    let beside = format!("{}beside", prefix(&member, word).replace("keys", "keyt"));
    member.put(&beside, "1");
    member.put(&at("left over"), "1");
    member.project.file("set.yaml", &set(&member, word, 2));
    let row = format!("delete done Key left over/{}", prefix(&member, word));
    assert_eq!(member.project.json("apply --yes --prune", 0).rows(), [row]);
    assert_eq!((member.get(&at("left over")), member.get(&beside).as_deref()), (None, Some("1")));
    assert_eq!(member.count(&prefix(&member, word)), names.len() as u64);
    member.project.run("delete --yes", 0);
    assert_eq!(member.count(&prefix(&member, word)), 0);
}

#[test]
fn a_prefix_of_more_keys_than_a_page_is_listed_whole() {
    let word = "many";
    let Some(member) = Member::open() else { return };
    let names: Vec<String> = (0..2_500).map(|at| format!("{}{at}", prefix(&member, word))).collect();
    member.put_all(&names, "1");
    member.project.file("keys.yaml", &document(&member, word, "0", "1"));
    member.project.file("set.yaml", &set(&member, word, 2_499));
    let report = member.project.json("plan --prune", 0);
    assert_eq!(report.rows().iter().filter(|row| row.starts_with("delete planned Key ")).count(), 2_499);
    assert!(report.requests("list") >= 3, "a thousand keys a page");
    assert_eq!(member.count(&prefix(&member, word)), 2_500);
}

/// A write that is under way when another changes the key: etcd compares the revision that was read.
#[test]
fn a_change_between_the_look_and_the_write_is_not_overwritten() {
    let word = "race";
    let Some(mut member) = Member::open() else { return };
    let key = format!("{}size", prefix(&member, word));
    member.put(&key, "1");
    member.project.file("keys.yaml", &document(&member, word, "size", "2"));
    let gate = Gate::before(member.address());
    member.project.set("ETCD_URL", &gate.url());
    let mut command = member.project.command(&["apply", "--yes"]);
    let running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs");
    gate.shut_at("POST /v3/kv/txn ");
    member.put(&key, "another's");
    gate.open();
    let done = running.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(3), "{said}");
    assert!(said.contains("another's"), "{said}");
    assert_eq!(member.get(&key).as_deref(), Some("another's"));
}

/// A key that goes with an etcd lease still does after its value was changed.
#[test]
fn what_a_key_is_bound_to_stays() {
    let word = "bound";
    let Some(member) = Member::open() else { return };
    let key = format!("{}size", prefix(&member, word));
    let granted = member.ask("/v3/lease/grant", json!({"TTL": "600"}));
    let bound = json!({"key": STANDARD.encode(&key), "value": STANDARD.encode("1"), "lease": granted["ID"]});
    member.ask("/v3/kv/put", bound);
    member.project.file("keys.yaml", &document(&member, word, "size", "2"));
    member.project.run("apply --yes", 0);
    let found = member.ask("/v3/kv/range", json!({"key": STANDARD.encode(&key)}));
    assert_eq!(found["kvs"][0]["lease"], granted["ID"], "{found}");
    assert_eq!(member.get(&key).as_deref(), Some("2"));
}

/// Nothing is polled and nothing resynced while this runs: what is repaired was told by etcd.
#[test]
fn what_another_client_does_is_told_by_the_watch_of_etcd() {
    let word = "told";
    let Some(member) = Member::open() else { return };
    let (size, name) = (format!("{}size", prefix(&member, word)), format!("{}a/name", prefix(&member, word)));
    let documents = [document(&member, word, "size", "2"), document(&member, word, "a/name", "x")].concat();
    member.project.file("keys.yaml", &documents);
    let watching = Watching::start(&member.project, &["--interval", "1h", "--resync", "1h"]);
    let in_sync = || member.get(&size).as_deref() == Some("2") && member.get(&name).as_deref() == Some("x");
    watching.until("both keys are made", in_sync);
    for _ in 0..3 {
        member.put(&size, "3");
        member.delete(&name);
        watching.until("both are as they were", in_sync);
    }
}
