//! A person's hand: what it changed is found and repaired, what it made beside ours is left alone.

use serde_json::json;

use crate::shop::Shop;

#[test]
fn a_persons_changes_are_found_and_repaired() {
    let Some(shop) = Shop::stocked("drift") else { return };
    let (server, path) = (&shop.server, |text: &str| shop.path(text));
    let permission = json!({"configure": ".*", "write": "^orders", "read": ".*"});
    server.put(&path("/permissions/{v}/{u}"), permission);
    let policy = json!({"pattern": "^long\\.", "apply-to": "queues", "priority": 3,
        "definition": {"max-length": 10000, "overflow": "reject-publish", "expires": 5000}});
    server.put(&path("/policies/{v}/long"), policy);
    server.put(&path("/vhost-limits/{v}/max-queues"), json!({"value": 5}));
    server.delete(&path("/bindings/{v}/e/orders/q/incoming/order%2E%2523"));
    server.delete(&path("/queues/{v}/dead"));
    server.put(&path("/queues/{v}/dead"), json!({"durable": false}));

    let found = [
        "create planned Binding {}/dead//unrouted/shop/eu",
        "create planned Binding {}/incoming/order.#/orders/shop/eu",
        "replace refused Queue dead/shop/eu",
        "update planned Permission bob/shop/eu",
        "update planned Policy long/shop/eu",
        "update planned VHostLimit max-queues/shop/eu",
    ];
    assert_eq!(shop.rows("drift", 5), found);
    assert_eq!(shop.rows("drift --exclude Queue/*", 2).len(), 5);
    let drift = shop.json("drift", 5);
    let expires = drift.object("Policy long/drift/eu")["changes"][0].clone();
    assert_eq!((&expires["path"], &expires["reason"]), (&json!("definition.expires"), &json!("closed")));

    shop.run(&shop.named("apply --yes --replace Queue/shop/eu/dead"), 0);
    assert!(shop.rows("drift", 0).is_empty());
    let repaired = server.get(&path("/queues/{v}/dead"));
    assert_eq!(repaired["durable"], true);
}

#[test]
fn what_nobody_declared_survives() {
    let Some(shop) = Shop::stocked("theirs") else { return };
    let (server, path) = (&shop.server, |text: &str| shop.path(text));
    server.put(&path("/queues/{v}/theirs"), json!({"durable": true, "arguments": {"x-max-length": 7}}));
    server.put(&path("/policies/{v}/theirs"), json!({"pattern": "^t", "definition": {"expires": 9000000}}));
    server.post(&path("/bindings/{v}/e/orders/q/incoming"), json!({"routing_key": "theirs"}));
    server.put(&path("/users/{u}%2Ftheirs"), json!({"password": "theirs", "tags": "monitoring"}));
    server.put(&path("/vhost-limits/{v}/max-connections"), json!({"value": 3}));
    let hash =
        |server: &crate::server::Server| server.get(&path("/users/{u}%2Ftheirs"))["password_hash"].clone();
    let before = hash(server);
    assert!(shop.rows("plan", 0).is_empty());

    shop.take("changed", "shop.yaml");
    shop.run("apply --yes", 0);
    assert_eq!(server.get(&path("/queues/{v}/theirs"))["arguments"]["x-max-length"], 7);
    assert!(!server.get(&path("/policies/{v}/theirs")).is_null());
    let bindings = server.get(&path("/bindings/{v}/e/orders/q/incoming"));
    assert_eq!(bindings.as_array().map(Vec::len), Some(2));
    assert_eq!(hash(server), before);
    let limits = server.get(&path("/vhost-limits/{v}"));
    assert_eq!(limits[0]["value"], json!({"max-connections": 3, "max-queues": 200}));
}

#[test]
fn fields_that_the_file_does_not_name_keep_their_values() {
    let Some(shop) = Shop::open("fields") else { return };
    let (server, path) = (&shop.server, |text: &str| shop.path(text));
    server.put(&path("/vhosts/{v}"), json!({"description": "theirs", "tags": "a,b"}));
    server
        .put(&path("/policies/{v}/p"), json!({"pattern": "^p", "priority": 7, "definition": {"expires": 9}}));
    let vhost = "apiVersion: rabbitmq\nkind: VHost\nmetadata: {name: shop/eu}\nspec: {tags: [b, c]}\n---\n";
    let policy = "apiVersion: rabbitmq\nkind: Policy\nmetadata: {vhost: shop/eu, name: p}\nspec: {pattern: ^q, definition: {expires: 9}}\n";
    shop.write("a.yaml", &format!("{vhost}{policy}"));
    assert_eq!(shop.rows("apply --yes", 0), ["update done Policy p/shop/eu", "update done VHost shop/eu"]);

    let vhost = server.get(&path("/vhosts/{v}"));
    assert_eq!((&vhost["description"], &vhost["tags"]), (&json!("theirs"), &json!(["b", "c"])));
    let policy = server.get(&path("/policies/{v}/p"));
    let kept = (&policy["pattern"], &policy["priority"], &policy["definition"]);
    assert_eq!(kept, (&json!("^q"), &json!(7), &json!({"expires": 9})));
}
