//! A person's hand: what it changed is found and repaired, what no file names is left alone.

use reqwest::Method;
use serde_json::{Value, json};

use crate::device::{Device, LAPTOP, STRANGER, manifest};

fn shared_with(device: &Device, folder: &str) -> Vec<Value> {
    let folder = device.server.get(&format!("/config/folders/{folder}"));
    let devices = folder["devices"].as_array().expect("devices").iter();
    devices.map(|device| device["deviceID"].clone()).collect()
}

#[test]
fn what_nobody_declared_survives() {
    let Some(device) = Device::stocked() else { return };
    let server = &device.server;
    server.send(
        Method::PATCH,
        "/config/folders/docs",
        Some(json!({"maxConflicts": 3, "paused": true,
        "versioning": {"params": {"cleanoutDays": "4"}}})),
    );
    server.send(Method::PATCH, &format!("/config/devices/{LAPTOP}"), Some(json!({"maxRecvKbps": 77})));
    server.send(Method::PATCH, "/config/options", Some(json!({"keepTemporariesH": 5})));
    server.send(Method::PATCH, "/config/defaults/folder", Some(json!({"order": "alphabetic"})));
    let theirs = json!({"deviceID": STRANGER, "name": "theirs"});
    server.put(&format!("/config/devices/{STRANGER}"), theirs);
    assert!(device.rows("plan", 0).is_empty());

    device.take_all("changed");
    device.run("apply --yes", 0);
    let docs = server.get("/config/folders/docs");
    assert_eq!(
        (&docs["maxConflicts"], &docs["paused"], &docs["label"]),
        (&json!(3), &json!(true), &json!("Papers"))
    );
    assert_eq!(docs["versioning"]["params"], json!({"keep": "9", "cleanoutDays": "4"}));
    let laptop = server.get(&format!("/config/devices/{LAPTOP}"));
    assert_eq!((&laptop["maxRecvKbps"], &laptop["name"]), (&json!(77), &json!("old laptop")));
    assert_eq!(server.get("/config/options")["keepTemporariesH"], 5);
    assert_eq!(server.get("/config/options")["minHomeDiskFree"], json!({"value": 2, "unit": "%"}));
    assert_eq!(server.get("/config/defaults/folder")["order"], "alphabetic");
    assert_eq!(server.get(&format!("/config/devices/{STRANGER}"))["name"], "theirs");
}

#[test]
fn a_persons_changes_are_found_and_repaired() {
    let Some(device) = Device::stocked() else { return };
    let server = &device.server;
    server.delete(&format!("/config/devices/{LAPTOP}"));
    server.send(Method::PATCH, "/config/options", Some(json!({"maxSendKbps": 1})));
    server.post("/db/ignores?folder=docs", json!({"ignore": ["*"]}));
    let found = device.rows("drift", 2);
    let found: Vec<&str> = found.iter().map(|row| row.trim_end()).collect();
    // With the device went its share of the folder.
    let want = [
        "create planned Device laptop",
        "update planned Folder docs",
        "update planned Ignores docs",
        "update planned Options",
    ];
    assert_eq!(found, want);
    device.run("apply --yes", 0);
    assert!(device.rows("drift", 0).is_empty());
    assert!(shared_with(&device, "docs").contains(&json!(LAPTOP)));
}

#[test]
fn a_device_that_a_file_does_not_name_has_no_share() {
    let Some(device) = Device::stocked() else { return };
    let server = &device.server;
    let own = server.get("/config/defaults/folder")["devices"][0]["deviceID"].clone();
    let theirs = json!({"deviceID": STRANGER, "name": "theirs"});
    server.put(&format!("/config/devices/{STRANGER}"), theirs);
    let mut shares = server.get("/config/folders/docs")["devices"].clone();
    shares.as_array_mut().expect("devices").push(json!({"deviceID": STRANGER}));
    server.send(Method::PATCH, "/config/folders/docs", Some(json!({"devices": shares})));
    let drift = device.json("drift", 2);
    assert_eq!(drift.paths("Folder docs"), [format!("devices[deviceID={STRANGER}]")]);
    device.run("apply --yes", 0);
    let left = shared_with(&device, "docs");
    assert!(
        !left.contains(&json!(STRANGER)) && left.contains(&json!(LAPTOP)) && left.contains(&own),
        "{left:?}"
    );

    let none = manifest("all", "shared.yaml");
    let (before, after) = none.split_once("  devices:\n").expect("the list");
    let rest = after.split_once("  versioning").expect("what follows").1;
    device.write("shared.yaml", &format!("{before}  devices: []\n  versioning{rest}"));
    device.run("apply --yes", 0);
    assert_eq!(shared_with(&device, "docs"), [own]);
    assert!(device.rows("plan", 0).is_empty());
}
