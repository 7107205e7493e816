//! A shop of one's own: the manifests of `manifests/`, with a virtual host and users that no other test has.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use reqwest::Method;

use crate::server::{Server, from_env, segment};
use crate::support::Project;

/// The password of the user in the manifests; it would break any text that it gets into.
pub const PASSWORD: &str = "s3cr3t: \"#1\\";

/// Tests run beside each other, but for those that look at the whole server.
static TURNS: RwLock<()> = RwLock::new(());

/// The right to be on the server, held for as long as a shop stands.
enum Turn {
    Beside { _guard: RwLockReadGuard<'static, ()> },
    Alone { _guard: RwLockWriteGuard<'static, ()> },
}

/// A project on the real server. What it makes is removed at the start and at the end.
pub struct Shop {
    pub server: Server,
    project: Project,
    name: &'static str,
    _turn: Turn,
}

impl Shop {
    /// An empty folder but for the backend; `None` without a server.
    pub fn open(name: &'static str) -> Option<Shop> {
        let turn = || Turn::Beside { _guard: TURNS.read().unwrap_or_else(PoisonError::into_inner) };
        Shop::new(name, turn)
    }

    /// [`Shop::stocked`], with nobody else on the server.
    pub fn alone(name: &'static str) -> Option<Shop> {
        let turn = || Turn::Alone { _guard: TURNS.write().unwrap_or_else(PoisonError::into_inner) };
        let shop = Shop::new(name, turn)?;
        shop.stock();
        Some(shop)
    }

    fn new(name: &'static str, turn: impl FnOnce() -> Turn) -> Option<Shop> {
        let server = from_env()?;
        let turn = turn();
        let project = on(&server);
        let shop = Shop { server, project, name, _turn: turn };
        shop.take("all", "backend.yaml");
        shop.clear();
        Some(shop)
    }

    /// A folder on the same server that has the backend and nothing else.
    pub fn elsewhere(&self) -> Project {
        let project = on(&self.server);
        project.file("backend.yaml", &manifest("all", "backend.yaml"));
        project
    }

    fn stock(&self) {
        self.take_all("all");
        self.run("apply --yes", 0);
    }

    /// A shop with all of `manifests/all` applied.
    pub fn stocked(name: &'static str) -> Option<Shop> {
        let shop = Shop::open(name)?;
        shop.stock();
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
        let users = self.server.get("/users");
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

/// A project whose environment leads to the server.
fn on(server: &Server) -> Project {
    let mut project = Project::new();
    project.set("RABBITMQ_URL", &server.url);
    project.set("RABBITMQ_USERNAME", "guest");
    project.set("RABBITMQ_PASSWORD", "guest");
    project.set("BOB_PASSWORD", PASSWORD);
    project
}

/// The text of a manifest.
pub fn manifest(set: &str, name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rabbitmq/manifests");
    std::fs::read_to_string(folder.join(set).join(name)).expect("a manifest")
}
