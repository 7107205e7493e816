//! Deleting: by `delete`, and by `ensure: absent`. Leaves first, and nothing that no document names.

use crate::shop::{Shop, manifest};

const MARK: &str = "metadata: {annotations: {trueup/ensure: absent}, ";

#[test]
fn the_whole_set_is_deleted_and_stays_so() {
    let Some(shop) = Shop::stocked("delete") else { return };
    shop.run("delete", 5);
    assert!(!shop.zone().is_null(), "nobody agreed");
    let report = shop.json("delete --yes", 0);
    let rows = report.rows();
    assert_eq!(rows.len(), 15, "{rows:#?}");
    assert!(rows.iter().all(|row| row.starts_with("delete done ")), "{rows:#?}");
    assert!(shop.zone().is_null());
    assert!(shop.server.get(&shop.named("/tsigkeys/shop-shared.")).is_null());
    assert_eq!(shop.json("delete --yes", 0).writes(), 0);
}

#[test]
fn one_of_many_is_deleted_and_its_neighbours_stay() {
    let Some(shop) = Shop::stocked("one") else { return };
    shop.set("theirs.shop.test.", "A", 60, &["192.0.2.9"]);
    for (file, what) in [
        ("records.yaml", "metadata: {zone: shop.test., name: WWW.Shop.test, type: AAAA}"),
        ("zones.yaml", "metadata: {zone: shop.test., kind: X-Owner}"),
        ("zones.yaml", "metadata: {name: shop-shared}"),
        ("zones.yaml", "metadata: {ip: \"2001:DB8::53\", nameserver: ns1.shop.test}"),
    ] {
        shop.take_all("all");
        shop.write(file, &manifest("all", file).replace(what, &what.replace("metadata: {", MARK)));
        let plan = shop.rows("plan", 0);
        assert!(plan.len() == 1 && plan[0].starts_with("delete planned "), "{plan:#?}");
        assert_eq!(shop.rows("apply --yes", 0), [plan[0].replace("planned", "done")]);
        assert_eq!(shop.json("apply --yes", 0).writes(), 0, "absent it stays");
        shop.take_all("all");
        shop.run("apply --yes", 0);
    }
    assert!(shop.rrset("theirs.shop.test.", "A").is_some());
    assert!(shop.rrset("shop.test.", "NS").is_some());
}
