//! Wrong input is said in Caddy's own words, once, and changes nothing.

use reqwest::Method;
use serde_json::json;

use crate::tree::Tree;

#[test]
fn a_configuration_that_caddy_cannot_load_changes_nothing() {
    let Some(tree) = Tree::grown() else { return };
    let before = tree.all();
    for (kind, name, spec, role, said) in [
        ("Server", "{name: bad}", "{lissten: [\":1\"]}", "create", "unknown field \"lissten\""),
        ("Server", "{name: shop}", "{listen: [\"a/b/c:1-x\"]}", "update", "invalid"),
        ("App", "{name: nosuch}", "{}", "create", "unknown module: nosuch"),
        ("Log", "{name: quiet}", "{level: LOUD}", "update", "unrecognized log level: loud"),
        ("Route", "{server: bare, id: greet}", "{handle: [{handler: no}]}", "update", "unknown module"),
        ("Config", "{path: apps/tls/automation}", "{renew: soon}", "update", "unknown field \"renew\""),
        ("Config", "{path: apps/none/a/b}", "{a: 1}", "create", "unknown module: none"),
    ] {
        tree.file("tree.yaml", "");
        tree.document(kind, name, spec);
        let report = tree.json("apply --yes", 1);
        let object = report.objects().next().expect("one object");
        let message = object["message"].as_str().expect("a message");
        assert!(
            message.contains("the server answered 500 Internal Server Error: loading new config: "),
            "{message}"
        );
        assert!(message.contains(said), "{message}");
        assert_eq!((report.requests(role), report.writes()), (1, 1), "it is not sent again: {message}");
        assert_eq!(tree.all(), before, "{message}");
    }
}

#[test]
fn an_id_that_stands_elsewhere_is_not_taken_for_ours() {
    let Some(tree) = Tree::grown() else { return };
    let before = tree.all();
    tree.file("tree.yaml", "");
    tree.document("Route", "{server: shop, id: greet}", "{terminal: true}");
    for line in ["plan", "apply --yes"] {
        let report = tree.json(line, 1);
        let message = report.object("Route greet/shop")["message"].as_str().expect("a message").to_owned();
        assert!(message.ends_with("the server answered with another object: `bare/greet`"), "{message}");
    }
    assert_eq!(tree.all(), before);
}

#[test]
fn a_route_of_a_server_that_nobody_makes_is_not_asked_for() {
    let Some(tree) = Tree::open() else { return };
    tree.document("Route", "{server: nowhere, id: a}", "{}");
    let report = tree.json("apply --yes", 1);
    assert_eq!(report.object("Route a/nowhere")["message"], "its parent `Server nowhere` does not exist");
    assert_eq!(tree.all(), json!({}));
}

#[test]
fn paths_that_lead_elsewhere_are_refused_offline() {
    let Some(tree) = Tree::open() else { return };
    for path in ["/apps", "apps/", "apps//http", "apps/../admin", ".", "\"\""] {
        tree.document("Config", &format!("{{path: {path}}}"), "{}");
        for verb in ["validate", "apply --yes"] {
            let run = tree.run(verb, 65);
            assert!(run.stderr.contains("a.yaml:3:"), "{}", run.whole());
            assert!(run.stderr.contains("hint: in a URL"), "{}", run.whole());
        }
    }
}

/// Caddy takes no condition about a path with a space in it.
#[test]
fn a_name_with_a_space_is_made_and_read_and_its_change_refused_in_words() {
    let Some(tree) = Tree::open() else { return };
    tree.document("Log", "{name: two words}", "{level: ERROR}");
    assert_eq!(tree.rows("apply --yes", 0), ["create done Log two words"]);
    assert!(tree.rows("plan", 0).is_empty());
    tree.document("Log", "{name: two words}", "{level: WARN}");
    let report = tree.json("apply --yes", 1);
    let message = report.object("Log two words")["message"].as_str().expect("a message").to_owned();
    assert!(message.contains("400 Bad Request: malformed If-Match header"), "{message}");
    assert_eq!(tree.server.get("/config/logging/logs/two%20words"), json!({"level": "ERROR"}));
}

#[test]
fn accounts_of_certificate_authorities_reach_no_output() {
    let Some(mut tree) = Tree::open() else { return };
    tree.set("MAC_KEY", "c2VjcmV0LWtleQ");
    let issuer = "{module: acme, external_account: {key_id: us, mac_key: !secret env:MAC_KEY}}";
    tree.document("App", "{name: tls}", &format!("{{automation: {{policies: [{{issuers: [{issuer}]}}]}}}}"));
    for line in ["plan", "plan --output json", "apply --yes", "plan -v", "get App", "get App --output json"] {
        let run = tree.run(line, 0);
        assert!(!run.whole().contains("c2VjcmV0LWtleQ"), "{}", run.whole());
    }
    let issuer = "/config/apps/tls/automation/policies/0/issuers/0/external_account";
    tree.server.send(Method::PATCH, &format!("{issuer}/mac_key"), Some(json!("b3RoZXItc2VjcmV0")));
    let drift = tree.run("drift", 2);
    assert!(drift.stdout.contains("mac_key"), "{}", drift.whole());
    tree.unset("MAC_KEY");
    let without = tree.run("drift", 0);
    assert!(without.stdout.contains("not compared"), "{}", without.whole());
    for secret in ["c2VjcmV0LWtleQ", "b3RoZXItc2VjcmV0"] {
        assert!(!drift.whole().contains(secret), "{}", drift.whole());
        assert!(!without.whole().contains(secret), "{}", without.whole());
    }
}
