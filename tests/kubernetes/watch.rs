//! `watch` on a real API server: it follows the server's own watch, and several take turns by a Lease. Nothing is polled
//! and nothing is resynced while these run, so what is repaired was told by the server.

use crate::cluster::Cluster;
use crate::watching::Watching;

const SEEN: &str = "/api/v1/namespaces/team-a/configmaps/seen";
const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/team-a/leases/trueup";

/// A namespace with one ConfigMap, made by an earlier run.
fn scene(name: &str) -> Option<Cluster> {
    let cluster = Cluster::settled(name)?;
    let map =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: seen, namespace: team-a}\ndata: {size: \"2\"}\n";
    cluster.write("map.yaml", map);
    cluster.run("apply --yes", 0);
    Some(cluster)
}

/// What is in its name among others: that of a lease's holder is host, process, and a word of its own.
fn name(watching: &Watching) -> String {
    format!("/{}/", watching.child.id())
}

fn size(cluster: &Cluster) -> Option<String> {
    cluster.get(SEEN).and_then(|map| map["data"]["size"].as_str().map(str::to_owned))
}

#[test]
fn what_another_client_deletes_is_made_anew_when_the_server_tells_it() {
    let Some(cluster) = scene("told") else { return };
    let watching = Watching::start(&cluster, &["--interval", "1h", "--resync", "1h"]);
    let uid = |cluster: &Cluster| cluster.get(SEEN).map(|map| map["metadata"]["uid"].to_string());
    for _ in 0..3 {
        let before = uid(&cluster).expect("it is there");
        cluster.server.delete(&cluster.named(SEEN));
        watching.until("the map is made anew", || uid(&cluster).is_some_and(|now| now != before));
        assert_eq!(size(&cluster).as_deref(), Some("2"));
    }
}

#[test]
fn two_take_turns_by_a_lease() {
    let Some(cluster) = scene("turns") else { return };
    let lease = cluster.named("Lease/team-a/trueup");
    let flags = ["--interval", "1h", "--resync", "1h", "--lease", &*lease, "--lease-duration", "4s"];
    let holder = || -> String {
        let found =
            cluster.get(LEASE).and_then(|lease| lease["spec"]["holderIdentity"].as_str().map(str::to_owned));
        found.unwrap_or_default()
    };
    let first = Watching::start(&cluster, &flags);
    first.until("the first holds the lease", || holder().contains(&name(&first)));
    let second = Watching::start(&cluster, &flags);
    cluster.server.delete(&cluster.named(SEEN));
    first.until("the map is made anew", || size(&cluster).is_some());
    assert!(holder().contains(&name(&first)), "{}", holder());
    // Killed, it cannot give the lease up: the second takes it over when it has run out.
    drop(first);
    cluster.server.delete(&cluster.named(SEEN));
    second.until("the second holds the lease", || holder().contains(&name(&second)));
    second.until("the map is made anew", || size(&cluster).is_some());
    let lease = cluster.get(LEASE).expect("a lease");
    assert_eq!(lease["spec"]["leaseTransitions"], 1, "{lease:#}");
}
