//! The manifests of `manifests/` on a server whose collections are empty.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::api::Api;
use crate::support::Project;

static SERVER: Mutex<()> = Mutex::new(());

/// A project on the real server.
pub struct Site {
    pub server: Api,
    project: Project,
    _turn: MutexGuard<'static, ()>,
}

impl Site {
    /// An empty folder but for the backend, and an empty server; `None` without one.
    pub fn open() -> Option<Site> {
        let server = Api::from_env("TRUEUP_TEST_JSON_SERVER", "json-server.sh", |request| request)?;
        // A test that failed has left the server to the others.
        let turn = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
        let mut project = Project::new();
        project.set("JSON_SERVER_URL", &server.url);
        let site = Site { server, project, _turn: turn };
        site.take("all", "backend.yaml");
        site.clear();
        Some(site)
    }

    /// With all of `manifests/all` applied.
    pub fn stocked() -> Option<Site> {
        let site = Site::open()?;
        site.take("all", "site.yaml");
        site.run("apply --yes", 0);
        Some(site)
    }

    /// Copies a manifest of `manifests/SET`.
    pub fn take(&self, set: &str, name: &str) {
        self.file(name, &manifest(set, name));
    }

    pub fn rows(&self, line: &str, code: i32) -> Vec<String> {
        self.json(line, code).rows()
    }

    /// The post that the manifests describe.
    pub fn post(&self) -> Value {
        let posts = self.server.get("/posts?title=Hello, world");
        posts[0].clone()
    }

    fn clear(&self) {
        for collection in ["comments", "posts", "tags"] {
            let items = self.server.get(&format!("/{collection}"));
            for item in items.as_array().into_iter().flatten() {
                let id = item["id"].as_str().map_or_else(|| item["id"].to_string(), str::to_owned);
                let id = id.replace('#', "%23").replace('/', "%2F");
                self.server.delete(&format!("/{collection}/{id}"));
            }
        }
        self.server.put("/profile", json!({"name": "", "links": {}}));
    }
}

impl Deref for Site {
    type Target = Project;

    fn deref(&self) -> &Project {
        &self.project
    }
}

impl DerefMut for Site {
    fn deref_mut(&mut self) -> &mut Project {
        &mut self.project
    }
}

/// The text of a manifest.
pub fn manifest(set: &str, name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/json_server/manifests");
    std::fs::read_to_string(folder.join(set).join(name)).expect("a manifest")
}
