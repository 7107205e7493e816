//! Plans in files: made in one place and done in another, refused where what they rest on has moved, and shown
//! whatever has become of them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use insta::assert_snapshot;
use serde_json::Value;

use crate::servers::{Raw, Say, Served, TEAM_AND_SPACE, backend};
use crate::support::{Run, Scratch};

/// A team, a space, and a space that names the team's id.
pub fn documents() -> String {
    format!(
        "{TEAM_AND_SPACE}---\napiVersion: demo\nkind: Space\nmetadata: {{name: home}}\n\
         spec: {{team: !ref Team/red .id, note: !env NOTE, pin: !secret env:PIN}}\n"
    )
}

/// A folder with manifests for a server, whose address is in the environment.
pub fn job() -> Scratch {
    let scratch = Scratch::with("m/backend.yaml", backend("!env URL", ""));
    scratch.write("m/a.yaml", documents());
    scratch
}

pub fn at(run: Run, url: &str) -> Run {
    run.env("URL", url).env("NOTE", "hello").env("PIN", "canary-pin-77")
}

/// The plan of a job, in a folder without anything else.
pub fn elsewhere(job: &Scratch) -> Scratch {
    let other = Scratch::new();
    fs::copy(job.path("p.plan"), other.path("p.plan")).expect("the plan is there");
    other
}

#[test]
fn made_in_one_job_and_applied_in_another() {
    let home = Scratch::new();
    let server = Served::start(&home, "{}");
    let job = job();
    let made = at(job.trueup("plan -f m --out p.plan"), &server.url()).done();
    assert_eq!(made.code(), 0, "{}", made.told());
    assert!(made.err.starts_with("Saved to p.plan; it expires "), "{}", made.err);
    let mode = fs::metadata(job.path("p.plan")).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(fs::read_dir(job.path("")).expect("a folder").count(), 2, "no draft is left");

    let other = elsewhere(&job);
    // What artifacts of a CI system come to have.
    fs::set_permissions(other.path("p.plan"), fs::Permissions::from_mode(0o644)).expect("it is ours");
    assert_snapshot!(at(other.trueup("apply p.plan"), &server.url()).done().told(), @"
    exit 0
    +   Team red     m/a.yaml:1    created
    +   Space shop   m/a.yaml:6    created
    +   Space home   m/a.yaml:11   created
    Applied: 3 created. 3 objects seen in 9 requests.
    ");
    assert_eq!(server.names("/spaces", "id"), ["home", "shop"]);
    assert_snapshot!(at(other.trueup("apply p.plan"), &server.url()).done().told(), @"
    exit 5
    =   Team red     m/a.yaml:1    already applied
    =   Space shop   m/a.yaml:6    already applied
    =   Space home   m/a.yaml:11   already applied
    Applied: 3 already applied. 3 objects seen in 3 requests.
    --- stderr
    error: nothing is left to do of `p.plan`: it was applied already
    hint: make a new plan
    ");
    at(job.trueup("drift -f m"), &server.url()).done().expect(0);
}

#[test]
fn after_a_crash_the_rest_is_done() {
    let home = Scratch::new();
    let server = Served::start(&home, "{}");
    let job = job();
    at(job.trueup("plan -f m --out p.plan"), &server.url()).done().expect(0);
    at(job.trueup("apply -f m --only Team/* --yes"), &server.url()).done().expect(0);
    let run = at(job.trueup("apply p.plan --output json"), &server.url()).done().expect(0);
    let results = &run.json()["summary"]["results"];
    assert_eq!((&results["already-applied"], &results["done"]), (&1.into(), &2.into()), "{results}");
}

/// Of three objects one moved, one is wanted otherwise by now, and one is as it was.
#[test]
fn what_has_moved_is_refused_and_the_rest_is_done() {
    let home = Scratch::new();
    let server = Served::start(&home, "{}");
    let job = job();
    at(job.trueup("apply -f m --yes"), &server.url()).done().expect(0);
    let edited = documents().replace("The red team", "Red").replace("The shop", "Shop");
    job.write("m/a.yaml", edited.replace("note: !env NOTE", "note: !env NOTE, n: 1"));
    at(job.trueup("plan -f m --out p.plan"), &server.url()).done().expect(0);
    server.call("PUT", "/spaces/shop", "{\"description\": \"Theirs\", \"other\": 1}");
    let run = at(job.trueup("apply p.plan"), &server.url()).env("NOTE", "other").done();
    assert_snapshot!(run.told(), @r#"
    exit 5
    ~   Team red     m/a.yaml:1    updated
          description   "The red team" → "Red"   differs on the server
    ~   Space shop   m/a.yaml:6
          description   "Theirs" → "Shop"   differs on the server
        refused: `description` has changed since the plan was made: it was "The shop", and is "Theirs"
        hint: make a new plan
    ~   Space home   m/a.yaml:11
        + n      1                   missing on the server
          note   "hello" → "other"   differs on the server
        refused: it is not what the plan wants: a variable or a file that it names has changed
        hint: make a new plan
    Applied: 1 updated, 2 refused. 3 objects seen in 5 requests.
    "#);
    assert!(server.call("GET", "/spaces/shop", "").contains("Theirs"));
    assert!(!server.call("GET", "/spaces/home", "").contains("\"n\""));
    // Nothing of what was compared differs from the plan once it is put back.
    server.call("PUT", "/spaces/shop", "{\"description\": \"The shop\"}");
    at(job.trueup("apply p.plan"), &server.url()).done().expect(0);
    assert!(server.call("GET", "/spaces/shop", "").contains("Shop"));
}

/// Consent is part of the plan, and so is what it is for.
#[test]
fn nothing_is_replaced_but_what_the_plan_replaces() {
    let home = Scratch::new();
    let server = Served::start(&home, "{}");
    let scratch = Scratch::new();
    let fields = |text: String| text + "      fields: {size: immutable=replace}\n";
    scratch.write("m/backend.yaml", fields(backend(&server.url(), "")));
    let space = |name: &str, size: u32| {
        format!("apiVersion: demo\nkind: Space\nmetadata: {{name: {name}}}\nspec: {{size: {size}}}\n---\n")
    };
    scratch.write("m/a.yaml", space("x", 1) + &space("y", 1) + &space("z", 1));
    scratch.trueup("apply -f m --yes").done().expect(0);
    scratch.write("m/a.yaml", space("x", 2) + &space("y", 2) + &space("z", 1));
    scratch.trueup("plan -f m --out p.plan --replace Space/x").done().expect(5);
    server.call("PUT", "/spaces/z", "{\"size\": 5}");
    assert_snapshot!(scratch.trueup("apply p.plan").done().told(), @"
    exit 5
    -/+ Space x   m/a.yaml:1    replaced
          size   1 → 2   immutable: the object is replaced
    -/+ Space y   m/a.yaml:6
          size   1 → 2   immutable: refused, needs --replace Space/y
        refused: it would have to be deleted and created again
        hint: if its loss is acceptable: --replace Space/y
    -/+ Space z   m/a.yaml:11
          size   5 → 1   immutable: refused, needs --replace Space/z
        refused: it would have to be deleted and created again
        hint: if its loss is acceptable: --replace Space/z
    Applied: 1 replaced, 2 refused. 3 objects seen in 8 requests.
    ");
    let mut deleted = server.written();
    deleted.retain(|line| line.starts_with("DELETE"));
    assert_eq!(deleted, ["DELETE /spaces/x"]);
}

/// Another object that took the name is not the one that was looked at.
#[test]
fn another_object_under_the_name_is_not_deleted() {
    let home = Scratch::new();
    let server = Served::start(&home, "{}");
    let scratch = Scratch::with("m/backend.yaml", backend(&server.url(), ""));
    scratch.write("m/a.yaml", TEAM_AND_SPACE);
    scratch.trueup("apply -f m --yes").done().expect(0);
    let gone = "metadata: {name: red, annotations: {trueup/ensure: absent}}";
    scratch.write("m/a.yaml", TEAM_AND_SPACE.replace("metadata: {name: red}", gone));
    scratch.trueup("plan -f m --out p.plan").done().expect(0);
    let listed: Value = serde_json::from_str(&server.call("GET", "/teams", "")).expect("a page");
    let id = listed["items"][0]["id"].to_string();
    server.call("DELETE", &format!("/teams/{}", id.trim_matches('"')), "");
    server.call("POST", "/teams", "{\"name\": \"red\"}");
    assert_snapshot!(scratch.trueup("apply p.plan").done().told(), @"
    exit 5
    -   Team red   m/a.yaml:1
        refused: another object has its name since the plan was made
        hint: make a new plan
    Applied: 1 refused, 1 in sync. 2 objects seen in 2 requests.
    ");
    assert_eq!(server.names("/teams", "name"), ["red"]);
}

#[test]
fn the_backends_that_are_trusted_must_be_the_plans_own() {
    let (own, evil) =
        (Raw::new(|_| Say::json("{\"items\": []}")), Raw::new(|_| Say::json("{\"items\": []}")));
    let auth = "  auth: {bearer: !secret env:TOKEN}";
    let scratch = Scratch::with("a.yaml", TEAM_AND_SPACE);
    scratch.write("evil.yaml", backend(&evil.url(), auth));
    scratch
        .write("trusted.yaml", format!("# the same, and written otherwise\n{}", backend(&own.url(), auth)));
    scratch.trueup("plan -f a.yaml -f evil.yaml --out p.plan").env("TOKEN", "tok-1").done().expect(0);
    let before = evil.lines().len();
    let run = scratch.trueup("apply p.plan --backends trusted.yaml").env("TOKEN", "tok-1").done();
    assert_snapshot!(run.told(), @"
    exit 5
    --- stderr
    error: `p.plan` is not applied: its backend `demo` is not the one that `--backends` names
    hint: apply it with the backends that it was made with, or make a new plan
    ");
    let twin =
        scratch.trueup("apply p.plan").env("TRUEUP_BACKENDS", "trusted.yaml").env("TOKEN", "tok-1").done();
    assert_eq!(twin.told(), run.told());
    assert_eq!((evil.lines().len(), own.lines().len()), (before, 0));
    scratch
        .trueup("plan -f a.yaml --backends trusted.yaml --out p.plan")
        .env("TOKEN", "tok-1")
        .done()
        .expect(0);
    let run = scratch.trueup("apply p.plan --backends trusted.yaml --allow-env NONE").env("TOKEN", "tok-1");
    run.done().expect(4);
    assert!(own.lines().iter().any(|line| line == "POST /teams"), "{:?}", own.lines());
}

/// A plan with no change is nothing to refuse.
#[test]
fn a_plan_of_nothing_is_a_success() {
    let home = Scratch::new();
    let server = Served::start(&home, "{}");
    let job = job();
    at(job.trueup("apply -f m --yes"), &server.url()).done().expect(0);
    at(job.trueup("plan -f m --out p.plan"), &server.url()).done().expect(0);
    let run = at(job.trueup("apply p.plan"), &server.url()).done().expect(0);
    assert!(run.out.starts_with("All 3 objects are in sync; nothing was written."), "{}", run.told());
}

/// What is not known cannot be promised.
#[test]
fn a_plan_that_does_not_know_everything_is_not_saved() {
    let server = Raw::new(|_| Say::answer("500 Oops", "", ""));
    let scratch = Scratch::with("m/backend.yaml", backend(&server.url(), "  limits: {timeout: 1s}"));
    scratch.write("m/a.yaml", TEAM_AND_SPACE);
    let run = scratch.trueup("plan -f m --out p.plan --timeout 3s").done().expect(1);
    assert!(run.err.contains("the plan is not saved: not all of it is known"), "{}", run.told());
    assert!(!scratch.path("p.plan").exists());
}

#[test]
fn where_a_plan_may_be_saved() {
    let server = Raw::new(|_| Say::json("{\"items\": []}"));
    let scratch = Scratch::with("m/backend.yaml", backend(&server.url(), ""));
    scratch.write("m/a.yaml", TEAM_AND_SPACE);
    scratch.write("notes.txt", "keep this\n");
    symlink(scratch.path("notes.txt"), scratch.path("link")).expect("a link");
    for (out, why) in [
        ("link", "it is a link"),
        ("notes.txt", "it is a file, and no plan"),
        ("m", "it is not a regular file"),
        ("/dev/stdout", "it is "),
        ("none/p.plan", "its folder is not there"),
    ] {
        let run = scratch.trueup_of(["plan", "-f", "m", "--out", out]).done().expect(5);
        assert!(run.err.contains(&format!("no plan is saved to `{out}`: {why}")), "{}", run.told());
    }
    assert_eq!(server.lines(), [""; 0], "nothing was asked");
    assert_eq!(fs::read_to_string(scratch.path("notes.txt")).expect("it is there"), "keep this\n");
    for _ in 0..2 {
        scratch.trueup("plan -f m").env("TRUEUP_OUT", "p.plan").done().expect(0);
    }
}
