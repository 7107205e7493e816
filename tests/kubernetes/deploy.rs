//! The manifests of `deploy/kubernetes`: the server takes them as they are, and the account that they make may do what
//! a watch with a lease does, and no more.

use std::path::Path;

use reqwest::Method;
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::server::Server;
use crate::support::Project;
use crate::watching::Watching;

/// Kinds beside those of the preset, as anybody adds them.
const BACKEND: &str = "apiVersion: trueup/v1
kind: Backend
metadata: {name: kubernetes}
spec:
  preset: kubernetes
  kinds:
    Role:
      like: ConfigMap
      document: {apiVersion: rbac.authorization.k8s.io/v1, kind: Role}
      at: /apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/roles
    RoleBinding:
      like: ConfigMap
      document: {apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding}
      at: /apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/rolebindings
      depends-on: Role/team-a/trueup
";

const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/team-a/leases/trueup";

/// The text of a manifest, in the namespace of the test instead of its own.
fn manifest(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/kubernetes").join(name);
    let text = std::fs::read_to_string(path).expect("the manifest");
    let named =
        text.replace("namespace: trueup", "namespace: team-a").replace("Lease/trueup/", "Lease/team-a/");
    named.replacen(
        "kind: Namespace\nmetadata:\n  name: trueup",
        "kind: Namespace\nmetadata:\n  name: team-a",
        1,
    )
}

fn documents(text: &str) -> Vec<Value> {
    let documents = serde_yaml::Deserializer::from_str(text);
    documents.map(|document| Value::deserialize(document).expect("YAML")).collect()
}

fn of_kind(text: &str, kind: &str) -> Value {
    documents(text).into_iter().find(|document| document["kind"] == kind).expect("it is there")
}

/// The collection in which an object stands.
fn collection(document: &Value) -> &'static str {
    match document["kind"].as_str().expect("a kind") {
        "ServiceAccount" => "/api/v1/namespaces/team-a/serviceaccounts",
        "Secret" => "/api/v1/namespaces/team-a/secrets",
        "ConfigMap" => "/api/v1/namespaces/team-a/configmaps",
        "Deployment" => "/apis/apps/v1/namespaces/team-a/deployments",
        "Role" => "/apis/rbac.authorization.k8s.io/v1/namespaces/team-a/roles",
        "RoleBinding" => "/apis/rbac.authorization.k8s.io/v1/namespaces/team-a/rolebindings",
        other => panic!("where is a {other}?"),
    }
}

/// Applies a manifest in a namespace of its own.
fn applied(name: &str, file: &str) -> Option<Cluster> {
    let cluster = Cluster::open(name)?;
    cluster.write("backend.yaml", BACKEND);
    cluster.write("deploy.yaml", &manifest(file));
    assert_eq!(cluster.run("validate", 0).whole().matches("warning").count(), 0);
    let made = cluster.rows("apply --yes", 0);
    let kinds = documents(&manifest(file)).len();
    assert_eq!(made.iter().filter(|row| row.starts_with("create done ")).count(), kinds, "{made:#?}");
    Some(cluster)
}

fn is_taken(name: &str, file: &str) {
    let Some(cluster) = applied(name, file) else { return };
    // What the server fills in is no difference.
    assert!(cluster.rows("plan", 0).is_empty());
    // Another client creates them, for a try: the server of `TRUEUP_TEST_KUBERNETES` may be one that knows strictness.
    for mut document in documents(&cluster.named(&manifest(file))) {
        if document["kind"] == "Namespace" {
            continue;
        }
        document["metadata"]["name"] = json!("tried");
        let path = cluster.named(collection(&document));
        let path = format!("{path}?dryRun=All&fieldValidation=Strict");
        let (status, said) = cluster.server.request(Method::POST, &path, "application/json", Some(&document));
        assert_eq!(status, 201, "{said}");
    }
    // A word that the API does not have would have been refused.
    cluster.write("deploy.yaml", &manifest(file).replace("failureThreshold", "failureTreshold"));
    let run = cluster.run("plan", 1);
    assert!(run.stdout.contains("failureTreshold"), "{}", run.whole());
}

#[test]
fn the_server_takes_the_deployment_as_it_is() {
    is_taken("one-instance", "trueup.yaml");
}

#[test]
fn the_server_takes_the_deployment_of_two_instances_as_it_is() {
    is_taken("two-instances", "two-instances.yaml");
}

/// The token that a pod of the Deployment is given.
fn token(cluster: &Cluster) -> String {
    let path = cluster.named("/api/v1/namespaces/team-a/serviceaccounts/trueup/token");
    let asked = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let (status, said) = cluster.server.request(Method::POST, &path, "application/json", Some(&asked));
    assert_eq!(status, 201, "{said}");
    let answer: Value = serde_json::from_str(&said).expect("JSON");
    answer["status"]["token"].as_str().expect("a token").to_owned()
}

/// What a pod of the Deployment finds: the folder of the ConfigMap, its account's token, the cluster's authority.
fn pod(cluster: &Cluster, token: &str) -> Project {
    let text = cluster.named(&manifest("two-instances.yaml"));
    let mut pod = Project::new();
    pod.file("token", token);
    let account = "/var/run/secrets/kubernetes.io/serviceaccount";
    let files = of_kind(&text, "ConfigMap")["data"].clone();
    for (name, text) in files.as_object().expect("a map") {
        let text = text.as_str().expect("a text");
        let text = text.replace("https://kubernetes.default.svc", &cluster.server.url);
        let text = text.replace(&format!("{account}/token"), &pod.path().join("token").to_string_lossy());
        pod.file(name, &text.replace(&format!("{account}/ca.crt"), &cluster.server.ca));
    }
    for (name, value) in of_kind(&text, "Secret")["stringData"].as_object().expect("a map") {
        pod.set(name, value.as_str().expect("a text"));
    }
    // Nobody is there: it is the lease that counts here.
    pod.set("RABBITMQ_URL", "http://127.0.0.1:9/api");
    pod
}

/// Runs what the Deployment says, with a shorter lease.
fn start(cluster: &Cluster, pod: &Project) -> Watching {
    let text = cluster.named(&manifest("two-instances.yaml"));
    let container = of_kind(&text, "Deployment")["spec"]["template"]["spec"]["containers"][0].clone();
    let status = pod.path().join("status").display().to_string();
    let words = container["args"].as_array().expect("a list").iter();
    let words = words.map(|word| match word.as_str().expect("a text") {
        "0.0.0.0:8081" => "127.0.0.1:0",
        "/run/trueup/status.json" => &status,
        word => word,
    });
    // The folder is the one that all tests run in.
    let words: Vec<&str> = words.filter(|word| !["watch", "-f", "/manifests"].contains(word)).collect();
    Watching::start(pod, &[&words[..], &["--lease-duration", "4s"]].concat())
}

#[test]
fn two_instances_take_turns_with_the_rights_of_their_role() {
    let Some(cluster) = applied("account", "two-instances.yaml") else { return };
    let token = token(&cluster);
    let holder = || -> String {
        let lease = cluster.get(LEASE).unwrap_or_default();
        lease["spec"]["holderIdentity"].as_str().unwrap_or_default().to_owned()
    };
    let name = |watching: &Watching| format!("/{}/", watching.child.id());
    let (one, other) = (pod(&cluster, &token), pod(&cluster, &token));
    let first = start(&cluster, &one);
    first.until("the first holds the lease", || holder().contains(&name(&first)));
    let second = start(&cluster, &other);
    let stamp = || cluster.get(LEASE).map(|lease| lease["spec"]["renewTime"].to_string());
    let before = stamp();
    first.until("the lease is renewed", || stamp() != before);
    drop(first);
    second.until("the second holds the lease", || holder().contains(&name(&second)));

    // And that is all that the account may do.
    let Some(mut account) = Server::from_env() else { return };
    account.token = token;
    let lease = cluster.named(LEASE);
    let beside = cluster.named("/apis/coordination.k8s.io/v1/namespaces/team-a/leases/another");
    let leases = cluster.named("/apis/coordination.k8s.io/v1/namespaces/team-a/leases");
    let secret = cluster.named("/api/v1/namespaces/team-a/secrets/trueup");
    for (method, path, status) in [
        (Method::GET, &lease, 200),
        (Method::DELETE, &lease, 403),
        (Method::GET, &beside, 403),
        (Method::GET, &leases, 403),
        (Method::GET, &secret, 403),
    ] {
        let (found, said) = account.request(method.clone(), path, "application/json", None);
        assert_eq!(found, status, "{method} {path}: {said}");
    }
}
