//! What others change is put right, once; and nothing is written where nothing differs.

use crate::watch::stage::{Watching, descriptions, id, teams, two_teams, until};

#[test]
fn what_others_delete_and_change_is_put_right() {
    let (scratch, served) = two_teams();
    let watching = Watching::started(&scratch, "--resync 1s");
    assert_eq!(descriptions(&served), ["blue=one", "red=one"]);
    served.call("DELETE", &format!("/teams/{}", id(&served, "/teams", "red")), "");
    until("the team is there again", || descriptions(&served) == ["blue=one", "red=one"]);
    served.change(&format!("/teams/{}", id(&served, "/teams", "blue")), "{\"description\": \"theirs\"}");
    until("the field is as it was", || descriptions(&served) == ["blue=one", "red=one"]);
    let told = watching.until_said("pass has written", 3);
    assert_eq!((&told["updated"], &told["changed"]), (&1.into(), &"Team blue: description".into()), "{told}");
    watching.ends("TERM", 0);
    // Two to begin with, two of somebody else, and one for each of these.
    let ours: Vec<String> =
        served.written().iter().map(|line| line.split(' ').next().unwrap_or_default().to_owned()).collect();
    assert_eq!(ours, ["POST", "POST", "DELETE", "POST", "PUT", "PATCH"]);
}

/// Twice the same, between two polls: the second poll sees what the first one saw, and yet there is something to do.
#[test]
fn what_is_set_back_before_the_next_poll_is_put_right_as_well() {
    let (scratch, served) = two_teams();
    let watching = Watching::started(&scratch, "--interval 2s --resync 1h");
    for _ in 0..2 {
        served.change(&format!("/teams/{}", id(&served, "/teams", "blue")), "{\"description\": \"theirs\"}");
        until("the field is as it was", || descriptions(&served) == ["blue=one", "red=one"]);
    }
    watching.ends("TERM", 0);
    assert_eq!(served.written().len(), 2 + 2 + 2, "{:?}", served.written());
}

/// What refers to another object follows it, whoever changed that one: no resync is waited for, and none counts it.
#[test]
fn what_refers_to_an_object_follows_it() {
    let (scratch, served) = two_teams();
    let space = "---\napiVersion: demo\nkind: Space\nmetadata: {name: shop}\nspec: {team: !ref Team/red .id, about: !ref Team/red .description}\n";
    scratch.write("m/b.yaml", space);
    let watching = Watching::started(&scratch, "--interval 1s --resync 1h --status-file s.json");
    let is = |about: &str| {
        let shop: serde_json::Value =
            serde_json::from_str(&served.call("GET", "/spaces/shop", "")).expect("JSON");
        let team = shop["team"].to_string();
        shop["about"] == about && team == id(&served, "/teams", "red")
    };
    assert!(is("one"));
    scratch.write("m/a.yaml", teams(&["blue", "red"], "two"));
    until("the files were changed", || descriptions(&served) == ["blue=two", "red=two"]);
    until("it follows the files", || is("two"));
    let before = id(&served, "/teams", "red");
    served.call("DELETE", &format!("/teams/{before}"), "");
    until("the team is made anew", || descriptions(&served) == ["blue=two", "red=two"]);
    assert_ne!(id(&served, "/teams", "red"), before);
    until("it follows the new one", || is("two"));
    // Once a poll was needed for another team, this one was seen since it was written.
    served.change(&format!("/teams/{}", id(&served, "/teams", "blue")), "{\"description\": \"theirs\"}");
    until("a poll has seen the teams", || descriptions(&served) == ["blue=two", "red=two"]);
    let red = id(&served, "/teams", "red");
    served.call("DELETE", &format!("/teams/{red}"), "");
    served.call("POST", "/teams", "{\"name\": \"red\", \"description\": \"two\"}");
    until("it follows one that somebody else made", || is("two"));
    watching.ends("TERM", 0);
    let status = std::fs::read_to_string(scratch.path("s.json")).expect("it is written");
    let status: serde_json::Value = serde_json::from_str(&status).expect("JSON");
    assert_eq!(status["summary"]["missedEvents"], 0, "{status}");
    scratch.trueup("plan -f m -f backend.yaml --detailed-exitcode").done().expect(0);
}

/// A person who will not wait for the resync.
#[test]
fn a_hangup_is_the_wish_to_look_now() {
    let (scratch, served) = two_teams();
    let watching = Watching::started(&scratch, "--resync 1h");
    served.call("DELETE", &format!("/teams/{}", id(&served, "/teams", "red")), "");
    watching.hangup();
    until("the team is there again", || descriptions(&served) == ["blue=one", "red=one"]);
    watching.ends("TERM", 0);
}

/// Many looks, and not one write; and not one line in the log but at its start and its end.
#[test]
fn nothing_is_written_where_nothing_differs() {
    let (scratch, served) = two_teams();
    scratch.trueup("apply --yes -f m -f backend.yaml").done().expect(0);
    let before = served.written();
    let log = Watching::start(&scratch, "--resync 1s --timeout 5s").ended(0);
    assert_eq!(served.written(), before);
    let lines: Vec<String> = log
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect(line)["message"].to_string())
        .collect();
    let said = ["files are loaded", "there is no lease", "all objects were looked at", "stopping", "stopped"];
    assert_eq!(lines, said.map(|message| format!("\"{message}\"")), "{log}");
}

#[test]
fn a_dry_run_never_writes() {
    let (scratch, served) = two_teams();
    let watching = Watching::started(&scratch, "--dry-run --resync 1s");
    let told = watching.until_said("object is not in sync", 2);
    assert_eq!((&told["kind"], &told["at"]), (&"Team".into(), &"m/a.yaml:7:1".into()), "{told}");
    scratch.write("m/a.yaml", teams(&["blue", "red", "green"], "two"));
    watching.until_said("object is not in sync", 3);
    watching.hangup();
    watching.until_said("a person asks for everything to be looked at", 1);
    watching.ends("TERM", 0);
    assert_eq!(served.written(), [""; 0]);
}

/// What is paused or only reported on is looked at like the others, and told of.
#[test]
fn objects_that_are_only_reported_on() {
    let (scratch, served) = two_teams();
    scratch.trueup("apply --yes -f m -f backend.yaml").done().expect(0);
    let marked = teams(&["blue", "red"], "one")
        .replacen("name: blue}", "name: blue, annotations: {trueup/drift: report}}", 1)
        .replacen("name: red}", "name: red, annotations: {trueup/paused: \"true\"}}", 1);
    scratch.write("m/a.yaml", marked);
    let watching = Watching::started(&scratch, "--resync 1s");
    let before = served.written().len();
    for name in ["blue", "red"] {
        served.change(&format!("/teams/{}", id(&served, "/teams", name)), "{\"description\": \"theirs\"}");
    }
    watching.until_said("object is not in sync", 2);
    watching.hangup();
    watching.until_said("a person asks for everything to be looked at", 1);
    watching.ends("TERM", 0);
    assert_eq!(served.written().len(), before + 2, "only theirs");
    assert_eq!(descriptions(&served), ["blue=theirs", "red=theirs"]);
}
