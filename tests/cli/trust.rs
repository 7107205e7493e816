//! The trust boundary: who may edit manifests must not be able to reach other servers, files, variables or
//! commands with the credentials of the run.

use std::os::unix::fs::symlink;

use insta::assert_snapshot;

use crate::servers::{Raw, Say, TEAM_AND_SPACE, backend};
use crate::support::Scratch;

fn empty() -> Raw {
    Raw::new(|_| Say::json("{\"items\": []}"))
}

/// `--backends` is the only source: a backend among the manifests, with another address, is never contacted.
#[test]
fn a_backend_among_the_manifests() {
    let (trusted, evil) = (empty(), empty());
    let scratch = Scratch::new();
    scratch.write("trusted.yaml", backend(&trusted.url(), "  auth: {bearer: !secret env:TOKEN}"));
    scratch.write("repo/a.yaml", TEAM_AND_SPACE.split("---").next().expect("a team"));
    scratch.write("repo/evil.yaml", backend(&evil.url(), "  auth: {bearer: !secret env:TOKEN}"));
    let line = "plan -f repo --backends trusted.yaml";
    assert_snapshot!(scratch.trueup(line).env("TOKEN", "tok-1").done().told(), @"
    exit 0
    +   Team red   repo/a.yaml:1
    Plan: 1 to create. 0 objects seen in 1 request.
    --- stderr
    warning: repo/evil.yaml:1:1: the backend `demo` is ignored: `--backends` names the only ones
    ");
    assert_eq!(trusted.lines(), ["GET /teams?limit=100"]);
    assert_eq!(evil.lines(), [""; 0]);
    let twin =
        scratch.trueup("plan -f repo").env("TRUEUP_BACKENDS", "trusted.yaml").env("TOKEN", "tok-1").done();
    assert_eq!(twin.code(), 0, "{}", twin.told());
    assert_eq!(evil.lines(), [""; 0]);
}

/// A backend that only stands among the manifests is none at all.
#[test]
fn a_backend_that_only_the_manifests_have() {
    let evil = empty();
    let scratch = Scratch::new();
    scratch.write("trusted.yaml", backend("http://127.0.0.1:9", ""));
    let rename = |text: String| text.replace("name: demo", "name: evil");
    scratch.write("repo/evil.yaml", rename(backend(&evil.url(), "")));
    scratch.write("repo/a.yaml", TEAM_AND_SPACE.replace("apiVersion: demo", "apiVersion: evil"));
    assert_snapshot!(scratch.trueup("apply --yes -f repo --backends trusted.yaml").done().told(), @"
    exit 65
    --- stderr
    error: repo/a.yaml:2:7: there is no backend `evil`, which 2 documents name
      |
    2 | kind: Team
      |       ^
    hint: the backends are `demo`
    warning: repo/evil.yaml:1:1: the backend `evil` is ignored: `--backends` names the only ones
    1 error, 1 warning.
    ");
    assert_eq!(evil.lines(), [""; 0]);
}

#[test]
fn variables_that_may_not_be_read() {
    let scratch =
        Scratch::with("backend.yaml", backend("http://127.0.0.1:9", "  auth: {bearer: !secret env:TOKEN}"));
    scratch.write(
        "a.yaml",
        "apiVersion: demo\nkind: Space\nmetadata: {name: shop}\nspec: {a: !env APP_NAME, b: !env AWS_KEY, c: !secret env:TOKEN}\n",
    );
    let line = "validate -f a.yaml --backends backend.yaml --allow-env APP_*";
    let run = scratch.trueup(line).env("APP_NAME", "x").env("AWS_KEY", "aws-1").env("TOKEN", "tok-1");
    let told = run.done().told();
    assert_snapshot!(told, @"
    exit 65
    --- stderr
    error: a.yaml:4:29: the environment variable `AWS_KEY` may not be read
      |
    4 | spec: {a: !env APP_NAME, b: !env AWS_KEY, c: !secret env:TOKEN}
      |                             ^
    hint: `--allow-env GLOB` says which variables files may name
    error: a.yaml:4:46: the environment variable `TOKEN` may not be read
      |
    4 | spec: {a: !env APP_NAME, b: !env AWS_KEY, c: !secret env:TOKEN}
      |                                              ^
    hint: `--allow-env GLOB` says which variables files may name
    2 errors.
    ");
    assert!(!told.contains("aws-1") && !told.contains("tok-1"));
}

#[test]
fn files_that_may_not_be_read() {
    let scratch = Scratch::with("backend.yaml", backend("http://127.0.0.1:9", ""));
    scratch.write("outside.txt", "outside-1");
    scratch.write("repo/inside.txt", "inside-1");
    symlink(scratch.path("outside.txt"), scratch.path("repo/link.txt")).expect("a link");
    symlink("/etc", scratch.path("repo/etc")).expect("a link");
    scratch.write(
        "repo/a.yaml",
        "apiVersion: demo
kind: Space
metadata: {name: shop}
spec:
  inside: !file inside.txt
  up: !file ../outside.txt
  link: !file link.txt
  root: !file /etc/hostname
  folder: !file etc/hostname
  secret: !secret file:../outside.txt
  none: !file none.txt
",
    );
    assert_snapshot!(scratch.trueup("validate -f repo --backends backend.yaml").done().told(), @"
    exit 65
    --- stderr
    error: `repo/etc` is a link that leads out of the `-f` folders
    hint: name what it leads to with a `-f` of its own
    error: repo/a.yaml:6:7: `!file` may not read `../outside.txt`: it is outside of the `-f` folders
      |
    6 |   up: !file ../outside.txt
      |       ^
    hint: put the file beside the manifests, or name its folder with `-f`
    error: repo/a.yaml:7:9: `!file` may not read `link.txt`: it is outside of the `-f` folders
      |
    7 |   link: !file link.txt
      |         ^
    hint: put the file beside the manifests, or name its folder with `-f`
    error: repo/a.yaml:8:9: `!file` may not read `/etc/hostname`: it is outside of the `-f` folders
      |
    8 |   root: !file /etc/hostname
      |         ^
    hint: put the file beside the manifests, or name its folder with `-f`
    error: repo/a.yaml:9:11: `!file` may not read `etc/hostname`: it is outside of the `-f` folders
      |
    9 |   folder: !file etc/hostname
      |           ^
    hint: put the file beside the manifests, or name its folder with `-f`
    error: repo/a.yaml:10:11: `!secret` may not read `../outside.txt`: it is outside of the `-f` folders
       |
    10 |   secret: !secret file:../outside.txt
       |           ^
    hint: put the file beside the manifests, or name its folder with `-f`
    error: repo/a.yaml:11:9: reading `repo/none.txt`: no such file or directory
       |
    11 |   none: !file none.txt
       |         ^
    hint: a `!file` is relative to the file it stands in
    7 errors.
    ");
}

/// A command as a source of credentials runs only where the environment of the run allows it by name.
#[test]
fn a_command_that_makes_a_token() {
    let server = Raw::new(|seen| match seen.head.contains("Bearer made-1") {
        true => Say::json("{\"items\": []}"),
        false => Say::answer("401 Unauthorized", "", ""),
    });
    let scratch = Scratch::with(
        "backend.yaml",
        backend(&server.url(), "  auth: {bearer: {command: [/bin/sh, -c, touch ran; echo made-1]}}"),
    );
    scratch.write("a.yaml", TEAM_AND_SPACE.split("---").next().expect("a team"));
    let line = "plan -f a.yaml -f backend.yaml";
    assert_snapshot!(scratch.trueup(line).done().told(), @"
    exit 1
    !   Team red   a.yaml:1
        unknown: listing Team: cannot get the credential: the command `/bin/sh` is not allowed
        hint: if you trust it, name it in your own environment: TRUEUP_ALLOW_EXEC=/bin/sh
    Plan: 1 unknown. 0 objects seen in 0 requests.
    ");
    assert!(!scratch.path("ran").exists(), "the command ran");
    scratch.trueup(line).env("TRUEUP_ALLOW_EXEC", "/bin/other").done().expect(1);
    assert!(!scratch.path("ran").exists(), "the command ran");
    assert_eq!(server.lines(), [""; 0]);
    let done = scratch.trueup(line).env("TRUEUP_ALLOW_EXEC", "/bin/sh").done();
    assert_eq!(done.code(), 0, "{}", done.told());
    assert_eq!(server.lines(), ["GET /teams?limit=100"]);
}

/// The next page on another server is not fetched: the credential belongs to the origin.
#[test]
fn a_next_page_elsewhere() {
    let evil = empty();
    let next =
        format!("link: <{}/teams?page=2>; rel=\"next\"\r\ncontent-type: application/json\r\n", evil.url());
    let server = Raw::new(move |_| Say::answer("200 OK", &next, "[]"));
    let paged = "page: {by: cursor, next: .next, size: 100}";
    let text =
        backend(&server.url(), "  auth: {bearer: !secret env:TOKEN}").replace(paged, "page: {by: link}");
    let scratch = Scratch::with("backend.yaml", text.replace("items: .items, ", ""));
    scratch.write("a.yaml", TEAM_AND_SPACE.split("---").next().expect("a team"));
    let done = scratch.trueup("plan -f a.yaml -f backend.yaml").env("TOKEN", "tok-1").done();
    assert_snapshot!(done.told(), @"
    exit 1
    !   Team red   a.yaml:1
        unknown: listing Team: the next page is not followed: `http://127.0.0.1:PORT` is not at the backend's origin `http://127.0.0.1:PORT`
        hint: credentials never go to another origin; if the API is there, make it the backend's `url`
    Plan: 1 unknown. 0 objects seen in 1 request.
    ");
    assert_eq!(evil.lines(), [""; 0]);
}

/// An id that the server gives must not change the shape of an address.
#[test]
fn an_id_that_leads_elsewhere() {
    let server = Raw::new(|seen| match seen.line.starts_with("GET /teams?") {
        true => Say::json(r#"{"items": [{"id": "../spaces/shop", "name": "red", "description": "x"}]}"#),
        false => Say::answer("403 Forbidden", "", ""),
    });
    let scratch = Scratch::with("backend.yaml", backend(&server.url(), ""));
    scratch.write("a.yaml", TEAM_AND_SPACE.split("---").next().expect("a team"));
    assert_snapshot!(scratch.trueup("apply --yes -f a.yaml -f backend.yaml").done().told(), @r#"
    exit 1
    !   Team red   a.yaml:1
          description   "x" → "The red team"   differs on the server
        failed: updating Team red: the server answered 403 Forbidden
        hint: the server knows who asks and does not allow it; the backend states no `auth`
    Applied: 1 failed. 1 object seen in 3 requests.
    "#);
    let sent: Vec<String> =
        server.lines().into_iter().filter(|line| !line.starts_with("GET /teams?")).collect();
    assert_eq!(sent, ["PATCH /teams/..%2Fspaces%2Fshop"]);
}

/// The line that CI runs, and what a pull request may try with it. Nothing is sent but to the one server that CI
/// names, nothing is run, and where the input reaches too far nothing is sent at all.
#[test]
fn a_pull_request_gets_nowhere() {
    let (trusted, evil) = (empty(), empty());
    let scratch = Scratch::new();
    let auth = "  auth: {bearer: !secret env:CI_TOKEN}";
    scratch.write("ci/backends.yaml", backend(&trusted.url(), auth));
    scratch.write("secrets/key.txt", "ci-key-1");
    let space =
        |spec: &str| format!("apiVersion: demo\nkind: Space\nmetadata: {{name: shop}}\nspec: {spec}\n");
    let run = |text: String| {
        let _ = std::fs::remove_dir_all(scratch.path("repo"));
        scratch.write("repo/manifests/a.yaml", space("{a: !env SHOP_NAME}"));
        match text.is_empty() {
            true => symlink("../../secrets", scratch.path("repo/manifests/link")).expect("a link"),
            false => scratch.write("repo/manifests/b.yaml", text),
        }
        let line = "plan -f repo/manifests --backends ci/backends.yaml --allow-env SHOP_*";
        let run = scratch.trueup(line).env("SHOP_NAME", "shop").env("CI_TOKEN", "ci-token-1");
        let before = trusted.lines().len();
        let done = run.env("DEPLOY_KEY", "ci-key-1").done();
        assert!(!done.told().contains("ci-token-1") && !done.told().contains("ci-key-1"), "{}", done.told());
        (done.code(), trusted.lines().len() - before)
    };
    assert_eq!(run(String::new()), (65, 0), "a link out of the folder");
    // A backend of the same name at another address; one that runs a command: not even looked at.
    assert_eq!(run(backend(&evil.url(), auth)), (0, 1));
    let command = backend(&evil.url(), "  auth: {bearer: {command: [/bin/sh, -c, touch ran]}}");
    assert_eq!(run(command.replace("name: demo", "name: other")), (0, 1));
    // Other variables, by a tag, as a secret, and by an annotation; files by their path and by a link.
    let other = |spec: &str| space(spec).replace("name: shop", "name: other");
    for spec in ["{a: !env DEPLOY_KEY}", "{a: !secret env:DEPLOY_KEY}", "{a: !env CI_TOKEN}"] {
        assert_eq!(run(other(spec)), (65, 0), "{spec}");
    }
    let annotated = other("{}").replace(
        "name: other",
        r#"name: other, annotations: {trueup/values: '{"spec.a": "secret env:DEPLOY_KEY"}'}"#,
    );
    assert_eq!(run(annotated), (65, 0));
    for spec in [
        "{a: !file ../../../etc/passwd}",
        "{a: !file ../../secrets/key.txt}",
        "{a: !secret file:../../secrets/key.txt}",
        "{a: !file /etc/passwd}",
    ] {
        assert_eq!(run(other(spec)), (65, 0), "{spec}");
    }
    assert_eq!(evil.lines(), [""; 0]);
    assert!(!scratch.path("ran").exists());
}

/// An allowed command that fails, says too much, or gives nothing that can be sent.
#[test]
fn commands_that_misbehave() {
    let server = empty();
    for (script, want) in [
        (
            "printf 'no \\033]52;c;eA==\\007 for pass-1234 today' >&2; exit 2",
            "failed (exit status: 2): no \\u{1b}]52;c;eA==\\u{7} for (redacted) today",
        ),
        ("exec head -c 10000000 /dev/zero", "printed more than 1 MB"),
        ("exit 0", "the credential from the command `/bin/sh` is empty"),
        ("echo a; echo b", "has more than one line, or a control character"),
        ("printf 'a\\tb'", "has more than one line, or a control character"),
        ("printf '\\377'", "printed something that is not text"),
    ] {
        let auth = format!("  auth: {{bearer: {{command: [/bin/sh, -c, {script:?}]}}}}");
        let scratch = Scratch::with("backend.yaml", backend(&server.url(), &auth));
        scratch.write(
            "a.yaml",
            "apiVersion: demo\nkind: Space\nmetadata: {name: shop}\nspec: {a: !secret env:PASS}\n",
        );
        let run = scratch.trueup("plan -f a.yaml -f backend.yaml").env("TRUEUP_ALLOW_EXEC", "gh:/bin/sh");
        let done = run.env("PASS", "pass-1234").done().expect(1);
        assert!(done.out.contains(want), "{}", done.told());
        assert!(!done.out.contains('\u{1b}') && !done.out.contains("pass-1234"), "{}", done.told());
    }
    let relative = backend(&server.url(), "  auth: {bearer: {command: [./get-token.sh]}}");
    let scratch = Scratch::with("backend.yaml", relative);
    scratch.write("get-token.sh", "#!/bin/sh\ntouch ran\n");
    scratch.write("a.yaml", TEAM_AND_SPACE);
    let run = scratch.trueup("plan -f a.yaml -f backend.yaml").env("TRUEUP_ALLOW_EXEC", "./get-token.sh");
    run.done().expect(1);
    assert!(!scratch.path("ran").exists(), "a file of the project is no command");
    assert_eq!(server.lines(), [""; 0]);
}
