//! A folder that has no documents any more may only be away: what it declared is not pruned before that is confirmed.

use std::fs;

use crate::repository::git;
use crate::servers::{Served, backend};
use crate::support::Scratch;
use crate::watch::stage::{Watching, descriptions, teams, until};

const SET: &str = "---\napiVersion: trueup/v1\nkind: Set\nmetadata: {name: all}\nspec: {scope: [{kind: Team, exclusive: true}]}\n";

/// A team beside a folder `m/sub` with two others, all in a Set.
fn stage() -> (Scratch, Served) {
    let scratch = Scratch::new();
    let served = Served::start(&scratch, "rules: []");
    scratch.write("backend.yaml", backend(&served.url(), ""));
    scratch.write("m/set.yaml", SET);
    scratch.write("m/a.yaml", teams(&["blue"], "one"));
    scratch.write("m/sub/b.yaml", teams(&["green", "red"], "one"));
    (scratch, served)
}

const ALL: [&str; 3] = ["blue=one", "green=one", "red=one"];

/// The Sets are looked through, which finds what is held, however often: one more stray goes meanwhile.
fn the_rest_is_pruned(served: &Served, left: &[&str]) {
    served.call("POST", "/teams", "{\"name\": \"stray\"}");
    until("a stray goes", || descriptions(served) == left);
}

#[test]
fn an_unmounted_folder_prunes_nothing_until_a_person_agrees() {
    let (scratch, served) = stage();
    let watching = Watching::started(&scratch, "--prune --resync 1s --status-file s.json");
    until("all is there", || descriptions(&served) == ALL);
    // As when a volume goes: the folder stays, and is empty.
    fs::remove_file(scratch.path("m/sub/b.yaml")).expect("it is ours");
    let held = watching.until_said("pruning is held", 1);
    let told = held["detail"].as_str().unwrap_or_default();
    assert!(told.starts_with("the folder `m/sub` declared 2 objects and has no document any more"), "{told}");
    the_rest_is_pruned(&served, &ALL);
    assert_eq!(watching.said("pruning is held").len(), 1, "{}", watching.text());
    let status = || scratch.trueup("status --status-file s.json").done();
    until("the status says so", || status().code() == 5);
    let status = status();
    assert!(status.out.contains("warning: the folder `m/sub` declared 2 objects"), "{}", status.told());
    watching.hangup();
    let agreed = watching.until_said("what a folder declared may go", 1);
    assert_eq!((&agreed["folder"], &agreed["by"]), (&"m/sub".into(), &"a person".into()));
    until("what it declared goes", || descriptions(&served) == ["blue=one"]);
    watching.ends("TERM", 0);
}

#[test]
fn a_folder_that_is_there_again_is_as_it_was() {
    let (scratch, served) = stage();
    let watching = Watching::started(&scratch, "--prune --resync 1s");
    until("all is there", || descriptions(&served) == ALL);
    fs::rename(scratch.path("m/sub"), scratch.path("away")).expect("it is ours");
    watching.until_said("pruning is held", 1);
    the_rest_is_pruned(&served, &ALL);
    fs::rename(scratch.path("away"), scratch.path("m/sub")).expect("it is ours");
    let before = served.written().len();
    watching.hangup();
    watching.until_said("a person asks for everything to be looked at", 1);
    the_rest_is_pruned(&served, &ALL);
    assert_eq!(served.written().len(), before + 2, "the stray came and went");
    watching.ends("TERM", 0);
}

/// Where the files are a checkout, Git tells a folder that a commit took away from one that is only not there.
#[test]
fn git_tells_a_folder_that_is_to_be_gone() {
    let (scratch, served) = stage();
    git(&scratch.path(""), "init --quiet m");
    let repository = scratch.path("m");
    let git = |line: &str| git(&repository, line);
    git("add --all");
    git("commit --quiet -m all");
    let path = std::env::var("PATH").unwrap_or_default();
    let program = scratch.trueup("watch -f m -f backend.yaml --log ndjson --prune --resync 1s");
    let watching = Watching::of(program.env("PATH", &path).start());
    until("all is there", || descriptions(&served) == ALL);
    git("rm --quiet -r sub");
    watching.until_said("pruning is held", 1);
    the_rest_is_pruned(&served, &ALL);
    git("commit --quiet -m gone");
    let agreed = watching.until_said("what a folder declared may go", 1);
    assert_eq!((&agreed["folder"], &agreed["by"]), (&"m/sub".into(), &"git".into()));
    until("what it declared goes", || descriptions(&served) == ["blue=one"]);
    watching.ends("TERM", 0);
}
