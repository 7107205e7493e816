//! A running watch, and a person with RabbitMQ's own tool.

use serde_json::json;

use crate::shop::Shop;
use crate::tool::tool;
use crate::watching::Watching;

fn rabbitmqctl(words: &[&str]) {
    tool("rabbitmq.sh", &[&["ctl"], words].concat());
}

#[test]
fn what_a_person_deletes_and_edits_with_rabbitmqctl_is_repaired() {
    let Some(shop) = Shop::stocked("watch") else { return };
    let (server, path, vhost) = (&shop.server, |text: &str| shop.path(text), shop.vhost());
    let policy = json!({"max-length": 10000, "overflow": "reject-publish"});
    let watch = Watching::start(&shop, &["--interval", "1s"]);

    rabbitmqctl(&["delete_queue", "--vhost", &vhost, "dead"]);
    watch.until("the queue is there again", || server.get(&path("/queues/{v}/dead"))["durable"] == true);
    let bound = || server.get(&path("/queues/{v}/dead/bindings")).as_array().map(Vec::len) == Some(2);
    watch.until("its binding is there again", bound);

    rabbitmqctl(&[
        "set_policy",
        "--vhost",
        &vhost,
        "--apply-to",
        "queues",
        "long",
        "^short",
        r#"{"expires": 5000}"#,
    ]);
    let level = || {
        let found = server.get(&path("/policies/{v}/long"));
        found["pattern"] == "^long\\." && found["definition"] == policy
    };
    watch.until("the policy is as it was", level);

    rabbitmqctl(&["clear_permissions", "--vhost", &vhost, &shop.bob()]);
    watch.until("the permission is back", || server.get(&path("/permissions/{v}/{u}"))["read"] == ".*");
    rabbitmqctl(&["set_user_tags", &shop.bob(), "administrator"]);
    watch.until("the tags are back", || server.get(&path("/users/{u}"))["tags"] == json!(["monitoring"]));
    let differs = || !shop.command(&["drift"]).output().expect("the binary runs").status.success();
    watch.until("nothing differs", || !differs());
    drop(watch);
    assert!(shop.rows("drift", 0).is_empty());
}
