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
    error: repo/a.yaml:2:7: there is no backend `evil`
      |
    2 | kind: Team
      |       ^
    hint: the backends are `demo`
    error: repo/a.yaml:7:7: there is no backend `evil`
      |
    7 | kind: Space
      |       ^
    hint: the backends are `demo`
    warning: repo/evil.yaml:1:1: the backend `evil` is ignored: `--backends` names the only ones
    2 errors, 1 warning.
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
