//! Files that cannot be used: each is said with its place, its line and what to do, all of them in one run, and
//! nothing is sent.

use std::os::unix::fs::symlink;
use std::process::Command;

use insta::assert_snapshot;

use crate::servers::{TEAM_AND_SPACE, backend};
use crate::support::Scratch;

/// `validate` of one file of these bytes beside a sound backend, which must find them wrong.
fn validate(text: impl AsRef<[u8]>) -> String {
    let scratch = Scratch::with("backend.yaml", backend("http://127.0.0.1:9", ""));
    scratch.write("a.yaml", text);
    scratch.trueup("validate -f .").done().expect(65).told()
}

#[test]
fn a_file_that_is_not_there() {
    let scratch = Scratch::with("manifests.yaml", TEAM_AND_SPACE);
    assert_snapshot!(scratch.trueup("plan -f manifest.yaml").done().told(), @"
    exit 65
    --- stderr
    error: there is no file or folder `manifest.yaml`
    hint: did you mean `manifests.yaml`?
    1 error.
    ");
}

#[test]
fn what_is_no_file() {
    let scratch = Scratch::with("backend.yaml", backend("http://127.0.0.1:9", ""));
    symlink("nowhere", scratch.path("dangling.yaml")).expect("a link");
    symlink("/etc/hostname", scratch.path("outside.yaml")).expect("a link");
    let made = Command::new("mkfifo").arg(scratch.path("pipe.yaml")).status().expect("`mkfifo` runs");
    assert!(made.success());
    std::fs::create_dir(scratch.path("empty")).expect("a folder");
    assert_snapshot!(scratch.trueup("validate -f . -f empty -f backend.yaml/x").done().told(), @"
    exit 65
    --- stderr
    error: reading `./dangling.yaml`: no such file or directory
    error: `./outside.yaml` is a link that leads out of the `-f` folders
    hint: name what it leads to with a `-f` of its own
    error: reading `./pipe.yaml`: it is not a regular file
    hint: pipes and devices are not opened; `-f -` reads standard input
    error: reading `backend.yaml/x`: not a directory
    4 errors.
    ");
}

#[test]
fn nothing_in_a_file() {
    let scratch = Scratch::with("a.yaml", "# only a comment\n---\n");
    assert_snapshot!(scratch.trueup("plan -f a.yaml").done().told(), @"
    exit 65
    --- stderr
    error: no documents in `a.yaml`
    hint: a document begins with `apiVersion: BACKEND` and `kind: KIND`
    1 error.
    ");
    assert_snapshot!(scratch.trueup("plan -f -").stdin("").done().told(), @"
    exit 65
    --- stderr
    error: no documents in `-`
    hint: a document begins with `apiVersion: BACKEND` and `kind: KIND`
    1 error.
    ");
}

#[test]
fn a_file_that_was_half_written() {
    assert_snapshot!(validate(&TEAM_AND_SPACE[..TEAM_AND_SPACE.len() - 12]), @"
    exit 65
    --- stderr
    error: ./a.yaml:9:19: the YAML is broken: did not find expected ',' or '}'
      |
    9 | spec: {description
      |                   ^
    hint: a bracket is not closed, a comma is missing, or a text with braces such as `GET /things/{name}` needs quotes
    1 error.
    ");
    assert_snapshot!(validate("apiVersion: demo\nkind: Team\nmetadata: {name: \"re"), @r#"
    exit 65
    --- stderr
    error: ./a.yaml:3:18: the YAML is broken: found unexpected end of stream
      |
    3 | metadata: {name: "re
      |                  ^
    hint: a closing quote is missing
    1 error.
    "#);
}

#[test]
fn a_file_that_is_not_text() {
    assert_snapshot!(validate(b"apiVersion: demo\nkind: Team\nmetadata: {name: r\xe9d}\n"), @"
    exit 65
    --- stderr
    error: ./a.yaml:3:19: reading `./a.yaml`: it is not UTF-8: byte 0xE9 at offset 46
    hint: save it as UTF-8
    1 error.
    ");
}

#[test]
fn a_file_that_is_too_large() {
    assert_snapshot!(validate(vec![b'#'; 16 * 1024 * 1024 + 1]), @"
    exit 65
    --- stderr
    error: reading `./a.yaml`: it is larger than 16 MB
    hint: split it into several files
    1 error.
    ");
}

#[test]
fn a_file_that_is_too_deep() {
    let deep =
        format!("apiVersion: demo\nkind: Team\nmetadata: {{name: red}}\nspec: {{a: {}", "[".repeat(3000));
    assert_snapshot!(validate(deep), @"
    exit 65
    --- stderr
    error: ./a.yaml:4:265: the document is nested more than 128 levels deep
      |
    4 | …[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[…
      |                                                              ^
    hint: make it flatter
    1 error.
    ");
}

#[test]
fn aliases_that_explode() {
    let mut text =
        "apiVersion: demo\nkind: Team\nmetadata: {name: red}\nspec:\n  a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
            .to_owned();
    for i in 1..12 {
        let before = format!("*a{}, ", i - 1).repeat(9);
        text.push_str(&format!("  a{i}: &a{i} [{}]\n", before.trim_end_matches(", ")));
    }
    assert_snapshot!(validate(text), @"
    exit 65
    --- stderr
    error: ./a.yaml:10:12: aliases stand for more than 100000 values
       |
    10 |   a5: &a5 [*a4, *a4, *a4, *a4, *a4, *a4, *a4, *a4, *a4]
       |            ^
    hint: write the values out, or split the document
    1 error.
    ");
}

#[test]
fn a_key_that_stands_twice() {
    let text = "apiVersion: demo\nkind: Team\nmetadata: {name: red}\nspec:\n  description: one\n  description: two\n";
    assert_snapshot!(validate(text), @"
    exit 65
    --- stderr
    error: ./a.yaml:6:3: the key `description` stands twice in one map, first in line 5
      |
    6 |   description: two
      |   ^
    hint: remove one of the two
    1 error.
    ");
}

#[test]
fn an_object_that_is_described_twice() {
    let scratch = Scratch::with("backend.yaml", backend("http://127.0.0.1:9", ""));
    scratch.write("a.yaml", TEAM_AND_SPACE);
    scratch.write("b.yaml", "apiVersion: demo\nkind: Team\nmetadata: {name: red}\nspec: {}\n");
    assert_snapshot!(scratch.trueup("plan -f .").done().told(), @"
    exit 65
    --- stderr
    error: ./b.yaml:1:1: `Team red` is described twice, first in ./a.yaml:1:1
      |
    1 | apiVersion: demo
      | ^
    hint: remove or merge one of the two documents
    1 error.
    ");
}

#[test]
fn kinds_and_fields_that_are_not_known() {
    let text = "apiVersion: demo
kind: Taem
metadata: {name: red}
spec: {}
---
apiVersion: dmo
kind: Team
metadata: {name: red}
spec: {}
---
apiVersion: trueup/v1
kind: Bakend
metadata: {name: other}
---
apiVersion: demo
kind: Team
metadata: {name: blue, nmae: x}
sepc: {description: x}
---
apiVersion: demo
kind: Team
metadata: {}
spec: {description:}
";
    assert_snapshot!(validate(text), @r#"
    exit 65
    --- stderr
    error: ./a.yaml:2:7: the backend `demo` has no kind `Taem`
      |
    2 | kind: Taem
      |       ^
    hint: did you mean `Team`? its kinds are `Space`, `Team`
    error: ./a.yaml:7:7: there is no backend `dmo`
      |
    7 | kind: Team
      |       ^
    hint: did you mean `demo`? the backends are `demo`
    error: ./a.yaml:12:7: `trueup/v1` has no kind `Bakend`
       |
    12 | kind: Bakend
       |       ^
    hint: did you mean `Backend`? its kinds are `Backend`, `Set`, `ReplicaSet`
    error: ./a.yaml:17:24: `nmae` is no part of the key of a `Team`
       |
    17 | metadata: {name: blue, nmae: x}
       |                        ^
    hint: did you mean `name`? the parts of its key are `name`
    error: ./a.yaml:18:1: `sepc` is not a key of a document
       |
    18 | sepc: {description: x}
       | ^
    hint: did you mean `spec`? a document has `apiVersion`, `kind`, `metadata`, `spec`
    error: ./a.yaml:20:1: `metadata` of a `Team` needs `name`
       |
    20 | apiVersion: demo
       | ^
    hint: the parts of its key are `name`
    error: ./a.yaml:23:8: `description` has nothing behind it
       |
    23 | spec: {description:}
       |        ^
    hint: write the value, `null` for "must not be set", `!null` for JSON null, or `""`, `[]` or `{}`
    7 errors.
    "#);
}

#[test]
fn fields_of_a_backend_that_are_not_known() {
    let text = "apiVersion: trueup/v1
kind: Backend
metadata: {name: other}
spec:
  url: http://127.0.0.1:9
  timeout: 3s
  kinds:
    Team: {key: {name: .name}, lst: GET /teams}
";
    assert_snapshot!(validate(text), @"
    exit 65
    --- stderr
    error: ./a.yaml:6:3: a backend's `spec` has no `timeout`
      |
    6 |   timeout: 3s
      |   ^
    hint: known here are `url`, `preset`, `auth`, `tls`, `headers`, `limits`, `owner`, `kinds`
    error: ./a.yaml:8:11: a kind has neither `read` nor `list`
      |
    8 |     Team: {key: {name: .name}, lst: GET /teams}
      |           ^
    hint: what cannot be observed cannot be made to match
    error: ./a.yaml:8:32: the kind `Team` has no `lst`
      |
    8 |     Team: {key: {name: .name}, lst: GET /teams}
      |                                ^
    hint: did you mean `list`? known here are `key`, `parent`, `id`, `match`, `document`, `list`, `read`, `create`, `update`, `delete`, `check`, `fields` and 20 more
    3 errors.
    ");
}

#[test]
fn variables_that_are_not_set() {
    let text = "apiVersion: demo\nkind: Team\nmetadata: {name: red}\nspec:\n  description: !env DESCRIPTION\n  contact: !env CONTACT\n";
    assert_snapshot!(validate(text), @"
    exit 65
    --- stderr
    error: ./a.yaml:5:16: the environment variable `DESCRIPTION` is not set
      |
    5 |   description: !env DESCRIPTION
      |                ^
    hint: set it, or write the value in its place
    error: ./a.yaml:6:12: the environment variable `CONTACT` is not set
      |
    6 |   contact: !env CONTACT
      |            ^
    hint: set it, or write the value in its place
    2 errors.
    ");
}

/// A backend that no document uses may name variables that are not set; one that is used may not.
#[test]
fn only_a_backend_that_is_used_needs_its_variables() {
    let scratch = Scratch::with("backend.yaml", backend("!env DEMO_URL", ""));
    scratch.write("other.yaml", backend("embedded:store", "").replace("name: demo", "name: other"));
    let text = TEAM_AND_SPACE.replace("apiVersion: demo", "apiVersion: other");
    scratch.write("a.yaml", text);
    scratch.trueup("plan -f .").done().expect(0);
    scratch.write("a.yaml", TEAM_AND_SPACE);
    assert_snapshot!(scratch.trueup("plan -f .").done().told(), @"
    exit 65
    --- stderr
    error: ./backend.yaml:5:8: the environment variable `DEMO_URL` is not set
      |
    5 |   url: !env DEMO_URL
      |        ^
    hint: set it, or write the value in its place
    1 error.
    ");
}

#[test]
fn all_errors_of_all_files_in_one_run() {
    let scratch = Scratch::with("backend.yaml", backend("http://127.0.0.1:9", ""));
    scratch.write("a.yaml", "apiVersion: demo\nkind: Taem\nmetadata: {name: red}\nspec: {}\n");
    scratch.write("b.yaml", "apiVersion: demo\nkind: Team\nmetadata: {name: [\n");
    scratch.write("c.yaml", b"\xff\xfe");
    scratch.write("d.json", "{\"apiVersion\": \"demo\",}\n");
    scratch.write("e.yaml", TEAM_AND_SPACE.replace("metadata: {name: red}", "metadata: {}"));
    assert_snapshot!(scratch.trueup("apply --yes -f .").done().told(), @r#"
    exit 65
    --- stderr
    error: ./a.yaml:2:7: the backend `demo` has no kind `Taem`
      |
    2 | kind: Taem
      |       ^
    hint: did you mean `Team`? its kinds are `Space`, `Team`
    error: ./b.yaml:3:19: the YAML is broken: did not find expected node content
      |
    3 | metadata: {name: [
      |                   ^
    error: ./c.yaml:1:1: reading `./c.yaml`: it is not UTF-8: byte 0xFF at offset 0
    hint: it is UTF-16; save it as UTF-8
    error: ./d.json:1:23: the JSON is broken: key must be a string
      |
    1 | {"apiVersion": "demo",}
      |                       ^
    error: ./e.yaml:1:1: `metadata` of a `Team` needs `name`
      |
    1 | apiVersion: demo
      | ^
    hint: the parts of its key are `name`
    5 errors.
    "#);
}

#[test]
fn problems_as_json() {
    let scratch = Scratch::with("backend.yaml", backend("http://127.0.0.1:9", ""));
    scratch.write("a.yaml", "apiVersion: demo\nkind: Taem\nmetadata: {name: red}\nspec: {}\n");
    assert_snapshot!(scratch.trueup("plan -f . --output json").done().told(), @r#"
    exit 65
    {
      "schemaVersion": 1,
      "command": "plan",
      "summary": {
        "errors": 1,
        "warnings": 0
      },
      "problems": [
        {
          "level": "error",
          "position": {
            "file": "./a.yaml",
            "line": 2,
            "column": 7
          },
          "message": "the backend `demo` has no kind `Taem`",
          "hint": "did you mean `Team`? its kinds are `Space`, `Team`"
        }
      ]
    }
    "#);
    assert_snapshot!(scratch.trueup("plan -f . --output ndjson").done().told(), @r#"
    exit 65
    {"type":"problem","level":"error","position":{"file":"./a.yaml","line":2,"column":7},"message":"the backend `demo` has no kind `Taem`","hint":"did you mean `Team`? its kinds are `Space`, `Team`"}
    "#);
}

/// What a file says reaches the terminal as text, never as a control sequence.
#[test]
fn control_characters_are_shown_and_not_sent() {
    let text = "apiVersion: demo\nkind: \"T\\e[31mm\"\nmetadata: {name: red}\nspec: {}\n";
    let told = validate(text);
    assert!(!told.contains('\u{1b}'), "{told:?}");
    assert_snapshot!(told, @r#"
    exit 65
    --- stderr
    error: ./a.yaml:2:7: the backend `demo` has no kind `T\u{1b}[31mm`
      |
    2 | kind: "T\e[31mm"
      |       ^
    hint: its kinds are `Space`, `Team`
    1 error.
    "#);
}

#[test]
fn standard_input_names_itself() {
    let scratch = Scratch::with("backend.yaml", backend("http://127.0.0.1:9", ""));
    let run = scratch.trueup("validate -f - --backends backend.yaml");
    assert_snapshot!(run.stdin(TEAM_AND_SPACE).done().told(), @"
    exit 0
    2 documents are valid, 2 kinds known.
    ");
    let run = scratch.trueup("validate -f - --backends backend.yaml");
    assert_snapshot!(run.stdin("kind: Team\n").done().told(), @"
    exit 65
    --- stderr
    error: -:1:1: `apiVersion` is missing
      |
    1 | kind: Team
      | ^
    hint: it names the backend: `apiVersion: rabbitmq`
    1 error.
    ");
}

#[test]
fn references_that_lead_nowhere_or_in_a_circle() {
    let text = "apiVersion: demo
kind: Team
metadata: {name: red}
spec: {lead: !ref Team/blue .id, up: !ref Team/green .id, space: !ref Spcae/shop .id}
---
apiVersion: demo
kind: Team
metadata: {name: blue}
spec: {lead: !ref Team/red .id}
";
    assert_snapshot!(validate(text), @"
    exit 65
    --- stderr
    error: ./a.yaml:4:38: no document is named `Team/green`
      |
    4 | spec: {lead: !ref Team/blue .id, up: !ref Team/green .id, space: !ref Spcae/shop .id}
      |                                      ^
    hint: add its document; if it is not to be managed, with `trueup/ensure: exists`
    error: ./a.yaml:4:66: the backend `demo` has no kind `Spcae`
      |
    4 | spec: {lead: !ref Team/blue .id, up: !ref Team/green .id, space: !ref Spcae/shop .id}
      |                                                                  ^
    hint: did you mean `Space`? its kinds are `Space`, `Team`
    2 errors.
    ");
}
