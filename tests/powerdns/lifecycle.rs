//! From empty to in sync, and one change of each kind: the plan shows exactly these.

use crate::shop::Shop;

/// All of the manifests, with what is due on them when nothing is there. The server makes an SOA record with
/// the zone, so its declaration is a change by the time that it is its turn.
const ALL: [&str; 15] = [
    "Autoprimary 2001:DB8::53/ns1.shop.test",
    "Metadata ALLOW-AXFR-FROM/shop.test.",
    "Metadata X-Owner/shop.test.",
    "RRset *.shop.test./CNAME/shop.test.",
    "RRset WWW.Shop.test/AAAA/shop.test.",
    "RRset _sip._tcp.shop.test./SRV/shop.test.",
    "RRset shop.test./MX/shop.test.",
    "RRset shop.test./SOA/shop.test.",
    "RRset shop.test./TXT/shop.test.",
    "RRset signed.shop.test./DS/shop.test.",
    "RRset www.shop.test./A/shop.test",
    "TSIGKey shop-shared",
    "TSIGKey shop-transfer",
    "Zone EU.shop.test",
    "Zone shop.test.",
];

/// What has no other way to change.
const REPLACED: [&str; 2] = ["Autoprimary 2001:DB8::53/ns1.shop.test", "TSIGKey shop-transfer"];
const CONSENT: &str = "--replace Autoprimary/2001:DB8::53/ns1.shop.test --replace TSIGKey/shop-transfer";

fn rows(word: &str, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("{word} {name}")).collect()
}

#[test]
fn from_empty_to_in_sync_and_the_second_apply_writes_nothing() {
    let Some(shop) = Shop::open("empty") else { return };
    shop.take_all("all");
    assert_eq!(shop.run("validate", 0).stdout, "15 documents are valid, 5 kinds known.\n");
    assert_eq!(shop.rows("plan", 0), rows("create planned", &ALL));
    assert!(shop.zone().is_null(), "a plan never writes");

    let done = shop.json("apply --yes", 0);
    let (made, soa): (Vec<_>, Vec<_>) =
        shop.rows_of(&done).into_iter().partition(|row| row.starts_with("create done "));
    assert_eq!((made.len(), soa), (14, vec!["update done RRset shop.test./SOA/shop.test.".to_owned()]));

    let text = shop.run("plan", 0).stdout;
    assert!(text.starts_with("All 15 objects are in sync. "), "{text}");
    assert_eq!(shop.rows("plan -v", 0), rows("none in-sync", &ALL));
    assert_eq!(shop.json("apply --yes", 0).writes(), 0);
    assert!(shop.rows("drift", 0).is_empty());

    let zone = shop.zone();
    assert_eq!((&zone["kind"], &zone["account"]), (&"Native".into(), &shop.named("shop").into()));
    let servers = shop.rrset("shop.test.", "NS").expect("of `nameservers`");
    assert_eq!(servers["records"].as_array().map(Vec::len), Some(2));
    let path = shop.named("/zones/eu.shop.test.?rrsets=false");
    let secondary = shop.server.get(&path);
    assert_eq!(secondary["slave_tsig_key_ids"][0], shop.named("shop-transfer."));
    assert_eq!(secondary["masters"][0], "2001:db8::53");
}

#[test]
fn one_change_of_each_is_shown_exactly_and_applied() {
    let Some(shop) = Shop::stocked("change") else { return };
    shop.take_all("changed");
    let kept =
        |name: &&str| REPLACED.contains(name) || ["TSIGKey shop-shared", "Zone EU.shop.test"].contains(name);
    let changed: Vec<&str> = ALL.into_iter().filter(|name| !kept(name)).collect();
    // The secondary needs a key that is not as it should be.
    let refused = [rows("none skipped", &["Zone EU.shop.test"]), rows("replace refused", &REPLACED)].concat();
    assert_eq!(shop.rows("plan", 5), [&refused[..], &rows("update planned", &changed)].concat());

    let plan = shop.json("plan", 5);
    let paths = |name: &str| {
        let paths = plan.paths(&shop.named(name)).into_iter();
        paths.map(|path| path.replace(&shop.named("shop"), "shop")).collect::<Vec<_>>()
    };
    assert_eq!(paths("Zone shop.test."), ["account", "soa_edit_api"]);
    assert_eq!(paths("RRset www.shop.test./A/shop.test"), ["records[content=\"192.0.2.1\"].disabled"]);
    assert_eq!(paths("RRset _sip._tcp.shop.test./SRV/shop.test."), ["ttl"]);
    assert_eq!(paths("Metadata ALLOW-AXFR-FROM/shop.test."), ["metadata[0]"]);
    let hosts = ["records[content=2001:db8::3]", "records[content=2001:db8::1]"];
    assert_eq!(paths("RRset WWW.Shop.test/AAAA/shop.test."), hosts);
    assert_eq!(shop.rows("apply --yes", 5), [&refused[..], &rows("update done", &changed)].concat());
    let consent = shop.named(CONSENT);
    let replaced = [rows("replace done", &REPLACED), rows("update done", &["Zone EU.shop.test"])].concat();
    assert_eq!(shop.rows(&format!("apply --yes {consent}"), 0), replaced);
    assert!(shop.rows("plan", 0).is_empty());
    assert_eq!(shop.json("apply --yes", 0).writes(), 0);
    let key = shop.server.get(&shop.named("/tsigkeys/shop-transfer."));
    assert_eq!(key["algorithm"], "hmac-sha512");
}
