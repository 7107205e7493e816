//! A thousand objects and more: how many requests they take.

use std::fmt::Write as _;

use crate::cluster::Cluster;

const COUNT: u64 = 1200;

#[test]
fn one_listing_serves_all_namespaces_where_the_backend_says_so() {
    let Some(cluster) = Cluster::settled("spread") else { return };
    let backend = "apiVersion: trueup/v1
kind: Backend
metadata: {name: kubernetes}
spec:
  preset: kubernetes
  kinds:
    ConfigMap:
      list: {request: GET /api/v1/configmaps, items: .items, page: {by: cursor, param: continue, next: .metadata.continue, size: 500}}
";
    cluster.write("backend.yaml", backend);
    let mut text = String::new();
    for at in 0..6 {
        writeln!(text, "---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: team-a-{at}}}")
            .expect("a string takes all");
        let head =
            format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c, namespace: team-a-{at}}}");
        writeln!(text, "{head}\ndata: {{at: \"{at}\"}}").expect("a string takes all");
    }
    cluster.write("spread.yaml", &text);
    assert_eq!(cluster.rows("apply --yes", 0).len(), 12);
    let plan = cluster.json("plan", 0);
    assert!(plan.rows().is_empty());
    assert_eq!((plan.requests("read"), plan.0["summary"]["total"].as_u64()), (0, Some(13)));
    // Other tests fill the cluster at the same time: how many pages there are is theirs to say.
    let seen = plan.0["summary"]["seen"].as_u64().expect("a number");
    assert!(plan.requests("list") <= seen / 500 + 2, "{:#}", plan.0["summary"]);
}

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
