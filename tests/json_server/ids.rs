//! Ids: numbers of the server's making, numbers and texts of ours, and many of them on pages.

use std::fmt::Write as _;

use serde_json::json;

use crate::site::Site;

fn item(collection: &str, id: &str) -> String {
    format!(
        "---\napiVersion: json-server\nkind: Item\nmetadata: {{collection: {collection}, id: {id}}}\nspec: {{name: x}}\n"
    )
}

#[test]
fn an_id_of_the_servers_making_is_a_number_that_others_refer_to() {
    let Some(site) = Site::stocked() else { return };
    let post = site.post();
    assert!(post["id"].is_u64(), "{post}");
    assert_eq!(site.server.get("/comments/7")["postId"], post["id"]);
}

#[test]
fn a_number_and_its_text_are_one_id() {
    let Some(site) = Site::open() else { return };
    site.server.post("/tags", json!({"id": 8, "name": "x"}));
    site.server.post("/tags", json!({"id": "9", "name": "x"}));
    let ours = [item("tags", "\"8\""), item("tags", "9")].concat();
    site.file("a.yaml", &ours);
    assert!(site.rows("plan", 0).is_empty());
    // By a listing as by reads of their own.
    site.file("a.yaml", &(ours + &(20..40).map(|id| item("tags", &id.to_string())).collect::<String>()));
    assert_eq!(site.rows("plan", 0).len(), 20);
    assert_eq!(site.json("apply --yes", 0).writes(), 20);
    site.file("a.yaml", &[item("tags", "20"), item("tags", "\"20\"")].concat());
    let told = site.run("validate", 65).stderr;
    assert!(told.contains("`Item tags/20` is described twice"), "{told}");
}

#[test]
fn two_of_one_name_are_an_error_that_names_both() {
    let Some(site) = Site::stocked() else { return };
    site.server.post("/posts", json!({"title": "Hello, world"}));
    let plan = site.json("plan", 1);
    let message = plan.object("Post Hello, world")["message"].clone();
    assert!(
        message.as_str().is_some_and(|m| m.starts_with("2 objects answer to `Post Hello, world`: ids ")),
        "{message}"
    );
}

#[test]
fn what_stands_on_the_third_page_is_found() {
    let Some(site) = Site::open() else { return };
    let mut text = String::new();
    for id in 1..=1200 {
        write!(text, "{}", item("tags", &id.to_string())).expect("a string takes all");
    }
    site.file("a.yaml", &text);
    assert_eq!(site.json("apply --yes", 0).writes(), 1200);
    let plan = site.json("plan", 0);
    assert!(plan.rows().is_empty());
    assert_eq!((plan.0["summary"]["seen"].as_u64(), plan.requests("total")), (Some(1200), 3));
}

#[test]
fn without_its_url_nothing_is_asked() {
    let Some(mut site) = Site::stocked() else { return };
    site.unset("JSON_SERVER_URL");
    let told = site.run("plan", 65).stderr;
    assert!(told.contains("the environment variable `JSON_SERVER_URL` is not set"), "{told}");
}

#[test]
fn what_the_file_does_not_hold_is_said_and_the_rest_is_done() {
    let Some(site) = Site::open() else { return };
    let singular = "---\napiVersion: json-server\nkind: Singular\nmetadata: {name: none}\nspec: {a: 1}\n";
    site.file("a.yaml", &[&item("tags", "1"), &item("none", "1"), singular].concat());
    let report = site.json("apply --yes", 4);
    let told = |name: &str| report.object(name)["message"].as_str().expect("a message").to_owned();
    assert!(told("Item none/1").ends_with("the server answered 404 Not Found"), "{}", told("Item none/1"));
    assert_eq!(told("Singular none"), "updating Singular none: the server answered 404 Not Found");
    assert_eq!(report.object("Item tags/1")["result"], "done");
}
