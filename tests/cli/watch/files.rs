//! Files that change: what they say holds at once, unless it is no good; then what they said before holds.

use crate::servers::{Served, backend};
use crate::support::Scratch;
use crate::watch::stage::{Watching, descriptions, id, teams, two_teams, until};

#[test]
fn a_change_is_applied_at_once() {
    let (scratch, served) = two_teams();
    let watching = Watching::started(&scratch, "--resync 1h");
    scratch.write("m/a.yaml", teams(&["blue", "red"], "two"));
    until("the change is there", || descriptions(&served) == ["blue=two", "red=two"]);
    scratch.write("m/more/b.yaml", teams(&["green"], "two"));
    until("a new file", || descriptions(&served) == ["blue=two", "green=two", "red=two"]);
    watching.ends("TERM", 0);
}

/// Without `--prune` nothing is deleted; and nobody looks at it any more.
#[test]
fn what_leaves_the_files_is_left_alone() {
    let (scratch, served) = two_teams();
    let watching = Watching::started(&scratch, "--resync 1s");
    scratch.write("m/a.yaml", teams(&["blue"], "one"));
    watching.until_said("files are loaded", 2);
    served.change(&format!("/teams/{}", id(&served, "/teams", "red")), "{\"description\": \"theirs\"}");
    served.change(&format!("/teams/{}", id(&served, "/teams", "blue")), "{\"description\": \"theirs\"}");
    until("what is still wanted", || descriptions(&served) == ["blue=one", "red=theirs"]);
    watching.ends("TERM", 0);
}

#[test]
fn files_that_are_no_good_change_nothing() {
    let (scratch, served) = two_teams();
    let watching = Watching::started(&scratch, "--resync 1h");
    let good = teams(&["blue", "red"], "two");
    scratch.write("m/a.yaml", format!("{good}---\napiVersion: demo\nkind: Team\nmetadata: {{name: 017}}\n"));
    let told = watching.until_said("files are not valid", 1);
    assert_eq!(told["at"], "m/a.yaml:14:18", "{told}");
    assert!(told["detail"].as_str().is_some_and(|text| text.contains("017")), "{told}");
    // What they said before holds, and is kept so.
    served.call("DELETE", &format!("/teams/{}", id(&served, "/teams", "red")), "");
    watching.hangup();
    until("the last good files hold", || descriptions(&served) == ["blue=one", "red=one"]);
    scratch.write("m/a.yaml", good);
    until("good files again", || descriptions(&served) == ["blue=two", "red=two"]);
    watching.ends("TERM", 0);
}

/// The folder is gone for a moment, as in a checkout: nothing is wanted otherwise for that.
#[test]
fn files_that_are_gone_change_nothing() {
    let (scratch, served) = two_teams();
    let watching = Watching::started(&scratch, "--resync 1h");
    std::fs::remove_file(scratch.path("m/a.yaml")).expect("it is there");
    watching.until_said("files are not valid", 1);
    assert_eq!(descriptions(&served), ["blue=one", "red=one"]);
    scratch.write("m/a.yaml", teams(&["blue", "red"], "two"));
    until("they are back", || descriptions(&served) == ["blue=two", "red=two"]);
    watching.ends("TERM", 0);
}

#[test]
fn files_that_are_no_good_to_begin_with() {
    let scratch = Scratch::with("m/a.yaml", "apiVersion: nobody\nkind: Team\nmetadata: {name: a}\n");
    let done = scratch.trueup("watch -f m").done().expect(65);
    assert!(done.err.contains("m/a.yaml:2:7"), "{}", done.told());
    let done = scratch.trueup("watch").done().expect(64);
    assert!(done.err.contains("`trueup watch -f manifests/`"), "{}", done.told());
}

#[test]
fn standard_input_is_read_once() {
    let (scratch, served) = two_teams();
    let run = scratch.trueup("watch -f - -f backend.yaml --log ndjson --resync 1s");
    let watching = Watching::of(run.stdin(&teams(&["blue"], "one")).start());
    until("what it said is there", || descriptions(&served) == ["blue=one"]);
    served.call("DELETE", &format!("/teams/{}", id(&served, "/teams", "blue")), "");
    until("it still holds", || descriptions(&served) == ["blue=one"]);
    watching.hangup();
    watching.until_said("a person asks for everything to be looked at", 1);
    let log = watching.ends("TERM", 0);
    assert!(!log.contains("not valid"), "{log}");
}

/// A secret in a file is a part of what is wanted, and is never told.
#[test]
fn a_secret_that_is_written_anew() {
    let (scratch, served) = two_teams();
    scratch.write("m/token", "canary-one\n");
    scratch.write("m/a.yaml", teams(&["blue"], "!secret file:token"));
    let watching = Watching::started(&scratch, "--resync 1h");
    assert_eq!(descriptions(&served), ["blue=canary-one"]);
    scratch.write("m/token", "canary-two\n");
    until("the new one is there", || descriptions(&served) == ["blue=canary-two"]);
    let log = watching.ends("TERM", 0);
    assert!(!log.contains("canary"), "{log}");
}

/// Another address, other clients; and everything is looked at there.
#[test]
fn a_backend_that_moves() {
    let (scratch, served) = two_teams();
    let other = Scratch::new();
    let elsewhere = Served::start(&other, "rules: []");
    let watching = Watching::started(&scratch, "--resync 1h");
    assert_eq!(descriptions(&served), ["blue=one", "red=one"]);
    scratch.write("backend.yaml", backend(&elsewhere.url(), ""));
    until("all is there", || descriptions(&elsewhere) == ["blue=one", "red=one"]);
    watching.ends("TERM", 0);
}
