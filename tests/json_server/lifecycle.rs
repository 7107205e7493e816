//! From empty to in sync, one change of each, and back to nothing.

use crate::site::{Site, manifest};

const ITEMS: [&str; 4] = ["Item comments/7", "Item tags/1", "Item tags/it's/odd #1", "Post Hello, world"];
const PROFILE: &str = "Singular profile";

fn rows(word: &str) -> Vec<String> {
    ITEMS.iter().map(|name| format!("{word} {name}")).collect()
}

#[test]
fn from_empty_to_in_sync_and_the_second_apply_writes_nothing() {
    let Some(site) = Site::open() else { return };
    site.take("all", "site.yaml");
    assert_eq!(site.run("validate", 0).stdout, "5 documents are valid, 3 kinds known.\n");
    let planned = [rows("create planned"), vec![format!("update planned {PROFILE}")]].concat();
    assert_eq!(site.rows("plan", 0), planned);
    assert_eq!(site.server.get("/tags"), serde_json::json!([]), "a plan never writes");

    let done = site.json("apply --yes", 0);
    assert_eq!(done.rows(), planned.iter().map(|row| row.replace("planned", "done")).collect::<Vec<_>>());
    assert_eq!(done.writes(), 5);
    let text = site.run("plan", 0).stdout;
    assert!(text.starts_with("All 5 objects are in sync. "), "{text}");
    assert_eq!(site.json("apply --yes", 0).writes(), 0);
    assert!(site.rows("drift", 0).is_empty());
}

#[test]
fn one_change_of_each_is_shown_exactly_and_applied() {
    let Some(site) = Site::stocked() else { return };
    site.take("changed", "site.yaml");
    let plan = site.json("plan", 0);
    assert_eq!(plan.rows(), [rows("update planned"), vec![format!("update planned {PROFILE}")]].concat());
    assert_eq!(plan.paths("Item tags/1"), ["style.colour"]);
    assert_eq!(plan.paths("Item tags/it's/odd #1"), ["words"]);
    assert_eq!(plan.paths("Post Hello, world"), ["views"]);
    assert_eq!(plan.paths(PROFILE), ["name"]);
    assert_eq!(site.json("apply --yes", 0).writes(), 5);
    assert!(site.rows("plan", 0).is_empty());
    assert_eq!(site.json("apply --yes", 0).writes(), 0);
}

#[test]
fn one_is_deleted_and_then_all_are() {
    let Some(site) = Site::stocked() else { return };
    site.server.post("/tags", serde_json::json!({"id": 2, "name": "theirs"}));
    let tag = "metadata: {collection: tags, id: 1}";
    let absent = tag.replace("metadata: {", "metadata: {annotations: {trueup/ensure: absent}, ");
    site.file("site.yaml", &manifest("all", "site.yaml").replace(tag, &absent));
    assert_eq!(site.rows("apply --yes", 0), ["delete done Item tags/1"]);
    assert_eq!(site.json("apply --yes", 0).writes(), 0, "absent it stays");

    // The last of all cannot be deleted, which is said; and what nobody declared is left alone.
    site.take("all", "site.yaml");
    let rows = site.rows("delete --yes", 5);
    assert_eq!(rows.len(), 4, "{rows:#?}");
    assert!(rows.contains(&format!("delete refused {PROFILE}")), "{rows:#?}");
    assert_eq!(site.server.get("/tags").as_array().map(Vec::len), Some(1));
}
