//! Pruning: what left the files leaves the virtual host; what the server made for itself stays.

use serde_json::json;

use crate::shop::Shop;

const SET: &str = "apiVersion: trueup/v1
kind: Set
metadata: {name: routes}
spec:
  scope:
  - {kind: Exchange, vhost: shop/eu, exclusive: true}
  - {kind: Queue, vhost: shop/eu, exclusive: true}
  - {kind: Binding, vhost: shop/eu, exclusive: true}
  max-deletes: 3
";

#[test]
fn what_left_the_files_leaves_the_virtual_host() {
    let Some(shop) = Shop::stocked("prune") else { return };
    shop.write("set.yaml", SET);
    assert_eq!(shop.rows("plan --prune", 0), [""; 0], "what is there is in the files, or the server's own");
    shop.server.put(&shop.path("/exchanges/{v}/left"), json!({"type": "fanout", "durable": true}));
    shop.server.put(&shop.path("/queues/{v}/left"), json!({"durable": true}));
    shop.server.post(&shop.path("/bindings/{v}/e/left/q/left"), json!({"routing_key": "x"}));
    shop.run("plan --prune --max-deletes 2", 5);
    let plan = shop.rows("plan --prune", 0);
    assert!(plan.len() == 3 && plan.iter().all(|row| row.starts_with("delete planned ")), "{plan:#?}");
    let report = shop.json("apply --prune --yes", 0);
    assert_eq!((report.requests("delete"), report.writes()), (3, 3));
    for gone in ["/exchanges/{v}/left", "/queues/{v}/left"] {
        assert!(shop.server.get(&shop.path(gone)).is_null(), "{gone}");
    }
    assert!(!shop.server.get(&shop.path("/exchanges/{v}/amq.topic")).is_null());
    assert_eq!(shop.json("apply --prune --yes", 0).writes(), 0);
}
