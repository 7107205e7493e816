//! Deletions that a server finishes later, or not: what is waited for, what is told, and what is never taken away.
//! And a replacement whose process is killed between deletion and creation.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use crate::servers::{Raw, Say};
use crate::support::Scratch;

const BACKEND: &str = "apiVersion: trueup/v1
kind: Backend
metadata: {name: api}
spec:
  url: URL
  kinds:
    Bucket:
      key: {name: .name}
      read: GET /buckets/{name}
      create: PUT /buckets/{name}
      update: PATCH /buckets/{name}
      delete: DELETE /buckets/{name}
      deleting: .body.deletedAt
      blockers: .finalizers
      fields: {size: immutable=replace}
";

const BUCKET: &str = "apiVersion: api\nkind: Bucket\nmetadata: {name: logs}\nspec: {size: 1}\n";

fn folder(raw: &Raw) -> Scratch {
    let scratch = Scratch::with("backend.yaml", BACKEND.replace("URL", &raw.url()));
    scratch.write("a.yaml", BUCKET);
    scratch
}

const FILES: &str = "-f a.yaml -f backend.yaml";

fn writes(raw: &Raw) -> Vec<String> {
    raw.lines().into_iter().filter(|line| !line.starts_with("GET ")).collect()
}

/// A bucket; the answer to its deletion, and what its reads answer from then on, by their number.
fn bucket(deletion: &'static str, after: impl Fn(usize) -> Say + Send + Sync + 'static) -> Raw {
    let (asked, looks) = (AtomicBool::new(false), AtomicUsize::new(0));
    Raw::new(move |seen| match &*seen.line {
        "DELETE /buckets/logs" => {
            asked.store(true, Ordering::SeqCst);
            let body =
                if deletion.starts_with("207") { r#"{"errors": [{"message": "in use"}]}"# } else { "{}" };
            Say::answer(deletion, "content-type: application/json\r\n", body)
        }
        _ if asked.load(Ordering::SeqCst) => after(looks.fetch_add(1, Ordering::SeqCst)),
        _ => Say::json(r#"{"name": "logs", "size": 1}"#),
    })
}

fn going() -> Say {
    Say::json(
        r#"{"name": "logs", "size": 1, "deletedAt": "now", "finalizers": ["example.com/backup", "audit"]}"#,
    )
}

fn gone() -> Say {
    Say::answer("404 Not Found", "", "")
}

#[test]
fn the_end_of_the_run_names_what_holds_a_deletion_and_nobodys_hold_is_taken_away() {
    let raw = bucket("200 OK", |_| going());
    let scratch = folder(&raw);
    let done = scratch.trueup(&format!("delete --yes --timeout 1s {FILES}")).done().expect(1);
    let why =
        "unknown: the server is deleting it, and has not finished: `example.com/backup` and `audit` hold it";
    assert!(done.out.contains(why), "{}", done.told());
    assert!(
        done.out.contains("hint: whoever has put it there takes it away once it is done"),
        "{}",
        done.told()
    );
    let json = scratch.trueup(&format!("delete --yes --output json {FILES}")).done().expect(1).json();
    assert_eq!(json["objects"][0]["result"], "unknown");
    assert!(json["objects"][0]["message"].as_str().is_some_and(|text| text.ends_with("`audit` hold it")));
    let done = scratch.trueup(&format!("apply --yes {FILES}")).done().expect(1);
    assert!(
        done.out.contains("its name is still taken: `example.com/backup` and `audit` hold it"),
        "{}",
        done.out
    );
    assert_eq!(writes(&raw), ["DELETE /buckets/logs"], "one deletion, and no other write in three runs");
}

#[test]
fn a_202_is_no_end_and_a_look_is() {
    let raw = bucket("202 Accepted", |look| match look {
        0 => Say::json(r#"{"name": "logs", "size": 1}"#),
        1 | 2 => going(),
        _ => gone(),
    });
    let scratch = folder(&raw);
    let done = scratch.trueup(&format!("delete --yes {FILES}")).done().expect(0);
    assert!(done.out.contains("deleted"), "{}", done.told());
    let looks = raw.lines().iter().rev().take_while(|line| line.starts_with("GET")).count();
    assert_eq!(looks, 4, "{:?}", raw.lines());
    assert_eq!(writes(&raw), ["DELETE /buckets/logs"]);
}

#[test]
fn a_207_that_tells_of_an_error_inside_is_told_at_the_first_look() {
    let raw = bucket("207 Multi-Status", |_| Say::json(r#"{"name": "logs", "size": 1}"#));
    let scratch = folder(&raw);
    let done = scratch.trueup(&format!("delete --yes {FILES}")).done();
    assert!([1, 4].contains(&done.code()), "{}", done.told());
    assert!(done.out.contains("in use"), "{}", done.told());
    assert_eq!(raw.lines().iter().rev().take_while(|line| line.starts_with("GET")).count(), 1);
}

/// A bucket that is replaced; the answer to its deletion does not come until it is let go.
#[test]
fn a_kill_between_deletion_and_creation_leaves_nothing_and_the_next_run_creates_without_consent() {
    let held = Arc::new((Mutex::new(true), Condvar::new()));
    let stored: Arc<Mutex<Option<String>>> =
        Arc::new(Mutex::new(Some(r#"{"name": "logs", "size": 7}"#.into())));
    let (gate, objects) = (held.clone(), stored.clone());
    let raw = Raw::new(move |seen| {
        let mut object = objects.lock().expect("no test panics with it");
        match seen.line.split(' ').next() {
            Some("DELETE") => {
                *object = None;
                drop(object);
                let (locked, changed) = &*gate;
                let mut held = locked.lock().expect("no test panics with it");
                while *held {
                    held = changed.wait(held).expect("no test panics with it");
                }
                Say::answer("204 No Content", "", "")
            }
            Some("PUT") => {
                *object = Some(r#"{"name": "logs", "size": 1}"#.into());
                Say::json("{}")
            }
            _ => object.as_ref().map_or_else(gone, |text| Say::json(text)),
        }
    });
    let scratch = folder(&raw);
    scratch.trueup(&format!("apply --yes {FILES}")).done().expect(5);
    assert_eq!(writes(&raw), [""; 0], "no consent, no deletion");
    let mut run = scratch.trueup(&format!("apply --yes --replace Bucket/logs {FILES}")).start();
    while writes(&raw).is_empty() {
        assert!(run.child.try_wait().expect("a process").is_none(), "it ended without a deletion");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    run.child.kill().expect("killed");
    run.child.wait().expect("ended");
    *held.0.lock().expect("no test panics with it") = false;
    held.1.notify_all();
    assert_eq!(writes(&raw), ["DELETE /buckets/logs"]);

    let plan = scratch.trueup(&format!("plan {FILES}")).done().expect(0);
    assert!(plan.out.contains("+   Bucket logs"), "{}", plan.told());
    scratch.trueup(&format!("apply --yes {FILES}")).done().expect(0);
    assert_eq!(writes(&raw), ["DELETE /buckets/logs", "PUT /buckets/logs"]);
    let done = scratch.trueup(&format!("apply --yes --replace Bucket/logs {FILES}")).done().expect(0);
    assert!(done.out.contains("nothing was written"), "{}", done.told());
}
