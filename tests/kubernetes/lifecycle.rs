//! From empty to in sync, one change of each kind, and one deletion of each.

use serde_json::Value;

use crate::cluster::{Cluster, manifest};

/// The kinds of the manifest, with the names of their objects.
const ALL: [&str; 11] = [
    "ConfigMap app.settings.v1/team-a",
    "CustomResourceDefinition widgets.team-a.example.com",
    "DaemonSet agent/team-a",
    "Deployment web/team-a",
    "Ingress web/team-a",
    "Namespace team-a",
    "Secret passwords/team-a",
    "Service web/team-a",
    "ServiceAccount web/team-a",
    "StatefulSet store/team-a",
    "Widget big.one/team-a",
];

/// A change of each: what stands in the manifest, what then does, and the path that the plan names.
const CHANGES: [(&str, &str, &str); 11] = [
    ("mode: fast\n", "mode: slow\n", "data.mode"),
    (
        "size: {type: integer, minimum: 1}",
        "size: {type: integer, minimum: 2}",
        "spec.versions[name=v1].schema.openAPIV3Schema.properties.spec.properties.size.minimum",
    ),
    ("example.com/agent:1", "example.com/agent:2", "spec.template.spec.containers[name=agent].image"),
    ("memory: 1024Mi}", "memory: 2Gi}", "spec.template.spec.containers[name=web].resources.limits.memory"),
    ("host: web.", "host: www.", "spec.rules[0].host"),
    ("labels: {team: a}", "labels: {team: b}", "metadata.labels.team"),
    ("admin: first-Pa55word", "admin: second-Pa55word", "stringData.admin"),
    ("targetPort: 8080", "targetPort: 8081", "spec.ports[port=80].targetPort"),
    (
        "automountServiceAccountToken: false",
        "automountServiceAccountToken: true",
        "automountServiceAccountToken",
    ),
    ("example.com/store:1", "example.com/store:2", "spec.template.spec.containers[name=store].image"),
    ("spec: {size: 3}", "spec: {size: 4}", "spec.size"),
];

/// Where each object stands in the API, with its version.
const PATHS: [&str; 4] = [
    "/api/v1/namespaces/team-a/configmaps/app.settings.v1",
    "/api/v1/namespaces/team-a/secrets/passwords",
    "/apis/apps/v1/namespaces/team-a/deployments/web",
    "/apis/team-a.example.com/v1/namespaces/team-a/widgets/big.one",
];

fn all(words: &str) -> Vec<String> {
    ALL.iter().map(|name| format!("{words} {name}")).collect()
}

fn versions(cluster: &Cluster) -> Vec<Value> {
    let version =
        |path: &&str| cluster.get(path).expect("it is there")["metadata"]["resourceVersion"].clone();
    PATHS.iter().map(version).collect()
}

#[test]
fn from_empty_to_in_sync_and_the_second_apply_writes_nothing() {
    let Some(cluster) = Cluster::open("empty") else { return };
    cluster.write("all.yaml", &manifest("all.yaml"));
    assert_eq!(cluster.run("validate", 0).stdout, "11 documents are valid, 12 kinds known.\n");
    assert_eq!(cluster.rows("plan", 0), all("create planned"));
    assert!(cluster.get("/api/v1/namespaces/team-a").is_none(), "a plan never writes");

    assert_eq!(cluster.rows("apply --yes", 0), all("create done"));
    let before = versions(&cluster);
    let text = cluster.run("plan", 0).stdout;
    assert!(text.starts_with("All 11 objects are in sync."), "{text}");
    let again = cluster.json("apply --yes", 0);
    assert_eq!((again.rows().len(), again.writes()), (0, 0));
    assert_eq!(versions(&cluster), before);
}

#[test]
fn one_change_of_each_kind_is_shown_exactly_and_applied_then_each_is_deleted() {
    let Some(cluster) = Cluster::open("change") else { return };
    let text = manifest("all.yaml");
    cluster.write("all.yaml", &text);
    cluster.run("apply --yes", 0);
    let changed = CHANGES.iter().fold(text, |text, (old, new, _)| {
        assert!(text.contains(old), "{old}");
        text.replace(old, new)
    });
    cluster.write("all.yaml", &changed);

    assert_eq!(cluster.rows("plan", 0), all("update planned"));
    let plan = cluster.json("plan", 0);
    for (name, (_, _, path)) in ALL.iter().zip(CHANGES) {
        assert_eq!(plan.paths(&cluster.named(name)), [path], "{name}");
        let findings = &plan.object(&cluster.named(name))["findings"];
        assert_eq!(findings.as_array().map(Vec::len), Some(0), "{name}: {findings}");
    }
    assert_eq!(cluster.rows("apply --yes", 0), all("update done"));
    assert_eq!(cluster.json("apply --yes", 0).writes(), 0);
    let widget = cluster.get(PATHS[3]).expect("the widget");
    assert_eq!((&widget["spec"]["size"], &widget["spec"]["colour"]), (&4.into(), &"red".into()));

    // The namespace takes part last: without a controller it stays on its way.
    let without_namespace = changed.split_once("---\n").expect("documents").1;
    cluster.write("all.yaml", without_namespace);
    let gone: Vec<String> =
        all("delete done").into_iter().filter(|row| !row.contains(" Namespace ")).collect();
    assert_eq!(cluster.rows("delete --yes", 0), gone);
    assert!(PATHS.iter().all(|path| cluster.get(path).is_none()));
}
