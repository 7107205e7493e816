//! Plans in files that delete what no document names: each deletion with its proof, and only while it still holds.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::servers::Served;
use crate::support::{Done, Scratch};

const BACKEND: &str = "apiVersion: trueup/v1
kind: Backend
metadata: {name: demo}
spec:
  url: !env URL
  kinds:
    Team:
      key: {name: .name}
      list: {request: GET /teams, items: .items}
      read: GET /teams/{id}
      create: POST /teams
      update: PATCH /teams/{id}
      delete: DELETE /teams/{id}
      version: .revision
      owner: tags[*]
      visible: 300ms
      fields: {revision: server-owned, pass: secret}
    Space:
      key: {name: .id}
      list: {request: GET /spaces, items: .items}
      read: GET /spaces/{name}
      create: PUT /spaces/{name}
      update: PATCH /spaces/{name}
      delete: DELETE /spaces/{name}
      fields: {revision: server-owned}
";

const SET: &str = "apiVersion: trueup/v1
kind: Set
metadata: {name: ours}
spec:
  owner: !env OWNER
  scope: [{kind: Team}, {kind: Space, exclusive: true}]
---
apiVersion: demo
kind: Team
metadata: {name: kept}
spec: {n: 1}
---
apiVersion: demo
kind: Space
metadata: {name: kept}
spec: {n: 1}
";

struct Job {
    home: Scratch,
    server: Served,
    other: Scratch,
}

impl Job {
    /// With a team that bears our mark, one that bears another's, and a space in an exclusive scope; none of them has
    /// a document.
    fn new() -> Job {
        let home = Scratch::new();
        let server = Served::start(&home, "{}");
        home.write("m/backend.yaml", BACKEND);
        home.write("m/a.yaml", SET);
        let job = Job { home, server, other: Scratch::new() };
        job.run("apply -f m --yes").expect(0);
        job.server.call(
            "POST",
            "/teams",
            "{\"name\": \"old\", \"tags\": [\"me\", \"x\"], \"pass\": \"canary-5\"}",
        );
        job.server.call("POST", "/teams", "{\"name\": \"theirs\", \"tags\": [\"you\"]}");
        job.server.call("PUT", "/spaces/old", "{\"n\": 1}");
        job
    }

    fn run(&self, line: &str) -> Done {
        self.home.trueup(line).env("URL", &self.server.url()).env("OWNER", "me").done()
    }

    fn plan(&self, more: &str) -> Done {
        let run = self.run(&format!("plan -f m --prune --out p.plan {more}"));
        if self.home.path("p.plan").exists() {
            fs::copy(self.home.path("p.plan"), self.other.path("p.plan")).expect("the plan is there");
        }
        run
    }

    fn apply(&self) -> Done {
        self.apply_as("me")
    }

    fn apply_as(&self, owner: &str) -> Done {
        self.other.trueup("apply p.plan").env("URL", &self.server.url()).env("OWNER", owner).done()
    }

    fn id(&self, team: &str) -> String {
        let page: Value = serde_json::from_str(&self.server.call("GET", "/teams", "")).expect("a page");
        let items = page["items"].as_array().expect("a list");
        let found = items.iter().find(|item| item["name"] == team).expect("it is there");
        found["id"].as_str().map_or_else(|| found["id"].to_string(), str::to_owned)
    }

    fn names(&self) -> [Vec<String>; 2] {
        [self.server.names("/teams", "name"), self.server.names("/spaces", "id")]
    }
}

#[test]
fn each_deletion_is_in_the_plan_with_its_proof() {
    let job = Job::new();
    assert_snapshot!(job.plan("").expect(0).out, @"
    -   Team old      m/a.yaml:6
        Pruned: no document names it; it is in the set `ours`, and bears the mark `me`
    -   Space old     m/a.yaml:6
        Pruned: no document names it; it is in the set `ours`, whose scope here is exclusive
    ?   Team theirs   m/a.yaml:6
        extra: nothing proves that it is ours: `tags` does not hold the owner `me`
        hint: add a document for it, or say `exclusive: true` in the set where nobody else has objects
    Plan: 2 to delete, 1 extra, 2 in sync. 5 objects seen in 5 requests.
    ");
    let saved = fs::read_to_string(job.other.path("p.plan")).expect("the plan is there");
    assert!(!saved.contains("canary"), "{saved}");
    let shown = job.other.trueup("plan --show p.plan").done().expect(0).out;
    assert!(shown.contains("  made with --prune\n"), "{shown}");
    for proof in
        ["and bears the mark `me`", "whose scope here is exclusive", "`tags` does not hold the owner `me`"]
    {
        assert!(shown.contains(proof), "{proof}: {shown}");
    }
    assert_snapshot!(job.apply().told(), @"
    exit 0
    -   Team old      m/a.yaml:6   deleted
        Pruned: no document names it; it is in the set `ours`, and bears the mark `me`
    -   Space old     m/a.yaml:6   deleted
        Pruned: no document names it; it is in the set `ours`, whose scope here is exclusive
    ?   Team theirs   m/a.yaml:1
        extra: nothing proves that it is ours: `tags` does not hold the owner `me`
        hint: add a document for it, or say `exclusive: true` in the set where nobody else has objects
    Applied: 2 deleted, 1 extra, 2 in sync. 5 objects seen in 12 requests.
    ");
    assert_eq!(job.names(), [vec!["kept", "theirs"], vec!["kept"]]);
    let again = job.apply().expect(5).told();
    assert!(again.contains("=   Team old      m/a.yaml:6   already applied"), "{again}");
    assert!(again.contains("nothing is left to do of `p.plan`"), "{again}");
    job.run("plan -f m --prune --detailed-exitcode").expect(0);
}

/// Whatever has moved of an object that is to go, it stays; the others go.
#[test]
fn what_has_moved_stays() {
    type Move = fn(&Job);
    let cases: [(&str, Move, &str); 5] = [
        (
            "the mark",
            |job| job.server.change(&format!("/teams/{}", job.id("old")), "{\"tags\": [\"x\"]}"),
            "nothing proves that it is ours: `tags` does not hold the owner `me`",
        ),
        (
            "the object",
            |job| {
                job.server.call("DELETE", &format!("/teams/{}", job.id("old")), "");
                job.server.call("POST", "/teams", "{\"name\": \"old\", \"tags\": [\"me\", \"x\"]}");
            },
            "another object has its name since the plan was made",
        ),
        (
            "its content",
            |job| job.server.change(&format!("/teams/{}", job.id("old")), "{\"n\": 7}"),
            "it has changed since the plan was made",
        ),
        (
            "another of its name",
            |job| drop(job.server.call("POST", "/teams", "{\"name\": \"old\", \"tags\": [\"me\"]}")),
            "2 objects answer to",
        ),
        ("the listing", |_| {}, ""),
    ];
    for (what, moves, why) in cases {
        let job = Job::new();
        job.plan("").expect(0);
        moves(&job);
        let run = job.apply();
        let [teams, spaces] = job.names();
        assert_eq!(teams.contains(&"old".to_owned()), !why.is_empty(), "{what}: {}", run.told());
        assert_eq!(spaces, ["kept"], "{what}: {}", run.told());
        assert!(run.told().contains(why), "{what}: {}", run.told());
        assert_ne!(run.code() == 0, !why.is_empty(), "{what}: {}", run.told());
    }
}

/// A secret that changed is no matter: it is no part of what is compared. Neither is what the server counts.
#[test]
fn what_is_hidden_does_not_hold_a_deletion_up() {
    let job = Job::new();
    job.plan("").expect(0);
    job.server.change(&format!("/teams/{}", job.id("old")), "{\"pass\": \"canary-6\"}");
    job.apply().expect(0);
    assert_eq!(job.names()[0], ["kept", "theirs"]);
}

#[test]
fn what_appeared_since_is_not_deleted() {
    let job = Job::new();
    job.plan("").expect(0);
    job.server.call("PUT", "/spaces/new", "{\"n\": 1}");
    let run = job.apply().expect(0);
    assert!(run.out.contains("Space new"), "{}", run.told());
    assert!(
        run.out.contains("the plan does not delete it: it is too much only since it was made"),
        "{}",
        run.told()
    );
    assert_eq!(job.names(), [vec!["kept", "theirs"], vec!["kept", "new"]]);
}

/// The limit is counted again, whoever says in the file that there was none.
#[test]
fn the_limit_holds() {
    let job = Job::new();
    for i in 0..6 {
        job.server.call("PUT", &format!("/spaces/old{i}"), "{\"n\": 1}");
    }
    let run = job.plan("").expect(5);
    assert!(run.out.contains("8 objects would be deleted, and the limit is 5"), "{}", run.told());
    job.apply().expect(5);
    assert_eq!(job.names()[1].len(), 8);
    job.plan("--max-deletes 8").expect(0);
    let shown = job.other.trueup("plan --show p.plan").done().expect(0).out;
    assert!(shown.contains("made with --prune --max-deletes 8"), "{shown}");
    job.apply().expect(0);
    assert_eq!(job.names(), [vec!["kept", "theirs"], vec!["kept"]]);
}

/// The owner is part of what is wanted: another one where the plan is applied is another wish.
#[test]
fn another_owner_is_another_wish() {
    let job = Job::new();
    job.plan("").expect(0);
    let run = job.apply_as("you");
    assert_eq!(run.code(), 5, "{}", run.told());
    assert_eq!(job.names()[0], ["kept", "old", "theirs"], "{}", run.told());
    assert!(run.out.contains("nothing proves that it is ours"), "{}", run.told());
}

/// Without `--prune` a Set only says whose the objects are; the mark is written by the saved plan as well.
#[test]
fn a_set_without_pruning() {
    let job = Job::new();
    job.home.write("m/more.yaml", "apiVersion: demo\nkind: Team\nmetadata: {name: new}\nspec: {n: 1}\n");
    job.run("plan -f m --out p.plan").expect(0);
    fs::copy(job.home.path("p.plan"), job.other.path("p.plan")).expect("the plan is there");
    job.apply().expect(0);
    let live = job.server.call("GET", &format!("/teams/{}", job.id("new")), "");
    assert!(live.contains("\"tags\":[\"me\"]"), "{live}");
    assert_eq!(job.names(), [vec!["kept", "new", "old", "theirs"], vec!["kept", "old"]]);
}
