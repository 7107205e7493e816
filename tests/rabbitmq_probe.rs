//! `probe` of the preset `rabbitmq` against a real RabbitMQ, on what every such server has: it fits, and nothing is
//! left to suggest. A file of its own, since other tests take virtual hosts away while they run.
//!
//! `tests/servers/rabbitmq.sh start` prints the URL that goes into `TRUEUP_TEST_RABBITMQ`. Without it this says so
//! and passes.

use std::process::Command;

use serde_json::Value;

const BACKEND: &str = "apiVersion: trueup/v1
kind: Backend
metadata: {name: rabbitmq}
spec: {preset: rabbitmq, url: !env URL, auth: {basic: {username: guest, password: guest}}}
";

#[test]
fn the_preset_fits_the_server() {
    let Ok(url) = std::env::var("TRUEUP_TEST_RABBITMQ") else {
        eprintln!(
            "skipped: TRUEUP_TEST_RABBITMQ is not set; `tests/servers/rabbitmq.sh start` prints its value"
        );
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("backend.yaml"), BACKEND).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
    command.args(["probe", "--backends", "backend.yaml", "--output", "json"]).current_dir(folder.path());
    let output = command.env_clear().env("URL", url).output().expect("the binary runs");
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(output.status.code(), Some(0), "{told:#}");
    let kinds = told["kinds"].as_array().expect("a list");
    assert_eq!(kinds.len(), 11);
    let items = |name: &str| {
        let kind = kinds.iter().find(|kind| kind["kind"] == name).expect(name);
        kind["understood"][0]["text"].as_str().unwrap_or_default().to_owned()
    };
    for name in ["VHost", "User", "Exchange", "Permission"] {
        assert!(!items(name).starts_with("0 "), "{name}: {told:#}");
    }
    assert_eq!(told["summary"]["contradictions"], 0);
    assert_eq!(told["summary"]["suggestions"], 0, "{told:#}");
}
