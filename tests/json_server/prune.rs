//! Pruning: an item that left the files leaves its collection, and those of other collections stay.

use serde_json::json;

use crate::site::Site;

const SET: &str = "apiVersion: trueup/v1
kind: Set
metadata: {name: tags}
spec: {scope: [{kind: Item, collection: tags, exclusive: true}], max-deletes: 1}
";

#[test]
fn an_item_that_left_the_files_leaves_its_collection() {
    let Some(site) = Site::stocked() else { return };
    site.file("set.yaml", SET);
    assert_eq!(site.rows("plan --prune", 0), [""; 0]);
    site.server.post("/tags", json!({"id": 2, "name": "left"}));
    site.server.post("/comments", json!({"id": 99, "body": "theirs"}));
    assert_eq!(site.rows("plan --prune", 0), ["delete planned Item tags/2"]);
    assert_eq!(site.rows("apply --prune --yes", 0), ["delete done Item tags/2"]);
    assert!(site.server.get("/tags/2").is_null());
    assert_eq!(site.server.get("/comments/99")["body"], "theirs");
    assert_eq!(site.server.get("/tags").as_array().map(Vec::len), Some(2), "what the files name stays");
    assert_eq!(site.json("apply --prune --yes", 0).writes(), 0);

    for id in [3, 4] {
        site.server.post("/tags", json!({"id": id, "name": "left"}));
    }
    assert_eq!(site.json("apply --prune --yes", 5).writes(), 0, "two are over the limit");
}
