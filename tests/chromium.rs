//! The page of a watch in a real browser: nothing in it runs or is fetched, it has its style under its policy, it fits a
//! phone, in light and in dark, and its filters and its button work.
//!
//! `tests/servers/chromium.sh start` prints the path that goes into `TRUEUP_TEST_CHROMIUM`. Without it this says so
//! and passes. With `TRUEUP_PAGES` set to a folder, pictures are left there.

#[path = "support/watch.rs"]
mod watch;

use trueup::core::watch::{About, Origin};

#[tokio::test]
async fn the_page_does_what_it_is_for_and_nothing_else() {
    let Ok(browser) = std::env::var("TRUEUP_TEST_CHROMIUM") else {
        eprintln!(
            "skipped: TRUEUP_TEST_CHROMIUM is not set; `tests/servers/chromium.sh start` prints its value"
        );
        return;
    };
    let mut watch = watch::Watch::start(watch::snapshot()).await;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/chromium/check.mjs");
    let url = format!("http://{}/status", watch.address);
    let mut node = tokio::process::Command::new("node");
    node.args([script, &browser, &url]).args(std::env::var("TRUEUP_PAGES"));
    let done = node.kill_on_drop(true).output().await.expect("Node runs");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    let hint = watch.hints.try_recv().expect("the button was pressed");
    assert_eq!((hint.about, hint.origin), (About::All, Origin::Person));
}
