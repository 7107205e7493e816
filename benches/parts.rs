//! The parts that work without a server, as ratios in one run: `cargo bench --bench parts`.
//! `TRUEUP_BENCH_DOCUMENTS` scales the graph (100,000).

#[allow(dead_code)] // what only the other benchmark needs
mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use support::objects::{document, manifests, name};
use support::{median, number, ratio};
use trueup::core::diff::diff;
use trueup::core::fields::FieldRules;
use trueup::core::graph::Graph;
use trueup::core::node::{Node, Pos};
use trueup::core::raw::Source;
use trueup::manifest::yaml;
use trueup::run::input::{self, Reach, Sources};

fn main() {
    load();
    for (what, element) in [
        ("maps with an id", (|i, salt| json!({"id": i, "value": text(i, salt), "on": true})) as Element),
        ("maps without a key", |i, salt| json!({"value": text(i, salt), "on": true})),
        ("texts", |i, salt| text(i, salt).into()),
    ] {
        compare(what, element);
    }
    graph(number("TRUEUP_BENCH_DOCUMENTS", 100_000));
}

/// YAML of 10 MB: a tree with a place for every value, against the parser's bare events, and against the
/// drop-in that keeps no places.
fn load() {
    let mut text = String::new();
    let mut count = 0;
    while text.len() < 10_000_000 {
        text.push_str("---\n");
        text.push_str(&document(count));
        count += 1;
    }
    let megabytes = text.len() as f64 / 1e6;
    let events = median(|| {
        timed(|| {
            let ended = saphyr_parser::Parser::new_from_str(&text).filter(Result::is_ok).count();
            assert!(ended > count);
        })
    });
    let plain = median(|| {
        timed(|| {
            let documents = serde_yaml::Deserializer::from_str(&text).map(Value::deserialize);
            assert_eq!(documents.filter(Result::is_ok).count(), count);
        })
    });
    let source = Arc::new(Source { file: "bench.yaml".into(), text });
    let ours = median(|| timed(|| assert_eq!(yaml::parse(&source).expect("it is YAML").len(), count)));
    println!("YAML of {megabytes:.1} MB: {ours:.0?}, {:.0} MB/s", megabytes / ours.as_secs_f64());
    println!("  bare events of the parser: {events:.0?}, so {:.2} times that", ratio(ours, events));
    println!("  the drop-in without places: {plain:.0?}, so {:.2} times that", ratio(ours, plain));
}

/// The i-th element of a list.
type Element = fn(u64, u64) -> Value;

fn text(i: u64, salt: u64) -> String {
    format!("{:0>180}", (i * 31 + salt) * 1_000_003)
}

/// Lists of 20 MB: equal, and different in every element.
fn compare(what: &str, element: Element) {
    let list = |salt: u64| json!({"items": (0..100_000).map(|i| element(i, salt)).collect::<Vec<_>>()});
    let (one, other) = (list(0), list(7));
    let json = one.to_string();
    let desired = Node::from_value(Pos::default(), one.clone());
    let parse = median(|| timed(|| drop(serde_json::from_str::<Value>(&json).expect("JSON"))));
    let equal = median(|| timed(|| assert!(diff(&desired, &one, FieldRules::none()).is_empty())));
    let different = median(|| timed(|| assert!(!diff(&desired, &other, FieldRules::none()).is_empty())));
    let megabytes = json.len() as f64 / 1e6;
    println!("diff of lists of {megabytes:.1} MB, {what}: equal {equal:.1?}, different {different:.1?}");
    println!("  to parse one of them as JSON: {parse:.0?}");
}

/// Documents with two references each, linked.
fn graph(count: usize) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let references = |i: usize| match i {
        0 | 1 => String::new(),
        _ => format!("  one: !ref Widget/{} .id\n  other: !ref Widget/{} .id\n", name(i - 1), name(i / 2)),
    };
    let files = vec![manifests(folder.path(), "http://127.0.0.1:1", count, &references)];
    let loaded = input::load(Sources { files, ..Sources::default() }, Reach::None, &|_| None);
    let input = loaded.input.expect("the documents are sound");
    let time = median(|| timed(|| drop(Graph::build(&input.documents, &input.kinds).expect("no cycle"))));
    println!("graph of {count} documents with two references each: {time:.0?} (target: about 1 s)");
}

fn timed(work: impl FnOnce()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}
