//! Pruning: records that left the files leave the zone; those that the server made with it stay.

use crate::shop::Shop;

const SET: &str = "apiVersion: trueup/v1
kind: Set
metadata: {name: records}
spec: {scope: [{kind: RRset, zone: shop.test., exclusive: true}], max-deletes: 1}
";

#[test]
fn records_that_left_the_files_leave_the_zone() {
    let Some(shop) = Shop::stocked("prune") else { return };
    shop.write("set.yaml", SET);
    assert_eq!(shop.rows("plan --prune", 0), [""; 0], "what is there is in the files, or the server's own");
    shop.set("left.shop.test.", "A", 60, &["192.0.2.9"]);
    let plan = shop.rows("plan --prune", 0);
    assert!(plan.len() == 1 && plan[0].starts_with("delete planned "), "{plan:#?}");
    assert_eq!(shop.rows("apply --prune --yes", 0), [plan[0].replace("planned", "done")]);
    assert!(shop.rrset("left.shop.test.", "A").is_none());
    assert!(shop.rrset("shop.test.", "NS").is_some() && shop.rrset("shop.test.", "SOA").is_some());
    assert_eq!(shop.json("apply --prune --yes", 0).writes(), 0);

    shop.set("left.shop.test.", "A", 60, &["192.0.2.9"]);
    shop.set("more.shop.test.", "A", 60, &["192.0.2.9"]);
    shop.run("apply --prune --yes", 5);
    assert!(shop.rrset("left.shop.test.", "A").is_some(), "two are over the limit");
}
