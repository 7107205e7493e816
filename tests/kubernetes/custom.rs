//! Kinds of one's own: a definition and its objects, in one run and in several.

use std::fmt::Write as _;

use serde_json::json;

use crate::cluster::{Cluster, manifest};

const PATH: &str = "/apis/team-a.example.com/v1/namespaces/team-a/widgets/w0";

/// The definition, and so many objects of it.
fn manifests(cluster: &Cluster, count: usize, colour: &str) {
    let definition = manifest("all.yaml");
    let definition = definition.split("---\n").find(|text| text.contains("CustomResourceDefinition"));
    cluster.write("definition.yaml", definition.expect("it is there"));
    let mut text = String::new();
    for at in 0..count {
        let head = "---\napiVersion: team-a.example.com/v1\nkind: Widget";
        let needs = "annotations: {trueup/depends-on: CustomResourceDefinition/widgets.team-a.example.com}";
        writeln!(
            text,
            "{head}\nmetadata: {{name: w{at}, namespace: team-a, {needs}}}\nspec: {{size: 2{colour}}}"
        )
        .expect("a string takes all");
    }
    cluster.write("widgets.yaml", &text);
}

#[test]
fn a_definition_and_its_objects_are_made_in_one_run() {
    // So many that they are listed, from a collection that is not there yet.
    let Some(cluster) = Cluster::settled("many") else { return };
    manifests(&cluster, 6, "");
    let plan = cluster.rows("plan", 0);
    assert_eq!(plan.len(), 7);
    assert!(plan.iter().all(|row| row.starts_with("create planned ")), "{plan:#?}");
    assert_eq!(cluster.rows("apply --yes", 0).len(), 7);
    assert_eq!(cluster.json("apply --yes", 0).writes(), 0);
}

#[test]
fn what_the_server_fills_in_is_no_difference_and_what_a_person_changed_is() {
    let Some(cluster) = Cluster::settled("defaults") else { return };
    manifests(&cluster, 1, "");
    cluster.run("apply --yes", 0);
    assert_eq!(cluster.get(PATH).expect("it is there")["spec"], json!({"size": 2, "colour": "red"}));
    assert!(cluster.rows("plan", 0).is_empty());

    let mut item = cluster.get(PATH).expect("it is there");
    item["spec"]["size"] = json!(5);
    cluster.server.put(&cluster.named(PATH), &item);
    let plan = cluster.json("plan", 3);
    let entry = plan.object(&cluster.named("Widget w0/team-a"));
    assert_eq!(plan.paths(&cluster.named("Widget w0/team-a")), ["spec.size"]);
    assert_eq!(entry["result"], "conflict");

    manifests(&cluster, 1, ", colour: 7");
    let refused = cluster.json("plan", 1);
    let entry = refused.object(&cluster.named("Widget w0/team-a"));
    assert!(
        entry["message"].as_str().is_some_and(|message| message.contains(".spec.colour: expected string")),
        "{entry}"
    );
}
