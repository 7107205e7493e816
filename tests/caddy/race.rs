//! Two people edit at once: nobody's change is lost, and nothing is overwritten unseen.

use reqwest::Method;
use serde_json::{Value, json};

use crate::between::Between;
use crate::tree::Tree;

/// A tree that is reached through somebody who is faster by one write.
fn raced(tree: &mut Tree, method: Method, path: &'static str, body: Option<Value>) -> Between {
    let between = Between::start(&tree.server.url, move || {
        let other = crate::tree::server().expect("it is there");
        other.send(method, path, body);
    });
    tree.set("CADDY_URL", &between.url);
    between
}

/// The paths, without the hashes.
fn outline(writes: &[String]) -> Vec<String> {
    writes
        .iter()
        .map(|write| {
            let words: Vec<&str> = write.split(' ').collect();
            let status = words.last().copied().unwrap_or_default();
            format!("{} {} {} {status}", words[0], words[1], words[2])
        })
        .collect()
}

#[test]
fn a_change_beside_ours_survives_and_ours_is_made() {
    let Some(mut tree) = Tree::grown() else { return };
    let text = crate::tree::manifest("all", "tree.yaml").replace("level: ERROR", "level: WARN");
    tree.write("tree.yaml", &text);
    let between = raced(&mut tree, Method::PUT, "/config/logging/logs/quiet/include", Some(json!(["admin"])));
    assert_eq!(tree.rows("apply --yes", 0), ["update done Log quiet"]);

    let path = "PATCH /config/logging/logs/quiet \"/config/logging/logs/quiet";
    assert_eq!(outline(&between.writes()), [format!("{path} 412"), format!("{path} 200")]);
    let log = tree.server.get("/config/logging/logs/quiet");
    assert_eq!(log, json!({"level": "WARN", "exclude": ["admin.api"], "include": ["admin"]}));
}

#[test]
fn a_change_of_the_same_field_is_a_conflict_and_is_not_overwritten() {
    let Some(mut tree) = Tree::grown() else { return };
    let text = crate::tree::manifest("all", "tree.yaml").replace("body: hello", "body: ours");
    tree.write("tree.yaml", &text);
    let between = raced(&mut tree, Method::PATCH, "/id/greet/handle/0/body", Some(json!("theirs")));
    let report = tree.json("apply --yes", 3);
    let route = report.object("Route greet/bare");
    assert_eq!(route["result"], "conflict");
    let said = "`handle[0].body` was changed on the server between plan and write";
    assert_eq!(route["message"], said);
    assert_eq!(outline(&between.writes()), ["PATCH /id/greet \"/config/apps/http/servers/bare/routes/0 412"]);
    assert_eq!(tree.server.get("/id/greet/handle/0/body"), json!("theirs"));
}

#[test]
fn what_moved_is_deleted_where_it_stands_now() {
    let Some(mut tree) = Tree::grown() else { return };
    let first = json!({"handle": [{"handler": "static_response", "body": "theirs"}]});
    let between = raced(&mut tree, Method::PUT, "/config/apps/http/servers/bare/routes/0", Some(first));
    tree.run("delete --yes --only Route/bare/greet", 0);
    let path = "DELETE /id/greet \"/config/apps/http/servers/bare/routes";
    assert_eq!(outline(&between.writes()), [format!("{path}/0 412"), format!("{path}/1 200")]);
    let left = tree.server.get("/config/apps/http/servers/bare/routes");
    assert_eq!((&left[0]["handle"][0]["body"], &left[1]["@id"]), (&json!("theirs"), &json!("part")));
}

#[test]
fn what_somebody_else_made_first_is_no_surprise() {
    let Some(mut tree) = Tree::open() else { return };
    tree.document("Log", "{name: quiet}", "{level: ERROR}");
    let theirs = json!({"level": "DEBUG"});
    let between = raced(&mut tree, Method::PUT, "/config/logging/logs/quiet", Some(theirs.clone()));
    let report = tree.json("apply --yes", 3);
    assert_eq!(report.object("Log quiet")["message"], "it came into being between plan and write");
    assert_eq!(between.writes(), ["PUT /config/logging/logs/quiet -: 409"]);
    assert_eq!(tree.server.get("/config/logging/logs/quiet"), theirs);
}
