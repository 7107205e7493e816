//! What others put into the tree is left alone, and found where it differs from what a file says.

use reqwest::Method;
use serde_json::json;

use crate::tree::Tree;

#[test]
fn what_nobody_declared_survives() {
    let Some(tree) = Tree::grown() else { return };
    let server = &tree.server;
    let theirs = json!({"listen": [format!("127.0.0.1:{}", tree.port(2) + 40)]});
    server.put("/config/apps/http/servers/theirs", theirs.clone());
    server.put("/config/apps/http/servers/shop/idle_timeout", json!("7m"));
    server.put("/config/apps/http/servers/shop/routes/0/terminal", json!(true));
    let route = json!({"@id": "theirs", "handle": [{"handler": "static_response"}]});
    server.put("/config/apps/http/servers/bare/routes/1", route.clone());
    server.put("/id/greet/group", json!("theirs"));
    server.put("/config/apps/tls/automation/storage_clean_interval", json!("9h"));
    assert!(tree.rows("plan", 0).is_empty());

    tree.take("changed");
    tree.run("apply --yes", 0);
    assert_eq!(server.get("/config/apps/http/servers/theirs"), theirs);
    let shop = server.get("/config/apps/http/servers/shop");
    assert_eq!((&shop["idle_timeout"], &shop["routes"][0]["terminal"]), (&json!("7m"), &json!(true)));
    assert_eq!(shop["routes"][1]["handle"][0]["body"], "open from nine");
    let bare = server.get("/config/apps/http/servers/bare/routes");
    assert_eq!((&bare[0]["group"], &bare[1], &bare[2]["@id"]), (&json!("theirs"), &route, &json!("part")));
    assert_eq!(server.get("/config/apps/tls/automation/storage_clean_interval"), json!("9h"));
}

#[test]
fn a_persons_changes_are_found_and_repaired() {
    let Some(tree) = Tree::grown() else { return };
    let server = &tree.server;
    server.send(Method::PATCH, "/config/logging/logs/quiet/level", Some(json!("INFO")));
    server.delete("/id/part");
    server.delete("/config/apps/pki");
    server.put("/config/apps/http/servers/shop/routes/0", json!({"terminal": true}));
    let found = [
        "create planned App pki",
        "create planned Route part/bare",
        "update planned Log quiet",
        "update planned Server shop",
    ];
    assert_eq!(tree.rows("drift", 2), found);
    tree.run("apply --yes", 0);
    assert!(tree.rows("drift", 0).is_empty());
    let routes = server.get("/config/apps/http/servers/shop/routes");
    assert_eq!(routes.as_array().map(Vec::len), Some(2), "a server's own list is all that it has");
}

#[test]
fn what_carries_an_id_is_changed_where_it_stands_and_never_made() {
    let Some(tree) = Tree::open() else { return };
    tree.document("Object", "{id: teapot}", "{body: tea}");
    let plan = tree.json("plan", 5);
    assert_eq!(
        plan.object("Object teapot")["message"],
        "it does not exist, and the API has no way to create a Object"
    );

    let handler = json!({"@id": "teapot", "handler": "static_response", "status_code": "418"});
    let deep = json!({"listen": [format!("127.0.0.1:{}", tree.port(1))],
        "routes": [{"handle": [{"handler": "subroute", "routes": [{"handle": [handler]}]}]}]});
    tree.server.put("/config/apps/http/servers/shop", deep);
    assert_eq!(tree.rows("apply --yes", 0), ["update done Object teapot"]);
    let whole = json!({"@id": "teapot", "body": "tea", "handler": "static_response", "status_code": "418"});
    assert_eq!(tree.server.get("/id/teapot"), whole);
    let live: serde_json::Value =
        serde_json::from_str(&tree.run("get Object --output json", 0).stdout).expect("JSON");
    assert_eq!(live["items"][0]["value"], whole);
    assert_eq!(tree.rows("delete --yes", 0), ["delete done Object teapot"]);
}
