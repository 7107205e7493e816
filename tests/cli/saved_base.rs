//! Plans in files that were made with a base: whoever applies them has neither the files nor their history.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::repository::Repository;
use crate::servers::{Served, backend};
use crate::support::{Done, Scratch};

/// A repository whose backend is a server on a port, and a folder in which its plans are applied.
struct Job {
    repository: Repository,
    server: Served,
    other: Scratch,
    _home: Scratch,
}

fn space(name: &str, spec: &str) -> String {
    format!("apiVersion: demo\nkind: Space\nmetadata: {{name: {name}}}\nspec: {spec}\n")
}

impl Job {
    /// With this document committed and applied.
    fn applied(text: &str) -> Job {
        let home = Scratch::new();
        let server = Served::start(&home, "{}");
        let repository = Repository::new();
        repository.write("m/backend.yaml", &backend("!env URL", ""));
        repository.commit("m/a.yaml", text);
        let job = Job { repository, server, other: Scratch::new(), _home: home };
        job.run("apply --yes -f m", &[]).expect(0);
        job
    }

    /// In the repository.
    fn run(&self, line: &str, env: &[(&str, &str)]) -> Done {
        let run = self.repository.0.trueup(line).inside("repo").env("URL", &self.server.url());
        env.iter().fold(run, |run, (name, value)| run.env(name, value)).done()
    }

    /// Makes a plan of this text, and takes it to the other folder.
    fn plan(&self, text: &str, env: &[(&str, &str)]) -> Done {
        self.repository.write("m/a.yaml", text);
        let run = self.run("plan -f m --base HEAD --out p.plan", env);
        if self.repository.path().join("p.plan").exists() {
            fs::copy(self.repository.path().join("p.plan"), self.other.path("p.plan")).expect("it is there");
        }
        run
    }

    fn apply(&self, env: &[(&str, &str)]) -> Done {
        let run = self.other.trueup("apply p.plan").env("URL", &self.server.url()).env("PATH", "/nowhere");
        env.iter().fold(run, |run, (name, value)| run.env(name, value)).done()
    }

    fn live(&self, name: &str) -> Value {
        serde_json::from_str(&self.server.call("GET", &format!("/spaces/{name}"), "")).expect("an object")
    }

    fn foreign(&self, name: &str, body: &str) {
        self.server.change(&format!("/spaces/{name}"), body);
    }
}

#[test]
fn what_left_the_files_is_in_the_plan() {
    let job = Job::applied(&space("a", "{n: 1, gone: 1, map: {x: 1, y: 2}}"));
    job.foreign("a", "{\"map\": {\"x\": 1, \"y\": 2, \"theirs\": 3}}");
    job.plan(&space("a", "{n: 2}"), &[]).expect(0);
    let shown = job.other.trueup("plan --show p.plan").done().expect(0).out;
    assert!(shown.contains("  made with --base HEAD\n"), "{shown}");
    for line in
        ["- gone    1       pending: declared no longer", "n       1 → 2   pending: changed in the files"]
    {
        assert!(shown.contains(line), "{shown}");
    }
    assert_snapshot!(job.apply(&[]).told(), @"
    exit 0
    ~   Space a   m/a.yaml:1   updated
        - gone    1       pending: declared no longer
        - map.x   1       pending: declared no longer
        - map.y   2       pending: declared no longer
          n       1 → 2   pending: changed in the files
    Applied: 1 updated. 1 object seen in 3 requests.
    ");
    assert_eq!((&job.live("a")["map"], job.live("a").get("gone")), (&json!({"theirs": 3}), None));
    let again = job.apply(&[]).expect(5).told();
    assert!(again.contains("already applied"), "{again}");
}

/// A field that left is removed only while it still has the base's value: until the very write.
#[test]
fn what_somebody_changes_between_plan_and_apply_stays() {
    let job = Job::applied(&(space("a", "{n: 1, gone: 1}") + "---\n" + &space("b", "{gone: 1}")));
    job.plan(&(space("a", "{n: 2}") + "---\n" + &space("b", "{}")), &[]).expect(0);
    job.foreign("a", "{\"gone\": 7}");
    assert_snapshot!(job.apply(&[]).told(), @"
    exit 3
    !   Space a   m/a.yaml:1
        - gone           conflict: 1 at the base, nothing here, 7 there
          n      1 → 2   pending: changed in the files
        conflict: `gone` was changed both in the files and on the server since the base
        hint: take theirs into the file, give it up (`trueup/on-conflict: ignore`), or overwrite it, by a new plan with: `--force-conflicts Space/a:gone`
    ~   Space b   m/a.yaml:6   updated
        - gone   1   pending: declared no longer
    Applied: 1 updated, 1 conflict. 2 objects seen in 4 requests.
    ");
    assert_eq!((&job.live("a")["gone"], &job.live("a")["n"]), (&json!(7), &json!(1)));
    assert_eq!(job.live("b").get("gone"), None);
}

/// Neither is what somebody changed after a run that was ended in its middle, nor what is forced.
#[test]
fn a_forced_object_is_held_to_what_was_seen() {
    let forced = |spec: &str| space("a", spec).replace("a}", "a, annotations: {trueup/on-conflict: force}}");
    let job = Job::applied(&space("a", "{n: 1, gone: 1}"));
    job.foreign("a", "{\"n\": 5, \"gone\": 5}");
    job.plan(&forced("{n: 2}"), &[]).expect(0);
    let shown = job.other.trueup("plan --show p.plan").done().expect(0).out;
    assert!(shown.contains("forced: 1 at the base, 2 here, 5 there"), "{shown}");
    let value = job.other.trueup("plan --show p.plan --output json").done().expect(0).json();
    let change = &value["objects"][0]["changes"][1];
    assert_eq!(
        (&change["path"], &change["origin"], &change["base"]),
        (&json!("n"), &json!("conflict"), &json!(1))
    );
    job.foreign("a", "{\"gone\": 6}");
    let told = job.apply(&[]).expect(5).told();
    assert!(
        told.contains("refused: `gone` has changed since the plan was made: it was 5, and is 6"),
        "{told}"
    );
    job.foreign("a", "{\"gone\": 5}");
    job.apply(&[]).expect(0);
    assert_eq!((&job.live("a")["n"], job.live("a").get("gone")), (&json!(2), None));
}

#[test]
fn a_conflict_of_the_plan_is_not_done() {
    let job = Job::applied(&space("a", "{n: 1}"));
    job.foreign("a", "{\"n\": 5}");
    job.plan(&space("a", "{n: 2}"), &[]).expect(3);
    let shown = job.other.trueup("plan --show p.plan").done().expect(0).out;
    assert!(shown.contains("conflict: `n` was changed both in the files"), "{shown}");
    job.apply(&[]).expect(5);
    // The server goes back to the base: the plan was not to do it even so.
    job.foreign("a", "{\"n\": 1}");
    let told = job.apply(&[]).expect(5).told();
    assert!(told.contains("refused: the plan does not do it: `n` was changed both"), "{told}");
    assert_eq!(job.live("a")["n"], 1);
}

/// Objects that left the files are told of, and stay.
#[test]
fn objects_that_left_are_told_of() {
    let job = Job::applied(&(space("a", "{n: 1}") + "---\n" + &space("b", "{n: 1}")));
    job.plan(&space("a", "{n: 2}"), &[]).expect(0);
    let shown = job.other.trueup("plan --show p.plan").done().expect(0).out;
    let left = "?   Space b   HEAD:m/a.yaml:6   left the files; --base alone never deletes";
    assert!(shown.contains(left), "{shown}");
    let told = job.apply(&[]).expect(0).told();
    assert!(told.contains(left), "{told}");
    assert_eq!(job.server.names("/spaces", "id"), ["a", "b"]);
}

/// No secret of the base is in the plan; what cannot be told without one is not taken away, and not called done.
#[test]
fn secrets_of_the_base_are_no_part_of_the_plan() {
    let text = "{n: 1, token: !secret env:OLD, plain: canary-old-1, f: !file f.txt}";
    let home = Scratch::new();
    let server = Served::start(&home, "{}");
    let repository = Repository::new();
    repository.write("m/backend.yaml", &backend("!env URL", ""));
    repository.write("m/f.txt", "one\n");
    repository.commit("m/a.yaml", &space("a", text));
    let job = Job { repository, server, other: Scratch::new(), _home: home };
    let old = [("OLD", "canary-old-1")];
    job.run("apply --yes -f m", &old).expect(0);
    fs::remove_file(job.repository.path().join("m/f.txt")).expect("it is there");
    job.plan(&space("a", "{n: 2}"), &old).expect(0);
    let saved = fs::read_to_string(job.other.path("p.plan")).expect("the plan is there");
    assert!(!saved.contains("canary"), "{saved}");
    // Without the variable of the base's secret.
    let told = job.apply(&[]).expect(5).told();
    assert!(
        told.contains("was to be removed, and here nobody can tell whether it still is the base's"),
        "{told}"
    );
    assert_eq!(job.live("a")["n"], 1, "{told}");
    // A secret that stood in the clear can be told by nobody but who has the repository.
    let text = "{n: 1, token: !secret env:OLD, f: one}";
    job.repository.commit("m/a.yaml", &space("a", text));
    job.foreign("a", "{\"plain\": null}");
    job.plan(&space("a", "{n: 2}"), &old).expect(0);
    job.apply(&[]).expect(5);
    let told = job.apply(&old).expect(0).told();
    assert!(!told.contains("canary"), "{told}");
    let live = job.live("a");
    assert_eq!((&live["n"], live.get("token"), live.get("f")), (&json!(2), None, None), "{told}");
    assert!(job.apply(&old).expect(5).told().contains("already applied"));
}

/// What came and went since the base keeps its story.
#[test]
fn who_made_a_difference_is_told_as_by_the_plan() {
    let job = Job::applied(&(space("a", "{n: 1, m: 1}") + "---\n" + &space("b", "{n: 1}")));
    job.foreign("a", "{\"m\": 5}");
    job.server.call("DELETE", "/spaces/b", "");
    let text = space("a", "{n: 2, m: 1}") + "---\n" + &space("b", "{n: 1}") + "---\n" + &space("c", "{n: 1}");
    job.plan(&text, &[]).expect(0);
    assert_snapshot!(job.apply(&[]).told(), @"
    exit 0
    ~   Space a   m/a.yaml:1    updated
          m   5 → 1   drift: changed on the server
          n   1 → 2   pending: changed in the files
    +   Space b   m/a.yaml:6    created
    +   Space c   m/a.yaml:11   created
    Applied: 2 created, 1 updated. 3 objects seen in 9 requests.
    ");
}

/// An edited base is an edited plan, and one that was edited with its hash takes nothing away that was not shown.
#[test]
fn a_base_that_was_edited_in_the_plan() {
    let job = Job::applied(&space("a", "{n: 1, gone: 1, kept: 1}"));
    job.plan(&space("a", "{n: 2, kept: 1}"), &[]).expect(0);
    let saved = fs::read_to_string(job.other.path("p.plan")).expect("the plan is there");
    job.other.write("p.plan", saved.replace("\"gone\":1", "\"gone\":2"));
    let told = job.apply(&[]).expect(5).told();
    assert!(told.contains("it was edited after it was made"), "{told}");
}

/// That a secret has another version than at the base is part of the plan, and so is the version.
#[test]
fn a_new_secret_version() {
    let home = Scratch::new();
    let server = Served::start(&home, "{}");
    let repository = Repository::new();
    repository.write("m/backend.yaml", &(backend("!env URL", "") + "      fields: {pass: write-only}\n"));
    let versioned = |version: u8| {
        space("a", "{n: 1, pass: !secret env:PASS}")
            .replace("a}", &format!("a, annotations: {{trueup/secret-version: \"{version}\"}}}}"))
    };
    repository.commit("m/a.yaml", &versioned(1));
    let job = Job { repository, server, other: Scratch::new(), _home: home };
    job.run("apply --yes -f m", &[("PASS", "one")]).expect(0);
    let same = job.plan(&versioned(1), &[("PASS", "two")]).expect(0);
    assert!(same.out.contains("is in sync"), "{}", same.told());
    job.apply(&[("PASS", "two")]).expect(0);
    assert_eq!(job.live("a")["pass"], "one");
    let planned = job.plan(&versioned(2), &[("PASS", "two")]).expect(0);
    assert!(planned.out.contains("Plan: 1 to update"), "{}", planned.told());
    let told = job.apply(&[("PASS", "two")]).expect(0).told();
    assert!(told.contains("SecretVersion: ") && told.contains("Applied: 1 updated"), "{told}");
    assert_eq!(job.live("a")["pass"], "two");
}
