//! A person with a server's own tool.

use std::path::Path;
use std::process::Command;

/// Runs a tool of a server, by the script that starts the server.
pub fn tool(script: &str, words: &[&str]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers").join(script);
    let output = Command::new(path).args(words).output().expect("the script runs");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script} {words:?}: {told}{}", String::from_utf8_lossy(&output.stdout));
}
