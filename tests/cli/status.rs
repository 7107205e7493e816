//! `trueup status`: a status file and the port of a running watch, well, in trouble and dead.

use std::fs::File;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use trueup::core::digest::Digest;
use trueup::core::identity::{Key, KindName, ObjectId};
use trueup::core::node::{Origin, Pos};
use trueup::core::secrets::Secrets;
use trueup::core::watch::{
    Condition, ConditionKind, Desired, Instance, ObjectStatus, Snapshot, Status, Truth,
};
use trueup::run::watch::face::Face;
use trueup::run::watch::outbox::Outbox;
use trueup::run::watch::shown::Shown;
use trueup::run::watch::{port, status_file};

use crate::support::{Done, Scratch};

const TOKEN: &str = "t0ken-0f-a-w4tch";

fn object(name: &str, conditions: &[(ConditionKind, Truth, &'static str, &str)]) -> ObjectStatus {
    let kind = KindName { backend: "shop".into(), kind: "Item".into() };
    let conditions = conditions.iter().map(|(kind, truth, reason, message)| Condition {
        kind: *kind,
        truth: *truth,
        reason,
        message: (*message).into(),
        since: Duration::ZERO,
        observed: Some(Digest(7)),
    });
    ObjectStatus {
        id: ObjectId { kind, key: Key::new(vec![("name".into(), name.into())]) },
        origin: Origin { file: "shop.yaml".into(), at: Pos { line: 7, column: 1 } },
        desired: Digest(7),
        conditions: conditions.collect(),
        attempts: 0,
        next: None,
        synced: None,
        writes: 0,
    }
}

fn synced(name: &str) -> ObjectStatus {
    object(name, &[(ConditionKind::Synced, Truth::True, "InSync", "")])
}

fn contested(name: &str) -> ObjectStatus {
    let why = "`spec.size` was changed by others\u{1b}[2J";
    object(
        name,
        &[
            (ConditionKind::Synced, Truth::False, "Conflict", why),
            (ConditionKind::Conflict, Truth::True, "Conflict", why),
        ],
    )
}

fn snapshot(objects: Vec<ObjectStatus>) -> Snapshot {
    Snapshot {
        instance: Instance { name: "here".into(), version: "0.1.0", ..Instance::default() },
        desired: Desired { valid: true, loads: 1, ..Desired::default() },
        status: Status { objects, ..Status::default() },
        seen_all: true,
        ..Snapshot::default()
    }
}

/// A status file, as a watch leaves it behind.
fn file(scratch: &Scratch, objects: Vec<ObjectStatus>) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let shown = Shown::new(tokio::time::Instant::now(), Secrets::default());
        shown.publish(snapshot(objects));
        let stop = CancellationToken::new();
        stop.cancel();
        status_file::keep(shown, scratch.path("status.json"), |event| panic!("{}", event.message), stop)
            .await;
    });
}

/// As if the watch had been killed so long ago.
fn dead_for(scratch: &Scratch, time: Duration) {
    let path = scratch.path("status.json");
    let mut document: Value = serde_json::from_slice(&std::fs::read(&path).expect("read")).expect("JSON");
    let then = SystemTime::now() - time;
    let date = |time| humantime_date(time);
    document["time"] = date(then).into();
    document["lastAlive"] = date(then).into();
    scratch.write("status.json", document.to_string());
    File::options().write(true).open(&path).and_then(|file| file.set_modified(then)).expect("set");
}

fn humantime_date(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).expect("after 1970");
    // `Shown` writes dates; what is parsed here is only ever compared.
    trueup::render::watch::log::json(&trueup::render::watch::log::Event::info("x"), seconds)
        .split('"')
        .nth(3)
        .expect("a date")
        .to_owned()
}

fn status(scratch: &Scratch, more: &str) -> Done {
    scratch.trueup(&format!("status --status-file status.json {more}")).done()
}

#[test]
fn trouble_comes_first_and_decides_the_exit() {
    let scratch = Scratch::new();
    file(&scratch, vec![synced("a"), synced("b")]);
    let well = status(&scratch, "").expect(0);
    assert!(well.out.starts_with("2 of 2 objects in sync. 0 writes, 0 missed events.\n"), "{}", well.told());
    file(&scratch, vec![synced("a"), contested("b")]);
    let told = status(&scratch, "").expect(3);
    let lines: Vec<&str> = told.out.lines().collect();
    assert_eq!(lines[0], "conflict       Item b  shop.yaml:7", "{}", told.told());
    assert!(
        lines[1].starts_with("    Conflict=True Conflict: `spec.size` was changed by others\\u{1b}[2J (for "),
        "{}",
        told.told()
    );
    assert!(told.out.contains("1 of 2 objects in sync: 1 conflict."), "{}", told.told());
    assert!(status(&scratch, "-v").expect(3).out.contains("in sync        Item a"));
    status(&scratch, "--fail-on stalled,dead").expect(0);
    status(&scratch, "--fail-on not-synced").expect(2);
    status(&scratch, "--fail-on nothing").expect(0);
}

#[test]
fn a_dead_watch_is_told_from_a_quiet_one() {
    let scratch = Scratch::new();
    file(&scratch, vec![synced("a")]);
    dead_for(&scratch, Duration::from_secs(100));
    assert!(!status(&scratch, "").expect(0).out.contains("dead"));
    dead_for(&scratch, Duration::from_secs(180));
    let told = status(&scratch, "").expect(1);
    assert!(told.out.starts_with("the watch seems dead: no sign of life for 3m 0s"), "{}", told.told());
    assert_eq!(status(&scratch, "--output json").expect(1).json()["alive"], json!(false));
    status(&scratch, "--fail-on conflict").expect(0);
    // A sign of life is a touch.
    let touched = File::options().write(true).open(scratch.path("status.json"));
    touched.and_then(|file| file.set_modified(SystemTime::now())).expect("set");
    assert_eq!(status(&scratch, "--output json").expect(0).json()["alive"], json!(true));
}

#[test]
fn machines_get_the_document() {
    let scratch = Scratch::new();
    file(&scratch, vec![synced("b"), contested("a")]);
    let document = status(&scratch, "--output json").expect(3).json();
    assert_eq!((&document["schemaVersion"], &document["command"]), (&json!(1), &json!("status")));
    assert_eq!(document["summary"]["conditions"]["Conflict"], json!({"True": 1, "False": 0, "Unknown": 0}));
    assert_eq!(
        document["objects"][0]["identity"],
        json!({"backend": "shop", "kind": "Item", "key": {"name": "a"}})
    );
    let lines = status(&scratch, "--output ndjson").expect(3).out;
    let types: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")["type"].take()).collect();
    assert_eq!(types, ["object", "object", "summary"]);
    assert!(!lines.contains('\u{1b}') && lines.contains("\\u001b"), "{lines}");
}

#[test]
fn what_is_no_status_is_said() {
    let scratch = Scratch::with("status.json", "{}");
    let told = status(&scratch, "").expect(1);
    assert!(
        told.err.contains("reading the status file `status.json`: it is not the status of a watch"),
        "{}",
        told.told()
    );
    scratch.write("status.json", r#"{"schemaVersion": 99}"#);
    assert!(status(&scratch, "").expect(1).err.contains("a later version"));
    let missing = scratch.trueup("status --status-file none.json").done().expect(1);
    assert!(
        missing.err.contains("no such file") && missing.err.contains("trueup watch --status-file"),
        "{}",
        missing.told()
    );
    let folder = scratch.trueup("status --status-file .").done().expect(1);
    assert!(folder.err.contains("it is not a regular file"), "{}", folder.told());
    let nothing = scratch.trueup("status").done().expect(64);
    assert!(nothing.err.contains("`--status-file PATH`, or its port, `--url URL`"), "{}", nothing.told());
    scratch.trueup("status --status-file a --url http://127.0.0.1:1").done().expect(64);
    let away = scratch.trueup("status --url http://127.0.0.1:1").done().expect(1);
    assert!(away.err.contains("asking the watch at `http://127.0.0.1:1`: "), "{}", away.told());
    let odd = scratch.trueup("status --url ftp://x").done().expect(1);
    assert!(odd.err.contains("write it like http://127.0.0.1:8081"), "{}", odd.told());
}

/// A watch that answers on a port, in this process.
struct Port {
    address: SocketAddr,
    _runtime: tokio::runtime::Runtime,
}

impl Port {
    fn new(objects: Vec<ObjectStatus>) -> Port {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let address = runtime.block_on(async {
            let shown = Shown::new(tokio::time::Instant::now(), Secrets::default());
            shown.publish(snapshot(objects));
            let face = Face::new(shown, Outbox::new(tokio::sync::mpsc::channel(1).0)).with_token(TOKEN);
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let address = listener.local_addr().expect("an address");
            tokio::spawn(port::serve(listener, Arc::new(face), CancellationToken::new()));
            address
        });
        Port { address, _runtime: runtime }
    }
}

#[test]
fn a_running_watch_is_asked() {
    let port = Port::new(vec![synced("a"), contested("b")]);
    let scratch = Scratch::new();
    let ask = |more: &str, token: &str| {
        let line = format!("status --url http://{}{more}", port.address);
        scratch.trueup(&line).env("W_TOKEN", token).done()
    };
    for place in ["", "/", "/status"] {
        let told = ask(&format!("{place} --token-env W_TOKEN"), TOKEN).expect(3);
        assert!(told.out.starts_with("conflict       Item b  shop.yaml:7\n"), "{}", told.told());
    }
    assert_eq!(ask(" --token-env W_TOKEN --output json", TOKEN).expect(3).json()["alive"], json!(true));
    for (more, token) in [("", TOKEN), (" --token-env W_TOKEN", "w4tch-the-wr0ng-one")] {
        let told = ask(more, token).expect(1);
        assert!(told.err.contains("it wants a token, or another one"), "{}", told.told());
        assert!(!told.told().contains(TOKEN) && !told.told().contains("w4tch-the"), "{}", told.told());
    }
    let unset = ask(" --token-env OTHER", TOKEN).expect(1);
    assert!(unset.err.contains("the variable `OTHER` is not set"), "{}", unset.told());
    let elsewhere = ask("/metrics --token-env W_TOKEN", TOKEN).expect(1);
    assert!(elsewhere.err.contains("is it the port of a `trueup watch`?"), "{}", elsewhere.told());
}
