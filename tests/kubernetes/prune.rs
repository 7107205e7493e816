//! Pruning by an owner mark, which is a label; and what a finalizer holds.

use serde_json::json;

use crate::cluster::Cluster;

const SET: &str = "apiVersion: trueup/v1
kind: Set
metadata: {name: shop}
spec: {owner: shop, scope: [{kind: ConfigMap, namespace: team-a}]}
";

fn maps(names: &[&str]) -> String {
    let map = |name: &&str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: team-a}}\ndata: {{n: \"1\"}}\n"
        )
    };
    names.iter().map(map).collect::<Vec<_>>().join("---\n")
}

fn path(name: &str) -> String {
    format!("/api/v1/namespaces/team-a/configmaps/{name}")
}

#[test]
fn what_bears_our_label_and_left_the_files_goes() {
    let Some(cluster) = Cluster::settled("prune") else { return };
    cluster.write("set.yaml", SET);
    cluster.write("a.yaml", &maps(&["a", "b"]));
    cluster.run("apply --yes", 0);
    let label = &cluster.get(&path("b")).expect("it is there")["metadata"]["labels"]["trueup-owner"];
    assert_eq!(label, "shop");
    assert_eq!(cluster.rows("plan --prune", 0), [""; 0]);
    for (name, labels) in [("theirs", json!({"trueup-owner": "other"})), ("nobodys", json!({}))] {
        let map =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": labels}});
        cluster.meddle(&path(name), "somebody", map);
    }
    cluster.write("a.yaml", &maps(&["a"]));
    let rows = cluster.rows("plan --prune", 0);
    assert!(rows.contains(&"delete planned ConfigMap b/team-a".to_owned()), "{rows:#?}");
    assert_eq!(rows.iter().filter(|row| row.starts_with("delete")).count(), 1, "{rows:#?}");
    let rows = cluster.rows("apply --prune --yes", 0);
    assert!(rows.contains(&"delete done ConfigMap b/team-a".to_owned()), "{rows:#?}");
    assert!(cluster.get(&path("b")).is_none());
    for name in ["a", "theirs", "nobodys"] {
        assert!(cluster.get(&path(name)).is_some(), "{name}");
    }
    assert_eq!(cluster.json("apply --prune --yes", 0).writes(), 0);
}

#[test]
fn a_finalizer_holds_what_is_pruned_and_is_named() {
    let Some(cluster) = Cluster::settled("prune-held") else { return };
    cluster.write("set.yaml", SET);
    cluster.write("a.yaml", &maps(&["a", "b"]));
    cluster.run("apply --yes", 0);
    let held = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b", "finalizers": ["example.com/backup"]}});
    cluster.meddle(&path("b"), "backup", held);
    cluster.write("a.yaml", &maps(&["a"]));
    let entry = cluster.entry("apply --prune --yes --timeout 5s", 1, "ConfigMap b/team-a");
    let going = "the server is deleting it, and has not finished: `example.com/backup` holds it";
    assert_eq!(entry["message"], going);
    let mut item = cluster.get(&path("b")).expect("it is still there");
    assert_eq!(item["metadata"]["finalizers"], json!(["example.com/backup"]), "it is another's");
    // The next run finds it going, and deletes nothing twice.
    let report = cluster.json("apply --prune --yes", 0);
    assert_eq!(report.writes(), 0);
    item["metadata"]["finalizers"] = json!([]);
    cluster.server.put(&cluster.named(&path("b")), &item);
    assert!(cluster.get(&path("b")).is_none());
    assert_eq!(cluster.rows("plan --prune", 0), [""; 0]);
}
