//! A real server, as a person with another client meets it.

use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

/// Puts the credential into a request.
type Credential = fn(RequestBuilder) -> RequestBuilder;

/// A server's API.
pub struct Api {
    pub url: String,
    /// The server opens its listener anew when its configuration changes, so what finds none is asked again.
    pub reopens: bool,
    client: Client,
    runtime: Runtime,
    credential: Credential,
}

impl Api {
    /// The server whose URL stands in a variable; where it does not, says how to start one.
    pub fn from_env(variable: &str, script: &str, credential: Credential) -> Option<Api> {
        let Ok(url) = std::env::var(variable) else {
            eprintln!("skipped: {variable} is not set; `tests/servers/{script} start` prints its value");
            return None;
        };
        // Another test of this process may have chosen it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // No connection is kept, as one is closed with its listener.
        let client = Client::builder().no_proxy().pool_max_idle_per_host(0).build().expect("a client");
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        Some(Api { url, reopens: false, client, runtime, credential })
    }

    /// Status and body.
    pub fn request(&self, method: Method, path: &str, body: Option<Value>) -> (u16, String) {
        self.request_as(self.credential, method, path, body)
    }

    /// [`Api::request`] with another credential.
    pub fn request_as(
        &self,
        credential: impl Fn(RequestBuilder) -> RequestBuilder,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> (u16, String) {
        let ask = || {
            let mut request = credential(self.client.request(method.clone(), format!("{}{path}", self.url)));
            if let Some(body) = &body {
                request = request.header("content-type", "application/json").body(body.to_string());
            }
            self.runtime.block_on(async {
                let response = request.send().await?;
                Ok::<_, reqwest::Error>((response.status().as_u16(), response.text().await?))
            })
        };
        let mut asked = ask();
        for _ in 0..1_000 {
            if asked.is_ok() || !self.reopens {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
            asked = ask();
        }
        asked.unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    /// What stands at a path; null: nothing.
    pub fn get(&self, path: &str) -> Value {
        match self.request(Method::GET, path, None) {
            (200, body) => serde_json::from_str(&body).expect("JSON"),
            (404, _) => Value::Null,
            (status, body) => panic!("GET {path}: {status} {body}"),
        }
    }

    pub fn put(&self, path: &str, body: Value) {
        self.send(Method::PUT, path, Some(body));
    }

    pub fn post(&self, path: &str, body: Value) {
        self.send(Method::POST, path, Some(body));
    }

    pub fn delete(&self, path: &str) {
        self.send(Method::DELETE, path, None);
    }

    /// A write that must succeed.
    pub fn send(&self, method: Method, path: &str, body: Option<Value>) {
        let (status, answer) = self.request(method.clone(), path, body);
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
    }
}
