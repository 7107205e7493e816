//! The real server, as a person with another client meets it.

use reqwest::Method;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

/// The API, and where to find it.
pub struct Server {
    pub url: String,
    pub token: String,
    /// The file with the server's own authority.
    pub ca: String,
    client: reqwest::Client,
    runtime: Runtime,
}

impl Server {
    /// The server that the environment names; says so where there is none.
    pub fn from_env() -> Option<Server> {
        let Ok(told) = std::env::var("TRUEUP_TEST_KUBERNETES") else {
            eprintln!(
                "skipped: TRUEUP_TEST_KUBERNETES is not set; `tests/servers/kubernetes.sh start` prints its value"
            );
            return None;
        };
        let words: Vec<&str> = told.split_whitespace().collect();
        let [url, token, ca] = words[..] else { panic!("`URL TOKEN CA-FILE`, not `{told}`") };
        // Another test of this process may have chosen it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // It is on loopback; whether the program checks the certificate is for the program to show.
        let client = reqwest::Client::builder().no_proxy().danger_accept_invalid_certs(true);
        let client = client.build().expect("a client");
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        Some(Server { url: url.into(), token: token.into(), ca: ca.into(), client, runtime })
    }

    /// Status and body.
    pub fn request(&self, method: Method, path: &str, media: &str, body: Option<&Value>) -> (u16, String) {
        let mut request = self.client.request(method, format!("{}{path}", self.url));
        request = request.bearer_auth(&self.token).header("content-type", media);
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
        match self.request(Method::GET, path, "application/json", None) {
            (200, body) => Some(serde_json::from_str(&body).expect("JSON")),
            (404, _) => None,
            (status, body) => panic!("GET {path}: {status} {body}"),
        }
    }

    /// Waits until those without a credential may read a path: the server learns of a new role a moment later.
    pub fn wait_for_strangers(&self, path: &str) {
        let url = format!("{}{path}", self.url);
        for _ in 0..200 {
            let status = self
                .runtime
                .block_on(async { self.client.get(&url).send().await.expect("an answer").status() });
            if status.is_success() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("{path} is not shown to strangers");
    }

    /// Server-side apply in the name of `manager`, over all objections.
    pub fn apply(&self, path: &str, manager: &str, body: Value) {
        let path = format!("{path}?fieldManager={manager}&force=true");
        self.expect_success(Method::PATCH, &path, "application/apply-patch+yaml", &body);
    }

    pub fn put(&self, path: &str, body: &Value) {
        self.expect_success(Method::PUT, path, "application/json", body);
    }

    pub fn delete(&self, path: &str) {
        self.expect_success(Method::DELETE, path, "application/json", &serde_json::json!({}));
    }

    fn expect_success(&self, method: Method, path: &str, media: &str, body: &Value) {
        let (status, answer) = self.request(method.clone(), path, media, Some(body));
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
    }
}
