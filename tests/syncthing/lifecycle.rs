//! From a new server to in sync, one change of each kind, and away again: the plan shows exactly these.

use serde_json::json;

use crate::device::{Device, LAPTOP, manifest};

const CREATED: [&str; 5] =
    ["Device laptop", "Device vault", "Folder docs", "Folder my photos 100%", "Ignores docs"];
const SINGLE: [&str; 5] = ["DeviceDefaults", "FolderDefaults", "IgnoreDefaults", "LDAP", "Options"];

fn rows(parts: &[(&str, &[&str])]) -> Vec<String> {
    let row = |(word, names): &(&str, &[&str])| -> Vec<String> {
        names.iter().map(|name| format!("{word} {name}")).collect()
    };
    let mut all: Vec<String> = parts.iter().flat_map(row).collect();
    all.sort();
    all
}

fn named(rows: Vec<String>) -> Vec<String> {
    rows.into_iter().map(|row| row.trim_end().to_owned()).collect()
}

#[test]
fn from_new_to_in_sync_and_the_second_apply_writes_nothing() {
    let Some(device) = Device::open() else { return };
    device.take_all("all");
    let before = device.all();
    assert_eq!(device.run("validate", 0).stdout, "10 documents are valid, 9 kinds known.\n");
    let plan = named(device.rows("plan", 0));
    assert_eq!(plan, rows(&[("create planned", &CREATED), ("update planned", &SINGLE)]));
    assert_eq!(device.all(), before, "a plan never writes");

    let done = named(device.rows("apply --yes", 0));
    // The patterns of a folder are there as soon as it is.
    let (new, ignores) = CREATED.split_at(4);
    assert_eq!(done, rows(&[("create done", new), ("update done", ignores), ("update done", &SINGLE)]));

    let text = device.run("plan", 0).stdout;
    assert!(text.starts_with("All 10 objects are in sync. 10 objects seen in "), "{text}");
    assert_eq!(device.json("apply --yes", 0).writes(), 0);
    assert!(device.rows("drift", 0).is_empty());
    let laptop = device.server.get(&format!("/config/devices/{LAPTOP}"));
    assert_eq!((&laptop["name"], &laptop["deviceID"]), (&json!("laptop"), &json!(LAPTOP)));
    let docs = device.server.get("/config/folders/docs");
    assert_eq!(docs["devices"].as_array().map(Vec::len), Some(3), "ours and its own");
    assert_eq!(docs["maxConflicts"], 10);
}

#[test]
fn one_change_of_each_kind_is_shown_exactly_and_applied() {
    let Some(device) = Device::stocked() else { return };
    device.take_all("changed");
    let plan = device.json("plan", 0);
    assert_eq!(
        named(device.rows("plan", 0)),
        rows(&[("update planned", &CREATED), ("update planned", &SINGLE)])
    );
    assert_eq!(plan.paths(&format!("Device {}", LAPTOP.to_lowercase())), ["name"]);
    assert_eq!(plan.paths("Folder docs"), ["label", "versioning.params.keep"]);
    assert_eq!(plan.paths("Folder my photos 100%"), ["type"]);
    assert_eq!(plan.paths("Options "), ["maxSendKbps"]);
    assert_eq!(plan.paths("IgnoreDefaults "), ["lines[1]"]);

    let done = device.json("apply --yes", 0);
    assert_eq!((done.requests("update"), done.writes()), (10, 10));
    assert!(device.rows("plan", 0).is_empty());
    assert_eq!(device.json("apply --yes", 0).writes(), 0);
    let ignores = device.server.get("/db/ignores?folder=docs");
    assert_eq!(ignores["ignore"], json!(["*.tmp", "!keep.tmp"]));
}

#[test]
fn one_of_many_is_deleted_and_its_neighbours_stay() {
    let Some(device) = Device::stocked() else { return };
    let photos = "metadata: {id: \"my photos 100%\"}";
    let absent = "metadata: {annotations: {trueup/ensure: absent}, id: \"my photos 100%\"}";
    device.write("shared.yaml", &manifest("all", "shared.yaml").replace(photos, absent));
    assert_eq!(device.rows("plan", 0), ["delete planned Folder my photos 100%"]);
    assert_eq!(device.rows("apply --yes", 0), ["delete done Folder my photos 100%"]);
    assert!(device.rows("plan", 0).is_empty());
    let folders = device.server.get("/config/folders");
    assert_eq!(folders.as_array().map(Vec::len), Some(1));
}

#[test]
fn the_whole_set_is_deleted_but_for_what_there_is_one_of() {
    let Some(device) = Device::stocked() else { return };
    device.run("delete", 5);
    assert_eq!(device.server.get("/config/folders/docs")["id"], "docs", "nobody agreed");
    let gone = named(device.rows("delete --yes", 5));
    assert_eq!(gone, rows(&[("delete done", &CREATED), ("delete refused", &SINGLE)]));
    assert_eq!(device.server.get("/config/folders"), json!([]));
    assert_eq!(device.server.get("/config/devices").as_array().map(Vec::len), Some(1), "its own");
}
