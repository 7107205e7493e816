//! Secrets: compared in either form, and shown in none.

use serde_json::json;

use crate::cluster::Cluster;

const PATH: &str = "/api/v1/namespaces/team-a/secrets/s";
/// In a text, as the server keeps it, and what a person sets instead.
const FIRST: [&str; 2] = ["first-Pa55word!", "Zmlyc3QtUGE1NXdvcmQh"];
const OTHER: [&str; 2] = ["other-Pa55word?", "b3RoZXItUGE1NXdvcmQ/"];
/// Bytes that are no text.
const BINARY: &str = "//4A";

fn document(data: &str) -> String {
    format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: s, namespace: team-a}}\n{data}\n")
}

/// What a command prints in all its formats, checked for passwords.
fn discreet(cluster: &Cluster, line: &str, code: i32) -> String {
    let mut all = String::new();
    for output in ["text", "json", "ndjson"] {
        let run = cluster.run(&format!("{line} --output {output}"), code);
        all.push_str(&run.whole());
    }
    for secret in FIRST.iter().chain(&OTHER) {
        assert!(!all.contains(secret), "`{secret}` in {all}");
    }
    all
}

#[test]
fn texts_and_encoded_values_are_one_and_no_output_has_either() {
    let Some(cluster) = Cluster::settled("secret") else { return };
    let data = format!("stringData: {{p: \"{}\"}}\ndata: {{q: {}, bytes: {BINARY}}}", FIRST[0], FIRST[1]);
    cluster.write("s.yaml", &document(&data));
    discreet(&cluster, "plan", 0);
    assert_eq!(cluster.rows("apply --yes", 0), ["create done Secret s/team-a"]);
    let stored = cluster.get(PATH).expect("it is there");
    assert_eq!(stored["data"], json!({"p": FIRST[1], "q": FIRST[1], "bytes": BINARY}));
    assert_eq!(cluster.json("apply --yes", 0).writes(), 0);

    // The same, each in the other form.
    let data = format!("stringData: {{q: \"{}\"}}\ndata: {{p: {}, bytes: {BINARY}}}", FIRST[0], FIRST[1]);
    cluster.write("s.yaml", &document(&data));
    assert!(cluster.rows("plan", 0).is_empty());

    let data = format!("stringData: {{q: \"{}\"}}\ndata: {{p: {}}}", OTHER[0], OTHER[1]);
    cluster.write("s.yaml", &document(&data));
    let said = discreet(&cluster, "plan", 0);
    assert!(said.contains("data.p") && said.contains("stringData.q") && said.contains("(secret"), "{said}");
    assert_eq!(cluster.rows("apply --yes", 0), ["update done Secret s/team-a"]);
    assert_eq!(cluster.get(PATH).expect("it is there")["data"]["q"], OTHER[1]);
    cluster.write("s.yaml", &document(&format!("stringData: {{q: \"{}\"}}", OTHER[0])));
    let said = discreet(&cluster, "plan", 0);
    assert!(said.contains("data.p") && said.contains("declared no longer"), "{said}");
    cluster.run("apply --yes", 0);
    assert_eq!(cluster.get(PATH).expect("it is there")["data"], json!({"q": OTHER[1]}));
    let live = discreet_get(&cluster);
    assert!(live.contains("(secret)"), "{live}");
}

fn discreet_get(cluster: &Cluster) -> String {
    let run = cluster.run("get Secret --output json", 0).whole();
    assert!(FIRST.iter().chain(&OTHER).all(|secret| !run.contains(secret)), "{run}");
    run
}

#[test]
fn a_secret_from_elsewhere_is_sent_and_a_refusal_repeats_none() {
    let Some(mut cluster) = Cluster::settled("elsewhere") else { return };
    cluster.set("SHOP_PASSWORD", FIRST[0]);
    cluster.write("s.yaml", &document("stringData: {p: !secret env:SHOP_PASSWORD}"));
    discreet(&cluster, "plan", 0);
    cluster.run("apply --yes", 0);
    assert_eq!(cluster.get(PATH).expect("it is there")["data"]["p"], FIRST[1]);
    assert!(cluster.rows("plan", 0).is_empty());
    cluster.unset("SHOP_PASSWORD");
    let entry = cluster.entry("plan", 0, "Secret s/team-a");
    assert_eq!((&entry["result"], &entry["findings"][0]["code"]), (&json!("in-sync"), &json!("NotCompared")));
    cluster.set("SHOP_PASSWORD", FIRST[0]);

    // What cannot be read is answered with the very value.
    cluster.write("s.yaml", &document(&format!("data: {{p: {{deep: \"{}\"}}}}", OTHER[0])));
    discreet(&cluster, "plan", 1);
    let run = cluster.run("apply --yes", 1).whole();
    assert!(!run.contains(OTHER[0]), "{run}");
    cluster.write("s.yaml", &document("data: {p: 1234567}"));
    let run = cluster.run("plan", 1).whole();
    assert!(run.contains("expected string") && !run.contains("1234567"), "{run}");
}
