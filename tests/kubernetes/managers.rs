//! What others set: it stays, its setters are named, and what is theirs is a conflict to change.

use reqwest::Method;
use serde_json::{Value, json};

use crate::cluster::Cluster;

const PATH: &str = "/api/v1/namespaces/team-a/configmaps/settings";
const DOCUMENT: &str = "apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: team-a, labels: {app.example.com/tier: web}}
data: {mode: fast}
";

fn cluster(name: &str) -> Option<Cluster> {
    let cluster = Cluster::settled(name)?;
    cluster.write("settings.yaml", DOCUMENT);
    cluster.run("apply --yes", 0);
    Some(cluster)
}

fn theirs(fields: serde_json::Value) -> serde_json::Value {
    let mut body = json!({"apiVersion": "v1", "kind": "ConfigMap"});
    body.as_object_mut().expect("a map").extend(fields.as_object().cloned().expect("a map"));
    body
}

#[test]
fn what_others_added_stays() {
    let Some(cluster) = cluster("added") else { return };
    let body = theirs(json!({
        "metadata": {"labels": {"theirs": "1"}, "annotations": {"theirs/note": "2"}}, "data": {"theirs": "3"},
    }));
    cluster.meddle(PATH, "helm", body);
    assert!(cluster.rows("plan", 0).is_empty());

    cluster.write("settings.yaml", &DOCUMENT.replace("fast", "slow"));
    assert_eq!(cluster.rows("apply --yes", 0), ["update done ConfigMap settings/team-a"]);
    let now = cluster.get(PATH).expect("it is there");
    assert_eq!(now["data"], json!({"mode": "slow", "theirs": "3"}));
    assert_eq!(now["metadata"]["labels"], json!({"app.example.com/tier": "web", "theirs": "1"}));
    assert_eq!(now["metadata"]["annotations"], json!({"theirs/note": "2"}));
}

#[test]
fn a_field_that_another_manager_took_is_a_conflict_that_names_both_sides() {
    let Some(cluster) = cluster("conflict") else { return };
    let body =
        theirs(json!({"metadata": {"labels": {"app.example.com/tier": "db"}}, "data": {"mode": "odd"}}));
    cluster.meddle(PATH, "kubectl", body);

    for line in ["plan", "apply --yes"] {
        let entry = cluster.entry(line, 3, "ConfigMap settings/team-a");
        assert_eq!(entry["result"], "conflict");
        let said = "`data.mode`: ours \"fast\", theirs \"odd\", held by `kubectl`; \
            `metadata.labels[\"app.example.com/tier\"]`: ours \"web\", theirs \"db\", held by `kubectl`";
        assert_eq!(entry["message"], said);
        let hint = entry["hint"].as_str().expect("a hint");
        for way in ["take theirs", "leave them out", "--force-conflicts"] {
            assert!(hint.contains(way), "{hint}");
        }
        assert_eq!(entry["changes"][0]["setBy"], json!(["kubectl"]));
        assert_eq!(entry["wrote"], false);
    }
    assert_eq!(cluster.get(PATH).expect("it is there")["data"]["mode"], "odd");
    let text = cluster.run("plan", 3).stdout;
    assert!(text.contains("held by `kubectl`"), "{text}");

    let annotated = "annotations: {trueup/on-conflict: force}, labels";
    cluster.write("settings.yaml", &DOCUMENT.replace("labels", annotated));
    assert_eq!(cluster.rows("plan", 0), ["update planned ConfigMap settings/team-a"]);
    assert_eq!(cluster.rows("apply --yes", 0), ["update done ConfigMap settings/team-a"]);
    let now = cluster.get(PATH).expect("it is there");
    assert_eq!((&now["data"]["mode"], now["metadata"].get("annotations")), (&json!("fast"), None));
    assert!(cluster.rows("plan", 0).is_empty());
}

#[test]
fn what_left_the_file_leaves_the_server_and_the_plan_says_so() {
    let Some(cluster) = cluster("left") else { return };
    let more = DOCUMENT.replace("{mode: fast}", "{mode: fast, old: \"1\", shared: \"2\"}");
    cluster.write("settings.yaml", &more);
    assert_eq!(cluster.rows("apply --yes", 0), ["update done ConfigMap settings/team-a"]);
    cluster.meddle(PATH, "kubectl", theirs(json!({"data": {"shared": "2", "theirs": "3"}})));

    // What another manager set too is not ours to take away.
    cluster.write("settings.yaml", DOCUMENT);
    let plan = cluster.entry("plan", 0, "ConfigMap settings/team-a");
    let left = json!([{"path": "data.old", "before": "1", "reason": "left", "setBy": ["trueup"]}]);
    assert_eq!(plan["changes"], left);
    assert_eq!(cluster.rows("apply --yes", 0), ["update done ConfigMap settings/team-a"]);
    let now = cluster.get(PATH).expect("it is there");
    assert_eq!(now["data"], json!({"mode": "fast", "shared": "2", "theirs": "3"}));
    assert_eq!(cluster.json("apply --yes", 0).writes(), 0);
}

#[test]
fn the_owner_of_the_backend_is_the_field_manager() {
    let Some(cluster) = cluster("owner") else { return };
    let manager = |path: &str| {
        let item = cluster.get(path).expect("it is there");
        item["metadata"]["managedFields"][0]["manager"].as_str().map(str::to_owned)
    };
    assert_eq!(manager(PATH).as_deref(), Some("trueup"));
    let backend = "apiVersion: trueup/v1\nkind: Backend\nmetadata: {name: kubernetes}\nspec: {preset: kubernetes, owner: team a & co}\n";
    cluster.write("backend.yaml", backend);
    cluster.write("second.yaml", &DOCUMENT.replace("name: settings", "name: second"));
    assert_eq!(cluster.rows("apply --yes", 0), ["create done ConfigMap second/team-a"]);
    assert_eq!(manager(&PATH.replace("settings", "second")).as_deref(), Some("team a & co"));
}

/// What the preset rests on: an apply-patch that says a uid is refused where the object has another one, or is gone, also
/// by force; the one that says its own is taken, and nobody comes to hold the uid.
#[test]
fn an_apply_for_another_uid_is_refused() {
    let Some(cluster) = cluster("uid") else { return };
    let before = cluster.get(PATH).expect("it is there");
    let patch = |uid: &str, more: &str| {
        let body = theirs(json!({"metadata": {"uid": uid}, "data": {"mode": "slow"}}));
        let path = cluster.named(&format!("{PATH}?fieldManager=trueup{more}"));
        cluster.server.request(Method::PATCH, &path, "application/apply-patch+yaml", Some(&body))
    };
    let other = "00000000-0000-4000-8000-000000000000";
    for more in ["", "&force=true"] {
        let (status, answer) = patch(other, more);
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        assert_eq!(
            (status, &answer["details"]["causes"][0]["field"]),
            (422, &json!("metadata.uid")),
            "{answer}"
        );
    }
    assert_eq!(cluster.get(PATH).expect("it is there"), before);
    assert_eq!(patch(before["metadata"]["uid"].as_str().expect("a uid"), "").0, 200);
    let now = cluster.get(PATH).expect("it is there");
    assert_eq!(now["data"]["mode"], "slow");
    assert!(!now["metadata"]["managedFields"].to_string().contains("f:uid"), "{now}");
    cluster.server.delete(&cluster.named(PATH));
    assert_eq!(patch(other, "").0, 409);
    assert_eq!(cluster.get(PATH), None);
}
