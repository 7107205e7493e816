use std::fs;
use std::sync::Arc;

use super::*;
use crate::manifest::yaml;

fn env(name: &str) -> Option<OsString> {
    match name {
        "URL" => Some("http://x".into()),
        "PASSWORD" => Some("hunter2".into()),
        "EMPTY" => Some("".into()),
        #[cfg(unix)]
        "BROKEN" => Some(std::os::unix::ffi::OsStringExt::from_vec(vec![0xFF])),
        _ => None,
    }
}

/// Fills a text that stands in `dir/manifests/a.yaml`; gives the tree, the problems and the secrets.
fn fill(text: &str, change: impl FnOnce(Outsides<'_>) -> Outsides<'_>) -> (Node, Vec<String>, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    let manifests = folder.path().join("manifests");
    fs::create_dir_all(manifests.join("certs")).expect("a folder");
    fs::write(manifests.join("certs/ca.pem"), "PEM\n\r\n").expect("a file");
    fs::write(manifests.join("bad.bin"), [0xFF]).expect("a file");
    fs::write(folder.path().join("token"), "s3cret\n").expect("a file");
    let source = Arc::new(Source {
        file: manifests.join("a.yaml").display().to_string().into(),
        text: text.replace("DIR", &folder.path().display().to_string()),
    });
    let mut root = yaml::parse(&source).expect("YAML").remove(0).root;
    let mut outsides = change(Outsides::new(&env, std::slice::from_ref(&manifests)));
    let problems = outsides.fill(&mut root, &source);
    let here = folder.path().display().to_string();
    let told = |p: &Problem| format!("{p} | {}", p.hint.as_deref().unwrap_or("")).replace(&here, "DIR");
    let secrets = outsides.secrets().map(str::to_owned).collect();
    (root, problems.iter().map(told).collect(), secrets)
}

fn secret<'n>(root: &'n Node, name: &str) -> Option<&'n str> {
    match &root.get(name).expect("a member").want {
        Want::Secret(secret) => secret.reveal(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn values_are_put_in() {
    let text = "url: [!env URL]\nempty: !env EMPTY\nca: !file certs/ca.pem\n\
                password: !secret env:PASSWORD\ntoken: !secret file:DIR/token\nnone: !secret env:NONE\nno: !secret file:none\nnothing: !secret env:EMPTY\n";
    let (root, problems, secrets) = fill(text, |outsides| outsides);
    assert_eq!(problems, [] as [&str; 0]);
    assert_eq!(root.get("url").expect("url").to_value().expect("a value"), serde_json::json!(["http://x"]));
    assert_eq!(root.get("empty").and_then(Node::as_str), Some(""));
    assert_eq!(root.get("ca").and_then(Node::as_str), Some("PEM\n"), "one line end is taken off");
    assert_eq!(secret(&root, "password"), Some("hunter2"));
    assert_eq!(secret(&root, "token"), Some("s3cret"));
    assert_eq!((secret(&root, "none"), secret(&root, "no")), (None, None));
    assert_eq!(secret(&root, "nothing"), None, "an empty one is none");
    assert_eq!(secrets, ["hunter2", "s3cret"]);
}

#[test]
fn what_is_missing_or_forbidden_is_told() {
    for (text, message) in [
        (
            "a:\n  b: !env NONE",
            "DIR/manifests/a.yaml:2:6: the environment variable `NONE` is not set | set it, or write the value in its place",
        ),
        ("a: !env BROKEN", "DIR/manifests/a.yaml:1:4: the environment variable `BROKEN` is not UTF-8 | "),
        (
            "a: !file none",
            "DIR/manifests/a.yaml:1:4: reading `DIR/manifests/none`: no such file or directory | a `!file` is relative to the file it stands in",
        ),
        (
            "a: !file ../token",
            "DIR/manifests/a.yaml:1:4: `!file` may not read `../token`: it is outside of the `-f` folders | put the file beside the manifests, or name its folder with `-f`",
        ),
        (
            "a: !file /etc/passwd",
            "DIR/manifests/a.yaml:1:4: `!file` may not read `/etc/passwd`: it is outside of the `-f` folders | put the file beside the manifests, or name its folder with `-f`",
        ),
        (
            "a: !file certs",
            "DIR/manifests/a.yaml:1:4: reading `DIR/manifests/certs`: it is not a regular file | pipes and devices are not opened; `-f -` reads standard input",
        ),
    ] {
        assert_eq!(fill(text, |outsides| outsides).1, [message], "{text}");
    }
    let (_, problems, _) = fill("a: !file bad.bin", |outsides| outsides);
    assert!(problems[0].contains("it is not UTF-8: byte 0xFF at offset 0"), "{problems:?}");
    assert!(problems[0].starts_with("DIR/manifests/a.yaml:1:4"), "{problems:?}");
}

#[test]
fn the_boundary_of_variables_and_secret_files() {
    let text = "a: !env URL\nb: !secret env:PASSWORD\nc: !secret file:DIR/token\nd: !secret env:NONE";
    let (root, problems, secrets) =
        fill(text, |outsides| outsides.allow_env(&["U*".into()]).secrets_below_roots());
    assert_eq!(root.get("a").and_then(Node::as_str), Some("http://x"));
    assert_eq!(
        problems,
        [
            "DIR/manifests/a.yaml:2:4: the environment variable `PASSWORD` may not be read | `--allow-env GLOB` says which variables files may name",
            "DIR/manifests/a.yaml:3:4: `!secret` may not read `DIR/token`: it is outside of the `-f` folders | put the file beside the manifests, or name its folder with `-f`",
            "DIR/manifests/a.yaml:4:4: the environment variable `NONE` may not be read | `--allow-env GLOB` says which variables files may name",
        ]
    );
    assert_eq!(secrets, [] as [&str; 0]);
}
