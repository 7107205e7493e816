//! Several instances that take turns by a lease, or share the objects by as many.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

use super::stage::{Watching, descriptions, id, teams, two_teams, until};
use crate::servers::{Raw, Say, Served, backend};
use crate::support::Scratch;

/// Two teams, and a backend with a kind for leases.
fn scene() -> (Scratch, Served) {
    let (scratch, served) = two_teams();
    scratch.write("m/leases.yaml", leases(&served.url()));
    (scratch, served)
}

/// A backend with a kind for leases.
fn leases(url: &str) -> String {
    format!(
        "---\napiVersion: trueup/v1\nkind: Backend\nmetadata: {{name: leases}}\nspec:\n  url: {}\n  kinds:\n    Lease:\n      \
         key: {{name: .id}}\n      read: GET /leases/{{name}}\n      create: PUT /leases/{{name}}\n      \
         update: {{request: \"PATCH /leases/{{name}}\", send: merge}}\n      version: etag\n      \
         lease: {{holder: spec.holder, renewed: spec.renewed, acquired: spec.acquired, duration: spec.seconds, \
         transitions: spec.transitions}}\n",
        url
    )
}

/// How often it came to be what it is now, as its log says.
fn leads(watching: &Watching) -> bool {
    watching.said("role has changed").last().is_some_and(|line| line["role"] == "leader")
}

fn in_sync(served: &Served) -> bool {
    descriptions(served) == ["blue=one", "red=one"]
}

fn drift(served: &Served, name: &str) {
    let id = id(served, "/teams", name);
    served.call("PATCH", &format!("/teams/{}", id.trim_matches('"')), r#"{"description":"drifted"}"#);
}

#[test]
fn another_takes_over_when_the_holder_is_killed() {
    let (scratch, served) = scene();
    let flags = "--lease Lease/trueup --lease-duration 2s --interval 1s";
    let first = Watching::start(&scratch, flags);
    until("the first holds the lease", || leads(&first));
    let second = Watching::started(&scratch, flags);
    until("the first has made the teams", || in_sync(&served));
    drift(&served, "blue");
    until("the first repairs them", || in_sync(&served));
    assert!(!leads(&second));
    first.ends("KILL", -1);
    drift(&served, "red");
    until("the second holds the lease", || leads(&second));
    until("the second repairs them", || in_sync(&served));
    // One that ends in order gives the lease up, and nobody needs to wait for it to run out.
    second.ends("TERM", 0);
    let lease = served.call("GET", "/leases/trueup", "");
    assert!(lease.contains(r#""holder":"""#) && lease.contains(r#""transitions":1"#), "{lease}");
    let third = Watching::start(&scratch, "--lease leases/Lease/trueup --lease-duration 10m");
    until("the third holds it at once", || leads(&third));
    third.ends("TERM", 0);
}

#[test]
fn two_share_the_objects_and_one_takes_all_when_it_is_alone() {
    let (scratch, served) = scene();
    let flags = "--lease Lease/trueup --lease-duration 2s --shards 2 --interval 1s";
    let (first, second) = (Watching::start(&scratch, flags), Watching::start(&scratch, flags));
    until("both hold one", || leads(&first) && leads(&second));
    until("the teams are made", || in_sync(&served));
    first.ends("KILL", -1);
    drift(&served, "blue");
    drift(&served, "red");
    until("the other repairs all", || in_sync(&served));
    second.ends("TERM", 0);
}

/// What no document names belongs to no shard: one of them deletes it, all of it.
#[test]
fn what_is_too_much_goes_whoever_has_its_shard() {
    let (scratch, served) = scene();
    let replicas = |count: usize| {
        format!(
            "apiVersion: trueup/v1\nkind: ReplicaSet\nmetadata: {{name: w}}\nspec:\n  replicas: {count}\n  max-deletes: 20\n  \
             template:\n    apiVersion: demo\n    kind: Space\n    spec: {{description: alike}}\n"
        )
    };
    scratch.write("m/w.yaml", replicas(9));
    let flags = "--lease Lease/trueup --lease-duration 2s --shards 2";
    let (first, second) = (Watching::start(&scratch, flags), Watching::start(&scratch, flags));
    until("both hold one", || leads(&first) && leads(&second));
    until("all are there", || served.names("/spaces", "id").len() == 9);
    scratch.write("m/w.yaml", replicas(1));
    until("eight go", || served.names("/spaces", "id") == ["w-0"]);
    first.ends("TERM", 0);
    second.ends("TERM", 0);
}

/// At the start of one that waits for its lease nothing is in sync, and so nothing may go: it is looked at again.
#[test]
fn what_is_too_much_at_the_start_goes_once_the_rest_is_there() {
    let (scratch, served) = scene();
    let text = "apiVersion: trueup/v1\nkind: ReplicaSet\nmetadata: {name: w}\nspec:\n  replicas: 1\n  \
                template: {apiVersion: demo, kind: Space, spec: {description: alike}}\n";
    scratch.write("m/w.yaml", text);
    served.call("PUT", "/spaces/w-7", "{}");
    let watching = Watching::start(&scratch, "--lease Lease/trueup --lease-duration 2s");
    until("the seventh goes", || served.names("/spaces", "id") == ["w-0"]);
    watching.ends("TERM", 0);
}

#[test]
fn a_lease_that_cannot_be_kept_is_told() {
    let (scratch, served) = scene();
    let text = std::fs::read_to_string(scratch.path("m/leases.yaml")).expect("it was written");
    scratch.write("m/leases.yaml", text.replace(&served.url(), "http://127.0.0.1:9"));
    let watching = Watching::start(&scratch, "--lease Lease/trueup --lease-duration 2s");
    watching.until_said("the lease cannot be kept", 1);
    assert!(descriptions(&served).is_empty(), "nobody leads");
    watching.ends("TERM", 0);
}

#[test]
fn what_cannot_be_a_lease_is_refused_before_anything_is_sent() {
    let (scratch, _served) = scene();
    for (flags, want) in [
        ("--lease Team/a", "the kind `Team` does not say which of its fields make a lease"),
        ("--lease Lease", "it names no object"),
        ("--lease Leese/a", "no backend has a kind `Leese`"),
        ("--lease Lease/a/b", "a `Lease` has 1 parts in its name"),
    ] {
        let done = scratch.trueup(&format!("watch -f m -f backend.yaml {flags}")).done();
        assert!(done.err.contains(want), "{flags}: {}", done.err);
    }
    let text = std::fs::read_to_string(scratch.path("m/leases.yaml")).expect("it was written");
    scratch.write("m/leases.yaml", text.replace("version: etag", "visible: 1s"));
    let done = scratch.trueup("watch -f m -f backend.yaml --lease Lease/a").done();
    assert!(done.err.contains("an update has no condition"), "{}", done.err);
    let done = scratch.trueup("watch -f m -f backend.yaml --shards 2").done();
    assert!(done.err.contains("--lease"), "{}", done.err);
}

/// Before it is known who writes, nothing that is seen says what is to come of it: so nothing is told of objects.
#[test]
fn nothing_is_said_of_objects_before_the_role_is_known() {
    let (scratch, served) = scene();
    let flags = "--lease Lease/trueup --lease-duration 2s";
    for more in ["", "--shards 2"] {
        let leader = Watching::started(&scratch, &format!("{flags} {more}"));
        until("the teams are made", || in_sync(&served));
        assert!(leads(&leader));
        assert!(leader.said("object is not in sync").is_empty(), "{}", leader.text());
        let other = Watching::started(&scratch, &format!("{flags} {more}"));
        let lines: Vec<serde_json::Value> =
            other.text().lines().map(|line| serde_json::from_str(line).expect(line)).collect();
        let role = lines.iter().position(|line| line["message"] == "role has changed").expect("it is told");
        assert!(lines[..role].iter().all(|line| line["name"].is_null()), "{}", other.text());
        assert_eq!(lines[role]["role"] == "follower", more.is_empty(), "{}", other.text());
        other.ends("TERM", 0);
        leader.ends("TERM", 0);
        ["blue", "red"].iter().for_each(|name| {
            served.call("DELETE", &format!("/teams/{}", id(&served, "/teams", name)), "");
        });
    }
}

/// Ids from the server, so that two creates would be two teams: three instances that start at once make each team once,
/// and when one dies the others take over what was its.
#[test]
fn three_that_start_at_once_make_nothing_twice_and_two_go_on_without_the_third() {
    let (scratch, served) = scene();
    let names: Vec<String> = (0..12).map(|n| format!("t{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    scratch.write("m/a.yaml", teams(&names, "one"));
    let flags = "--lease Lease/trueup --lease-duration 4s --shards 3 --interval 1s --resync 1h";
    let mut all: Vec<Watching> = (0..3).map(|_| Watching::start(&scratch, flags)).collect();
    until("all hold one", || all.iter().all(leads));
    let mut wanted: Vec<String> = names.iter().map(|name| format!("{name}=one")).collect();
    wanted.sort();
    until("each is there once", || descriptions(&served) == wanted);
    all.remove(0).ends("KILL", -1);
    names.iter().for_each(|name| drift(&served, name));
    until(&|| format!("{:?}", descriptions(&served)), || descriptions(&served) == wanted);
    all.into_iter().for_each(|one| drop(one.ends("TERM", 0)));
    let made = served.written().iter().filter(|line| line.starts_with("POST /teams")).count();
    assert_eq!(made, names.len());
}

/// The lease may lie at a server that hangs by now.
#[test]
fn a_second_signal_does_not_wait_for_the_lease_to_be_given_up() {
    let scratch = Scratch::new();
    let served = Served::start(&scratch, "rules: []");
    scratch.write("backend.yaml", backend(&served.url(), ""));
    scratch.write("m/a.yaml", teams(&["blue", "red"], "one"));
    let (hangs, asked) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
    let (hung, heard, kept) = (hangs.clone(), asked.clone(), Mutex::new(None));
    let server = Raw::new(move |seen| {
        while hung.load(Ordering::SeqCst) {
            heard.store(true, Ordering::SeqCst);
            thread::park();
        }
        let mut kept = kept.lock().expect("no panic");
        if !seen.line.starts_with("GET") {
            let mut body: Value = serde_json::from_str(&seen.body).expect("a lease");
            body["id"] = "trueup".into();
            *kept = Some(body.to_string());
        }
        match &*kept {
            Some(body) => Say::answer("200 OK", "content-type: application/json\r\netag: \"1\"\r\n", body),
            None => Say::answer("404 Not Found", "", ""),
        }
    });
    scratch.write("m/leases.yaml", leases(&server.url()));
    let watching = Watching::started(&scratch, "--lease Lease/trueup --lease-duration 10m");
    until("it holds the lease", || leads(&watching));
    hangs.store(true, Ordering::SeqCst);
    watching.running.signal("TERM");
    until("the lease is to be given up", || asked.load(Ordering::SeqCst));
    watching.ends("TERM", 130);
}

/// Who could create something twice beside another is told so, once; nobody else is.
#[test]
fn what_a_second_instance_could_do_twice_is_told_at_the_start() {
    let (scratch, _served) = scene();
    let watching = Watching::started(&scratch, "");
    let told = watching.until_said("there is no lease", 1);
    assert!(told["detail"].as_str().is_some_and(|detail| detail.contains("`demo/Team`")), "{told}");
    watching.hangup();
    watching.until_said("a person asks for everything to be looked at", 1);
    assert_eq!(watching.said("there is no lease").len(), 1);
    watching.ends("TERM", 0);
    for flags in ["--dry-run", "--lease Lease/trueup"] {
        let watching = Watching::started(&scratch, flags);
        assert!(watching.said("there is no lease").is_empty(), "{flags}");
        watching.ends("TERM", 0);
    }
    let text = std::fs::read_to_string(scratch.path("backend.yaml")).expect("it was written");
    let known = "create: {request: POST /teams, idempotency: {header: Idempotency-Key}}";
    scratch.write("backend.yaml", text.replace("create: POST /teams", known));
    let watching = Watching::started(&scratch, "");
    assert!(watching.said("there is no lease").is_empty(), "{}", watching.text());
    watching.ends("TERM", 0);
}
