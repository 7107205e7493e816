//! Many objects in one request, against a server that keeps the records of a zone as one list.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::servers::{Raw, Say, Seen};
use crate::support::Scratch;

const KIND: &str = r#"
    RRset:
      parent: {zone: none}
      key: {name: .name, type: .type}
      serial: zone
      list: {request: "GET /zones/{zone}", items: .rrsets}
      create: {request: "PATCH /zones/{zone}", send: full, batch: 100, body: '{rrsets: map(. + {changetype: "REPLACE"})}'}
      update: create
      delete: {request: "PATCH /zones/{zone}", batch: 100, body: '{rrsets: map({name, type, changetype: "DELETE"})}'}
"#;

type Zone = Arc<Mutex<BTreeMap<String, Value>>>;

/// A zone that takes a list of changes as a whole, and refuses all of them for one address that is none.
fn server() -> (Raw, Zone) {
    let zone = Zone::default();
    let held = zone.clone();
    let raw = Raw::new(move |seen: &Seen| {
        let mut records = held.lock().expect("no test panics with it");
        if seen.line.starts_with("GET ") {
            let all: Vec<&Value> = records.values().collect();
            return Say::json(&json!({"rrsets": all}).to_string());
        }
        let sent: Value = serde_json::from_str(&seen.body).expect("JSON");
        let changes = sent["rrsets"].as_array().expect("a list");
        if changes.iter().any(|change| change["address"] == "none") {
            return Say::answer("422 Unprocessable Content", "", r#"{"error": "not an address"}"#);
        }
        for change in changes {
            let name = change["name"].as_str().expect("a name").to_owned();
            if change["changetype"] == "DELETE" {
                records.remove(&name);
                continue;
            }
            let mut record = change.clone();
            record.as_object_mut().expect("a map").remove("changetype");
            records.insert(name, record);
        }
        Say::answer("204 No Content", "", "")
    });
    (raw, zone)
}

fn folder(raw: &Raw) -> Scratch {
    let head = "apiVersion: trueup/v1\nkind: Backend\nmetadata: {name: dns}\nspec:";
    Scratch::with("backend.yaml", format!("{head}\n  url: {}\n  kinds:{KIND}", raw.url()))
}

fn records(addresses: impl Iterator<Item = (usize, &'static str)>) -> String {
    let one = |(i, address)| {
        format!(
            "---\napiVersion: dns\nkind: RRset\nmetadata: {{zone: example.org, name: n{i:02}, type: A}}\nspec: {{address: {address}}}\n"
        )
    };
    addresses.map(one).collect()
}

fn patches(raw: &Raw) -> usize {
    raw.lines().iter().filter(|line| line.starts_with("PATCH ")).count()
}

#[test]
fn a_zone_is_made_changed_and_emptied_in_few_requests() {
    let (raw, zone) = server();
    let scratch = folder(&raw);
    scratch.write("a.yaml", records((0..30).map(|i| (i, "192.0.2.1"))));
    let apply = || scratch.trueup("apply --yes -f a.yaml -f backend.yaml").done().expect(0).told();
    let told = apply();
    let summary = |told: &str| told.lines().last().expect("a summary").to_owned();
    assert_snapshot!(summary(&told), @"Applied: 30 created. 30 objects seen in 4 requests.");
    assert_eq!((patches(&raw), zone.lock().expect("sound").len()), (1, 30));
    assert_snapshot!(summary(&apply()), @"All 30 objects are in sync; nothing was written. 30 objects seen in 1 request.");

    scratch.write("a.yaml", records((0..30).map(|i| (i, if i < 9 { "192.0.2.2" } else { "192.0.2.1" }))));
    assert_snapshot!(summary(&apply()), @"Applied: 9 updated, 21 in sync. 30 objects seen in 4 requests.");
    assert_eq!(patches(&raw), 2);

    let told = scratch.trueup("delete --yes -f a.yaml -f backend.yaml").done().expect(0).told();
    assert_snapshot!(summary(&told), @"Deleted: 30 deleted. 30 objects seen in 5 requests.");
    assert_eq!((patches(&raw), zone.lock().expect("sound").len()), (3, 0));
}

#[test]
fn the_record_that_is_refused_is_named_and_the_others_are_made() {
    let (raw, zone) = server();
    let scratch = folder(&raw);
    scratch.write("a.yaml", records((0..30).map(|i| (i, if i == 17 { "none" } else { "192.0.2.1" }))));
    let done = scratch.trueup("apply --yes -f a.yaml -f backend.yaml").done().expect(4);
    let told: Vec<String> =
        done.told().lines().filter(|line| !line.contains("created")).map(str::to_owned).collect();
    assert_snapshot!(told.join("\n"), @"
    exit 4
    !   RRset example.org/n17/A   a.yaml:87
        failed: creating RRset example.org/n17/A: the server answered 422 Unprocessable Content: not an address
    ");
    assert_eq!(zone.lock().expect("sound").len(), 29);
    assert!(patches(&raw) <= 11, "{:?}", raw.lines());
}

#[test]
fn a_batch_that_names_one_object_is_wrong_offline() {
    let (raw, _) = server();
    let scratch = folder(&raw);
    let kind = KIND.replace("\"PATCH /zones/{zone}\", send", "\"PATCH /zones/{zone}/{name}\", send");
    let head = "apiVersion: trueup/v1\nkind: Backend\nmetadata: {name: dns}\nspec:";
    scratch.write("backend.yaml", format!("{head}\n  url: {}\n  kinds:{kind}", raw.url()));
    scratch.write("a.yaml", records(std::iter::once((0, "192.0.2.1"))));
    assert_snapshot!(scratch.trueup("validate -f a.yaml -f backend.yaml").done().told(), @r#"
    exit 65
    --- stderr
    warning: 1 document was not checked: the backend `dns` cannot be read whole
    error: backend.yaml:12:15: `{name}` in `create` names one object, and a `batch` is of many
       |
    12 |       create: {request: "PATCH /zones/{zone}/{name}", send: full, batch: 100, body: '{rrsets: map(. …
       |               ^
    hint: say which objects are meant in the `body`
    1 error, 1 warning.
    "#);
}
