//! The real server, as a person with another client meets it.

use std::fmt::Write as _;

use reqwest::Method;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

/// The management API.
pub struct Server {
    pub url: String,
    client: reqwest::Client,
    runtime: Runtime,
}

impl Server {
    /// The server that the environment names; says so where there is none.
    pub fn from_env() -> Option<Server> {
        let Ok(url) = std::env::var("TRUEUP_TEST_RABBITMQ") else {
            eprintln!(
                "skipped: TRUEUP_TEST_RABBITMQ is not set; `tests/servers/rabbitmq.sh start` prints its value"
            );
            return None;
        };
        // Another test of this process may have chosen it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        Some(Server { url, client, runtime })
    }

    /// Status and body.
    pub fn request(&self, method: Method, path: &str, body: Option<Value>) -> (u16, String) {
        let mut request = self.client.request(method, format!("{}{path}", self.url));
        request = request.basic_auth("guest", Some("guest")).header("content-type", "application/json");
        if let Some(body) = body {
            request = request.body(body.to_string());
        }
        self.runtime.block_on(async {
            let response = request.send().await.expect("an answer");
            (response.status().as_u16(), response.text().await.expect("a body"))
        })
    }

    /// What stands at a path; `None`: nothing.
    pub fn get(&self, path: &str) -> Option<Value> {
        match self.request(Method::GET, path, None) {
            (200, body) => Some(serde_json::from_str(&body).expect("JSON")),
            (404, _) => None,
            (status, body) => panic!("GET {path}: {status} {body}"),
        }
    }

    pub fn put(&self, path: &str, body: Value) {
        self.expect_success(Method::PUT, path, Some(body));
    }

    pub fn post(&self, path: &str, body: Value) {
        self.expect_success(Method::POST, path, Some(body));
    }

    pub fn delete(&self, path: &str) {
        self.expect_success(Method::DELETE, path, None);
    }

    fn expect_success(&self, method: Method, path: &str, body: Option<Value>) {
        let (status, answer) = self.request(method.clone(), path, body);
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
    }

    /// Whether a person can log in.
    pub fn lets_in(&self, user: &str, password: &str) -> bool {
        let request = self.client.get(format!("{}/whoami", self.url)).basic_auth(user, Some(password));
        self.runtime.block_on(async { request.send().await.expect("an answer").status().is_success() })
    }
}

/// A name as one segment of a path.
pub fn segment(name: &str) -> String {
    let mut text = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() {
            text.push(char::from(byte));
        } else {
            write!(text, "%{byte:02X}").expect("a string takes all");
        }
    }
    text
}
