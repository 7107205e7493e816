//! Deletion: of what was seen and nothing else, and honest about what the server has not finished.

use serde_json::json;

use crate::cluster::Cluster;

#[test]
fn a_namespace_that_is_on_its_way_is_neither_there_nor_gone() {
    let Some(cluster) = Cluster::open("going") else { return };
    cluster.write("namespace.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a}\n");
    cluster.run("apply --yes", 0);
    let path = cluster.named("/api/v1/namespaces/team-a");
    let (status, _) = cluster.server.request(reqwest::Method::DELETE, &path, "application/json", None);
    assert_eq!(status, 200);

    let going = "the server is deleting it, and has not finished: `kubernetes` holds it";
    assert_eq!(cluster.entry("delete --yes", 1, "Namespace team-a")["message"], going);
    let entry = cluster.entry("plan", 1, "Namespace team-a");
    assert_eq!(
        entry["message"],
        "the server is deleting it, and its name is still taken: `kubernetes` holds it"
    );
    assert_eq!(cluster.json("apply --yes", 1).writes(), 0);

    // No controller runs here: what it does last is done by hand.
    let mut item = cluster.get("/api/v1/namespaces/team-a").expect("it is still there");
    item["spec"]["finalizers"] = json!([]);
    cluster.server.put(&format!("{path}/finalize"), &item);
    assert!(cluster.get("/api/v1/namespaces/team-a").is_none());
    assert_eq!(cluster.rows("delete --yes", 0), [""; 0]);
    assert_eq!(cluster.rows("plan", 0), ["create planned Namespace team-a"]);
}

#[test]
fn what_stands_below_a_namespace_that_is_not_there_is_not_there() {
    let Some(cluster) = Cluster::open("below") else { return };
    cluster.write("a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: team-a}\n");
    let entry = cluster.entry("plan", 1, "ConfigMap a/team-a");
    assert_eq!(entry["message"], "its parent `Namespace team-a` does not exist");
}

#[test]
fn an_object_with_a_finalizer_is_waited_for() {
    let Some(cluster) = Cluster::settled("finalizer") else { return };
    cluster.file("namespace.yaml", "");
    cluster.write(
        "a.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: team-a, finalizers: [example.com/b, example.com/a]}\n",
    );
    cluster.run("apply --yes", 0);
    assert!(cluster.rows("plan", 0).is_empty());
    let entry = cluster.entry("delete --yes --timeout 2s", 1, "ConfigMap a/team-a");
    assert_eq!(entry["result"], "unknown", "{entry}");
    let held = "the server is deleting it, and has not finished: `example.com/b` and `example.com/a` hold it";
    assert_eq!(entry["message"], held);
    let path = "/api/v1/namespaces/team-a/configmaps/a";
    let mut item = cluster.get(path).expect("it is still there");
    assert!(item["metadata"]["deletionTimestamp"].is_string());
    item["metadata"]["finalizers"] = json!([]);
    cluster.server.put(&cluster.named(path), &item);
    assert!(cluster.get(path).is_none());
}
