//! A tree of one's own, for as long as a test lasts: Caddy has one, and a test begins with nothing in it.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::api::Api;
use crate::support::Project;

static TURN: Mutex<()> = Mutex::new(());

/// The server that the environment names.
pub fn server() -> Option<Api> {
    let mut server = Api::from_env("TRUEUP_TEST_CADDY", "caddy.sh", |request| request)?;
    server.reopens = true;
    Some(server)
}

/// A project on the real server.
pub struct Tree {
    pub server: Api,
    project: Project,
    _turn: MutexGuard<'static, ()>,
}

impl Tree {
    /// An empty tree, and an empty folder but for the backend; `None` without a server.
    pub fn open() -> Option<Tree> {
        let server = server()?;
        // A test that failed leaves nothing that the next one does not clear.
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut project = Project::new();
        project.set("CADDY_URL", &server.url);
        let tree = Tree { server, project, _turn: turn };
        let admin = tree.server.get("/config/admin");
        tree.server.post("/load", json!({"admin": admin}));
        tree.write("backend.yaml", &manifest("all", "backend.yaml"));
        Some(tree)
    }

    /// A tree with all of `manifests/all` applied.
    pub fn grown() -> Option<Tree> {
        let tree = Tree::open()?;
        tree.take("all");
        tree.run("apply --yes", 0);
        Some(tree)
    }

    /// Writes a file; `{+1}` in it is the port after the server's own.
    pub fn write(&self, name: &str, text: &str) {
        let mut text = text.to_owned();
        for more in 1..=3 {
            text = text.replace(&format!("{{+{more}}}"), &self.port(more).to_string());
        }
        self.file(name, &text);
    }

    /// Writes one document, as `a.yaml`: `Server`, `{name: shop}`, `{…}`.
    pub fn document(&self, kind: &str, metadata: &str, spec: &str) {
        let text = format!("apiVersion: caddy\nkind: {kind}\nmetadata: {metadata}\nspec: {spec}\n");
        self.write("a.yaml", &text);
    }

    /// Takes the manifests of `manifests/SET`.
    pub fn take(&self, set: &str) {
        self.write("tree.yaml", &manifest(set, "tree.yaml"));
    }

    /// The port that is so many above the server's own.
    pub fn port(&self, more: u16) -> u16 {
        let own = self.server.url.rsplit(':').next().and_then(|port| port.parse::<u16>().ok());
        own.expect("a port") + more
    }

    /// Rows of a report.
    pub fn rows(&self, line: &str, code: i32) -> Vec<String> {
        self.json(line, code).rows()
    }

    /// All but the admin API's own part.
    pub fn all(&self) -> Value {
        let mut all = self.server.get("/config/");
        all.as_object_mut().expect("a map").remove("admin");
        all
    }
}

impl Deref for Tree {
    type Target = Project;

    fn deref(&self) -> &Project {
        &self.project
    }
}

impl DerefMut for Tree {
    fn deref_mut(&mut self) -> &mut Project {
        &mut self.project
    }
}

/// The text of a manifest.
pub fn manifest(set: &str, name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/caddy/manifests");
    std::fs::read_to_string(folder.join(set).join(name)).expect("a manifest")
}
