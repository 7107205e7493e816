//! From empty to in sync, and one change of each kind: the plan shows exactly these.

use crate::shop::Shop;

/// The changes between the two sets of manifests that need nobody's consent.
const UPDATES: [&str; 8] = [
    "OperatorPolicy cap/shop/eu",
    "Permission bob/shop/eu",
    "Policy long/shop/eu",
    "TopicPermission orders/bob/shop/eu",
    "User bob",
    "User bob/idle",
    "VHost shop/eu",
    "VHostLimit max-queues/shop/eu",
];
const CREATES: [&str; 2] =
    ["Binding {}/incoming/orders.#/orders/shop/eu", "ExchangeBinding {}/by-header/order.eu/orders/shop/eu"];
/// Immutable ones, and the binding that goes with the queue.
const REPLACES: [&str; 2] = ["Exchange orders/shop/eu", "Queue incoming/shop/eu"];
const HEADERS_BINDING: &str = "Binding {\"country\":\"dé\",\"express\":true,\"weight\":20,\"x-match\":\"all\"}/incoming//by-header/shop/eu";
const CONSENT: &str = "--replace Exchange/shop/eu/orders --replace Queue/shop/eu/incoming";

fn rows(word: &str, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("{word} {name}")).collect()
}

fn sorted(parts: &[Vec<String>]) -> Vec<String> {
    let mut all = parts.concat();
    all.sort();
    all
}

#[test]
fn from_empty_to_in_sync_and_the_second_apply_writes_nothing() {
    let Some(shop) = Shop::open("empty") else { return };
    shop.take_all("all");
    assert_eq!(shop.run("validate", 0).stdout, "17 documents are valid, 11 kinds known.\n");

    let plan = shop.rows("plan", 0);
    assert_eq!(plan.len(), 17);
    assert!(plan.iter().all(|row| row.starts_with("create planned ")), "{plan:#?}");
    assert!(shop.server.get(&shop.path("/vhosts/{v}")).is_null(), "a plan never writes");

    let done = shop.json("apply --yes", 0);
    assert!(done.rows().iter().all(|row| row.starts_with("create done ")), "{:#?}", done.rows());
    assert_eq!((done.rows().len(), done.requests("create"), done.writes()), (17, 17, 17));

    let text = shop.run("plan", 0).stdout;
    assert!(text.starts_with("All 17 objects are in sync. 17 objects seen in "), "{text}");
    let verbose = shop.rows("plan -v", 0);
    assert!(verbose.iter().all(|row| row.starts_with("none in-sync ")), "{verbose:#?}");
    let again = shop.json("apply --yes", 0);
    assert_eq!((again.rows().len(), again.writes()), (0, 0));
    assert!(shop.json("drift", 0).rows().is_empty());
}

#[test]
fn one_change_of_each_kind_is_shown_exactly_and_applied() {
    let Some(shop) = Shop::stocked("change") else { return };
    shop.take_all("changed");
    let consent = shop.named(CONSENT);
    let mild = [rows("update planned", &UPDATES), rows("create planned", &CREATES)];

    let refused = sorted(&[mild.concat(), rows("replace refused", &REPLACES)]);
    assert_eq!(shop.rows("plan", 5), refused);
    let plan = shop.json("plan", 5);
    let hint = plan.object("Queue incoming/change/eu")["hint"].as_str();
    assert_eq!(hint, Some("if its loss is acceptable: --replace Queue/change/eu/incoming"));
    assert_eq!(plan.paths("VHost change/eu"), ["description", "tags"]);
    assert_eq!(plan.paths("Policy long/change/eu"), ["definition.max-length", "definition.overflow"]);
    assert_eq!(plan.paths("Queue incoming/change/eu"), ["arguments.x-max-length"]);

    let swept = rows("replace planned", &[REPLACES[0], REPLACES[1], HEADERS_BINDING]);
    assert_eq!(shop.rows(&format!("plan {consent}"), 0), sorted(&[mild.concat(), swept]));

    let mild = [rows("update done", &UPDATES), rows("create done", &CREATES)];
    let without = sorted(&[mild.concat(), rows("replace refused", &REPLACES)]);
    assert_eq!(shop.rows("apply --yes", 5), without, "all else is done");
    let old = shop.server.get(&shop.path("/queues/{v}/incoming"));
    assert_eq!(old["arguments"]["x-max-length"], 10000);
}

#[test]
fn what_is_immutable_is_replaced_by_consent_and_its_bindings_come_back() {
    let Some(shop) = Shop::stocked("replace") else { return };
    shop.take_all("changed");
    let consent = shop.named(CONSENT);
    let done = shop.rows(&format!("apply --yes {consent}"), 0);
    let replaced = rows("replace done", &[REPLACES[0], REPLACES[1], HEADERS_BINDING]);
    let mild = [rows("update done", &UPDATES), rows("create done", &CREATES)];
    assert_eq!(done, sorted(&[mild.concat(), replaced]));

    let new = shop.server.get(&shop.path("/queues/{v}/incoming"));
    assert_eq!(new["arguments"]["x-max-length"], 20000);
    assert!(shop.rows("plan", 0).is_empty());
    assert_eq!(shop.json("apply --yes", 0).writes(), 0);
}
