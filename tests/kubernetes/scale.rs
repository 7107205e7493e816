//! A thousand objects and more: how many requests they take.

use std::fmt::Write as _;

use crate::cluster::Cluster;

const COUNT: u64 = 1200;

#[test]
fn many_objects_are_made_by_a_request_each_and_watched_by_a_handful() {
    let Some(cluster) = Cluster::settled("scale") else { return };
    let mut text = String::new();
    for at in 0..COUNT {
        let head =
            format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{at}, namespace: team-a}}");
        writeln!(text, "{head}\ndata: {{at: \"{at}\"}}").expect("a string takes all");
    }
    cluster.write("many.yaml", &text);
    let report = cluster.json("apply --yes", 0);
    assert_eq!(report.writes(), COUNT);
    // Each is made, and before that checked, by a request of its own.
    assert!(report.requests("total") < 2 * COUNT + 20, "{:#}", report.0["summary"]);

    let plan = cluster.json("plan", 0);
    assert!(plan.rows().is_empty());
    assert!(plan.requests("total") <= 4, "three pages and the namespace: {:#}", plan.0["summary"]);
}
