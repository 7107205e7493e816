//! A real server, as a person with another client meets it.

use std::time::Duration;

use reqwest::Method;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

/// A client of one server.
pub struct Http {
    pub url: String,
    header: Option<(&'static str, &'static str)>,
    client: reqwest::Client,
    runtime: Runtime,
}

impl Http {
    /// The server whose URL is in the variable `name`; says so where there is none. `header` goes with each
    /// request.
    pub fn from_env(name: &str, header: Option<(&'static str, &'static str)>) -> Option<Http> {
        let Ok(url) = std::env::var(name) else {
            let server = name.trim_start_matches("TRUEUP_TEST_").to_lowercase();
            eprintln!("skipped: {name} is not set; `tests/servers/{server}.sh start` prints its value");
            return None;
        };
        // Another test of this process may have chosen it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // No connection is kept, as they are closed too.
        let client = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build();
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        Some(Http { url, header, client: client.expect("a client"), runtime })
    }

    /// Status and body. These servers open their listeners anew when their configuration changes, so what finds
    /// none is asked again.
    pub fn request(&self, method: Method, path: &str, body: Option<&Value>) -> (u16, String) {
        let mut asked = Err(String::new());
        for _ in 0..1_000 {
            asked = self.ask(method.clone(), path, body).map_err(|error| error.to_string());
            if asked.is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        asked.unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> reqwest::Result<(u16, String)> {
        let mut request = self.client.request(method, format!("{}{path}", self.url));
        request = request.header("content-type", "application/json");
        if let Some((name, value)) = self.header {
            request = request.header(name, value);
        }
        if let Some(body) = body {
            request = request.body(body.to_string());
        }
        self.runtime.block_on(async {
            let response = request.send().await?;
            Ok((response.status().as_u16(), response.text().await?))
        })
    }

    /// What stands at a path; null: nothing.
    pub fn get(&self, path: &str) -> Value {
        match self.request(Method::GET, path, None) {
            (200, body) => serde_json::from_str(&body).expect("JSON"),
            (404, _) => Value::Null,
            (status, body) => panic!("GET {path}: {status} {body}"),
        }
    }

    /// A write that must succeed.
    pub fn send(&self, method: Method, path: &str, body: Option<Value>) {
        let (status, answer) = self.request(method.clone(), path, body.as_ref());
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
    }
}
