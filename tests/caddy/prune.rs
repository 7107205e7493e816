//! Pruning: a route that left the files leaves its server, and those of other servers stay.

use serde_json::json;

use crate::tree::Tree;

const SET: &str = "apiVersion: trueup/v1
kind: Set
metadata: {name: routes}
spec: {scope: [{kind: Route, server: bare, exclusive: true}], max-deletes: 1}
";

#[test]
fn a_route_that_left_the_files_leaves_its_server() {
    let Some(tree) = Tree::grown() else { return };
    tree.write("set.yaml", SET);
    assert_eq!(tree.rows("plan --prune", 0), [""; 0]);
    let route = |id: &str| json!({"@id": id, "handle": [{"handler": "static_response"}]});
    let theirs = json!({"listen": [format!("127.0.0.1:{}", tree.port(2) + 40)], "routes": [route("theirs")]});
    tree.server.put("/config/apps/http/servers/theirs", theirs.clone());
    tree.server.post("/config/apps/http/servers/bare/routes", route("left"));
    let unnamed = json!({"handle": [{"handler": "static_response"}]});
    tree.server.post("/config/apps/http/servers/bare/routes", unnamed.clone());

    assert_eq!(tree.rows("plan --prune", 0), ["delete planned Route left/bare"]);
    assert_eq!(tree.rows("apply --prune --yes", 0), ["delete done Route left/bare"]);
    let bare = tree.server.get("/config/apps/http/servers/bare/routes");
    let ids: Vec<_> = bare.as_array().expect("a list").iter().map(|route| &route["@id"]).collect();
    assert_eq!(ids, [&json!("greet"), &json!("part"), &json!(null)], "a route without an id is no object");
    assert_eq!(tree.server.get("/config/apps/http/servers/theirs"), theirs);
    assert_eq!(tree.json("apply --prune --yes", 0).writes(), 0);

    for id in ["one", "two"] {
        tree.server.post("/config/apps/http/servers/bare/routes", route(id));
    }
    assert_eq!(tree.json("apply --prune --yes", 5).writes(), 0, "two are over the limit");
}
