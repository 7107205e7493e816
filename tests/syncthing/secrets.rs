//! The password of the GUI, the key of the API and the passwords of shares: sent when due, never lost, never shown.

use reqwest::Method;
use serde_json::json;

use crate::device::{API_KEY, Device, GUI_PASSWORD, VAULT, VAULT_PASSWORD};

fn hash(device: &Device) -> String {
    device.server.get("/config/gui")["password"].as_str().expect("a text").to_owned()
}

/// Whether `bob` and the password open the GUI.
fn lets_bob_in(device: &Device) -> bool {
    let bob = |request: reqwest::RequestBuilder| request.basic_auth("bob", Some(GUI_PASSWORD));
    device.server.request_as(bob, Method::GET, "/../", None).0 == 200
}

/// One test, as Syncthing makes few changes of its GUI in a row without a pause. A password that it has had it
/// never goes without again: a server that is used for the second time has one.
#[test]
fn the_password_is_set_once_and_again_on_demand() {
    let Some(device) = Device::open() else { return };
    device.take("all", "gui.yaml");
    device.run("apply --yes", 0);
    let first = hash(&device);
    assert!(first.starts_with("$2a$"), "{first}");
    assert!(lets_bob_in(&device));
    assert_eq!(device.json("apply --yes", 0).writes(), 0);

    device.take("changed", "gui.yaml");
    assert_eq!(device.json("plan", 0).paths("GUI "), ["user"]);
    let report = device.json("apply --yes --rotate GUI", 0);
    assert!(report.requests("update") >= 1);
    let second = hash(&device);
    assert_ne!(second, first, "a hash has new salt");
    assert!(!lets_bob_in(&device));

    let mut said = String::new();
    for line in ["plan -v", "get GUI", "get GUI --output json", "apply --yes -vv"] {
        said += &device.run(line, 0).whole();
    }
    for secret in [GUI_PASSWORD, "s3cr3t", API_KEY, &first, &second] {
        assert!(!said.contains(secret), "{secret} in {said}");
    }
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
    device.server.send(Method::PATCH, "/config/folders/docs", Some(shared));
    let drift = device.run("drift", 2).whole();
    assert!(drift.contains("encryptionPassword   (secret, changed)"), "{drift}");
    said += &drift;
    said += &device.run("get Folder --output json", 0).whole();
    for secret in ["s3cr3t", VAULT_PASSWORD, API_KEY] {
        assert!(!said.contains(secret), "{secret} in {said}");
    }
    assert!(said.contains("(secret)"));
}

#[test]
fn without_its_variable_that_object_alone_is_refused() {
    let Some(mut device) = Device::stocked() else { return };
    device.unset("VAULT_PASSWORD");
    let shares = device.server.get("/config/folders/docs")["devices"].clone();
    device.server.send(Method::PATCH, "/config/folders/docs", Some(json!({"devices": []})));
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
