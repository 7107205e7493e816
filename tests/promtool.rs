//! Metrics and alerts by Prometheus' own checker.
//!
//! `tests/servers/promtool.sh start` prints the path that goes into `TRUEUP_TEST_PROMTOOL`. Without it these tests say
//! so and pass.

#[path = "support/watch.rs"]
mod watch;

use std::process::Stdio;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::Command;

/// Checks `input`, or the file among the words.
async fn promtool(words: &[&str], input: &[u8]) {
    let Ok(tool) = std::env::var("TRUEUP_TEST_PROMTOOL") else {
        eprintln!(
            "skipped: TRUEUP_TEST_PROMTOOL is not set; `tests/servers/promtool.sh start` prints its value"
        );
        return;
    };
    let mut command = Command::new(tool);
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("promtool runs");
    let mut stdin = child.stdin.take().expect("it is a pipe");
    stdin.write_all(input).await.expect("it is read");
    drop(stdin);
    let done = child.wait_with_output().await.expect("it ends");
    let said = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
}

#[tokio::test]
async fn metrics_are_as_they_are_to_be() {
    let watch = watch::Watch::start(watch::snapshot()).await;
    let mut stream = TcpStream::connect(watch.address).await.expect("a connection");
    let ask = b"GET /metrics HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n";
    stream.write_all(ask).await.expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    assert!(watch.hints.is_empty(), "to look is no hint");
    let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
    assert!(body.contains("trueup_objects{"), "{body}");
    promtool(&["check", "metrics"], body.as_bytes()).await;
}

#[tokio::test]
async fn alerts_are_rules() {
    let rules = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/prometheus/alerts.yaml");
    promtool(&["check", "rules", rules], b"").await;
}
