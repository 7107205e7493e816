//! The parts that work without a server, as ratios in one run: `cargo bench --bench parts`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use trueup::core::diff::diff;
use trueup::core::fields::FieldRules;
use trueup::core::node::{Node, Pos};
use trueup::core::raw::Source;
use trueup::manifest::yaml;

const RUNS: usize = 5;

fn main() {
    load();
    compare();
}

/// YAML of 10 MB: our tree with a place for every value, against the drop-in that keeps none.
fn load() {
    let mut text = String::new();
    let mut count = 0;
    while text.len() < 10_000_000 {
        text.push_str(&format!(
            "---\nkind: Widget\nmetadata:\n  name: widget-{count}\n  labels: {{team: t{}, tier: backend}}\nspec:\n  \
             description: Widget number {count}, made to measure\n  enabled: true\n  replicas: {}\n  hosts:\n  - \
             w{count}.example.org\n  - w{count}.internal.example.org\n  containers:\n  - name: app\n    image: \
             registry.example.org/app:1.{}.0\n    port: 8080\n",
            count % 50,
            count % 7,
            count % 40
        ));
        count += 1;
    }
    let megabytes = text.len() as f64 / 1e6;
    let plain = median(|| {
        let documents = serde_yaml::Deserializer::from_str(&text).map(Value::deserialize);
        assert_eq!(documents.filter(Result::is_ok).count(), count);
    });
    let source = Arc::new(Source { file: "bench.yaml".into(), text });
    let ours = median(|| {
        let documents = yaml::parse(&source).expect("the text is YAML");
        assert_eq!(documents.len(), count);
    });
    println!(
        "YAML of {megabytes:.1} MB: {ours:.2?}, {:.1} MB/s; the drop-in without places: {plain:.2?}",
        megabytes / ours.as_secs_f64()
    );
}

/// Lists of 20 MB: equal, and different in every element.
fn compare() {
    let list = |salt: u64| -> Value {
        let element = |i: u64| json!({"id": i, "value": format!("{:0>150}", i * 31 + salt), "on": true});
        json!({"items": (0..100_000).map(element).collect::<Vec<_>>()})
    };
    let (one, other) = (list(0), list(7));
    let megabytes = one.to_string().len() as f64 / 1e6;
    let desired = Node::from_value(Pos::default(), one.clone());
    let parse = median(|| {
        let _: Value = serde_json::from_str(&one.to_string()).expect("JSON");
    });
    let equal = median(|| assert!(diff(&desired, &one, FieldRules::none()).is_empty()));
    let different = median(|| assert!(!diff(&desired, &other, FieldRules::none()).is_empty()));
    println!(
        "lists of {megabytes:.1} MB: written and parsed {parse:.2?}; diff of equal {equal:.2?}, of different {different:.2?}"
    );
}

fn median(mut f: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let began = Instant::now();
            f();
            began.elapsed()
        })
        .collect();
    times.sort();
    times[RUNS / 2]
}
