//! A person's hand: what it changed is found and repaired, what it made beside ours is left alone.

use reqwest::Method;
use serde_json::json;

use crate::shop::Shop;

#[test]
fn a_persons_changes_are_found_and_repaired() {
    let Some(shop) = Shop::stocked("drift") else { return };
    shop.server.put(&shop.named("/zones/shop.test."), json!({"account": "theirs", "kind": "Master"}));
    shop.set("www.shop.test.", "AAAA", 300, &["2001:db8::1", "2001:db8::2", "2001:db8::3"]);
    shop.set("shop.test.", "MX", 300, &["10 mail.shop.test."]);
    shop.change(json!({"name": shop.named("*.shop.test."), "type": "CNAME", "changetype": "DELETE"}));
    shop.server.delete(&shop.named("/zones/shop.test./metadata/X-Owner"));
    shop.server.put(
        &shop.named("/zones/shop.test./metadata/ALLOW-AXFR-FROM"),
        json!({"metadata": ["10.0.0.0/8", "AUTO-NS", "192.0.2.0/24"]}),
    );
    shop.server.put(&shop.named("/tsigkeys/shop-shared."), json!({"key": "dGhlaXJzIGFuZCBub3Qgb3Vycw=="}));

    let found = [
        "create planned Metadata X-Owner/shop.test.",
        "create planned RRset *.shop.test./CNAME/shop.test.",
        "update planned Metadata ALLOW-AXFR-FROM/shop.test.",
        "update planned RRset WWW.Shop.test/AAAA/shop.test.",
        "update planned RRset shop.test./MX/shop.test.",
        "update planned TSIGKey shop-shared",
        "update planned Zone shop.test.",
    ];
    assert_eq!(shop.rows("drift", 2), found);
    let drift = shop.json("drift", 2);
    assert_eq!(drift.paths(&shop.named("Zone shop.test.")), ["account", "kind"]);
    let extra = &drift.object(&shop.named("RRset WWW.Shop.test/AAAA/shop.test."))["changes"][0];
    assert_eq!(
        (&extra["path"], &extra["reason"]),
        (&json!("records[content=2001:db8::3]"), &json!("list-owned"))
    );

    let done = found.map(|row| row.replace("planned", "done"));
    assert_eq!(shop.rows("apply --yes", 0), done);
    assert!(shop.rows("drift", 0).is_empty());
    assert_eq!(shop.zone()["kind"], "Native");
}

#[test]
fn what_nobody_declared_survives() {
    let Some(shop) = Shop::stocked("theirs") else { return };
    let comment = json!([{"content": "theirs", "account": "ann", "modified_at": 5}]);
    shop.server.put(&shop.named("/zones/shop.test."), json!({"api_rectify": true, "catalog": ""}));
    shop.set("theirs.shop.test.", "TXT", 60, &["\"theirs\""]);
    shop.change(
        json!({"name": shop.named("www.shop.test."), "type": "A", "changetype": "REPLACE", "ttl": 300,
        "comments": comment, "records": [
            {"content": "192.0.2.2", "disabled": false},
            {"content": "192.0.2.1", "disabled": true}]}),
    );
    let (path, value) = ("/zones/shop.test./metadata/X-Theirs", json!({"metadata": ["b", "a"]}));
    shop.server.put(&shop.named(path), value);
    shop.server.post("/tsigkeys", json!({"name": shop.named("shop-theirs"), "algorithm": "hmac-md5"}));
    assert!(shop.rows("plan", 0).is_empty());
    let serial = shop.zone()["serial"].as_u64();

    shop.take_all("changed");
    shop.run("apply --yes", 5);
    let zone = shop.zone();
    assert_eq!((&zone["api_rectify"], &zone["account"]), (&json!(true), &json!(shop.named("shop/eu"))));
    assert!(zone["serial"].as_u64() > serial, "a zone's serial never goes back");
    assert!(shop.rrset("theirs.shop.test.", "TXT").is_some());
    let hosts = shop.rrset("www.shop.test.", "A").expect("the hosts");
    assert_eq!(hosts["comments"], comment, "as it was, its time as well");
    assert_eq!(hosts["records"][0], json!({"content": "192.0.2.1", "disabled": false}));
    let metadata = shop.server.get(&shop.named("/zones/shop.test./metadata/X-Theirs"));
    assert_eq!(metadata["metadata"].as_array().map(Vec::len), Some(2));
    assert!(!shop.server.get(&shop.named("/tsigkeys/shop-theirs.")).is_null());
}

#[test]
fn records_that_nobody_enabled_are_seen() {
    let Some(shop) = Shop::stocked("disabled") else { return };
    shop.set("www.shop.test.", "A", 300, &["192.0.2.1", "192.0.2.2"]);
    let plan = shop.json("plan", 0);
    let changes = plan.paths(&shop.named("RRset www.shop.test./A/shop.test"));
    assert_eq!(changes, ["records[content=\"192.0.2.1\"].disabled"]);
    shop.run("apply --yes", 0);
    let hosts = shop.rrset("www.shop.test.", "A").expect("the hosts");
    assert_eq!(hosts["records"][0], json!({"content": "192.0.2.1", "disabled": true}));
}

#[test]
fn a_zone_that_is_gone_is_made_again_with_all_that_was_in_it() {
    let Some(shop) = Shop::stocked("gone") else { return };
    shop.server.request(Method::DELETE, &shop.named("/zones/shop.test."), None);
    let plan = shop.rows("plan", 0);
    assert_eq!(plan.len(), 11, "{plan:#?}");
    assert!(plan.iter().all(|row| row.starts_with("create planned ")), "{plan:#?}");
    shop.run("apply --yes", 0);
    assert!(shop.rows("plan", 0).is_empty());
}
