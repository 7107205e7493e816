//! The real etcd, as a person with another client meets it.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::{Value, json};

use crate::api::Api;
use crate::support::Project;

/// A value that a key has had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// The revision of the whole store that made it.
    pub at: u64,
    pub value: String,
}

/// The server, and a folder with the backend that `deploy/` has for it.
pub struct Member {
    pub project: Project,
    api: Api,
}

impl Member {
    /// `None` without a server.
    pub fn open() -> Option<Member> {
        let api = Api::from_env("TRUEUP_TEST_ETCD", "etcd.sh", |request| request)?;
        let mut project = Project::new();
        project.set("ETCD_URL", &api.url);
        let backend = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/etcd/backend.yaml");
        project.file("backend.yaml", &std::fs::read_to_string(backend).expect("the backend"));
        Some(Member { project, api })
    }

    /// A name that no other run has.
    pub fn name(&self, word: &str) -> String {
        format!("{word}-{}", std::process::id())
    }

    /// `host:port` of the server.
    pub fn address(&self) -> &str {
        self.api.url.strip_prefix("http://").expect("it is on loopback")
    }

    /// The answer to a request that must succeed.
    pub fn ask(&self, path: &str, body: Value) -> Value {
        let (status, answer) = self.api.request(Method::POST, path, Some(body));
        assert_eq!(status, 200, "{path}: {answer}");
        serde_json::from_str(&answer).expect("JSON")
    }

    pub fn get(&self, key: &str) -> Option<String> {
        let answer = self.ask("/v3/kv/range", json!({"key": STANDARD.encode(key)}));
        let found = &answer["kvs"][0];
        found["key"].as_str().map(|_| decoded(&found["value"]))
    }

    /// Whatever was there before.
    pub fn put(&self, key: &str, value: &str) {
        self.ask("/v3/kv/put", json!({"key": STANDARD.encode(key), "value": STANDARD.encode(value)}));
    }

    /// Many keys, in as few transactions as the server takes.
    pub fn put_all(&self, keys: &[String], value: &str) {
        for part in keys.chunks(100) {
            let puts: Vec<Value> = part
                .iter()
                .map(|key| json!({"requestPut": {"key": STANDARD.encode(key), "value": STANDARD.encode(value)}}))
                .collect();
            self.ask("/v3/kv/txn", json!({"success": puts}));
        }
    }

    pub fn delete(&self, key: &str) {
        self.ask("/v3/kv/deleterange", json!({"key": STANDARD.encode(key)}));
    }

    /// How many keys there are below a prefix.
    pub fn count(&self, prefix: &str) -> u64 {
        let end = format!("{}0", prefix.strip_suffix('/').expect("it ends in a slash"));
        let body =
            json!({"key": STANDARD.encode(prefix), "range_end": STANDARD.encode(end), "count_only": true});
        let answer = self.ask("/v3/kv/range", body);
        answer["count"].as_str().map_or(0, |count| count.parse().expect("a number"))
    }

    /// Every value that a key has had since it was made, in order: the log that etcd keeps of it.
    pub fn history(&self, key: &str) -> Vec<Revision> {
        let now = self.ask("/v3/kv/range", json!({"key": STANDARD.encode(key)}));
        let (made, last) = (&now["kvs"][0]["create_revision"], &now["kvs"][0]["mod_revision"]);
        let mut history: Vec<Revision> = Vec::new();
        // As it was at each revision of the store, which nobody compacts here.
        for at in number(made)..=number(last) {
            let body = json!({"key": STANDARD.encode(key), "revision": at.to_string()});
            let then = self.ask("/v3/kv/range", body);
            let found = &then["kvs"][0];
            let revision = Revision { at: number(&found["mod_revision"]), value: decoded(&found["value"]) };
            if history.last().is_none_or(|had| had.at != revision.at) {
                history.push(revision);
            }
        }
        history
    }
}

fn number(value: &Value) -> u64 {
    value.as_str().map_or(0, |text| text.parse().expect("a number"))
}

fn decoded(value: &Value) -> String {
    let bytes = STANDARD.decode(value.as_str().unwrap_or_default()).expect("base64");
    String::from_utf8(bytes).expect("UTF-8")
}
