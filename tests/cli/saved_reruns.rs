//! Plans in files, applied twice: after a crash the rest is done, and what a plan makes is looked up where it is applied.

use std::fs;

use serde_json::Value;

use crate::saved_plans::elsewhere;
use crate::servers::{Served, backend};
use crate::support::{Done, Scratch};

fn live(server: &Served, collection: &str, name: &str) -> Value {
    let page: Value = serde_json::from_str(&server.call("GET", collection, "")).expect("a page");
    let items = page["items"].as_array().cloned().unwrap_or_default();
    let found = items.into_iter().find(|item| item["name"] == name || item["id"] == name);
    found.unwrap_or_else(|| panic!("no {name}: {page}"))
}

fn document(kind: &str, name: &str, spec: &str) -> String {
    format!("apiVersion: demo\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {spec}\n---\n")
}

/// Ids are the server's, and each object names the one before it, which the plan makes as well.
#[test]
fn a_chain_of_what_the_plan_makes() {
    let home = Scratch::new();
    let server = Served::start(&home, "{}");
    let job = Scratch::with("m/backend.yaml", backend(&server.url(), ""));
    let text = document("Space", "last", "{above: !ref Team/c .id, all: [!ref Team/a .id, !ref Team/b .id]}")
        + &document("Team", "c", "{above: !ref Team/b .id}")
        + &document("Team", "b", "{above: !ref Team/a .id}")
        + &document("Team", "a", "{n: 1}");
    job.write("m/a.yaml", text);
    job.trueup("plan -f m --out p.plan").done().expect(0);
    let shown = job.trueup("plan --show p.plan").done().expect(0);
    assert!(shown.out.contains("4 to create"), "{}", shown.told());
    elsewhere(&job).trueup("apply p.plan").done().expect(0);
    let [a, b, c] = ["a", "b", "c"].map(|name| live(&server, "/teams", name));
    let last = live(&server, "/spaces", "last");
    assert_eq!((&b["above"], &c["above"], &last["above"]), (&a["id"], &b["id"], &c["id"]));
    assert_eq!(last["all"], serde_json::json!([a["id"], b["id"]]));
    elsewhere(&job).trueup("apply p.plan").done().expect(5);
    job.trueup("drift -f m").done().expect(0);
}

/// What a crash left in the middle of a chain is gone on with, by the ids that the server gave before it.
#[test]
fn a_chain_that_was_broken_off() {
    let home = Scratch::new();
    let server = Served::start(&home, "{}");
    let job = Scratch::with("m/backend.yaml", backend(&server.url(), ""));
    let text = document("Team", "b", "{above: !ref Team/a .id}")
        + &document("Team", "c", "{above: !ref Team/b .id}")
        + &document("Team", "a", "{n: 1}");
    job.write("m/a.yaml", text);
    job.trueup("plan -f m --out p.plan").done().expect(0);
    job.trueup("apply -f m --only Team/a --yes").done().expect(0);
    let run = elsewhere(&job).trueup("apply p.plan --output json").done().expect(0);
    let results = &run.json()["summary"]["results"];
    assert_eq!((&results["already-applied"], &results["done"]), (&1.into(), &2.into()), "{results}");
    assert_eq!(live(&server, "/teams", "b")["above"], live(&server, "/teams", "a")["id"]);
}

/// A run that ended after the first object of a cycle was made without the field that names the second.
#[test]
fn a_cycle_that_was_broken_off() {
    for (made, code, told) in [
        ("{\"name\": \"a\", \"n\": 1}", 0, "created"),
        ("{\"name\": \"a\", \"n\": 2}", 5, "it has come into being since the plan was made"),
        ("{\"name\": \"a\", \"n\": 1, \"peer\": \"9\"}", 5, "it has come into being since the plan was made"),
    ] {
        let home = Scratch::new();
        let server = Served::start(&home, "{}");
        let job = Scratch::with("m/backend.yaml", backend(&server.url(), ""));
        let text = document("Team", "a", "{n: 1, peer: !ref Team/b .id}")
            + &document("Team", "b", "{n: 1, peer: !ref Team/a .id}");
        job.write("m/a.yaml", text);
        job.trueup("plan -f m --out p.plan").done().expect(0);
        server.call("POST", "/teams", made);
        let run = elsewhere(&job).trueup("apply p.plan").done();
        assert_eq!(run.code(), code, "{made}: {}", run.told());
        assert!(run.told().contains(told), "{made}: {}", run.told());
        if code == 0 {
            let [a, b] = ["a", "b"].map(|name| live(&server, "/teams", name));
            assert_eq!((&a["peer"], &b["peer"]), (&b["id"], &a["id"]));
            elsewhere(&job).trueup("apply p.plan").done().expect(5);
        }
    }
}

/// Whether a hidden value was sent before, no read shows: it is sent each time, and that is said.
#[test]
fn a_rotation_is_done_again() {
    let home = Scratch::new();
    let server = Served::start(&home, "{}");
    let kinds = backend(&server.url(), "") + "      fields: {pass: write-only}\n";
    let job = Scratch::with("m/backend.yaml", kinds);
    job.write(
        "m/a.yaml",
        document("Space", "a", "{n: 1, pass: !secret env:PASS}") + &document("Space", "b", "{n: 1}"),
    );
    let run = |line: &str, pass: &str| job.trueup(line).env("PASS", pass).done();
    run("apply -f m --yes", "one").expect(0);
    run("plan -f m --rotate Space/a --out p.plan", "two").expect(0);
    let other = elsewhere(&job);
    let apply = |pass: &str| -> Done { other.trueup("apply p.plan").env("PASS", pass).done().expect(0) };
    for pass in ["two", "three"] {
        let told = apply(pass).told();
        assert!(
            told.contains("SentAgain: its hidden values are sent each time the plan is applied"),
            "{told}"
        );
        assert_eq!(live(&server, "/spaces", "a")["pass"], pass, "{told}");
    }
    // Consent to send is none to overwrite.
    server.change("/spaces/a", "{\"n\": 5}");
    let told = other.trueup("apply p.plan").env("PASS", "four").done().expect(5).told();
    assert!(told.contains("`n` has changed on the server since the plan was made"), "{told}");
    assert_eq!(live(&server, "/spaces", "a")["pass"], "three");
}

/// What comes from elsewhere is not in the plan: it is read where the plan is applied, the owner of a Set too.
#[test]
fn values_from_elsewhere_are_read_where_the_plan_is_applied() {
    let home = Scratch::new();
    let server = Served::start(&home, "{}");
    let kinds = backend(&server.url(), "") + "      owner: meta.owner\n";
    let job = Scratch::with("m/backend.yaml", kinds);
    let set = "apiVersion: trueup/v1\nkind: Set\nmetadata: {name: ours}\nspec: {owner: !file who.txt, scope: [{kind: Space}]}\n---\n";
    job.write("m/a.yaml", set.to_owned() + &document("Space", "a", "{note: !file note.txt, n: !env N}"));
    for (file, text) in [("m/who.txt", "me\n"), ("m/note.txt", "a note\n")] {
        job.write(file, text);
    }
    job.trueup("plan -f m --out p.plan").env("N", "5").done().expect(0);
    let saved = fs::read_to_string(job.path("p.plan")).expect("the plan is there");
    assert!(!saved.contains("a note") && saved.contains("{\"!file\":\"who.txt\"}"), "{saved}");
    let other = elsewhere(&job);
    let apply = |n: &str| other.trueup("apply p.plan").env("N", n).done();
    assert!(apply("5").expect(65).err.contains("who.txt"), "the files are not there");
    other.write("m/note.txt", "a note\n");
    other.write("m/who.txt", "you\n");
    let told = apply("5").expect(5).told();
    assert!(told.contains("it is not what the plan wants"), "{told}");
    other.write("m/who.txt", "me\n");
    apply("6").expect(5);
    assert_eq!(server.names("/spaces", "id"), [""; 0]);
    apply("5").expect(0);
    let live = live(&server, "/spaces", "a");
    assert_eq!(
        (&live["note"], &live["n"], &live["meta"]["owner"]),
        (&"a note".into(), &"5".into(), &"me".into())
    );
}
