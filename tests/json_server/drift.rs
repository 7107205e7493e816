//! What a person changed is repaired, and what a person added stays: at any depth, though the server replaces
//! what it is sent.

use serde_json::json;

use crate::site::Site;

#[test]
fn fields_that_no_file_names_survive_at_every_depth() {
    let Some(site) = Site::stocked() else { return };
    let id = site.post()["id"].clone();
    let theirs = json!({"id": id, "title": "Hello, world", "views": 9, "note": "theirs",
        "meta": {"author": {"name": "Ann", "mail": "ann@example.org"}, "draft": false}});
    site.server.put(&format!("/posts/{id}"), theirs.clone());
    site.server.put(
        "/profile",
        json!({"name": "Theirs", "links": {"home": "https://example.org", "feed": "/feed"}}),
    );

    assert_eq!(
        site.rows("drift", 2),
        ["update planned Post Hello, world", "update planned Singular profile"]
    );
    assert_eq!(site.json("drift", 2).paths("Post Hello, world"), ["views"]);
    site.run("apply --yes", 0);
    let mut repaired = theirs;
    repaired["views"] = json!(5);
    assert_eq!(site.post(), repaired);
    let profile = json!({"name": "A site", "links": {"home": "https://example.org", "feed": "/feed"}});
    assert_eq!(site.server.get("/profile"), profile);
    assert!(site.rows("drift", 0).is_empty());
}

#[test]
fn a_nested_change_loses_nothing_beside_it() {
    let Some(site) = Site::stocked() else { return };
    site.server.put("/tags/1", json!({"name": "news", "style": {"colour": "red", "font": {"size": 12, "face": "serif"}, "bold": true}}));
    site.take("changed", "site.yaml");
    site.run("apply --yes", 0);
    let style = json!({"colour": "blue", "font": {"size": 12, "face": "serif"}, "bold": true});
    assert_eq!(site.server.get("/tags/1")["style"], style);
}

#[test]
fn what_is_gone_is_made_again_with_what_went_along() {
    let Some(site) = Site::stocked() else { return };
    let id = site.post()["id"].clone();
    // The server deletes the comment with its post.
    site.server.delete(&format!("/posts/{id}"));
    assert_eq!(site.rows("plan", 0), ["create planned Item comments/7", "create planned Post Hello, world"]);
    site.run("apply --yes", 0);
    assert!(site.rows("plan", 0).is_empty());
    assert_eq!(site.server.get("/comments/7")["postId"], site.post()["id"]);
}
