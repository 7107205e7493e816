//! Pruning by a watch: at the start, at each resync and after each change of the files; never beside doubts.

use crate::servers::{Served, backend};
use crate::support::Scratch;
use crate::watch::stage::{Watching, descriptions, id, teams, two_teams, until};

const SET: &str = "---\napiVersion: trueup/v1\nkind: Set\nmetadata: {name: all}\nspec: {scope: [{kind: Team, exclusive: true}]}\n";

/// Two teams in a Set, and one that nobody wants.
fn stage() -> (Scratch, Served) {
    let (scratch, served) = two_teams();
    scratch.write("m/set.yaml", SET);
    served.call("POST", "/teams", "{\"name\": \"stray\"}");
    (scratch, served)
}

#[test]
fn what_no_document_names_goes() {
    let (scratch, served) = stage();
    let watching = Watching::started(&scratch, "--prune --resync 1s");
    until("the stray goes", || descriptions(&served) == ["blue=one", "red=one"]);
    served.call("POST", "/teams", "{\"name\": \"later\"}");
    until("one that comes later goes", || descriptions(&served) == ["blue=one", "red=one"]);
    scratch.write("m/a.yaml", teams(&["blue"], "one"));
    until("what leaves the files goes", || descriptions(&served) == ["blue=one"]);
    watching.until_said("pruning has deleted", 3);
    watching.ends("TERM", 0);
}

#[test]
fn without_the_flag_nothing_goes() {
    let (scratch, served) = stage();
    let watching = Watching::started(&scratch, "--resync 1s");
    watching.hangup();
    watching.until_said("a person asks for everything to be looked at", 1);
    watching.ends("TERM", 0);
    assert_eq!(descriptions(&served).len(), 3);
}

#[test]
fn a_dry_run_only_tells() {
    let (scratch, served) = stage();
    let before = served.written();
    let watching = Watching::started(&scratch, "--prune --dry-run --resync 1s");
    let told = watching.until_said("object is in no document", 1);
    assert_eq!(told["name"], "stray", "{told}");
    watching.ends("TERM", 0);
    assert_eq!(served.written(), before);
}

/// What is no good may have lost the very documents that a deletion would follow from.
#[test]
fn files_that_are_no_good_prune_nothing() {
    let (scratch, served) = two_teams();
    scratch.write("m/set.yaml", SET);
    let watching = Watching::started(&scratch, "--prune --resync 1s");
    until("all is there", || descriptions(&served) == ["blue=one", "red=one"]);
    scratch.write("m/a.yaml", format!("{}---\nkind: [\n", teams(&["blue"], "one")));
    watching.until_said("files are not valid", 1);
    served.call("POST", "/teams", "{\"name\": \"stray\"}");
    // The resync goes on: what is wanted is kept so, twice, and nothing is deleted meanwhile.
    for _ in 0..2 {
        let blue = id(&served, "/teams", "blue");
        served.change(&format!("/teams/{blue}"), "{\"description\": \"theirs\"}");
        until("it is put right", || descriptions(&served).contains(&"blue=one".to_owned()));
    }
    assert_eq!(descriptions(&served).len(), 3, "{}", watching.text());
    scratch.write("m/a.yaml", teams(&["blue"], "one"));
    until("good files prune", || descriptions(&served) == ["blue=one"]);
    watching.ends("TERM", 0);
}

/// A checkout takes files away and brings others, one by one: what lacks for a moment is not deleted.
#[test]
fn a_document_that_is_away_for_a_moment_costs_nothing() {
    let (scratch, served) = two_teams();
    scratch.write("m/set.yaml", SET);
    scratch.write("m/b.yaml", teams(&["green"], "one"));
    let watching = Watching::started(&scratch, "--prune --resync 1s");
    let before = id(&served, "/teams", "green");
    std::fs::remove_file(scratch.path("m/b.yaml")).expect("it is there");
    watching.until_said("files are loaded", 2);
    scratch.write("m/c.yaml", teams(&["green"], "two"));
    until("it is changed", || descriptions(&served) == ["blue=one", "green=two", "red=one"]);
    assert_eq!(id(&served, "/teams", "green"), before, "it was not made anew");
    watching.ends("TERM", 0);
}

#[test]
fn more_than_the_limit_is_refused() {
    let (scratch, served) = stage();
    served.call("POST", "/teams", "{\"name\": \"another\"}");
    let watching = Watching::started(&scratch, "--prune --max-deletes 1 --resync 1s --status-file s.json");
    watching.until_said("object is in no document", 2);
    let status = || std::fs::read_to_string(scratch.path("s.json")).unwrap_or_default();
    until("the status tells of it", || status().contains("the limit is 1"));
    watching.ends("TERM", 0);
    let told = scratch.trueup("status --status-file s.json").done().expect(5);
    assert!(
        told.out.contains("warning: `Set all` is not pruned: 2 objects would be deleted"),
        "{}",
        told.told()
    );
    let document = scratch.trueup("status --status-file s.json --output json").done().expect(5).json();
    let refused = document["refused"].as_array().expect("a list");
    assert_eq!(refused.len(), 1, "{document}");
    assert_eq!((&refused[0]["identity"]["kind"], &refused[0]["name"]), (&"Set".into(), &"all".into()));
    assert!(refused[0]["message"].as_str().is_some_and(|why| why.contains("the limit is 1")), "{document}");
    scratch.trueup("status --status-file s.json --fail-on dead,desired,not-synced").done().expect(0);
    scratch.trueup("status --status-file s.json --fail-on refused").done().expect(5);
    assert_eq!(descriptions(&served).len(), 4);
}

/// A backend that is away holds what is deleted there, and nothing elsewhere.
#[test]
fn a_backend_that_is_away_holds_only_what_it_has() {
    let (scratch, served) = two_teams();
    let address = std::net::TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
    let url = format!("http://{}", address.expect("a free port"));
    scratch.write("m/other.yaml", backend(&url, "").replace("name: demo", "name: other"));
    let replicas = |backend: &str, name: &str, count: usize| {
        format!(
            "---\napiVersion: trueup/v1\nkind: ReplicaSet\nmetadata: {{name: {name}}}\nspec:\n  replicas: {count}\n  \
             template:\n    apiVersion: {backend}\n    kind: Space\n    spec: {{description: alike}}\n"
        )
    };
    scratch.write("m/away.yaml", replicas("other", "x", 6));
    scratch.write("m/w.yaml", replicas("demo", "w", 3));
    let watching = Watching::started(&scratch, "--resync 1s --status-file s.json");
    until("all are there", || served.names("/spaces", "id") == ["w-0", "w-1", "w-2"]);
    scratch.write("m/w.yaml", replicas("demo", "w", 1));
    until("two go", || served.names("/spaces", "id") == ["w-0"]);
    let told = watching.until_said("pruning is held", 1);
    let why = "nothing of the ReplicaSet `Space/x` is deleted for now: backend `other` is away";
    assert_eq!(told["detail"], why, "{told}");
    until("the status says so", || {
        std::fs::read_to_string(scratch.path("s.json")).is_ok_and(|s| s.contains(why))
    });
    watching.ends("TERM", 0);
}

/// So many and no more, whoever makes one more: a ReplicaSet needs no flag for that.
#[test]
fn what_a_replica_set_has_too_much_goes() {
    let (scratch, served) = two_teams();
    let replicas = |count: usize| {
        format!(
            "apiVersion: trueup/v1\nkind: ReplicaSet\nmetadata: {{name: w}}\nspec:\n  replicas: {count}\n  template:\n    \
             apiVersion: demo\n    kind: Space\n    spec: {{description: alike}}\n"
        )
    };
    scratch.write("m/w.yaml", replicas(3));
    let watching = Watching::started(&scratch, "--resync 1s");
    until("all are there", || served.names("/spaces", "id") == ["w-0", "w-1", "w-2"]);
    scratch.write("m/w.yaml", replicas(1));
    until("two go", || served.names("/spaces", "id") == ["w-0"]);
    served.call("PUT", "/spaces/w-7", "{}");
    until("one more goes", || served.names("/spaces", "id") == ["w-0"]);
    watching.until_said("pruning has deleted", 2);
    watching.ends("TERM", 0);
}

/// One pass says the same.
#[test]
fn one_pass_that_is_refused_says_so_in_its_status() {
    let (scratch, served) = stage();
    served.call("POST", "/teams", "{\"name\": \"another\"}");
    let flags = "--once --prune --max-deletes 1 --status-file s.json";
    scratch.trueup(&format!("watch -f m -f backend.yaml {flags}")).done().expect(5);
    let told = scratch.trueup("status --status-file s.json").done().expect(5);
    assert!(told.out.contains("warning: `Set all` is not pruned: "), "{}", told.told());
}
