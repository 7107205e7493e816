//! `explain`: what is known of a kind and from where, and why an object's plan is what it is.

use insta::assert_snapshot;
use serde_json::json;

use crate::servers::{Raw, Say};
use crate::support::{Done, Scratch};

const BACKEND: &str = "apiVersion: trueup/v1
kind: Backend
metadata: {name: demo}
spec:
  url: URL
  kinds:
    Team:
      key: {name: .name}
      list: {request: GET /teams, page: {by: page, size: 50}}
      read: GET /teams/{id}
      create: POST /teams
      update: PATCH /teams/{id}
    Thing:
      parent: {team: Team}
      key: {name: .name, team: .team}
      list: GET /things
      create: PUT /things/{name}
      update: none
      delete: none
      version: .rev
      fields:
        rev: server-owned
        size: [quantity, immutable=refuse]
        env: closed
        host: ascii_downcase
        level: default=\"info\"
        token: [write-only, secret]
        tags: set
";

/// A folder with that backend at this address.
fn at(url: &str) -> Scratch {
    Scratch::with("b.yaml", BACKEND.replace("URL", url))
}

fn run(scratch: &Scratch, line: &str) -> Done {
    scratch.trueup(line).done()
}

#[test]
fn a_kind_is_explained_offline() {
    let scratch = at("http://127.0.0.1:1");
    assert_snapshot!(run(&scratch, "explain Thing Team --backends b.yaml").told(), @r#"
    exit 0
    Team of the backend demo

    identity
      name      `.name` of an item                                               b.yaml:8:19
      (id)      the server's: `.id` of an item                                   default
      (found)   in the listing, by its key; then at its own address, by its id   b.yaml:10:13

    operations
      list     GET /teams             b.yaml:9:23
        page   {by: page, size: 50}   b.yaml:9:41
      read     GET /teams/{id}        b.yaml:10:13
      create   POST /teams            b.yaml:11:15
      update   PATCH /teams/{id}      b.yaml:12:15
      delete   none                   default

    paging
      by     the page's number, in `page`, from 1   b.yaml:9:23
      size   50, in `page_size`                     b.yaml:9:23

    behaviour
      version   none: writes have no precondition             default
      serial    writes go side by side                        default
      visible   for 30s after a create a 404 is not absence   default

    fields
      (others)   compared where a document declares them, and left alone where none does   default

    Thing of the backend demo

    identity
      team      the parent: a Team, `.team` of an item   b.yaml:14:22
      name      `.name` of an item                       b.yaml:15:19
      (found)   in the listing, by its key               default

    operations
      list     GET /things          b.yaml:16:13
      read     list                 default
      create   PUT /things/{name}   b.yaml:17:15
      update   none                 b.yaml:18:15
      delete   none                 b.yaml:19:15

    paging
      by   nothing: the first answer is all there is   default

    behaviour
      version   `.rev` of an item, in `{version}` or `If-Match`   b.yaml:20:16
      serial    writes go side by side                            default

    fields
      env        closed: nothing undeclared may stand below                                b.yaml:24:14
      host       ascii_downcase: compared by what this filter makes of it                  b.yaml:25:15
      level      default="info": missing on one side equals this                           b.yaml:26:16
      rev        server-owned: never sent, never compared                                  b.yaml:22:14
      size       quantity: compared by what it stands for                                  b.yaml:23:16
                 immutable=refuse: cannot be changed                                       b.yaml:23:26
      tags       set: a list without order                                                 b.yaml:28:15
      token      write-only: sent, never compared: the server does not show it             b.yaml:27:17
                 secret: never printed                                                     b.yaml:27:29
      (others)   compared where a document declares them, and left alone where none does   default
    "#);
    let told = run(&scratch, "explain Thing --backends b.yaml --output json").expect(0).json();
    let kind = &told["kinds"][0];
    assert_eq!(
        kind["fields"][2],
        json!({
            "path": "level",
            "words": [{"word": "default=\"info\"", "from": {"file": "b.yaml", "line": 26, "column": 16}}],
        })
    );
    assert_eq!(
        kind["behaviour"][1],
        json!({"name": "serial", "value": "writes go side by side", "from": "default"})
    );
    let line = run(&scratch, "explain Team --backends b.yaml --output ndjson").expect(0).out;
    assert!(line.starts_with("{\"backend\":\"demo\"") && line.ends_with("\"type\":\"kind\"}\n"), "{line}");
}

#[test]
fn a_preset_and_what_stands_in_its_place() {
    let text = "apiVersion: trueup/v1
kind: Backend
metadata: {name: mq}
spec:
  preset: rabbitmq
  url: http://127.0.0.1:1
  kinds: {VHostLimit: {fields: {value: quantity}, visible: 5s}}
";
    let scratch = Scratch::with("b.yaml", text);
    assert_snapshot!(run(&scratch, "explain VHostLimit --backends b.yaml").told(), @"
    exit 0
    VHostLimit of the backend mq

    identity
      vhost     the parent: a VHost          preset rabbitmq
      name      `.name` of an item           preset rabbitmq
      (found)   in the listing, by its key   preset rabbitmq

    operations
      list      GET /vhost-limits/{vhost}                          preset rabbitmq
        items   [.[].value | to_entries[] | {name: .key, value}]   preset rabbitmq
      read      list                                               preset rabbitmq
      create    PUT /vhost-limits/{vhost}/{name}                   preset rabbitmq
      update    PUT /vhost-limits/{vhost}/{name}                   default
      delete    DELETE /vhost-limits/{vhost}/{name}                preset rabbitmq

    paging
      by   nothing: the first answer is all there is   default

    behaviour
      version   none: writes have no precondition            default
      serial    writes go side by side                       default
      (risk)    LostUpdateRisk: updates are unguarded        default
      visible   for 5s after a create a 404 is not absence   b.yaml:7:60

    fields
      value      quantity: compared by what it stands for                                  b.yaml:7:40
      (others)   compared where a document declares them, and left alone where none does   default
    ");
}

#[test]
fn wrong_names() {
    let scratch = at("http://127.0.0.1:1");
    scratch.write("a.yaml", "apiVersion: demo\nkind: Team\nmetadata: {name: red}\nspec: {}\n");
    assert_snapshot!(run(&scratch, "explain Taem --backends b.yaml").told(), @"
    exit 64
    --- stderr
    error: there is no kind `Taem`
    hint: did you mean `Team`? the kinds are `Team`, `Thing`
    ");
    assert_snapshot!(run(&scratch, "explain Team/rde -f a.yaml --backends b.yaml").told(), @"
    exit 64
    --- stderr
    error: no document is about `Team/rde`
    hint: did you mean `Team/red`? the documents are `Team/red`
    ");
    assert_snapshot!(run(&scratch, "explain Team/red --backends b.yaml").told(), @"
    exit 65
    --- stderr
    error: no documents in what `-f` names: there are only backends
    hint: add the manifests: a document begins with `apiVersion: BACKEND` and `kind: KIND`
    1 error.
    ");
}

/// A team and a thing of it as they stand on the server.
fn server() -> Raw {
    Raw::new(|seen| {
        match seen.line.split(' ').nth(1) {
        Some(path) if path.starts_with("/teams") => Say::json(r#"[{"id": 1, "name": "red", "rank": 3}]"#),
        _ => Say::json(
            &json!([{
                "name": "web", "team": "red", "rev": 4, "size": "1024Mi", "env": {"A": "1", "B": "2"}, "host": "h.example",
                "token": "***", "tags": ["b", "a"], "ports": [{"name": "x", "p": 1}, {"name": "y", "p": 2}], "extra": 1,
            }])
            .to_string(),
        ),
    }
    })
}

const THING: &str = "apiVersion: demo
kind: Thing
metadata: {team: red, name: web}
spec:
  size: 1Gi
  env: {A: \"1\"}
  host: H.Example
  level: info
  token: !secret env:TOKEN
  tags: [a, b]
  ports: [{name: y, p: 2}, {name: x, p: 3}]
";

#[test]
fn each_line_of_a_plan_and_each_that_is_not_there() {
    let server = server();
    let scratch = at(&server.url());
    scratch.write("a.yaml", THING);
    let done = scratch
        .trueup("explain Thing/red/web -f a.yaml --backends b.yaml")
        .env("TOKEN", "s3cret-s3cret")
        .done();
    assert_snapshot!(done.told(), @r#"
    exit 0
    -/+ Thing red/web   a.yaml:1
        refused: a Thing can neither be changed nor replaced
          env.B   "2"
              immutable: refused
              `closed`, at b.yaml:24:14: nothing undeclared may stand below
              `update: none`, at b.yaml:18:15: the API cannot change a Thing
          ports[name=x].p   1 → 3
              immutable: refused
              declared at a.yaml:11:41
              `update: none`, at b.yaml:18:15: the API cannot change a Thing
          no line of the plan:
          host   "h.example" on the server is "H.Example" to the comparer
              declared at a.yaml:7:9
              `ascii_downcase` makes "h.example" = "h.example" of them
              `ascii_downcase`, at b.yaml:25:15: compared by what this filter makes of it
          level   "info" is what nothing on the server means
              declared at a.yaml:8:10
              `default="info"`, at b.yaml:26:16: missing on one side equals this
          ports   in another order; elements are paired by `name`
              declared at a.yaml:11:10
          size   "1024Mi" on the server is "1Gi" to the comparer
              declared at a.yaml:5:9
              `quantity` makes 1073741824 = 1073741824 of them
              `quantity`, at b.yaml:23:16: compared by what it stands for
              `immutable=refuse`, at b.yaml:23:26: cannot be changed
          tags   in another order, which does not count
              declared at a.yaml:10:9
              `set`, at b.yaml:28:15: a list without order
          token   sent, and not compared: the server does not show it
              declared at a.yaml:9:10
              `write-only`, at b.yaml:27:17: sent, never compared: the server does not show it
              `secret`, at b.yaml:27:29: never printed
          equal: env.A, ports[0].name, ports[0].p, ports[1].name, tags[0], tags[1]
          left alone, not declared: extra, name, team
          owned by the server: rev
    "#);
    assert!(server.lines().iter().all(|line| line.starts_with("GET ")), "nothing is written");

    let line = "explain Thing/* -f a.yaml --backends b.yaml --output json";
    let told = scratch.trueup(line).env("TOKEN", "s3cret-s3cret").done().expect(0).json();
    let lines = told["objects"][0]["lines"].as_array().expect("lines");
    let of = |path: &str| {
        lines.iter().find(|line| line["path"] == path).unwrap_or_else(|| panic!("{path} in {told:#}"))
    };
    assert_eq!(of("env.B")["why"], "immutable-replace");
    assert_eq!(of("env.B")["fact"], "`update: none`, at b.yaml:18:15: the API cannot change a Thing");
    assert_eq!(
        of("size")["comparer"],
        json!({"word": "quantity", "before": 1073741824, "after": 1073741824})
    );
    assert_eq!(of("host")["position"], json!({"file": "a.yaml", "line": 7, "column": 9}));
    assert_eq!((&of("token")["secret"], of("token").get("after")), (&json!(true), None));
}

#[test]
fn an_object_in_sync_and_one_that_is_not_there() {
    let server = server();
    let scratch = at(&server.url());
    let thing = THING.replace("{A: \"1\"}", "{A: \"1\", B: \"2\"}").replace("p: 3", "p: 1");
    let other = thing.replace("name: web}", "name: db}");
    scratch.write("a.yaml", format!("{thing}---\n{other}"));
    assert_snapshot!(run(&scratch, "explain Thing/red/* -f a.yaml --backends b.yaml").told(), @r#"
    exit 0
    =   Thing red/web   a.yaml:1
          no field differs:
          host   "h.example" on the server is "H.Example" to the comparer
              declared at a.yaml:7:9
              `ascii_downcase` makes "h.example" = "h.example" of them
              `ascii_downcase`, at b.yaml:25:15: compared by what this filter makes of it
          level   "info" is what nothing on the server means
              declared at a.yaml:8:10
              `default="info"`, at b.yaml:26:16: missing on one side equals this
          ports   in another order; elements are paired by `name`
              declared at a.yaml:11:10
          size   "1024Mi" on the server is "1Gi" to the comparer
              declared at a.yaml:5:9
              `quantity` makes 1073741824 = 1073741824 of them
              `quantity`, at b.yaml:23:16: compared by what it stands for
              `immutable=refuse`, at b.yaml:23:26: cannot be changed
          tags   in another order, which does not count
              declared at a.yaml:10:9
              `set`, at b.yaml:28:15: a list without order
          token   sent, and not compared: the server does not show it
              declared at a.yaml:9:10
              `write-only`, at b.yaml:27:17: sent, never compared: the server does not show it
              `secret`, at b.yaml:27:29: never printed
          equal: env.A, env.B, ports[0].name, ports[0].p, ports[1].name, ports[1].p, tags[0], tags[1]
          left alone, not declared: extra, name, team
          owned by the server: rev

    +   Thing red/db   a.yaml:13
          the server has no such object: all that the document declares is sent
    "#);
}

#[test]
fn a_server_that_does_not_answer_leaves_it_unexplained() {
    let server = Raw::new(|_| Say::answer("403 Forbidden", "", ""));
    let scratch = at(&server.url());
    scratch.write("a.yaml", "apiVersion: demo\nkind: Team\nmetadata: {name: red}\nspec: {}\n");
    assert_snapshot!(run(&scratch, "explain Team/red -f a.yaml --backends b.yaml").told(), @"
    exit 1
    !   Team red   a.yaml:1
        unknown: listing Team: the server answered 403 Forbidden
        hint: the server knows who asks and does not allow it; the backend states no `auth`
    ");
}

/// Why the parent is in doubt stands in no other line here.
#[test]
fn what_is_needed_and_not_known_says_why() {
    let server = Raw::new(|_| Say::answer("403 Forbidden", "", ""));
    let scratch = at(&server.url());
    scratch.write(
        "b.yaml",
        BACKEND.replace("URL", &server.url()).replace("GET /things", "GET /teams/{team}/things"),
    );
    let things = "apiVersion: demo\nkind: Team\nmetadata: {name: red}\nspec: {}\n---\napiVersion: demo\nkind: Thing\nmetadata: {team: red, name: web}\nspec: {}\n---\napiVersion: demo\nkind: Team\nmetadata: {name: blue}\nspec: {lead: !ref Team/red .id}\n";
    scratch.write("a.yaml", things);
    assert_snapshot!(run(&scratch, "explain Thing/red/web -f a.yaml --backends b.yaml").told(), @"
    exit 1
    !   Thing red/web   a.yaml:6
        unknown: its parent `Team red` is not known to be there: listing Team: the server answered 403 Forbidden
        hint: the server knows who asks and does not allow it; the backend states no `auth`
    ");
    assert_snapshot!(run(&scratch, "explain Team/blue -f a.yaml --backends b.yaml").told(), @"
    exit 1
    !   Team blue   a.yaml:11
        skipped: it needs `Team red`, which is unknown: listing Team: the server answered 403 Forbidden
        hint: the server knows who asks and does not allow it; the backend states no `auth`
    ");
}
