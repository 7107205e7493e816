//! From nothing to in sync, one change of each kind, and away again: the plan shows exactly these.

use serde_json::json;

use crate::tree::{Tree, manifest};

const ALL: [&str; 7] = [
    "App pki",
    "Config apps/tls/automation",
    "Log quiet",
    "Route greet/bare",
    "Route part/bare",
    "Server bare",
    "Server shop",
];

fn rows(word: &str, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("{word} {name}")).collect()
}

#[test]
fn from_empty_to_in_sync_and_the_second_apply_writes_nothing() {
    let Some(tree) = Tree::open() else { return };
    tree.take("all");
    assert_eq!(tree.run("validate", 0).stdout, "7 documents are valid, 6 kinds known.\n");
    assert_eq!(tree.rows("plan", 0), rows("create planned", &ALL));
    assert_eq!(tree.all(), json!({}), "a plan never writes");

    let done = tree.json("apply --yes", 0);
    assert_eq!(done.rows(), rows("create done", &ALL));
    assert_eq!((done.requests("create"), done.writes()), (7, 7));
    let routes = tree.server.get("/config/apps/http/servers/bare/routes");
    assert_eq!(routes[0]["@id"], "greet", "new routes stand in the order that the file asks for");
    assert_eq!(routes[1]["@id"], "part");

    let text = tree.run("plan", 0).stdout;
    assert!(text.starts_with("All 7 objects are in sync. 7 objects seen in "), "{text}");
    assert_eq!(tree.rows("plan -v", 0), rows("none in-sync", &ALL));
    assert_eq!(tree.json("apply --yes", 0).writes(), 0);
    assert!(tree.rows("drift", 0).is_empty());
}

#[test]
fn one_change_of_each_kind_is_shown_exactly_and_applied() {
    let Some(tree) = Tree::grown() else { return };
    tree.take("changed");
    let plan = tree.json("plan", 0);
    assert_eq!(plan.rows(), rows("update planned", &ALL));
    assert_eq!(plan.paths("Server shop"), ["routes[1].handle[0].body"]);
    assert_eq!(plan.paths("Server bare"), ["listen[0]"]);
    assert_eq!(plan.paths("Route greet/bare"), ["handle[0].body"]);
    assert_eq!(plan.paths("Route part/bare"), ["match[0].path[1]"]);
    assert_eq!(plan.paths("App pki"), ["certificate_authorities.shop.name"]);
    assert_eq!(plan.paths("Log quiet"), ["level"]);
    assert_eq!(plan.paths("Config apps/tls/automation"), ["renew_interval"]);

    let done = tree.json("apply --yes", 0);
    assert_eq!(done.rows(), rows("update done", &ALL));
    assert_eq!(tree.server.get("/config/apps/tls/automation/ocsp_interval"), json!("2h"));
    assert!(tree.rows("plan", 0).is_empty());
    assert_eq!(tree.json("apply --yes", 0).writes(), 0);
}

#[test]
fn one_of_many_is_deleted_and_its_neighbours_stay() {
    let Some(tree) = Tree::grown() else { return };
    let greet = "metadata: {server: bare, id: greet}";
    let absent = greet.replace("{server", "{annotations: {trueup/ensure: absent}, server");
    // What depended on it stays, without that.
    let text = manifest("all", "tree.yaml").replace(greet, &absent);
    let text = text.replace(", annotations: {trueup/depends-on: Route/bare/greet}", "");
    tree.write("tree.yaml", &text);
    assert_eq!(tree.rows("plan", 0), ["delete planned Route greet/bare"]);
    assert_eq!(tree.rows("apply --yes", 0), ["delete done Route greet/bare"]);
    let routes = tree.server.get("/config/apps/http/servers/bare/routes");
    assert_eq!(routes.as_array().map(Vec::len), Some(1));
    assert_eq!(routes[0]["@id"], "part");
    assert!(tree.rows("plan", 0).is_empty());
}

#[test]
fn the_whole_set_is_deleted() {
    let Some(tree) = Tree::grown() else { return };
    tree.run("delete", 5);
    assert_ne!(tree.server.get("/id/greet"), json!(null), "nobody agreed");
    assert_eq!(tree.rows("delete --yes", 0), rows("delete done", &ALL));
    let left = json!({"apps": {"http": {"servers": {}}, "tls": {}}, "logging": {"logs": {}}});
    assert_eq!(tree.all(), left);
    assert_eq!(tree.json("delete --yes", 0).writes(), 0);
}

#[test]
fn many_routes_of_one_server_come_change_and_go() {
    let Some(tree) = Tree::open() else { return };
    let server = "apiVersion: caddy\nkind: Server\nmetadata: {name: shop}\nspec: {listen: [\"127.0.0.1:{+1}\"], automatic_https: {disable: true}}\n";
    let route = |at: usize, body: &str| {
        format!(
            "---\napiVersion: caddy\nkind: Route\nmetadata: {{server: shop, id: r{at}}}\nspec: {{handle: [{{handler: static_response, body: {body}}}]}}\n"
        )
    };
    let routes = |body: &str| (0..60).map(|at| route(at, body)).collect::<String>();
    tree.write("a.yaml", &format!("{server}{}", routes("old")));
    tree.run("apply --yes", 0);
    tree.write("a.yaml", &format!("{server}{}", routes("new")));
    let done = tree.rows("apply --yes", 0);
    assert_eq!(done.iter().filter(|row| row.starts_with("update done Route ")).count(), 60);
    assert!(tree.rows("plan", 0).is_empty());
    // Each that goes moves those behind it, and so their versions.
    let gone = tree.rows("delete --yes --only Route/*", 0);
    assert_eq!(gone.iter().filter(|row| row.starts_with("delete done Route ")).count(), 60);
    assert_eq!(tree.server.get("/config/apps/http/servers/shop/routes"), json!([]));
}
