//! Adopting what is there: the whole server as manifests, whose plan is empty.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::shop::{PASSWORD, Shop};

/// The files of a folder, by name.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("an entry"));
    let text = |entry: &fs::DirEntry| fs::read_to_string(entry.path()).expect("a text");
    entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), text(&entry))).collect()
}

/// The documents of a text, without the lines that divide them.
fn documents(text: &str) -> Vec<&str> {
    text.split("---\n").collect()
}

#[test]
fn the_whole_server_is_adopted() {
    let Some(shop) = Shop::alone("adopt") else { return };
    let hash = shop.server.get(&shop.path("/users/{u}"))["password_hash"].clone();
    let hash = hash.as_str().expect("a text").to_owned();
    let adopted = shop.elsewhere();
    adopted.run("export -o adopted", 0);
    let report = adopted.json("plan -v", 0);
    assert!(report.rows().len() >= 30, "{:?}", report.rows());
    assert!(report.rows().iter().all(|row| row.starts_with("none in-sync ")), "{:?}", report.rows());
    for row in ["VHost /", "Exchange amq.topic//", "User guest", "Permission guest//"] {
        assert!(report.rows().contains(&format!("none in-sync {row}")), "{row} in {:?}", report.rows());
    }
    let written = adopted.json("apply --yes", 0);
    assert_eq!(written.writes(), 0, "{:?}", written.rows());

    let first = files(&adopted.path().join("adopted"));
    adopted.run("export -o adopted", 0);
    assert_eq!(files(&adopted.path().join("adopted")), first, "the same state gives the same bytes");
    let all: String = first.values().map(String::as_str).collect();
    assert!(!all.contains(&hash) && !all.contains("s3cr3t") && !all.contains(PASSWORD), "{all}");
    assert!(all.contains("# left out: password_hash (secret)\n# left out: password (write-only: the server does not show whether there is one)\n"), "{all}");
    for statistic in ["messages", "_details", "user_who_performed_action", "cluster_state", "node"] {
        assert!(!all.contains(statistic), "{statistic} in {all}");
    }
}

#[test]
fn what_is_exported_is_no_longer_than_what_was_written() {
    let Some(shop) = Shop::stocked("minimal") else { return };
    let elsewhere = shop.elsewhere();
    let all = elsewhere.run_words(&["export", "--only", "*/minimal/eu*"], 0).stdout;
    let all = all.replace("minimal/eu", "shop/eu").replace("bob-minimal", "bob");
    let of = |kind: &str| {
        let line = format!("kind: {kind}\n");
        documents(&all).into_iter().filter(|document| document.contains(&line)).collect::<Vec<_>>()
    };
    assert_eq!(
        of("VHost"),
        [
            "apiVersion: rabbitmq\nkind: VHost\nmetadata:\n  name: shop/eu\nspec:\n  description: the shop\n  tags:\n    - eu\n    - gold\n"
        ]
    );
    assert_eq!(
        of("Queue")[0],
        "apiVersion: rabbitmq\nkind: Queue\nmetadata:\n  vhost: shop/eu\n  name: dead\nspec:\n  durable: true\n"
    );
    assert!(of("Binding")[0].ends_with(
        "  arguments:\n    country: dé\n    express: true\n    weight: 20\n    x-match: all\nspec: {}\n"
    ));
    assert_eq!(of("Exchange").len(), 9, "those that each virtual host has, and three of ours");
    assert!(of("Policy")[0].ends_with("  pattern: \"^long\\\\.\"\n  priority: 3\n"), "{:?}", of("Policy"));
}

#[test]
fn a_queue_is_explained() {
    let Some(shop) = Shop::stocked("explain") else { return };
    shop.take("changed", "routes.yaml");
    let told = shop.run_words(&["explain", "Exchange/explain/eu/orders"], 0).stdout;
    for part in [
        "arguments.alternate-exchange   \"unrouted\" → \"by-header\"",
        "declared at ./routes.yaml:4:",
        "`closed`, by the preset rabbitmq: nothing undeclared may stand below",
        "`immutable=replace`, by the preset rabbitmq: changes only by deleting and creating again",
        "equal: durable, type",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
}
