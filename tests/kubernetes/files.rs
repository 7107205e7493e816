//! Files as other tools write them are taken as they are.

use serde_json::{Value, json};

use crate::cluster::{Cluster, manifest};

/// The documents of the manifest that stand in the namespace and need no definition.
fn plain() -> String {
    let all = manifest("all.yaml");
    let plain = all.split("---\n").filter(|text| !text.contains("team-a.example.com"));
    plain.collect::<Vec<_>>().join("---\n")
}

const COLLECTIONS: [(&str, &str, &str); 4] = [
    ("v1", "ConfigMap", "/api/v1/namespaces/team-a/configmaps"),
    ("v1", "Secret", "/api/v1/namespaces/team-a/secrets"),
    ("v1", "Service", "/api/v1/namespaces/team-a/services"),
    ("apps/v1", "Deployment", "/apis/apps/v1/namespaces/team-a/deployments"),
];

/// What `kubectl get -o yaml` prints: a list of whole objects, each with its type, and with what `kubectl apply`
/// noted on it.
fn exported(cluster: &Cluster) -> Value {
    let mut items = Vec::new();
    for (version, kind, path) in COLLECTIONS {
        let listing = cluster.get(path).expect("a listing");
        for item in listing["items"].as_array().expect("items") {
            let mut item = item.clone();
            item["apiVersion"] = json!(version);
            item["kind"] = json!(kind);
            let noted = "kubectl.kubernetes.io/last-applied-configuration";
            item["metadata"]["annotations"][noted] = json!("{\"data\":{\"old\":\"1\"}}\n");
            items.push(item);
        }
    }
    json!({"apiVersion": "v1", "kind": "List", "items": items, "metadata": {"resourceVersion": "", "selfLink": ""}})
}

/// JSON as YAML in block style.
fn yaml(value: &Value) -> String {
    let value: serde_yaml::Value = serde_yaml::from_str(&value.to_string()).expect("JSON is YAML");
    serde_yaml::to_string(&value).expect("YAML")
}

#[test]
fn an_export_by_kubectl_is_in_sync() {
    let Some(cluster) = Cluster::open("export") else { return };
    cluster.write("all.yaml", &plain());
    cluster.run("apply --yes", 0);
    let list = exported(&cluster);
    let count = list["items"].as_array().expect("items").len();
    assert_eq!(count, 4);
    cluster.file("all.yaml", &yaml(&list));
    let run = cluster.run("plan", 0);
    assert!(run.stdout.starts_with("All 4 objects are in sync."), "{}", run.whole());
    assert_eq!(run.stderr, "");

    // One object alone, with a change: that and nothing else is sent.
    let mut one = list["items"][0].clone();
    one["data"]["mode"] = json!("slow");
    cluster.file("all.yaml", &yaml(&one));
    assert_eq!(
        cluster.json("plan", 0).paths(&cluster.named("ConfigMap app.settings.v1/team-a")),
        ["data.mode"]
    );
    assert_eq!(cluster.rows("apply --yes", 0), ["update done ConfigMap app.settings.v1/team-a"]);
    let path = "/api/v1/namespaces/team-a/configmaps/app.settings.v1";
    let metadata = cluster.get(path).expect("it is there")["metadata"].clone();
    assert_eq!(metadata.get("annotations"), None, "{metadata}");
}

#[test]
fn what_helm_renders_is_taken_as_it_is() {
    let Some(cluster) = Cluster::open("helm") else { return };
    cluster.write("all.yaml", &manifest("helm.yaml"));
    assert_eq!(cluster.run("validate", 0).whole().matches("warning").count(), 0);
    let names = [
        "Deployment rel-web/team-a",
        "Namespace team-a",
        "Service rel-web/team-a",
        "ServiceAccount rel-web/team-a",
    ];
    let rows = |words: &str| names.map(|name| format!("{words} {name}"));
    assert_eq!(cluster.rows("plan", 0), rows("create planned"));
    assert_eq!(cluster.rows("apply --yes", 0), rows("create done"));
    assert!(cluster.rows("plan", 0).is_empty());
    assert_eq!(cluster.json("apply --yes", 0).writes(), 0);
}

#[test]
fn a_document_without_a_namespace_is_one_of_the_default() {
    let Some(cluster) = Cluster::open("default") else { return };
    cluster.write(
        "a.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a-team-a}\ndata: {enabled: yes, n: x}\n",
    );
    let run = cluster.run("plan", 0);
    assert!(run.stdout.starts_with(&cluster.named("+   ConfigMap default/a-team-a ")), "{}", run.whole());
    assert!(
        run.stderr.contains("`yes` is a text here, and a boolean to readers of YAML 1.1"),
        "{}",
        run.stderr
    );
    cluster.run("apply --yes", 0);
    let path = "/api/v1/namespaces/default/configmaps/a-team-a";
    assert_eq!(cluster.get(path).expect("it is there")["data"], json!({"enabled": "yes", "n": "x"}));
    cluster.run("delete --yes", 0);
}
