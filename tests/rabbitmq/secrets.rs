//! Passwords: sent when they are due, never lost, never shown.

use serde_json::json;

use crate::server::lets_in;
use crate::shop::{PASSWORD, Shop};

fn hash(shop: &Shop) -> serde_json::Value {
    shop.server.get(&shop.path("/users/{u}"))["password_hash"].clone()
}

#[test]
fn a_password_is_sent_with_what_changes_and_by_rotate_only() {
    let Some(shop) = Shop::stocked("rotate") else { return };
    assert!(lets_in(&shop.server, &shop.bob(), PASSWORD));
    let first = hash(&shop);
    shop.run("apply --yes", 0);
    assert_eq!(hash(&shop), first, "a password is no difference");

    let rotate = shop.named("--rotate User/bob");
    assert_eq!(shop.rows(&format!("plan {rotate}"), 0), ["update planned User bob"]);
    let report = shop.json(&format!("apply --yes {rotate}"), 0);
    assert_eq!((report.requests("update"), report.writes()), (1, 1));
    assert_ne!(hash(&shop), first, "a hash has new salt");
    assert!(lets_in(&shop.server, &shop.bob(), PASSWORD));
    assert!(shop.rows("plan", 0).is_empty());
    let slip = shop.run("apply --yes --rotate User/bbo", 65);
    assert!(slip.stderr.contains("`--rotate User/bbo` names no document"), "{}", slip.stderr);
}

#[test]
fn an_update_keeps_the_password_of_a_file_that_has_none() {
    let Some(shop) = Shop::open("keep") else { return };
    shop.server.put(&shop.path("/users/{u}"), json!({"password": "by hand", "tags": "monitoring"}));
    let before = hash(&shop);
    shop.write(
        "a.yaml",
        "apiVersion: rabbitmq\nkind: User\nmetadata: {name: bob}\nspec: {tags: [management]}\n",
    );
    assert_eq!(shop.rows("apply --yes", 0), ["update done User bob"]);
    assert_eq!(hash(&shop), before);
    assert!(lets_in(&shop.server, &shop.bob(), "by hand"));
}

#[test]
fn without_the_variable_a_plan_works_and_an_apply_refuses_that_object_alone() {
    let Some(mut shop) = Shop::stocked("unset") else { return };
    shop.unset("BOB_PASSWORD");
    assert!(shop.rows("plan", 0).is_empty());
    shop.take("changed", "shop.yaml");
    let before = hash(&shop);
    let report = shop.json("apply --yes", 5);
    let (done, rest): (Vec<_>, Vec<_>) =
        report.rows().into_iter().partition(|row| row.starts_with("update done "));
    assert_eq!((done.len(), rest), (7, vec!["update refused User bob-unset".to_owned()]));
    let bob = report.object("User bob-unset");
    assert_eq!(bob["message"], "the secret `env:BOB_PASSWORD` is not set");
    assert_eq!(bob["hint"], "set the variable `BOB_PASSWORD`");
    assert_eq!(hash(&shop), before);
}

#[test]
fn get_shows_live_objects_and_no_secret() {
    let Some(shop) = Shop::alone("get") else { return };
    let hash = hash(&shop);
    let all = shop.run("get", 0).stdout;
    let user = shop.run_words(&["get", &format!("User/{}", shop.bob()), "--output", "json"], 0).stdout;
    for text in [&all, &user] {
        assert!(text.contains(&shop.bob()), "{text}");
        assert!(!text.contains(hash.as_str().expect("a text")), "{text}");
        assert!(!text.contains("s3cr3t"), "{text}");
    }
    let user: serde_json::Value = serde_json::from_str(&user).expect("JSON");
    assert_eq!(user["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(user["items"][0]["value"]["password_hash"], "(secret)");
    assert!(all.contains("~lyOZYA"), "the id that the server computes: {all}");
}
