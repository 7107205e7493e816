//! The plan's second opinion: what the server says of objects before anything is sent for good.

use serde_json::json;

use crate::cluster::Cluster;

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team-a}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: example.com/web:1}]}
";

#[test]
fn an_object_that_the_server_would_refuse_is_named_by_the_plan() {
    let Some(cluster) = Cluster::settled("refused") else { return };
    cluster.write("web.yaml", &DEPLOYMENT.replace("labels: {app: web}", "labels: {app: other}"));
    let entry = cluster.entry("plan", 1, "Deployment web/team-a");
    assert_eq!((&entry["action"], &entry["result"]), (&json!("create"), &json!("failed")));
    let message = entry["message"].as_str().expect("a message");
    assert!(message.starts_with("checking Deployment team-a/web: the server answered 422"), "{message}");
    assert!(message.contains("`selector` does not match template `labels`"), "{message}");
    assert_eq!(entry["hint"], "the server was asked by a dry run: nothing was stored");

    // The other documents are not held up by it.
    cluster
        .write("good.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good, namespace: team-a}\n");
    let rows = ["create done ConfigMap good/team-a", "create failed Deployment web/team-a"];
    assert_eq!(cluster.rows("apply --yes", 4), rows);
    cluster.write("web.yaml", DEPLOYMENT);
    assert_eq!(cluster.rows("apply --yes", 0), ["create done Deployment web/team-a"]);
}

#[test]
fn an_update_that_the_server_would_refuse_is_named_too() {
    let Some(cluster) = Cluster::settled("update") else { return };
    cluster.write("web.yaml", DEPLOYMENT);
    cluster.run("apply --yes", 0);
    cluster.write("web.yaml", &DEPLOYMENT.replace("image: example.com/web:1", "image: ''"));
    let entry = cluster.entry("plan", 1, "Deployment web/team-a");
    assert_eq!((&entry["action"], &entry["result"]), (&json!("update"), &json!("failed")));
    let message = entry["message"].as_str().expect("a message");
    assert!(message.contains("spec.template.spec.containers[0].image: Required value"), "{message}");
}

#[test]
fn a_value_of_the_wrong_type_is_refused_once_and_not_tried_again() {
    let Some(cluster) = Cluster::settled("type") else { return };
    cluster.write(
        "number.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: number, namespace: team-a}\ndata: {port: 8080}\n",
    );
    let entry = cluster.entry("plan", 1, "ConfigMap number/team-a");
    let message = entry["message"].as_str().expect("a message");
    assert!(message.contains(".data.port: expected string"), "{message}");
    let report = cluster.json("apply --yes", 1);
    assert_eq!(report.writes(), 0, "nothing else is due, and this was refused by the plan: {:#}", report.0);
}

#[test]
fn what_the_server_would_make_of_a_value_is_told() {
    let Some(cluster) = Cluster::settled("form") else { return };
    let volume = "volumes: [{name: cache, emptyDir: {sizeLimit: 1024Mi}}], containers:";
    let whole = DEPLOYMENT.replace("containers:", volume);
    cluster.write("web.yaml", &whole);
    let plan = cluster.entry("plan", 0, "Deployment web/team-a");
    assert_eq!(plan["findings"], json!([]), "1Gi is as good");

    let backend = "apiVersion: trueup/v1\nkind: Backend\nmetadata: {name: kubernetes}\nspec:\n  preset: kubernetes\n  kinds: {Deployment: {fields: {'spec.template.spec.volumes[*].emptyDir.sizeLimit': []}}}\n";
    cluster.write("backend.yaml", backend);
    let plan = cluster.entry("plan", 0, "Deployment web/team-a");
    assert_eq!(plan["findings"][0]["code"], "WouldStore");
    assert_eq!(
        plan["findings"][0]["message"],
        "`spec.template.spec.volumes[name=cache].emptyDir.sizeLimit`: \"1024Mi\" is sent, the server would store \"1Gi\""
    );
}

#[test]
fn who_may_only_read_gets_a_plan_without_the_opinion() {
    let Some(cluster) = Cluster::settled("reader") else { return };
    cluster.write("web.yaml", DEPLOYMENT);
    let api = "/apis/rbac.authorization.k8s.io/v1";
    let group = "rbac.authorization.k8s.io";
    let head = |kind: &str| json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": "team-a-readers"}});
    let mut role = head("ClusterRole");
    role["rules"] = json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list"]}]);
    cluster.meddle(&format!("{api}/clusterroles/team-a-readers"), "test", role);
    let mut binding = head("ClusterRoleBinding");
    binding["subjects"] = json!([{"kind": "Group", "name": "system:unauthenticated", "apiGroup": group}]);
    binding["roleRef"] = json!({"kind": "ClusterRole", "name": "team-a-readers", "apiGroup": group});
    cluster.meddle(&format!("{api}/clusterrolebindings/team-a-readers"), "test", binding);
    cluster.server.wait_for_strangers(&cluster.named("/apis/apps/v1/namespaces/team-a/deployments"));
    cluster.write(
        "backend.yaml",
        "apiVersion: trueup/v1\nkind: Backend\nmetadata: {name: kubernetes}\nspec:\n  preset: kubernetes\n  auth: {header: {name: X-Nobody, value: here}}\n",
    );
    cluster.file("namespace.yaml", "");
    let entry = cluster.entry("plan", 0, "Deployment web/team-a");
    assert_eq!((&entry["result"], &entry["findings"][0]["code"]), (&json!("planned"), &json!("NotChecked")));
}
