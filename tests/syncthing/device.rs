//! A Syncthing of one's own, for as long as a test lasts: it has one GUI and one set of options, and a test begins
//! with what a new one has.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::api::Api;
use crate::support::Project;

pub const API_KEY: &str = "trueup-test-key";
pub const LAPTOP: &str = "MNVT3AM-CSDXH42-7AUCJCB-DC4E3NS-5EOHLMF-2YIF6GS-JRUXYS3-DDRACQZ";
pub const VAULT: &str = "RFCG6AU-QDPJKUS-GEZ3DPC-JGVJYUO-ETUYTTD-E2TDCI3-DDKP4P5-VXFLLQ3";
pub const STRANGER: &str = "I6AJV2W-2DFMEY3-JRA6NDM-PANU7ZU-K23IWTI-ZCMDRXH-5PB6L45-EPSB3AS";
pub const GUI_PASSWORD: &str = "gui: \"s3cr3t\"";
pub const VAULT_PASSWORD: &str = "vault-s3cr3t";

static TURN: Mutex<()> = Mutex::new(());

/// A project on the real server.
pub struct Device {
    pub server: Api,
    project: Project,
    _turn: MutexGuard<'static, ()>,
}

impl Device {
    /// A server with nothing of ours, and a folder that is empty but for the backend; `None` without a server.
    pub fn open() -> Option<Device> {
        let key = |request: reqwest::RequestBuilder| request.header("x-api-key", API_KEY);
        let mut server = Api::from_env("TRUEUP_TEST_SYNCTHING", "syncthing.sh", key)?;
        server.reopens = true;
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut project = Project::new();
        project.set("SYNCTHING_URL", &server.url);
        project.set("SYNCTHING_API_KEY", API_KEY);
        project.set("GUI_PASSWORD", GUI_PASSWORD);
        project.set("VAULT_PASSWORD", VAULT_PASSWORD);
        let device = Device { server, project, _turn: turn };
        device.clear();
        device.take("all", "backend.yaml");
        Some(device)
    }

    /// One with all of `manifests/all` applied.
    pub fn stocked() -> Option<Device> {
        let device = Device::open()?;
        device.take_all("all");
        device.run("apply --yes", 0);
        Some(device)
    }

    /// Writes a file; `{folders}` in it is where folders can be.
    pub fn write(&self, name: &str, text: &str) {
        let folders = self.path().join("folders");
        self.file(name, &text.replace("{folders}", folders.to_str().expect("UTF-8")));
    }

    /// Writes one document, as `a.yaml`.
    pub fn document(&self, kind: &str, metadata: &str, spec: &str) {
        let text = format!("apiVersion: syncthing\nkind: {kind}\nmetadata: {metadata}\nspec: {spec}\n");
        self.write("a.yaml", &text);
    }

    /// Copies a manifest of `manifests/SET`.
    pub fn take(&self, set: &str, name: &str) {
        self.write(name, &manifest(set, name));
    }

    /// Copies those with objects.
    pub fn take_all(&self, set: &str) {
        self.take(set, "shared.yaml");
        self.take(set, "single.yaml");
    }

    /// Rows of a report, with the devices by their names.
    pub fn rows(&self, line: &str, code: i32) -> Vec<String> {
        let named = |row: String| row.replace(&LAPTOP.to_lowercase(), "laptop").replace(VAULT, "vault");
        let mut rows: Vec<String> = self.json(line, code).rows().into_iter().map(named).collect();
        rows.sort();
        rows
    }

    /// The whole configuration.
    pub fn all(&self) -> Value {
        self.server.get("/config")
    }

    /// Without folders and devices but its own, and with what a new one has of the rest but for the GUI: with each
    /// change of that it opens its listener anew, and after some in a row only after a while.
    fn clear(&self) {
        let mut all = self.all();
        let own = all["defaults"]["folder"]["devices"][0]["deviceID"].take();
        all["folders"] = json!([]);
        let devices = all["devices"].as_array_mut().expect("devices");
        devices.retain(|device| device["deviceID"] == own);
        all["options"]["maxSendKbps"] = json!(0);
        all["options"]["minHomeDiskFree"] = json!({"value": 1, "unit": "%"});
        all["ldap"] = json!({});
        all["defaults"] = json!({});
        self.server.put("/config", all);
    }
}

impl Deref for Device {
    type Target = Project;

    fn deref(&self) -> &Project {
        &self.project
    }
}

impl DerefMut for Device {
    fn deref_mut(&mut self) -> &mut Project {
        &mut self.project
    }
}

/// The text of a manifest.
pub fn manifest(set: &str, name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/syncthing/manifests");
    std::fs::read_to_string(folder.join(set).join(name)).expect("a manifest")
}
