//! Deleting: by `delete`, and by `ensure: absent`. Leaves first, and nothing that no document names.

use serde_json::json;

use crate::shop::{Shop, manifest};

/// The manifests, each object marked as one that must not be there.
fn marked_absent(name: &str) -> String {
    let mark = "metadata: {annotations: {trueup/ensure: absent}, ";
    manifest("all", name).replace("metadata: {", mark)
}

fn all_are_deleted(shop: &Shop, line: &str) {
    let report = shop.json(line, 0);
    let rows = report.rows();
    assert_eq!(rows.len(), 17, "{rows:#?}");
    assert!(rows.iter().all(|row| row.starts_with("delete done ")), "{rows:#?}");
    // Had a parent gone first, its children would have gone with it. A topic permission has no other way.
    assert_eq!((report.requests("delete"), report.writes()), (16, 16));
    assert!(shop.server.get(&shop.path("/vhosts/{v}")).is_null());
    assert!(shop.server.get(&shop.path("/users/{u}")).is_null());
}

#[test]
fn the_whole_set_is_deleted_in_reverse_order() {
    let Some(shop) = Shop::stocked("delete") else { return };
    shop.run("delete", 5);
    assert!(!shop.server.get(&shop.path("/queues/{v}/dead")).is_null(), "nobody agreed");
    all_are_deleted(&shop, "delete --yes");
    assert_eq!(shop.json("delete --yes", 0).writes(), 0);
}

#[test]
fn what_must_be_absent_is_deleted_and_stays_so() {
    let Some(shop) = Shop::stocked("absent") else { return };
    for name in ["shop.yaml", "routes.yaml"] {
        shop.write(name, &marked_absent(name));
    }
    let plan = shop.rows("plan", 0);
    assert_eq!(plan.len(), 17);
    assert!(plan.iter().all(|row| row.starts_with("delete planned ")), "{plan:#?}");
    all_are_deleted(&shop, "apply --yes");
    assert!(shop.rows("plan", 0).is_empty());
}

#[test]
fn one_of_many_is_deleted_and_its_neighbours_stay() {
    let Some(shop) = Shop::stocked("neighbour") else { return };
    shop.server.put(&shop.path("/queues/{v}/theirs"), json!({"durable": true}));
    shop.server.post(&shop.path("/bindings/{v}/e/unrouted/q/theirs"), json!({"routing_key": "all"}));
    let routes = manifest("all", "routes.yaml");
    let dead = "metadata: {vhost: shop/eu, name: dead}";
    let bound = "metadata: {vhost: shop/eu, source: unrouted,";
    let absent =
        |text: &str| text.replace("metadata: {", "metadata: {annotations: {trueup/ensure: absent}, ");
    shop.write("routes.yaml", &routes.replace(dead, &absent(dead)).replace(bound, &absent(bound)));

    let gone = ["delete done Binding {}/dead//unrouted/shop/eu", "delete done Queue dead/shop/eu"];
    assert_eq!(shop.rows("apply --yes", 0), gone);
    let theirs = shop.server.get(&shop.path("/bindings/{v}/e/unrouted/q/theirs"));
    assert_eq!(theirs.as_array().map(Vec::len), Some(1));
    assert!(!shop.server.get(&shop.path("/queues/{v}/incoming")).is_null());
}
