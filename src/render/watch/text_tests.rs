use super::super::sample::{self, NOW, ZERO, harmless};
use super::*;

fn shown(document: &Document, view: View) -> String {
    text(document, &View { now: ZERO + NOW, ..view }).to_plain()
}

#[test]
fn trouble_comes_first_and_the_summary_last() {
    insta::assert_snapshot!(shown(&sample::document(&sample::snapshot()), View::default()), @r#"
    the files are not valid: the last valid ones hold
        manifests/new.yaml:3:7: the key `name` stands there twice
    backend rabbitmq is not asked: 5 requests in a row failed: connection refused
    feed of rabbitmq/Queue: down since 2026-12-01T12:51:40Z: GET /events: 502 bad gateway, next attempt 2026-12-01T13:00:20Z
    warning: 40 writes in 10 minutes for 2 changes of the files
    warning: `Queue //stray` is not pruned: 6 deletions, and the limit is 5
    warning: and 5 more objects are not pruned

    stalled        Queue //stalled    manifests/queues.yaml:14
        Stalled=True NoRetry: trying again changes nothing (for 59m 0s)
        Synced=False Failed: the server refuses `x-max-length`: it is not a number (for 59m 0s)
        7 attempts failed in a row, next in 5m 0s
    unknown        Queue //unknown    manifests/queues.yaml:14
        Unknown=True NotProved: the listing is incomplete (for 59m 0s)
        Synced=False NotProved: the listing is incomplete (for 59m 0s)
    not effective  Queue //sticky     manifests/queues.yaml:14
        NotEffective=True NotEffective: it was sent 60, twice (for 59m 0s)
        Synced=False NotEffective: the server keeps 100 for `arguments.ttl` (for 59m 0s)
    fighting       Queue //fought     manifests/queues.yaml:14
        Fighting=True OtherWriter: spec.durable is set back by `terraform` again and again; it is left alone until 13:10 (for 59m 0s)
        Synced=False Differs: a field is left alone (for 59m 0s)
    conflict       Queue //contested  manifests/queues.yaml:14
        Conflict=True Conflict: spec.ttl: 60 at the base, 70 here, 80 there (for 59m 0s)
        Synced=False Conflict: spec.ttl was changed by `helm` (for 59m 0s)
    failing        Queue //failing    manifests/queues.yaml:14
        Synced=False Failed: creating it: 503 service unavailable (for 59m 0s)
        3 attempts failed in a row, next in 5m 0s
    not in sync    Queue //paused     manifests/queues.yaml:14
        Synced=False Differs: the annotation `trueup/paused` holds it (for 59m 0s)
    waiting        Policy //waiting   manifests/queues.yaml:14
        Synced=Unknown Pending (for 59m 0s)
    not ready      Policy //starting  manifests/queues.yaml:14
        Ready=False NotReady: status.phase is `Starting` (for 59m 0s)

    3 of 11 objects in sync: 1 stalled, 1 unknown, 1 not effective, 1 fighting, 1 conflict, 1 failing, 1 not in sync, 1 waiting, 1 not ready. 12 writes, 4 missed events.
    trueup 0.1.0, host-1/4711, leader, up 1h 0m, as of 2026-12-01T13:00:00Z
    "#);
}

#[test]
fn where_all_is_well_little_is_said() {
    insta::assert_snapshot!(shown(&sample::document(&sample::well()), View::default()), @r#"
    2 of 2 objects in sync. 12 writes, 4 missed events.
    trueup 0.1.0, host-1/4711, leader, up 1h 0m, as of 2026-12-01T13:00:00Z
    "#);
    let all = shown(&sample::document(&sample::well()), View { all: true, ..View::default() });
    assert!(all.contains("in sync        Queue //orders"), "{all}");
}

#[test]
fn a_dead_watch_is_the_first_thing_said() {
    let silent = Some(Duration::from_secs(200));
    let text = shown(&sample::document(&sample::well()), View { silent, ..View::default() });
    assert!(text.starts_with("the watch seems dead: no sign of life for 3m 20s"), "{text}");
}

#[test]
fn of_very_many_only_some_are_told() {
    let mut snapshot = sample::well();
    let one = sample::snapshot().status.objects[7].clone();
    snapshot.status.objects = (0..250)
        .map(|at| crate::core::watch::ObjectStatus {
            id: sample::id("Queue", &format!("q{at}")),
            ..one.clone()
        })
        .collect();
    let document = sample::document(&snapshot);
    let text = shown(&document, View::default());
    assert!(text.contains("… and 50 objects more: -v shows all"), "{text}");
    assert!(text.contains("0 of 250 objects in sync: 250 failing."), "{text}");
    let all = shown(&document, View { all: true, ..View::default() });
    assert_eq!(all.matches("failing  ").count(), 250);
}

#[test]
fn what_is_hostile_does_nothing() {
    let text = shown(&sample::document(&sample::hostile()), View::default());
    harmless(&text);
    assert!(text.contains("\\u{1b}[2J\\u{202e}evil"), "{text}");
    assert!(text.contains("nothing is heard of backend powerdns since 2026-12-01T12:01:00Z"), "{text}");
    assert!(text.contains("    PossibleOverwrite: <script>"), "{text}");
}
