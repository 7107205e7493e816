//! The password of the GUI, the key of the API and the passwords of shares: sent when due, never lost, never shown.

use serde_json::json;

use crate::device::{API_KEY, Device, GUI_PASSWORD, VAULT, VAULT_PASSWORD};

fn hash(device: &Device) -> String {
    device.server.get("/config/gui")["password"].as_str().expect("a text").to_owned()
}

#[test]
fn the_password_is_set_once_and_again_on_demand() {
    let Some(device) = Device::stocked() else { return };
    let first = hash(&device);
    assert!(first.starts_with("$2a$"), "{first}");
    assert_eq!(device.json("apply --yes", 0).writes(), 0);
    device.take_all("changed");
    device.run("apply --yes", 0);
    assert_eq!(hash(&device), first, "a change of the name leaves the password");
    let report = device.json("apply --yes --rotate GUI", 0);
    assert_eq!((report.requests("update"), report.writes()), (1, 1));
    assert_ne!(hash(&device), first, "a hash has new salt");
    assert!(device.rows("plan", 0).is_empty());
}

#[test]
fn secrets_reach_no_output() {
    let Some(device) = Device::open() else { return };
    device.take_all("all");
    let mut said = String::new();
    for line in ["plan", "plan --output json", "apply --yes", "plan -v", "get", "get --output json", "drift"]
    {
        said += &device.run(line, 0).whole();
    }
    let shared = json!({"devices": [{"deviceID": VAULT, "encryptionPassword": "theirs-s3cr3t"}]});
    device.server.send(reqwest::Method::PATCH, "/config/folders/docs", Some(shared));
    let drift = device.run("drift", 2).whole();
    assert!(drift.contains("encryptionPassword   (secret, changed)"), "{drift}");
    said += &drift;
    said += &device.run("get Folder --output json", 0).whole();
    for secret in [GUI_PASSWORD, "s3cr3t", VAULT_PASSWORD, API_KEY, &hash(&device)] {
        assert!(!said.contains(secret), "{secret} in {said}");
    }
    assert!(said.contains("(secret)"));
}

#[test]
fn without_its_variable_that_object_alone_is_refused() {
    let Some(mut device) = Device::stocked() else { return };
    device.unset("VAULT_PASSWORD");
    let shares = device.server.get("/config/folders/docs")["devices"].clone();
    device.server.send(reqwest::Method::PATCH, "/config/folders/docs", Some(json!({"devices": []})));
    let report = device.json("apply --yes", 5);
    let folder = report.object("Folder docs");
    assert_eq!(
        (&folder["result"], &folder["message"]),
        (&json!("refused"), &json!("the secret `env:VAULT_PASSWORD` is not set"))
    );
    device.set("VAULT_PASSWORD", VAULT_PASSWORD);
    device.run("apply --yes", 0);
    assert_eq!(device.server.get("/config/folders/docs")["devices"], shares);
}
