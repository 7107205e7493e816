//! A part of the cluster of one's own: a namespace and an API group that no other test has, and a folder.

use std::ops::{Deref, DerefMut};
use std::path::Path;

use serde_json::Value;

use crate::server::Server;
use crate::support::Project;

const BACKEND: &str = "apiVersion: trueup/v1
kind: Backend
metadata: {name: kubernetes}
spec:
  preset: kubernetes
  kinds:
    Widget:
      like: ConfigMap
      document: {apiVersion: team-a.example.com/v1, kind: Widget}
      at: /apis/team-a.example.com/v1/namespaces/{namespace}/widgets
      depends-on: CustomResourceDefinition/widgets.team-a.example.com
";

/// A project on the real server. Its namespace is new in each run, and is left to the server's end.
pub struct Cluster {
    pub server: Server,
    project: Project,
    /// What `team-a` of the manifests is called.
    namespace: String,
}

impl Cluster {
    /// An empty folder but for the backend; `None` without a server.
    pub fn open(name: &str) -> Option<Cluster> {
        let server = Server::from_env()?;
        let mut project = Project::new();
        project.set("KUBERNETES_URL", &server.url);
        project.set("KUBERNETES_TOKEN", &server.token);
        project.set("KUBERNETES_CA", &server.ca);
        let cluster = Cluster { server, project, namespace: format!("{name}-{}", std::process::id()) };
        cluster.write("backend.yaml", BACKEND);
        Some(cluster)
    }

    /// [`Cluster::open`] with the namespace applied.
    pub fn settled(name: &str) -> Option<Cluster> {
        let cluster = Cluster::open(name)?;
        cluster.write("namespace.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a}\n");
        cluster.run("apply --yes", 0);
        Some(cluster)
    }

    /// A text in which `team-a` is this cluster's own.
    pub fn named(&self, text: &str) -> String {
        text.replace("team-a", &self.namespace)
    }

    /// Writes a manifest, its names made this cluster's own.
    pub fn write(&self, name: &str, text: &str) {
        self.file(name, &self.named(text));
    }

    /// What stands at a path of the API.
    pub fn get(&self, path: &str) -> Option<Value> {
        self.server.get(&self.named(path))
    }

    /// A change by another manager, over all objections.
    pub fn meddle(&self, path: &str, manager: &str, body: Value) {
        let body = serde_json::from_str(&self.named(&body.to_string())).expect("JSON");
        self.server.apply(&self.named(path), manager, body);
    }

    /// Rows of a report in the names of the manifests.
    pub fn rows(&self, line: &str, code: i32) -> Vec<String> {
        let rows = self.json(line, code).rows();
        rows.iter().map(|row| row.replace(&self.namespace, "team-a")).collect()
    }

    /// A report of one object, in the names of the manifests.
    pub fn entry(&self, line: &str, code: i32, name: &str) -> Value {
        let report = self.json(line, code);
        let text = report.object(&self.named(name)).to_string().replace(&self.namespace, "team-a");
        serde_json::from_str(&text).expect("JSON")
    }
}

impl Deref for Cluster {
    type Target = Project;

    fn deref(&self) -> &Project {
        &self.project
    }
}

impl DerefMut for Cluster {
    fn deref_mut(&mut self) -> &mut Project {
        &mut self.project
    }
}

/// The text of a manifest.
pub fn manifest(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kubernetes/manifests");
    std::fs::read_to_string(folder.join(name)).expect("a manifest")
}
