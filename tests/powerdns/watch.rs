//! A running watch, and a person with PowerDNS's own tool.

use crate::shop::Shop;
use crate::tool::tool;
use crate::watching::Watching;

fn pdnsutil(words: &[&str]) {
    tool("powerdns.sh", &[&["util"], words].concat());
}

#[test]
fn what_a_person_deletes_and_edits_with_pdnsutil_is_repaired() {
    let Some(shop) = Shop::stocked("watch") else { return };
    let zone = shop.named("shop.test");
    let watch = Watching::start(&shop, &["--interval", "1s"]);
    let contents = |kind: &str| {
        let set = shop.rrset("www.shop.test.", kind)?;
        let mut contents: Vec<String> = set["records"]
            .as_array()?
            .iter()
            .filter_map(|record| Some(record["content"].as_str()?.into()))
            .collect();
        contents.sort();
        Some(contents)
    };
    let (a, aaaa) = (["192.0.2.1", "192.0.2.2"], ["2001:db8::1", "2001:db8::2"]);

    pdnsutil(&["delete-rrset", &zone, "www", "A"]);
    watch.until("the addresses are there again", || contents("A").is_some_and(|found| found == a));
    pdnsutil(&["replace-rrset", &zone, "www", "AAAA", "60", "2001:db8::bad"]);
    watch.until("the addresses are as they were", || contents("AAAA").is_some_and(|found| found == aaaa));
    pdnsutil(&["set-kind", &zone, "primary"]);
    watch.until("the zone is native again", || shop.zone()["kind"] == "Native");
    pdnsutil(&["delete-zone", &zone]);
    watch.until("the zone and its records are there again", || {
        !shop.zone().is_null() && contents("A").is_some_and(|found| found == a)
    });
    let differs = || !shop.command(&["drift"]).output().expect("the binary runs").status.success();
    watch.until("nothing differs", || !differs());
    drop(watch);
    assert!(shop.rows("drift", 0).is_empty());
}
