//! Pruning: a folder that left the files leaves the device, and devices, which no Set claims, stay.

use serde_json::json;

use crate::device::{Device, STRANGER};

const SET: &str = "apiVersion: trueup/v1
kind: Set
metadata: {name: folders}
spec: {scope: [{kind: Folder, exclusive: true}], max-deletes: 1}
";

#[test]
fn a_folder_that_left_the_files_leaves_the_device() {
    let Some(device) = Device::stocked() else { return };
    device.write("set.yaml", SET);
    assert_eq!(device.rows("plan --prune", 0), [""; 0]);
    let folder = |id: &str| json!({"id": id, "path": device.path().join("folders").join(id), "paused": true});
    device.server.put("/config/folders/left", folder("left"));
    device
        .server
        .put(&format!("/config/devices/{STRANGER}"), json!({"deviceID": STRANGER, "name": "theirs"}));
    assert_eq!(device.rows("plan --prune", 0), ["delete planned Folder left"]);
    assert_eq!(device.rows("apply --prune --yes", 0), ["delete done Folder left"]);
    let all = device.all();
    let ids: Vec<_> = all["folders"].as_array().expect("a list").iter().map(|folder| &folder["id"]).collect();
    assert_eq!(ids, ["docs", "my photos 100%"]);
    assert_eq!(device.server.get(&format!("/config/devices/{STRANGER}"))["name"], "theirs");
    assert_eq!(device.json("apply --prune --yes", 0).writes(), 0);

    for id in ["one", "two"] {
        device.server.put(&format!("/config/folders/{id}"), folder(id));
    }
    assert_eq!(device.json("apply --prune --yes", 5).writes(), 0, "two are over the limit");
}
