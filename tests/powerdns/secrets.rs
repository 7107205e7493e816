//! Keys of TSIG: the listing hides them, the server may make them, and no output shows one.

use serde_json::Value;

use crate::shop::{API_KEY, SHARED_KEY, Shop};

fn key(shop: &Shop, name: &str) -> Value {
    shop.server.get(&shop.named(&format!("/tsigkeys/shop-{name}.")))["key"].clone()
}

#[test]
fn a_key_of_the_servers_making_is_left_alone() {
    let Some(shop) = Shop::stocked("made") else { return };
    let made = key(&shop, "transfer");
    assert!(made.as_str().is_some_and(|key| key.len() > 20), "{made}");
    shop.run("apply --yes", 0);
    assert_eq!(key(&shop, "transfer"), made);
    shop.take("changed", "zones.yaml");
    shop.run("apply --yes", 5);
    assert_eq!(key(&shop, "transfer"), made, "another algorithm takes consent");
}

#[test]
fn a_key_that_changed_is_a_difference_that_nobody_sees() {
    let Some(mut shop) = Shop::stocked("key") else { return };
    assert_eq!(key(&shop, "shared"), SHARED_KEY);
    let other = "YW5vdGhlciBrZXkgdGhhbiB0aGUgb25lIGJlZm9yZSBpdA==";
    shop.set_env("SHARED_KEY", other);
    let plan = shop.run("plan -vv", 0);
    assert!(plan.stdout.contains(&shop.named("TSIGKey shop-shared")), "{}", plan.whole());
    let done = shop.run("apply --yes -vv", 0);
    assert_eq!(key(&shop, "shared"), other);
    for run in [plan, done] {
        let whole = run.whole();
        assert!(!whole.contains(SHARED_KEY) && !whole.contains(other), "{whole}");
    }
}

#[test]
fn no_output_shows_a_key() {
    let Some(shop) = Shop::stocked("hidden") else { return };
    let made = key(&shop, "transfer").as_str().expect("a text").to_owned();
    for line in ["get", "get TSIGKey --output json", "plan -vv", "plan -v --output json", "apply --yes -vv"] {
        let whole = shop.run(line, 0).whole();
        for secret in [made.as_str(), SHARED_KEY, API_KEY] {
            assert!(!whole.contains(secret), "{line}: {whole}");
        }
    }
    let keys: Value = serde_json::from_str(&shop.run("get TSIGKey --output json", 0).stdout).expect("JSON");
    let ours = keys["items"].as_array().into_iter().flatten();
    let mut ours = ours.filter(|item| item["value"]["id"] == shop.named("shop-transfer."));
    assert_eq!(ours.next().map(|item| &item["value"]["key"]), Some(&"(secret)".into()));
}

#[test]
fn without_the_variable_a_plan_works_and_what_has_the_key_keeps_it() {
    let Some(mut shop) = Shop::stocked("unset") else { return };
    shop.unset("SHARED_KEY");
    let plan = shop.json("plan", 0);
    assert_eq!(shop.rows_of(&plan), ["none in-sync TSIGKey shop-shared"]);
    let finding = &plan.object(&shop.named("TSIGKey shop-shared"))["findings"][0]["message"];
    assert_eq!(finding, "`key` was not compared: the secret `env:SHARED_KEY` is not set");
    assert_eq!(shop.json("apply --yes", 0).writes(), 0);
    assert_eq!(key(&shop, "shared"), SHARED_KEY);
}
