//! A wrong key, a wrong name and wrong values: each is named, and nothing is changed by it.

use crate::device::{Device, LAPTOP};

#[test]
fn a_wrong_key_is_an_error_that_says_where_it_comes_from() {
    let Some(mut device) = Device::stocked() else { return };
    device.set("SYNCTHING_API_KEY", "wrong");
    for line in ["plan", "apply --yes"] {
        let run = device.run(line, 1);
        // A GUI with a password has another word for it.
        let said = ["403 Forbidden: CSRF Error", "401 Unauthorized: Not Authorized"];
        let folder =
            run.stdout.lines().find(|line| line.contains("reading Folder my photos")).expect("a line");
        assert!(said.into_iter().any(|said| folder.ends_with(said)), "{}", run.whole());
        let hint = "check the credential, which comes from env:SYNCTHING_API_KEY";
        assert!(run.stdout.contains(hint), "{}", run.whole());
    }
    assert!(device.run("get Folder", 1).stderr.contains("the server answered 40"));
}

/// The server would make the folder that the body names, whatever the path says.
#[test]
fn a_body_that_names_another_folder_is_refused_offline() {
    let Some(device) = Device::open() else { return };
    for (kind, key, part) in [("Folder", "docs", "id"), ("Device", LAPTOP, "deviceID")] {
        device.document(kind, &format!("{{{part}: {key}}}"), &format!("{{{part}: other}}"));
        for verb in ["validate", "apply --yes"] {
            let run = device.run(verb, 65);
            let said =
                format!("a.yaml:4:{}: `{part}` is `other` here and `{key}` in `metadata`", 10 + part.len());
            assert!(run.stderr.contains(&said), "{}", run.whole());
        }
    }
    device.document(
        "Device",
        &format!("{{deviceID: {LAPTOP}}}"),
        &format!("{{deviceID: {}}}", LAPTOP.to_lowercase()),
    );
    device.run("validate", 0);
}

#[test]
fn wrong_values_are_named_and_change_nothing() {
    let Some(device) = Device::open() else { return };
    let before = device.all();
    device.document("Device", "{deviceID: laptop}", "{name: laptop}");
    let report = device.json("apply --yes", 1);
    let message = report.object("Device laptop")["message"].as_str().expect("a message").to_owned();
    assert!(
        message.ends_with("400 Bad Request: \"laptop\": device ID invalid: incorrect length"),
        "{message}"
    );
    assert_eq!(device.all(), before);

    device.document("Options", "{}", "{maxSendKbps: much}");
    let report = device.json("apply --yes", 1);
    let message = report.object("Options ")["message"].as_str().expect("a message").to_owned();
    assert!(message.contains("400 Bad Request: json: cannot unmarshal string"), "{message}");
    assert_eq!(device.all(), before);
}

/// What the server drops or turns into something else without a word, trueup tells.
#[test]
fn what_the_server_ignores_is_told() {
    let Some(device) = Device::open() else { return };
    for (spec, path) in [
        ("{maxSendKpbs: 5}", "maxSendKpbs"),
        ("{minHomeDiskFree: {unit: null, value: 2}}", "minHomeDiskFree.unit"),
    ] {
        device.document("Options", "{}", spec);
        let report = device.json("apply --yes", 4);
        let options = report.object("Options ");
        assert_eq!(options["result"], "not-effective");
        assert_eq!(report.paths("Options "), [path]);
    }
    device.document("Folder", "{id: docs}", "{path: \"{folders}/docs\", type: sendonlyy}");
    let report = device.json("apply --yes", 4);
    assert_eq!(report.paths("Folder docs"), ["type"]);
}
