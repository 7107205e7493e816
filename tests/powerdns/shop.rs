//! A shop of one's own: the manifests of `manifests/`, with zones and keys that no other test has.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use reqwest::Method;
use serde_json::{Value, json};

use crate::api::Api;
use crate::support::{Project, Report};

/// What `tests/servers/powerdns.sh` gives the server.
pub const API_KEY: &str = "key-for-tests";
/// The key that the manifests take from the environment.
pub const SHARED_KEY: &str = "dGhpcyBrZXkgaXMgc2hhcmVkIGJ5IHR3byBzZXJ2ZXJz";

/// The server, with a database in one file, takes one write at a time: from one test at a time.
static SERVER: Mutex<()> = Mutex::new(());

/// A project on the real server. What it makes is removed at the start and at the end.
pub struct Shop {
    pub server: Api,
    project: Project,
    name: String,
    _turn: MutexGuard<'static, ()>,
}

impl Shop {
    /// An empty folder but for the backend; `None` without a server.
    pub fn open(name: &str) -> Option<Shop> {
        let key = |request: reqwest::RequestBuilder| request.header("X-API-Key", API_KEY);
        let server = Api::from_env("TRUEUP_TEST_POWERDNS", "powerdns.sh", key)?;
        let mut project = Project::new();
        project.set("POWERDNS_URL", &server.url);
        project.set("POWERDNS_API_KEY", API_KEY);
        project.set("SHARED_KEY", SHARED_KEY);
        // A test that failed has left the server to the others.
        let turn = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
        let shop = Shop { server, project, name: format!("t-{name}"), _turn: turn };
        shop.take("all", "backend.yaml");
        shop.clear();
        Some(shop)
    }

    /// A shop with all of `manifests/all` applied.
    pub fn stocked(name: &str) -> Option<Shop> {
        let shop = Shop::open(name)?;
        shop.take_all("all");
        shop.run("apply --yes", 0);
        Some(shop)
    }

    /// `shop` of the manifests, as it is called here.
    pub fn named(&self, text: &str) -> String {
        text.replace("shop", &self.name).replace("Shop", &self.name.to_uppercase())
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
        self.take(set, "zones.yaml");
        self.take(set, "records.yaml");
    }

    /// Rows of a report in the names of the manifests.
    pub fn rows(&self, line: &str, code: i32) -> Vec<String> {
        self.rows_of(&self.json(line, code))
    }

    pub fn rows_of(&self, report: &Report) -> Vec<String> {
        let shop = |row: &String| row.replace(&self.name, "shop").replace(&self.name.to_uppercase(), "Shop");
        let mut rows: Vec<String> = report.rows().iter().map(shop).collect();
        rows.sort();
        rows
    }

    /// The zone `shop.test.` without its records; null where it is not there.
    pub fn zone(&self) -> Value {
        self.server.get(&self.named("/zones/shop.test.?rrsets=false"))
    }

    /// A record set of `shop.test.`, as a listing of the zone shows it.
    pub fn rrset(&self, name: &str, kind: &str) -> Option<Value> {
        let zone = self.server.get(&self.named("/zones/shop.test."));
        let sets = zone["rrsets"].as_array().cloned().expect("record sets");
        sets.into_iter().find(|set| set["name"] == self.named(name) && set["type"] == kind)
    }

    /// Sets a variable of the environment in which the program runs.
    pub fn set_env(&mut self, name: &str, value: &str) {
        self.project.set(name, value);
    }

    /// Sets records of `shop.test.` by hand: the contents, enabled.
    pub fn set(&self, name: &str, kind: &str, ttl: u32, contents: &[&str]) {
        let record = |content: &&str| json!({"content": self.named(content), "disabled": false});
        let records: Vec<Value> = contents.iter().map(record).collect();
        let change = json!({"name": self.named(name), "type": kind, "ttl": ttl, "changetype": "REPLACE",
            "records": records});
        self.change(change);
    }

    /// One change of a record set of `shop.test.`.
    pub fn change(&self, change: Value) {
        let path = self.named("/zones/shop.test.");
        self.server.send(Method::PATCH, &path, Some(json!({"rrsets": [change]})));
    }

    fn clear(&self) {
        for path in [
            "/zones/shop.test.",
            "/zones/eu.shop.test.",
            "/zones/0=2F26.shop.test.",
            "/autoprimaries/2001:DB8::53/ns1.shop.test",
        ] {
            self.server.request(Method::DELETE, &self.named(path), None);
        }
        for key in ["shop-transfer", "shop-shared", "shop-theirs"] {
            self.server.request(Method::DELETE, &self.named(&format!("/tsigkeys/{key}.")), None);
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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/powerdns/manifests");
    std::fs::read_to_string(folder.join(set).join(name)).expect("a manifest")
}
