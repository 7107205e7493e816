//! A shop of one's own: the manifests of `manifests/`, with a virtual host and users that no other test has.

use std::ops::{Deref, DerefMut};
use std::path::Path;

use reqwest::Method;

use crate::server::{Server, from_env, segment};
use crate::support::Project;

/// The password of the user in the manifests; it would break any text that it gets into.
pub const PASSWORD: &str = "s3cr3t: \"#1\\";

/// A project on the real server. What it makes is removed at the start and at the end.
pub struct Shop {
    pub server: Server,
    project: Project,
    name: &'static str,
}

impl Shop {
    /// An empty folder but for the backend; `None` without a server.
    pub fn open(name: &'static str) -> Option<Shop> {
        let server = from_env()?;
        let mut project = Project::new();
        project.set("RABBITMQ_URL", &server.url);
        project.set("RABBITMQ_USERNAME", "guest");
        project.set("RABBITMQ_PASSWORD", "guest");
        project.set("BOB_PASSWORD", PASSWORD);
        let shop = Shop { server, project, name };
        shop.take("all", "backend.yaml");
        shop.clear();
        Some(shop)
    }

    /// A shop with all of `manifests/all` applied.
    pub fn stocked(name: &'static str) -> Option<Shop> {
        let shop = Shop::open(name)?;
        shop.take_all("all");
        shop.run("apply --yes", 0);
        Some(shop)
    }

    /// The virtual host, as the manifests have it: with a slash.
    pub fn vhost(&self) -> String {
        format!("{}/eu", self.name)
    }

    /// `shop/eu` and `bob` of the manifests, as they are called here.
    pub fn named(&self, text: &str) -> String {
        text.replace("shop/eu", &self.vhost()).replace("bob", &self.bob())
    }

    pub fn bob(&self) -> String {
        format!("bob-{}", self.name)
    }

    /// A path of the API, `{v}` being the virtual host and `{u}` the user.
    pub fn path(&self, path: &str) -> String {
        path.replace("{v}", &segment(&self.vhost())).replace("{u}", &segment(&self.bob()))
    }

    /// Writes a manifest, its names made this shop's own.
    pub fn write(&self, name: &str, text: &str) {
        self.file(name, &self.named(text));
    }

    /// Copies a manifest of `manifests/SET`.
    pub fn take(&self, set: &str, name: &str) {
        self.write(name, &manifest(set, name));
    }

    /// Copies those with objects.
    pub fn take_all(&self, set: &str) {
        self.take(set, "shop.yaml");
        self.take(set, "routes.yaml");
    }

    /// Rows of a report in the names of the manifests.
    pub fn rows(&self, line: &str, code: i32) -> Vec<String> {
        let rows = self.json(line, code).rows();
        rows.iter().map(|row| row.replace(&self.vhost(), "shop/eu").replace(&self.bob(), "bob")).collect()
    }

    fn clear(&self) {
        self.server.request(Method::DELETE, &self.path("/vhosts/{v}"), None);
        let ours = |name: &str| name == self.bob() || name.starts_with(&format!("{}/", self.bob()));
        let users = self.server.get("/users").expect("users");
        let names = users.as_array().into_iter().flatten().filter_map(|user| user["name"].as_str());
        for name in names.filter(|name| ours(name)) {
            self.server.delete(&format!("/users/{}", segment(name)));
        }
    }
}

impl Deref for Shop {
    type Target = Project;

    fn deref(&self) -> &Project {
        &self.project
    }
}

impl DerefMut for Shop {
    fn deref_mut(&mut self) -> &mut Project {
        &mut self.project
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.clear();
        }
    }
}

/// The text of a manifest.
pub fn manifest(set: &str, name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rabbitmq/manifests");
    std::fs::read_to_string(folder.join(set).join(name)).expect("a manifest")
}
