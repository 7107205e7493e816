//! What is in the image.

use std::path::Path;

use serde_json::{Value, json};

use crate::podman::Image;

/// All files below a folder.
fn files(folder: &Path, root: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.is_symlink() {
            files(&path, root, found);
        } else {
            found.push(path.strip_prefix(root).expect("it is below").display().to_string());
        }
    }
}

#[test]
fn it_has_two_files_and_nobody_s_rights() {
    let Some(image) = Image::from_env() else { return };
    let mounted = image.podman(&["image", "mount", "IMAGE"]);
    let root = Path::new(mounted.trim());
    let mut found = Vec::new();
    files(root, root, &mut found);
    image.podman(&["image", "unmount", "IMAGE"]);
    found.sort();
    assert_eq!(found, ["etc/ssl/certs/ca-certificates.crt", "trueup"]);
    let told = image.podman(&["image", "inspect", "IMAGE"]);
    let told: Value = serde_json::from_str(&told).expect("JSON");
    let config = &told[0]["Config"];
    assert_eq!(config["User"], "65532:65532");
    assert_eq!(config["Entrypoint"], json!(["/trueup"]));
    assert_eq!(config["Cmd"][0], "watch");
}

#[test]
fn the_program_runs_in_it() {
    let Some(image) = Image::from_env() else { return };
    let said = image.run(&[], &["--version"], 0);
    assert_eq!(said.trim(), concat!("trueup ", env!("CARGO_PKG_VERSION")));
    // The container's own command is one that the program takes: what it lacks is files.
    let said = image.run(&[], &[], 65);
    assert!(said.contains("/manifests"), "{said}");
}
