//! Renames in place and cycles, with the real binary against a server with ids of its own.

use std::sync::{Arc, Mutex};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::repository::Repository;
use crate::servers::{Raw, Say, Seen};
use crate::support::{Done, Scratch};

const BACKEND: &str = "apiVersion: trueup/v1
kind: Backend
metadata: {name: gateway}
spec:
  url: URL
  kinds:
    Consumer:
      key: {name: .name}
      list: GET /consumers
      read: GET /consumers/{id}
      create: POST /consumers
      update: PATCH /consumers/{id}
      delete: DELETE /consumers/{id}
      visible: 100ms
";

/// Consumers in the order in which they were made; ids count from 1.
fn server() -> (Raw, Arc<Mutex<Vec<Value>>>) {
    let all: Arc<Mutex<Vec<Value>>> = Arc::default();
    let held = all.clone();
    let raw = Raw::new(move |seen: &Seen| answer(&mut held.lock().expect("no test panics with it"), seen));
    (raw, all)
}

fn answer(all: &mut Vec<Value>, seen: &Seen) -> Say {
    let (method, path) = seen.line.split_once(' ').expect("a request");
    let id: Option<u64> = path.strip_prefix("/consumers/").and_then(|id| id.parse().ok());
    let sent: Value = serde_json::from_str(&seen.body).unwrap_or_default();
    match (method, id) {
        ("GET", None) => Say::json(&json!(all).to_string()),
        ("POST", None) => {
            let mut new = sent;
            new["id"] = (all.len() + 1).into();
            all.push(new.clone());
            Say::answer("201 Created", "content-type: application/json\r\n", &new.to_string())
        }
        (_, Some(id)) => {
            let Some(one) = all.iter_mut().find(|one| one["id"] == id) else {
                return Say::answer("404 Not Found", "", "");
            };
            for (name, value) in sent.as_object().into_iter().flatten() {
                one[name] = value.clone();
            }
            Say::json(&one.to_string())
        }
        _ => Say::answer("405 Method Not Allowed", "", ""),
    }
}

fn folder(raw: &Raw, manifests: &str) -> Scratch {
    let scratch = Scratch::with("backend.yaml", BACKEND.replace("URL", &raw.url()));
    scratch.write("a.yaml", manifests);
    scratch
}

fn run(scratch: &Scratch, verb: &str) -> Done {
    scratch.trueup(&format!("{verb} -f a.yaml -f backend.yaml")).done()
}

fn writes(raw: &Raw) -> Vec<String> {
    raw.lines().into_iter().filter(|line| !line.starts_with("GET ")).collect()
}

const RENAMED: &str = "apiVersion: gateway
kind: Consumer
metadata:
  name: new
  annotations: {trueup/was: old}
spec: {custom_id: '42'}
";

#[test]
fn a_rename_is_one_update() {
    let (raw, all) = server();
    all.lock().expect("sound").push(json!({"id": 1, "name": "old", "custom_id": "42", "tags": ["kept"]}));
    let scratch = folder(&raw, RENAMED);
    assert_snapshot!(run(&scratch, "plan").told(), @r#"
    exit 0
    ~   Consumer new   a.yaml:1
          name   "old" → "new"   differs on the server
    Plan: 1 to update. 1 object seen in 1 request.
    "#);
    assert_snapshot!(run(&scratch, "apply --yes").told(), @r#"
    exit 0
    ~   Consumer new   a.yaml:1   updated
          name   "old" → "new"   differs on the server
    Applied: 1 updated. 1 object seen in 4 requests.
    "#);
    assert_eq!(writes(&raw), ["PATCH /consumers/1"]);
    assert_eq!(
        all.lock().expect("sound")[0],
        json!({"id": 1, "name": "new", "custom_id": "42", "tags": ["kept"]})
    );
    assert_snapshot!(run(&scratch, "apply --yes").told(), @"
    exit 0
    =   Consumer new   a.yaml:1
        RenameDone: nothing is named `Consumer old` any more
        hint: the annotation `trueup/was` can be removed
    The one object is in sync; nothing was written. 1 object seen in 1 request.
    ");
    assert_eq!(writes(&raw).len(), 1);
}

#[test]
fn both_names_are_a_conflict() {
    let (raw, all) = server();
    all.lock().expect("sound").extend([json!({"id": 1, "name": "old"}), json!({"id": 2, "name": "new"})]);
    assert_snapshot!(run(&folder(&raw, RENAMED), "apply --yes").told(), @r#"
    exit 3
    !   Consumer new   a.yaml:1
        + custom_id   "42"   missing on the server
        conflict: both `Consumer new` and `Consumer old`, which it was, are there
        hint: remove one of the two, or `trueup/was` if the other is an object of its own
    Applied: 1 conflict. 2 objects seen in 1 request.
    "#);
    assert!(writes(&raw).is_empty());
}

#[test]
fn a_rename_has_the_base_of_the_old_name() {
    let (raw, all) = server();
    all.lock().expect("sound").push(json!({"id": 1, "name": "old", "custom_id": "42", "tags": ["left"]}));
    let scratch = folder(&raw, RENAMED);
    scratch.write(
        "base/a.yaml",
        "apiVersion: gateway
kind: Consumer
metadata: {name: old}
spec: {custom_id: '42', tags: [left]}
",
    );
    assert_snapshot!(run(&scratch, "plan --base base").told(), @r#"
    exit 0
    ~   Consumer new   a.yaml:1
          name   "old" → "new"   pending: changed in the files
        - tags   ["left"]        pending: declared no longer
    Plan: 1 to update. 1 object seen in 1 request.
    "#);
}

#[test]
fn a_wrong_part_is_an_error_at_its_place() {
    let (raw, _) = server();
    let wrong = RENAMED.replace("trueup/was: old", "trueup/was: {nmae: old}");
    assert_snapshot!(run(&folder(&raw, &wrong), "validate").told(), @"
    exit 65
    --- stderr
    error: a.yaml:5:29: `trueup/was`: `nmae` is no part of the key of a `Consumer`
      |
    5 |   annotations: {trueup/was: {nmae: old}}
      |                             ^
    hint: did you mean `name`? the parts of its own are `name`
    1 error.
    ");
    assert_snapshot!(run(&folder(&raw, &RENAMED.replace("was: old", "was: new")), "validate").told(), @"
    exit 65
    --- stderr
    error: a.yaml:5:29: `trueup/was` is the name that it has: `new`
      |
    5 |   annotations: {trueup/was: new}
      |                             ^
    1 error.
    ");
}

const CYCLE: &str = "apiVersion: gateway
kind: Consumer
metadata: {name: a}
spec: {peer: {id: !ref Consumer/b .id}}
---
apiVersion: gateway
kind: Consumer
metadata: {name: b}
spec: {peer: {id: !ref Consumer/a .id}}
";

#[test]
fn two_that_refer_to_each_other_are_created_then_tied() {
    let (raw, all) = server();
    let scratch = folder(&raw, CYCLE);
    assert_snapshot!(run(&scratch, "plan").told(), @"
    exit 0
    +   Consumer a   a.yaml:1
        SetLater: created first, then `peer.id` is set once `Consumer b` exists
    +   Consumer b   a.yaml:6
    Plan: 2 to create. 0 objects seen in 1 request.
    ");
    assert_snapshot!(run(&scratch, "apply --yes").told(), @r#"
    exit 0
    +   Consumer a   a.yaml:1   created
          peer   {"id":2}
    +   Consumer b   a.yaml:6   created
    Applied: 2 created. 2 objects seen in 10 requests.
    "#);
    assert_eq!(writes(&raw), ["POST /consumers", "POST /consumers", "PATCH /consumers/1"]);
    let (a, b) =
        (json!({"id": 1, "name": "a", "peer": {"id": 2}}), json!({"id": 2, "name": "b", "peer": {"id": 1}}));
    assert_eq!(*all.lock().expect("sound"), [a, b]);
    run(&scratch, "apply --yes").expect(0);
    run(&scratch, "drift --base .").expect(0);
    assert_eq!(writes(&raw).len(), 3, "the second run writes nothing");
}

#[test]
fn a_cycle_of_an_order_is_an_error() {
    let (raw, _) = server();
    let tied = CYCLE
        .replace("metadata: {name: a}", "metadata: {name: a, annotations: {trueup/depends-on: Consumer/b}}");
    let tied = tied
        .replace("metadata: {name: b}", "metadata: {name: b, annotations: {trueup/depends-on: Consumer/a}}");
    assert_snapshot!(run(&folder(&raw, &tied), "validate").told(), @"
    exit 65
    --- stderr
    error: a.yaml:1:1: these documents need each other: Consumer a (a.yaml:1:1) → Consumer b (a.yaml:6:1) → Consumer a (a.yaml:1:1)
      |
    1 | apiVersion: gateway
      | ^
    hint: break the cycle: leave the reference out of one of them, or state its value
    1 error.
    ");
}

/// The base of a renamed object is that of its old name, in a saved plan as well.
#[test]
fn a_base_knows_the_old_name() {
    let (raw, all) = server();
    let repository = Repository::new();
    repository.write("m/backend.yaml", &BACKEND.replace("URL", &raw.url()));
    let old =
        "apiVersion: gateway\nkind: Consumer\nmetadata: {name: old}\nspec: {custom_id: '42', gone: 1}\n";
    repository.commit("m/a.yaml", old);
    repository.run("apply --yes -f m").expect(0);
    repository.write("m/a.yaml", &RENAMED.replace("'42'", "'43'"));
    let told = repository.run("plan -f m --base HEAD --out p.plan").expect(0).told();
    assert!(told.contains("pending: declared no longer") && !told.contains("left the files"), "{told}");
    assert!(told.contains("\"42\" → \"43\"     pending: changed in the files"), "{told}");
    repository.run("apply p.plan").expect(0);
    let stored = all.lock().expect("no test panics with it").clone();
    assert_eq!((stored.len(), &stored[0]["name"], &stored[0]["custom_id"]), (1, &json!("new"), &json!("43")));
    let again = repository.run("apply p.plan").expect(5).told();
    assert!(again.contains("already applied"), "{again}");
}
