//! A watch in every sort of trouble, for tests.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::core::digest::Digest;
use crate::core::identity::{Key, KindName, ObjectId};
use crate::core::node::{Origin, Pos};
use crate::core::problem::Problem;
use crate::core::redact::Redactor;
use crate::core::report::{Finding, Requests};
use crate::core::watch::hint;
use crate::core::watch::snapshot::{FeedStatus, Feeds};
use crate::core::watch::status::{Condition, Counters, ObjectStatus, Refused, Status, TargetStatus};
use crate::core::watch::{ConditionKind as Kind, Desired, Instance, Role, Snapshot, Truth};

use super::Document;

/// 2026-12-01T12:00:00Z
pub const ZERO: Duration = Duration::from_secs(1_796_126_400);
/// An hour later all is looked at.
pub const NOW: Duration = Duration::from_secs(3_600);

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub fn id(kind: &str, name: &str) -> ObjectId {
    let kind = KindName { backend: "rabbitmq".into(), kind: kind.into() };
    let vhost = (Arc::from("vhost"), "/".into());
    ObjectId { kind, key: Key::new(vec![vhost, ("name".into(), name.into())]) }
}

pub fn condition(kind: Kind, truth: Truth, reason: &'static str, message: &str) -> Condition {
    let observed = Some(Digest(7));
    Condition { kind, truth, reason, message: message.into(), since: seconds(60), observed }
}

pub fn object(kind: &str, name: &str, conditions: Vec<Condition>) -> ObjectStatus {
    let at = Pos { line: 14, column: 1 };
    ObjectStatus {
        id: id(kind, name),
        origin: Origin { file: "manifests/queues.yaml".into(), at },
        desired: Digest(7),
        conditions,
        attempts: 0,
        next: Some(NOW + seconds(300)),
        synced: Some(seconds(50)),
        writes: 0,
    }
}

pub fn synced(kind: &str, name: &str) -> ObjectStatus {
    object(kind, name, vec![condition(Kind::Synced, Truth::True, "InSync", "")])
}

fn unsynced(name: &str, reason: &'static str, message: &str, also: Vec<Condition>) -> ObjectStatus {
    let mut conditions = vec![condition(Kind::Synced, Truth::False, reason, message)];
    conditions.extend(also);
    object("Queue", name, conditions)
}

/// One object of each trouble, and two that are well.
pub fn snapshot() -> Snapshot {
    let holds = |kind, reason, message: &str| vec![condition(kind, Truth::True, reason, message)];
    let stalled = "the server refuses `x-max-length`: it is not a number";
    let fight = "spec.durable is set back by `terraform` again and again; it is left alone until 13:10";
    let mut objects = vec![
        synced("Queue", "orders"),
        synced("Exchange", "billing"),
        ObjectStatus {
            attempts: 7,
            ..unsynced(
                "stalled",
                "Failed",
                stalled,
                holds(Kind::Stalled, "NoRetry", "trying again changes nothing"),
            )
        },
        unsynced(
            "unknown",
            "NotProved",
            "the listing is incomplete",
            holds(Kind::Unknown, "NotProved", "the listing is incomplete"),
        ),
        unsynced(
            "sticky",
            "NotEffective",
            "the server keeps 100 for `arguments.ttl`",
            holds(Kind::NotEffective, "NotEffective", "it was sent 60, twice"),
        ),
        unsynced("fought", "Differs", "a field is left alone", holds(Kind::Fighting, "OtherWriter", fight)),
        unsynced(
            "contested",
            "Conflict",
            "spec.ttl was changed by `helm`",
            holds(Kind::Conflict, "Conflict", "spec.ttl: 60 at the base, 70 here, 80 there"),
        ),
        ObjectStatus {
            attempts: 3,
            ..unsynced("failing", "Failed", "creating it: 503 service unavailable", Vec::new())
        },
        unsynced("paused", "Differs", "the annotation `trueup/paused` holds it", Vec::new()),
        object("Policy", "waiting", vec![condition(Kind::Synced, Truth::Unknown, "Pending", "")]),
    ];
    let unready = condition(Kind::Ready, Truth::False, "NotReady", "status.phase is `Starting`");
    objects.push(object(
        "Policy",
        "starting",
        vec![condition(Kind::Synced, Truth::True, "InSync", ""), unready],
    ));
    objects[0].writes = 12;
    let mut counters = Counters {
        depth: 2,
        running: 3,
        adds: 40,
        retries: 5,
        foreign: 1,
        missed_events: 4,
        writes: 12,
        ..Counters::default()
    };
    counters.passes = [("success", 30), ("error", 5), ("terminal", 1), ("requeue", 2)].into();
    counters.hints = [(hint::Origin::Feed, 9), (hint::Origin::Person, 1)].into();
    [2, 30, 700].into_iter().for_each(|wait| counters.waited.add(seconds(wait)));
    counters.worked.add(Duration::from_millis(20));
    counters.longest = Some(NOW - seconds(30));
    counters.begun = Some(NOW * 3 - seconds(45));
    let feed = |name: &str, up: bool| FeedStatus {
        name: name.into(),
        up,
        since: seconds(3_100),
        message: (!up).then(|| "GET /events: 502 bad gateway".into()),
        next: (!up).then_some(NOW + seconds(20)),
        ignored: 0,
    };
    let target = |name: &str, open: bool| TargetStatus {
        name: name.into(),
        open,
        message: open.then(|| "5 requests in a row failed: connection refused".into()),
        since: seconds(3_000),
        next: open.then_some(NOW + seconds(15)),
    };
    let at = Origin { file: "manifests/new.yaml".into(), at: Pos { line: 3, column: 7 } };
    Snapshot {
        instance: Instance {
            name: "host-1/4711".into(),
            version: "0.1.0",
            role: Role::Leader,
            dry_run: false,
            started: ZERO,
        },
        desired: Desired {
            valid: false,
            problems: vec![
                Problem::new("the key `name` stands there twice").at(at).hint("take one of them away"),
            ],
            since: seconds(3_500),
            loads: 2,
            failures: 1,
        },
        status: Status {
            objects,
            targets: vec![target("rabbitmq", true), target("powerdns", false)],
            counters,
            warnings: vec!["40 writes in 10 minutes for 2 changes of the files".into()],
            refused: Refused {
                first: vec![(id("Queue", "stray"), "6 deletions, and the limit is 5".into())],
                more: 5,
            },
        },
        seen_all: true,
        feeds: Feeds {
            all: vec![feed("powerdns/RRset", true), feed("rabbitmq/Queue", false)],
            events: 70,
            ignored: 3,
        },
        requests: Requests { list: 40, read: 7, create: 1, update: 3, ..Requests::default() },
        silent: Vec::new(),
        findings: BTreeMap::new(),
        changes: Vec::new(),
        zero: ZERO,
    }
}

/// All is well.
pub fn well() -> Snapshot {
    let mut snapshot = snapshot();
    snapshot.status.objects.truncate(2);
    snapshot.status.targets[0] =
        TargetStatus { open: false, message: None, next: None, ..snapshot.status.targets[0].clone() };
    snapshot.status.warnings.clear();
    snapshot.status.refused = Refused::default();
    snapshot.feeds.all.remove(1);
    snapshot.desired = Desired { valid: true, loads: 1, ..Desired::default() };
    snapshot
}

/// What acts on a terminal, on a reader or on a browser, and a secret of which no piece may come out.
pub const HOSTILE: &str = "<script>alert(1)</script>\"'&\u{1b}[2J\u{202e}evil\u{200b}\n";
pub const CANARY: &str = "c4n4ry-\"q\\z/<&'%41+9f8e7d6c5b4a39281706f5e4d3c2b1a0";

/// Each place that takes text has hostile text and a secret.
pub fn hostile() -> Snapshot {
    let evil = format!("{HOSTILE}{CANARY}");
    let mut snapshot = snapshot();
    snapshot.instance.name.clone_from(&evil);
    snapshot.desired.problems[0].message.clone_from(&evil);
    snapshot.desired.problems[0].hint = Some(evil.clone());
    snapshot.status.warnings = vec![evil.clone()];
    snapshot.status.refused.first = vec![(id("Queue", &evil), evil.clone())];
    snapshot.feeds.all[1].message = Some(evil.clone());
    snapshot.feeds.all[1].name = evil.as_str().into();
    snapshot.status.targets[0].message = Some(evil.clone());
    snapshot.status.targets[0].name = evil.as_str().into();
    let waiting = condition(Kind::Synced, Truth::False, "Failed", &evil);
    snapshot.status.objects = vec![object("Queue", &evil, vec![waiting])];
    let finding = Finding::new("PossibleOverwrite", &*evil).hint(&*evil);
    snapshot.findings = [(id("Queue", &evil), vec![finding])].into();
    snapshot.silent = vec![("powerdns".into(), seconds(60))];
    snapshot
}

pub fn redactor() -> Redactor {
    Redactor::new([CANARY])
}

pub fn document(snapshot: &Snapshot) -> Document {
    Document::of(snapshot, NOW, NOW, &redactor())
}

/// Panics where a text holds a piece of the secret, or more of the hostile text than letters.
#[track_caller]
pub fn harmless(text: &str) {
    for piece in ["c4n4ry", "9f8e7d6c", "d3c2b1a0"] {
        assert!(!text.contains(piece), "a secret came out: {text}");
    }
    let acts = |c: char| crate::core::escape::is_unsafe(c) && c != '\n';
    assert!(!text.contains(acts), "what acts on a terminal came out: {}", text.escape_debug());
}
