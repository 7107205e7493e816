use openmetrics_parser::prometheus::parse_prometheus;
use openmetrics_parser::{MetricNumber, PrometheusValue};

use super::super::sample::{self, NOW, harmless};
use super::*;

fn process() -> Process {
    Process { resident: Some(12 << 20), cpu: Some(1.25), open_files: Some(9) }
}

fn shown(snapshot: &Snapshot) -> String {
    metrics(snapshot, NOW, &process(), &sample::redactor())
}

/// The number behind a name with its labels, as they stand in the text.
#[track_caller]
fn value(text: &str, sample: &str) -> f64 {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
    let found = lines.next().unwrap_or_else(|| panic!("no {sample} in {text}")).parse().expect("a number");
    assert_eq!(lines.next(), None, "{sample} stands there twice");
    found
}

#[test]
fn a_strict_reader_takes_them() {
    for snapshot in [sample::snapshot(), sample::well(), sample::hostile(), Snapshot::default()] {
        let text = shown(&snapshot);
        let read = parse_prometheus(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert!(read.families.len() >= 26, "{}", read.families.len());
        let Some(family) = read.families.get("trueup_objects") else { panic!("no objects: {text}") };
        assert_eq!(family.iter_samples().count(), 21, "each condition with each status");
        let mut all = 0.0;
        for sample in family.iter_samples() {
            match sample.value {
                PrometheusValue::Gauge(MetricNumber::Float(count)) => all += count,
                PrometheusValue::Gauge(MetricNumber::Int(count)) => all += count as f64,
                _ => panic!("another sort"),
            }
        }
        let conditions: usize = snapshot.status.objects.iter().map(|object| object.conditions.len()).sum();
        assert_eq!(all, conditions as f64);
    }
}

/// Set `TRUEUP_PAGES` to a folder to have them looked at by `promtool check metrics`.
#[test]
fn metrics_can_be_looked_at() {
    let text = shown(&sample::hostile());
    harmless(&text);
    if let Some(folder) = std::env::var_os("TRUEUP_PAGES") {
        std::fs::write(std::path::Path::new(&folder).join("metrics.txt"), text).expect("written");
    }
}

#[test]
fn numbers_are_those_of_the_moment() {
    let text = shown(&sample::snapshot());
    let labels = "{controller=\"trueup\",name=\"trueup\"}";
    for (sample, want) in [
        (format!("workqueue_depth{labels}"), 2.0),
        (format!("workqueue_unfinished_work_seconds{labels}"), 45.0),
        (format!("workqueue_longest_running_processor_seconds{labels}"), 30.0),
        (format!("workqueue_queue_duration_seconds_count{labels}"), 3.0),
        (format!("workqueue_queue_duration_seconds_sum{labels}"), 732.0),
        (
            "workqueue_queue_duration_seconds_bucket{controller=\"trueup\",name=\"trueup\",le=\"1\"}".into(),
            0.0,
        ),
        (
            "workqueue_queue_duration_seconds_bucket{controller=\"trueup\",name=\"trueup\",le=\"5\"}".into(),
            1.0,
        ),
        (
            "workqueue_queue_duration_seconds_bucket{controller=\"trueup\",name=\"trueup\",le=\"600\"}"
                .into(),
            2.0,
        ),
        (
            "workqueue_queue_duration_seconds_bucket{controller=\"trueup\",name=\"trueup\",le=\"+Inf\"}"
                .into(),
            3.0,
        ),
        ("controller_runtime_reconcile_total{controller=\"trueup\",result=\"requeue\"}".into(), 2.0),
        ("controller_runtime_reconcile_errors_total{controller=\"trueup\"}".into(), 6.0),
        ("trueup_objects{condition=\"Synced\",status=\"False\"}".into(), 7.0),
        ("trueup_hints_total{origin=\"feed\"}".into(), 9.0),
        ("trueup_hints_total{origin=\"poll\"}".into(), 0.0),
        ("trueup_missed_events_total".into(), 4.0),
        ("trueup_target_open{backend=\"rabbitmq\"}".into(), 1.0),
        ("trueup_target_open{backend=\"powerdns\"}".into(), 0.0),
        ("trueup_feed_up{group=\"rabbitmq/Queue\"}".into(), 0.0),
        ("trueup_feed_up{group=\"powerdns/RRset\"}".into(), 1.0),
        ("trueup_feed_events_total".into(), 70.0),
        ("trueup_feed_ignored_total".into(), 3.0),
        ("trueup_desired_valid".into(), 0.0),
        ("process_cpu_seconds_total".into(), 1.25),
    ] {
        assert_eq!(value(&text, &sample), want, "{sample}");
    }
    // A loop that hangs is seen to hang.
    let later = metrics(&sample::snapshot(), NOW + Duration::from_secs(100), &process(), &sample::redactor());
    assert_eq!(value(&later, &format!("workqueue_longest_running_processor_seconds{labels}")), 130.0);
    assert_eq!(value(&later, &format!("workqueue_unfinished_work_seconds{labels}")), 345.0);
}

#[test]
fn what_the_system_does_not_tell_is_left_out() {
    let text = metrics(&sample::well(), NOW, &Process::default(), &sample::redactor());
    assert!(!text.contains("process_resident") && !text.contains("process_cpu"), "{text}");
}
